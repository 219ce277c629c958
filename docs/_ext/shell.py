"""The directive ``shell``: commands that run while the site is built, with what they print.

Commands of a page run in order in one scratch folder; a line that ends in a backslash goes on in
the next.  ``:picture:`` is a file that the last of them wrote, shown under the output or, with
``:elsewhere:``, where the page names ``/_build/pictures/PAGE-FILE``; ``:lines:`` is the most lines
of output that are shown.  A command that fails is a warning, and so stops the build.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

LOGGER = logging.getLogger(__name__)
WIDTH = 88
"""Columns of a page's text blocks."""


class Shell(SphinxDirective):
    has_content = True
    option_spec = {  # noqa: RUF012
        "picture": directives.unchanged,
        "alt": directives.unchanged,
        "lines": directives.positive_int,
        "elsewhere": directives.flag,
    }

    def run(self) -> list[nodes.Node]:
        folder = Path(self.env.srcdir, "_build", "scratch", self.env.docname)
        folder.mkdir(parents=True, exist_ok=True)
        shown = []
        for command in re.sub(r"\\\n\s*", "\\\0", "\n".join(self.content)).split("\n"):
            text = self._output(command.replace("\\\0", " "), folder)
            shown += ["$ " + command.replace("\\\0", "\\\n      "), *text]
        block = nodes.literal_block("\n".join(shown), "\n".join(shown), language="console")
        self.set_source_info(block)
        return [block, *self._picture(folder)]

    def _output(self, command: str, folder: Path) -> list[str]:
        environment = os.environ | {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "COLUMNS": str(WIDTH),
            "NO_COLOR": "1",
            "OPENBLAS_NUM_THREADS": "1",
        }
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        if done.returncode:
            said = f"{command!r} ended with {done.returncode}: {done.stdout.strip()}"
            LOGGER.warning(said, location=self.get_location())
        lines = [line.rstrip() for line in done.stdout.strip().split("\n")] if done.stdout else []
        most = self.options.get("lines", len(lines))
        return [*lines[:most], "..."] if len(lines) > most else lines

    def _picture(self, folder: Path) -> list[nodes.Node]:
        if "picture" not in self.options:
            return []
        made = folder / self.options["picture"]
        kept = Path("_build", "pictures", self.env.docname.replace("/", "-") + "-" + made.name)
        Path(self.env.srcdir, kept).parent.mkdir(parents=True, exist_ok=True)
        if not made.exists():
            LOGGER.warning(f"no picture {made.name}", location=self.get_location())
            return []
        shutil.copy(made, Path(self.env.srcdir, kept))
        if "elsewhere" in self.options:
            return []
        image = nodes.image(uri=f"/{kept}", alt=self.options.get("alt", ""), align="center")
        self.set_source_info(image)
        return [image]


def fresh_scratch(app: Sphinx) -> None:
    """What commands wrote at the build before is not there at this one."""
    shutil.rmtree(Path(app.srcdir, "_build", "scratch"), ignore_errors=True)


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("shell", Shell)
    app.connect("builder-inited", fresh_scratch)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
