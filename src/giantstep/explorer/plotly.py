"""Plotly's JavaScript as it is installed, and what it needs to find in a page without inline style.

Plotly looks for style elements by their names and makes those that are not there, which the page's
policy forbids.  The page has them: a sheet of its own for the rules of plots, an empty element for
the sheet of maps, which are not drawn.
"""

from __future__ import annotations

import re
from functools import lru_cache
from importlib.resources import files

SHEETS = re.compile(rb'getElementById\("([0-9a-f]{64})"\)')
"""Names of the sheets that are written out in the script: digests of what they hold."""


@lru_cache(maxsize=1)
def script() -> bytes:
    """The script of the installed package."""
    return (files("plotly") / "package_data" / "plotly.min.js").read_bytes()


@lru_cache(maxsize=1)
def placeholders() -> str:
    """The elements that Plotly looks for, as markup."""
    names = sorted({name.decode() for name in SHEETS.findall(script())})
    rules = '<link id="plotly.js-style-global" rel="stylesheet" href="/static/plotly.css" />'
    return "\n    ".join([rules, *(f'<meta id="{name}" />' for name in names)])
