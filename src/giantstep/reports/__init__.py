"""Reports: what can be learned from a table, on rows that no fit has seen, as a page and a record."""

from importlib.util import find_spec

if find_spec("sklearn") is None:
    raise ImportError("giantstep.reports needs scikit-learn: pip install 'giantstep[sklearn]'")
