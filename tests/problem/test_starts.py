"""Starts as data: what a start promises holds in every space its rows may be drawn in."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from giantstep import InputError, Setting
from giantstep.problem.starts import (
    READOUT_STARTS,
    STARTS,
    Given,
    Space,
    known_span,
    readout_rms,
    typical_span,
    whole_space,
)

R, D, P = 2, 30, 4
DIRECTIONS = np.linalg.qr(np.random.default_rng(9).standard_normal((D, R)))[0].T
SPACES: dict[str, Callable[[np.random.Generator], Space]] = {
    "whole": lambda key: whole_space(key, DIRECTIONS),
    "span": lambda key: known_span(key, R, D),
    "typical": lambda key: typical_span(R, D),
}
OVERLAPS = np.array([[0.1, 0.2], [0.3, 0.0], [0.0, 0.5], [0.6, 0.8]])
GRAM = OVERLAPS @ OVERLAPS.T + np.array([[2, 1, 0, 0], [1, 3, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0]])
GIVEN = Given(OVERLAPS, GRAM)


def drawn(name: str, space: str, key: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Overlaps with the target directions and Gram matrix of the rows of one draw."""
    rows = STARTS[name].draw(SPACES[space](key), P, GIVEN)
    assert len(rows) == P
    along = rows @ DIRECTIONS.T if space == "whole" else rows[:, :R]
    return along, rows @ rows.T


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("name", STARTS)
def test_a_start_is_what_it_promises(name: str, space: str) -> None:
    start = STARTS[name]
    overlaps, gram = drawn(name, space, np.random.default_rng(0))
    ones = np.allclose(np.diag(gram), 1.0, atol=1e-12)
    assert ones == (start.unit or (space == "typical" and not start.framed))
    half = P // 2
    pairs = np.allclose(gram[:half, :half], gram[:half, half:], atol=1e-12)
    assert pairs == start.paired
    if start.framed:
        np.testing.assert_allclose(overlaps, OVERLAPS, atol=1e-12)
        rest = gram - overlaps @ overlaps.T
        if name == "given":
            np.testing.assert_allclose(gram, GRAM, atol=1e-7)
        else:
            np.testing.assert_allclose(rest, np.diag(np.diag(rest)), atol=1e-12)
    elif space == "typical":
        assert not overlaps.any()
        assert np.linalg.matrix_rank(gram) == P // start.copies


@pytest.mark.parametrize("name", [name for name, start in STARTS.items() if not start.framed])
def test_coordinates_have_the_law_of_whole_vectors(name: str) -> None:
    """Mean squares of an overlap, of a cosine and of a squared norm less one, 4000 draws each.

    Within 5 joint standard errors, 3 comparisons a start; coordinates of vectors with 2 d entries
    fail by the overlap or the cosine.
    """

    def squares(space: Callable[[np.random.Generator], Space], seed: int) -> np.ndarray:
        key = np.random.default_rng(seed)
        found = []
        for _ in range(4000):
            rows = STARTS[name].draw(space(key), P, GIVEN)
            along = rows[0] @ DIRECTIONS[1] if rows.shape[1] == D else rows[0, 1]
            cosine = rows[0] @ rows[1] / np.linalg.norm(rows[0]) / np.linalg.norm(rows[1])
            found.append((along, cosine, rows[0] @ rows[0] - 1.0))
        return np.array(found) ** 2

    def gap(one: np.ndarray, other: np.ndarray) -> float:
        # 1e-12: rows of norm one have no spread.
        error = np.sqrt((one.var(axis=0) + other.var(axis=0)) / len(one)) + 1e-12
        return float(np.max(np.abs(one.mean(axis=0) - other.mean(axis=0)) / error))

    whole = squares(SPACES["whole"], 1)
    assert gap(whole, squares(SPACES["span"], 2)) < 5
    assert gap(whole, squares(lambda key: known_span(key, R, 2 * D), 3)) > 5


def test_what_is_orthogonal_knows_no_sign_of_other_directions() -> None:
    """The mean overlap of 4 rows with a direction beside the target, 1000 draws, within 4 errors.

    4 comparisons, of which one in 4000 would fail by chance; rows with their signs from the first
    coordinate, as QR may leave them, are rejected.
    """
    key = np.random.default_rng(0)
    frames = [known_span(key, R, D, others=1).frame(P)[R:] for _ in range(1000)]
    along = np.stack([frame[:, R] for frame in frames])
    np.testing.assert_allclose(frames[0] @ frames[0].T, np.eye(P), atol=1e-12)

    def farthest(values: np.ndarray) -> float:
        return float(np.max(np.abs(values.mean(axis=0) / values.std(axis=0)) * math.sqrt(1000)))

    assert farthest(along) < 4
    assert farthest(np.abs(along)) > 4


@pytest.mark.parametrize("name", READOUT_STARTS)
def test_readout_entries_have_their_size(name: str) -> None:
    """Mean square of 10^5 entries within 5 standard errors; twice the size is rejected."""
    start, p = READOUT_STARTS[name], 100_000
    entries = start.draw(np.random.default_rng(0), p, p)
    squares = entries**2 / readout_rms(name, p) ** 2
    error = squares.std() / math.sqrt(p) + 1e-9
    assert abs(squares.mean() - 1.0) < 5 * error
    assert abs(4 * squares.mean() - 1.0) > 5 * 4 * error
    again = start.draw(np.random.default_rng(1), p, p)
    assert np.array_equal(entries, again) == start.fixed


def test_the_record_knows_the_tables() -> None:
    for name in STARTS:
        gram = np.eye(8) if name == "given" else None
        assert Setting("x1", start=name, start_gram=gram).start == name
    for name in READOUT_STARTS:
        assert Setting("x1", readout_start=name).readout_start == name
    for field, table in (("start", STARTS), ("readout_start", READOUT_STARTS)):
        with pytest.raises(InputError, match=f"^{field} must be {next(iter(table))}, .*got 'zero'"):
            Setting("x1", **{field: "zero"})
        assert all(name in str(Setting.fields[field].sentence) for name in table)
