"""Which rows the real model has, and that a model of one's own needs none of its calls."""

from __future__ import annotations

from pathlib import Path

import pytest

from vivavoce.config.compose import compose
from vivavoce.config.experiment import ExperimentConfig
from vivavoce.plan import Plan


def plan(root: Path, **choices: object) -> Plan:
    return Plan(compose(root / "conf", choices), root)


def test_the_default_is_offline_and_has_rows_of_a_real_model_and_a_real_judge(root: Path) -> None:
    made = plan(root)
    assert made.config.offline
    assert made.config.recorded == ["recorded/specimen.jsonl.gz"]
    assert {job.benchmark for job in made.jobs if job.model == "smollm2"} == {
        "specimen_airqa_short",
        "specimen_scifact",
        "specimen_pubmedqa",
    }
    assert {job.benchmark for job, judge in made.judged if judge == "smollm2"} == {"specimen_airqa_short"}
    assert {judge for job, judge in made.judged if job.model == "smollm2"} == {"lexical", "smollm2"}


@pytest.mark.parametrize("choices", [{"model": "vllm"}, {"model": "vllm", "judge": "gpt_4o_mini"}, {"judge": "gpt_4o_mini"}])
def test_another_model_or_judge_is_asked_and_not_replayed(root: Path, choices: dict[str, object]) -> None:
    assert not plan(root, **choices).config.offline


def test_a_model_of_ones_own_needs_no_call_of_the_recorded_one(root: Path) -> None:
    made = plan(root, model="vllm")
    assert {job.model for job in made.jobs} == {"vllm"}
    assert {judge for _, judge in made.judged} == {"lexical"}
    assert {job.benchmark for job in made.jobs} >= {"specimen_airqa", "specimen_cs"}


def test_more_seeds_ask_the_recorded_model_for_no_more_than_was_recorded(root: Path) -> None:
    made = plan(root, seeds=3)
    assert {job.seed for job in made.jobs if job.model == "smollm2"} == {0}
    assert {job.seed for job, judge in made.judged if judge == "smollm2"} == {0}
    assert {job.seed for job in made.jobs if job.model == "extractive"} == {0, 1, 2}


def test_of_the_patterns_that_fit_the_last_decides(root: Path) -> None:
    def judged(*skip: str) -> set[str]:
        raw = compose(root / "conf", {"experiment": "specimen", "benchmark": "specimen_qasa", "agent": "lead"})
        config: ExperimentConfig = raw.model_copy(update={"skip": list(skip)})
        return {f"{job.agent}/{job.model}/{judge}" for job, judge in Plan(config, root).judged}

    everything = {f"lead/{model}/{judge}" for model in ("extractive", "smollm2") for judge in ("lexical", "smollm2")}
    assert judged() == everything
    assert judged("*/smollm2") == {"lead/extractive/lexical", "lead/smollm2/lexical"}
    assert judged("*/smollm2", "!*/extractive/s0/smollm2") == everything - {"lead/smollm2/smollm2"}
    assert judged("!*/extractive/s0/smollm2", "*/smollm2") == {"lead/extractive/lexical", "lead/smollm2/lexical"}
    assert judged("*/smollm2/s0", "!*/smollm2/s0/lexical") == {"lead/extractive/lexical", "lead/extractive/smollm2"}
