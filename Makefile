# The two commands: `make demo` and `make test`. Each sets everything up first.
VENV   ?= .venv
PYTHON ?= python3
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.ready
DATA   ?=
EXTRAS := plot,dask,postgres,s3,server,client,trace
# Without bytecode files, every process of the tests would compile the tests and gribmill again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup demo test test-fast test-pure test-oldest test-no-compiler test-postgres coverage check compiled-tests dist check-tag bench bench-queue bench-decode bench-deflate bench-tiles bench-subset bench-chain bench-path bench-store bench-server bench-map bench-day soak fuzz clean

help:
	@echo "make demo          set up, run the main job end to end, then open the console (DATA=DIR: another data root; SERVE=no: without it)"
	@echo "make test          set up, then every check and every test"
	@echo "make test-fast     the fast layer: no other processes, no other decoders, nothing slow"
	@echo "make test-pure     every test without the native decode kernel"
	@echo "make test-oldest   the fast layer with the oldest allowed dependencies"
	@echo "make test-no-compiler  the fast layer, installed without a C compiler"
	@echo "make test-postgres  every test that uses PostgreSQL, on each major version that is installed (VERSIONS=\"15 16 18\")"
	@echo "make coverage      every test, with the coverage of gribmill by lines and branches"
	@echo "make dist          sdist and wheel in dist/, installed and tried in a fresh environment"
	@echo "make setup         only the environment, in $(VENV)"
	@echo "make check         ruff, mypy --strict, import-linter"
	@echo "make bench         all benchmarks, side by side with the peers: bench-queue, bench-decode, bench-deflate, bench-tiles,"
	@echo "                   bench-subset, bench-chain, bench-path, bench-store, bench-server, bench-map, bench-day (QUICK=1: one round of each, into"
	@echo "                   benchmarks/results/quick; the others write to benchmarks/results)"
	@echo "make soak          the long runs: hours of kill -9 and of random histories (MINUTES=10)"
	@echo "make fuzz          fuzz the kernel: decoding, deflate, inflate, with sanitizers (SECONDS=60)"
	@echo "make clean         remove the environment and caches"

setup: $(STAMP)

# Remade when the declared dependencies or the kernel change. uv takes seconds; pip is the fallback.
KERNEL := setup.py gribmill/kernel/_kernel.c $(wildcard gribmill/kernel/*.h gribmill/kernel/*/*.h)

$(STAMP): pyproject.toml constraints.txt $(KERNEL)
	@echo "setting up $(VENV) ..."
	@test -x $(BIN)/python -a -f $(VENV)/pyvenv.cfg || { rm -rf $(VENV); $(PYTHON) -m venv $(VENV); }
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || { rm -rf $(VENV); $(PYTHON) -m venv $(VENV); }
	@$(BIN)/python -c 'import sys; sys.exit(sys.prefix == sys.base_prefix)' || \
	{ echo "$(VENV) is not a virtual environment: nothing is installed"; exit 1; }
	@$(BIN)/python -m pip install -q uv >/dev/null 2>&1 || true
	@if [ -x $(BIN)/uv ] && VIRTUAL_ENV="$(abspath $(VENV))" $(BIN)/uv pip install -q -c constraints.txt -e '.[$(EXTRAS)]' --group dev; \
	then :; else echo "uv failed; installing with pip"; \
	$(BIN)/python -m pip install -q -U 'pip>=25.1' && $(BIN)/python -m pip install -q -c constraints.txt -e '.[$(EXTRAS)]' --group dev; fi
	@$(BIN)/python -c 'import gribmill.kernel._kernel' 2>/dev/null || \
	echo "notice: the native decode kernel was not built (no C compiler?): ecCodes decodes everything, more slowly"
	@touch $@

demo: $(STAMP)
	@$(BIN)/python -m gribmill.cli.main $(if $(DATA),--data "$(DATA)") demo $(if $(filter no,$(SERVE)),--no-serve)

# The cores that this machine or container gives us; more than 16 processes would only compete for memory.
CORES = $$($(BIN)/python -c 'from gribmill.available_cores import available_cores; print(min(available_cores(), 16))')
# In a new checkout, each process of the tests would compile all tests and the packages that they import.
# One process does it while mypy uses another core.
compiled-tests: $(STAMP)
	@test -d tests/__pycache__ || $(BIN)/python -m pytest --collect-only -qq >/dev/null 2>&1 || true

# Two processes more than cores, because many tests wait for other processes. The tests of a file stay in one process,
# because they share fixtures.
TEST_PROCESSES ?= $$(expr $(CORES) + 2)
test: $(STAMP)
	@$(MAKE) --no-print-directory -j 2 check compiled-tests
	$(BIN)/python -m pytest -n $(TEST_PROCESSES) --dist loadfile --no-loadscope-reorder

