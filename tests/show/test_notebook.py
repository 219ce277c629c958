"""Records in a notebook: a table with its picture, small, and nothing of a name is markup."""

from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

import giantstep
from giantstep import Findings, Setting, as_html, mean_of
from giantstep.records.plot import Curve, Plot
from giantstep.show.html import Html
from giantstep.show.mathml import mathml

HOSTILE = "<img src=x onerror=alert(1)>\"'</td><script>alert(2)</script>&lt;"
SETTING = Setting("x1 + x1*x2", d=10**5, n=4000, p=2, steps=1, readout_n=0, test_n=0, runs=2)

HTML = {"style", "div", "p", "b", "span", "img", "table", "caption", "thead", "tbody"}
HTML |= {"tr", "th", "td"}
MATHML = {"math", "mrow", "mi", "mn", "mo", "mspace", "msub", "msup", "msubsup", "mfrac", "msqrt"}
MATHML |= {"mover"}
ATTRIBUTES = {"class", "src", "alt", "stretchy", "lspace", "rspace", "width", "mathvariant"}
ATTRIBUTES |= {"accent"}


class Page(HTMLParser):
    """Tags, attributes and text of a page; tags must close in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: dict[str, list[str]] = {}
        self.open: list[str] = []
        self.text = self.formulas = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            self.attributes.setdefault(name, []).append(value or "")
        if tag != "img":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag
        self.text += " " * (tag not in MATHML)

    def handle_data(self, data: str) -> None:
        if "math" in self.open:
            self.formulas += data
        else:
            self.text += data


def checked(html: str) -> Page:
    """A page of known tags and attributes, its pictures inside it."""
    page = Page(html)
    assert set(page.tags) <= HTML | MATHML
    assert set(page.attributes) <= ATTRIBUTES
    assert all(link.startswith("data:image/png;base64,") for link in page.attributes.get("src", []))
    return page


@pytest.fixture(scope="module")
def records() -> dict[str, object]:
    experiment = giantstep.run_experiment(SETTING)
    axes = {"d": [50, 100], "n": ["2d", "d^1.5"]}
    curve = Plot("$d$", "cosine", [Curve("a", [1.0, 2.0], [1.0, 2.0])])
    cosines = mean_of("cosine with $v^*$", [0.70, 0.71, 0.72], (0.6, 0.8))
    return {
        "analysis": experiment.analysis,
        "simulated": experiment.simulated,
        "predicted": experiment.predicted,
        "comparison": experiment.comparison,
        "experiment": experiment,
        "sweep": giantstep.sweep(SETTING, axes, workers=1),
        "side by side": giantstep.compare_settings(SETTING, SETTING.vary(activation="tanh")),
        "layer": giantstep.layer_outliers(np.random.default_rng(0).standard_normal((40, 30))),
        "findings": Findings([cosines], curve),
    }


def test_every_record_has_a_picture_and_stays_small(records: dict[str, object]) -> None:
    for name, record in records.items():
        html = record._repr_html_()
        page = checked(html)
        assert html == as_html(record)
        assert page.tags.count("img") == 1, name
        assert len(html) < 120_000, name
        assert "<table>" in html or name == "layer", name


def test_formulas_are_set(records: dict[str, object]) -> None:
    for name in ("analysis", "simulated", "experiment", "findings"):
        page = checked(records[name]._repr_html_())
        assert "math" in page.tags, name
        assert "x1" not in page.text, name
        assert ("v*" if name == "findings" else "x1+x1x2") in page.formulas, name


def test_the_numbers_are_those_of_the_record(records: dict[str, object]) -> None:
    text = checked(records["comparison"]._repr_html_()).text
    assert f"{records['comparison'].p_value:.2g}" in text


def test_many_steps_stay_small() -> None:
    setting = SETTING.vary(d=100, n=20, steps=300, step_size=0.01)
    html = giantstep.simulate(setting)._repr_html_()
    assert len(html) < 120_000
    assert "steps not shown" in html


def test_a_sweep_without_cells_has_no_picture(records: dict[str, object]) -> None:
    empty = replace(records["sweep"], outcomes=())
    assert checked(as_html(empty)).tags.count("img") == 0


def hostile(u, v):
    return u + u * v


hostile.__name__ = HOSTILE


def test_a_hostile_name_is_text(records: dict[str, object]) -> None:
    """The tags are known ones, and the name is there as it was given."""
    analysis = giantstep.analyze(hostile)
    trajectory = giantstep.predict(SETTING.vary(target=hostile))
    compared = replace(records["comparison"], deviations={HOSTILE: np.ones(2)})
    compared = replace(compared, resolution={HOSTILE: 0.1}, shown=())
    findings = Findings([mean_of(f"{HOSTILE} $<script>x_1$", [0.7, 0.71, 0.72], (0.6, 0.8))])
    for record in (analysis, trajectory, compared, findings):
        page = checked(as_html(record))
        assert HOSTILE in page.text
        assert "script" not in page.tags
    # The check itself notices a name that is not escaped.
    with pytest.raises(AssertionError):
        checked(f"<p>{HOSTILE}</p>")


@pytest.mark.parametrize(
    ("latex", "expected"),
    [
        (r"\frac{1}{\sqrt{2}}", "<mfrac><mn>1</mn><msqrt><mn>2</mn></msqrt></mfrac>"),
        (r"\mathrm{He}_{3}", '<msub><mi mathvariant="normal">He</mi><mn>3</mn></msub>'),
        (r"\eta", "<mi>η</mi>"),
        ("x_1^{2}", "<msubsup><mi>x</mi><mn>1</mn><mn>2</mn></msubsup>"),
        ("^", "<msup><mrow></mrow><mrow></mrow></msup>"),
        ("{{", "<mrow></mrow>"),
        ("", "<mrow></mrow>"),
    ],
)
def test_formulas_as_mathml(latex: str, expected: str) -> None:
    assert mathml(latex) == f"<math>{expected}</math>"


def test_only_formulas_are_set() -> None:
    words = Html().words
    assert words("n ~ d, f(x) < 3") == "n ~ d, f(x) &lt; 3"
    assert words("max1 and x1y") == "max1 and x1y"
    assert words("x1 - 2*He2(x2)").startswith("<math>")
    assert words("x1 - 2*He2(x2)").count("<math>") == 1
