"""Samples spread over two processes, and over eight virtual devices: the same run.

Those that the host draws are spread over processes, those that devices draw over devices.  Relative
to the largest entry results differ by at most 1e-5 in float32 and 1e-12 in float64.
"""

import json
import os
import socket
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import jax
import numpy as np
import pytest

from giantstep import Setting, simulate
from giantstep.simulation.engines import place
from giantstep.simulation.engines.dense import DenseEngine
from giantstep.simulation.engines.place import LIBRARY, Place

PROGRAM = """
import json, sys
import jax

drawn, address, number = sys.argv[1:]
if address:
    jax.distributed.initialize(address, 2, int(number))
from tests.simulation.engines.test_place import observed

print(json.dumps(observed(drawn)))
"""

Found = dict[str, list[list[float]]]


def observed(drawn: str) -> tuple[int, Found]:
    """Devices, and what a run shows in both precisions, on samples drawn on the host or not."""
    found = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DenseEngine, "_host_chunk", getattr(DenseEngine, drawn))
        for precision in ("float32", "float64"):
            fields: dict[str, Any] = {"d": 700, "n": 3001, "p": 6, "noise": 0.3, "deflate": 1}
            fields |= {"readout_n": 1003, "test_n": 999, "ridge": 0.01, "step_size": 2.0}
            setting = Setting("x1 + x1*x2", engine="dense", precision=precision, **fields)
            run = simulate(setting, memory=60 * 2**20)
            assert run.gram is not None
            assert run.test_error is not None
            found[precision] = [v.ravel().tolist() for v in (run.overlap, run.gram, run.test_error)]
    return jax.device_count(), found


def started(devices: int, *arguments: str) -> subprocess.Popen[str]:
    environment = os.environ | {
        "XLA_FLAGS": f"--xla_force_host_platform_device_count={devices}",
        "JAX_PLATFORMS": "cpu",
    }
    command = [sys.executable, "-c", PROGRAM, *arguments]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


def answer(process: subprocess.Popen[str]) -> tuple[int, Found]:
    output, _ = process.communicate(timeout=900)
    assert process.returncode == 0
    count, found = json.loads(output.splitlines()[-1])
    return count, found


def differences(one: Found, two: Found) -> list[float]:
    """The largest relative to the largest entry, in float32 and in float64."""
    return [
        max(
            float(np.max(np.abs(np.subtract(a, b))) / np.max(np.abs(a)))
            for a, b in zip(one[precision], two[precision], strict=True)
        )
        for precision in ("float32", "float64")
    ]


@pytest.mark.slow
def test_spread_samples_are_the_same_run() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    pair = [started(1, "_host_chunk", address, str(number)) for number in range(2)]
    eight = started(8, "_device_chunk", "", "0")
    alone = {drawn: observed(drawn)[1] for drawn in ("_host_chunk", "_device_chunk")}
    for process, count, drawn in (
        *((process, 2, "_host_chunk") for process in pair),
        (eight, 8, "_device_chunk"),
    ):
        there, found = answer(process)
        assert there == count
        single, double = differences(alone[drawn], found)
        assert single < 1e-5
        assert double < 1e-12
    # Other samples are another run.
    assert min(differences(*alone.values())) > 1e-3


def test_products_on_a_gpu_are_those_of_its_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a GPU: what is asked of the compiler there, and that it knows it."""
    assert Place().options is None
    monkeypatch.delenv("XLA_FLAGS", raising=False)
    monkeypatch.setattr(place, "_devices", lambda kind: [SimpleNamespace(platform="gpu")])
    gpu = Place()
    assert gpu.options == LIBRARY
    monkeypatch.setenv("XLA_FLAGS", "--xla_gpu_enable_triton_gemm=true")
    assert Place().options is None
    matrix = np.arange(6.0).reshape(2, 3)
    assert np.array_equal(gpu.compiled(lambda x: x @ x.T)(matrix), matrix @ matrix.T)
    gpu.options = {"xla_gpu_enable_no_such_thing": False}
    with pytest.raises(RuntimeError, match="no_such_thing"):
        gpu.compiled(lambda x: x @ x.T)(matrix)
