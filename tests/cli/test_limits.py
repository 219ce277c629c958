"""``giantstep limits``: the table, and where a setting stands."""

import json

import pytest

from giantstep import Setting, limits, predict
from giantstep.cli.main import main
from giantstep.errors import NoTheoryError


def printed(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    main(["limits", *words])
    return capsys.readouterr().out


def test_without_a_setting_every_limit_is_listed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    text = printed([], capsys)
    for status in limits():
        assert status.limit.name in text
        assert status.limit.evidence in text


def test_a_setting_is_told_its_theory_and_how_far_its_limits_are(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    text = printed(["x1 + x1*x2", "--d", "100", "--p", "40", "--n", "20d"], capsys)
    served = predict(Setting("x1 + x1*x2", d=100, p=40, n="20d")).theory
    assert f"The theory {served} (" in text
    assert "samples of a gradient's length" in text
    assert "at least 100" in text
    assert "quadratic-width" not in text
    assert "quadratic-width" in printed(["x1", "--all"], capsys)


def test_a_setting_that_no_theory_serves_is_told_why(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    text = printed(["x1", "--deflate", "2", "--n", "10^6"], capsys)
    assert "No theory covers this setting." in text
    assert "theory would draw random runs for about" in text
    with pytest.raises(NoTheoryError, match="theory would draw random runs for about"):
        predict(Setting("x1", deflate=2, n=10**6))


def test_json_holds_finite_numbers_only(capsys: pytest.CaptureFixture[str]) -> None:
    records = json.loads(printed(["x1", "--d", "50", "--json"], capsys))["limits"]
    assert len(records) == len(limits())
    beyond = [record for record in records if record["complaint"]]
    assert beyond
    assert all(record["value"] is not None for record in beyond)
