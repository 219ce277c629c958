"""Every example runs at its small size, draws, and asserts what it concludes."""

from pathlib import Path

import matplotlib.pyplot as plt
import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))
NAMES = [path.stem for path in EXAMPLES]


@pytest.mark.slow(sentinel="staircase")
@pytest.mark.parametrize("path", EXAMPLES, ids=NAMES)
def test_an_example_runs(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIANTSTEP_SMALL", "1")
    # Without a display `plt.show` is silent.
    monkeypatch.delenv("DISPLAY", raising=False)
    plt.switch_backend("agg")
    try:
        exec(compile(path.read_text(encoding="utf-8"), path.name, "exec"), {"__name__": "__main__"})
        assert plt.get_fignums()
    finally:
        plt.close("all")


@pytest.mark.parametrize("path", EXAMPLES, ids=NAMES)
def test_an_example_asks_checks_and_concludes(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.startswith("# %% [markdown]\n# # ")
    for part in ("?**\n", "\nassert ", "plt.show()", "# **Conclusion.**"):
        assert part in text.replace("    assert ", "assert "), part
