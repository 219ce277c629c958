"""The deferred engine: its limits, and the published simulation."""

import math

import numpy as np
import pytest

from giantstep.errors import InputError
from giantstep.language.units import in_bytes
from giantstep.problem.setting import Setting
from giantstep.simulation.engines.deferred import held_bytes
from giantstep.simulation.simulate import choose_engine, simulate

PUBLISHED_OVERLAPS = [
    (0.0, 0.0),
    (0.0757, -0.0626),
    (0.1238, -0.1018),
    (0.1562, -0.1276),
    (0.1800, -0.1461),
    (0.1989, -0.1604),
    (0.2147, -0.1722),
]
PUBLISHED_NORMS = [1, 0.855, 0.806, 0.792, 0.793, 0.802, 0.815]
PUBLISHED_ERRORS = [0.4917, 0.4202, 0.3859, 0.3683, 0.3587, 0.3534, 0.3504]


@pytest.mark.slow
def test_published_simulation_is_reproduced() -> None:
    """Overlaps, norms and errors of arXiv 2402.03220's authors, within 3 joint standard errors.

    d = 5000, n = 3d, p = 2, ReLU, reused batch; 32 published runs with overlap errors of at most
    0.001 (the published errors of norms and errors are taken equal to ours, as both are means of
    32 runs).  27 comparisons at 3 standard errors: 7 % of seeds would exceed one of them by chance.
    The same comparison rejects fresh batches.
    """
    setting = Setting(
        "tanh-cubic",
        activation="relu",
        d=5000,
        n="3d",
        p=2,
        steps=6,
        step_size=0.2 * 3,  # published: 0.2/d for each sample, here step_size/n
        output_scale="1/sqrt(p)",
        start="orthogonal",
        readout_start="alternating",
        batches="reused",
        runs=32,
        readout_n=200,
        test_n=40_000,
        ridge=1e-3,
        seed=3,
    )

    def deviations(found: Setting) -> np.ndarray:
        trajectory = simulate(found)
        mean, error = trajectory.mean(), trajectory.standard_error()
        overlaps = (mean["overlap"][1:, 0] - PUBLISHED_OVERLAPS[1:]) / np.hypot(
            error["overlap"][1:, 0], 0.001
        )
        norms = (mean["gram"][1:, 0, 0] - PUBLISHED_NORMS[1:]) / (
            math.sqrt(2) * error["gram"][1:, 0, 0]
        )
        errors = (mean["network_error"] / 2 - PUBLISHED_ERRORS) / (
            math.sqrt(2) * error["network_error"] / 2
        )
        return np.abs(np.concatenate([overlaps.ravel(), norms, errors]))

    assert np.max(deviations(setting)) < 3
    assert np.max(deviations(setting.vary(batches="fresh"))) > 10


def test_a_billion_dimensions() -> None:
    """At d = 10^9 and n = 2000 the step is noise of squared norm d/n, and nothing else."""
    setting = Setting("x1", d=10**9, n=2000, p=2, steps=1, step_size=2, readout_n=0, test_n=0)
    trajectory = simulate(setting)
    assert trajectory.engine == "deferred"
    # |w'|^2 ~ 1 + (d/n) E[y^2 sigma'^2] = 1 + d/n * 1/2 * (eta s_p a)^2
    assert trajectory.gram[0, 1, 0, 0] == pytest.approx(1 + 10**9 / 2000 / 2, rel=0.1)
    assert np.all(np.abs(trajectory.cosine[0, 1]) < 0.01)


def test_memory_of_a_held_batch_is_refused_with_its_bytes() -> None:
    setting = Setting("x1", d=10**6, n="100d", p=8, batches="reused", engine="deferred")
    with pytest.raises(
        InputError, match=f"memory must be at least {in_bytes(held_bytes(setting))} for a batch"
    ):
        simulate(setting)


@pytest.mark.parametrize(
    ("fields", "piece"),
    [
        ({"d": 9, "p": 8}, r"needs d >= 10 for these p and r, got 9"),
        (
            {"d": 100, "inputs": "rademacher"},
            "gaussian, spiked, shifted, clusters, blocks or power inputs, got 'rademacher'",
        ),
    ],
)
def test_where_it_is_invalid_it_says_so(fields: dict[str, object], piece: str) -> None:
    setting = Setting("x1 + x1*x2", engine="deferred", **fields)
    with pytest.raises(InputError, match=piece):
        simulate(setting)
    assert choose_engine(setting.vary(engine="auto")) == "dense"


def test_given_overlaps_are_where_the_run_starts() -> None:
    given = ((0.3, 0.4), (0.0, -0.5), (1.0, 0.0), (0.0, 0.0))
    for engine in ("deferred", "dense"):
        setting = Setting(
            "x1 + x1*x2",
            d=50,
            p=4,
            start="orthogonal",
            start_overlaps=given,
            steps=0,
            engine=engine,
        )
        trajectory = simulate(setting)
        np.testing.assert_allclose(trajectory.overlap[0, 0], given, atol=1e-6)
        expected = np.array(given) @ np.array(given).T
        np.fill_diagonal(expected, 1.0)
        np.testing.assert_allclose(trajectory.gram[0, 0], expected, atol=1e-6)


def test_float64_and_float32_tell_the_same_story() -> None:
    """The same law in either precision: 4 means of 200 runs within 4 standard errors."""
    base = Setting("staircase", d=2000, p=4, runs=200, steps=2, readout_n=0, test_n=0)
    one, two = simulate(base), simulate(base.vary(precision="float64", seed=1))
    square = [np.abs(t.cosine[:, 1:, 0]) for t in (one, two)]
    gap = square[0].mean(axis=0) - square[1].mean(axis=0)
    error = np.hypot(*(s.std(axis=0) / math.sqrt(200) for s in square))
    assert np.all(np.abs(gap) < 4 * error)


def test_more_neurons_than_memory_are_refused() -> None:
    setting = Setting("x1", d=10**9, p=10**5, engine="deferred")
    with pytest.raises(InputError, match="TiB for p = 100,000 neurons of the deferred"):
        simulate(setting)


def test_rows_that_a_step_made_nearly_parallel_keep_their_own_noise() -> None:
    """After a huge step, gradients of single neurons differ by 1e-7 of their squared length.

    Principal cosines after the second one, in single against double precision: 64 runs each, three
    numbers, four standard errors.  Eigenvalues below the rounding of single precision that are
    taken for 0 give the first one 0.1 more, which is rejected.
    """
    setting = Setting(
        "0.87*x1 + 0.94*x2 - 0.89*x3 + 1.47*x2*x3 - 0.82*x1*x1",
        activation="He1 + He2/2",
        d=1141,
        n=1757,
        p=25,
        steps=2,
        step_size=[4870.0, 6540.0],
        start="sphere",
        readout_start="gaussian",
        residual="labels",
        deflate=1,
        runs=64,
        readout_n=0,
        test_n=0,
    )

    def cosines(precision: str) -> tuple[np.ndarray, np.ndarray]:
        found = simulate(setting.vary(precision=precision))
        assert found.span is not None
        values = np.linalg.svd(found.span[:, 2], compute_uv=False)
        return values.mean(axis=0), values.std(axis=0, ddof=1) / 8.0

    (single, error), (double, other) = cosines("float32"), cosines("float64")
    allowed = 4.0 * np.hypot(error, other)
    assert np.all(np.abs(single - double) < allowed)
    assert allowed[0] < 0.1
