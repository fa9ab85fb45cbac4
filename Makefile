# The commands of the dev loop. CI runs the same ones (.ci/run).

PYTHON ?= .venv/bin/python
EXTRAS := cli,connect,pandas,polars,postgresql,objects,learn,alerts,bench,docs,dev

# A bare name (python3) is looked up on PATH; a path is made absolute because Spark's workers start elsewhere.
INTERPRETER := $(if $(findstring /,$(PYTHON)),$(abspath $(PYTHON)),$(PYTHON))
export PYSPARK_PYTHON := $(INTERPRETER)
export PYSPARK_DRIVER_PYTHON := $(INTERPRETER)
# Spark's workers read this too, so functions of test modules can be unpickled there.
export PYTHONPATH := $(CURDIR)/src:$(CURDIR)

.DEFAULT_GOAL := help
.PHONY: help setup fmt check style docs docs-check test test-spark test-typing test-objects platforms clusters release-check licences readme example catalogue faults same-verdict model ci site report-pictures bench-engine bench-checks bench-suggestions bench-differential bench-distances bench-history bench-history-speed bench-basics bench-gate bench-gate-speed bench-rarity bench-novelty bench-novelty-trees bench-novelty-simulated bench-patterns bench-patterns-speed bench-store bench-report bench-tables bench-streams bench-diagnosis bench-peers performance train-fold-costs train-key-names train-pooled-rates train-public-index

help: ## list the commands
	@awk '/^##@ / { printf "\n%s\n", substr($$0, 5) } /^[a-z-]+:.*## / { split($$0, at, ":.*## "); printf "  make %-24s %s\n", at[1], at[2] }' $(MAKEFILE_LIST)

##@ Set up

setup: ## create .venv and install the package, its extras and the tools
	@if command -v uv >/dev/null 2>&1; then \
	    uv venv --quiet --allow-existing --python '>=3.11' .venv && \
	    uv pip install --quiet --python .venv/bin/python -e '.[$(EXTRAS)]'; \
	else \
	    python3 -m venv .venv && .venv/bin/python -m pip install --quiet -e '.[$(EXTRAS)]'; \
	fi

##@ Write code

fmt: ## format the code and mend what the linter can mend
	$(PYTHON) -m ruff format .
	$(PYTHON) -m ruff check --fix .

check: ## formatting, lint, strict types, layers
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m ruff check .
	$(PYTHON) -m mypy
	$(PYTHON) -m pytest -q tests/test_layers.py

style: ## how the names of the code read: participles, one-word names, double class names, circles; of packages in FOLDERS too
	@$(PYTHON) -m tests.style $(FOLDERS)

docs: ## write the pages and the stubs that come from the code
	$(PYTHON) -m docs.generate

docs-check: ## fail when one of them is not what the code says
	$(PYTHON) -m docs.generate --check

##@ Test

test: ## doctests, then every test that needs no JVM
	$(PYTHON) -m pytest -q --doctest-modules src/headgate
	$(PYTHON) -m pytest -m "not spark and not slow and not typing" -n 2 --dist loadfile --durations=12

test-spark: ## the tests that start Spark
	$(PYTHON) -m pytest -m "spark and not slow" -n 2 --dist loadfile --durations=12

test-typing: ## mypy and pyright over programs that use the built wheel, and what an editor completes
	$(PYTHON) -m pytest -m typing tests/typing

platforms: ## install the package beside what platforms have, each in its own environment, and run it there; LANES=fabric-1.3
	$(PYTHON) -m benchmarks.platforms $(LANES)

test-objects: ## an S3 server that is killed and started again, and Spark that reads s3a:// from it
	.ci/objects

clusters: ## cases on a standalone Spark with a master and two workers: missing modules, kills, skew, wide tables; CASES="speculation"
	$(PYTHON) -m benchmarks.clusters $(CASES)

release-check: ## build the last commit twice and compare; what the wheel holds, its bills of materials, licences; writes build/release
	$(PYTHON) -m release