# Tests of the kernel are skipped.
test-pure: $(STAMP)
	GRIBMILL_KERNEL=off $(BIN)/python -m pytest -n $(CORES) --dist loadfile

# No other processes (`process`), no comparison with other people's programs (`witness`), nothing that takes long (`slow`),
# no database server (`postgres`), no runs of the whole chain. Files that are marked as a whole are not even imported.
MARKED_FILES = $(shell grep -rlE --include='test_*.py' '^pytestmark = .*mark\.(process|witness|slow|postgres)\>' tests)
FAST = -m 'not process and not witness and not slow and not postgres' --ignore=tests/chain $(addprefix --ignore=,$(MARKED_FILES))

test-fast: $(STAMP)
	$(BIN)/python -m pytest -n $(TEST_PROCESSES) --dist loadfile $(FAST)

# Both install a copy of the checkout: an editable installation would share the kernel that `make setup` built.
COPY = rm -rf $(1) && $(PYTHON) -m venv $(1) && mkdir $(1)/checkout && \
	git ls-files -z --cached --others --exclude-standard | tar --null -T - --ignore-failed-read -cf - | tar -xf - -C $(1)/checkout

test-oldest:
	$(call COPY,.venv-oldest)
	.venv-oldest/bin/python -m pip install -q uv
	cd .venv-oldest/checkout && VIRTUAL_ENV=.. ../bin/uv pip install -q --resolution lowest-direct -e '.[$(EXTRAS)]' --group test
	cd .venv-oldest/checkout && ../bin/python -m pytest -n auto --dist loadfile $(FAST)

test-no-compiler:
	$(call COPY,.venv-no-compiler)
	.venv-no-compiler/bin/python -m pip install -q -U 'pip>=25.1'
	cd .venv-no-compiler/checkout && CC=/bin/false ../bin/python -m pip install -q -c constraints.txt -e '.[$(EXTRAS)]' --group test
	cd .venv-no-compiler/checkout && ../bin/gribmill --version | grep 'kernel: not built'
	cd .venv-no-compiler/checkout && ../bin/python -m pytest -n auto --dist loadfile -rs $(FAST)

coverage: $(STAMP)
	$(BIN)/python -m pytest -n $(CORES) --dist loadfile --cov --cov-report=term

check: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# In this order: bench-path uses results of the benchmarks before it, and bench-day uses all of them.
BENCHES := bench-queue bench-decode bench-deflate bench-tiles bench-subset bench-chain bench-path bench-store bench-server bench-map bench-day
# QUICK=1: one round of each, to check that everything runs; pages go to benchmarks/results/quick.
QUICK ?=

bench: $(STAMP)
	@for part in $(BENCHES); do $(MAKE) --no-print-directory $$part QUICK=$(QUICK) || exit 1; done

bench-queue bench-decode bench-deflate bench-tiles bench-subset bench-chain bench-path bench-store bench-server bench-map: bench-%: $(STAMP)
	$(BIN)/python -m benchmarks.$* $(if $(QUICK),--quick)

bench-day: $(STAMP)
	$(BIN)/python -m benchmarks.a_day $(if $(QUICK),--quick)

MINUTES ?= 10
soak: $(STAMP)
	GRIBMILL_SOAK_MINUTES=$(MINUTES) $(BIN)/python -m pytest -m soak --timeout 0

# A wheel of the test group includes 16 and 18; 15 is Debian's.
VERSIONS ?= 15 16 18
test-postgres: $(STAMP)
	for version in $(VERSIONS); do echo "PostgreSQL $$version"; \
		GRIBMILL_TEST_POSTGRES_VERSION=$$version $(BIN)/python -m pytest -n $(CORES) --dist loadfile -m "postgres and not soak" || exit; done

SECONDS ?= 60
fuzz: $(STAMP)
	$(BIN)/python -m fuzz $(SECONDS)

# The wheel is built from the sdist and tried outside the checkout, so that missing files are noticed.
dist: $(STAMP)
	rm -rf dist .venv-dist
	$(BIN)/python -m build -q
	$(PYTHON) -m venv .venv-dist
	.venv-dist/bin/python -m pip install -q dist/*.whl
	cd dist && ../.venv-dist/bin/gribmill --version && ../.venv-dist/bin/gribmill models list >/dev/null && \
	../.venv-dist/bin/gribmill regions list >/dev/null && ls -l

check-tag:
	$(PYTHON) scripts/check_release_tag.py $(TAG)

clean:
	rm -rf $(VENV) .venv-oldest .venv-no-compiler .venv-dist dist .coverage .coverage.* .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache build gribmill.egg-info
