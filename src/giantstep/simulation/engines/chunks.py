"""How the dense engine cuts a batch into chunks that fit the memory it is given."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from giantstep.errors import InputError
from giantstep.language.units import in_bytes
from giantstep.problem.batches import set_size
from giantstep.problem.setting import Setting
from giantstep.simulation.engines.place import Place
from giantstep.simulation.engines.samples import block_size

# A chunk of this many numbers keeps a CPU's caches and a GPU's cores busy.
CHUNK_NUMBERS = {"cpu": 2**23, "gpu": 2**28}


@dataclass(frozen=True)
class Plan:
    """How a setting is cut up: samples a chunk, and the bytes of all arrays at the peak."""

    chunk: int
    held: bool
    bytes: int


def plan(setting: Setting, memory: int, place: Place) -> Plan:
    """The largest useful chunk within ``memory`` bytes; InputError if not even one block fits.

    A chunk is made of whole blocks, or of all samples where they are fewer than that, with as many
    samples for each device.
    """
    d, p, size = setting.d, setting.p, np.dtype(setting.dtype).itemsize
    # W, target directions, a chunk's gradient, the sum of gradients and copies in float64; Gram
    # matrices with what is made of them and the normal equations, six square matrices in float64.
    square = p if setting.readout_n else min(p, d)
    fixed = p * d * (2 * size + 16) + setting.target.r * d * 2 * size + 6 * 8 * square * square
    if setting.deflate == 2:
        # The fit of degree 2: two sums in float64, two parts of a chunk, and the matrix itself.
        fixed += d * d * (2 * 8 + 4 * size)
    # Every device has these, and works on a chunk of its own.
    fixed, most = fixed * place.count, CHUNK_NUMBERS["cpu" if place.on_cpu else "gpu"] * place.count
    # Ten copies of a chunk: two in flight, on the host and on the device, their transposes in the
    # matrix products, and what the allocator keeps (measured: 8 to 10, benchmarks/dense.py); then
    # preactivations, slopes, coefficients and float64 features.
    sample = 10 * d * size + p * (4 * size + 16)
    block = -(-block_size(d) // place.count) * place.count
    batch = set_size(setting.batches, setting.n) * d * size
    held = not setting.batches.kind.fresh and fixed + batch + block * sample <= memory // 2
    room = memory - fixed - (batch if held else 0)
    blocks = min(room // (block * sample), most // (block * (d + p)))
    largest = max(set_size(setting.batches, setting.n), setting.readout_n, setting.test_n)
    # A batch that is smaller than a block is drawn by itself.
    chunk = min(block * max(1, blocks), -(-largest // place.count) * place.count)
    total = fixed + chunk * sample + (batch if held else 0)
    if total > memory:
        raise InputError(
            f"memory must be at least {in_bytes(total)} for the dense engine at d = {d:,} and "
            f"p = {p:,}, got {in_bytes(memory)}"
        )
    return Plan(chunk, held, total)
