# `make demo` and `make test` do all their own set-up: a virtual environment in this folder,
# pinned by constraints.txt. They need Python >= 3.11 and nothing else.
PYTHON ?= python3
BIN := .venv/bin
PYTEST := $(BIN)/pytest -n auto --dist worksteal --durations=10

# The tests start some thousand Python processes: each would compile every module again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo test test-loaded test-all attack fuzz conformance real-models lint format bench reference docs dist clean
help: ## Show this screen
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

demo: .venv/.toolspan ## The whole job on real input: serve, convert, call, validate
	$(BIN)/toolspan demo

test: .venv/.dev ## Every test, in parallel, and the ten slowest
	$(PYTEST)

test-loaded: .venv/.dev ## The same beside two busy loops: no outcome may depend on the machine's speed
	$(BIN)/python -m tests.support.busy $(PYTEST)

test-all: .venv/.dev ## The tests that take longer than make test may
	$(BIN)/pytest -n auto --dist worksteal -m long

attack: .venv/.dev ## Attacks on a running server, with what each one cost (Linux)
	$(BIN)/python -m tests.attacks

fuzz: .venv/.dev ## The fuzzers, each for SECONDS (60)
	TOOLSPAN_FUZZ_SECONDS=$(or $(SECONDS),60) $(BIN)/pytest tests/fuzz -m 'long or not long'

conformance: .venv/.toolspan ## The protocol's own suite against configs/conformance.yaml (needs npm)
	$(BIN)/python -m conformance

real-models: .venv/.dev ## A real engine with real weights, fetched once (MODEL=smollm2-135m: a small one)
	$(BIN)/python -m tests.real_models $(if $(MODEL),--model $(MODEL))

lint: .venv/.dev ## Style, types, architecture
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pyright
	$(BIN)/lint-imports

format: .venv/.dev ## Rewrite the code in the project's style
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

bench: .venv/.dev ## Measure tool calls beside its peers (prints, asserts nothing)
	$(BIN)/python -m benchmarks

reference: .venv/.dev ## Regenerate what is generated: the config schema, the pages of docs/reference
	$(BIN)/python -m toolspan_server.config > configs/toolspan.schema.json
	$(BIN)/python -m scripts.docs

docs: reference ## Build the documentation's site into site/; a warning fails
	$(BIN)/python -m scripts.docs.site

dist: .venv/.dev ## Build the distributions into dist/, and check what an index will show of them
	rm -rf dist
	PIP_CONSTRAINT=constraints.txt $(BIN)/python -m build
	$(BIN)/twine check --strict dist/*

clean: ## Remove the virtual environment and what tools leave behind
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache .cache site dist

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Toolspan needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) -V 2>&1). Try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@echo "Making a virtual environment in .venv (once)"
	$(PYTHON) -m venv .venv

.venv/.toolspan: .venv/bin/python pyproject.toml constraints.txt
	@echo "Installing Toolspan and what it needs into .venv (once, a minute or two)"
	$(BIN)/python scripts/progress.py pip install --disable-pip-version-check -c constraints.txt -e .
	@touch $@

.venv/.dev: .venv/.toolspan
	@echo "Installing what its tests need (once, a few minutes)"
	$(BIN)/python scripts/progress.py pip install --disable-pip-version-check -c constraints.txt -e '.[dev,bedrock]'
	@# Not by the extra: it requires jsonpath-python, whose module would overwrite that of our python-jsonpath.
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt --no-deps mistralai
	@touch $@
