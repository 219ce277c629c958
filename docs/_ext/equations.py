"""Displayed equations of several lines as they are written.

Sphinx puts a ``split`` around every equation with a line break, and MathJax refuses the number
(``\\tag``) of an equation inside a ``split``.  Ours align their lines themselves.
"""

from docutils import nodes
from sphinx.application import Sphinx


def keep_lines(app: Sphinx, tree: nodes.document) -> None:
    """Hand equations that bring their own environment to MathJax without another around them."""
    for block in tree.findall(nodes.math_block):
        text = block.astext()
        if r"\\" in text and r"\begin{" in text:
            block["nowrap"] = block["no-wrap"] = True
            block.children = []
            block += nodes.Text(rf"\[{text}\]")


def keep_punctuation(app: Sphinx, tree: nodes.document) -> None:
    """Keep a mark of punctuation on the line of the formula before it."""
    for formula in list(tree.findall(nodes.math)):
        after = formula.next_node(descend=False, siblings=True)
        if not isinstance(after, nodes.Text) or after[:1] not in tuple(".,;:)?"):
            continue
        place = formula.parent.index(formula)
        kept = nodes.inline("", "", formula.deepcopy(), nodes.Text(after[:1]), classes=["nobreak"])
        formula.parent[place : place + 2] = [kept, nodes.Text(after[1:])]


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("doctree-read", keep_lines)
    app.connect("doctree-read", keep_punctuation)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
