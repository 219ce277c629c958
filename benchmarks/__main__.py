"""Run every benchmark and print one line for each: ``python -m benchmarks [NAME ...]``."""

from __future__ import annotations

import importlib
import pkgutil
import sys

import benchmarks


def main() -> None:
    """Run the named benchmarks, or all of them."""
    named = [name for name in sys.argv[1:] if not name.startswith("-")]
    names = named or [m.name for m in pkgutil.iter_modules(benchmarks.__path__)]
    for name in names:
        if not name.startswith("_"):
            importlib.import_module(f"benchmarks.{name}").main()


main()
