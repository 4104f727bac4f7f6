# Two commands for everybody: `make demo` and `make test`. The rest is for people who change the code.
.DEFAULT_GOAL := help
.PHONY: help demo test quick check format bench soak setup wheel clean

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := PIP_CONSTRAINT=$(CURDIR)/constraints.txt $(BIN)/python -m pip --disable-pip-version-check

# Tests on real corpora look here; the folder beside the checkout is used when it exists.
ifndef CLEARFORMER_DATA
ifneq ($(wildcard ../shared/data/README.md),)
export CLEARFORMER_DATA := $(abspath ../shared/data)
endif
endif

help:  ## list the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

# A stamp a set of packages: a second run finds it newer than the pins and starts at once, also offline.
$(VENV)/.installed-core: pyproject.toml constraints.txt
	@echo "Setting up $(VENV) with pinned packages (once; a few minutes at most) ..."
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(PIP) install --quiet -e .
	@touch $@

$(VENV)/.installed-test: $(VENV)/.installed-core
	@echo "Adding the test tools ..."
	@$(PIP) install --quiet -e '.[dev]'
	@touch $@

setup: $(VENV)/.installed-test  ## create .venv with everything a developer needs

demo: $(VENV)/.installed-core  ## install what is needed and show the main job
	@$(BIN)/python examples/demo.py

test: $(VENV)/.installed-test  ## every check that CI runs
	@$(MAKE) --no-print-directory check
	@$(BIN)/python -m pytest -m "not soak"

quick: $(VENV)/.installed-test  ## the tests that take seconds
	@$(BIN)/python -m pytest -m "not soak and not slow" -x

check: $(VENV)/.installed-test  ## lint, formatting, types, import directions
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/python -m pytest -q tests/test_imports.py

format: $(VENV)/.installed-test  ## let ruff rewrite what it can
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

bench: $(VENV)/.installed-test  ## time this package beside its peers
	@$(BIN)/python benchmarks/attention.py

soak: $(VENV)/.installed-test  ## the long suites
	@$(BIN)/python -m pytest -m soak --timeout 0

wheel: $(VENV)/.installed-test  ## build the wheel into dist/
	@PIP_CONSTRAINT=$(CURDIR)/constraints.txt $(BIN)/python -m build --wheel --quiet

clean:  ## remove what the targets made
	rm -rf $(VENV) dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
