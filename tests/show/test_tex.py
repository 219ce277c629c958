"""Formulas of LaTeX in plain characters: readable, unambiguous, never a backslash."""

import pytest

from giantstep.show.tex import plain_formula, plain_words


@pytest.mark.parametrize(
    ("latex", "plain"),
    [
        (r"n=\mathcal{O}(d^{\ell-\varepsilon})", "n = O(d^(ℓ-ε))"),  # noqa: RUF001
        (r"c_1a\beta^{\top}", "c₁aβᵀ"),
        (
            r"f_1/\sqrt{f_1^2+\frac{d}{n}\mathbb{E}[y^2]}=0.816",
            "f₁/√(f₁² + (d/n)E[y²]) = 0.816",
        ),
        (r"\left\lfloor\frac{\alpha_2}{1/2-\alpha_1}\right\rfloor", "⌊α₂/(1/2 - α₁)⌋"),
        (r"\frac{\eta\,a_i}{p}\mu_2", "(η aᵢ/p)μ₂"),
        (r"\|Pw_i\|/\|w_i\|", "‖Pwᵢ‖/‖wᵢ‖"),
        (r"\langle{w_i,w^*}\rangle", "⟨wᵢ, w*⟩"),
        (r"\sum_{k\leq\ell}c_k\mathrm{He}_k", "∑_(k≤ℓ) cₖHeₖ"),  # noqa: RUF001
        (r"\mathbb{E}[\mathrm{Var}(f\mid{P_Ux})]", "E[Var(f | P_U x)]"),
        (r"\|P_{U,>1}f\|^2", "‖P_(U,>1) f‖²"),
        (r"\mu\mapsto\max(0,\mu-1)", "μ ↦ max(0, μ - 1)"),
        (r"d\log{d}", "d log d"),
        (r"-1/4", "-1/4"),
        (r"x\in[-1,1]", "x ∈ [-1, 1]"),
        (r"(\bar{m}-m)/s", "(m̄ - m)/s"),
        (r"\sigma^{(D)}(sz)", "σ^(D)(sz)"),  # noqa: RUF001
        (r"n^{0.125}d", "n^0.125 d"),
    ],
)
def test_formulas_in_plain_characters(latex: str, plain: str) -> None:
    assert plain_formula(latex) == plain


def test_brackets_keep_products_apart_from_fractions() -> None:
    """Without the brackets the plain formula would mean another number."""
    assert plain_formula(r"\frac{d}{n}x") == "(d/n)x"
    assert plain_formula(r"\frac{d}{nx}") == "d/(nx)"
    assert plain_formula(r"\frac{a+b}{c}") == "(a + b)/c"
    assert plain_formula(r"\sqrt{2}p") != plain_formula(r"\sqrt{2p}")


def test_an_unknown_command_is_its_name_and_words_stay() -> None:
    assert plain_formula(r"\unheard{x}") == "unheardx"
    assert plain_words(r"At $n=4d$, `step_size` is $\eta$.") == "At n = 4d, step_size is η."
    assert plain_words("No formula: 3 % of a_b.") == "No formula: 3 % of a_b."
