"""The page of a report in Chromium: opened from a file, without network, wide and on a phone."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from giantstep.reports.report import report

NAME = '<img src=x onerror="alert(1)"> & "quoted"'


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Reports of two directions, of three classes with words and gaps, and one cut off."""
    pandas = pytest.importorskip("pandas")
    key = np.random.default_rng(0)
    x = key.standard_normal((150, 3))
    y = x[:, 0] + 1.5 * x[:, 0] * x[:, 1] + 0.1 * key.standard_normal(150)
    words = np.array([NAME, "Oslo", "Rome, old town", "Bern"], dtype=object)
    frame = pandas.DataFrame(x, columns=["a", "b", "c"])
    frame["city"] = words[key.integers(0, 4, 150)]
    frame.loc[key.random(150) < 0.1, ["c", "city"]] = None
    classes = np.array(["low", NAME, "high"])[
        np.digitize(x[:, 0] + (frame.city == "Oslo"), [-0.3, 0.6])
    ]
    found = report(pandas.DataFrame(x, columns=[NAME, "b", "c"]), y, quick=True)
    parts = {"hardness": None, "drift": None, "gaussianity": None, "left": None}
    written = {
        "directions": found,
        "classes": report(frame, classes, quick=True),
        "interrupted": replace(found, missing=("drift", "how hard it is"), **parts),
    }
    folder = tmp_path_factory.mktemp("report")
    for name, each in written.items():
        (folder / f"{name}.html").write_text(each.html(), encoding="utf-8")
    return {name: folder / f"{name}.html" for name in written}


@pytest.mark.parametrize("kind", ["directions", "classes", "interrupted"])
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_it_opens_from_a_file(
    browser: Callable[[], Any], pages: dict[str, Path], kind: str, width: int, scheme: str
) -> None:
    """Nothing is asked of a network, nothing is wider than the window, pictures are seen."""
    page = pages[kind]
    context = browser().new_context(
        viewport={"width": width, "height": 800}, color_scheme=scheme, offline=True
    )
    faults: list[str] = []
    asked: list[str] = []
    context.on("console", lambda message: faults.append(message.text))
    context.on("weberror", lambda error: faults.append(str(error.error)))
    context.on("request", lambda request: asked.append(request.url))
    opened = context.new_page()
    opened.on("dialog", lambda dialog: faults.append(dialog.message))
    opened.goto(page.as_uri())
    assert opened.locator("h1").inner_text() == "What can be learned about label"
    assert opened.locator("ol.answer li").count() == 5
    assert NAME in opened.locator("body").inner_text()
    warned = opened.locator("p.warn").all_inner_texts()
    assert any("was interrupted" in text for text in warned) == (kind == "interrupted")
    assert ("This part was cut off." in opened.locator("#hardness").inner_text()) == bool(warned)
    assert (opened.locator(".key span").count() >= 3) == (kind == "classes")
    text = opened.locator("body").inner_text()
    assert not any(word in text for word in ("nan", "None", "inf "))
    assert opened.locator("img, script").count() == 0
    assert opened.evaluate("document.documentElement.scrollWidth") <= width
    sizes = opened.locator("figure > svg").evaluate_all(
        "all => all.map(one => one.getBoundingClientRect().height)"
    )
    assert len(sizes) >= 2
    assert min(sizes) > 100
    ground, ink = (
        opened.evaluate(f"getComputedStyle(document.body).{name}")
        for name in ("backgroundColor", "color")
    )
    assert (ground, ink) == {
        "light": ("rgb(253, 253, 251)", "rgb(28, 28, 26)"),
        "dark": ("rgb(23, 24, 22)", "rgb(236, 235, 230)"),
    }[scheme]
    context.close()
    assert faults == []
    assert asked == [page.as_uri()]
