# Two commands do all the set-up on a fresh machine: `make demo` and `make test`.
SHELL := /bin/bash
PYTHON ?= python3
ENV ?= local
STACK ?= $(ENV)
VENV := build/venv/bin
# Tests that need no cluster.
CHEAP := tests/unit tests/rules tests/roles tests/contract
FAST := $(patsubst %,tests/acceptance/test_%.py,cluster installation admission_down front report wrong_on_purpose)
# The local stack has a backend of its own; others use the caller's.
ENTER := $(if $(filter local,$(ENV)),source local/env.sh,export PATH="$(CURDIR)/$(VENV):$$PATH")

# Helm of the local environment where there is none on PATH.
TOOLS := export PATH="$$PATH:$(CURDIR)/build/bin"

# Every target is a command and no file.
.PHONY: $(shell sed -n 's/^\([a-z][a-z-]*\):.*/\1/p' $(firstword $(MAKEFILE_LIST)))

help:  ## show the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 18

demo:  ## local cluster, pulumi up, validation, report
	@$(PYTHON) -m local.demo

down:  ## remove what `make demo` started
	@$(PYTHON) -m local.down

up: ## pulumi up --stack $(ENV)
	@$(if $(filter local,$(ENV)),$(PYTHON) -m local.demo --until up,$(ENTER) && \
	  $(PYTHON) -m components.private pulumi up --stack $(ENV) || \
	  { echo "after a run that was killed: make heal ENV=$(ENV)" >&2; exit 1; })

heal: ## after a killed `pulumi up`: make stack $(ENV) ready for the next one
	@$(ENTER) && $(VENV)/python -m day2.healing $(ENV)

drift: ## what differs from what was installed: make drift ENV=local (0 nothing, 1 drift, 2 could not look)
	@$(ENTER) && $(VENV)/python -m day2.drift $(ENV)

destroy: ## remove an installation: make destroy ENV=local [WORKLOADS=1] [PURGE=1] [YES=1]
	@$(ENTER) && $(VENV)/python -m day2.destroy $(ENV) \
	  $(if $(WORKLOADS),--workloads) $(if $(PURGE),--purge) $(if $(YES),--yes)

backup: ## org units and the database of a full stack: make backup ENV=site [DATABASE=no]
	@$(ENTER) && $(TOOLS) && $(VENV)/python -m day2.backup save $(ENV) $(if $(filter no,$(DATABASE)),--no-database)

restore: ## make what is missing of a backup: make restore ENV=site FROM=build/backups/site/<time> [VERSION=any]
	@$(ENTER) && $(VENV)/python -m day2.backup restore $(ENV) $(FROM) $(if $(filter any,$(VERSION)),--any-version)

validate: ## prove an installed environment: make validate ENV=local [AGAINST=<earlier report.json>]
	@$(ENTER) && $(VENV)/python -m validation.prove $(ENV) $(if $(AGAINST),--against $(AGAINST))

bundle: ## what support needs, without secrets: make bundle ENV=local
	@$(ENTER) && $(VENV)/python -m day2.bundle $(ENV)

python: ## the Python environment from its lock file
	@$(PYTHON) -m local.demo --until python

test: python lint types unit ## all tests that need no cluster

acceptance: ## tests on live clusters: both suites below, side by side
	@$(PYTHON) -m local.acceptance all

acceptance-main: ## those on the cluster of `make demo`, which they leave as it was
	@$(PYTHON) -m local.acceptance main

acceptance-scratch: ## those that break and destroy, on a cluster that is made for them and removed
	@$(PYTHON) -m local.acceptance scratch

acceptance-fast: ## those of them that take minutes, not an hour, and the tests of alert rules, which need the demo's promtool
	@source local/env.sh && $(VENV)/pytest -q --durations=0 --durations-min=5 $(FAST) tests/unit/components/test_alerts.py

mirror-list: ## every image and chart of a stack: make mirror-list STACK=vks-airgap [FORMAT=--json]
	@$(TOOLS) && $(VENV)/python -m mirror list --stack stacks/Pulumi.$(STACK).yaml --fetch $(FORMAT)

mirror: ## copy them into a registry: make mirror STACK=vks-airgap PREFIX=harbor.example.com/mirror
	@mkdir -p build && $(TOOLS) && $(VENV)/python -m mirror list --stack stacks/Pulumi.$(STACK).yaml --fetch --json \
	  > build/mirror-$(STACK).json && $(VENV)/python -m mirror copy build/mirror-$(STACK).json $(PREFIX) $(FROM)

installer-config: ## config.yaml of NVIDIA's own installer from a stack: make installer-config STACK=vks-full
	@$(VENV)/python -m installer --stack stacks/Pulumi.$(STACK).yaml

demo-mirrored: ## the demo with upstream images from a local registry and building forbidden
	@$(PYTHON) -m local.mirrored

lint: ## ruff, yamllint, ansible-lint
	@$(VENV)/ruff check . && $(VENV)/ruff format --check .
	@$(VENV)/yamllint --strict .
	@PATH="$(CURDIR)/$(VENV):$$PATH" ANSIBLE_INVENTORY=tests/fixtures/inventory.ini ANSIBLE_INVENTORY_ENABLED=ini \
	  $(VENV)/ansible-lint --offline -q

types:
	@$(VENV)/mypy

unit:
	@PATH="$(CURDIR)/$(VENV):$$PATH" $(VENV)/pytest -q -n 2 $(CHEAP)

coverage: ## the same tests, with the coverage of all Python, also of what Ansible runs; fails below 85 %
	@rm -rf build/coverage && mkdir -p build/coverage
	@PATH="$(CURDIR)/$(VENV):$$PATH" COVERAGE_FOLDER="$(CURDIR)/build/coverage" \
	  COVERAGE_PROCESS_START="$(CURDIR)/pyproject.toml" $(VENV)/pytest -q -n 2 $(CHEAP)
	@$(VENV)/coverage combine -q && $(VENV)/coverage report --sort=cover

lock: ## renew the Python lock files: requirements.in, local/wheels/*.in
	@$(VENV)/uv pip compile --system-certs -q --python-version 3.11 --universal --generate-hashes --no-annotate --no-header \
	  --no-emit-index-url --no-emit-find-links -o requirements.lock requirements.in
	@for name in local/wheels/*.in; do $(VENV)/uv pip compile --system-certs -q --python-version 3.13 \
	  --python-platform x86_64-manylinux_2_40 --only-binary :all: --override local/wheels/override.txt --generate-hashes \
	  --no-annotate --no-header --no-emit-index-url --no-emit-find-links -o $${name%.in}.lock $$name || exit 1; done
