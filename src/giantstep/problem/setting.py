"""The record: everything that defines an experiment, validated where it is built."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Literal, SupportsFloat

import numpy as np
from jaxtyping import Float

from giantstep.errors import InputError, shown
from giantstep.language.functions import NUMPY, Namespace
from giantstep.language.quantity import listed
from giantstep.problem import readers
from giantstep.problem.activation import Activation, make_activation
from giantstep.problem.batches import BatchWord, uses
from giantstep.problem.between import BetweenWord
from giantstep.problem.consistency import check_setting
from giantstep.problem.fields import Field, Reading, Record, groups
from giantstep.problem.given_rows import GivenRows, make_rows
from giantstep.problem.gradients import GradientWord
from giantstep.problem.inputs import LAWS, InputLaw, make_inputs
from giantstep.problem.label_noise import LabelNoise
from giantstep.problem.label_transform import LabelTransform, make_transform
from giantstep.problem.lookahead import LookaheadWord
from giantstep.problem.losses import LossWord, read_loss
from giantstep.problem.momentum import Momentum, read_momentum
from giantstep.problem.readers import kind_of, number, one_of, size, text
from giantstep.problem.recording import RecordWord, recorded_steps
from giantstep.problem.starts import (
    READOUT_STARTS,
    STARTS,
    ReadoutStart,
    ReadoutWord,
    StartWord,
    readout_kind,
)
from giantstep.problem.step_size import OutputScale, output_scale
from giantstep.problem.tables import DataSet
from giantstep.problem.target import Target
from giantstep.problem.updates import UpdateWord

Size = SupportsFloat | str
"""A number, or a text such as '4d'."""

Matrix = tuple[tuple[float, ...], ...]


class Setting(Record):
    """One experiment: target, network, sizes, steps, data.

    The network is f(x) = s_p sum_i a_i sigma(<w_i, x> + b_i), a step on a batch of n samples

        w_i <- (1 - decay) w_i + step_size * s_p a_i/n sum_j (y_j - f(x_j)) sigma'(<w_i, x_j>) x_j

    and labels are y = f*(<w*_1, x>, ..., <w*_r, x>) + noise, or with ``label_kind = sign`` random
    signs of mean f*.  s_p -> output_scale, a -> readout_start, W -> start, b -> bias,
    sigma -> activation, f* -> target; x has the law ``inputs``.  ``gradient``, ``lookahead``,
    ``momentum`` and ``update`` change what the step size multiplies.
    After every step a ridge readout is fitted and tested on samples of its own.

    Sizes and step sizes may be given in terms of d, n and p (``n="4d"``, ``n="d*log(d)"``,
    ``step_size="p*d^0.5"``), steps in terms of d (``steps="2*log(d)"``), and step sizes in terms of
    the giant one (``step_size="3*giant"``).  They are held as numbers, sizes and steps rounded to
    the nearest integer.  A plain number must be whole.  Sizes go up to 2^53, runs to 2^32, steps to
    10^6, seeds to 2^63 - 1.  ``vary`` gives the setting anew with some of the fields changed, those
    given in terms of others following along.  The setting is that of arXiv 2305.18270; at linear
    width (``Setting.linear_width``) that of arXiv 2310.07891.

    >>> from giantstep import Setting
    >>> setting = Setting("x1 + He2(x1)*x2", d=1000, n="4d", step_size="3*giant")
    >>> setting.n, setting.step_size
    (4000, (24.0, 24.0))
    >>> setting.vary(d=2000).n
    8000
    """

    target: Field[str | Callable[..., Any] | Target, Target] = Field(
        readers.read_target,
        "Target",
        "expression such as 'x1 + He2(x1)*x2', name, callable, or column(NAME)",
        default=None,
        takes="EXPRESSION",
        kw_only=False,
    )
    activation: Field[str | Callable[[Any], Any] | Activation, Activation] = Field(
        text(make_activation),
        "Experiment",
        "relu, erf, tanh, sigmoid, softplus, gelu, silu, sin, or an expression in z",
        default="relu",
        takes="EXPRESSION",
    )
    d: Field[Size, int] = Field(
        readers.dimension,
        "Experiment",
        "input dimension",
        default=None,
        takes="SIZE",
        default_words="1000 (of a data set: its columns)",
    )
    n: Field[Size, int] = Field(
        readers.batch_size,
        "Experiment",
        "batch size, such as 4d, d^1.5 or d*log(d)",
        default=None,
        takes="SIZE",
        default_words="4d (for labels of a data set all rows, in equal parts)",
    )
    p: Field[Size, int] = Field(
        size("d"),
        "Experiment",
        "number of neurons, may be given in terms of d",
        default=8,
        takes="SIZE",
    )
    # A step size is held for every step: beyond a million they fill megabytes of each record.
    steps: Field[Size, int] = Field(
        size("d", least=0, most=10**6),
        "Experiment",
        "number of giant steps, may be given in terms of d, such as 2*log(d)",
        default=2,
        takes="SIZE",
    )
    step_size: Field[Size | Sequence[Size], tuple[float, ...]] = Field(
        readers.sizes_of_steps,
        "Experiment",
        "one size or one a step: giant (changes a neuron by its own length), 3*giant, n^0.3, or a "
        "number",
        default="giant",
        takes="SIZES",
    )
    batches: Field[str, BatchWord] = Field(
        readers.batches, "Experiment", f"samples of a step: {BatchWord.forms()}", default="fresh"
    )
    noise: Field[Size, float] = Field(
        number, "Experiment", "standard deviation of label noise", default=0.0, takes="NUMBER"
    )
    # In the key of random numbers a run is one word of 32 bits and a seed two; a seed is a signed
    # integer in JSON and TOML readers.
    runs: Field[Size, int] = Field(
        size(most=2**32), "Experiment", "independent repetitions", default=1, takes="INTEGER"
    )
    seed: Field[Size, int] = Field(
        size(least=0, most=2**63 - 1),
        "Experiment",
        "seed; run k is the same for any number of runs",
        default=0,
        takes="INTEGER",
    )
    output_scale: Field[str | int, OutputScale] = Field(
        readers.scale_of_outputs,
        "Network",
        "s_p before the sum: 1/p, 1/sqrt(p) or 1",
        default="1/p",
    )
    start: Field[str, StartWord] = Field(
        kind_of(StartWord), "Network", f"rows of W: {', '.join(STARTS)}", default="symmetric"
    )
    start_overlaps: Field[str | Sequence[Sequence[float]], Matrix | None] = Field(
        readers.matrix,
        "Network",
        "overlaps of the orthogonal or given start, p rows of r numbers: '.5, 0; 0, .5'",
        default=None,
        takes="MATRIX",
    )
    start_gram: Field[str | Sequence[Sequence[float]], Matrix | None] = Field(
        readers.matrix,
        "Network",
        "Gram matrix of the rows of the given start, p rows of p numbers: '1, 0; 0, 1'",
        default=None,
        takes="MATRIX",
    )
    start_rows: Field[str | Float[np.ndarray, "p q"] | GivenRows, GivenRows | None] = Field(
        text(make_rows),
        "Network",
        "the rows of the given start: a file FILE.npy of W, or of coordinates",
        default=None,
        takes="FILE",
    )
    readout_start: Field[str | Sequence[float], ReadoutWord | tuple[float, ...]] = Field(
        readers.readout,
        "Network",
        "entries of a: "
        + ", ".join(f"{name} {kind.meaning}" for name, kind in READOUT_STARTS.items())
        + ", or p numbers",
        default="signs",
    )
    readout_between: Field[str, BetweenWord] = Field(
        readers.between,
        "Network",
        f"the readout between steps: {BetweenWord.forms()}",
        default="frozen",
    )
    bias: Field[Size, float] = Field(
        number,
        "Network",
        "standard deviation of frozen normal biases, 0 for none",
        default=0.0,
        takes="NUMBER",
    )
    bias_at: Field[str, str] = Field(
        one_of("start", "readout"),
        "Network",
        "start (biases in the steps and in the readout) or readout (only there)",
        default="start",
    )
    update: Field[str, UpdateWord] = Field(
        readers.update,
        "Steps",
        "what the step size multiplies: gradient, normalised (unit rows), orthogonal (its "
        "polar factor), sign, adam(b1, b2), clipped(c) (rows of length c at most), clippedwhole(c)",
        default="gradient",
    )
    gradient: Field[str, GradientWord] = Field(
        kind_of(GradientWord),
        "Steps",
        "part of the gradient that a step uses: full, or tangent (at right angles to its row)",
        default="full",
    )
    lookahead: Field[str, LookaheadWord] = Field(
        readers.lookahead,
        "Steps",
        f"where gradients are taken: {LookaheadWord.forms()}, of size rho",
        default="none",
    )
    momentum: Field[Size, Momentum] = Field(
        text(read_momentum),
        "Steps",
        "share m of the velocity V that a step keeps, V <- m V + gradient: a number from 0 "
        "(no momentum) to 1, or nesterov(m)",
        default=0.0,
        takes="MOMENTUM",
    )
    loss: Field[str, LossWord] = Field(
        lambda value, name, reading: read_loss(value),
        "Steps",
        f"loss of the steps: {LossWord.forms()}",
        default="square",
    )
    residual: Field[str, str] = Field(
        one_of("full", "labels"), "Steps", "full (y - f) or labels (y only)", default="full"
    )
    label_transform: Field[str | LabelTransform, LabelTransform] = Field(
        text(make_transform),
        "Steps",
        "what the steps take for the label, an expression in y such as tanh(y)",
        default="y",
        takes="EXPRESSION",
    )
    deflate: Field[Size, int] = Field(
        readers.deflate,
        "Steps",
        "remove the fitted part of degree <= this from the labels, -1 for none, "
        "2 in the dense engine only",
        default=-1,
        takes="INTEGER",
    )
    decay: Field[Size, float] = Field(
        number,
        "Steps",
        "weight decay a step: W <- (1 - decay) W + step",
        default=0.0,
        takes="NUMBER",
    )
    rows: Field[str, str] = Field(
        one_of("free", "normalised"),
        "Steps",
        "rows of W after a step: free, or normalised",
        default="free",
    )
    inputs: Field[str | InputLaw, InputLaw] = Field(
        text(make_inputs),
        "Data",
        ", ".join(law.form() for law in LAWS.values()),
        default="gaussian",
    )
    frame: Field[str, str] = Field(
        readers.frame,
        "Data",
        "target directions for inputs other than gaussian: random, axes, block(k) or "
        "shares(s1, s2, ..) of inputs in blocks, or columns(NAME, ...) of a data set",
        default="random",
    )
    corruption: Field[Size, float] = Field(
        number,
        "Data",
        "share of labels whose sign is flipped, where noise is 0",
        default=0.0,
        takes="NUMBER",
    )
    label_kind: Field[str, str] = Field(
        one_of("number", "sign"),
        "Data",
        "number (the target, with its noise), or sign (+1 or -1 at random, with the target as the "
        "mean, which must be from -1 to 1)",
        default="number",
    )
    ridge: Field[Size | Sequence[Size], tuple[float, ...] | Literal["cv"]] = Field(
        readers.ridges,
        "Readout",
        "penalty of the readout: a number, several, or cv (leave-one-out)",
        default="cv",
        takes="NUMBERS",
    )
    readout_n: Field[Size, int] = Field(
        size("d", "n", "p", least=0),
        "Readout",
        "samples the readout is fitted on, 0 for no readout",
        default="n",
        takes="SIZE",
    )
    readout_batch: Field[str, str] = Field(
        one_of("fresh", "last"), "Readout", "data of the readout: fresh or last", default="fresh"
    )
    test_n: Field[Size, int] = Field(
        readers.samples_of_test,
        "Readout",
        "samples it is tested on, 0 for no readout",
        default=None,
        takes="SIZE",
        default_words="20000 (of a data set: the rows left)",
    )
    record: Field[str, RecordWord] = Field(
        readers.recording,
        "Computation",
        f"steps that are recorded: {RecordWord.forms()}",
        default="all",
    )
    spectra: Field[Size, int] = Field(
        size("d", "n", "p", least=0),
        "Computation",
        "singular values to record, such as p, 0 for none",
        default=0,
        takes="SIZE",
    )
    engine: Field[str, str] = Field(
        one_of("auto", "deferred", "dense"),
        "Computation",
        "auto, deferred or dense",
        default="auto",
    )
    device: Field[str, str] = Field(
        one_of("auto", "cpu", "gpu"),
        "Computation",
        "where samples are drawn and used: cpu, gpu, or auto (a GPU, if there is one and it is "
        "faster, for the dense engine alone)",
        default="auto",
    )
    precision: Field[str, str] = Field(
        one_of("float32", "float64", "tf32", "bf16", "bf16x3"),
        "Computation",
        "float32, float64, or for products of the dense engine on a GPU tf32, bf16 or bf16x3",
        default="float32",
    )

    @classmethod
    def linear_width(
        cls, target: str | Callable[..., Any] | Target | None = None, **fields: Any
    ) -> Setting:
        """The setting with n and p in proportion to d: LINEAR_WIDTH where nothing else is given.

        There are as many steps as step sizes, and of a data set the rows that are left are tested.
        """
        given = LINEAR_WIDTH | {name: v for name, v in fields.items() if v is not None}
        if fields.get("test_n") is None and make_inputs(given.get("inputs", "gaussian")).path:
            del given["test_n"]
        given.setdefault("steps", len(listed(given["step_size"])))
        return cls(target, **given)

    def __repr__(self) -> str:
        """What was given, as it can be typed again."""
        defaults = DEFAULTS | ({"n": None} if self.target.column else {})
        others = [
            f"{name}={shown(value)}"
            for name, value in self._given.items()
            if self.fields[name].kw_only and value is not None and _differs(value, defaults[name])
        ]
        return f"Setting({', '.join([shown(self.target.name), *others])})"

    __str__ = __repr__

    @property
    def turns(self) -> bool:
        """Whether all directions are alike but those known from the start."""
        return self.inputs.isotropic and self.update.kind.turns

    @property
    def recorded(self) -> tuple[int, ...]:
        """The steps after which a run is recorded, the start (0) and the last among them."""
        return recorded_steps(self.record, self.steps)

    @property
    def seen_again(self) -> bool:
        """Whether samples are seen twice: by a step before, or by a look ahead on the batch."""
        looks = self.lookahead.kind.looks if self.steps else 1
        return uses(self.batches, self.steps) * looks > 1

    @property
    def labels_only(self) -> bool:
        """Whether the steps see the labels alone, without the network's own output."""
        return self.residual == "labels"

    @property
    def normalises_rows(self) -> bool:
        """Whether rows of W are made of length one after every step."""
        return self.rows == "normalised"

    @property
    def biased_steps(self) -> bool:
        """Whether the steps see biases, and not only the readout."""
        return self.bias > 0 and self.bias_at == "start"

    @property
    def biased_readout_only(self) -> bool:
        """Whether the readout sees biases that the steps did not."""
        return self.bias > 0 and self.bias_at == "readout"

    @property
    def readout_on_last(self) -> bool:
        """Whether the readout is fitted on the batch of the last step."""
        return self.readout_batch == "last"

    @property
    def cross_validates(self) -> bool:
        """Whether the penalty of the readout is chosen by leave-one-out errors."""
        return self.ridge == "cv"

    @property
    def penalties(self) -> tuple[float, ...]:
        """The penalties of the readout that were given; none where it is cross-validated."""
        return () if isinstance(self.ridge, str) else self.ridge

    @property
    def on_axes(self) -> bool:
        """Whether the target directions are the first axes."""
        return self.frame == "axes"

    @property
    def readout_law(self) -> ReadoutStart:
        """How the entries of a are drawn, or the numbers that were given."""
        return readout_kind(self.readout_start)

    @property
    def giant_shares(self) -> tuple[float, ...]:
        """How large the updates are against the rows: the step sizes over the giant one."""
        if not self.step_size:
            return ()
        [giant] = self.vary(steps=1, step_size="giant").step_size
        return tuple(size / giant for size in self.step_size)

    @property
    def data(self) -> DataSet | None:
        """The data set whose rows are the inputs."""
        return self.inputs.data_set(self.target.column)

    @property
    def scale(self) -> float:
        """s_p, the output scale as a number."""
        return output_scale(self.output_scale, self.p)

    @property
    def known(self) -> int:
        """Directions known from the start: those of the target, and of the law of the inputs."""
        return self.target.r + self.inputs.known_directions

    @property
    def along_gradient(self) -> bool:
        """Whether a step moves rows along all of its own gradient, and along nothing else."""
        return not (self.momentum or self.gradient.kind.tangent)

    @property
    def plain_gradient(self) -> bool:
        """Whether a step moves rows along all of their gradient where they are."""
        return self.along_gradient and not self.lookahead.numbers

    @property
    def moving(self) -> int:
        """Vectors that a step moves: the rows, and with momentum the velocity of each."""
        return self.p * (2 if self.momentum else 1)

    @property
    def dtype(self) -> type[np.float32 | np.float64]:
        """Type of the samples and of the arithmetic on them; sums over samples are in float64."""
        return np.float64 if self.precision == "float64" else np.float32

    @property
    def label_noise(self) -> LabelNoise:
        """What stands between the target and the labels."""
        return LabelNoise(self.noise, self.corruption, self.label_kind == "sign")

    @property
    def noisy(self) -> bool:
        """Whether a label takes a normal variable of its own."""
        return bool(self.label_noise)

    def labels(self, clean: Any, normals: Any, namespace: Namespace = NUMPY) -> Any:
        """y from f and one normal variable a label; labels of a data set are in its place."""
        if self.target.column:
            return normals
        return self.label_noise.labels(clean, normals, namespace)

    def noisy_floor(self, floor: float) -> float:
        """The floor of noisy labels, from that of the clean ones."""
        return self.label_noise.floor(floor, self.target.series.square)

    def check(self) -> None:
        """Refuse what no experiment can have."""
        check_setting(self)

    @classmethod
    def unknown(cls, name: str, value: object) -> InputError:
        """The complaint about a name that is no field, or about a setting that was not stored."""
        if name == "unstorable":  # the record of a setting that no text gives back
            return InputError(str(value))
        return super().unknown(name, value)

    def vary(self, **changes: Any) -> Setting:
        """The setting with some fields changed, the others as given (n = '4d' follows d)."""
        return Setting(**{**self._given, **changes})

    @property
    def given(self) -> dict[str, Any]:
        """The fields as they were given, or their defaults: n may be the text 4d."""
        followed = self._given["n"] is None and not self.target.column
        return {**self._given, **({"n": DEFAULTS["n"]} if followed else {})}

    @property
    def unstorable(self) -> str | None:
        """Why the texts of ``as_dict`` do not give this setting back, None where they do."""
        for name, field in self.fields.items():
            held = getattr(self, name)
            if getattr(held, "function", None) is not None:
                return f"{name} cannot be stored as a text, got the callable {held.text!r}"
            # What a file holds may change; what a text means does not.
            same = _reads_back if isinstance(held, GivenRows) else _reads_back_once
            if hasattr(held, "text") and not same(held, field):
                return (
                    f"{name} cannot be stored as a text, got what {held.text!r} does not give back"
                )
        return None

    def as_dict(self) -> dict[str, Any]:
        """Field names and plain values: numbers, texts and lists.

        ``Setting(**as_dict())`` is the setting again, but for one with a note under ``unstorable``.
        """
        note = self.unstorable
        return {name: _plain(getattr(self, name)) for name in self.fields} | (
            {} if note is None else {"unstorable": note}
        )


