"""An analysis as LaTeX: its numbers against quadrature, and a document that compiles."""

import json
import math
import re
import shutil
import subprocess
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from giantstep import analysis_latex, analyze, make_target
from giantstep.cli.main import main
from giantstep.language.latex import latex_number
from giantstep.show.latex import escaped

TARGETS = ["x1 + x2 + x1^2/sqrt(2) - x2^2", "He3(x1)*x2/3 + pi*x2^2", "tanh(x1)*x2 + x1/3"]


def value(text: str) -> float:
    """The number that a formula of LaTeX without letters stands for."""
    text = text.replace(r"\,", "*").replace(r"\pi", repr(math.pi)).replace(r"\cdot 10^", "e")
    while found := re.search(r"\\sqrt\{([^{}]*)\}", text):
        text = text.replace(found[0], repr(math.sqrt(math.prod(map(float, found[1].split("*"))))))
    while found := re.search(r"\\frac\{([^{}]*)\}\{([^{}]*)\}", text):
        above, below = (math.prod(map(float, part.split("*"))) for part in found.groups())
        text = text.replace(found[0], repr(above / below))
    return math.prod(map(float, re.sub(r"e\{(-?\d+)\}", r"e\1", text).replace(" ", "").split("*")))


def tensors(text: str, r: int) -> dict[int, np.ndarray]:
    """The tensors that a document lists."""
    found: dict[int, np.ndarray] = {}
    for degree, body in re.findall(r"T_(\d) = \\begin\{pmatrix\} (.*?) \\end\{pmatrix\}", text):
        rows = [[value(cell) for cell in row.split("&")] for row in body.split(r"\\")]
        found[int(degree)] = np.squeeze(np.array(rows), axis=None if degree == "2" else 1)
    entries = r"\(T_\{(\d)\}\)_\{(\d+)\} = (.*?)(?=,\\quad|\s*\\\\\n|\n)"
    for degree, index, number in re.findall(entries, text):
        tensor = found.setdefault(int(degree), np.zeros((r,) * int(degree)))
        for places in permutations([int(sign) - 1 for sign in index]):
            tensor[places] = value(number)
    return found


@pytest.mark.parametrize("name", TARGETS)
def test_tensors_are_those_of_quadrature(name: str) -> None:
    """T_k = E[f He_k] by a Gauss rule, to the six digits of a decimal number."""
    target = make_target(name)
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    z = np.array(np.meshgrid(*[nodes] * target.r)).reshape(target.r, -1)
    w = np.prod(np.meshgrid(*[weights / weights.sum()] * target.r), axis=0).ravel()
    y = target(list(z))
    listed = tensors(analysis_latex(analyze(name)), target.r)
    for degree in range(1, 5):
        tensor = listed.get(degree, np.zeros((target.r,) * degree))
        for index in np.ndindex(*tensor.shape):
            powers = [index.count(j) for j in range(target.r)]
            polynomials = [np.polynomial.hermite_e.HermiteE.basis(k) for k in powers]
            product = math.prod(p(each) for p, each in zip(polynomials, z, strict=True))
            assert abs(float(np.sum(w * y * product)) - tensor[index]) < 2e-5
    # A tensor that is missing or turned would be noticed.
    assert max(np.abs(tensor).max() for tensor in listed.values()) > 0.3


@pytest.mark.parametrize(
    "number",
    [0.5, -3.0, 1 / math.sqrt(2 * math.pi), math.sqrt(12) / 5, 2 / math.pi, 0.1234567, 4.5e-7, 0.0],
)
def test_numbers_keep_their_value(number: float) -> None:
    assert value(latex_number(number)) == pytest.approx(number, rel=1e-5)


def test_only_close_numbers_have_a_closed_form() -> None:
    assert latex_number(1 / math.sqrt(2)) == r"\frac{1}{\sqrt{2}}"
    assert latex_number(1 / math.sqrt(2) + 1e-9) == "0.707107"


def test_a_name_is_no_command() -> None:
    assert escaped(r"\input{x}_é<") == r"\textbackslash{}input\{x\}\_?\textless{}"

    def f_1(u, v):
        return u + u * v

    assert r"\texttt{f\_1}" in analysis_latex(analyze(f_1))


def test_sums_are_cut() -> None:
    text = analysis_latex(analyze("+".join(f"x{k}*x{k + 1}" for k in range(1, 10))), most=3)
    assert "The tensor has 6 further entries that are not listed." in text
    assert r"\cdots" in text


@pytest.mark.slow(sentinel="x1 + x2")
@pytest.mark.parametrize(
    "name", ["x1 + x2", *TARGETS, "relu(x1)*sign(x2*x3) + 0.001*x12", "He32(x1)"]
)
def test_the_document_compiles(name: str, tmp_path: Path) -> None:
    """Without an error or a line that is wider than the page; skipped where there is no LaTeX."""
    program = shutil.which("pdflatex")
    if program is None:
        pytest.skip("pdflatex is not installed")
    (tmp_path / "a.tex").write_text(analysis_latex(analyze(name, "gelu")))
    command = [program, "-interaction=nonstopmode", "-halt-on-error", "a.tex"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout[-500:]
    assert "Overfull" not in run.stdout


def test_the_command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    main(["analyze", "x1 + x1*x2", "--latex", "--out", str(tmp_path)])
    text = capsys.readouterr().out
    assert text.startswith(r"\documentclass")
    assert (tmp_path / "analysis.tex").read_text() == text
    assert json.loads((tmp_path / "analysis.json").read_text())["leap_index"] == 1


def test_two_forms_at_once_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["analyze", "x1", "--latex", "--json"])
    assert "latex and json are two forms of output" in capsys.readouterr().err
