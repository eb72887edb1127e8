# Everything runs in a virtual environment of its own; `make help` lists the targets.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: help demo test lint fuzz bench compare docs kernels clean

help:            ## list the targets
	@grep -hE '^[a-z]+: .*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/'

$(VENV)/.base: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(PIP) --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.base
	$(PIP) --editable '.[dev]'
	@touch $@

demo: $(VENV)/.base ## test pipelines/flights.yaml, and run it on real data
	$(BIN)/gpuetl test pipelines/flights.yaml
	$(BIN)/gpuetl run pipelines/flights.yaml

lint: $(VENV)/.dev  ## ruff and mypy
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

test: export PYTHONDONTWRITEBYTECODE =  # or each of the 200 Python processes that tests start compiles gpuetl
test: lint       ## ruff, mypy and the whole test suite
	$(BIN)/pytest -n auto --dist worksteal -rsx

N ?= 50000
fuzz: $(VENV)/.dev  ## N random pipelines against DuckDB (N=50000), or one again (SEED=1234)
	PYTHONPATH=tests $(BIN)/python -m fuzz $(if $(SEED),--seed $(SEED),--cases $(N))

bench: $(VENV)/.dev ## start-up times and peers, into tests/benchmarks/results and docs/performance.md
	$(PIP) --editable '.[bench]'
	$(BIN)/python tests/benchmarks/startup.py
	$(BIN)/python tests/benchmarks/peers.py

CUDA   ?= 13
FOLDER ?= /tmp/gpuetl-benchmark
compare: $(VENV)/.dev ## beside cuDF, cudf-polars, Polars and DuckDB on this machine's GPU (CUDA=13, FOLDER for data)
	$(PIP) --editable '.[bench-cu$(CUDA)]'
	$(BIN)/python tests/benchmarks/gpu.py $(FOLDER)
	$(BIN)/python tests/benchmarks/operations.py
	$(BIN)/python tests/benchmarks/render.py

docs: $(VENV)/.dev  ## docs/functions.md, docs/language.md and docs/errors/ from the tables, docs/performance.md from the results
	$(BIN)/python -m gpuetl.expressions.functions.document docs/functions.md
	$(BIN)/python -m gpuetl.spec.document_language docs/language.md
	$(BIN)/python -m gpuetl.error_codes.document docs/errors
	$(BIN)/python tests/benchmarks/render.py

kernels: $(VENV)/.dev ## precompiled kernels for a release's wheel, into src/gpuetl/_kernels; needs no GPU
	$(BIN)/python -m gpuetl.engines.cudf.codegen.kernel_build

clean:           ## remove the virtual environment and what runs wrote
	rm -rf $(VENV) pipelines/out src/gpuetl/_kernels
