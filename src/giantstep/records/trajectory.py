"""What a reader wants of a run: the Trajectory, its cosines and its alignment with subspaces."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float, Int

from giantstep.errors import InputError
from giantstep.problem.setting import Setting
from giantstep.records.drawing import Drawn
from giantstep.records.draws import draw_runs
from giantstep.records.file import restored, trajectory_bytes, write_whole
from giantstep.records.origin import Origin
from giantstep.records.spectrum import Spectrum

if TYPE_CHECKING:
    import pandas
    import xarray

SPECTRA = ("weights", "gradients", "features")
"""The matrices whose singular values a Trajectory may hold."""

ROW_NUMBERS = 2**23
"""Rows of W after the last step of all runs are kept up to this many numbers, 64 MiB."""

GRAM_NUMBERS = 2**22
"""Gram matrices of all runs and steps are kept up to this many numbers, 32 MiB."""

DEPENDENT = 1e-10
"""Rows whose squared length outside the others is below this share of the longest row's carry no
direction of their own: rounding of a Gram matrix leaves 1e-16."""


@dataclass(frozen=True)
class Trajectory(Drawn):
    """Runs by recorded steps of everything observed, or predicted; arrays are float64.

    ``overlap`` is <w_i, w*_k>, ``norms`` |w_i|, ``gram`` <w_i, w_j> (left out where p x p matrices
    of all runs and steps would fill the memory), ``span`` the matrix R with
    R^T R = M^T (W W^T)^+ M, M = W W*^T, from which the principal angles between the rows of W and
    any directions of the target follow.  Errors are mean squared errors with label noise counted;
    ``test_error`` is that of the ridge readout with the penalty ``ridge``, ``network_error`` that
    of the network with its own a; ``*_by_ridge`` are there for penalties that are listed.
    ``weights``, ``gradients`` and ``features`` are the spectra of
    W, of the gradient and of sigma(X W^T)/sqrt(readout_n).  ``readout`` is a at the start,
    ``last_readout`` after the last step where it moves.  ``rows`` are those of W after the last
    step, to go on from (``start = given`` with ``start_rows``): W itself from the dense engine,
    from the deferred one coordinates along the target directions, then along those that the law of
    the inputs knows, then along p others; left out where they would fill the memory.
    ``theory`` is the name of the theory of a prediction, ``many_neurons`` whether it is one of many
    neurons, whose single rows are mostly noise, ``from_runs`` whether it simulates other runs,
    ``notes`` what it does not cover, ``origin`` the versions, device, precision, revision and time
    of a record that was read from a file.  The rows
    of a prediction are for all runs, or with ``own_runs`` for those of its setting in turn; of very
    many neurons they may be those of a sample.

    A field ``*_uncertainty`` is the standard error of its observable in a single run: of the test
    samples in a simulation, of quadrature in theory, where ``uncertainty_freedom`` are its degrees
    of freedom.  ``relative_uncertainty`` is a share of every value of a prediction, for what its
    theory leaves out at this size; ``readout_relative_uncertainty`` the same of the readout's
    errors, where those are of another theory.  What is not estimated is not there.  A field
    ``*_deviation`` of a prediction is the standard deviation over runs of what one run has; of many
    rows it may be known for the first ones only, and is NaN in the others.
    ``overlap_shared_deviation`` is the part of ``overlap_deviation`` by which all rows of a run
    move together, with the sign of each row.

    A network of arXiv 2305.18270, f(x) = s_p sum_i a_i sigma(<w_i, x>), observed after every
    recorded step; W -> ``rows``, w*_k the target directions.
    """

    setting: Setting
    engine: str
    seconds: float
    overlap: Float[np.ndarray, "runs t p r"]
    norms: Float[np.ndarray, "runs t p"]
    gram: Float[np.ndarray, "runs t p p"] | None = None
    span: Float[np.ndarray, "runs t r r"] | None = None
    gradient_cosine: Float[np.ndarray, "runs s p r"] | None = None
    readout: Float[np.ndarray, "runs p"] | None = None
    last_readout: Float[np.ndarray, "runs p"] | None = None
    rows: Float[np.ndarray, "runs p q"] | None = None
    train_error: Float[np.ndarray, "runs t"] | None = None
    test_error: Float[np.ndarray, "runs t"] | None = None
    network_error: Float[np.ndarray, "runs t"] | None = None
    ridge: Float[np.ndarray, "runs t"] | None = None
    train_error_by_ridge: Float[np.ndarray, "runs t k"] | None = None
    test_error_by_ridge: Float[np.ndarray, "runs t k"] | None = None
    weights: Spectrum | None = None
    gradients: Spectrum | None = None
    features: Spectrum | None = None
    overlap_uncertainty: Float[np.ndarray, "runs t p r"] | None = None
    norms_uncertainty: Float[np.ndarray, "runs t p"] | None = None
    gram_uncertainty: Float[np.ndarray, "runs t p p"] | None = None
    gradient_cosine_uncertainty: Float[np.ndarray, "runs s p r"] | None = None
    train_error_uncertainty: Float[np.ndarray, "runs t"] | None = None
    test_error_uncertainty: Float[np.ndarray, "runs t"] | None = None
    network_error_uncertainty: Float[np.ndarray, "runs t"] | None = None
    uncertainty_freedom: int | None = None
    relative_uncertainty: float = 0.0
    readout_relative_uncertainty: float = 0.0
    overlap_deviation: Float[np.ndarray, "runs t p r"] | None = None
    overlap_shared_deviation: Float[np.ndarray, "runs t p r"] | None = None
    norms_deviation: Float[np.ndarray, "runs t p"] | None = None
    gram_deviation: Float[np.ndarray, "runs t p p"] | None = None
    theory: str | None = None
    many_neurons: bool = False
    from_runs: bool = False
    own_runs: bool = False
    notes: tuple[str, ...] = ()
    interrupted: bool = field(default=False, compare=False)
    origin: Origin | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        what = (
            f"simulated, {self.engine} engine" if self.theory is None else f"theory {self.theory}"
        )
        shape = " x ".join(map(str, self.overlap.shape))
        errors = ""
        if self.test_error is not None:
            first, last = self.test_error.mean(axis=0)[[0, -1]].tolist()
            errors = f", test error {first:.4g} -> {last:.4g}"
        return f"Trajectory({what}: overlap {shape} (runs, steps, p, r){errors}; {self.setting!r})"

    @property
    def runs(self) -> int:
        return len(self.overlap)

    @property
    def rows_a_run(self) -> int:
        """Rows of a prediction for each run, from the same start: row j is of run j mod runs."""
        runs, rows = self.setting.runs, len(self.overlap)
        starts = self.overlap[:, 0]
        repeated = rows % runs == 0 and np.array_equal(
            starts, np.resize(starts[:runs], starts.shape)
        )
        return rows // runs if self.own_runs and repeated else 1

    def by_run(self, values: Float[np.ndarray, "rows ..."]) -> Float[np.ndarray, "runs ..."]:
        """The mean over the rows of each run, where there are several."""
        each = self.rows_a_run
        return values.reshape(each, len(values) // each, *values.shape[1:]).mean(axis=0)

    def spread_of_run(self, values: Float[np.ndarray, "rows ..."]) -> Float[np.ndarray, "..."]:
        """Standard deviation of one run from its start, by its several rows; 0 where it has one."""
        each = self.rows_a_run
        if each == 1:
            return np.zeros(values.shape[1:])
        by_run = values.reshape(each, len(values) // each, *values.shape[1:])
        variance: Float[np.ndarray, "..."] = by_run.var(axis=0, ddof=1).mean(axis=0)
        return np.sqrt(variance)

    @property
    def steps(self) -> Int[np.ndarray, " t"]:
        """The steps after which the run was recorded, the start being 0."""
        return np.array(self.setting.recorded)

    @property
    def cosine(self) -> Float[np.ndarray, "runs t p r"]:
        """<w_i, w*_k> / |w_i|."""
        return self.overlap / self.norms[..., None]

    def arrays(self) -> dict[str, Float[np.ndarray, "..."]]:
        """All that was observed, by name; that of a spectrum as ``weights.edge``; not the rows."""
        named = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "rows"}
        arrays = {name: value for name, value in named.items() if isinstance(value, np.ndarray)}
        for matrix in SPECTRA:
            if named[matrix] is not None:
                parts = named[matrix].arrays()
                arrays |= {f"{matrix}.{name}": value for name, value in parts.items()}
        return arrays

    def observables(self) -> dict[str, Float[np.ndarray, "runs ..."]]:
        """The arrays that have a run as their first axis."""
        shared = {f"{matrix}.{name}" for matrix in SPECTRA for name in ("grid", "density")}
        return {name: value for name, value in self.arrays().items() if name not in shared}

    def mean(self) -> dict[str, Float[np.ndarray, "..."]]:
        """Each observable averaged over the runs."""
        return {name: value.mean(axis=0) for name, value in self.observables().items()}

    def standard_error(self) -> dict[str, Float[np.ndarray, "..."]]:
        """Standard error of each mean; needs two runs."""
        if self.runs < 2:
            raise InputError(f"standard errors need at least 2 runs, got {self.runs}")
        return {
            name: value.std(axis=0, ddof=1) / np.sqrt(self.runs)
            for name, value in self.observables().items()
        }

    def save(self, path: str | Path) -> None:
        """Write everything to one file, all of it or nothing; ``Trajectory.read`` gives it back."""
        write_whole(Path(path), trajectory_bytes(self))

    @classmethod
    def read(cls, path: str | Path) -> Trajectory:
        """The record of a file; InputError for one that is truncated or foreign."""
        return restored(Path(path))

    def to_pandas(self) -> pandas.DataFrame:
        """A data frame of pandas with a row for each run and step, where that is installed.

        Its columns are d, n, p, run, step, the mean length of the rows, medians of cosines over
        neurons, and errors.  A prediction has a row for each step, and its theory in the place of
        the run.
        """
        from giantstep.records.table import trajectory_table

        return trajectory_table(self).to_pandas()

    def to_xarray(self) -> xarray.Dataset:
        """The same as a data set of xarray over runs and steps, where that is installed."""
        from giantstep.records.table import trajectory_table

        return trajectory_table(self).to_xarray()

    def alignment(self, basis: Float[np.ndarray, "k r"]) -> Float[np.ndarray, "runs t p"]:
        """|P_U w_i| / |w_i| for a subspace U given by orthonormal rows in target coordinates."""
        return np.linalg.norm(self.overlap @ basis.T, axis=-1) / self.norms

    def drawn(self, runs: int = 64) -> Trajectory:
        """Overlaps, lengths and spans of at least so many runs drawn around a prediction.

        What one run shows of a direction that is not learned is its fluctuation: the magnitudes of
        a prediction are those of its runs.  Of a simulation the record itself.
        """
        return self if self.theory is None else draw_runs(self, runs)

    def principal_cosines(self, basis: Float[np.ndarray, "k r"]) -> Float[np.ndarray, "runs t k"]:
        """Cosines of the principal angles between the rows of W and U, largest first."""
        if self.span is None:
            raise InputError(f"the {self.engine} record does not hold the span of the rows")
        return principal_cosines(self.span, basis)

    def summary(self) -> dict[str, Any]:
        """What the record is of, as plain values; the arrays are not among them."""
        return {
            "setting": self.setting.as_dict(),
            "engine": self.engine,
            "theory": self.theory,
            "seconds": self.seconds,
            "runs": self.runs,
            "interrupted": self.interrupted,
            "notes": list(self.notes),
        }


def keeps_gram(setting: Setting) -> bool:
    """Whether the p x p Gram matrices of all runs and steps are recorded."""
    return setting.runs * len(setting.recorded) * setting.p**2 <= GRAM_NUMBERS


def span_factor(
    overlap: Float[np.ndarray, "p r"],
    gram: Float[np.ndarray, "p p"],
    longest: float | None = None,
) -> Float[np.ndarray, "r r"]:
    """R with R^T R = M^T Q^+ M, M = W W*^T and Q = W W^T.

    Pivoted Cholesky: Q = L L^T on k independent rows (the others lie in their span up to
    DEPENDENT), so that L^-1 M holds the coordinates of the projections of the w* on that span.
    ``longest`` -> squared length of the longest neuron, where these rows stand for more neurons.
    """
    # LAPACK itself: solve_triangular would double the time that a few neurons take.
    from scipy.linalg.lapack import dpstrf, dtrtrs

    r = overlap.shape[1]
    largest = float(np.max(np.diagonal(gram))) if longest is None else longest
    factor = np.zeros((r, r))
    if largest > 0:
        lower, pivots, rank, _ = dpstrf(gram, lower=1, tol=DEPENDENT * largest)
        rows = overlap[pivots[:rank] - 1]
        seen, _ = dtrtrs(lower[:rank, :rank], rows, lower=1)
        reduced = np.linalg.qr(seen, mode="r")
        factor[: len(reduced)] = reduced
    return factor


def principal_cosines(
    span: Float[np.ndarray, "*n r r"], basis: Float[np.ndarray, "k r"]
) -> Float[np.ndarray, "*n k"]:
    """Singular values of R U^T: cosines of the principal angles, largest first.

    With fewer rows than k the missing cosines are 0.
    """
    return np.minimum(np.linalg.svd(span @ basis.T, compute_uv=False), 1.0)
