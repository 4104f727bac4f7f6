# Two commands for everybody: `make demo` and `make test`. The rest is for people who change the code.
.DEFAULT_GOAL := help
.PHONY: help demo test browser quick check lint format bench soak setup wheel clean

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# Relative, because pip takes a space in this variable for the end of a file name. Newer pips read a second variable
# for what builds packages, and the build backend is pinned too.
INSTALL := PIP_CONSTRAINT=constraints.txt PIP_BUILD_CONSTRAINT=constraints.txt $(BIN)/python tools/install.py

# Tests on real corpora look here; the folder beside the checkout is used when it exists.
ifndef CLEARFORMER_DATA
ifneq ($(wildcard ../shared/data/README.md),)
export CLEARFORMER_DATA := $(CURDIR)/../shared/data
endif
endif

help:  ## list the targets
	@grep -hE '^[a-z]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 10

# A stamp a set of packages: a second run finds it newer than the pins and starts at once, also offline.
$(VENV)/.installed-core: pyproject.toml constraints.txt
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || { $(can-make-venv) && $(PYTHON) -m venv --clear $(VENV); }
	@echo "Setting up $(VENV) with pinned packages (once; a few minutes at most) ..."
	@$(INSTALL) '.[pictures,sound]'  # small beside torch, and every verb works at once
	@touch $@

$(VENV)/.installed-test: $(VENV)/.installed-core
	@echo "Adding the test tools ..."
	@$(INSTALL) '.[dev]'
	@touch $@

# What can be missing on a fresh machine, each with the sentence that helps.
define can-make-venv
{ command -v $(PYTHON) >/dev/null \
  || { echo "There is no $(PYTHON) here. Install Python 3.11 or newer, or name yours: make demo PYTHON=/path/to/python3" >&2; exit 1; }; } \
&& { $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
  || { echo "$(PYTHON) is $$($(PYTHON) -V 2>&1), but Python 3.11 or newer is needed. Name another: make demo PYTHON=python3.12" >&2; exit 1; }; } \
&& { $(PYTHON) -c 'import venv, ensurepip' 2>/dev/null \
  || { echo "$(PYTHON) cannot make virtual environments. On Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }; }
endef

setup: $(VENV)/.installed-test  ## create .venv with everything a developer needs

demo: $(VENV)/.installed-core  ## install what is needed and show the main job
	@$(BIN)/python examples/demo.py

test: $(VENV)/.installed-test lint browser  ## every check that CI runs
	@$(BIN)/python -m pytest -m "not soak" -n auto --maxprocesses 4 --dist loadfile

# The pages are tested in a real browser where one can be had; elsewhere those tests say why they are left out.
browser:
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || { \
	  [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && echo "Adding Chromium for the browser tests ..." \
	  && { apt-get install -y -qq chromium || { apt-get update -qq && apt-get install -y -qq chromium; }; } >/dev/null 2>&1; } \
	|| echo "There is no Chromium here: the browser tests will be left out."

quick: $(VENV)/.installed-test  ## the tests that take seconds
	@$(BIN)/python -m pytest -m "not soak and not slow" -x

check: $(VENV)/.installed-test lint  ## lint, formatting, types, import directions
	@$(BIN)/python -m pytest -q tests/test_imports.py

lint: $(VENV)/.installed-test
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

format: $(VENV)/.installed-test  ## let ruff rewrite what it can
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

bench: $(VENV)/.installed-test  ## time this package beside its peers, which it installs; wants an idle machine
	@$(BIN)/python benchmarks/setup_peers.py
	@$(BIN)/clearformer bench limits train decode pictures startup $(BENCH)

soak: $(VENV)/.installed-test  ## the long suites
	@$(BIN)/python -m pytest -m soak --timeout 0

wheel: $(VENV)/.installed-test  ## build the wheel into dist/
	@$(BIN)/python -m build --wheel --no-isolation

clean:  ## remove what the targets made
	rm -rf $(VENV) dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
