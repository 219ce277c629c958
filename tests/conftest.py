"""Shapes and types are checked while the tests run, in the modules that do the mathematics.

The edges are left alone: they check their input themselves, and the tests hand them bad input.
"""

import gc
from collections import Counter
from collections.abc import Callable
from dataclasses import is_dataclass
from fnmatch import fnmatchcase
from functools import wraps
from tempfile import TemporaryDirectory
from typing import Any

import jax
import jaxtyping
import pytest

CHECKED = ["language.algebra", "gaussian", "analysis", "spectra", "prediction"]
jaxtyped = jaxtyping.jaxtyped


# Of the calls of a function in one test this many are checked, and one in as many of those after
# them: an iteration calls a line thousands of times with one set of shapes.
CHECKED_CALLS = 32
calls: Counter[Any] = Counter()


def jaxtyped_in_one_pass(typechecker: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """What jaxtyping's hook decorates with, at a tenth of its time.

    The checker sees arguments and result of a call once, in a scope where a letter is one size.
    jaxtyping itself binds the arguments first and has them checked twice, for longer messages.
    What checks a function is made when it is first needed: a function inside another is defined
    anew at every call of that one, and all of these count as one.
    """

    def decorate(subject: Any) -> Any:
        if isinstance(subject, type):
            if is_dataclass(subject) and "__init__" in vars(subject):
                subject.__init__ = decorate(subject.__init__)
            return subject
        name, checked = (subject.__module__, subject.__qualname__), None

        @wraps(subject)
        def call(*arguments: Any, **named: Any) -> Any:
            nonlocal checked
            calls[name] = number = calls[name] + 1
            if number > CHECKED_CALLS and number % CHECKED_CALLS:
                return subject(*arguments, **named)
            checked = checked or typechecker(subject)
            with jaxtyped("context"):
                return checked(*arguments, **named)

        return call

    return decorate


def pytest_runtest_setup() -> None:
    calls.clear()


LAWS = pytest.StashKey[dict[str, bool]]()
"""Files with tests of laws -> whether one of these tests runs in the fast tier too."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Give tests the marks of their tier that follow from others.

    A test that asks for a browser belongs to the browser's.  ``law(sentinel="fresh")`` and
    ``slow(sentinel="fresh")`` make a sentinel of the case with that identifier; "*" stands for any
    text.
    """
    laws = config.stash.setdefault(LAWS, {})
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.browser)
        case = item.name.partition("[")[2].removesuffix("]")
        tiers = [*item.iter_markers("law"), *item.iter_markers("slow")]
        if case and any(fnmatchcase(case, tier.kwargs.get("sentinel", "")) for tier in tiers):
            item.add_marker(pytest.mark.sentinel)
        if item.get_closest_marker("law") is not None:
            file = item.nodeid.partition("::")[0]
            laws[file] = laws.get(file, False) or item.get_closest_marker("sentinel") is not None


@pytest.fixture
def laws(request: pytest.FixtureRequest) -> dict[str, bool]:
    """Of the files that were collected: those with laws, and whether they have a sentinel."""
    return request.config.stash[LAWS]


def pytest_collection_finish() -> None:
    """What is there before the first test stays: no collection looks through it again."""
    gc.collect()
    gc.freeze()


jaxtyping.jaxtyped = jaxtyped_in_one_pass
hook = jaxtyping.install_import_hook([f"giantstep.{name}" for name in CHECKED], "beartype.beartype")

# Small runs: handing a call to another thread and waiting for it takes as long as the call.
jax.config.update("jax_cpu_enable_async_dispatch", False)

# Many tests run one setting more than once, and an engine compiles its functions anew: what
# this process has compiled it does not compile again.
compiled = TemporaryDirectory()
jax.config.update("jax_compilation_cache_dir", compiled.name)
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)


def pytest_unconfigure() -> None:
    compiled.cleanup()
