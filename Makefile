# Everything from a machine that has Python >= 3.11 and make:
#
#   make run         a first study: two problems, four methods, three minutes on two cores; ends in runs/quick/report.html
#   make test        lint, types, layers, fast tests
#   make check       the long rest
#   make docs        these pages as a site, in site/
#   make benchmark   the timings of docs/performance.md, side by side with the named rivals
#
# The first call makes .venv and installs what it needs into it; later calls go straight to work until pyproject.toml
# or constraints.txt change. Another interpreter: make test PYTHON=python3.12

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt
SOURCES := src tests benchmarks examples docs/writers

.PHONY: run test check docs benchmark format clean help
.DEFAULT_GOAL := help

help:
	@sed -n '2,10s/^# \{0,1\}//p' Makefile

# Once more, and it goes on where it was left; what is finished is not run again.
QUICK := runs/quick
run: $(VENV)/installed-run
	@mkdir -p $(QUICK)
	@$(BIN)/incenter study run quick --jobs 2 --store $(QUICK)/store.sqlite
	@$(BIN)/incenter study report quick --store $(QUICK)/store.sqlite --out $(QUICK)/report.html

test: $(VENV)/installed-dev
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/ruff format --check $(SOURCES)
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -n 2 -m "not slow"

# pytest ends with 5 where nothing was selected, which is no failure of the long rest.
check: $(VENV)/installed-dev
	$(BIN)/python -m pytest -n 2 -m slow || [ $$? -eq 5 ]
	$(BIN)/python -m benchmarks.adversarial --count 5000

docs: $(VENV)/installed-docs
	$(BIN)/python -m docs.writers
	$(BIN)/mkdocs build --strict --quiet
	@echo "The site is in site/. With its search: python3 -m http.server --directory site"

benchmark: $(VENV)/installed-rivals
	$(BIN)/python -m benchmarks.rules --write docs/performance.md
	$(BIN)/python -m benchmarks.gram --write docs/performance.md
	$(BIN)/python -m benchmarks.solvers --write docs/performance.md
	$(BIN)/python -m benchmarks.torch_backward --write docs/performance.md
	$(BIN)/python -m benchmarks.step --write docs/performance.md

format: $(VENV)/installed-dev
	$(BIN)/ruff check --fix $(SOURCES)
	$(BIN)/ruff format $(SOURCES)

clean:
	rm -rf $(VENV) build dist site .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

# One environment, three sizes: a user of `make run` never waits for torch.
$(VENV)/installed-run: extras := study,pinn
$(VENV)/installed-dev: extras := dev,adapters
$(VENV)/installed-docs: extras := dev,adapters
$(VENV)/installed-rivals: extras := dev,rivals

$(VENV)/installed-%: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing incenter[$(extras)] into $(VENV) ..."
	@$(PIP) --editable ".[$(extras)]"
	@touch $@

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and \
	    "incenter needs Python >= 3.11; " + sys.executable + " is " + sys.version.split()[0] + ". Name another: make PYTHON=python3.12")'
	@$(PYTHON) -m venv $(VENV)
