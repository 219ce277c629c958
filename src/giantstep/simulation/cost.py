"""What a run takes, counted from the sizes of a setting: arithmetic, random numbers and memory."""

from __future__ import annotations

from dataclasses import dataclass, field

from giantstep.errors import InputError
from giantstep.problem.batches import set_size, uses
from giantstep.problem.penalties import penalties_of
from giantstep.problem.setting import Setting
from giantstep.simulation.engines import deferred, together
from giantstep.simulation.engines.blocks import HOST
from giantstep.simulation.matrices import FEW
from giantstep.simulation.readout import KEPT, LEFT_OUT, WELL_SAMPLED
from giantstep.simulation.simulate import MEMORY, choose_engine
from giantstep.simulation.threads import cores


@dataclass(frozen=True)
class Work:
    """Operations of one run.

    ``normals`` are random numbers of samples, ``rows`` those of the start (always on the host);
    ``products`` are multiply-adds in the setting's precision, ``exact`` ones in float64; ``values``
    of the activation and the target; ``cubes`` multiplications inside decompositions of matrices;
    ``calls`` short sequences of library calls whose arrays are small; ``compiled`` functions.
    """

    normals: float = 0.0
    rows: float = 0.0
    products: float = 0.0
    exact: float = 0.0
    values: float = 0.0
    cubes: float = 0.0
    calls: float = 0.0
    compiled: float = 0.0

    def __add__(self, other: Work) -> Work:
        return Work(*(a + b for a, b in zip(self.counts, other.counts, strict=True)))

    def __mul__(self, times: float) -> Work:
        return Work(*(times * count for count in self.counts))

    @property
    def counts(self) -> tuple[float, ...]:
        return tuple(vars(self).values())

    @property
    def flops(self) -> float:
        """Floating-point operations; a random number or a value of a function counts for ten."""
        return 2.0 * (self.products + self.exact + self.cubes) + 10.0 * (self.normals + self.values)


def flops(setting: Setting) -> float:
    """Floating-point operations of one run."""
    return work(setting).flops


def work(setting: Setting, *, accelerated: bool = False) -> Work:
    """What one run of a setting takes with the engine it would have."""
    return _Count(setting, accelerated, choose_engine(setting) == "dense").run()


def _decomposition(side: float) -> Work:
    """Eigenvalues and eigenvectors of a symmetric matrix: about 10 side^3 multiplications."""
    return Work(cubes=10.0 * side**3)


