"""Texts of the page as they are set: formulas as MathML, technical words with their definitions."""

from __future__ import annotations

import pytest

from giantstep.explorer.terms import MARKED
from giantstep.language.latex import latex
from giantstep.language.parser import parse

PANES = ("narrow", "target", "wide", "phase", "claims")

WORDS = """([without, unseen]) => {
  const copy = [];
  const walk = (node) => {
    if (node.nodeType === Node.TEXT_NODE) { copy.push(node.data); return; }
    if (node.nodeType !== Node.ELEMENT_NODE || node.matches(without)) return;
    if (unseen && node.matches("[hidden], details:not([open]) > :not(summary)")) return;
    node.childNodes.forEach(walk);
    if (getComputedStyle(node).display !== "inline") copy.push("\\n");
  };
  walk(document.querySelector("[role=tabpanel]:not([hidden])"));
  return copy.join("");
}"""
"""The texts of the pane, without elements that a selector names."""

DRAWN = """() => [...document.querySelectorAll(
    "[role=tabpanel]:not([hidden]) option, [role=tabpanel]:not([hidden]) svg text")]
    .map((node) => node.textContent).join("\\n")"""
"""What menus offer and plots say."""

TYPED = r"""(text) => text.match(
  /\$|\\|\S*\^\S*|\S*_\{\S*|sqrt\(|>=|<=|->|\b(?:alpha|beta|eta|kappa|sigma|mu|lambda)\b/g) ?? []"""
"""What is left of formulas in plain characters."""


@pytest.mark.parametrize("pane", PANES)
def test_no_formula_is_left_in_plain_characters(visit, pane: str) -> None:
    page = visit().open(f"pane={pane}")
    told = page.evaluate(WORDS, ["code, input, select, math, .plot, svg", False])
    assert page.evaluate(TYPED, told) == []
    assert page.evaluate(TYPED, page.evaluate(DRAWN)) == []
    assert page.locator("[role=tabpanel]:not([hidden]) math").count() > 0


def test_two_settings_side_by_side_have_no_formula_in_plain_characters(visit) -> None:
    page = visit(1300).open("side.field=activation&side.value=tanh")
    told = page.evaluate(WORDS, ["code, input, select, math, .plot, svg", False])
    assert "Side by side" in told
    assert page.evaluate(TYPED, told) == []
    assert "(blocked)" in page.evaluate(DRAWN)
    assert page.evaluate(TYPED, page.evaluate(DRAWN)) == []


def test_the_watch_for_plain_formulas_sees_one(visit) -> None:
    page = visit().open("pane=target")
    assert page.evaluate(TYPED, "n = d^2 and sigma >= 1") == ["d^2", "sigma", ">="]
    assert page.evaluate(TYPED, r"costs $5 or \sigma") == ["$", "\\", "sigma"]


@pytest.mark.parametrize("pane", PANES)
def test_technical_words_are_explained_where_they_are_first_seen(visit, pane: str) -> None:
    page = visit().open(f"pane={pane}")
    without = "code, input, select, math, .plot, svg, button:not(.term), label, summary, a"
    told = page.evaluate(WORDS, [without, True]).lower()
    marked = set(
        page.locator("[role=tabpanel]:not([hidden]) .term:not(.mark)").evaluate_all(
            "(all) => all.map((term) => term.dataset.term)"
        )
    )
    padded = "".join(letter if letter.isalnum() or letter == "-" else " " for letter in told)
    padded = f" {' '.join(padded.split())} "
    missing = [
        name
        for name, forms in MARKED.items()
        if any(f" {form} " in padded for form in forms) and name not in marked
    ]
    assert missing == []
    assert marked


@pytest.mark.parametrize(
    ("typed", "formula"),
    [
        ("x1 + x2 + x1^2 - x2^2", "x_{1} + x_{2} + x_{1}^{2} - x_{2}^{2}"),
        ("He3(x1)", r"\mathrm{He}_{3}(x_{1})"),
        ("x1*x2/2", r"\frac{1}{2}\,x_{1}\,x_{2}"),
        ("tanh(x1 + x2)^2", r"(\mathrm{tanh}(x_{1} + x_{2}))^{2}"),
        ("(x1 + x2)^2", "(x_{1} + x_{2})^{2}"),
        ("-3*x1", r"-3\,x_{1}"),
        ("π*x1 - 3.1416*x2", r"\pi\,x_{1} - 3.1416\,x_{2}"),
        ("pi/2*x1", r"\frac{1}{2}\,\pi\,x_{1}"),
    ],
)
def test_an_expression_is_written_from_its_tree(typed: str, formula: str) -> None:
    assert latex(parse(typed)) == formula


def test_a_typed_target_is_shown_as_mathematics(visit) -> None:
    seen = visit()
    page = seen.open("pane=target")
    line = page.get_by_label("Target f(x)")
    line.fill("x1^2 + He3(x2)")
    seen.settle()
    drawn = page.locator(".target .written math").first
    assert drawn.get_attribute("data-latex") == r"f(x) = x_{1}^{2} + \mathrm{He}_{3}(x_{2})"
    assert drawn.locator("msubsup").count() == 1
    assert line.input_value() == "x1^2 + He3(x2)"


def test_no_line_begins_with_the_full_stop_of_a_formula(visit) -> None:
    page = visit().open("pane=claims")
    following = page.evaluate(
        """[...document.querySelectorAll("main math")]
            .map((math) => math.nextSibling?.data ?? "")"""
    )
    assert not [text for text in following if text[:1] in tuple(".,;:!?)")]
    assert [text for text in following if text.startswith("\u2060.")]


def test_a_refusal_shows_what_was_typed(visit) -> None:
    seen = visit()
    seen.allowed.append("422")
    page = seen.open("pane=target")
    page.get_by_label("Target f(x)").fill("x0 + X2")
    told = page.locator(".target .problem", has_text="did you mean x1?")
    told.wait_for()
    assert "'x0'" in told.inner_text()


def test_formulas_are_elements_and_never_markup(visit) -> None:
    """What stands between dollar signs is built sign by sign: tags in it are letters."""
    page = visit().open("pane=target")
    page.evaluate(
        """document.querySelector(".target p.caption").textContent =
             "$<img src=x onerror=alert(1)>$ and $\\\\frac{1}{\\\\sqrt{p}}$" """
    )
    page.locator(".target p.caption mfrac .root").wait_for()
    assert page.locator("main img").count() == 0


def test_axes_keep_their_scale_when_sizes_move(visit) -> None:
    seen = visit()
    kind = """() => [...document.querySelectorAll(".wide .plot")]
        .filter((plot) => plot.layout).map((plot) => [plot.layout.xaxis.type ?? "linear",
          plot.layout.xaxis.title.text])"""
    found = []
    for alpha in ("0", "0.5"):
        page = seen.open(f"pane=wide&wide.alpha1={alpha}&wide.d=100")
        page.reload()
        seen.settle()
        found.append(page.evaluate(kind))
    assert found[0] == found[1]
    assert found[0][0][0] == "log"
    assert "logarithmic" in found[0][0][1]
