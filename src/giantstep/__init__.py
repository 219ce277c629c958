"""giantstep: what does a two-layer neural network learn from a few giant gradient steps?

Public names are those of ``__init__.pyi``, and load on first use: ``import giantstep`` itself
imports nothing heavy.
"""

import lazy_loader

from giantstep.records.drawing import Drawn, Shown

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

# Records draw themselves with ``plot``, which is loaded when the first of them does.
Drawn.picture = lambda record: __getattr__("plot")(record)
# Notebooks show them with ``as_html``.
Shown.page = lambda record: __getattr__("as_html")(record)