DEFAULTS: dict[str, Any] = {name: field.default for name, field in Setting.fields.items()} | {
    "n": readers.UNLESS_LABELLED
}
"""What a field is when it is not given; None stands for it too."""

GROUPS = {group: names for group, names in groups(Setting).items() if "target" not in names}
"""Every field but the target by its group, in the order in which people need them."""

LINEAR_WIDTH: dict[str, Any] = {
    "n": "2d",
    "p": "1.5d",
    "step_size": "n^0.3",
    "output_scale": "1",
    "start": "sphere",
    "readout_start": "gaussian",
    "ridge": 0.1,
    "test_n": 4000,
    "spectra": "p",
}
"""The papers' convention at linear width; the record's own defaults are for narrow networks."""


def _differs(given: object, default: object) -> bool:
    """Whether a field was given something else; arrays and callables always count."""
    return type(given) is not type(default) or given != default


def _plain(value: Any) -> Any:
    """A value of the record as a number, a text or a list."""
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    return getattr(value, "text", value)


def _reads_back(held: Any, field: Field[Any, Any]) -> bool:
    """Whether the text of what a field holds gives it back."""
    try:
        return bool(field.read(held.text, field.name, Reading({}, {})) == held)
    except InputError:
        return False


_reads_back_once = lru_cache(maxsize=256)(_reads_back)
