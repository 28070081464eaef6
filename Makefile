# From a bare Python 3.11: `make demo` installs and shows the main job, `make test` installs and runs all tests.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
SECONDS_EACH ?= 60  # of fuzzing, for each parser

.PHONY: demo test lint check docs pictures screenshots fuzz kills mutants audits bench versions dist wheel-check clean
.DELETE_ON_ERROR:

$(VENV)/user: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "dpwords needs Python 3.11 or newer: make PYTHON=python3.11 ...")'
	$(PYTHON) -m venv $(VENV)
	@echo 'Installing dpwords and what it needs into $(VENV): this takes about half a minute.'
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[frames]'
	touch $@

$(VENV)/developer: $(VENV)/user tools/versions.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint tools/versions.txt --editable '.[dev]'
	touch $@

demo: $(VENV)/user
	@$(BIN)/python examples/demo.py

test: $(VENV)/developer
	@echo 'Running all tests: about 15 minutes on two cores, where loops are compiled for the first time.'
	$(BIN)/pytest -n auto --dist worksteal

lint: $(VENV)/developer
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

check: $(VENV)/developer
	$(BIN)/ruff format .
	$(MAKE) lint test

docs: $(VENV)/developer
	$(BIN)/sphinx-build --fresh-env --fail-on-warning --keep-going --quiet docs docs/_build/html

pictures: $(VENV)/developer
	$(BIN)/python examples/pictures.py

screenshots: $(VENV)/developer
	$(BIN)/python tests/helpers/screenshots.py

fuzz: $(VENV)/developer
	DPWORDS_FUZZ=10000 $(BIN)/pytest -n auto tests/test_fuzz.py tests/test_fuzz_files.py
	$(BIN)/python tools/fuzz_parsers.py $(SECONDS_EACH)

bench: $(VENV)/developer
	$(BIN)/python benchmarks/bench_speed.py --output bench_speed.json
	$(BIN)/python benchmarks/bench_accuracy.py --output bench_accuracy.json
	$(BIN)/python benchmarks/bench_rivals.py --output bench_rivals.json
	$(BIN)/python benchmarks/bench_edits.py --output bench_edits.json
	$(BIN)/python benchmarks/bench_estimates.py --output bench_estimates.json
	$(BIN)/python benchmarks/bench_coverage.py --processes 2 --output bench_coverage.json
	$(BIN)/python benchmarks/bench_certificates.py --output bench_certificates.json
	$(BIN)/python benchmarks/bench_averages.py --output bench_averages.json
	$(BIN)/python benchmarks/bench_cliffs.py --output bench_cliffs.json
	$(BIN)/python benchmarks/bench_side_channels.py --output bench_side_channels.json
	$(BIN)/python benchmarks/bench_files.py --output bench_files.json
	$(BIN)/python benchmarks/bench_spark.py --output bench_spark.json

kills: $(VENV)/developer
	DPWORDS_KILLS=1000 $(BIN)/pytest tests/frames/test_jobs_kills.py

# At most so many mutants of each module; 0 for all of them, or name modules: make mutants MODULES=core/sampling.py
MUTANTS ?= 60
mutants: $(VENV)/developer
	$(BIN)/python tools/mutants.py --most $(MUTANTS) $(MODULES)

audits: $(VENV)/developer
	DPWORDS_AUDITS=200 $(BIN)/pytest -n auto tests/audit/test_statistical.py

# The newest versions of all packages become those of developers: run `make check` before they are committed.
versions: $(VENV)/developer
	$(BIN)/pip install --quiet --disable-pip-version-check --upgrade --upgrade-strategy eager --editable '.[dev]'
	$(BIN)/pip freeze --exclude-editable > tools/versions.txt
	$(BIN)/python tools/sbom.py
	touch $(VENV)/developer

dist: $(VENV)/developer
	$(BIN)/python tools/sbom.py
	$(BIN)/python -m build

wheel-check: $(VENV)/developer
	$(BIN)/python tools/check_wheel.py

clean:
	rm -rf $(VENV) dist docs/_build .mypy_cache .ruff_cache .pytest_cache .hypothesis
