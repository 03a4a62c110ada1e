# Every target does its own set-up: a Python of at least 3.11 and make are all that must be there.

VENV := .venv
BIN := $(VENV)/bin
RUN_READY := $(VENV)/.ready-run
DEV_READY := $(VENV)/.ready-dev
OUT ?= demo-run

# Compiled once and kept, wherever the machine says otherwise: the tests start hundreds of processes, and each of them
# would compile all modules anew, for longer than most take to run.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help demo test test-fast browser unpackers schedulers tex docs bench calibration soak advisories lock clean

help: ## list what there is
	@echo "Harvest: conversation harvesting and scoring. What make can do:"
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | awk -F'\t' '{printf "  make %-11s %s\n", $$1, $$2}'

demo: $(RUN_READY) ## play 45 topics x 5 trials with two embedded systems, and score them (no key, no network)
	@$(BIN)/harvest run demo --out $(OUT)
	@command -v harvest >/dev/null || echo "For your shell to find harvest: . $(BIN)/activate"

test: $(DEV_READY) browser unpackers ## lint, types, import rules and all tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	@# Types are checked while the tests are collected, by one process for all that run them. More of these than there
	@# are processors: a quarter of the time, a test waits for a server, a browser or a clock.
	@$(BIN)/mypy >$(VENV)/.types 2>&1 & types=$$!; \
	  OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest --forks 5; failed=$$?; \
	  wait $$types || failed=1; cat $(VENV)/.types; exit $$failed

# What makes a test slow can be seen in its file: it starts a process, a server, a browser or a command, or it draws,
# plays, counts or times very many. Such files are left out, and those with properties try few examples.
STARTS := subprocess|multiprocessing|harvest\.cli|tests\.servers|tests\.support\.(browsing|chat_api|command_line|listening|distributions|interfaces|processes|scripted_page)
COUNTS := soak|default_rng|rehears|enumera|browser|thread_time|process_time|perf_counter

test-fast: $(DEV_READY) ## units only, within a minute: no test that starts a process, server or browser, or plays very many conversations
	@$(BIN)/python -m pytest -q --forks 2 --hypothesis-profile fast $$(grep -rLE --include='test_*.py' '$(STARTS)|$(COUNTS)' tests)

# Debian's where we may install it, else Playwright's own; HARVEST_BROWSER, or any that is there, is enough. Most tests
# run in the one without windows where it is there (tests/conftest.py).
browser: $(DEV_READY)
	@if [ -n "$$HARVEST_BROWSER" ]; then exit 0; fi; \
	for name in chromium chromium-browser google-chrome google-chrome-stable; do \
	  if command -v $$name >/dev/null; then exit 0; fi; done; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "Installing Chromium with apt, for the browser tests"; export DEBIAN_FRONTEND=noninteractive; \
	  apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium chromium-headless-shell >/dev/null && exit 0; \
	  echo "apt could not install Chromium; trying Playwright's own" >&2; fi; \
	$(BIN)/playwright install chromium || { \
	  echo "The browser tests need a browser: set HARVEST_BROWSER to a Chrome or Chromium, or, where its libraries are" >&2; \
	  echo "missing, run as root: $(BIN)/playwright install --with-deps chromium" >&2; exit 1; }

# Of Debian, where we may install them: a test runs the command with which docs/recordings.md reads a compacted run.
unpackers:
	@if command -v zstdcat >/dev/null && command -v jq >/dev/null; then exit 0; fi; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "Installing zstd and jq with apt, for a test of compacted runs"; export DEBIAN_FRONTEND=noninteractive; \
	  apt-get update -qq && apt-get install -y -qq --no-install-recommends zstd jq >/dev/null; \
	else echo "One test needs zstdcat and jq: install them" >&2; fi

# Of Debian, where we may install them: they say themselves whether they take what `harvest watch schedule` prints.
schedulers:
	@if command -v crontab >/dev/null && command -v systemd-analyze >/dev/null; then exit 0; fi; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "Installing cron and systemd with apt, for the long tests"; export DEBIAN_FRONTEND=noninteractive; \
	  apt-get update -qq && apt-get install -y -qq --no-install-recommends cron systemd >/dev/null; \
	else echo "One long test needs crontab and systemd-analyze: install them" >&2; fi

