# `make demo` shows the main job; `make test` passes lint, types and the fast tests in four minutes.
# All targets need only python3 >= 3.11; everything else is installed into .venv from locks.
PYTHON ?= python3
WORKERS ?= 2
TESTS ?=
BIN := .venv/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check --no-compile
CORE := .venv/installed
DEVELOPMENT := .venv/installed-dev
SITE := .venv/installed-docs
DOCS := sphinx pydata-sphinx-theme myst-nb sphinx-copybutton sphinx-design sphinx-mathjax-offline

# Processes with one thread each: linear algebra of small matrices gains nothing from two.
PYTEST := OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

.PHONY: demo explore test test-fast test-all test-claims browser lint types bench docs pictures \
    photographs maps figures package pins clean

demo: $(CORE)
	$(BIN)/giantstep learn "x1 + x2 + x1^2 - x2^2" --d 10000 --n 64d --p 64 --step-size 3p^1.5 \
	    --readout-start gaussian --bias 6 --bias-at readout --readout-n 4d --test-n 10d --runs 2 \
	    --out results/demo --overwrite

explore: $(CORE)
	$(PIP) --no-build-isolation -c requirements.txt -c requirements-dev.txt -e ".[app]"
	$(BIN)/giantstep explore

# What a patch is tried with: the types are checked beside the tests, on what the cores have left.
test: lint
	$(MAKE) --jobs 2 types test-fast

test-fast: $(DEVELOPMENT)
	$(PYTEST) -m "sentinel or not (law or slow or browser or claims)" $(TESTS)

# And the tests of laws at their full power, those of processes and figures, those of the page in a browser.
test-all: test browser
	$(PYTEST) -m "(law or slow or browser) and not sentinel" $(TESTS)

# The claims that take longest, each with its controls.
test-claims: $(DEVELOPMENT)
	$(PYTEST) -m claims $(TESTS)

# A browser for the tests of the page: Debian's, where root may install it; without one they are skipped.
browser:
	@command -v chromium || command -v chromium-browser || command -v google-chrome \
	    || { [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null \
	        && { apt-get install -y -qq --no-install-recommends chromium \
	            || { apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium; }; }; } \
	    || echo "no Chromium here: the page is not tested in a browser"

lint: $(DEVELOPMENT)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(DEVELOPMENT)
	$(BIN)/mypy

bench: $(DEVELOPMENT)
	$(BIN)/python -m benchmarks

# The site, built anew with all its pictures in docs/_build/html: every cell and every command of
# its pages runs, warnings are errors, and links within it are checked.
docs: $(SITE)
	rm -rf docs/_build
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m sphinx -b html -W --keep-going -q -j 2 docs docs/_build/html
	$(BIN)/python docs/closed.py docs/_build/html

# The pictures that README and site keep in docs; all others are drawn by `make docs`.
pictures: photographs maps

# The demo and the explorer with its runs, in Chromium: two minutes.
photographs: $(DEVELOPMENT) demo browser
	cp results/demo/learn.png docs/staircase.png
	$(BIN)/python tools/screenshots.py

# The phase diagrams, by the commands of the README: 10, 12 and 7 minutes on two cores; what was
# stopped goes on.
maps: $(CORE)
	$(BIN)/giantstep sweep examples/leap2.toml --out results/leap2 --overwrite
	$(BIN)/giantstep sweep examples/leap3.toml --out results/leap3 --overwrite
	$(BIN)/giantstep sweep examples/reuse.toml --boundary 0.15 --out results/reuse --overwrite
	for name in leap2 leap3 reuse; do cp results/$$name/map.png docs/phase_$$name.png || exit 1; done

# The numbers of the papers' figures at their full sizes, as `giantstep reproduce` draws them.
figures: $(CORE)
	$(BIN)/giantstep reproduce --run --full --overwrite --out results/figures
	cp results/figures/*.json src/giantstep/papers/figures/data

# Wheel and sdist, tried in empty environments with the newest and with the lowest allowed versions.
package: $(DEVELOPMENT)
	$(BIN)/python tools/package.py

# The locks: newest versions of what the demo needs, of what the tests and the site need beside it;
# and the lowest versions of what pyproject.toml names.
pins:
	$(PYTHON) -m venv --clear .venv
	$(BIN)/pip install --upgrade jax numpy scipy pydantic cyclopts rich matplotlib jaxtyping \
	    threadpoolctl hatchling editables
	(echo '# What `make demo` installs, pinned: the newest allowed versions. Renew with `make pins`.'; \
	    $(BIN)/pip freeze) > requirements.txt
	$(BIN)/pip install -c requirements.txt scikit-learn sympy pandas pyarrow skops xarray "dask[distributed]" starlette \
	    uvicorn plotly playwright httpx beartype pytest pytest-xdist hypothesis ruff mypy scipy-stubs build
	(echo '# What `make test` installs beside requirements.txt, pinned. Renew with `make pins`.'; \
	    $(BIN)/pip freeze | grep -vxFf requirements.txt) > requirements-dev.txt
	$(BIN)/pip install -c requirements.txt -c requirements-dev.txt $(DOCS)
	(echo '# What `make docs` installs beside requirements.txt and requirements-dev.txt, pinned. Renew with `make pins`.'; \
	    $(BIN)/pip freeze | grep -vxFf requirements.txt | grep -vxFf requirements-dev.txt) > docs/requirements.txt
	$(BIN)/pip install uv
	(echo '# The lowest allowed versions of the direct dependencies and extras, tried by `make package`. Renew with `make pins`.'; \
	    $(BIN)/uv pip compile pyproject.toml --extra app --extra cluster --extra report --extra sklearn --extra sympy \
	    --resolution lowest-direct --python-version 3.11 --quiet --no-annotate --no-header) > requirements-lowest.txt

clean:
	rm -rf .venv build dist

$(CORE): requirements.txt pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "python3 >= 3.11 is needed")'
	$(PYTHON) -m venv .venv
	$(PIP) -r requirements.txt
	$(PIP) --no-deps --no-build-isolation -e .
	touch $(CORE)

$(DEVELOPMENT): $(CORE) requirements-dev.txt
	$(PIP) -r requirements.txt -r requirements-dev.txt
	touch $(DEVELOPMENT)

$(SITE): $(DEVELOPMENT) docs/requirements.txt
	$(PIP) -r requirements.txt -r requirements-dev.txt -r docs/requirements.txt
	touch $(SITE)
