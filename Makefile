# `make` alone lists what there is.
.DEFAULT_GOAL := help
SHELL := /bin/bash
# Debian's is built with profile-guided optimization, one of pyenv is often not: 3 to 8 % of the CPU
# of a test run. It is of use where it can make an environment (python3.11-venv).
PYTHON ?= $(shell /usr/bin/python3.11 -c 'import ensurepip' 2>/dev/null && echo /usr/bin/python3.11 || echo python3)
VENV := .venv
UV := $(VENV)/bin/uv
# The machine's own certificates, where it has some: they know a company's proxy.
export UV_SYSTEM_CERTS ?= $(if $(wildcard /etc/ssl/certs/ca-certificates.crt),1,0)
# A shell may say so; without compiled code every start and every test compiles all of Mudra.
unexport PYTHONDONTWRITEBYTECODE
STAMP := $(VENV)/.synced
BIN := $(VENV)/bin
ASSETS := src/mudra/console/assets
BUILT := src/mudra/console/static/built
ASSETS_STAMP := $(BUILT)/charts.min.js.gz
SITE := src/mudra/console/site
SITE_ENV := .build/site-env
SITE_STAMP := $(SITE)/.built

LINTS := lint-types lint-style lint-imports lint-sizes lint-rules lint-reference lint-verification lint-messages
# Two at a time, each with its own words in one piece: `make lint` and `make test` are for two cores.
BESIDE := $(MAKE) --no-print-directory -j 2 $(if $(filter output-sync,$(.FEATURES)),--output-sync=target)
# Twice as many as there are cores: some tests wait for most of their time. With five, tests of time
# fail that pass with four.
PROCESSES ?= 4
PYTEST := $(BIN)/pytest
# What tests need besides, before the first of them. Root on Debian installs packages of the system.
INSTALL ?= 1
PROGRAMS := $(BIN)/python -m tools.programs $(if $(filter 0,$(INSTALL)),--no-system-packages)
# A run makes a hundred databases, 4 GiB at most at a time, and takes 7 GiB of memory with them: in
# memory none waits for a disk. What a green run leaves there it removes.
SHM := /dev/shm
GIB_FREE = $(shell df -BG --output=avail $(SHM) 2>/dev/null | tail -n 1 | tr -dc 0-9)
GIB_UNUSED = $(shell awk '/MemAvailable/ {print int($$2 / 1048576)}' /proc/meminfo)
TMP_OF_TESTS = $(shell [ "0$(GIB_FREE)" -ge 6 ] && [ "0$(GIB_UNUSED)" -ge 10 ] && echo TMPDIR=$(SHM))
TYPES_LOG := .build/types.txt

.PHONY: site screenshots assets help setup run programs test test-bare test-all test-security test-slow test-mutation fuzz kills lint $(LINTS) \
	bench docs messages sbom advisories clean
help: ## list the commands
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 16

$(UV): tools/uv.txt
	@echo "making the environment $(VENV) (first time only)"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/pip install --quiet --disable-pip-version-check --only-binary :all: --require-hashes -r tools/uv.txt
	@touch $@

$(STAMP): pyproject.toml uv.lock | $(UV)
	@echo "installing packages into $(VENV) (first time and after changes; a minute or several)"
	@$(UV) sync --quiet --frozen --all-extras
	@touch $@

setup: $(STAMP) ## install what Mudra needs into .venv

run: $(STAMP) ## set everything up and start the sandbox with a demonstration network
	@$(MAKE) -s --no-print-directory assets site & # beside the start: pages take the scripts when they are there
	@echo "starting database and demonstration network; the first start takes longer"
	@$(BIN)/mudra serve --sandbox --demo

