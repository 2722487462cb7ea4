# `make demo` and `make test` need nothing but Python 3.10+ and make. A C compiler, if there is one, makes some of it faster.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PROGRAM := $(VENV)/.program
PACKAGE := pyproject.toml hatch_build.py src/tallystick/engine/native.c
TOOLS := $(VENV)/.tools
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check -e

.PHONY: demo test matrix browser latex lint docs bench parity dist clean

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# The program and what it needs; and besides, what tests and development need. Each can come first.
$(PROGRAM): $(PACKAGE) | $(BIN)/python
	$(INSTALL) .
	touch $@

$(TOOLS): $(PACKAGE) | $(BIN)/python
	$(INSTALL) ".[dev]"
	touch $(PROGRAM) $@

demo: $(PROGRAM)
	$(BIN)/tallystick demo

# Reports and pages are tested in a real browser. Where it cannot be had, those tests are skipped and say so.
browser:
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || \
		{ [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
		  apt-get -qq update && apt-get -qq install -y --no-install-recommends chromium >/dev/null; } || \
		echo "no Chromium here, and none could be installed: browser tests will be skipped"

# That the LaTeX tables compile is tested where there is a TeX; it is large, so it is had only when asked for.
latex:
	@command -v pdflatex >/dev/null || apt-get -qq install -y --no-install-recommends texlive-latex-recommended

# In one order, so that two runs can be compared; `make matrix` runs it in random order.
test: $(TOOLS) browser
	$(BIN)/python -m pytest -n 2 -p no:randomly

# The suite on every Python from 3.10 on that can be had, with the lowest and the newest dependencies, in random order.
matrix:
	$(PYTHON) .ci/matrix

# 50 SIGKILLs over records, spans and coreference with --state and --jobs 2, and of Dask workers: equal bits.
kills: $(TOOLS)
	$(BIN)/python -m benchmarks.kills 50

# Relations between evaluations, for every metric of every task.
metamorphic: $(TOOLS)
	$(BIN)/python -m benchmarks.metamorphic --examples 60 --slow

# Every reader and `parse`, one CPU minute each: FUZZ="--minutes 10" for longer.
FUZZ ?= --minutes 1
fuzz: $(TOOLS)
	$(INSTALL) ".[fuzz]"
	$(BIN)/python -m fuzzing --cpu $(FUZZ)

# What development and tests need, pinned by hash; advisories about it; a bill of materials for a release.
UV := $(VENV)/.supply/bin
$(UV)/uv: | $(BIN)/python
	$(PYTHON) -m venv $(VENV)/.supply
	$(UV)/python -m pip install --quiet --disable-pip-version-check uv pip-audit

lock: $(UV)/uv
	$(UV)/uv pip compile --quiet --upgrade pyproject.toml --extra dev --generate-hashes --universal --python-version 3.10 --no-header -o requirements-dev.lock
	sed -i '1i # Made by `make lock`: what development and tests need, with hashes. `make locked` installs it.' requirements-dev.lock

locked: | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -e .

audit: $(UV)/uv
	$(PYTHON) .ci/audit $(UV)/pip-audit requirements-dev.lock

sbom:
	$(PYTHON) .ci/sbom requirements-dev.lock dist/sbom.json

lint: $(TOOLS)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# The site, in site/: every warning is an error, and every link and anchor is followed.
docs: $(PROGRAM)
	$(INSTALL) ".[docs]"
	$(BIN)/python -m zensical build --strict --clean
	$(BIN)/python -m docsite.links site

# Other people's figures. Fetches their scorers and data (licences are shown), runs the scorers again on inputs of our own, and runs
# the tests with the data. With DATA=DIR nothing is fetched; with PARITY_BASE=FOLDER it is taken from clones of the repositories.
PEERS := .parity/venv/bin/python
parity:
ifdef DATA
parity: $(TOOLS)
	$(BIN)/python -m benchmarks.parity table --data "$(DATA)"
else
	$(PYTHON) -m venv .parity/venv
	$(PEERS) -m pip install --quiet --disable-pip-version-check -e ".[dev]" -r benchmarks/parity/requirements.txt
	$(PEERS) -m pip install --quiet --disable-pip-version-check --no-deps bfcl-eval==2026.3.23
	-$(PEERS) -m benchmarks.parity fetch
	$(PEERS) -m benchmarks.parity check
	$(PEERS) -m benchmarks.parity table
endif

# Wheel and sdist: built, checked, and each used in an empty environment on every Python that can be had.
dist: $(PROGRAM)
	rm -rf dist
	$(BIN)/python -m pip install --quiet --disable-pip-version-check build twine
	$(BIN)/python -m build
	$(BIN)/python -m twine check --strict dist/*
	$(PYTHON) .ci/smoke dist/*

bench:
	$(PYTHON) -m venv .venv-bench
	.venv-bench/bin/python -m pip install --quiet --disable-pip-version-check -e ".[bench]"
	.venv-bench/bin/python -m benchmarks --json .venv-bench/run.json

clean:
	rm -rf $(VENV) .venv-bench .matrix .parity site dist build .mypy_cache .ruff_cache .pytest_cache
