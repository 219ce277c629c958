"""Is a built site closed?  ``python docs/closed.py FOLDER``

Links within it lead to files and anchors that are there, and a browser that opens a page asks
nothing of the network: scripts, styles, fonts and pictures are files of the site.  Its search
finds pages by the words that readers type.
"""

import json
import re
import sys
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ASKED_FOR = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}
"""What a browser loads without a click, by the attribute that says from where."""

NOT_LOADED = {"canonical", "index", "search", "next", "prev", "author"}
"""Relations of a link that only name a page."""


SEARCHED = {
    "faq": "faq",
    "glossary": "reference/glossary",
    "citation": "citing",
    "pytorch": "pytorch",
}
"""Words that readers type into the search, and the page that each must find."""


class Page(HTMLParser):
    """The anchors of a page, its links, and what it asks for."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.asked: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if given.get(ASKED_FOR.get(tag, "")) and given.get("rel", "") not in NOT_LOADED:
            self.asked.append(given[ASKED_FOR[tag]])


def complaints(folder: Path) -> Iterator[str]:
    """One sentence for each link that leads nowhere and each thing asked of the network."""
    # Below _static the theme leaves templates, which are no pages.
    paths = [path for path in folder.rglob("*.html") if "_static" not in path.parts]
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in paths}
    for path, page in pages.items():
        name = path.relative_to(folder)
        for asked in page.asked:
            if not asked.startswith("data:") and urlsplit(asked).netloc:
                yield f"{name} asks the network for {asked}"
        for link in page.links + [a for a in page.asked if not a.startswith("data:")]:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            to = (path.parent / unquote(parts.path)).resolve() if parts.path else path.resolve()
            there = pages.get(to)
            if not to.exists():
                yield f"{name} links to {link}, which is not there"
            elif there and parts.fragment and unquote(parts.fragment) not in there.anchors:
                yield f"{name} links to {link}, an anchor that is not there"
    for path in folder.rglob("*.css"):
        for asked in re.findall(r"url\(\s*['\"]?((?:https?:)?//[^)'\"]+)", path.read_text("utf-8")):
            yield f"{path.relative_to(folder)} asks the network for {asked}"


def not_found(index: str, stem: Callable[[str], str]) -> Iterator[str]:
    """One sentence for each word that the search does not find on its page.

    ``index`` is the text of searchindex.js, ``stem`` makes of a word what the index holds.
    """
    held = json.loads(index[index.index("(") + 1 : index.rindex(")")])
    for word, page in SEARCHED.items():
        places = [held[kind].get(stem(word), []) for kind in ("terms", "titleterms")]
        numbers = {n for place in places for n in (place if isinstance(place, list) else [place])}
        if page not in {held["docnames"][number] for number in numbers}:
            yield f"the search for {word} does not find {page}"


if __name__ == "__main__":
    from sphinx.search.en import SearchEnglish

    folder = Path(sys.argv[1]).resolve()
    index = (folder / "searchindex.js").read_text(encoding="utf-8")
    found = [*complaints(folder), *not_found(index, SearchEnglish({}).stem)]
    print("\n".join(found) or "every link leads somewhere, nothing is asked of the network")
    sys.exit(bool(found))