licences: ## write docs/licences.md from the dependencies that are installed
	$(PYTHON) -m release.licences

readme: ## run the Python blocks of README.md and of every page that has some
	$(PYTHON) -m tests.readme

example: ## sixty days of flights through the gate, in Python and as commands; the pages must say what is printed
	$(PYTHON) examples/flights/replay.py --check
	$(PYTHON) -m docs.quickstart --check

catalogue: ## print the table of catalogues B (bad input) and N (numeric)
	$(PYTHON) -m tests.catalogue

faults: ## kill, race, corrupt and fill every store: 1,000 seeded kills; prints what was lost and doubled
	$(PYTHON) -m tests.faults

same-verdict: ## 200 verdicts in 12 processes, each with its own secret, on both engines; prints what differs
	$(PYTHON) -m tests.same_verdict

model: ## explore 100,000 interleavings of two gates, a person and a crash; prints the promises that were not kept
	$(PYTHON) -m tests.model

ci: ## everything CI does, in a fresh environment
	.ci/run

##@ Documentation

site: ## build the site into build/site; a warning, a broken link or a request to elsewhere fails it
	$(PYTHON) -m sphinx -E -a -q -W --keep-going -j auto -d build/site-state docs build/site
	$(PYTHON) -m docs.alone build/site

report-pictures: ## the pages as pictures, at desktop and phone width, light and dark; writes docs/pictures
	$(PYTHON) -m benchmarks.report.pictures

##@ Benchmarks

bench-engine: ## measure the engine; writes benchmarks/engine/results
	$(PYTHON) -m benchmarks.engine
	$(PYTHON) -m benchmarks.engine.earlier_commit
	$(PYTHON) -m benchmarks.engine.spark_settings

bench-checks: ## failing rows against predicates by hand; writes benchmarks/checks/results
	$(PYTHON) -m benchmarks.checks

bench-suggestions: ## suggestions trained on a tenth of each real dataset, held against the rest; writes benchmarks/suggestions/results
	$(PYTHON) -m benchmarks.suggestions

bench-differential: ## append, replace and view partitions against scanning again; writes benchmarks/differential/results
	$(PYTHON) -m benchmarks.differential

bench-distances: ## distances from states against the exact ones, on real columns; writes docs/methods/distances.md
	$(PYTHON) -m benchmarks.distances

bench-history: ## programs on every real feed, against the paper's form and other detectors; writes docs/history-benchmark.md
	$(PYTHON) -m benchmarks.history

bench-history-speed: ## how long a program and a verdict take; writes benchmarks/history/results/speed.json
	$(PYTHON) -m benchmarks.history.speed

bench-gate: ## the gate against each learner alone on all feeds, and the real incidents; writes docs/gate-benchmark.md
	$(PYTHON) -m benchmarks.gate

bench-tables: ## readers, kills, races, jobs and time on Iceberg and Delta tables; writes docs/tables-benchmark.md
	.ci/tables --bench tables

bench-streams: ## a stream that is killed, producers that break, what a micro-batch costs, and memory; writes docs/streams-benchmark.md
	$(PYTHON) -m benchmarks.streams kills
	.ci/tables --bench streams kills --sink delta
	.ci/tables --bench streams kills --sink iceberg
	$(PYTHON) -m benchmarks.streams broken
	$(PYTHON) -m benchmarks.streams cost
	$(PYTHON) -m benchmarks.streams memory --batches 500 --rows 1000

bench-basics: ## basic faults, held and missing batches on all feeds, ranges, drift, and a simulated year; writes docs/basics-benchmark.md and docs/ranges-benchmark.md
	$(PYTHON) -m benchmarks.gate.guards
	$(PYTHON) -m benchmarks.gate.gaps
	$(PYTHON) -m benchmarks.gate.holds
	$(PYTHON) -m benchmarks.gate.year
	$(PYTHON) -m benchmarks.gate.ranges
	$(PYTHON) -m benchmarks.gate.recall
	$(PYTHON) -m benchmarks.gate.feed_recall
	$(PYTHON) -m benchmarks.gate.simple_faults
	$(PYTHON) -m benchmarks.gate.drift
	$(PYTHON) -m benchmarks.gate.basics_page
	$(PYTHON) -m benchmarks.gate.ranges_page

