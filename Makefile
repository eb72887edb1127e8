# Everything runs in a virtual environment of its own; `make help` lists the targets.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: help browser demo demo-daily demo-gpu check test pytest test-all lint sanitize coverage gpu fuzz bench compare docs kernels clean

help:            ## list the targets
	@grep -hE '^[a-z-]+: .*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/'

$(VENV)/.base: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(PIP) --editable .
	@touch $@

# Python compiles what the tests import: to compile all of it takes a minute.
$(VENV)/.dev: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(PIP) --no-compile --editable '.[dev]'
	@touch $(VENV)/.base $@

# Servers of object stores, which npm installs. Without npm the tests that need them are skipped, and say so.
SERVERS := tests/servers/node_modules/.package-lock.json
$(SERVERS): tests/servers/package-lock.json
	@if ! command -v npm > /dev/null; then \
	  echo "npm is missing, so tests on s3rver and Azurite are skipped. To run them: apt-get install npm"; \
	elif npm ci --prefix tests/servers --silent --no-audit --no-fund; then \
	  touch $@; \
	else \
	  echo "npm could not install s3rver and Azurite, so tests on them are skipped"; rm -rf tests/servers/node_modules; \
	fi

# A browser for the tests of reports: Debian's, where apt-get may install it, else one that Playwright downloads.
browser: $(VENV)/.dev ## Chromium for tests/report/test_browser.py, whose screenshots are in build/screenshots
	@if command -v chromium > /dev/null || command -v google-chrome > /dev/null; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null; then \
	  apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium fonts-liberation > /dev/null; \
	else $(BIN)/playwright install chromium; fi

demo: $(VENV)/.base ## test pipelines/flights.yaml, and run it on real data; on a GPU where the GPU engine is installed
	$(BIN)/gpuetl test pipelines/flights.yaml
	$(BIN)/gpuetl run pipelines/flights.yaml

CUDA ?= 12
demo-gpu: $(VENV)/.base ## the same on a GPU: installs the GPU engine and builds its kernels (CUDA=13 for CUDA 13)
	$(PIP) --editable '.[cu$(CUDA)]'
	$(BIN)/gpuetl kernel build pipelines/flights.yaml
	$(BIN)/gpuetl test pipelines/flights.yaml --engine cudf
	$(BIN)/gpuetl run pipelines/flights.yaml --engine cudf

demo-daily: $(VENV)/.base ## seven days of flights: a late file, a killed run, a resume, a backfill; compared with one run
	$(BIN)/python examples/daily/demo.py

lint: $(VENV)/.dev  ## ruff, mypy, and the contracts between packages
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

# Without this each of the 200 Python processes that tests start compiles gpuetl.
check test pytest test-all sanitize coverage: export PYTHONDONTWRITEBYTECODE =

# One process more than there are cores: tests wait for processes, clusters and servers that they start.
PYTEST := $(BIN)/pytest -n $(shell expr $$(nproc 2> /dev/null || echo 2) + 1) --dist worksteal -rsx
QUICK  := $(addprefix tests/,spec expressions optimize physical io)

check: lint      ## lint, and the quick tests of spec, expressions, optimizer, plan and io: a minute on 2 cores
	$(PYTEST) --quick $(QUICK)

test: $(VENV)/.dev $(SERVERS) ## lint, and at the same time the tests on every engine that is here; what CI runs
	$(MAKE) --no-print-directory --jobs 2 lint pytest

pytest: $(VENV)/.dev $(SERVERS)
	$(PYTEST)

test-all: lint $(SERVERS) ## and what that leaves out: more layouts, kernels and random pipelines.  Nightly: with `make fuzz`
	$(PYTEST) --full -o faulthandler_timeout=1800

sanitize: $(VENV)/.dev ## kernels on the CPU, with g++'s checks of memory and of what C++ leaves undefined: a quarter of an hour
	LD_LIBRARY_PATH=$$(echo $(CURDIR)/$(VENV)/lib/python*/site-packages/nvidia/cuda_nvrtc/lib) \
	LD_PRELOAD="$$(g++ -print-file-name=libasan.so) $$(g++ -print-file-name=libstdc++.so)" \
	ASAN_OPTIONS=detect_leaks=0:detect_odr_violation=0 GPUETL_SANITIZE=1 $(PYTEST) --capture=sys \
	$(or $(TESTS),tests/gpu_engine tests/expressions tests/steps) -k "gpu_engine or expressions or cpu"

coverage: $(VENV)/.dev $(SERVERS) ## lines and branches that tests run (TESTS=tests/io for some): htmlcov/index.html and coverage.txt
	$(BIN)/coverage erase
	status=0; $(PYTEST) --cov --cov-report= --ignore tests/cli/test_ending.py $(TESTS) || status=$$?; \
	$(BIN)/coverage html --quiet && \
	$(BIN)/coverage report > coverage.txt && \
	$(BIN)/coverage json --quiet -o coverage.json && \
	$(BIN)/python tests/least_covered.py coverage.json | tee -a coverage.txt && \
	exit $$status
TESTS ?=

gpu: $(VENV)/.dev ## the tests that need a GPU, fuzzing and kills on it, in SECONDS; logs in OUT
	bash tests/on_gpus.sh $(BIN)/python $(OUT) $(SECONDS)
SECONDS ?= 1500
OUT     ?= /tmp/gpuetl-on-gpus

N ?= 50000
fuzz: $(VENV)/.dev  ## N random pipelines against DuckDB (N=50000), or one again (SEED=1234)
	PYTHONPATH=tests $(BIN)/python -m fuzz $(if $(SEED),--seed $(SEED),--cases $(N))

bench: $(VENV)/.dev ## start-up times and peers, into tests/benchmarks/results and docs/performance.md
	$(PIP) --editable '.[bench]'
	$(BIN)/python tests/benchmarks/startup.py
	$(BIN)/python tests/benchmarks/peers.py

FOLDER ?= /tmp/gpuetl-benchmark
compare: $(VENV)/.dev ## beside cuDF, cudf-polars, Polars and DuckDB on this machine's GPU (CUDA=13 for CUDA 13, FOLDER for data)
	$(PIP) --editable '.[bench-cu$(CUDA)]'
	$(BIN)/python tests/benchmarks/gpu.py $(FOLDER)
	$(BIN)/python tests/benchmarks/operations.py
	$(BIN)/python tests/benchmarks/render.py

docs: $(VENV)/.dev  ## docs/functions.md, docs/language.md, docs/errors/, the Python API and the JSON Schema
	$(BIN)/python tools/generate_functions.py
	$(BIN)/python tools/generate_formats.py
	$(BIN)/python -m gpuetl.expressions.functions.document docs/functions.md
	$(BIN)/python tools/generate_language.py
	$(BIN)/python -m gpuetl.spec.json_schema src/gpuetl/schema/pipeline.schema.json
	$(BIN)/python -m gpuetl.report.manifest_schema src/gpuetl/schema/manifest.schema.json
	$(BIN)/python tools/generate_plugin_schema.py
	$(BIN)/python -m gpuetl.error_codes.document docs/errors
	$(BIN)/python tests/benchmarks/render.py

kernels: $(VENV)/.dev ## precompiled kernels for a release's wheel, into src/gpuetl/_kernels; needs no GPU
	$(BIN)/python -m gpuetl.engines.cudf.programs.kernel_build

clean:           ## remove the virtual environment and what runs wrote
	rm -rf $(VENV) build pipelines/out src/gpuetl/_kernels htmlcov coverage.json coverage.txt .coverage*
