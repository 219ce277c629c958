"""The page of a report in Chromium: opened from a file, without network, wide and on a phone."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from giantstep.reports.report import report

NAME = '<img src=x onerror="alert(1)"> & "quoted"'


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of two directions and of a column with a hostile name."""
    pandas = pytest.importorskip("pandas")
    key = np.random.default_rng(0)
    x = key.standard_normal((150, 3))
    y = x[:, 0] + 1.5 * x[:, 0] * x[:, 1] + 0.1 * key.standard_normal(150)
    found = report(pandas.DataFrame(x, columns=[NAME, "b", "c"]), y, quick=True)
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(found.html(), encoding="utf-8")
    return path


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_it_opens_from_a_file(
    browser: Callable[[], Any], page: Path, width: int, scheme: str
) -> None:
    """Nothing is asked of a network, nothing is wider than the window, pictures are seen."""
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
    assert NAME in opened.locator("ol.answer").inner_text()
    assert opened.locator("img, script").count() == 0
    assert opened.evaluate("document.documentElement.scrollWidth") <= width
    sizes = opened.locator("figure > svg").evaluate_all(
        "all => all.map(one => one.getBoundingClientRect().height)"
    )
    assert len(sizes) >= 4
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
