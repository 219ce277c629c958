"""Threads: BLAS keeps to one inside them and gets its own back, whatever happens in between."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator

import numpy as np
import pytest

from giantstep.problem.setting import Setting
from giantstep.simulation.simulate import simulate
from giantstep.simulation.threads import (
    added_up,
    blas,
    cores,
    ordered,
    single_blas,
    submit,
    workers,
)


def numbers() -> set[int]:
    """Threads of the BLAS libraries."""
    return {library["num_threads"] for library in blas().info()}


@pytest.fixture(autouse=True)
def two_blas_threads() -> Iterator[None]:
    """Two threads, so that one is different, also where the tests run with one."""
    with blas().limit(limits=2):
        assert numbers() == {2}
        yield


@pytest.mark.parametrize(
    ("n", "few", "expected"),
    [(9000, 4, (True, 1)), (9000, 3, (True, 1)), (4096, 4, (False, 1)), (4096, 3, (False, 2))],
)
def test_blas_has_one_thread_inside_a_worker_and_its_own_afterwards(
    n: int, few: int, expected: tuple[bool, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Blocks are 4096 samples; a single one runs in the thread of the caller, not in a worker.

    There BLAS has one thread only if the p = 4 neurons are few.
    """
    monkeypatch.setattr("giantstep.simulation.simulate.FEW_NEURONS", few)
    found: set[tuple[bool, int]] = set()

    def watched(z: np.ndarray) -> np.ndarray:
        worker = threading.current_thread().name.startswith("giantstep")
        if z.size > 1:  # not the first look at what it returns
            found.update((worker, number) for number in numbers())
        return np.maximum(z, 0.0)

    setting = Setting("x1", activation=watched, d=100, n=n, p=4, readout_n=n, test_n=n)
    found.clear()
    simulate(setting)
    assert found == {expected}
    assert numbers() == {2}


def test_the_number_from_before_comes_back_when_limits_overlap() -> None:
    """Noted and restored by each of two, the number from before would in the end be one."""
    first, second = single_blas(), single_blas()
    first.__enter__()
    second.__enter__()
    assert numbers() == {1}
    first.__exit__(None, None, None)
    # The other still works.
    assert numbers() == {1}
    second.__exit__(None, None, None)
    assert numbers() == {2}


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_an_interrupted_run_gives_the_threads_back(error: type[BaseException]) -> None:
    def stop(share: float, samples: int) -> None:
        assert numbers() == {1}
        raise error

    with pytest.raises(error) as caught:
        simulate(Setting("x1", d=100, n=20_000, p=4), progress=stop)
    # The traceback still holds the frames of the run.
    assert caught.tb is not None
    assert numbers() == {2}


def test_pools_have_the_processors_of_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {3, 5, 8}, raising=False)
    assert cores() == 3


def test_errstate_reaches_the_threads() -> None:
    def overflow(index: int) -> list[np.ndarray]:
        return [np.full(3, 1e300) * 1e300]

    with np.errstate(over="ignore"):
        assert np.all(np.isinf(added_up(ordered(overflow, 4))[0]))
        assert np.all(np.isinf(submit(workers(), overflow, 0).result()[0]))
    with np.errstate(over="raise"), pytest.raises(FloatingPointError):
        added_up(ordered(overflow, 4))


def test_a_process_of_several_has_one_thread_of_every_blas() -> None:
    """SciPy brings a BLAS of its own, which is loaded later than NumPy's."""
    script = """
import numpy, threadpoolctl
from giantstep.simulation.threads import cores, share_processors
share_processors()
import scipy.linalg
found = {library["num_threads"] for library in threadpoolctl.threadpool_info()}
print(found, cores())
"""
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "2", "OMP_NUM_THREADS": "2"}
    said = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
    ).stdout
    assert said == "{1} 1\n"
