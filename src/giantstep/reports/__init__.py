"""Reports: what can be learned from a table, measured on rows that no fit has seen."""

from importlib.util import find_spec

if find_spec("sklearn") is None:
    raise ImportError("giantstep.reports needs scikit-learn: pip install 'giantstep[sklearn]'")
