# SPDX-License-Identifier: Apache-2.0
# `make demo` and `make test` work on a fresh clone: whatever is missing is made first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
BUILD_CPP := build/cpp
JOBS ?= $(shell nproc)

# Any text: guards run whole, and not in the short form of `make test`.
WHOLE ?=

# What `make test` tells of a change depends on nothing but the change: its Python tests draw the same numbers in every run.
# Whole runs draw new ones.
ifeq ($(WHOLE),)
export AFTERGLOW_TEST_SEED ?= 1
endif

.PHONY: demo test test-all build build-cpp lint format test-cpp test-python test-exhaustive test-paths test-serial \
  test-browser reference fuzz soak sanitize sanitize-core test-address test-versions clean

demo: build
	$(BIN)/python -m afterglow tour

test: lint test-cpp test-python test-paths test-serial sanitize-core

# Everything without a limit of time: hours. A part that fails does not keep the others from running; `PARTS` names some.
PARTS ?= lint test-cpp test-python test-browser test-exhaustive test-paths test-serial sanitize test-address test-versions \
  fuzz soak
test-all:
	@failed=; for part in $(PARTS); do \
	  echo "== $$part"; start=$$(date +%s); \
	  $(MAKE) $$part WHOLE=1 || failed="$$failed $$part"; \
	  echo "== $$part took $$((($$(date +%s) - start + 30) / 60)) min"; \
	done; test -z "$$failed" || { echo "failed:$$failed"; exit 1; }

$(VENV)/ready: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --group dev numpy
	touch $@

# Compiles what changed; the editable install makes Python changes visible without it. The portable
# kernels are there to be tested.
build: $(VENV)/ready
	PATH="$(CURDIR)/$(BIN):$$PATH" CMAKE_BUILD_PARALLEL_LEVEL=$(JOBS) \
	  $(BIN)/python -m pip install --quiet --no-build-isolation --no-deps \
	  --config-settings=cmake.define.AFTERGLOW_PORTABLE=ON --editable .

CPP := $(shell git ls-files --cached --others --exclude-standard '*.cpp' '*.h' '*.c' '*.hpp')

lint: $(VENV)/ready build
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	@echo "clang-format --dry-run (all C++ files)"
	@$(BIN)/clang-format --dry-run --Werror $(CPP)

format: $(VENV)/ready
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	@$(BIN)/clang-format -i $(CPP)

BLAS = $(shell $(BIN)/python -c "import scipy_openblas32 as b; print(b.get_lib_dir() + '/libscipy_openblas.so')")

build-cpp: $(VENV)/ready
	PATH="$(CURDIR)/$(BIN):$$PATH" cmake -S . -B $(BUILD_CPP) -G Ninja -DAFTERGLOW_PYTHON=OFF -DAFTERGLOW_TESTS=ON
	PATH="$(CURDIR)/$(BIN):$$PATH" cmake --build $(BUILD_CPP) --parallel $(JOBS)

test-cpp: build-cpp
	cd $(BUILD_CPP) && AFTERGLOW_BLAS="$(BLAS)" "$(CURDIR)/$(BIN)/ctest" --output-on-failure

test-python: build
	$(BIN)/python -m pytest --numprocesses $(JOBS) --dist loadfile

test-exhaustive: build
	$(BIN)/python -m pytest -m exhaustive

# The kernels of every instruction set that the processor has, and the portable ones: their C++ tests and Python tests of
# arrays and networks. The best set is the one that all other tests use.
PATHS := portable x86-64-v2 x86-64-v3 x86-64-v4
PATH_TESTS := tests/numpy $(if $(WHOLE),tests/ndarray tests/autograd tests/lazy tests/gluon,$(addprefix \
  tests/ndarray/test_,sorting_kernels.py reductions.py elementwise_maths.py softmax.py) $(addprefix \
  tests/gluon/test_,layers.py recurrence.py)) $(if $(WHOLE),tests/networks tests/whole_programs,$(addprefix \
  tests/networks/test_,convolution.py norms.py pooling.py))
USED_PATH := $(BIN)/python -c "import afterglow; print(afterglow.engine.instruction_set())"
test-paths: build build-cpp
	@best=$$($(USED_PATH)); for path in $(PATHS); do \
	  if [ $$path = $$best ]; then echo "$$path: as in all other tests"; continue; fi; \
	  export AFTERGLOW_INSTRUCTION_SET=$$path; \
	  if [ $$path != $$($(USED_PATH)) ]; then echo "$$path: not of this processor"; continue; fi; \
	  echo "$$path"; \
	  (cd $(BUILD_CPP) && AFTERGLOW_BLAS="$(BLAS)" "$(CURDIR)/$(BIN)/ctest" --quiet --parallel $(JOBS) \
	    --output-on-failure --tests-regex '^kernels_') && \
	  $(BIN)/python -m pytest --numprocesses $(JOBS) --dist loadfile $(PATH_TESTS) || exit 1; \
	done

