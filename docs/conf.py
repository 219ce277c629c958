"""Sphinx: the site that ``make docs`` builds, offline, with every warning an error."""

import sys
from importlib.util import find_spec
from pathlib import Path

import giantstep

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "giantstep"
author = "The giantstep developers"
copyright = author
version = release = giantstep.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.viewcode",
    "sphinx.ext.mathjax",
    "sphinx_copybutton",
    "sphinx_design",
    "shell",
    "drawn",
    "docstrings",
    "links",
    "equations",
]
exclude_patterns = ["_build", "_ext"]

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "fieldlist"]
myst_heading_anchors = 4

# Every cell runs at every build, and numbers inside the text are evaluated with them.
nb_execution_mode = "inline"
nb_eval_name_regex = r".+"
nb_execution_raise_on_error = True
nb_execution_timeout = 120
nb_merge_streams = True
# Primes of formulas in text are no quotation marks.
smartquotes_action = "De"

nb_render_image_options = {"align": "center"}

autodoc_member_order = "bysource"
autodoc_typehints = "none"

copybutton_prompt_text = "$ "
copybutton_line_continuation_character = "\\"
copybutton_only_copy_prompt_lines = True

# One file of MathJax, from an installed package: its glyphs are drawn, so that no font is asked
# for, and its menu, which would ask a server for more, is off.
_mathjax = Path(str(find_spec("sphinx-mathjax-offline").origin)).parent / "static" / "mathjax"
mathjax_path = "tex-svg.js"
mathjax3_config = {"options": {"enableMenu": False}, "svg": {"fontCache": "global"}}

html_theme = "pydata_sphinx_theme"
html_title = "giantstep"
html_static_path = ["_static", str(_mathjax / "tex-svg.js")]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "giantstep"},
    "header_links_before_dropdown": 9,
    "navbar_align": "left",
    "show_prev_next": True,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "pygments_light_style": "default",
    "pygments_dark_style": "monokai",
}
# Pages without neighbours have the width for themselves.
html_sidebars = {page: [] for page in ("index", "explorer", "tutorial", "install", "choose")}
