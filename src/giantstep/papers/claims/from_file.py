"""Claims that a user wrote down in a Python file: the file is imported, and so is run."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterator
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

from giantstep.errors import InputError, shown
from giantstep.papers.claims import CLAIMS
from giantstep.papers.claims.record import Claim
from giantstep.problem.files import check_file


def claims_in_file(path: Path) -> dict[str, Claim]:
    """The claims of a Python file by identifier.

    They stand at its top level, each under a name or several in a list or tuple.  Files beside it
    can be imported from it, as from a script.
    """
    claims: dict[str, Claim] = {}
    for claim in _top_level(_imported(path)):
        if claim.id in CLAIMS:
            raise InputError(
                f"claims of a file must have identifiers of their own, got {shown(claim.id)}, "
                "which the package has"
            )
        if claims.setdefault(claim.id, claim) is not claim:
            raise InputError(f"file must have an identifier once, got {shown(claim.id)} twice")
    if not claims:
        raise InputError(
            f"file must have a Claim at its top level, got {str(path)!r} without one: "
            "claim = Claim(...)"
        )
    return claims


def _imported(path: Path) -> ModuleType:
    """The module of a file; what stops it is told in one sentence with its line."""
    check_file(path, "file cannot be read, got")
    name = f"giantstep_claims_{path.stem}"
    loader = SourceFileLoader(name, str(path.resolve()))
    spec = spec_from_loader(name, loader)
    assert spec is not None
    module = module_from_spec(spec)
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.append(folder)
    sys.modules[name] = module
    try:
        loader.exec_module(module)
    except OSError as error:
        if error.filename != str(path.resolve()):
            raise
        raise InputError(f"file cannot be read, got {str(path)!r}: {error.strerror}") from None
    except (Exception, SystemExit) as error:
        raise InputError(
            f"file must be Python that runs, got {str(path)!r}{_line(error, path)}: "
            f"{type(error).__name__}: {error}"
        ) from None
    return module


def _line(error: BaseException, path: Path) -> str:
    """Where in the file an exception came from."""
    if isinstance(error, SyntaxError):
        return ""  # its message has the line
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(path.resolve())]
    return f", line {lines[-1]}" if lines else ""


def _top_level(module: ModuleType) -> Iterator[Claim]:
    """Claims at the top level of a module, those that it imports from the package left out."""
    for value in list(vars(module).values()):
        members = value if isinstance(value, list | tuple) else (value,)
        for member in members:
            if isinstance(member, Claim) and CLAIMS.get(member.id) is not member:
                yield member
