"""Docstrings as they are written, for a reader of the source, made into reStructuredText.

Sections are those of numpy's convention, which napoleon reads.  Formulas hold stars, bars and
trailing underscores, which would be read as markup: they are escaped outside literals.  An
indented block after an empty line is an equation and keeps its line breaks.
"""

import re
from typing import Any

from sphinx.application import Sphinx
from sphinx.ext.napoleon import Config, NumpyDocstring

LITERAL = re.compile(r"(``.*?``)")
CONFIG = Config(napoleon_use_ivar=True)
UNDERLINE = re.compile(r"\s*-{3,}\s*$")


def escape(line: str) -> str:
    """A line of prose with what looks like markup escaped, literals left alone."""
    parts = LITERAL.split(line)
    plain = [re.sub(r"([*|`\\])|(?<=\w)(_)(?!\w)", r"\\\g<0>", part) for part in parts[::2]]
    parts[::2] = plain
    return "".join(parts)


def restructure(lines: list[str]) -> list[str]:
    """Escape prose, keep doctests, and set indented blocks before the sections as literal."""
    made: list[str] = []
    in_sections = in_doctest = in_equation = False
    for index, line in enumerate(lines):
        below = lines[index + 1] if index + 1 < len(lines) else ""
        in_sections = in_sections or bool(UNDERLINE.match(below) and line.strip())
        in_doctest = line.lstrip().startswith(">>>") or (in_doctest and bool(line.strip()))
        indented = line.startswith(" ") and not in_sections and not in_doctest
        if indented and not in_equation and made and not made[-1].strip():
            made += ["::", ""]
            in_equation = True
        in_equation = in_equation and (indented or not line.strip())
        literal = in_doctest or in_equation or UNDERLINE.match(line)
        made.append(line if literal else escape(line))
    return made


def process(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    # Called a function whatever it is: napoleon takes what stands before a colon in the first
    # line of a property for its type.
    read = NumpyDocstring(restructure(lines), CONFIG, app, "function", name, obj, options)
    lines[:] = read.lines()


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("autodoc-process-docstring", process)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
