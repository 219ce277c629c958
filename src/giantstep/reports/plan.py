"""How much a report computes: folds, sizes of the learning curve, draws."""

from __future__ import annotations

from dataclasses import dataclass

from giantstep.estimator.recipe import Recipe


@dataclass(frozen=True)
class Plan:
    """Sizes of a report; a quick one is coarser.

    folds -> every row is held out once, the others are fitted; shares -> of the training rows of a
    fold, for the learning curve; peer_shares -> those on which the other models are fitted too, to
    see how much training rows matter; without one their intervals are as wide as they can be;
    kernel_rows -> rows that kernel ridge sees at most, its cost being their cube; runs -> simulated
    networks; recipe -> choices of the estimator, None for its own.
    """

    folds: int = 5
    shares: tuple[float, ...] = (0.25, 0.5)
    peer_shares: tuple[float, ...] = (0.5,)
    kernel_rows: int = 2_000
    # Forty take .07 s; cosines of a few runs miss that some runs lack a direction.
    runs: int = 40
    recipe: Recipe | None = None
    # With so many rows half of them leave no error to speak of, and a fit takes a minute.
    many_rows: int = 20_000
    many_folds: int = 2

    def folds_of(self, rows: int) -> int:
        """Folds for so many rows."""
        return min(self.folds, self.many_folds) if rows > self.many_rows else self.folds


FULL = Plan()
# The search of a quick report tries fewer ways, with half of the inner folds.
QUICK = Plan(
    folds=3,
    shares=(0.4,),
    peer_shares=(),
    kernel_rows=300,
    recipe=Recipe(thorough_rows=0, draws=1, folds=((300, 5), (2_000, 3)), soft_steps=1),
)
