"""The papers behind the theories, and which of them a setting rests on: BibTeX as data."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from giantstep.errors import NoTheoryError
from giantstep.prediction.theories import choose_theory
from giantstep.problem.catalog import CATALOG
from giantstep.problem.setting import Setting
from giantstep.simulation.simulate import choose_engine

PROJECT = """@software{{giantstep,
  author = {{{{The giantstep developers}}}},
  title = {{giantstep: what two-layer networks learn from a few giant gradient steps}},
  version = {{{version}}},
  year = {{2026}}
}}"""


ICML = "International Conference on Machine Learning"
NEURIPS = "Advances in Neural Information Processing Systems"
AISTATS = "International Conference on Artificial Intelligence and Statistics"
JMLR = "Journal of Machine Learning Research"

PROCEEDINGS = (ICML, NEURIPS, AISTATS)
"""Where a paper is a part of a book; elsewhere it is an article."""


@dataclass(frozen=True)
class Reference:
    """A paper: authors as BibTeX takes them, and where it appeared beside arXiv."""

    key: str
    arxiv: str
    authors: str
    title: str
    year: int
    venue: str = ""
    volume: str = ""
    number: str = ""
    pages: str = ""

    @property
    def bibtex(self) -> str:
        kind, where = "article", "journal"
        if self.venue in PROCEEDINGS:
            kind, where = "inproceedings", "booktitle"
        fields = {
            "author": self.authors,
            "title": f"{{{self.title}}}",
            where: self.venue or f"arXiv preprint arXiv:{self.arxiv}",
            "volume": self.volume,
            "number": self.number,
            "pages": self.pages,
            "year": str(self.year),
            "eprint": self.arxiv,
            "archiveprefix": "arXiv",
        }
        body = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items() if value)
        return f"@{kind}{{{self.key},\n{body}\n}}"


_ALL = (
    Reference(
        "dandi2024giant",
        "2305.18270",
        "Dandi, Yatin and Krzakala, Florent and Loureiro, Bruno and Pesce, Luca and Stephan, "
        "Ludovic",
        "How Two-Layer Neural Networks Learn, One (Giant) Step at a Time",
        2024,
        JMLR,
        volume="25",
        number="349",
        pages="1--65",
    ),
    Reference(
        "moniri2024theory",
        "2310.07891",
        "Moniri, Behrad and Lee, Donghwan and Hassani, Hamed and Dobriban, Edgar",
        "A Theory of Non-Linear Feature Learning with One Gradient Step in Two-Layer Neural "
        "Networks",
        2024,
        ICML,
        volume="235",
    ),
    Reference(
        "moniri2026two",
        "2605.17767",
        "Moniri, Behrad and Hassani, Hamed",
        "Feature Learning in Linear-Width Two-Layer Networks: Two vs. One Step of Gradient Descent",
        2026,
    ),
    Reference(
        "dandi2024benefits",
        "2402.03220",
        "Dandi, Yatin and Troiani, Emanuele and Arnaboldi, Luca and Pesce, Luca and "
        "Zdeborov{\\'a}, Lenka and Krzakala, Florent",
        "The Benefits of Reusing Batches for Gradient Descent in Two-Layer Networks: Breaking the "
        "Curse of Information and Leap Exponents",
        2024,
        ICML,
        volume="235",
        pages="9991--10016",
    ),
    Reference(
        "arnaboldi2024repetita",
        "2405.15459",
        "Arnaboldi, Luca and Dandi, Yatin and Krzakala, Florent and Pesce, Luca and Stephan, "
        "Ludovic",
        "Repetita Iuvant: Data Repetition Allows SGD to Learn High-Dimensional Multi-Index "
        "Functions",
        2024,
    ),
    Reference(
        "tsiolis2025information",
        "2510.21020",
        "Tsiolis, Konstantinos Christopher and Mousavi-Hosseini, Alireza and Erdogdu, Murat A.",
        "From Information to Generative Exponent: Learning Rate Induces Phase Transitions in SGD",
        2025,
        NEURIPS,
    ),
    Reference(
        "sonthalia2025low",
        "2510.01303",
        "Sonthalia, Rishi and Murray, Michael and Mont{\\'u}far, Guido",
        "Low Rank Gradients and Where to Find Them",
        2025,
        NEURIPS,
    ),
    Reference(
        "benarous2021online",
        "2003.10409",
        "Ben Arous, Gerard and Gheissari, Reza and Jagannath, Aukosh",
        "Online Stochastic Gradient Descent on Non-Convex Losses from High-Dimensional Inference",
        2021,
        JMLR,
        volume="22",
        number="106",
        pages="1--51",
    ),
    Reference(
        "veiga2022phase",
        "2202.00293",
        "Veiga, Rodrigo and Stephan, Ludovic and Loureiro, Bruno and Krzakala, Florent and "
        "Zdeborov{\\'a}, Lenka",
        "Phase Diagram of Stochastic Gradient Descent in High-Dimensional Two-Layer Neural "
        "Networks",
        2022,
        NEURIPS,
        volume="35",
        pages="23244--23255",
    ),
    Reference(
        "ba2022high",
        "2205.01445",
        "Ba, Jimmy and Erdogdu, Murat A. and Suzuki, Taiji and Wang, Zhichao and Wu, Denny and "
        "Yang, Greg",
        "High-Dimensional Asymptotics of Feature Learning: How One Gradient Step Improves the "
        "Representation",
        2022,
        NEURIPS,
        volume="35",
        pages="37932--37946",
    ),
    Reference(
        "cui2024asymptotics",
        "2402.04980",
        "Cui, Hugo and Pesce, Luca and Dandi, Yatin and Krzakala, Florent and Lu, Yue M. and "
        "Zdeborov{\\'a}, Lenka and Loureiro, Bruno",
        "Asymptotics of Feature Learning in Two-Layer Networks after One Gradient-Step",
        2024,
        ICML,
        volume="235",
    ),
    Reference(
        "dandi2025random",
        "2410.18938",
        "Dandi, Yatin and Pesce, Luca and Cui, Hugo and Krzakala, Florent and Lu, Yue M. and "
        "Loureiro, Bruno",
        "A Random Matrix Theory Perspective on the Spectrum of Learned Features and Asymptotic "
        "Generalization Capabilities",
        2025,
        AISTATS,
        volume="258",
        pages="2224--2232",
    ),
    Reference(
        "hu2024asymptotics",
        "2403.08160",
        "Hu, Hong and Lu, Yue M. and Misiakiewicz, Theodor",
        "Asymptotics of Random Feature Regression Beyond the Linear Scaling Regime",
        2024,
    ),
    Reference(
        "troiani2025fundamental",
        "2405.15480",
        "Troiani, Emanuele and Dandi, Yatin and Defilippis, Leonardo and Zdeborov{\\'a}, Lenka and "
        "Loureiro, Bruno and Krzakala, Florent",
        "Fundamental Computational Limits of Weak Learnability in High-Dimensional Multi-Index "
        "Models",
        2025,
        AISTATS,
        volume="258",
        pages="2467--2475",
    ),
    Reference(
        "mei2022generalization",
        "2101.10588",
        "Mei, Song and Misiakiewicz, Theodor and Montanari, Andrea",
        "Generalization Error of Random Features and Kernel Methods: Hypercontractivity and Kernel "
        "Matrix Concentration",
        2022,
        "Applied and Computational Harmonic Analysis",
        volume="59",
        pages="3--84",
    ),
    Reference(
        "lu2021householder",
        "2101.07464",
        "Lu, Yue M.",
        "Householder Dice: A Matrix-Free Algorithm for Simulating Dynamics on Gaussian and Random "
        "Orthogonal Ensembles",
        2021,
        "IEEE Transactions on Information Theory",
        volume="67",
        number="12",
        pages="8264--8272",
    ),
    Reference(
        "benaych2012singular",
        "1103.2221",
        "Benaych-Georges, Florent and Nadakuditi, Raj Rao",
        "The Singular Values and Vectors of Low Rank Perturbations of Large Rectangular Random "
        "Matrices",
        2012,
        "Journal of Multivariate Analysis",
        volume="111",
        pages="120--135",
    ),
)

REFERENCES = {reference.arxiv: reference for reference in _ALL}
"""The papers by their arXiv numbers."""

ANALYSIS = ("2305.18270", "2402.03220", "2405.15480")
"""Exponents and staircases, reused batches, weak recovery."""

LAYER = ("1103.2221",)
"""Outliers of a matrix against its own bulk."""

SMALL_BATCH = 20
"""d/n from which on steps are one-pass steps: their theory is that of small batches."""


def _theory(setting: Setting) -> str:
    try:
        return choose_theory(setting).name
    except NoTheoryError:
        return ""


Rule = tuple[Callable[[Setting], bool], tuple[str, ...]]

_RULES: tuple[Rule, ...] = (
    (lambda s: s.seen_again, ("2402.03220",)),
    (lambda s: 1 < s.batches.steps_per_set < math.inf, ("2405.15459",)),
    (lambda s: s.inputs.known_directions > 0, ("2510.01303",)),
    (lambda s: SMALL_BATCH * s.n <= s.d, ("2202.00293", "2003.10409")),
    (lambda s: choose_engine(s) == "deferred", ("2101.07464",)),
)
"""What of a setting rests on which papers, beside the giant steps themselves."""

_OF_THEORIES: dict[str, tuple[Rule, ...]] = {
    "linear-width": (
        (lambda s: True, ("2310.07891",)),
        (lambda s: s.steps > 1, ("2605.17767",)),
        (lambda s: s.readout_n > 0, ("2402.04980", "2410.18938")),
    ),
    "quadratic-width": ((lambda s: True, ("2310.07891", "2403.08160")),),
}
"""What rests on which papers beyond them, by the name of the theory that serves."""


def papers_of(setting: Setting) -> list[str]:
    """The arXiv numbers of what a setting uses: its target, its theory, its engine."""
    numbers = ["2305.18270"]
    if setting.target.name in CATALOG:
        numbers += papers_in(CATALOG[setting.target.name].source)
    for applies, papers in (*_RULES, *_OF_THEORIES.get(_theory(setting), ())):
        if applies(setting):
            numbers += papers
    return list(dict.fromkeys(numbers))


def papers_in(text: str) -> list[str]:
    """The arXiv numbers that a text names."""
    return re.findall(r"\b[0-9]{4}\.[0-9]{4,5}\b", text)


def bibliography(papers: Iterable[str], version: str) -> str:
    """BibTeX of the project and of these papers."""
    entries = [PROJECT.format(version=version)]
    entries += [REFERENCES[paper].bibtex for paper in dict.fromkeys(papers)]
    return "\n\n".join(entries)
