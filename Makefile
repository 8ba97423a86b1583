# Everything happens in .venv, which is made on the first call and brought up to date when a lock changes.

# The newest Python that fits: `make PYTHON=python3.12 ...` takes another. Its first call makes .venv with it.
PYTHON ?= $(firstword $(shell sh requirements/pythons.sh))
NO_PYTHON := make: no Python from 3.11 to 3.14 with its venv module was found; install one
VENV   := .venv
BIN    := $(VENV)/bin
UV     := $(BIN)/uv
PIP    := VIRTUAL_ENV=$(abspath $(VENV)) $(UV) pip --quiet

# A lock is the same on every machine: no settings, mirrors or local wheels of the one that writes it.
COMPILE := env -u UV_INDEX -u UV_DEFAULT_INDEX -u UV_INDEX_URL -u UV_EXTRA_INDEX_URL -u UV_FIND_LINKS \
	$(UV) pip compile --quiet --no-config --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-emit-find-links --custom-compile-command "make lock"
# Four workers for two cores: a third of the time is waiting for browsers, servers and time limits.
WORKERS := 4
TEST = $(BIN)/python -m pytest --numprocesses $(WORKERS) --dist loadfile --no-loadscope-reorder
# The frameworks whose doors are tested, as their extras are called; of the SDK of MCP, its version 1.
DOORS := agent-framework google-adk langchain llama-index mcp openai-agents pydantic-ai strands
LOCKS := requirements/core.txt requirements/dev.txt requirements/bench.txt requirements/docs.txt requirements/server.txt requirements/uv.txt requirements/peers.txt \
	requirements/weak.txt \
	$(DOORS:%=requirements/door-%.txt) requirements/door-gateway.txt

# Compiled modules are kept in .venv, where they are in nobody's way: the tests start a hundred programs, and each
# would compile half of what it imports anew.
unexport PYTHONDONTWRITEBYTECODE
export PYTHONPYCACHEPREFIX := $(abspath $(VENV))/compiled

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test test-all check compiled lint style types nightly proofs wheel bench peers weak doors agents containers lock upgrade format api pages docs pictures browser mailserver postgres clean

help: ## List what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/.dev ## Fold a long generated conversation to a tenth of its size and show what stayed
	@$(BIN)/everfold demo

test: check ## Set up whatever is missing, then run every check and every test

# Types and layers are checked beside the tests, one core is idle at times: told once they are, and again where they failed.
check: style ## Lint, format, types, layers, tests: what CI runs
	@told=$(VENV)/types.txt; \
	( $(MAKE) --no-print-directory types >$$told 2>&1; types=$$?; cat $$told; exit $$types ) & types=$$!; \
	$(MAKE) --no-print-directory compiled; $(TEST); tests=$$?; \
	wait $$types || { cat $$told; echo "check: types or layers failed" >&2; exit 1; }; \
	exit $$tests

# Compiled once, while mypy has the other core; else each worker would compile all of the tests.
compiled: $(VENV)/.dev ## Compile the tests
	@$(BIN)/python -m pytest --collect-only -qq -p no:xdist >/dev/null 2>&1 || true

lint: style types ## Lint, format, types, layers

style: $(VENV)/.dev ## Lint, format
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: $(VENV)/.dev ## Types, layers
	@$(BIN)/mypy
	@$(BIN)/lint-imports

nightly: WORKERS := 3
nightly: lint ## Every check, and every test at full size, the slow ones too: before an issue is called done
	@TESTS_AT_FULL_SIZE=1 $(TEST) -m "" --timeout 1800

test-all: ## Run the tests on every Python from 3.11 to 3.14 that is installed, each in an environment of its own
	@set -e; pythons=$$(sh requirements/pythons.sh --all); test -n "$$pythons" || { echo "$(NO_PYTHON)" >&2; exit 1; }; \
	for python in $$pythons; do \
		version=$$($$python -c 'import sys; print("%d.%d" % sys.version_info[:2])'); \
		echo "test-all: Python $$version"; \
		$(MAKE) --no-print-directory check PYTHON=$$python VENV=.venv-$$version; \
	done

