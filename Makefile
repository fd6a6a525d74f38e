# make demo and make test set up what they need in .venv, from PyPI; nothing outside this folder is touched.
# Another Python: make demo PYTHON=python3.13
PYTHON ?= python3
BIN := .venv/bin
unexport PYTHONDONTWRITEBYTECODE  # images set it; every process of the tests would then compile what it imports
PIP := $(BIN)/python -m pip --disable-pip-version-check
NO_PIP = { echo 'pip could not install what is needed; its message is above. It downloads' >&2; \
    echo 'from PyPI: check the network, or a proxy in HTTPS_PROXY, and try again:' >&2; \
    echo '    make $(MAKECMDGOALS)' >&2; exit 2; }

.PHONY: help demo test tests test-all coverage lint bounds simulate-faults core dist bench bench-service docs site \
    pictures constraints proto clean

help:
	@echo "make demo    crawl a small generated web for real, compare eleven orderings"
	@echo "             on it (about 3 minutes the first time)"
	@echo "make test    linters, types, and what tests a change in a few minutes"
	@echo "make test-all  all tests, as CI runs them: Spark, a browser, bounds, faults"
	@echo "make coverage   all tests, and how much of src they cover"
	@echo "make bounds  the kernels' tests, with numba's bounds checks"
	@echo "make simulate-faults SEEDS=1000   crawls and a service on a disk, a network and"
	@echo "             a clock that fail, each run from a seed"
	@echo "make core    the core alone in an environment of its own: its size, its start,"
	@echo "             and what it says without the extras"
	@echo "make bench   speed and memory, beside a baseline measured in the same run"
	@echo "make bench-service   the service's; beside a URLFrontier that runs:"
	@echo "             make bench-service PEER=localhost:7071"
	@echo "make dist    wheel and source distribution in dist/, each installed and tried"
	@echo "make docs    the generated pages of docs/ again"
	@echo "make site    the documentation as a site, in site/"
	@echo "make pictures   the pictures of the documentation, by a demo and a browser"
	@echo "make constraints   constraints.txt, from what .venv has now"
	@echo "make proto   the messages of the gRPC service, after urlfrontier.proto changed"
	@echo "make clean   remove .venv and the results of the demo"

demo: .venv/installed
	@$(BIN)/frontrank demo

# Tests of one group share a process (tests/tiers.py); all others go to the process that is free.
PYTEST := $(BIN)/python -m pytest -n 3 --dist loadgroup --durations 10
KERNEL_TESTS = $(shell $(BIN)/python -m tests.bounds)

# The linters run beside the tests, and say what they found after them.
LINT_BESIDE = $(MAKE) --no-print-directory lint >.lint.log 2>&1 & linters=$$!
LINTED = failed=$$?; wait $$linters || failed=1; cat .lint.log; exit $$failed

test: .venv/tested-with
	@$(LINT_BESIDE); $(PYTEST) -m "not full"; $(LINTED)

tests: test

# Kernel tests run with bounds checks instead of without; the contracts run without, and growth with them, too.
test-all: .venv/tested-with
	@$(LINT_BESIDE); $(PYTEST) $(COVER) $(addprefix --ignore=,$(filter-out %/test_contracts.py,$(KERNEL_TESTS))); $(LINTED)
	$(MAKE) bounds
	$(MAKE) simulate-faults SEEDS=300

# Without test_stopping.py: its signals arrive while coverage, in the process that is to end, is imported or writes its data.
coverage: .venv/tested-with
	rm -f .coverage .coverage.*
	$(MAKE) --no-print-directory test-all COVER="--cov --cov-append --cov-report= --ignore=tests/test_stopping.py"
	$(BIN)/python -m tests.covered

lint: .venv/tested-with
	$(BIN)/ruff check src tests benchmarks docs examples
	$(BIN)/ruff format --check src tests benchmarks docs examples
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/python -m tests.sizes
	$(BIN)/python -m tests.prose
	$(BIN)/python -m tests.project

# Compiled code reads and writes out of bounds without a word.
bounds: .venv/tested-with
	NUMBA_BOUNDSCHECK=1 $(PYTEST) $(COVER) -k "not test_contract or growth" $(KERNEL_TESTS)

SEEDS ?= 1000
FROM ?= 0
simulate-faults: .venv/tested-with
	$(BIN)/python -m tests.faults --seeds $(SEEDS) --from $(FROM)

core:
	PYTHON=$(PYTHON) tests/core_install.sh

bench: .venv/tested-with
	$(PIP) install -q -e ".[bench]"
	$(BIN)/python -m benchmarks

bench-service: .venv/tested-with
	$(BIN)/python -m benchmarks.service $(if $(PEER),--peer $(PEER))

dist:
	PYTHON=$(PYTHON) tests/dist_install.sh

docs: .venv/tested-with
	$(BIN)/python docs/generate.py

site: .venv/tested-with
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

pictures: .venv/tested-with
	$(BIN)/python docs/pictures.py

constraints: .venv/tested-with
	$(PIP) freeze --exclude-editable | sort -f > constraints.txt

proto: .venv/tested-with
	cd src/frontrank/service && ../../../$(BIN)/python -m grpc_tools.protoc -I. --descriptor_set_out=urlfrontier.desc --pyi_out=. \
	    urlfrontier.proto && mv urlfrontier_pb2.pyi wire.pyi

# Debian ships venv apart from Python, and installing it takes root: said, not done.
.venv/bin/python:
	@command -v '$(PYTHON)' >/dev/null || { \
	    echo 'There is no $(PYTHON) on this machine. Name a Python 3.11 or newer that is: make $(MAKECMDGOALS) PYTHON=/path/to/python3' >&2; exit 2; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	    echo 'frontrank needs Python 3.11 or newer, and $(PYTHON) is not. Name one that is: make $(MAKECMDGOALS) PYTHON=/path/to/python3' >&2; exit 2; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	    echo 'Python comes without venv on this machine. Run this line, then make $(MAKECMDGOALS) again:' >&2; \
	    echo "    $$([ $$(id -u) = 0 ] || echo 'sudo ')apt-get install -y python3-venv" >&2; exit 2; }
	@echo "A virtual environment of $$($(PYTHON) --version) in .venv; make clean removes it."
	@$(PYTHON) -m venv .venv || { rm -rf .venv; exit 2; }

.venv/installed: pyproject.toml | .venv/bin/python
	@echo "Installing frontrank with its extras crawl and report into .venv: numpy,"
	@echo "numba, lxml, matplotlib and what they need, from PyPI. About 110 MB to download,"
	@echo "460 MB on disk; a minute or two."
	@$(PIP) install -e ".[crawl,report]" || $(NO_PIP)
	@touch $@

.venv/tested-with: pyproject.toml | .venv/bin/python
	@echo "Installing frontrank with all extras, and what its tests need, into .venv,"
	@echo "from PyPI: about 2 GB on disk."
	@$(PIP) install -e ".[dev]" || $(NO_PIP)
	@touch $@ .venv/installed

clean:
	rm -rf .venv frontrank-demo
