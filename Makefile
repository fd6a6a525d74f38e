# On a fresh Debian machine with Python 3.11 and make: `make demo` and `make test` do all the set-up.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test lint bench docs clean

demo: .venv/installed
	$(BIN)/frontrank demo

test: .venv/tested-with lint
	$(BIN)/python -m pytest -n 2 --dist loadfile --durations 25

lint: .venv/tested-with
	$(BIN)/ruff check src tests benchmarks docs/generate.py examples
	$(BIN)/ruff format --check src tests benchmarks docs/generate.py examples
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

bench: .venv/tested-with
	$(BIN)/python -m pip install -q --disable-pip-version-check -e .[bench]
	$(BIN)/python -m benchmarks

docs: .venv/tested-with
	$(BIN)/python docs/generate.py

# Debian ships venv apart from Python; where it is missing and we may install it, we do.
.venv/bin/python:
	$(PYTHON) -m venv .venv || { rm -rf .venv; apt-get update -q && apt-get install -y -q python3-venv && $(PYTHON) -m venv .venv; }

.venv/installed: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install -q --disable-pip-version-check -e .
	touch $@

.venv/tested-with: .venv/installed
	$(BIN)/python -m pip install -q --disable-pip-version-check -e .[dev]
	touch $@

clean:
	rm -rf .venv frontrank-demo