proofs: $(VENV)/.dev ## Prove the guarantees over every real conversation at every limit; takes some 25 minutes
	@$(BIN)/python -m pytest -m slow --timeout 1800 tests/transcripts

wheel: $(VENV)/.dev ## Build the wheel into dist/: pure Python, for every machine
	@$(BIN)/python -m hatchling build --target wheel --directory dist

bench: $(VENV)/.bench ## Measure, and write bench/RESULTS.md; ARGS="turn import" for some
	@$(BIN)/python -m bench $(ARGS)

peers: $(VENV)/.uv ## Install what the benchmarks measure beside Everfold, in an environment of its own
	@test -x bench/.venv-peers/bin/python || $(PYTHON) -m venv bench/.venv-peers
	@VIRTUAL_ENV=$(abspath bench/.venv-peers) $(UV) pip sync --quiet --require-hashes requirements/peers.txt

weak: $(VENV)/.dev ## Replay real conversations with a small real model writing the digests; fetches 160 MB
	@test -x bench/.venv-weak/bin/python || $(PYTHON) -m venv bench/.venv-weak
	@VIRTUAL_ENV=$(abspath bench/.venv-weak) $(UV) pip sync --quiet --require-hashes requirements/weak.txt
	@$(BIN)/python -m bench.weak_model

doors: $(VENV)/.uv ## Test the door of each framework, in an environment of its own
	@set -e; for door in $(DOORS) gateway; do \
		echo "doors: $$door"; \
		test -x .venv-door-$$door/bin/python || $(PYTHON) -m venv .venv-door-$$door; \
		VIRTUAL_ENV=$(abspath .)/.venv-door-$$door $(UV) pip sync --quiet --require-hashes requirements/door-$$door.txt; \
		PYTHONPATH=src .venv-door-$$door/bin/python -m pytest -m "" --confcutdir tests/doors -W default \
			tests/doors/test_$$(echo $$door | tr - _)*.py; \
	done

agents: $(VENV)/.dev ## Test real coding agents against a scripted provider; fetches 1 GB from npm on the first call
	@mkdir -p .coding-agents
	@cmp -s requirements/coding-agents/package-lock.json .coding-agents/package-lock.json || { \
		cp requirements/coding-agents/package*.json .coding-agents/ && \
		npm install --no-save --prefix .coding-agents --ignore-scripts --no-audit --no-fund --loglevel error; }
	@CODING_AGENTS=$(abspath .coding-agents/node_modules) $(BIN)/python -m pytest -p no:xdist --timeout 900 -m "" \
		tests/doors/test_coding_agents.py tests/doors/test_gateway_clis.py

containers: $(VENV)/.dev ## Build the image, and test two servers and two workers over PostgreSQL; needs Docker with compose
	@CONTAINERS=1 $(BIN)/python -m pytest -p no:xdist --timeout 1800 tests/server/test_compose.py

format: $(VENV)/.dev ## Put the code in its one form and mend what can be mended safely
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

api: $(VENV)/.dev ## Rewrite the classes of the sync face, and tests/api.txt, after the public names changed on purpose
	@$(BIN)/python tests/sync_classes.py > src/everfold/sync_classes.py.new
	@mv src/everfold/sync_classes.py.new src/everfold/sync_classes.py
	@$(BIN)/python tests/api_listing.py > tests/api.txt.new
	@mv tests/api.txt.new tests/api.txt

pages: $(VENV)/.dev ## Rewrite what the documents show of the code: the settings, and what their programs print
	@PYTHONPATH=. $(BIN)/python tests/pages.py

docs: $(VENV)/.uv ## Build the docs site into build/docs/site, in an environment of its own
	@test -x .venv-docs/bin/python || $(PYTHON) -m venv .venv-docs
	@VIRTUAL_ENV=$(abspath .venv-docs) $(UV) pip sync --quiet --require-hashes requirements/docs.txt
	@.venv-docs/bin/python tests/docs_site.py

