"""Predict a setting with the prediction in a store: one that is there is not computed again."""

from __future__ import annotations

from dataclasses import replace

from giantstep.errors import NotConvergedError, NoTheoryError
from giantstep.prediction.predict import predict
from giantstep.problem.setting import Setting
from giantstep.records.trajectory import Trajectory
from giantstep.simulation.simulate import MEMORY
from giantstep.store.folder import Store, prediction_bytes
from giantstep.store.identity import prediction_name, resolved


def predict_stored(
    setting: Setting, store: Store, *, theory: str | None = None, memory: int = MEMORY
) -> Trajectory:
    """What ``predict`` returns, kept in the store; the sentence why there is none is kept as well.

    A file that is damaged, or of another setting, is refused.  Another revision of the package
    makes a prediction of its own.
    """
    if setting.unstorable is not None:  # a fitted function whose start is given as numbers
        return predict(setting, theory=theory)
    store.prepare()
    chosen = resolved(setting, memory)
    name = prediction_name(chosen, theory)
    if not store.holds(name):
        try:
            content = prediction_bytes(chosen, predict(setting, theory=theory), None)
        except (NoTheoryError, NotConvergedError) as error:
            content = prediction_bytes(chosen, None, str(error))
        store.write(name, content)
    predicted, complaint = store.prediction(chosen, theory)
    if predicted is None:
        raise NoTheoryError(complaint)
    return replace(predicted, setting=setting)
