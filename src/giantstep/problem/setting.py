"""The record: everything that defines an experiment, validated where it is built."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal, Never, SupportsFloat

import numpy as np
from jaxtyping import Float
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, ValidationError

from giantstep.errors import InputError, shown, unknown_name
from giantstep.language.functions import NUMPY, Namespace
from giantstep.language.quantity import listed
from giantstep.language.word import Word
from giantstep.problem import batches as batch_kinds
from giantstep.problem import between, losses, recording
from giantstep.problem.activation import Activation, make_activation
from giantstep.problem.consistency import check_setting
from giantstep.problem.fields import BATCH, explained, signature_defaults
from giantstep.problem.given import read_fields
from giantstep.problem.given_rows import GivenRows, make_rows
from giantstep.problem.inputs import LAWS, InputLaw, make_inputs
from giantstep.problem.labels import LabelNoise, LabelTransform, make_transform
from giantstep.problem.starts import READOUT_STARTS, STARTS, ReadoutName, StartName
from giantstep.problem.step_size import output_scale
from giantstep.problem.tables import DataSet
from giantstep.problem.target import Target, read_target
from giantstep.problem.updates import UPDATES, UpdateName

Size = SupportsFloat | str
"""A number, or a text such as '4d'."""

OutputScale = Literal["1/p", "1/sqrt(p)", "1"]


@explained
class Setting(BaseModel):
    """One experiment: target, network, sizes, steps, data.

    The network is f(x) = s_p sum_i a_i sigma(<w_i, x> + b_i), a step on a batch of n samples

        w_i <- (1 - decay) w_i + step_size * s_p a_i/n sum_j (y_j - f(x_j)) sigma'(<w_i, x_j>) x_j

    and labels are y = f*(<w*_1, x>, ..., <w*_r, x>) + noise.  s_p -> output_scale,
    a -> readout_start, W -> start, b -> bias, sigma -> activation, f* -> target; x has the law
    ``inputs``.  After every step a ridge readout is fitted and tested on samples of its own.

    Sizes and step sizes may be given in terms of d, n and p (``n="4d"``, ``n="d*log(d)"``,
    ``step_size="p*d^0.5"``) and of the giant step (``step_size="3*giant"``); they are held as
    numbers, sizes rounded to the nearest integer.  A plain number must be whole.  Sizes go up to
    2^53, runs to 2^32, steps to 10^6, seeds to 2^63 - 1.  ``vary`` gives the setting anew with some
    of the fields changed, those given in terms of others following along.  The setting is that of
    arXiv 2305.18270; at linear width (``Setting.linear_width``) that of arXiv 2310.07891.

    >>> from giantstep import Setting
    >>> setting = Setting("x1 + He2(x1)*x2", d=1000, n="4d", step_size="3*giant")
    >>> setting.n, setting.step_size
    (4000, (24.0, 24.0))
    >>> setting.vary(d=2000).n
    8000
    """

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    target: Target = Field(
        description="expression such as 'x1 + He2(x1)*x2', name, callable, or column(NAME)"
    )
    activation: Activation = Field(
        description="relu, erf, tanh, sigmoid, softplus, gelu, silu, sin, or an expression in z"
    )
    d: int = Field(description="input dimension")
    n: int = Field(description="batch size, such as 4d, d^1.5 or d*log(d)")
    p: int = Field(description="number of neurons, may be given in terms of d")
    steps: int = Field(description="number of giant steps, a whole number")
    step_size: tuple[float, ...] = Field(
        description="one size or one a step: giant (an update of order one), 3*giant, n^0.3, or a "
        "number"
    )
    output_scale: OutputScale = Field(description="s_p before the sum: 1/p, 1/sqrt(p) or 1")
    start: StartName = Field(description=f"rows of W: {', '.join(STARTS)}")
    start_overlaps: tuple[tuple[float, ...], ...] | None = Field(
        description="overlaps of the orthogonal or given start, p rows of r numbers: '.5, 0; 0, .5'"
    )
    start_gram: tuple[tuple[float, ...], ...] | None = Field(
        description="Gram matrix of the rows of the given start, p rows of p numbers: '1, 0; 0, 1'"
    )
    start_rows: GivenRows | None = Field(
        description="the rows of the given start: a file FILE.npy of W, or of coordinates"
    )
    readout_start: ReadoutName | tuple[float, ...] = Field(
        description="entries of a: "
        + ", ".join(f"{name} {kind.meaning}" for name, kind in READOUT_STARTS.items())
        + ", or p numbers"
    )
    readout_between: Word = Field(description=f"the readout between steps: {between.DESCRIPTION}")
    bias: float = Field(description="standard deviation of frozen normal biases, 0 for none")
    bias_at: Literal["start", "readout"] = Field(
        description="start (biases in the steps and in the readout) or readout (only there)"
    )
    batches: Word = Field(description=batch_kinds.DESCRIPTION)
    loss: Word = Field(description=f"loss of the steps: {losses.DESCRIPTION}")
    residual: Literal["full", "labels"] = Field(description="full (y - f) or labels (y only)")
    label_transform: LabelTransform = Field(
        description="what the steps take for the label, an expression in y such as tanh(y)"
    )
    update: UpdateName = Field(
        description="what the step size multiplies: gradient, normalised (unit rows), "
        "orthogonal (its polar factor) or sign"
    )
    decay: float = Field(description="weight decay a step: W <- (1 - decay) W + step")
    rows: Literal["free", "normalised"] = Field(
        description="rows of W after a step: free, or normalised"
    )
    record: Word = Field(description=f"steps that are recorded: {recording.DESCRIPTION}")
    deflate: Literal[-1, 0, 1, 2] = Field(
        description="remove the fitted part of degree <= this from the labels, -1 for none, "
        "2 in the dense engine only"
    )
    noise: float = Field(description="standard deviation of label noise")
    corruption: float = Field(description="share of labels whose sign is flipped, where noise is 0")
    ridge: tuple[float, ...] | Literal["cv"] = Field(
        description="penalty of the readout: a number, several, or cv (leave-one-out)"
    )
    readout_batch: Literal["fresh", "last"] = Field(
        description="data of the readout: fresh or last"
    )
    readout_n: int = Field(description="samples the readout is fitted on, 0 for no readout")
    test_n: int = Field(description="samples it is tested on, 0 for no readout")
    inputs: InputLaw = Field(description=", ".join(law.form() for law in LAWS.values()))
    frame: str = Field(
        description="target directions for inputs other than gaussian: random, axes, or "
        "columns(NAME, ...) of a data set"
    )
    runs: int = Field(description="independent repetitions")
    seed: int = Field(description="seed; run k is the same for any number of runs")
    engine: Literal["auto", "deferred", "dense"] = Field(description="auto, deferred or dense")
    device: Literal["auto", "cpu", "gpu"] = Field(
        description="where samples are drawn and used: cpu, gpu, or auto (a GPU, if there is one, "
        "for the dense engine alone)"
    )
    precision: Literal["float32", "float64", "tf32", "bf16", "bf16x3"] = Field(
        description="float32, float64, or for products of the dense engine on a GPU tf32, bf16 "
        "or bf16x3"
    )
    spectra: int = Field(description="singular values to record, such as p, 0 for none")

    _given: dict[str, Any] = PrivateAttr(default_factory=dict)

    def __init__(
        self,
        target: str | Callable[..., Any] | Target | None = None,
        *,
        activation: str | Callable[[Any], Any] | Activation = "relu",
        d: Size | None = None,
        n: Size | None = None,
        p: Size = 8,
        steps: Size = 2,
        step_size: Size | Sequence[Size] = "giant",
        output_scale: str | int = "1/p",
        start: str = "symmetric",
        start_overlaps: str | Sequence[Sequence[float]] | None = None,
        start_gram: str | Sequence[Sequence[float]] | None = None,
        start_rows: str | Float[np.ndarray, "p q"] | GivenRows | None = None,
        readout_start: str | Sequence[float] = "signs",
        readout_between: str = "frozen",
        bias: Size = 0.0,
        bias_at: str = "start",
        batches: str = "fresh",
        loss: str = "square",
        residual: str = "full",
        label_transform: str | LabelTransform = "y",
        update: str = "gradient",
        decay: Size = 0.0,
        rows: str = "free",
        record: str = "all",
        deflate: Size = -1,
        noise: Size = 0.0,
        corruption: Size = 0.0,
        ridge: Size | Sequence[Size] = "cv",
        readout_batch: str = "fresh",
        readout_n: Size = "n",
        test_n: Size | None = None,
        inputs: str | InputLaw = "gaussian",
        frame: str = "random",
        runs: Size = 1,
        seed: Size = 0,
        engine: str = "auto",
        device: str = "auto",
        precision: str = "float32",
        spectra: Size = 0,
        **unknown: Never,
    ) -> None:
        given = {name: value for name, value in locals().items() if name in DEFAULTS}
        if unknown:
            raise _refusal(unknown)
        fields = {name: DEFAULTS[name] if v is None else v for name, v in given.items()} | {"n": n}
        try:
            super().__init__(**read_fields(fields))
        except ValidationError as error:
            raise InputError(_sentence(error)) from None
        self._given = given
        check_setting(self)

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
        told = {name: v for name, v in self._given.items() if v is not None}
        named = {name: v for name, v in told.items() if _differs(v, defaults[name])}
        target = shown(self.target.name)
        rest = [f"{name}={shown(v)}" for name, v in named.items() if name != "target"]
        return f"Setting({', '.join([target, *rest])})"

    __str__ = __repr__

    @property
    def turns(self) -> bool:
        """Whether all directions are alike but those known from the start."""
        return self.inputs.deferrable and UPDATES[self.update].turns

    @property
    def recorded(self) -> tuple[int, ...]:
        """The steps after which a run is recorded, the start (0) and the last among them."""
        return recording.recorded_steps(self.record, self.steps)

    @property
    def seen_again(self) -> bool:
        """Whether a step sees samples that a step before it has seen."""
        return batch_kinds.uses(self.batches, self.steps) > 1

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
    def dtype(self) -> type[np.float32 | np.float64]:
        """Type of the samples and of the arithmetic on them; sums over samples are in float64."""
        return np.float64 if self.precision == "float64" else np.float32

    @property
    def label_noise(self) -> LabelNoise:
        """What stands between the target and the labels."""
        return LabelNoise(self.noise, self.corruption)

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

    def __eq__(self, other: object) -> bool:
        """Equal in every field, however the sizes were given."""
        if not isinstance(other, Setting):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in type(self).model_fields)

    def __hash__(self) -> int:
        return hash(tuple(getattr(self, name) for name in type(self).model_fields))

    def vary(self, **changes: Any) -> Setting:
        """The setting with some fields changed, the others as given (n = '4d' follows d)."""
        return Setting(**(self._given | changes))

    @property
    def given(self) -> dict[str, Any]:
        """The fields as they were given, or their defaults: n may be the text 4d."""
        followed = self._given["n"] is None and not self.target.column
        return self._given | ({"n": BATCH} if followed else {})

    @property
    def unstorable(self) -> str | None:
        """Why the texts of ``as_dict`` do not give this setting back, None where they do."""
        texts = self._texts()
        for field, text in texts.items():
            held, read = getattr(self, field), _READERS[field]
            if getattr(held, "function", None) is not None:
                return f"{field} cannot be stored as a text, got the callable {text!r}"
            # What a file holds may change; what a text means does not.
            same = _reads_back if field == "start_rows" else _reads_back_once
            if not same(held, text, read):
                return f"{field} cannot be stored as a text, got what {text!r} does not give back"
        return None

    def _texts(self) -> dict[str, str]:
        return {
            "target": self.target.name,
            "activation": self.activation.name,
            "inputs": self.inputs.text,
            "label_transform": self.label_transform.text,
        } | ({} if self.start_rows is None else {"start_rows": self.start_rows.text})

    def as_dict(self) -> dict[str, Any]:
        """Field names and plain values: numbers, texts and lists.

        ``Setting(**as_dict())`` is the setting again, but for one with a note under ``unstorable``.
        """
        fields = {name: getattr(self, name) for name in type(self).model_fields} | self._texts()
        note = self.unstorable
        return {
            name: [list(v) if isinstance(v, tuple) else v for v in value]
            if isinstance(value, tuple)
            else value
            for name, value in fields.items()
        } | ({} if note is None else {"unstorable": note})


DEFAULTS: dict[str, Any] = signature_defaults(Setting)
"""What a field is when it is not given, from the signature; None stands for it too."""

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


# How the texts of a record are read again.
_READERS: dict[str, Callable[[str], object]] = {
    "target": read_target,
    "activation": make_activation,
    "inputs": make_inputs,
    "label_transform": make_transform,
    "start_rows": make_rows,
}


def _reads_back(value: object, text: str, read: Callable[[str], object]) -> bool:
    try:
        return read(text) == value
    except InputError:
        return False


_reads_back_once = lru_cache(maxsize=256)(_reads_back)


def _refusal(unknown: Mapping[str, object]) -> InputError:
    if "unstorable" in unknown:  # the record of a setting that no text gives back
        return InputError(str(unknown["unstorable"]))
    return unknown_name("key", min(unknown), DEFAULTS, "help(giantstep.Setting)")


def _sentence(error: ValidationError) -> str:
    """The first complaint of pydantic, in our form."""
    first = error.errors()[0]
    name = ".".join(str(part) for part in first["loc"][:1])
    message = first["msg"].replace("Input should be", "must be").replace("'", "")
    return f"{name} {message}, got {shown(first['input'])}"