lock: $(VENV)/.uv ## Rewrite requirements/ after pyproject.toml changed; keeps the versions that still fit
	@$(COMPILE) pyproject.toml --output-file requirements/core.txt
	@$(COMPILE) pyproject.toml --extra agents --extra cli --extra embed --extra mcp --extra models --extra postgres --extra server --extra sources --extra workers --group dev --constraint requirements/core.txt --output-file requirements/dev.txt
	@$(COMPILE) pyproject.toml --extra agents --extra cli --extra embed --extra mcp --extra models --extra postgres --extra server --extra sources --extra workers --group dev --group bench --constraint requirements/dev.txt \
		--output-file requirements/bench.txt
	@$(COMPILE) --group docs --constraint requirements/dev.txt --output-file requirements/docs.txt
	@$(COMPILE) pyproject.toml --extra all --constraint requirements/dev.txt --output-file requirements/server.txt
	@$(COMPILE) --group lock --output-file requirements/uv.txt
	@$(COMPILE) --override requirements/peers-overrides.in requirements/peers.in --output-file requirements/peers.txt
	@$(COMPILE) --no-deps requirements/weak.in --output-file requirements/weak.txt
	@set -e; for door in $(DOORS) gateway; do \
		$(COMPILE) pyproject.toml --extra $$door requirements/door-$$door.in --output-file requirements/door-$$door.txt; \
	done
	@! grep -nE 'https?:|file:|--(extra-)?index|--find-links' $(LOCKS)

upgrade: $(VENV)/.uv ## Rewrite requirements/ with the newest versions that fit
	@$(MAKE) --no-print-directory lock COMPILE='$(COMPILE) --upgrade'

pictures: $(VENV)/.dev ## Take the pictures of docs/dashboard.md anew, with Chromium
	@PYTHONPATH=. $(BIN)/python tests/pictures.py

browser: ## Install Debian's Chromium for the browser tests, with and without windows, where one is missing and you are root
	@if command -v chromium >/dev/null && command -v chromium-headless-shell >/dev/null; then echo "browser: chromium is there"; \
	elif [ "$$(id -u)" != 0 ]; then echo "browser: install it as root: apt-get install chromium chromium-headless-shell" >&2; exit 1; \
	else export DEBIAN_FRONTEND=noninteractive; apt-get update -qq >/dev/null && \
		apt-get install -qq -y --no-install-recommends chromium chromium-headless-shell >/dev/null; fi

mailserver: ## Install Debian's Dovecot for the tests of mailboxes, where it is missing and you are root
	@if PATH="$$PATH:/usr/sbin" command -v dovecot >/dev/null; then echo "mailserver: dovecot is there"; \
	elif [ "$$(id -u)" != 0 ]; then echo "mailserver: dovecot is missing; install it as root: apt-get install dovecot-imapd" >&2; exit 1; \
	else export DEBIAN_FRONTEND=noninteractive; \
		apt-get update -qq >/dev/null && apt-get install -qq -y --no-install-recommends dovecot-imapd openssl >/dev/null; fi

postgres: $(VENV)/.dev ## Run a PostgreSQL 18 with pgvector for tries: prints its URL, ends with ctrl-C
	@$(BIN)/python -m everfold.testing.kit.postgres

clean: ## Remove the environment and everything that was generated
	@rm -rf $(VENV) .coding-agents .venv-docs .venv-door-* build dist demo .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	@find src tests bench -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

$(VENV)/.uv: requirements/uv.txt
	@test -x $(BIN)/python || test -n "$(PYTHON)" || { echo "$(NO_PYTHON); or name it: make PYTHON=/path/to/python" >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement $<
	@touch $@

# The package itself comes last and without an index: its build backend is in the lock.
$(VENV)/.dev: $(VENV)/.uv requirements/dev.txt pyproject.toml
	@$(PIP) sync --require-hashes requirements/dev.txt requirements/uv.txt
	@$(PIP) install --no-deps --no-build-isolation --offline --editable .
	@rm -f $(VENV)/.bench
	@touch $@

$(VENV)/.bench: $(VENV)/.dev requirements/bench.txt
	@$(PIP) install --require-hashes --requirement requirements/bench.txt
	@touch $@
