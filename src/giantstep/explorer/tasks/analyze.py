"""The target pane: what can be learned, before any run."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from giantstep.analysis.activation import ActivationAnalysis, analyze_activation
from giantstep.analysis.analyze import Analysis, analyze
from giantstep.errors import InputError
from giantstep.explorer.limits import LONGEST
from giantstep.explorer.tasks import Emit
from giantstep.explorer.views.analysis import analysis_view

# A page asks for the same pair again whenever another field changes.
analysis_of = lru_cache(maxsize=64)(analyze)
activation_of = lru_cache(maxsize=64)(analyze_activation)


def run(request: Mapping[str, Any], emit: Emit) -> dict[str, Any]:
    """Analysis of ``target`` and ``activation``, both texts."""
    target, activation = (_text(request, name) for name in ("target", "activation"))
    sigma: ActivationAnalysis = activation_of(activation)
    analysis: Analysis = analysis_of(target, activation)
    return analysis_view(analysis, sigma)


def _text(request: Mapping[str, Any], name: str) -> str:
    value = request.get(name)
    if not isinstance(value, str) or len(value) > LONGEST:
        raise InputError(f"{name} must be a text of at most {LONGEST} characters")
    return value
