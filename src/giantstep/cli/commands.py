"""The commands in the order of a newcomer's path: what each does, and examples to copy."""

from __future__ import annotations

from dataclasses import dataclass

START, GO_ON, PAPERS = "Start here", "Go on", "The papers"
"""Groups of the list of commands."""


@dataclass(frozen=True)
class Command:
    """A command by name: where its function is (it loads when it is called), and its words."""

    name: str
    path: str
    group: str
    help: str
    examples: tuple[str, ...]


COMMANDS = (
    Command(
        "analyze",
        "giantstep.cli.analyze:analyze",
        START,
        "Say what can be learned, before any simulation.",
        (
            'giantstep analyze "x1 + x2 + x1^2 - x2^2"',
            'giantstep analyze "x1*x2*x3" --activation "tanh(z + 0.5)" --all',
            "giantstep analyze five-regimes --json",
            'giantstep analyze "x1*x2" --overlap-curve overlap.png',
        ),
    ),
    Command(
        "learn",
        "giantstep.cli.learn:learn",
        START,
        "Predict and simulate giant steps, side by side, step by step.",
        (
            'giantstep learn "x1 + x2 + x1^2 - x2^2" --d 10000 --n 4d --runs 10',
            "giantstep learn threshold --batches reused --step-size 10p --residual labels --runs 4",
            'giantstep learn "x1 + x1*x2" --step-size 3*giant --noise 0.5 --out results',
            'giantstep learn "column(price)" --inputs "whitened(houses.csv)" --runs 10',
        ),
    ),
    Command(
        "explore",
        "giantstep.cli.explore:explore",
        START,
        "Open the explorer, a page on this machine to type targets and watch simulations.",
        ("giantstep explore", "giantstep explore --port 8800 --folder results"),
    ),
    Command(
        "explain",
        "giantstep.cli.explain:explain",
        START,
        "Say what a word of the tables means: leap, T_k, giant, floor, ...",
        ("giantstep explain", "giantstep explain leap", "giantstep explain kept and dropped"),
    ),
    Command(
        "catalog",
        "giantstep.cli.catalog:catalog",
        START,
        "List the papers' targets by name.",
        ("giantstep catalog",),
    ),
    Command(
        "activation",
        "giantstep.cli.activation:activation",
        START,
        "List the Hermite coefficients of an activation: the degrees that its steps can learn.",
        ("giantstep activation relu", 'giantstep activation "He1 + He2/2" --degree 4'),
    ),
    Command(
        "needed",
        "giantstep.cli.needed:needed",
        GO_ON,
        "Say how many samples a step needs for an error or a cosine.",
        (
            'giantstep needed "x1 + x1*x2" --error 1.2 --steps 2',
            'giantstep needed "x1 + x2 + x1^2 - x2^2" --error 5,4,3 --steps 2 --out results',
            'giantstep needed "x1 + x1*x2" --cosine 0.4 --batches reused --residual labels',
        ),
    ),
    Command(
        "report",
        "giantstep.cli.report:report",
        GO_ON,
        "Say what can be learned from your own table, on a page with its pictures.",
        (
            "giantstep report houses.csv --label price",
            "giantstep report patients.parquet --label outcome --drop id --quick --out results",
        ),
    ),
    Command(
        "estimate",
        "giantstep.cli.estimate:estimate_command",
        GO_ON,
        "Estimate the operations, memory and time that a setting takes.",
        ("giantstep estimate five-regimes --d 1000 --n d^2 --runs 100",),
    ),
    Command(
        "limits",
        "giantstep.cli.limits:limits_command",
        GO_ON,
        "List the limits of the predictions, or say how far a setting is from each.",
        ("giantstep limits", 'giantstep limits "x1 + x1*x2" --d 100 --p 40 --n 20d'),
    ),
    Command(
        "compare",
        "giantstep.cli.compare:compare",
        GO_ON,
        "Compare two or more settings in one table and one picture.",
        (
            'giantstep compare "x1 + x1*x2" --vary update=gradient,orthogonal --runs 10',
            "giantstep compare gradient.toml muon.toml --runs 20 --out results/muon",
            'giantstep compare "x1*x2" "x1 + x1*x2" --d 2000 --runs 10',
        ),
    ),
    Command(
        "sweep",
        "giantstep.cli.sweep:sweep",
        GO_ON,
        "Simulate and predict a grid of settings. It can be stopped and continued.",
        (
            'giantstep sweep "x1 + x1*x2" --vary d=1000,10000 --vary n=1d..16d:4 --runs 4',
            "giantstep sweep examples/leap2.toml --dry-run",
            'giantstep sweep examples/leap2.toml --vary "d=50..500:6 log" --out results/leap2',
        ),
    ),
    Command(
        "spectrum",
        "giantstep.cli.spectrum:spectrum",
        GO_ON,
        "Predict and simulate singular values and losses at linear width. Or find the outliers of "
        "your own weight matrix (--weights).",
        (
            'giantstep spectrum "x1 + He2(x1)/1.4" --d 1000 --step-size n^0.38 --runs 4',
            "giantstep spectrum two-step --step-size p^0.3,p^0.3 --batches reused --out results",
            "giantstep spectrum --weights layer.npy",
        ),
    ),
    Command(
        "claims",
        "giantstep.cli.claims:claims",
        PAPERS,
        "Test the claims of the papers, or your own in a file.",
        (
            "giantstep claims --list",
            "giantstep claims one-step-line staircase-example-1",
            "giantstep claims spike-count --controls",
            "giantstep claims --file my_claim.py --controls",
        ),
    ),
    Command(
        "reproduce",
        "giantstep.cli.reproduce:reproduce",
        PAPERS,
        "Draw the figures of the papers.",
        ("giantstep reproduce --list", "giantstep reproduce phase spikes", "giantstep reproduce"),
    ),
    Command(
        "cite",
        "giantstep.cli.cite:cite",
        PAPERS,
        "Print the BibTeX of the project, and of the papers behind a command or a result.",
        (
            "giantstep cite",
            'giantstep cite learn "x1 + He2(x1)*x2" --batches reused',
            "giantstep cite results/learn.json",
        ),
    ),
)
