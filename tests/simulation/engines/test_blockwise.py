"""Inputs in blocks of several variances: the deferred engine against plain loops in R^d.

Laws are compared by two-sample Kolmogorov-Smirnov tests on 10 numbers a run, overall level 1e-3
(Bonferroni over numbers and cases); beside each case stand runs that must be rejected at that
level: one block of the mean variance, and fresh batches in the place of reused ones.
"""

from typing import Any

import numpy as np
import pytest
from scipy.stats import ks_2samp

from giantstep.errors import InputError
from giantstep.problem.setting import Setting
from giantstep.simulation.engines.block_span import BlockSpan
from giantstep.simulation.simulate import choose_engine, simulate

BLOCKS = "blocks(0.25, 4, 0.5, 0.04, 0.25, 1)"
MEAN = "blocks(1, 1.27)"
BASE: dict[str, Any] = {
    "target": "x1 + x2 + x1^2 - x2^2",
    "activation": "tanh",
    "d": 24,
    "n": 40,
    "p": 4,
    "steps": 2,
    "step_size": 8.0,
    "start": "sphere",
    "readout_start": "alternating",
    "runs": 300,
    "readout_n": 0,
    "test_n": 0,
    "inputs": BLOCKS,
}
CASES: dict[str, tuple[dict[str, Any], list[dict[str, Any]]]] = {
    "fresh": ({}, [{"inputs": MEAN}]),
    "fresh, axes": ({"frame": "axes"}, [{"inputs": MEAN}, {"frame": "random"}]),
    "reused": ({"batches": "reused", "n": 12, "step_size": 2.0}, [{"batches": "fresh"}]),
    "reused, axes": (
        {"batches": "reused", "frame": "axes", "n": 12, "step_size": 2.0},
        [{"inputs": MEAN}],
    ),
    "fresh, a block": ({"frame": "block(3)"}, [{"frame": "block(1)"}, {"frame": "random"}]),
    "fresh, shares": (
        {"frame": "shares(0.2, 0, 0.8)"},
        [{"frame": "shares(0.4, 0, 0.6)"}, {"frame": "block(3)"}],
    ),
    "reused, shares": (
        {"frame": "shares(0.2, 0.3, 0.5)", "batches": "reused", "n": 12, "step_size": 2.0},
        [{"frame": "block(2)"}],
    ),
    # Blocks of one direction and of fewer than p + r.
    "small blocks": (
        {"inputs": "blocks(0.05, 9, 0.1, 3, 0.85, 0.3)", "batches": "reused"},
        [{"inputs": "blocks(1, 1.005)"}],
    ),
}
LEVEL = 1e-3 / (10 * len(CASES))


def plain_loop(setting: Setting, seed: int) -> np.ndarray:
    """The runs of a setting in R^d, a whole sample at a time: what is observed of them."""
    key, found = np.random.default_rng(seed), []
    p, d, n, scale = setting.p, setting.d, setting.n, setting.scale
    blocks = setting.inputs.blocks(d)
    deviations = np.concatenate(
        [np.full(size, v**0.5) for size, v in zip(blocks.sizes, blocks.variances, strict=True)]
    )
    for _ in range(setting.runs):
        w = key.standard_normal((p, d))
        w /= np.linalg.norm(w, axis=1, keepdims=True)
        frame = drawn_frame(setting.frame, d, key)
        a = np.array([1.0, -1.0, 1.0, -1.0])
        for step in range(setting.steps):
            if step == 0 or setting.batches == "fresh":
                x = key.standard_normal((n, d)) * deviations
                z = x @ frame.T
                y = z[:, 0] + z[:, 1] + z[:, 0] ** 2 - z[:, 1] ** 2
            h = x @ w.T
            residual = y - scale * np.tanh(h) @ a
            g = scale * (residual[:, None] * a / np.cosh(h) ** 2).T @ x / n
            w = w + setting.step_size[step] * g
        found.append(
            numbers(w @ frame.T, w @ w.T, (g @ frame.T) / np.linalg.norm(g, axis=1)[:, None])
        )
    return np.array(found)


def drawn_frame(text: str, d: int, key: np.random.Generator) -> np.ndarray:
    """Two target directions; by blocks they are vectors of each, scaled and side by side."""
    if text == "axes":
        return np.eye(2, d)
    if text == "random":
        return np.linalg.qr(key.standard_normal((d, 2)))[0].T
    first, rest = text.rstrip(")").split("(")
    given = [float(part) for part in rest.split(",")]
    shares = given if first == "shares" else [float(given[0] == k) for k in (1, 2, 3)]
    quarter = d // 4
    parts = [
        share**0.5 * np.linalg.qr(key.standard_normal((size, 2)))[0].T
        for share, size in zip(shares, (quarter, 2 * quarter, quarter), strict=True)
    ]
    return np.concatenate(parts, axis=1)


def numbers(overlap: np.ndarray, gram: np.ndarray, cosine: np.ndarray) -> list[float]:
    """Ten numbers of a run after its last step."""
    square = overlap @ overlap.T
    return [
        *overlap[0],
        *overlap[1],
        *gram[0, :3],
        float(square[0, 1]),
        *cosine[0],
    ]


def engine_runs(setting: Setting) -> np.ndarray:
    found = simulate(setting)
    assert found.gram is not None
    assert found.gradient_cosine is not None
    runs = zip(found.overlap[:, -1], found.gram[:, -1], found.gradient_cosine[:, -1], strict=True)
    return np.array([numbers(*run) for run in runs])


