# The two commands: `make demo` and `make test`. Each sets everything up first.
VENV   ?= .venv
PYTHON ?= python3
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.ready
DATA   ?=
EXTRAS := plot,dask

.PHONY: help setup demo test test-pure check bench bench-queue bench-decode bench-tiles bench-subset bench-chain bench-path bench-day soak fuzz clean

help:
	@echo "make demo          set up, then run the main job end to end (DATA=DIR uses another data root)"
	@echo "make test          set up, then every check and every test"
	@echo "make test-pure     every test without the native decode kernel"
	@echo "make setup         only the environment, in $(VENV)"
	@echo "make check         ruff, mypy --strict, import-linter"
	@echo "make bench         all benchmarks, side by side with the peers: bench-queue, bench-decode, bench-tiles, bench-subset,"
	@echo "                   bench-chain, bench-path, bench-day (QUICK=1: one round of each, for a look, into"
	@echo "                   benchmarks/results/quick; the others write to benchmarks/results)"
	@echo "make soak          the long runs: hours of kill -9 and of random histories (MINUTES=10)"
	@echo "make fuzz          damaged messages into the decode kernel, with sanitizers (SECONDS=60)"
	@echo "make clean         remove the environment and caches"

setup: $(STAMP)

# Remade when the declared dependencies or the kernel change. uv resolves in seconds; pip is the way where uv has no wheel.
KERNEL := setup.py gribmill/kernel/_kernel.c $(wildcard gribmill/kernel/*.h gribmill/kernel/*/*.h)

$(STAMP): pyproject.toml constraints.txt $(KERNEL)
	@echo "setting up $(VENV) ..."
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV)
	@$(BIN)/python -m pip install -q uv >/dev/null 2>&1 || true
	@if [ -x $(BIN)/uv ] && VIRTUAL_ENV=$(abspath $(VENV)) $(BIN)/uv pip install -q -c constraints.txt -e '.[$(EXTRAS)]' --group dev; \
	then :; else echo "uv did not manage: installing with pip"; \
	$(BIN)/python -m pip install -q -U 'pip>=25.1' && $(BIN)/python -m pip install -q -c constraints.txt -e '.[$(EXTRAS)]' --group dev; fi
	@$(BIN)/python -c 'import gribmill.kernel._kernel' 2>/dev/null || \
	echo "notice: the native decode kernel was not built (no C compiler?): ecCodes decodes everything, more slowly"
	@touch $@

demo: $(STAMP)
	@$(BIN)/python -m gribmill.cli.main $(if $(DATA),--data $(DATA)) demo

# A file's tests stay on one core: they share what they have made.
test: check
	$(BIN)/python -m pytest -n auto --dist loadfile

# What the tests of the kernel hold has nothing to hold then: they skip.
test-pure: $(STAMP)
	GRIBMILL_KERNEL=off $(BIN)/python -m pytest -n auto --dist loadfile

check: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# In this order: the page of bench-path takes rows of those before it, and the day is worked out from all of them.
BENCHES := bench-queue bench-decode bench-tiles bench-subset bench-chain bench-path bench-day
# QUICK=1: one round of each, to see that all of it runs; its pages go to benchmarks/results/quick.
QUICK ?=

bench: $(STAMP)
	@for part in $(BENCHES); do $(MAKE) --no-print-directory $$part QUICK=$(QUICK) || exit 1; done

bench-queue bench-decode bench-tiles bench-subset bench-chain bench-path: bench-%: $(STAMP)
	$(BIN)/python -m benchmarks.$* $(if $(QUICK),--quick)

bench-day: $(STAMP)
	$(BIN)/python -m benchmarks.a_day $(if $(QUICK),--quick)

MINUTES ?= 10
soak: $(STAMP)
	GRIBMILL_SOAK_MINUTES=$(MINUTES) $(BIN)/python -m pytest -m soak --timeout 0

SECONDS ?= 60
fuzz: $(STAMP)
	$(BIN)/python -m fuzz $(SECONDS)

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache build gribmill.egg-info
