"""Run benchmarks, one line for each: ``python -m benchmarks [NAME ...] [OPTIONS]``."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from itertools import takewhile

import benchmarks


def main() -> None:
    """Run the named benchmarks, or all of them; options go to each."""
    named = list(takewhile(lambda word: not word.startswith("-"), sys.argv[1:]))
    sys.argv = [sys.argv[0], *sys.argv[1 + len(named) :]]
    names = named or [m.name for m in pkgutil.iter_modules(benchmarks.__path__)]
    for name in names:
        if not name.startswith("_"):
            importlib.import_module(f"benchmarks.{name}").main()


main()
