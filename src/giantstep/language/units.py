"""Times, bytes and counts as a person says them."""

from __future__ import annotations


def duration(seconds: float) -> str:
    """A time in the unit that suits it."""
    for unit, size in (("days", 86400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= 1.5 * size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.2g} s"


def in_bytes(count: float) -> str:
    """A number of bytes in the unit that suits it."""
    for unit, power in (("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if count >= 2**power:
            return f"{count / 2**power:.3g} {unit}"
    return f"{count:.0f} bytes"


def amount(count: float) -> str:
    """A number of things: 640, 12,000, 71 million, 3.2 x 10^17."""
    if count >= 1e15:
        digits, power = f"{count:.1e}".split("e")
        return f"{digits} x 10^{int(power)}"
    for word, unit in (("trillion", 1e12), ("billion", 1e9), ("million", 1e6)):
        if count >= unit:
            return f"{float(f'{count / unit:.2g}'):g} {word}"
    return f"{float(f'{count:.2g}'):,.0f}"
