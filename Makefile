# make demo    a fresh environment, then the default experiment; ends with its tables
# make test    the same environment, then all checks and tests
# make resume  after a crash: unlock, and run what is unfinished (CONFIG="experiment=NAME limit=5", as after --config)

PYTHON ?= python3
ENV := .venv/bin
CORES ?= all
CONFIG ?= experiment=specimen

.DEFAULT_GOAL := demo
.PHONY: demo test check resume estimate ui lock specimen clean

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

test: .venv/.installed check
	$(ENV)/pytest

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

specimen: .venv/.installed
	$(ENV)/python specimen/build.py

clean:
	rm -rf results/* .snakemake
