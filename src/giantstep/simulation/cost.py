"""What a run takes: numbers drawn, products, values of functions, and memory, counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from giantstep.errors import InputError
from giantstep.problem.batches import set_size, uses
from giantstep.problem.setting import Setting
from giantstep.simulation.engines import deferred, together
from giantstep.simulation.engines.blocks import HOST
from giantstep.simulation.matrices import FEW
from giantstep.simulation.readout import CV_GRID, KEPT, LEFT_OUT, WELL_SAMPLED
from giantstep.simulation.simulate import MEMORY, choose_engine
from giantstep.simulation.threads import cores

DECOMPOSITION = 10.0
"""Multiplications of an eigendecomposition of a p x p matrix, over p^3."""

LANCZOS = 250
"""Products with a vector until eight values at the edge of a bulk are found: 200 to 280 at p = 1024
and 2048."""

FUNCTION = 10.0
"""Floating-point operations that a value of the activation counts for."""


@dataclass(frozen=True)
class Work:
    """What one run takes.

    ``normals`` drawn, ``rows`` of the start in numbers, ``products`` of matrices in multiply-adds,
    ``exact`` ones in float64, ``values`` of the activation, ``labels`` of the target, ``cubes``
    multiplications in decompositions of matrices with so many ``sides``, ``matvecs`` of Lanczos,
    ``moved`` numbers that are copied, ``passes`` over samples, their ``blocks``, ``steps``, and
    ``moments`` at which the run is looked at; ``small_steps`` are steps taken for all runs
    together, ``compiled`` functions are for all runs.
    """

    normals: float = 0.0
    rows: float = 0.0
    products: float = 0.0
    exact: float = 0.0
    values: float = 0.0
    labels: float = 0.0
    cubes: float = 0.0
    sides: float = 0.0
    matvecs: float = 0.0
    moved: float = 0.0
    passes: float = 0.0
    blocks: float = 0.0
    steps: float = 0.0
    moments: float = 0.0
    small_steps: float = 0.0
    compiled: float = 0.0

    def __add__(self, other: Work) -> Work:
        return Work(*(a + b for a, b in zip(self.numbers, other.numbers, strict=True)))

    def __mul__(self, times: float) -> Work:
        return Work(*(times * number for number in self.numbers))

    @property
    def numbers(self) -> tuple[float, ...]:
        return tuple(vars(self).values())

    @property
    def flops(self) -> float:
        """Floating-point operations."""
        draws = self.normals + self.values + self.labels
        return 2.0 * (self.products + self.exact + self.cubes) + FUNCTION * draws


class Pass(Protocol):
    """What one pass over samples takes, by the engine that makes it."""

    def __call__(
        self, setting: Setting, samples: float, *, drawn: bool = True, exact: bool = False
    ) -> Work: ...


def flops(setting: Setting) -> float:
    """Floating-point operations of one run."""
    return work(setting).flops


def work(setting: Setting) -> Work:
    """What one run of a setting takes, with the engine it would have."""
    if choose_engine(setting) == "dense":
        # One function for the steps, three for a readout, one for each fit of the labels.
        made = 1.0 + 3.0 * (setting.readout_n > 0) + 2.0 * (setting.deflate >= 0)
        p, d = setting.p, setting.d
        # The start; Gram matrices of the rows and of the gradients.
        own = Work(rows=p * d, exact=p * p * d * (setting.steps + len(setting.recorded)))
        own += Work(compiled=made / setting.runs)
        return _run(setting, _dense_pass, _steps(setting, _dense_pass)) + own
    if together.covers(setting):
        return _run(setting, _deferred_pass, _small_steps(setting))
    take = _held_steps if deferred.holds_batches(setting) else _steps
    return _run(setting, _deferred_pass, take(setting, _deferred_pass))


def _products(setting: Setting, count: float, exact: bool = False) -> Work:
    """Multiply-adds in the precision of the setting, or in float64."""
    wide = exact or setting.precision == "float64"
    return Work(exact=count) if wide else Work(products=count)


def _deferred_pass(
    setting: Setting, samples: float, *, drawn: bool = True, exact: bool = False
) -> Work:
    """Samples drawn in the coordinates of the rows, through the first layer."""
    p, columns = setting.p, setting.known + setting.p
    if samples <= 0:
        return Work()
    return Work(
        normals=samples * (columns + setting.noisy + (setting.deflate == 1)) * drawn,
        values=samples * p,
        labels=samples,
        passes=1,
        blocks=samples / HOST.block,
    ) + _products(setting, samples * p * columns, exact)


def _dense_pass(
    setting: Setting, samples: float, *, drawn: bool = True, exact: bool = False
) -> Work:
    """Samples drawn in R^d, through the first layer."""
    if samples <= 0:
        return Work()
    return Work(
        normals=samples * setting.d * drawn,
        values=samples * setting.p,
        labels=samples,
        passes=1,
        blocks=samples * setting.d / 2**23,
    ) + _products(setting, samples * setting.p * setting.d, exact)


def _steps(setting: Setting, one_pass: Pass) -> Work:
    """The steps, on samples that are drawn for each or, in the dense engine, held."""
    p, n, engine_is_dense = setting.p, set_size(setting.batches, setting.n), one_pass is _dense_pass
    forward = one_pass(setting, n)
    # Forward and backward, slopes beside values; the deferred engine also sums c c^T.
    inner = setting.d if engine_is_dense else setting.known + 2 * p
    back = Work(values=n * p) + _products(setting, n * p * inner)
    own = Work(cubes=DECOMPOSITION * p**3 * (not engine_is_dense), steps=1)
    fit = one_pass(setting, n) if setting.deflate >= 0 else Work()
    return (forward + back + own + fit) * setting.steps


def _held_steps(setting: Setting, one_pass: Pass) -> Work:
    """Steps on samples whose known components are kept: each reveals p more, in float64."""
    p, n = setting.p, set_size(setting.batches, setting.n)
    most = uses(setting.batches, setting.steps)
    # Columns grow by p at every use; six products with them and four with the new ones.
    columns = setting.known + p + 0.5 * p * most
    draws = setting.steps / max(1, most)
    first = one_pass(setting, n, exact=True)
    each = Work(
        normals=n * p,
        exact=n * p * (6.0 * columns + 4.0 * p),
        values=2.0 * n * p,
        labels=n,
        cubes=3.0 * DECOMPOSITION * p**3,
        moved=n * (2.0 * columns + 8.0 * p),
        steps=1,
    )
    return first * draws + each * setting.steps


def _small_steps(setting: Setting) -> Work:
    """Steps in chunks of samples, of all runs together."""
    p, columns = setting.p, setting.known + setting.p
    runs = min(setting.runs, together.MOST_RUNS)
    samples = setting.steps * setting.n / uses(setting.batches, setting.steps)
    each = Work(
        normals=samples * (columns + 0.5 * together.CHUNK),
        products=samples * together.CHUNK * (columns + 2.0 * together.CHUNK),
        values=2.0 * setting.steps * setting.n * p,
        labels=samples,
    )
    return each + Work(
        products=setting.steps * p * together.CHUNK * setting.n, small_steps=setting.steps / runs
    )


def _run(setting: Setting, one_pass: Pass, steps: Work) -> Work:
    """Steps, and the readout at every moment that is recorded."""
    p, recorded = setting.p, len(setting.recorded)
    look = Work(cubes=p**3, moments=1)
    if setting.spectra:
        # Of weights and gradients; overlaps of leading vectors are by Lanczos anyway.
        lanczos = Work(matvecs=LANCZOS, moved=LANCZOS * p**2)
        leading = setting.spectra * FEW <= p
        every = Work(cubes=2.0 * DECOMPOSITION * p**3, sides=2.0 * p)
        look += lanczos + (lanczos if leading else every)
    if setting.readout_n:
        look += _readout(setting, one_pass)
    return steps + look * recorded


def _readout(setting: Setting, one_pass: Pass) -> Work:
    p, n = setting.p, setting.readout_n
    exact = n <= WELL_SAMPLED * p
    several = setting.ridge == "cv" or len(setting.ridge) > 1
    penalties = len(CV_GRID) if setting.ridge == "cv" else len(setting.ridge)
    fits = 1 + (setting.deflate >= 0)
    drawn = setting.readout_batch == "fresh"
    found = one_pass(setting, n, drawn=drawn, exact=exact) * fits
    side = min(n, p)
    found += Work(cubes=DECOMPOSITION * side**3, sides=side)
    found += _products(setting, n * p * side, exact)
    if several and n >= p:
        left_out = min(n, max(LEFT_OUT, WELL_SAMPLED * p))
        kept = one_pass is _deferred_pass and p * left_out <= KEPT
        found += one_pass(setting, left_out, drawn=drawn and not kept, exact=True)
        found += Work(exact=left_out * p * (p + 2.0 * penalties))
    tested = one_pass(setting, setting.test_n)
    if setting.deflate >= 0 or (setting.bias > 0 and setting.bias_at == "readout"):
        tested += one_pass(setting, setting.test_n)
    weights = 2.0 if setting.ridge == "cv" else 1.0 + penalties
    return found + tested + Work(products=setting.test_n * p * weights)


def on_accelerator(setting: Setting) -> bool:
    """Whether samples of a setting with a chosen engine are drawn and used on an accelerator."""
    if setting.device == "cpu" or setting.engine == "deferred":
        return deferred.accelerated(setting)
    from giantstep.simulation.engines.place import Place

    return not Place(setting.device).on_cpu


def peak_bytes(setting: Setting, memory: int = MEMORY) -> int:
    """Memory of a run's arrays at their peak; InputError where it is more than allowed."""
    size = 8 if setting.precision == "float64" else 4
    recorded = len(setting.recorded) * (setting.p**2 + 4 * setting.p * setting.target.r) * 8
    if choose_engine(setting, memory) == "dense":
        from giantstep.simulation.engines.chunks import plan
        from giantstep.simulation.engines.place import Place

        place = Place(setting.device)
        return plan(setting, place.memory(memory), place).bytes + recorded
    complaint = deferred.objection(setting, memory)
    if complaint:
        raise InputError(f"engine: {complaint}")
    columns = setting.known + 5 * setting.p
    if deferred.accelerated(setting):
        from giantstep.simulation.engines.accelerated import NUMBERS

        # Data, preactivations, slopes, coefficients and two copies in float64.
        return deferred.rows_bytes(setting) + 8 * size * NUMBERS + recorded
    streamed = (
        cores() * HOST.block * columns * 8 + 2 * min(KEPT, setting.readout_n * columns) * size
    )
    held = deferred.held_bytes(setting) if deferred.holds_batches(setting) else 0
    return deferred.rows_bytes(setting) + streamed + held + recorded
