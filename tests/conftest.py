"""Shapes and types are checked while the tests run, in the modules that do the mathematics.

The edges are left alone: they check their input themselves, and the tests hand them bad input.
"""

from jaxtyping import install_import_hook

CHECKED = ["language.algebra", "gaussian", "analysis", "spectra", "prediction"]
hook = install_import_hook([f"giantstep.{name}" for name in CHECKED], "beartype.beartype")