@dataclass(frozen=True)
class _Count:
    """Counts of one setting; ``columns`` are the numbers of a sample that an engine holds."""

    setting: Setting
    accelerated: bool
    dense: bool
    columns: int = field(init=False)

    def __post_init__(self) -> None:
        setting = self.setting
        columns = setting.d if self.dense else setting.known + setting.p
        if not self.dense and deferred.holds_batches(setting):
            columns *= deferred.block_count(setting)
        object.__setattr__(self, "columns", columns)

    def run(self) -> Work:
        """Steps, what is recorded, and for the dense engine its start and its compiled code."""
        setting, recorded = self.setting, len(self.setting.recorded)
        if not self.dense and together.covers(setting) and not self.accelerated:
            steps = self.small_steps()
        elif not self.dense and deferred.holds_batches(setting):
            steps = self.held_steps()
        else:
            steps = self.steps()
        total = steps + self.look() * recorded
        if self.dense:
            p, d = setting.p, setting.d
            # The start; Gram matrices of the rows and of the gradients.
            total += Work(rows=p * d, exact=p * p * d * (setting.steps + recorded))
        return total + Work(compiled=self.compiled() / setting.runs)

    def compiled(self) -> float:
        """Functions that are compiled: of the steps, of a readout, of a fit of the labels."""
        setting = self.setting
        if self.dense:
            fitted = 3.0 * (setting.readout_n > 0) + 2.0 * (setting.deflate >= 0)
            return 1.0 + fitted + self.accelerated
        if not self.accelerated:
            return 0.0
        # Each size of a block of samples is compiled by itself: whole blocks and the last one.
        counts = [setting.n, setting.readout_n, setting.test_n * (setting.readout_n > 0)]
        return sum((n >= self.block) + (n % self.block > 0) for n in counts)

    @property
    def block(self) -> int:
        """Samples that the deferred engine uses at once."""
        if not self.accelerated:
            return HOST.block
        from giantstep.simulation.engines.accelerated import AcceleratedBlocks

        return AcceleratedBlocks(self.setting.p).block

    def multiplied(self, count: float, exact: bool = False) -> Work:
        """Multiply-adds in the precision of the setting, or in float64."""
        wide = exact or self.setting.precision == "float64"
        return Work(exact=count) if wide else Work(products=count)

    def one_pass(self, samples: float, *, drawn: bool = True, exact: bool = False) -> Work:
        """Samples drawn, labelled, and sent through the first layer."""
        setting = self.setting
        if samples <= 0:
            return Work()
        extra = 0 if self.dense else setting.noisy + (setting.deflate == 1)
        return Work(
            normals=samples * (self.columns + extra) * drawn,
            values=samples * (setting.p + 1),
            # Chunks of the dense engine are large, and the next one is drawn meanwhile.
            calls=5.0 if self.dense else 5.0 + 2.0 * samples / self.block,
        ) + self.multiplied(samples * setting.p * self.columns, exact)

    def steps(self) -> Work:
        """Steps on samples that are drawn for each or, in the dense engine, held."""
        setting, p = self.setting, self.setting.p
        n = set_size(setting.batches, setting.n)
        # Forward and backward, slopes beside values; the deferred engine also sums c c^T.
        inner = self.columns if self.dense else self.columns + p
        step = self.one_pass(n) + Work(values=n * p, calls=10.0) + self.multiplied(n * p * inner)
        if not self.dense:
            step += _decomposition(p)
        if setting.deflate >= 0:
            step += self.one_pass(n)
        return step * setting.steps

    def held_steps(self) -> Work:
        """Steps on samples whose known components are kept: each reveals p more, in float64.

        It does so in each block of the inputs.
        """
        setting, p = self.setting, self.setting.p
        revealed = p * deferred.block_count(setting)
        n, most = set_size(setting.batches, setting.n), uses(setting.batches, setting.steps)
        # Columns grow by p at every use; six products with them and four with the new ones, and
        # arrays of their size are copied, which takes as long as some 50 products.
        columns = self.columns + 0.5 * revealed * most
        copied = 50.0 * n * (2.0 * columns + 8.0 * revealed)
        step = Work(
            normals=n * revealed,
            exact=n * p * (6.0 * columns + 4.0 * revealed) + copied,
            values=n * (2.0 * p + 1.0),
            calls=10.0,
        )
        step += _decomposition(p) * 3.0
        sets = setting.steps / max(1, most)
        return self.one_pass(n, exact=True) * sets + step * setting.steps

    def small_steps(self) -> Work:
        """Steps in chunks of samples, of all runs together."""
        setting, p, chunk = self.setting, self.setting.p, together.CHUNK
        runs = min(setting.runs, together.MOST_RUNS)
        samples = setting.steps * setting.n / uses(setting.batches, setting.steps)
        return Work(
            normals=samples * (self.columns + 0.5 * chunk),
            products=samples * chunk * (self.columns + 2.0 * chunk)
            + setting.steps * p * chunk * setting.n,
            values=2.0 * setting.steps * setting.n * p + samples,
            calls=setting.steps / runs,
        )

    def look(self) -> Work:
        """What is recorded after a step: overlaps, spans, spectra, the fitted readout."""
        setting, p = self.setting, self.setting.p
        look = Work(cubes=p**3, calls=10.0)
        if self.accelerated and self.dense and (p > setting.d or setting.start.kind.paired):
            # The span of dependent rows takes a decomposition; see matrices.rows_span.
            look += _decomposition(p)
        if setting.spectra:
            # 200 to 280 products with a vector until Lanczos has eight values at p = 1024 and 2048,
            # each as long as 20 products of a matrix since all of it is read.
            lanczos = Work(exact=250 * 20 * p**2, calls=250.0 * self.accelerated)
            leading = setting.spectra * FEW <= p
            look += lanczos + (lanczos if leading else _decomposition(p) * 2.0)
        return look + self.readout() if setting.readout_n else look

    def readout(self) -> Work:
        """A ridge regression, the residuals of leave-one-out, and the test."""
        setting, p, n = self.setting, self.setting.p, self.setting.readout_n
        exact = n <= WELL_SAMPLED * p
        penalties = len(penalties_of(setting.ridge))
        drawn = not setting.readout_on_last
        total = self.one_pass(n, drawn=drawn, exact=exact) * (1 + (setting.deflate >= 0))
        total += _decomposition(min(n, p)) + self.multiplied(n * p * min(n, p), exact)
        if penalties > 1 and n >= p:
            left_out = min(n, max(LEFT_OUT, WELL_SAMPLED * p))
            kept = not self.dense and p * left_out <= KEPT
            total += self.one_pass(left_out, drawn=drawn and not kept, exact=True)
            total += Work(exact=left_out * p * (p + 2.0 * penalties))
        plain = setting.deflate >= 0 or setting.biased_readout_only
        total += self.one_pass(setting.test_n) * (1 + plain)
        weights = 2.0 if setting.cross_validates else 1.0 + penalties
        return total + Work(products=setting.test_n * p * weights)


def on_accelerator(setting: Setting) -> bool:
    """Whether samples of a setting with a chosen engine are drawn and used on an accelerator."""
    if setting.device == "cpu" or setting.engine == "deferred":
        return deferred.accelerated(setting)
    from giantstep.simulation.engines.place import Place
    from giantstep.simulation.typical import chosen_device

    device = chosen_device(setting)
    return device != "cpu" and not Place(device).on_cpu


def peak_bytes(setting: Setting, memory: int = MEMORY) -> int:
    """Memory of a run's arrays at their peak; InputError where it is more than allowed."""
    size = 8 if setting.precision == "float64" else 4
    recorded = len(setting.recorded) * (setting.p**2 + 4 * setting.p * setting.target.r) * 8
    if choose_engine(setting, memory) == "dense":
        from giantstep.simulation.engines.chunks import plan
        from giantstep.simulation.engines.place import Place
        from giantstep.simulation.typical import chosen_device

        place = Place(chosen_device(setting))
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
