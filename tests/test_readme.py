"""The Python of the README runs as it stands."""

import re
from pathlib import Path

import pytest

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_block_runs(number: int) -> None:
    exec(compile(BLOCKS[number], f"README.md, block {number}", "exec"), {})


def test_there_are_blocks() -> None:
    assert len(BLOCKS) >= 2
