"""The fitted estimator as a file: skops where it is installed, else joblib."""

from __future__ import annotations

import io
from importlib.util import find_spec
from typing import Any

WARNING = (
    "Load such a file only if you trust where it comes from, and with the versions of giantstep "
    "and scikit-learn that wrote it."
)
"""What must be said of a saved estimator: loading one can run code."""


def model_name() -> str:
    """Name of the file: its end says what can read it."""
    return "model.skops" if find_spec("skops") is not None else "model.joblib"


def dump_estimator(estimator: Any) -> bytes:
    """The bytes of the file."""
    if find_spec("skops") is not None:
        from skops.io import dumps

        return dumps(estimator)
    import joblib

    buffer = io.BytesIO()
    joblib.dump(estimator, buffer, compress=3)
    return buffer.getvalue()


def loading_words(name: str) -> str:
    """How a saved estimator is read again, in a line of Python."""
    if name.endswith(".skops"):
        return f'skops.io.load("{name}", trusted=skops.io.get_untrusted_types(file="{name}"))'
    return f'joblib.load("{name}")'
