"""The record: everything that defines an experiment, validated where it is built."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from statistics import NormalDist
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, ValidationError, model_validator

from giantstep.errors import InputError
from giantstep.gaussian.tensors import information_exponent
from giantstep.language.functions import NUMPY, Namespace
from giantstep.language.quantity import quantity, whole
from giantstep.problem.activation import Activation, make_activation
from giantstep.problem.inputs import InputLaw, make_inputs
from giantstep.problem.target import Target, make_target

OutputScale = Literal["1/p", "1/sqrt(p)", "1"]
ReadoutStart = Literal["signs", "alternating", "gaussian", "uniform"]
Batches = Literal["fresh", "reused"]

FLOAT32_MAX = float(np.finfo(np.float32).max)


class Setting(BaseModel):
    """One experiment: target, network, sizes, steps, data.

    Sizes and step sizes may be given in terms of d, n and p (``n="4d"``, ``step_size="p*d^0.5"``);
    they are held as numbers.  ``vary`` gives the setting anew with some of the fields changed,
    those given in terms of others following along.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    target: Target = Field(description="expression such as 'x1 + He2(x1)*x2', name, or callable")
    activation: Activation = Field(
        description="relu, erf, tanh, sigmoid, softplus, gelu, silu, sin, or an expression in z"
    )
    d: int = Field(description="input dimension")
    n: int = Field(description="batch size, such as 4d or d^1.5")
    p: int = Field(description="number of neurons, may be given in terms of d")
    steps: int = Field(description="number of giant steps")
    step_size: tuple[float, ...] = Field(
        description="one size or one a step: a number, n^0.3, p*d^0.5, or giant"
    )
    output_scale: OutputScale = Field(description="1/p, 1/sqrt(p) or 1")
    start: Literal["symmetric", "sphere", "gaussian", "orthogonal"] = Field(
        description="rows of W: symmetric, sphere, gaussian or orthogonal"
    )
    start_overlaps: tuple[tuple[float, ...], ...] | None = Field(
        description="overlaps of the orthogonal start, p rows of r numbers"
    )
    readout_start: ReadoutStart = Field(
        description="entries of a: signs or alternating +-1, gaussian N(0, 1/p), uniform [-1, 1]"
    )
    batches: Batches = Field(description="fresh or reused")
    residual: Literal["full", "labels"] = Field(description="full (y - f) or labels (y only)")
    deflate: Literal[-1, 0, 1] = Field(
        description="remove the fitted part of degree <= this from the labels, -1 for none"
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
    inputs: InputLaw = Field(
        description="gaussian, rademacher, uniform, student(df), correlated(exponent), "
        "mixture(separation), data(FILE) or whitened(FILE)"
    )
    frame: Literal["random", "axes"] = Field(
        description="target directions for inputs other than gaussian: random or axes"
    )
    runs: int = Field(description="independent repetitions")
    seed: int = Field(description="seed; run k is the same for any number of runs")
    engine: Literal["auto", "deferred", "dense"] = Field(description="auto, deferred or dense")
    precision: Literal["float32", "float64", "tf32"] = Field(
        description="float32, float64, or tf32 (matrix products on a GPU)"
    )
    spectra: int = Field(description="singular values to record, 0 for none")

    _given: dict[str, Any] = PrivateAttr(default_factory=dict)

    def __init__(
        self, target: str | Callable[..., Any] | Target | None = None, **fields: Any
    ) -> None:
        given = dict(fields) if target is None else {"target": target, **fields}
        try:
            super().__init__(**given)
        except ValidationError as error:
            raise InputError(_sentence(error)) from None
        self._given = given

    @model_validator(mode="before")
    @classmethod
    def _resolve(cls, given: dict[str, Any]) -> dict[str, Any]:
        unknown = sorted(set(given) - set(cls.model_fields))
        if unknown:
            raise InputError(f"unknown key {unknown[0]!r}, expected one of {', '.join(DEFAULTS)}")
        fields = DEFAULTS | {k: v for k, v in given.items() if v is not None}
        if fields["target"] is None:
            raise InputError("target is missing")
        target = make_target(fields["target"])
        d = whole(fields["d"], {}, "d")
        p = whole(fields["p"], {"d": d}, "p")
        n = whole(fields["n"], {"d": d, "p": p}, "n")
        letters: dict[str, float] = {"d": d, "n": n, "p": p}
        steps = whole(fields["steps"], {}, "steps", least=0)
        fields |= {
            "target": target,
            "activation": make_activation(fields["activation"]),
            "d": d,
            "n": n,
            "p": p,
            "steps": steps,
            "step_size": _step_sizes(fields, target, letters, steps),
            "ridge": _ridges(fields["ridge"], letters),
            "readout_n": whole(fields["readout_n"], letters, "readout_n", least=0),
            "test_n": whole(fields["test_n"], letters, "test_n", least=0),
            "inputs": make_inputs(fields["inputs"]),
            "runs": whole(fields["runs"], {}, "runs"),
            "seed": whole(fields["seed"], {}, "seed", least=0),
            "spectra": whole(fields["spectra"], {}, "spectra", least=0),
            "noise": quantity(fields["noise"], {}, "noise"),
            "corruption": quantity(fields["corruption"], {}, "corruption"),
            "deflate": whole(fields["deflate"], {}, "deflate", least=-1),
            "output_scale": str(fields["output_scale"]),
        }
        return fields

    @model_validator(mode="after")
    def _consistent(self) -> Setting:
        r = self.target.r
        if self.d < r:
            raise InputError(f"d must be at least the {r} directions of the target, got {self.d}")
        if self.noise < 0:
            raise InputError(f"noise must not be negative, got {self.noise:g}")
        if not 0 <= self.corruption <= 1:
            raise InputError(f"corruption must be from 0 to 1, got {self.corruption:g}")
        if self.corruption > 0 and self.noise > 0:
            raise InputError(f"noise must be 0 where labels are corrupted, got {self.noise:g}")
        if self.start == "symmetric" and self.p % 2:
            raise InputError(f"p must be even for the symmetric start, got {self.p}")
        if self.seed >= 2**63:
            raise InputError(f"seed must be below 2^63, got {self.seed}")
        if (self.readout_n == 0) != (self.test_n == 0):
            raise InputError(
                "readout_n and test_n must both be positive, or both 0 for no readout, "
                f"got {self.readout_n} and {self.test_n}"
            )
        if self.readout_batch == "last" and self.readout_n not in (0, self.n):
            raise InputError(
                f"readout_n must be n = {self.n} on the last batch, got {self.readout_n}"
            )
        if self.start == "orthogonal" and self.p + r > self.d:
            raise InputError(
                f"p must be at most d - r = {self.d - r} for the orthogonal start, got {self.p}"
            )
        if self.start_overlaps is not None:
            self._check_overlaps(self.start_overlaps)
        self.inputs.check(self.d)
        return self

    def _check_overlaps(self, overlaps: tuple[tuple[float, ...], ...]) -> None:
        if self.start != "orthogonal":
            raise InputError(f"start_overlaps needs start = orthogonal, got {self.start!r}")
        shape = (self.p, self.target.r)
        for row in overlaps:
            if len(row) != len(overlaps[0]):
                raise InputError(
                    f"start_overlaps must have rows of {shape[1]} numbers, got {list(row)}"
                )
        found = (len(overlaps), len(overlaps[0]) if overlaps else 0)
        if found != shape:
            raise InputError(f"start_overlaps must have {shape[0]} rows of {shape[1]}, got {found}")
        for row in overlaps:
            if not math.hypot(*row) <= 1.0 + 1e-12:
                raise InputError(
                    f"start_overlaps must have rows of norm at most 1, got {list(row)}"
                )

    @property
    def scale(self) -> float:
        """s_p, the output scale as a number."""
        return output_scale(self.output_scale, self.p)

    @property
    def dtype(self) -> type[np.float32 | np.float64]:
        """Type of the samples and of the arithmetic on them; sums over samples are in float64."""
        return np.float64 if self.precision == "float64" else np.float32

    @property
    def noisy(self) -> bool:
        """Whether a label takes a normal variable of its own."""
        return self.noise > 0 or self.corruption > 0

    def labels(self, clean: Any, normals: Any, namespace: Namespace = NUMPY) -> Any:
        """y from f and one normal variable a label: f + noise, or -f for a share of the labels."""
        if self.corruption == 0:
            return clean + self.noise * normals
        return namespace.where(normals < self._flip, -clean, clean)

    def noisy_floor(self, floor: float) -> float:
        """The floor of noisy labels, from that of the clean ones.

        Flipped signs leave (1 - 2 corruption) of what can be predicted: E y^2 is the same, the
        predictable part E f^2 - floor shrinks by the square of that.
        """
        series = self.target.series
        power = float(np.sum(series.coefficients**2)) + series.tail
        return power - (1 - 2 * self.corruption) ** 2 * (power - floor) + self.noise**2

    @property
    def _flip(self) -> float:
        """Labels with a normal variable below this are flipped."""
        return math.inf if self.corruption == 1 else NormalDist().inv_cdf(self.corruption)

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

    def as_dict(self) -> dict[str, Any]:
        """Field names and plain values: numbers, texts and lists."""
        fields = {name: getattr(self, name) for name in type(self).model_fields}
        fields["target"] = self.target.name
        fields["activation"] = self.activation.name
        fields["inputs"] = self.inputs.text
        return {
            name: [list(v) if isinstance(v, tuple) else v for v in value]
            if isinstance(value, tuple)
            else value
            for name, value in fields.items()
        }


DEFAULTS: dict[str, Any] = {
    "target": None,
    "activation": "relu",
    "d": 1000,
    "n": "4d",
    "p": 8,
    "steps": 2,
    "step_size": "giant",
    "output_scale": "1/p",
    "start": "symmetric",
    "start_overlaps": None,
    "readout_start": "signs",
    "batches": "fresh",
    "residual": "full",
    "deflate": -1,
    "noise": 0.0,
    "corruption": 0.0,
    "ridge": "cv",
    "readout_batch": "fresh",
    "readout_n": "n",
    "test_n": 20_000,
    "inputs": "gaussian",
    "frame": "random",
    "runs": 1,
    "seed": 0,
    "engine": "auto",
    "precision": "float32",
    "spectra": 0,
}
"""What a field is when it is not given."""


def _step_sizes(
    fields: Mapping[str, Any], target: Target, letters: Mapping[str, float], steps: int
) -> tuple[float, ...]:
    given = fields["step_size"]
    sizes = _listed(given)
    if len(sizes) == 1:
        sizes *= steps
    if len(sizes) != steps:
        raise InputError(
            f"step_size must be one size or one for each of {steps} steps, got {given!r}"
        )
    numbers = []
    for size in sizes:
        if isinstance(size, str) and size.strip() == "giant":
            number = giant_step_size(fields, target, letters)
        else:
            number = quantity(size, letters, "step_size")
        if abs(number) > FLOAT32_MAX:
            raise InputError(f"step_size overflows float32, got {size!r}")
        numbers.append(number)
    return tuple(numbers)


def _listed(value: Any) -> list[Any]:
    """One value, several, or a text with commas, as a list."""
    if isinstance(value, str):
        return list(value.split(","))
    if isinstance(value, np.ndarray):
        return list(value.ravel().tolist())
    return list(value) if isinstance(value, list | tuple) else [value]


def output_scale(text: str, p: float) -> float:
    """s_p as a number; an unknown text is refused by the record itself."""
    return {"1/p": 1.0 / p, "1/sqrt(p)": 1.0 / math.sqrt(p)}.get(text, 1.0)


def giant_step_size(
    fields: Mapping[str, Any], target: Target, letters: Mapping[str, float]
) -> float:
    """The size at which one update is of order one: d^((l-1)/2) / (s_p |a|), l the leap index.

    The update of a neuron is eta s_p a_i b_l/(l-1)! T_l[m^(l-1)] with overlaps m of order d^(-1/2)
    (Theorem 1 of arXiv 2305.18270: eta = p d^((l-1)/2) for output scale 1/p and signs).  Deflated
    labels count from the first degree that is left.
    """
    p, d = letters["p"], letters["d"]
    scale = output_scale(str(fields["output_scale"]), p)
    # Root mean square of the entries of a.
    sizes = {"gaussian": 1.0 / math.sqrt(p), "uniform": 1.0 / math.sqrt(3.0)}
    series = target.series
    removed = max(0, whole(fields["deflate"], {}, "deflate", least=-1))
    left = series.select(series.degrees > removed)
    leap = information_exponent(left) or 1
    return d ** ((leap - 1) / 2) / (scale * sizes.get(str(fields["readout_start"]), 1.0))


def _ridges(value: Any, letters: Mapping[str, float]) -> tuple[float, ...] | str:
    if isinstance(value, str) and value.strip() == "cv":
        return "cv"
    numbers = tuple(quantity(ridge, letters, "ridge") for ridge in _listed(value))
    if not numbers:
        raise InputError("ridge is empty, got []")
    for number in numbers:
        if number <= 0:
            raise InputError(f"ridge must be positive, got {number:g}")
    return numbers


def _sentence(error: ValidationError) -> str:
    """The first complaint of pydantic, in our form."""
    first = error.errors()[0]
    if first["type"] == "value_error":
        return str(first["ctx"]["error"])
    name = ".".join(str(part) for part in first["loc"][:1])
    message = first["msg"].replace("Input should be", "must be").replace("'", "")
    return f"{name} {message}, got {first['input']!r}"
