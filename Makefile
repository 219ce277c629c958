# Two commands: `make demo` shows the main job, `make test` passes lint, types and tests.
# Both need only python3 >= 3.11; everything else is installed into .venv from requirements.txt.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/installed
DOCS := sphinx pydata-sphinx-theme myst-nb sphinx-copybutton sphinx-design sphinx-mathjax-offline
DOCS_STAMP := .venv/installed-docs

.PHONY: demo explore test browser lint bench docs pictures photographs maps figures package pins clean

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

# The site, built anew with all its pictures in docs/_build/html: every cell and every command of
# its pages runs, warnings are errors, and links within it are checked.
docs: $(DOCS_STAMP)
	rm -rf docs/_build
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m sphinx -b html -W --keep-going -q -j 2 docs docs/_build/html
	$(BIN)/python docs/closed.py docs/_build/html

# The pictures that README and site keep in docs; all others are drawn by `make docs`.
pictures: photographs maps

# The demo and the explorer with its runs, in Chromium: two minutes.
photographs: demo browser
	cp results/demo/learn.png docs/staircase.png
	$(BIN)/python tools/screenshots.py

# The phase diagrams, by the commands of the README: 10, 12 and 7 minutes on two cores; what was
# stopped goes on.
maps: $(STAMP)
	$(BIN)/giantstep sweep examples/leap2.toml --out results/leap2 --overwrite
	$(BIN)/giantstep sweep examples/leap3.toml --out results/leap3 --overwrite
	$(BIN)/giantstep sweep examples/reuse.toml --boundary 0.15 --out results/reuse --overwrite
	for name in leap2 leap3 reuse; do cp results/$$name/map.png docs/phase_$$name.png || exit 1; done

# The numbers of the papers' figures at their full sizes, as `giantstep reproduce` draws them.
figures: $(STAMP)
	$(BIN)/giantstep reproduce --run --full --overwrite --out results/figures
	cp results/figures/*.json src/giantstep/papers/figures/data

# Wheel and sdist, tried in empty environments with the newest and with the lowest allowed versions.
package: $(STAMP)
	$(BIN)/python tools/package.py

# The two locks: newest versions of all that is used here, lowest ones of what pyproject.toml names.
pins:
	$(PYTHON) -m venv --clear .venv
	$(BIN)/pip install --upgrade jax numpy scipy pydantic cyclopts rich matplotlib jaxtyping \
	    threadpoolctl scikit-learn pandas xarray "dask[distributed]" starlette uvicorn plotly \
	    playwright httpx beartype pytest pytest-xdist hypothesis ruff mypy scipy-stubs hatchling \
	    editables build
	(echo '# Everything `make test` and `make demo` install, pinned: the newest allowed versions. Renew with `make pins`.'; \
	    $(BIN)/pip freeze) > requirements.txt
	$(BIN)/pip install -c requirements.txt $(DOCS)
	(echo '# What `make docs` installs beside requirements.txt, pinned. Renew with `make pins`.'; \
	    $(BIN)/pip freeze | grep -vxFf requirements.txt) > docs/requirements.txt
	$(BIN)/pip install uv
	(echo '# The lowest allowed versions of the direct dependencies and extras, tried by `make package`. Renew with `make pins`.'; \
	    $(BIN)/uv pip compile pyproject.toml --extra app --extra cluster --extra sklearn \
	    --resolution lowest-direct --python-version 3.11 --quiet --no-annotate --no-header) > requirements-lowest.txt

clean:
	rm -rf .venv build dist

$(STAMP): requirements.txt pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "python3 >= 3.11 is needed")'
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $(STAMP)

$(DOCS_STAMP): $(STAMP) docs/requirements.txt
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements.txt -r docs/requirements.txt
	touch $(DOCS_STAMP)
