"""The estimators by their public names, with and without scikit-learn."""

import subprocess
import sys

import giantstep
from giantstep.estimator.classifier import GiantStepClassifier
from giantstep.estimator.regressor import GiantStepRegressor


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


def test_names_of_the_package() -> None:
    assert giantstep.GiantStepRegressor is GiantStepRegressor
    assert giantstep.GiantStepClassifier is GiantStepClassifier


def test_the_package_itself_does_not_load_scikit_learn() -> None:
    loaded = "import giantstep, sys; {}; print('sklearn' in sys.modules)"
    assert run(loaded.format("dir(giantstep)")).stdout == "False\n"
    assert run(loaded.format("giantstep.GiantStepRegressor")).stdout == "True\n"


def test_without_scikit_learn_a_sentence_names_the_extra() -> None:
    # A finder that knows no scikit-learn stands in for its absence.
    hidden = (
        "import sys; from importlib.machinery import PathFinder as P; find = P.find_spec\n"
        "P.find_spec = lambda name, *rest: None if name == 'sklearn' else find(name, *rest)\n"
    )
    found = run(hidden + "import giantstep; giantstep.GiantStepClassifier")
    assert found.returncode == 1
    assert found.stderr.splitlines()[-1] == (
        "ImportError: giantstep.estimator needs scikit-learn: pip install 'giantstep[sklearn]'"
    )