# The console's scripts: htmx and charts from the npm registry, by its lock file. Without the
# registry the pages work too, with tables in place of charts.
$(ASSETS_STAMP): $(wildcard $(ASSETS)/*.js $(ASSETS)/*.mjs) $(ASSETS)/package-lock.json | $(STAMP)
	@cd $(ASSETS) && export PATH="$(CURDIR)/$(BIN):$$PATH" && \
		npm ci --silent --ignore-scripts --no-audit --no-fund && node build.mjs || \
		echo "note: the npm registry cannot be reached, so the console shows tables without charts; make assets tries again"

assets: $(ASSETS_STAMP) ## build the console's scripts into the package

lint: $(STAMP) ## format, style, types, import directions, sizes
	@$(BESIDE) $(LINTS)

lint-types:
	@$(BIN)/mypy
lint-style:
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/ruff check --quiet .
lint-imports:
	@$(BIN)/lint-imports --no-cache >/dev/null || $(BIN)/lint-imports --no-cache
lint-sizes:
	@$(BIN)/python tools/size_gate.py
lint-rules:
	@$(BIN)/python -m tools.lint
lint-reference:
	@$(BIN)/python -m tools.reference --check
lint-verification:
	@$(BIN)/python -m tools.verification --check
	@$(BIN)/python -m tools.cryptography_page --check

lint-messages:
	@$(BIN)/python -m tools.messages --check

programs: $(STAMP) ## find or install what tests need besides (INSTALL=0: no system packages)
	@$(PROGRAMS)

# The quick lints first, while programs are fetched. Types beside the tests: without a cache they keep
# one core busy for 40 s while the other has nothing to do.
test: $(STAMP) ## everything that must hold before a change lands
	@$(PROGRAMS) --brief & programs=$$!; \
		$(BESIDE) $(filter-out lint-types,$(LINTS)) assets site; linted=$$?; \
		wait $$programs && exit $$linted
	@$(MAKE) --no-print-directory -j 2 test-types test-all; failed=$$?; \
		cat $(TYPES_LOG); exit $$failed

# It mounts, so that root makes the machine; AS=user runs both commands there as an ordinary user.
ifeq ($(origin AS),default) # that of make is its assembler
AS := root
endif
test-bare: ## prove make run and make test on a bare Debian 12, a clean clone (15 minutes; needs mmdebstrap)
	@$(PYTHON) -m tools.bare_machine --as $(AS)

test-all:
	@$(TMP_OF_TESTS) $(PYTEST) --processes $(PROCESSES)

test-security: $(STAMP) ## the attacks alone, each as a test; they are part of make test too
	@$(BIN)/pytest --processes 2 tests/security

test-types:
	@mkdir -p $(dir $(TYPES_LOG))
	@$(BIN)/mypy >$(TYPES_LOG) 2>&1

# In an environment of its own: what mutates code is no part of the others.
MUTATION := .build/mutation
test-mutation: $(STAMP) ## change each pure decision and see its nearest tests fail (some minutes)
	@UV_PROJECT_ENVIRONMENT=$(CURDIR)/$(MUTATION) $(UV) sync --quiet --frozen --all-extras --group mutation
	@rm -rf mutants && nice $(MUTATION)/bin/mutmut run --max-children 1 >$(MUTATION)/log.txt; \
		tail -n 1 $(MUTATION)/log.txt | tr '\r' '\n' | tail -n 1; $(MUTATION)/bin/mutmut results

# In an environment of its own as well; each target for FUZZ_S seconds, faults in .build/fuzz.
FUZZ_S ?= 60
FUZZ := .build/fuzz-env
fuzz: $(STAMP) ## change inputs of each parser, led by the code that they reach (10 minutes)
	@UV_PROJECT_ENVIRONMENT=$(CURDIR)/$(FUZZ) $(UV) sync --quiet --frozen --all-extras --group fuzz
	@for t in $$($(FUZZ)/bin/python -m fuzz.targets); do \
		nice $(FUZZ)/bin/python -m fuzz.run $$t -max_total_time=$(FUZZ_S) -max_len=4096 \
			2>$(FUZZ)/$$t.txt || { tail -n 30 $(FUZZ)/$$t.txt; exit 1; }; \
		echo "$$t: $$(tail -n 1 $(FUZZ)/$$t.txt)"; done

test-slow: $(STAMP) ## what needs minutes, before a release
	@$(PROGRAMS) --slow --brief
	@TEST_DEEP=1 $(BIN)/pytest --processes 2 -m "slow or deeper or hypothesis" --ignore tests/browser
	@TEST_DEEP=1 $(BIN)/pytest -m "" tests/browser # all of them: each may look at a page in every look

bench: $(STAMP) ## the headline figures, as ratios
	@for b in $$(grep -l __main__ bench/*.py | grep -v 'soak\|kills'); do $(BIN)/python -m bench.$$(basename $$b .py) || exit 1; done

# Lower it to a few for a look, raise it for a night. SOAK_SEED=N repeats what was killed when.
SOAK_MIN ?= 30
soak: $(STAMP) ## twice a nation's load, then kill -9 of every part: nothing lost, drift (an hour)
	@nice $(BIN)/python -m bench.soak $(SOAK_MIN)
	@$(MAKE) --no-print-directory kills

# What was done is kept in .build/kills.jsonl, so that a run that is stopped goes on from there.
KILLS ?= 1000
kills: $(STAMP) ## kill -9 of worker, supervisor, PostgreSQL and agent, 1,000 times each (half an hour of two quiet cores)
	@nice -n 19 $(BIN)/python -m bench.kills $(KILLS)

docs: $(STAMP) assets ## write the generated reference, and the site that the service shows at /docs
	@$(BIN)/python -m tools.reference
	@$(BIN)/python -m tools.verification
	@$(BIN)/python -m tools.cryptography_page
	@$(MAKE) --no-print-directory site

# In an environment of its own, which the service and its tests do not load.
$(SITE_STAMP): mkdocs.yml tools/site_links.py tools/site_tables.py $(shell find docs -type f) $(ASSETS_STAMP) | $(STAMP)
	@$(BIN)/python -m tools.site_links && \
		UV_PROJECT_ENVIRONMENT=$(SITE_ENV) $(UV) sync --quiet --frozen --only-group site --no-install-project && \
		NO_MKDOCS_2_WARNING=1 $(SITE_ENV)/bin/mkdocs build --quiet --strict && \
		cp .build/api/* $(SITE)/assets/ && touch $@ || \
		echo "note: the documentation could not be built, so /docs shows none; make docs tries again"

site: $(SITE_STAMP)

messages: $(STAMP) ## collect the messages of pages and emails for translators (gettext)
	@$(BIN)/python -m tools.messages

sbom: $(STAMP) ## write what Mudra is made of as CycloneDX: dist/*.cdx.json
	@mkdir -p dist
	@$(UV) export --quiet --frozen --all-extras --no-dev --format cyclonedx1.5 -o dist/mudra.cdx.json >/dev/null
	@$(BIN)/python -m tools.sbom dist/mudra.cdx.json
	@cd $(ASSETS) && PATH="$(CURDIR)/$(BIN):$$PATH" npm sbom --package-lock-only \
		--sbom-format cyclonedx >$(CURDIR)/dist/console.cdx.json
	@ls dist/*.cdx.json

advisories: $(STAMP) ## ask OSV which locked packages have a known vulnerability
	@$(BIN)/python -m tools.advisories

screenshots: $(STAMP) assets ## take the pictures of the README anew (needs Chromium)
	@$(PROGRAMS) --brief chromium libatomic
	@$(BIN)/python -m tools.screenshots $(INTO)

clean: ## remove the environment and all caches (never the data directory)
	rm -rf $(VENV) .mypy_cache .ruff_cache .hypothesis .import_linter_cache .build
