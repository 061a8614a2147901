# make run   set everything up and run the quickstart campaign
# make test  set everything up and run the tests
# make check lint, types and import direction

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PLAN ?= quickstart
ARGS ?=

.PHONY: run test check setup model clean

run: setup model
	@echo "== running the campaign $(PLAN): holdgate run $(PLAN) $(ARGS)"
	@$(BIN)/holdgate run $(PLAN) $(ARGS)

test: setup model
	@echo "== running the tests"
	@$(BIN)/python -m pytest -n auto --dist loadfile -m "not model" $(ARGS) || test $$? -eq 5
	@$(BIN)/python -m pytest -m model $(ARGS) || test $$? -eq 5

check: setup
	@echo "== lint, types and import direction"
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

setup: $(VENV)/.installed

$(VENV)/.installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed; name one: make PYTHON=python3.11"; exit 1; }
	@echo "== setting up $(VENV) with the versions of constraints.txt (a few minutes the first time)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[dev]"
	@touch $@

model: setup
	@$(BIN)/holdgate model path >/dev/null 2>&1 || { echo "== fetching the small model (491 MB, once)"; $(BIN)/holdgate model fetch; }

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
