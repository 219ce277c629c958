"""The panels of a figure with what made them: computed, written as JSON, and stored in the package.

What is stored are the numbers that a figure draws, at its full size.  ``make figures`` computes
them anew: an installed package does not write into itself.
"""

from __future__ import annotations

import json
import os
import platform
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, TypeAdapter

from giantstep import __version__
from giantstep.papers.figures.record import Reproduction
from giantstep.records.file import write_whole
from giantstep.records.origin import LIBRARIES
from giantstep.records.plot import Panel


@dataclass(frozen=True)
class FigureData:
    """The panels of a figure, the sizes and the seed that they are of, and what computed them."""

    name: str
    sizes: Mapping[str, Any]
    seed: int
    command: str
    versions: Mapping[str, str]
    device: str
    date: str
    seconds: float
    panels: Sequence[Annotated[Panel, Field(discriminator="kind")]]
    caption: str = ""

    @property
    def origin(self) -> str:
        """Where the numbers come from, in one line."""
        return f"{self.command} ({self.seconds:.0f} s on {self.device}, {self.date})"

    def as_json(self) -> str:
        """One line a panel, numbers rounded; a NaN is refused."""
        record = rounded(asdict(self))
        panels = [json.dumps(panel, allow_nan=False) for panel in record.pop("panels")]
        head = json.dumps(record, indent=1, allow_nan=False).removesuffix("\n}")
        return head + ',\n "panels": [\n' + ",\n".join(panels) + "\n]}\n"


def computed(figure: Reproduction, full: bool, seed: int) -> FigureData:
    """Simulate and predict a figure's panels."""
    sizes = figure.full if full else figure.quick
    begin = time.perf_counter()
    panels = figure.panels(seed, **sizes)
    return FigureData(
        name=figure.name,
        sizes=sizes,
        seed=seed,
        command=f"giantstep reproduce {figure.name} --run{' --full' * full} --seed {seed}",
        versions={"giantstep": __version__} | {name: version(name) for name in LIBRARIES},
        device=_device(),
        date=datetime.now(UTC).date().isoformat(),
        seconds=time.perf_counter() - begin,
        panels=panels,
        caption=figure.caption_of(sizes),
    )


def stored(name: str) -> FigureData | None:
    """What the package holds of a figure, None where it holds nothing."""
    path = files("giantstep.papers.figures") / "data" / f"{name}.json"
    return read(path.read_text(encoding="utf-8")) if path.is_file() else None


def read(text: str) -> FigureData:
    """What ``as_json`` wrote; everything is validated."""
    return TypeAdapter(FigureData).validate_json(text)


def write(data: FigureData, path: Path) -> None:
    write_whole(path, data.as_json().encode())


def _device() -> str:
    """The processor, and the accelerator if the dense engine found one."""
    processor = f"{os.cpu_count()} cores, {platform.machine()}"
    kinds = set()
    if "jax" in sys.modules:
        kinds = {device.device_kind for device in sys.modules["jax"].devices()} - {"cpu"}
    return ", ".join([*sorted(kinds), processor])


def rounded(value: Any) -> Any:
    """A record with floats of six significant digits: finer than a picture or a standard error."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, Mapping):
        return {key: rounded(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(part) for part in value]
    return value
