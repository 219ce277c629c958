"""Every public name explains itself: words, an example that runs where it can, its source."""

import doctest
import inspect
import re

import pytest

import giantstep
from giantstep import Setting
from giantstep.problem.setting import GROUPS

NAMES = [name for name in giantstep.__all__ if name not in ("CATALOG", "CLAIMS")]
LEAST = 120
"""Characters of a docstring that says more than the name."""

# What needs no paper: errors, and names that read, keep, draw or count.
PLAIN = {
    *("InputError", "NoTheoryError", "DivergenceError", "make_activation", "make_target"),
    *(
        "Changes",
        "Comparison",
        "compare",
        "scaling_exponent",
        "Estimate",
        "estimate",
        "Results",
        "load",
    ),
    *(
        "run_experiment",
        "run_claims",
        "sweep",
        "plot",
        "as_html",
        "GiantStepClassifier",
        "Findings",
    ),
    *("Quantity", "exponent_of", "mean_of", "SideBySide", "compare_settings", "NeededAnswer"),
    *("GiantStepRegressor", "Report", "report", "weight_bulk", "Limit", "LimitStatus", "limits"),
}


@pytest.mark.parametrize("name", NAMES)
def test_a_public_name_says_what_it_is_and_where_it_is_from(name: str) -> None:
    text = inspect.getdoc(getattr(giantstep, name)) or ""
    assert len(text) > LEAST
    assert name in PLAIN or re.search(r"arXiv\s\d|docs/derivations", text)


@pytest.mark.parametrize("name", NAMES)
def test_its_examples_run(name: str) -> None:
    found = doctest.DocTestFinder(recurse=False).find(getattr(giantstep, name), name, globs={})
    for test in found:
        result = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test)
        assert result.failed == 0


def test_most_functions_have_an_example() -> None:
    functions = [name for name in NAMES if inspect.isfunction(getattr(giantstep, name))]
    shown = [name for name in functions if ">>> " in (getattr(giantstep, name).__doc__ or "")]
    assert set(functions) - set(shown) <= {"compare", "equivalences"}


def test_help_of_a_setting_explains_every_field() -> None:
    text = inspect.getdoc(Setting) or ""
    for names in GROUPS.values():
        for name in names:
            assert re.search(rf"^{name} : [A-Z]+\n    \S", text, flags=re.MULTILINE), name
    assert (
        "n : SIZE\n    batch size, such as 4d, d^1.5 or d*log(d); 4d (for labels of a data" in text
    )
