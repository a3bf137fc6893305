# SPDX-License-Identifier: Apache-2.0
# `make demo` and `make test` work on a fresh clone: whatever is missing is made first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
BUILD_CPP := build/cpp
JOBS ?= $(shell nproc)

.PHONY: demo test build lint format test-cpp test-python test-browser sanitize clean

demo: build
	$(BIN)/python -m afterglow tour

test: lint test-cpp test-python

$(VENV)/ready: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --group dev numpy
	touch $@

# Compiles what changed; the editable install makes Python changes visible without it.
build: $(VENV)/ready
	PATH="$(CURDIR)/$(BIN):$$PATH" CMAKE_BUILD_PARALLEL_LEVEL=$(JOBS) \
	  $(BIN)/python -m pip install --quiet --no-build-isolation --no-deps --editable .

CPP := $(shell git ls-files --cached --others --exclude-standard '*.cpp' '*.h')

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

test-cpp: $(VENV)/ready
	PATH="$(CURDIR)/$(BIN):$$PATH" cmake -S . -B $(BUILD_CPP) -G Ninja -DAFTERGLOW_PYTHON=OFF -DAFTERGLOW_TESTS=ON
	PATH="$(CURDIR)/$(BIN):$$PATH" cmake --build $(BUILD_CPP) --parallel $(JOBS)
	cd $(BUILD_CPP) && AFTERGLOW_BLAS="$(BLAS)" "$(CURDIR)/$(BIN)/ctest" --output-on-failure

test-python: build
	$(BIN)/python -m pytest --numprocesses $(JOBS) --dist loadfile

# Random programs, files and documents of every kind; SECONDS are for all kinds together.
SECONDS ?=
SEED ?=
KINDS ?=
fuzz: build
	$(BIN)/python -m tests.fuzz $(if $(SECONDS),--seconds $(SECONDS)) $(if $(SEED),--seed $(SEED)) $(KINDS)

# The pages in a real browser (Debian's chromium, or that of CHROME_BIN).
test-browser: build
	$(BIN)/python -m pytest tests/browser

# ThreadSanitizer, then AddressSanitizer with UndefinedBehaviorSanitizer, over all C++ tests.
sanitize: $(VENV)/ready
	for kind in thread address,undefined; do \
	  folder=build/sanitize-$${kind%%,*}; \
	  PATH="$(CURDIR)/$(BIN):$$PATH" cmake -S . -B $$folder -G Ninja -DAFTERGLOW_PYTHON=OFF \
	    -DAFTERGLOW_TESTS=ON -DAFTERGLOW_SANITIZE=$$kind && \
	  PATH="$(CURDIR)/$(BIN):$$PATH" cmake --build $$folder --parallel $(JOBS) && \
	  (cd $$folder && AFTERGLOW_BLAS="$(BLAS)" TSAN_OPTIONS=halt_on_error=1 UBSAN_OPTIONS=halt_on_error=1 \
	    "$(CURDIR)/$(BIN)/ctest" --output-on-failure) || exit 1; \
	done

clean:
	rm -rf build $(VENV)
