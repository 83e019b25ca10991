# make setup    a virtual environment with everything; once, then again only when pyproject.toml changes
# make serve    the service at http://127.0.0.1:8000, on a Redis of its own; Ctrl-C stops it
# make test     the test suite
# make check    lint, format, types, import rules
# make bench    optima beside a peer's, clusterings beside the paper's, memory on MNIST; some data needs ISM_DATA_DIR

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: setup serve test check format bench

setup: $(READY)

$(READY): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "ISM needs Python 3.11 or newer, this is %d.%d: make PYTHON=python3.12" % sys.version_info[:2])'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@

serve: setup
	$(BIN)/ism serve $(ARGS)

test: setup
	$(BIN)/python -m pytest $(ARGS)

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: setup
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: setup
	$(BIN)/python -m benchmarks.optima
	$(BIN)/python -m benchmarks.clusterings
	$(BIN)/python -m benchmarks.memory