# Of Debian, where we may install it: only the long tests compile what `--latex` prints.
tex:
	@if command -v pdflatex >/dev/null && kpsewhich booktabs.sty >/dev/null; then exit 0; fi; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "Installing TeX with apt, for the long tests"; export DEBIAN_FRONTEND=noninteractive; \
	  apt-get update -qq && apt-get install -y -qq --no-install-recommends texlive-latex-recommended >/dev/null; \
	else echo "One long test needs pdflatex with booktabs: install them" >&2; fi

docs: $(DEV_READY) ## the pages and a Python reference, into build/docs; a broken link or a public name without a docstring fails
	$(BIN)/sphinx-build -W --keep-going -q -c docs . build/docs

bench: $(DEV_READY) ## speed, as ratios made in one run
	@for name in $$(ls tests/benchmarks | sed -n "s/^\([a-z][a-z_]*\)\.py$$/\1/p"); do echo "== $$name"; $(BIN)/python -m tests.benchmarks.$$name || exit 1; done

CELLS ?= .cache/torture.jsonl

# The worlds are counted in parts that are kept: what was interrupted goes on, and what an earlier count has is not
# counted again (`--again` does). A cell that is flagged is no error here, it is told on the page.
calibration: $(DEV_READY) ## how often the intervals hold the truth, written into docs/calibration.md (10 minutes, then several hours)
	$(BIN)/python -m tests.support.calibration_page --replications 500 --write
	mkdir -p $(dir $(CELLS))
	-$(BIN)/python -m tests.support.torture --replications 300 --looks --flagged --own --sizes 8x3 8x5 15x5 45x1 45x5 200x1 --save $(CELLS)
	$(BIN)/python -m tests.support.torture.page $(CELLS) --write
	$(BIN)/python -m tests.support.source_counts $(CELLS:.jsonl=-sources.jsonl)
	$(BIN)/python -m tests.support.source_counts $(CELLS:.jsonl=-sources.jsonl) --write

soak: $(DEV_READY) schedulers tex ## the long tests: 300 kills of a run; on each of 3 chat pages 10 kills of the browser, 500 conversations, 45 topics twice; 60 answers on each of 11 chat interfaces, also behind a lag and beside a loop by hand; calibration of all intervals; 500 examples of what holds for all values
	$(BIN)/python -m pytest -m soak --forks 2 --timeout 7200

# Not among the tests: what is known of a package changes without a change here. Strict, so that an index that tells
# nothing is no good news.
advisories: $(BIN)/uv ## known weaknesses of the pinned packages, as far as the package index tells them
	@$(BIN)/uv tool run pip-audit@2.10.1 --strict --disable-pip --require-hashes -r requirements/run.txt -r requirements/dev.txt || { \
	  echo "Where it says 'not found on PyPI', the package index in use tells no advisories, and nothing was checked." >&2; exit 1; }

lock: ## renew the pinned versions
	uv pip compile -q --universal --python-version 3.11 --no-emit-index-url --generate-hashes pyproject.toml -o requirements/run.txt
	uv pip compile -q --universal --python-version 3.11 --no-emit-index-url --generate-hashes pyproject.toml --group dev -o requirements/dev.txt

clean: ## remove the virtual environment and the caches
	rm -rf $(VENV) dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(BIN)/uv:
	@python=$$(for name in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	  if command -v $$name >/dev/null && $$name -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then echo $$name; break; fi; done); \
	if [ -z "$$python" ]; then \
	  echo "Harvest needs Python 3.11 or newer; found: $$(python3 --version 2>&1 || echo none). Install one and run make again." >&2; exit 1; fi; \
	$$python -m venv $(VENV) || { echo "No virtual environment could be made. On Debian: apt-get install python3-venv" >&2; exit 1; }
	@$(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes --only-binary :all: -r requirements/uv.txt

# The order of the two stamps matters: dev holds everything that run holds.
$(RUN_READY): pyproject.toml requirements/run.txt | $(BIN)/uv
	@if [ ! -e $(DEV_READY) ]; then \
	  $(BIN)/uv pip install -q --python $(BIN)/python --require-hashes -r requirements/run.txt && \
	  $(BIN)/uv pip install -q --python $(BIN)/python --no-deps -e .; fi
	@touch $@

$(DEV_READY): pyproject.toml requirements/dev.txt | $(BIN)/uv
	@$(BIN)/uv pip install -q --python $(BIN)/python --require-hashes -r requirements/dev.txt
	@$(BIN)/uv pip install -q --python $(BIN)/python --no-deps -e .
	@touch $@