def smallest(one: np.ndarray, two: np.ndarray) -> float:
    assert one.shape[1] == two.shape[1] == 10
    return min(float(ks_2samp(a, b).pvalue) for a, b in zip(one.T, two.T, strict=True))


@pytest.mark.law(sentinel="reused")
@pytest.mark.parametrize("name", CASES)
def test_runs_have_the_law_of_runs_in_all_dimensions(name: str) -> None:
    changes, wrong = CASES[name]
    setting = Setting(**(BASE | changes | {"engine": "deferred", "seed": 5}))
    loop = plain_loop(setting, 6)
    assert smallest(engine_runs(setting), loop) > LEVEL
    for other in wrong:
        assert smallest(engine_runs(setting.vary(**other)), loop) < LEVEL


@pytest.mark.law
@pytest.mark.parametrize("name", ["fresh, a block", "fresh, shares"])
def test_dense_runs_place_the_target_in_blocks(name: str) -> None:
    """The dense engine with these frames, at the level of the cases above; a wrong frame is not."""
    changes, [wrong, _] = CASES[name]
    setting = Setting(**(BASE | changes | {"engine": "dense", "seed": 15}))
    loop = plain_loop(setting, 16)
    assert smallest(engine_runs(setting), loop) > LEVEL
    assert smallest(engine_runs(setting.vary(**wrong)), loop) < LEVEL


def test_new_samples_see_the_rows_as_in_all_dimensions() -> None:
    """Covariances of preactivations and projections, exactly, and sums turned back into blocks."""
    setting = Setting(**(BASE | {"d": 40, "p": 3, "readout_start": "ones"}))
    span = BlockSpan.of_run(setting, 0)
    rows = span.space(np.random.default_rng(1)).gaussian(3)
    seen, deviations = span.seen(rows), span.deviations(span.columns)
    vectors = np.concatenate([span.padded_targets(rows.shape[1]), rows])
    assert vectors[:2] @ vectors[:2].T == pytest.approx(np.eye(2), abs=1e-12)
    normals = np.random.default_rng(2).standard_normal((7, 5))
    samples = seen.coordinates(normals)
    # The same samples in the coordinates of the blocks.
    x = normals @ seen.basis.T * deviations
    assert samples @ seen.rows.T == pytest.approx(x @ rows.T)
    assert samples[:, :2] == pytest.approx(x @ vectors[:2].T)
    covariance = np.concatenate([seen.root @ np.eye(2, 5), seen.rows @ _stretch(seen.root)])
    assert covariance @ covariance.T == pytest.approx((vectors * deviations**2) @ vectors.T)
    c = np.random.default_rng(3).standard_normal((3, 7))
    assert seen.in_blocks(c @ samples) * deviations == pytest.approx(c @ x)


def _stretch(root: np.ndarray) -> np.ndarray:
    """Coordinates of a sample by its normals."""
    stretch = np.eye(5)
    stretch[:2, :2] = root
    return stretch


def test_rows_are_compressed_without_a_change() -> None:
    """Gram matrices of every block, and overlaps, are those of more coordinates."""
    setting = Setting(**(BASE | {"p": 3, "readout_start": "ones", "d": 60}))
    span = BlockSpan.of_run(setting, 0)
    key = np.random.default_rng(0)
    columns = np.concatenate([span.known, key.permutation(np.repeat([0, 1, 2], 7))])
    rows = key.standard_normal((3, len(columns)))
    fewer = span.compressed(rows, columns)
    assert fewer.shape == (3, len(span.columns)) == (3, 3 * (2 + 3))
    for block in range(3):
        part, short = rows[:, columns == block], fewer[:, span.columns == block]
        assert short @ short.T == pytest.approx(part @ part.T)
    assert span.along_target(fewer) == pytest.approx(span.along_target(rows))
    turned = span.turned(fewer)
    assert turned @ turned.T == pytest.approx(rows @ rows.T)
    assert turned[:, :2] == pytest.approx(span.along_target(rows))


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"deflate": 1}, r"deflates no linear part of inputs blocks\(.*\), got deflate = 1"),
        ({"device": "gpu"}, r"draws inputs blocks\(.*\) on the host, got device = 'gpu'"),
        ({"update": "sign", "frame": "axes"}, "has no axes of the inputs, got update = 'sign'"),
    ],
)
def test_what_the_engine_refuses(changes: dict[str, Any], sentence: str) -> None:
    setting = Setting(**(BASE | changes | {"engine": "deferred", "runs": 1}))
    with pytest.raises(InputError, match=f"^engine: the deferred engine {sentence}$"):
        simulate(setting)


def test_many_dimensions_take_the_deferred_engine() -> None:
    setting = Setting(**(BASE | {"d": 10**6, "n": 100, "runs": 1, "steps": 1}))
    assert choose_engine(setting) == "deferred"
    found = simulate(setting)
    assert found.overlap.shape == (1, 2, 4, 2)
    # Along a random target direction inputs have the mean variance 1.27, up to d^-1/2.
    root = BlockSpan.of_run(setting, 0).seen(np.zeros((4, 24 - 6))).root
    assert root @ root.T == pytest.approx(1.27 * np.eye(2), abs=0.02)
