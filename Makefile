# make help lists the targets. Everything runs in .venv, made from conf/requirements.lock.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-slow cluster-test env.tar.gz fuzz lint format bench lock clean

help:  ## this list
	@grep -hE '^[a-z0-9.-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

setup: $(READY)  ## make .venv with pinned dependencies and the sparkanon command

$(READY): conf/requirements.lock pyproject.toml
	@sh conf/check-machine.sh "$(PYTHON)"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r conf/requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -e .
	@echo "compiling the kernels, once ..."
	@$(BIN)/python -c "from sparkanon.engine.session.warm import warm_all; warm_all()"
	@touch $@

demo: setup  ## make 100,000 people, anonymize them, print where release and report are
	@rm -rf demo/people.parquet
	@mkdir -p demo
	$(BIN)/sparkanon sample-data --rows 100000 --out demo/people.parquet
	$(BIN)/sparkanon validate conf/policies/demo.yaml
	$(BIN)/sparkanon anonymize conf/policies/demo.yaml
	$(BIN)/sparkanon report "$$(ls -d demo/runs/*/ | tail -1)"

test: setup lint  ## lint, type-check, test (under 12 minutes on 2 cores)
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder

test-slow: setup  ## the tests that take longer, some 6 minutes
	$(BIN)/python -m pytest -n 2 --dist loadfile -m slow

# Without S3 nothing is fetched for it: Amazon's SDK is large.
S3     ?=
MOTO   := $(VENV)-moto/bin/moto_server
cluster-test: setup $(if $(S3),$(MOTO))  ## HDFS, YARN, standalone and what fails there; S3=1: S3, too
	MOTO_SERVER=$(abspath $(MOTO)) $(BIN)/python -m pytest tests/cluster -m 'cluster$(if $(S3), or s3)'

$(MOTO):
	$(PYTHON) -m venv $(VENV)-moto
	$(VENV)-moto/bin/python -m pip install --quiet --disable-pip-version-check 'moto[server]==5.*'

env.tar.gz: setup  ## this Python, sparkanon and what it needs, for spark-submit --archives
	$(BIN)/python conf/pack.py $@

SECONDS ?= 180
fuzz: setup  ## types x policies x releases at random; SECONDS=600, FUZZ="--seed 7 --first 3"
	$(BIN)/python tests/fuzz/run.py --seconds $(SECONDS) $(FUZZ)

lint: setup  ## ruff, mypy --strict, import-linter
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: setup  ## let ruff format and fix what it can
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: setup  ## ratios of one run, every grouping, some 40 min; BENCH="--rows 1000000" for less
	$(BIN)/python benchmarks/run.py $(BENCH)

lock: setup  ## write conf/requirements.lock from what is installed
	$(BIN)/python -m pip freeze --exclude-editable --exclude sparkanon > conf/requirements.lock

clean:  ## remove what make made
	rm -rf $(VENV) $(VENV)-moto env.tar.gz demo runs build dist *.egg-info
