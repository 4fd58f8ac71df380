# Vivavoce: from pinned data to the table. Read top to bottom, in the order in which data flows.
#
#   snakemake --cores N                                  the specimen, offline
#   snakemake --cores N --config experiment=NAME         another experiment: conf/experiment/NAME.yaml
#   ... --config limit=K model=NAME agent=NAME judge=NAME seeds=K tracking=NAME retry=errors estimate=true

from vivavoce.workflow import prepare, start_tracker

plan = prepare(
    config,
    Path(workflow.basedir),
    own_environment=bool(workflow.deployment_settings.deployment_method),
)


wildcard_constraints:
    benchmark=plan.any_of("benchmark"),
    corpus=plan.any_of("corpus"),
    judge=plan.any_of("judge"),
    plot=plan.any_of("plot"),
    table=plan.any_of("table"),
    seed=r"\d+",


onstart:
    plan.tracker = start_tracker(plan)


onsuccess:
    plan.tracker.finish()


onerror:
    plan.tracker.finish()


localrules:
    all,
    track_init,


rule all:
    default_target: True
    input:
        plan.targets(),


rule track_init:
    output:
        "results/tracking/store.json",
    log:
        "results/logs/track_init.log",
    conda:
        "envs/vivavoce.yaml"
    params:
        scripts=plan.scripts,
        frozen=plan.frozen_file,
    shell:
        "{params.scripts}/track_init.py --config {params.frozen} --log {log} --output {output}"


rule fetch:
    output:
        questions="results/data/{benchmark}/questions.jsonl",
        manifest="results/data/{benchmark}/questions.jsonl.manifest.json",
    log:
        "results/logs/fetch/{benchmark}.log",
    conda:
        "envs/vivavoce.yaml"
    params:
        scripts=plan.scripts,
        frozen=plan.frozen_file,
        digest=plan.digest("fetch"),
    shell:
        "{params.scripts}/fetch.py --config {params.frozen} --digest {params.digest} --log {log}"
        " --benchmark {wildcards.benchmark} --output {output.questions}"


rule ingest:
    input:
        papers=plan.papers,
    output:
        database="results/corpora/{corpus}/papers.duckdb",
        contents="results/corpora/{corpus}/manifest.json",
        manifest="results/corpora/{corpus}/papers.duckdb.manifest.json",
    log:
        "results/logs/ingest/{corpus}.log",
    conda:
        "envs/vivavoce.yaml"
    threads: 2
    params:
        scripts=plan.scripts,
        frozen=plan.frozen_file,
        digest=plan.digest("ingest"),
    shell:
        "{params.scripts}/ingest.py --config {params.frozen} --digest {params.digest} --log {log}"
        " --corpus {wildcards.corpus} --threads {threads} --output {output.database}"


rule rollout:
    input:
        questions="results/data/{benchmark}/questions.jsonl",
        corpus=plan.corpus,
        imported=plan.imported,
    output:
        rollouts="results/rollouts/{benchmark}/{agent}/{model}/s{seed}.jsonl",
        manifest="results/rollouts/{benchmark}/{agent}/{model}/s{seed}.jsonl.manifest.json",
    log:
        "results/logs/rollout/{benchmark}/{agent}/{model}/s{seed}.log",
    conda:
        "envs/vivavoce.yaml"
    resources:
        api_slots=plan.api_slots,
    params:
        scripts=plan.scripts,
        frozen=plan.frozen_file,
        digest=plan.digest("rollout"),
    shell:
        "{params.scripts}/rollout.py --config {params.frozen} --digest {params.digest} --log {log}"
        " --benchmark {wildcards.benchmark} --agent {wildcards.agent} --model {wildcards.model} --seed {wildcards.seed}"
        " --questions {input.questions} --imported {input.imported} --output {output.rollouts}"


rule judge:
    input:
        questions="results/data/{benchmark}/questions.jsonl",
        rollouts="results/rollouts/{benchmark}/{agent}/{model}/s{seed}.jsonl",
    output:
        judgements="results/judgements/{benchmark}/{agent}/{model}/s{seed}/{judge}.jsonl",
        manifest="results/judgements/{benchmark}/{agent}/{model}/s{seed}/{judge}.jsonl.manifest.json",
    log:
        "results/logs/judge/{benchmark}/{agent}/{model}/s{seed}/{judge}.log",
    conda:
        "envs/vivavoce.yaml"
    resources:
        api_slots=plan.judge_slots,
    params:
        scripts=plan.scripts,
        frozen=plan.frozen_file,
        digest=plan.digest("judge"),
    shell:
        "{params.scripts}/judge.py --config {params.frozen} --digest {params.digest} --log {log}"
        " --benchmark {wildcards.benchmark} --agent {wildcards.agent} --model {wildcards.model} --seed {wildcards.seed}"
        " --judge {wildcards.judge} --questions {input.questions} --rollouts {input.rollouts} --output {output.judgements}"


rule aggregate:
    input:
        questions=plan.questions(),
        judgements=plan.plan.judgements(),
    output:
        measures=plan.measures,
        manifest=f"{plan.measures}.manifest.json",
        differences=f"{plan.folder}/differences.csv.gz",
    log:
        f"results/logs/aggregate/{plan.plan.config.name}.log",
    conda:
        "envs/vivavoce.yaml"
    threads: 2
    params:
        scripts=plan.scripts,
        frozen=plan.frozen_file,
        digest=plan.digest("aggregate"),
    shell:
        "{params.scripts}/aggregate.py --config {params.frozen} --digest {params.digest} --log {log}"
        " --threads {threads} --output {output.measures} --differences {output.differences}"


rule table:
    input:
        measures=plan.measures,
        evidence=plan.evidence,
    output:
        markdown=f"{plan.folder}/tables/{{table}}.md",
        csv=f"{plan.folder}/tables/{{table}}.csv",
        latex=f"{plan.folder}/tables/{{table}}.tex",
        manifest=f"{plan.folder}/tables/{{table}}.md.manifest.json",
    log:
        f"results/logs/table/{plan.plan.config.name}/{{table}}.log",
    conda:
        "envs/vivavoce.yaml"
    threads: plan.table_threads
    params:
        scripts=plan.scripts,
        frozen=plan.frozen_file,
        digest=plan.digest("table"),
    shell:
        "{params.scripts}/table.py --config {params.frozen} --digest {params.digest} --log {log}"
        " --table {wildcards.table} --threads {threads} --measures {input.measures} --output {output.markdown}"


rule plot:
    input:
        measures=plan.measures,
    output:
        svg=f"{plan.folder}/plots/{{plot}}.svg",
        png=f"{plan.folder}/plots/{{plot}}.png",
        manifest=f"{plan.folder}/plots/{{plot}}.svg.manifest.json",
    log:
        f"results/logs/plot/{plan.plan.config.name}/{{plot}}.log",
    conda:
        "envs/vivavoce.yaml"
    params:
        scripts=plan.scripts,
        frozen=plan.frozen_file,
        digest=plan.digest("plot"),
    shell:
        "{params.scripts}/plot.py --config {params.frozen} --digest {params.digest} --log {log}"
        " --plot {wildcards.plot} --measures {input.measures} --output {output.svg}"


rule estimate:
    input:
        questions=plan.questions(),
        corpora=plan.corpora(),
    output:
        f"{plan.folder}/estimate.md",
    log:
        f"results/logs/estimate/{plan.plan.config.name}.log",
    conda:
        "envs/vivavoce.yaml"
    params:
        scripts=plan.scripts,
        frozen=plan.frozen_file,
    shell:
        "{params.scripts}/estimate.py --config {params.frozen} --log {log} --output {output}"
