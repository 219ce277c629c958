"""A regressor and a classifier that grow their features by giant steps, and say what they found."""

from importlib.util import find_spec

if find_spec("sklearn") is None:
    raise ImportError("giantstep.estimator needs scikit-learn: pip install 'giantstep[sklearn]'")