bench-gate-speed: ## how long a warm gate takes for a batch
	$(PYTHON) -m benchmarks.gate.speed

bench-rarity: ## whether the budget is kept: nested by dataset, with parts left out, and on made-up tables; writes docs/budget-benchmark.md
	$(PYTHON) -m benchmarks.rarity
	$(PYTHON) -m benchmarks.rarity.simulated
	$(PYTHON) -m benchmarks.rarity.page

bench-novelty: ## whole batches by the protocol of Redyuk et al., and the gate on the same; writes docs/novelty-benchmark.md
	$(PYTHON) -m benchmarks.novelty

bench-novelty-trees: ## a ball tree beside the arrays that find the nearest runs; writes benchmarks/novelty/results/trees.json
	$(PYTHON) -m benchmarks.novelty.trees

bench-novelty-simulated: ## how often simulated runs are novel, beside what is stated; writes benchmarks/novelty/results/simulated.json
	$(PYTHON) -m benchmarks.novelty.simulated

bench-patterns: ## rules from one batch against other methods, and all around it; writes docs/patterns-benchmark.md
	$(PYTHON) -m benchmarks.patterns --set dev
	$(PYTHON) -m benchmarks.patterns --set mixed
	$(PYTHON) -m benchmarks.patterns --set ukgov
	$(PYTHON) -m benchmarks.patterns --set mixed --around
	$(PYTHON) -m benchmarks.patterns.safety
	$(PYTHON) -m benchmarks.patterns.page

bench-patterns-speed: ## how long a rule, an index and its opening take; writes benchmarks/patterns/results
	$(PYTHON) -m benchmarks.patterns.speed
	$(PYTHON) -m benchmarks.patterns.opening
	$(PYTHON) -m benchmarks.patterns.scaling

bench-store: ## size and speed of a history in SQLite and PostgreSQL; writes benchmarks/history_store/results
	$(PYTHON) -m benchmarks.history_store

bench-diagnosis: ## whether faults are named, found and repaired; about an hour; writes docs/diagnosis-benchmark.md
	$(PYTHON) -m benchmarks.diagnosis run --packaged-rates
	$(PYTHON) -m benchmarks.diagnosis run --packaged-rates --held-out
	$(PYTHON) -m benchmarks.diagnosis incidents --packaged-rates
	$(PYTHON) -m benchmarks.diagnosis cost
	$(PYTHON) -m benchmarks.diagnosis page

bench-report: ## the report beside those of other tools, and its sizes; needs uv and Chromium; writes docs/report-benchmark.md
	$(PYTHON) -m benchmarks.report.sizes
	$(PYTHON) -m benchmarks.report

bench-peers: ## the same work by Spark alone, Deequ and six other tools; needs uv; about a day; writes docs/peers-benchmark.md
	$(PYTHON) -m benchmarks.peers

performance: ## write docs/performance.md and its plots from the results of bench-engine, bench-peers, bench-store and bench-gate-speed
	$(PYTHON) -m benchmarks.performance

##@ Training: files of the package

train-fold-costs: ## measure what folds and the reading of rows cost; ten minutes on quiet cores; writes engine/fold_costs.json
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(PYTHON) -m training.fold_costs

train-key-names: ## train the classifier of key names; writes its weights, training/key_names/results and docs/methods/names.md
	$(PYTHON) -m training.key_names

train-pooled-rates: ## gather how often metrics surprise, over all feeds; writes learn/pooled_rates.json
	$(PYTHON) -m training.pooled_rates

train-public-index: ## build the index of patterns that comes with the package; writes it and docs/public-index.md
	$(PYTHON) -m training.public_index
