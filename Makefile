# Two commands: `make demo` shows the main job, `make test` passes lint, types and tests.
# Both need only python3 >= 3.11; everything else is installed into .venv from requirements.txt.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/installed

.PHONY: demo explore test browser lint bench figures pins clean

demo: $(STAMP)
	$(BIN)/giantstep learn "x1 + x2 + x1^2 - x2^2" --d 10000 --n 64d --p 64 --step-size 3p^1.5 \
	    --readout-start gaussian --bias 6 --bias-at readout --readout-n 4d --test-n 10d --runs 2 \
	    --out results/demo --overwrite

explore: $(STAMP)
	$(BIN)/pip install --quiet --disable-pip-version-check --no-build-isolation -e ".[app]"
	$(BIN)/giantstep explore

# Two processes with one thread each: linear algebra of small matrices gains nothing from two.
test: lint browser
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist worksteal

# A browser for the tests of the page: Debian's, where root may install it; without one they are skipped.
browser:
	@command -v chromium || command -v chromium-browser || command -v google-chrome \
	    || { [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null \
	        && { apt-get install -y -qq --no-install-recommends chromium \
	            || { apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium; }; }; } \
	    || echo "no Chromium here: the page is not tested in a browser"

lint: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

bench: $(STAMP)
	$(BIN)/python -m benchmarks

# The numbers of the papers' figures at their full sizes, as `giantstep reproduce` draws them.
figures: $(STAMP)
	$(BIN)/giantstep reproduce --run --full --overwrite --out results/figures
	cp results/figures/*.json src/giantstep/papers/figures/data

# Newest versions of the direct dependencies, frozen.
pins:
	$(PYTHON) -m venv --clear .venv
	$(BIN)/pip install --upgrade jax numpy scipy pydantic cyclopts rich matplotlib jaxtyping \
	    threadpoolctl scikit-learn pandas xarray "dask[distributed]" beartype pytest pytest-xdist hypothesis ruff mypy scipy-stubs hatchling \
	    editables
	(echo '# Everything `make test` and `make demo` install, pinned. Renew with `make pins`.'; \
	    $(BIN)/pip freeze) > requirements.txt

clean:
	rm -rf .venv build dist

$(STAMP): requirements.txt pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "python3 >= 3.11 is needed")'
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $(STAMP)
