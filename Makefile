# `make` alone lists what there is.
.DEFAULT_GOAL := help
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
UV := $(VENV)/bin/uv
UV_VERSION := 0.13.7
STAMP := $(VENV)/.synced
BIN := $(VENV)/bin

.PHONY: help setup run test lint check bench docs clean
help: ## list the commands
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 16

$(UV):
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)

$(STAMP): pyproject.toml uv.lock | $(UV)
	@$(UV) sync --quiet --frozen --all-extras --compile-bytecode
	@touch $@

setup: $(STAMP) ## install what Mudra needs into .venv

run: $(STAMP) ## set everything up and start the sandbox with a demonstration network
	@$(BIN)/mudra serve --sandbox --demo

lint: $(STAMP) ## format, style, types, import directions, sizes
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache >/dev/null || $(BIN)/lint-imports --no-cache
	@$(BIN)/python tools/size_gate.py
	@$(BIN)/python -m tools.lint

test: lint ## everything that must hold before a change lands
	@$(BIN)/pytest -n 2

bench: $(STAMP) ## the headline figures, as ratios
	@for b in bench/*.py; do $(BIN)/python $$b || exit 1; done

docs: $(STAMP) ## write the generated reference anew
	@$(BIN)/python tools/reference.py

clean: ## remove the environment and all caches (never the data directory)
	rm -rf $(VENV) .mypy_cache .ruff_cache .hypothesis .import_linter_cache .build