# Under the serial engine. Tests that ask for asynchrony say so: `runs_later`, `raises_at_the_read`.
SERIAL_TESTS := tests/autograd tests/numpy tests/lazy/test_programs.py $(if $(WHOLE),tests/ndarray tests/gluon tests/lazy)
test-serial: build
	AFTERGLOW_ENGINE=serial $(BIN)/python -m pytest --numprocesses $(JOBS) --dist loadfile $(SERIAL_TESTS)

# One page of all public names, and a Markdown file for each namespace.
reference: build
	$(BIN)/python -m afterglow reference docs/reference

# Random programs, files and documents of every kind; SECONDS are for all kinds together.
SECONDS ?=
SEED ?=
KINDS ?=
fuzz: build
	$(BIN)/python -m tests.fuzz $(if $(or $(SECONDS),$(WHOLE)),--seconds $(or $(SECONDS),3600)) $(if $(SEED),--seed $(SEED)) $(KINDS)

# The pages in a real browser (Debian's chromium, or that of CHROME_BIN).
test-browser: build
	$(BIN)/python -m pytest tests/browser

# Trains, hybridizes, saves, loads and forks for so many seconds; fails when something grows.
soak: build
	$(BIN)/python -m tests.soak $(if $(SECONDS),--seconds $(SECONDS))

# ThreadSanitizer, then AddressSanitizer with UndefinedBehaviorSanitizer, over the C++ tests of these layers, or of all.
# Everything is many times slower there, so random programs are fewer than elsewhere.
LAYERS ?=
SANITIZED = $(foreach layer,$(LAYERS),$(notdir $(basename $(wildcard tests/cpp/$(layer)*_test.cpp))))
sanitize: $(VENV)/ready
	for kind in thread address,undefined; do \
	  folder=build/sanitize-$${kind%%,*}; \
	  PATH="$(CURDIR)/$(BIN):$$PATH" cmake -S . -B $$folder -G Ninja -DAFTERGLOW_PYTHON=OFF \
	    -DAFTERGLOW_TESTS=ON -DAFTERGLOW_SANITIZE=$$kind && \
	  PATH="$(CURDIR)/$(BIN):$$PATH" cmake --build $$folder --parallel $(JOBS) $(addprefix --target ,$(SANITIZED)) && \
	  (cd $$folder && AFTERGLOW_RANDOM_PROGRAMS=$(or $(AFTERGLOW_RANDOM_PROGRAMS),30) \
	    ENGINE_PROGRAMS=$(or $(ENGINE_PROGRAMS),1000) AFTERGLOW_BLAS="$(BLAS)" \
	    TSAN_OPTIONS=halt_on_error=1 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
	    "$(CURDIR)/$(BIN)/ctest" --output-on-failure $(if $(SANITIZED),--tests-regex '^($(subst $() $(),|,$(SANITIZED)))$$')) \
	    || exit 1; \
	done

# The layers below the kernels, which take minutes to build with sanitizers, and few random programs.
sanitize-core:
	ENGINE_PROGRAMS=$(or $(ENGINE_PROGRAMS),300) $(MAKE) sanitize LAYERS="engine memory array"

# The Python tests under AddressSanitizer, in an environment of its own that borrows the packages of the other. What Python
# itself leaks is not looked at. Reports go to files, since pytest and tests keep what is written to stderr.
ADDRESS := build/address
ADDRESS_TESTS ?= tests
test-address: build
	test -x $(ADDRESS)/bin/python || $(BIN)/python -m venv --without-pip $(ADDRESS)
	$(BIN)/python -c "import sysconfig; print(sysconfig.get_path('purelib'))" > \
	  $$($(ADDRESS)/bin/python -c "import sysconfig; print(sysconfig.get_path('purelib'))")/borrowed.pth
	PATH="$(CURDIR)/$(BIN):$$PATH" CMAKE_BUILD_PARALLEL_LEVEL=$(JOBS) \
	  $(BIN)/python -m pip --python $(ADDRESS)/bin/python install --quiet --no-build-isolation --no-deps \
	  --config-settings=build-dir=$(ADDRESS)/cmake --config-settings=cmake.define.AFTERGLOW_SANITIZE=address --editable .
	rm -f $(ADDRESS)/report.*
	LD_PRELOAD="$$($${CXX:-c++} -print-file-name=libasan.so) $$($${CXX:-c++} -print-file-name=libstdc++.so)" \
	  ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:log_path="$(CURDIR)/$(ADDRESS)/report" \
	  $(ADDRESS)/bin/python -m pytest --numprocesses $(JOBS) --dist loadfile $(ADDRESS_TESTS); outcome=$$?; \
	  ! grep --no-messages --after-context=40 "ERROR: AddressSanitizer" $(ADDRESS)/report.* && exit $$outcome

# The Python tests under other versions of Python that are at hand.
PYTHONS ?= python3.12 python3.13
test-versions:
	@for python in $(PYTHONS); do \
	  if ! $$python --version > /dev/null 2>&1; then echo "$$python: not at hand"; continue; fi; \
	  $(MAKE) test-python PYTHON=$$python VENV=build/$$(basename $$python) || exit 1; \
	done

clean:
	rm -rf build $(VENV)
