"""What the claims on leaps above one over several steps are made of."""

import numpy as np
import pytest

from giantstep.papers.claims.higher_leaps import (
    BETWEEN,
    ON_LABELS,
    PAIR,
    Batch,
    label_steps,
    schedule,
    side,
)
from giantstep.problem.setting import Setting
from giantstep.simulation.simulate import simulate


def test_batches_and_steps_grow_as_the_claim_says() -> None:
    batch, network = Batch(3, 4 / 3, (1000,), 2), ON_LABELS[2]
    steps = label_steps(batch.steps, batch.kappa, **network.options)
    setting = Setting(**network.setting, **steps, d=1000, readout_n=0, test_n=0)
    assert setting.n == pytest.approx(2 * 1000 ** (4 / 3), rel=1e-3)
    assert setting.step_size == pytest.approx([6 * 4**t * 1000 ** (1 / 6) for t in range(3)], 1e-3)
    assert batch.name == "3 steps at $n=d^{1.33}$"


def test_learned_and_not_learned_are_two_sides() -> None:
    assert side(0.0)[0] == side(-0.25)[1] == -0.125
    assert side(0.0)[1] == -side(-0.25)[0] == np.inf


def lengths(between: str) -> np.ndarray:
    """|w_1 - w_2|/2 of the pair, the part that makes the output, after each of two steps."""
    fields = BETWEEN | PAIR | schedule("0.35*p*d^0.25", between)
    found = simulate(Setting(**fields, d=2000, readout_n=0, test_n=0))
    gram = found.gram[0]
    return np.sqrt(gram[:, 0, 0] - 2 * gram[:, 0, 1] + gram[:, 1, 1]) / 2


def test_a_step_of_a_quarter_of_p_removes_the_output_and_half_of_it_does_not() -> None:
    """At p = 2 a step of size eta makes (1 - 2 eta) delta of delta, and adds noise."""
    _, before, after = lengths("p/4")
    _, _, half = lengths("p/8")
    # 0.7 before; the noise of the second step is 0.15 at n = 2 d^1.5, d = 2000.
    assert after < 0.25 * before
    assert half > 0.4 * before
