# Everything that is done by hand or by CI. `make` alone lists it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
EXAMPLES := $(sort $(wildcard blueprints/*.yaml))
K8S ?= 1.37
MINORS ?= 1.33,1.34,1.35,1.36,1.37
BUNDLE ?= out/quickstart

.DEFAULT_GOAL := help
.PHONY: help render test test-matrix test-scale check verify generate bench bench-live cluster cluster-down clean

help: ## list what can be made
	@grep -E '^[a-z-]+:.*## ' Makefile | sed -E 's/:.*## /\t/' | expand -t 16

# The marker is new when the dependencies are: an edit of pyproject.toml sets up again.
$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "kwokgen needs Python 3.11 or newer: make PYTHON=python3.12 …")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

render: $(READY) ## render blueprints/ into out/
	$(BIN)/kwokgen render $(EXAMPLES) -o out

check: $(READY) ## format, lint, types and unit tests, in under a minute
	$(BIN)/ruff format --check --quiet
	$(BIN)/ruff check --quiet
	$(BIN)/mypy
	$(BIN)/python -m pytest -q -n auto -m 'not slow and not live'

test: $(READY) ## every test, on the real control plane of 1.34 and 1.37 as well
	$(BIN)/python -m pytest -q -n auto -m 'not live'
	$(BIN)/python -m pytest -q -n 3 --dist loadfile --no-loadscope-reorder -m live

test-matrix: $(READY) ## the live tests on every Kubernetes minor (MINORS=1.36: one), and what takes longer
	$(BIN)/python -m pytest -q tests/unit/test_scale.py --matrix
	$(BIN)/python -m pytest -q -n 4 --dist loadfile --no-loadscope-reorder tests/live --matrix --minors $(MINORS)

test-scale: $(READY) ## ten thousand nodes on a real control plane
	$(BIN)/python -m pytest -q tests/live/test_scale.py --scale

generate: $(READY) ## write what is derived: schemas/names.schema.json, kwokgen/catalog/compiled.json
	$(BIN)/python -m tests.generate

verify: generate render ## fail when what is derived or out/ is not as committed
	git diff --exit-code -- schemas kwokgen/catalog out
	@test -z "$$(git status --porcelain -- schemas kwokgen/catalog out)" || { git status --short -- schemas kwokgen/catalog out; exit 1; }

bench: $(READY) ## kwokgen beside what people use instead: bench/RESULTS.md
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	$(BIN)/python -m bench

bench-live: $(READY) ## others' tests and their figures, on a real control plane: bench/live/*.md (TABLE=mcad: one)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	$(BIN)/python -m bench.live $(TABLE)

cluster: $(READY) ## a real control plane with a bundle: K8S=1.37 BUNDLE=out/quickstart
	$(BIN)/python -m testbed up --k8s $(K8S) --bundle $(BUNDLE)

cluster-down: $(READY) ## stop it
	$(BIN)/python -m testbed down

clean: ## remove what was set up here
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis dist build
