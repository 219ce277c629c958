"""The guided tour of the page: six scenes, each a setting, a question and what happens.

Nothing here loads the mathematics; tests compute what every scene claims.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from giantstep.explorer.examples import DEMO, ODD


@dataclass(frozen=True)
class Scene:
    """One scene: ``changes`` are the fields in which its setting differs from ``DEMO``.

    ``beside`` is a field and its value in a second setting, which is shown side by side with the
    first.  ``control`` is the field whose control is highlighted.  The page asks the ``question``
    with its ``options``, of which the one of number ``right`` holds, then shows the plots and says
    what ``happened``.
    """

    title: str
    text: str
    control: str
    question: str
    options: tuple[str, ...]
    right: int
    happened: str
    changes: dict[str, str] = field(default_factory=dict)
    beside: tuple[str, str] | None = None

    @property
    def setting(self) -> dict[str, str]:
        """All fields of the setting."""
        return DEMO | self.changes

    @property
    def other(self) -> dict[str, str] | None:
        """All fields of the second setting, None where there is none."""
        return None if self.beside is None else self.setting | dict([self.beside])

    def as_dict(self) -> dict[str, Any]:
        """The scene as plain values, for JSON."""
        return {
            "title": self.title,
            "text": self.text,
            "control": self.control,
            "question": self.question,
            "options": list(self.options),
            "right": self.right,
            "happened": self.happened,
            "setting": self.setting,
            "beside": self.beside,
        }


ONE_NEURON = {
    "p": "2",
    "steps": "1",
    "step_size": "2giant",
    "readout_start": "signs",
    "bias": "0",
    "bias_at": "start",
    "runs": "1",
}
"""The smallest network that starts at 0: a neuron, and its partner that cancels it."""

FOUR_STEPS = ODD | {
    "d": "2000",
    "n": "32d",
    "p": "64",
    "steps": "4",
    "step_size": "3p, 30p, 30p, 30p",
    "readout_start": "signs",
    "bias": "20",
    "bias_at": "readout",
    "test_n": "40d",
}
"""A target whose direction n ~ d fresh samples do not show, and the same samples do.

The first step is short: it stores the labels in the neurons, and a longer one would hide them."""

SCENES = (
    Scene(
        "One neuron takes one step",
        "The smallest network here is one neuron and its mirror image. It starts in a random "
        "direction of 10,000 dimensions and takes one step, twice as long as a giant step.",
        control="p",
        question="Where will the neuron point after one step?",
        options=("Along x1 + x2", "Along x1 - x2", "Still in a random direction"),
        right=0,
        happened="It turns towards x1 + x2. One step sees the linear part of the target, and that "
        "is x1 + x2.",
        changes=ONE_NEURON,
    ),
    Scene(
        "Why the number of samples must grow like d",
        "The step is the same, but the batch is 256 times smaller. It now has one sample for every "
        "four inputs.",
        control="n",
        question="How well will the neuron point along x1 + x2 now?",
        options=("As well as before", "Much worse", "Not at all"),
        right=1,
        happened="The cosine falls from about 0.8 to about 0.2. The gradient has noise in all d "
        "dimensions, and only n of the order of d samples average it out.",
        changes=ONE_NEURON | {"n": "0.25d"},
    ),
    Scene(
        "Step two climbs",
        "Now there are 64 neurons, 64 samples for each input, and a second step on a fresh batch. "
        "Step 1 learns x1 + x2 as before.",
        control="steps",
        question="Which direction will step 2 learn?",
        options=("x1 - x2", "Nothing new", "x1 + x2 again, and nothing else"),
        right=0,
        happened="Step 2 learns x1 - x2, and the error falls a second time. The target contains "
        "the product of x1 + x2 and x1 - x2, so knowing the first factor reveals the second.",
    ),
    Scene(
        "Flip a sign and it stops",
        "The target now has $+x_2^2$ in place of $-x_2^2$. The $-2$ only keeps its mean at 0.",
        control="target",
        question="Which direction will step 2 learn?",
        options=("x1 - x2, as before", "Nothing new"),
        right=1,
        happened="x1 - x2 stays at chance. It now appears only as a square, and knowing x1 + x2 "
        "does not help to see it.",
        changes={"target": "x1 + x2 + x1^2 + x2^2 - 2"},
    ),
    Scene(
        "tanh blocks",
        "This is the first target again, with its minus sign. On the left the neurons use relu, on "
        "the right tanh.",
        control="side",
        question="Will step 2 learn x1 - x2 on the right?",
        options=("Yes, as relu does", "No, tanh cannot"),
        right=1,
        happened="With tanh x1 - x2 stays at chance, and the error stops falling. The target "
        "offers it through a product of degree 2, and tanh has no part of degree 2.",
        beside=("activation", "tanh"),
    ),
    Scene(
        "Reuse the batch and it goes on",
        "The target is x1^3 - 3*x1, written He3(x1). Both sides now use tanh: like this target it "
        "has a part of degree 3, and relu has none. There are 2,000 inputs, which keeps "
        "simulations short. Four steps on fresh batches are on the left. On the right every step "
        "sees the samples of step 1 again.",
        control="side",
        question="Which side will learn x1?",
        options=("The right side only", "Both sides", "Neither"),
        right=0,
        happened="On the right the cosine with x1 rises and the error falls. On the left the "
        "cosine stays close to chance, which is drawn as 0, and the error does not fall. Step 1 "
        "has stored the label of every sample in the neurons. Later steps on the same samples see "
        "powers of the labels, and these show x1.",
        changes=FOUR_STEPS,
        beside=("batches", "reused"),
    ),
)
