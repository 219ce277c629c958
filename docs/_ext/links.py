"""Links to the glossary: where a page uses a technical term for the first time, it is a link.

Titles, code, formulas, links and descriptions of functions stay as they are, and so does the
glossary itself.
"""

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from terms import LINKED, first_uses, key

GLOSSARY = "reference/glossary"

UNTOUCHED = (
    nodes.title,
    nodes.reference,
    nodes.literal,
    nodes.math,
    nodes.raw,
    nodes.target,
    nodes.FixedTextElement,
    nodes.Invisible,
    addnodes.pending_xref,
    addnodes.desc,
    addnodes.glossary,
)


def link_terms(tree: nodes.document, page: str) -> None:
    """Make links of the first uses of terms in a page."""
    remaining = dict(LINKED)
    for text in list(tree.findall(nodes.Text)):
        if any(isinstance(parent, UNTOUCHED) for parent in _above(text)):
            continue
        pieces = [
            link(words, entry, page) if entry else nodes.Text(words)
            for words, entry in first_uses(text.astext(), remaining)
            if words
        ]
        if any(not isinstance(piece, nodes.Text) for piece in pieces):
            text.parent.replace(text, pieces)


def _above(node: nodes.Node) -> list[nodes.Node]:
    return [] if node.parent is None else [node.parent, *_above(node.parent)]


def link(words: str, entry: str, page: str) -> nodes.Node:
    """A link that Sphinx resolves to the entry of the glossary."""
    made = addnodes.pending_xref(
        "",
        refdomain="std",
        reftype="term",
        reftarget=key(entry),
        refdoc=page,
        refexplicit=True,
        refwarn=True,
    )
    made += nodes.inline("", words, classes=["xref", "std", "std-term"])
    return made


def process(app: Sphinx, tree: nodes.document) -> None:
    if app.env.docname != GLOSSARY:
        link_terms(tree, app.env.docname)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("doctree-read", process)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
