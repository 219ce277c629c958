"""Run every benchmark and print one line for each: ``python -m benchmarks [NAME ...]``."""

from __future__ import annotations

import importlib
import pkgutil
import sys

import benchmarks


def main() -> None:
    """Run the named benchmarks, or all of them."""
    names = sys.argv[1:] or [m.name for m in pkgutil.iter_modules(benchmarks.__path__)]
    for name in names:
        if not name.startswith("_"):
            importlib.import_module(f"benchmarks.{name}").main()


main()
