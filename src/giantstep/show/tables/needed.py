"""How many samples a setting needs, for the terminal: answers, then the curve over n."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rich.console import Group, RenderableType

from giantstep.problem.setting import Setting
from giantstep.records.summary import Value
from giantstep.show.tables.parts import MISSING, counted, make_table, notes, number, plain, spread
from giantstep.show.tables.setting import data_text, other_fields, target_lines
from giantstep.sweeps.needed import NeededAnswer, SamplesNeeded


def quantity_words(record: SamplesNeeded) -> str:
    """The quantity in a sentence."""
    if record.falls:
        return "test error of the readout"
    if record.quantity == "alignment":
        return "median cosine of the neurons with the target"
    return f"median cosine of the neurons with x{record.quantity.removeprefix('cosine_')}"


def needed_report(record: SamplesNeeded) -> RenderableType:
    """The answers in sentences; a table of the levels where there are several; the curve."""
    head = target_lines(record.setting.target)
    head.append(_setting_line(record.setting) + "\n\n", style="not bold")
    sentences = [_sentence(record, answer) for answer in record.answers if answer.n is not None]
    unreached = [answer.level for answer in record.answers if answer.n is None]
    sentences += [_never(record, unreached)] if unreached else []
    head.append("\n".join(sentences) + "\n", style="not bold")
    parts: list[RenderableType] = [head]
    if len(record.answers) > 1:
        parts += [_levels(record), ""]
    parts += [_curve(record), *notes(_remarks(record))]
    return Group(*parts)


def _setting_line(setting: Setting) -> str:
    """The setting without the n that is asked for."""
    of_another_n = other_fields(setting.vary(n=2 * setting.n))
    others = ", ".join(part for part in other_fields(setting) if part in of_another_n)
    return (
        f"{setting.activation.name}, d = {setting.d:,}, p = {setting.p:,}, "
        f"{counted(setting.steps, 'step')}, {data_text(setting)}" + f", {others}" * bool(others)
    )


def _sentence(record: SamplesNeeded, answer: NeededAnswer) -> str:
    """What a level needs that some n reaches."""
    assert answer.n is not None
    verb = "falls" if record.falls else "rises"
    what, level = quantity_words(record), f"{answer.level:g}"
    if answer.from_start:
        return (
            f"The {what} is {'below' if record.falls else 'above'} {level} at n = {answer.n:,} "
            "already, the smallest number of samples that theory covers here."
        )
    sentence = f"The {what} {verb} to {level} at n = {answer.n:,} samples a step{_doubt(answer)}."
    in_all, readout = record.samples_in_all(answer.n)
    steps = counted(record.setting.steps, "step")
    sentence += f" The {steps} take{'s' * (record.setting.steps == 1)} {in_all:,} samples in all"
    return sentence + (f", and the readout {readout:,} more." if readout else ".")


def _doubt(answer: NeededAnswer) -> str:
    """The range that the uncertainty of theory leaves."""
    if answer.low is None and answer.high is None:
        return ", which the uncertainty of theory leaves open"
    if answer.low is None:
        return f" (at most {answer.high:,} by the uncertainty of theory)"
    if answer.high is None:
        return f" (at least {answer.low:,} by the uncertainty of theory)"
    return f" ({answer.low:,} to {answer.high:,} by the uncertainty of theory)"


def _never(record: SamplesNeeded, levels: Sequence[float]) -> str:
    """Why no number of samples reaches some levels: a floor, or a curve that levels off."""
    best, last = record.best, record.curve[-1]
    words = " or ".join(f"{level:g}" for level in levels)
    sentence = (
        f"No n up to {last.n:,} brings the {quantity_words(record)} to {words}. The "
        f"{'lowest' if record.falls else 'largest'} prediction is {number(best.value)}, at "
        f"n = {best.n:,}."
    )
    if record.floor is not None and record.floor > min(levels):
        return sentence + (
            f" No readout of {record.setting.activation.name} gets below the floor "
            f"{number(record.floor)}, however many samples there are."
        )
    return sentence + _flatness(record)


def _flatness(record: SamplesNeeded) -> str:
    """What the last part of the curve says of larger n."""
    if len(record.curve) < 2:
        return ""
    before, last = record.curve[-2:]
    change = abs(last.value - before.value) / max(abs(last.value), 1e-300)
    ratio = last.n / before.n
    return f" The last {ratio:.2g} times as many samples change it by {change:.1%}."


def _levels(record: SamplesNeeded) -> RenderableType:
    rows: list[tuple[str, ...]] = []
    for answer in record.answers:
        if answer.n is None:
            rows.append((f"{answer.level:g}", "not reached", MISSING, MISSING, MISSING))
            continue
        at_most = "at most " * answer.from_start
        ends = (MISSING if end is None else f"{end:,}" for end in (answer.low, answer.high))
        rows.append(
            (
                f"{answer.level:g}",
                f"{at_most}{answer.n:,}",
                *ends,
                plain(answer.n / record.setting.d, 3),
            )
        )
    name = "test error" if record.falls else "cosine"
    return make_table("Samples of a step", (name, "n", "from", "to", "n/d"), rows)


def _curve(record: SamplesNeeded) -> RenderableType:
    several = len({point.theory for point in record.curve}) > 1
    rows = [
        (
            f"{point.n:,}",
            plain(point.n / record.setting.d, 3),
            spread(Value(point.value, None, point.uncertainty), 4),
            plain(point.uncertainty, 1),
            *[point.theory] * several,
        )
        for point in record.curve
    ]
    name = "test error" if record.falls else "cosine"
    columns = ("n", "n/d", name, "uncertainty", *["theory"] * several)
    return make_table("Prediction after the last step", columns, rows)


def _remarks(record: SamplesNeeded) -> list[str]:
    """Levels that are lost again or reached before, and where theory refuses."""
    texts = []
    for answer in record.answers:
        if answer.until is not None:
            texts.append(
                f"The level {answer.level:g} is lost again above n = {answer.until:,}: the curve "
                "is not monotone."
            )
        for start, end in answer.earlier:
            texts.append(
                f"The level {answer.level:g} is also reached from n = {start:,} to {end:,}, and "
                "lost again: the curve is not monotone."
            )
    reasons = Counter(reason for _, reason in record.refusals)
    for reason, count in reasons.items():
        sizes = [n for n, other in record.refusals if other == reason]
        where = f"n = {sizes[0]:,}" if count == 1 else f"n = {sizes[0]:,} to {sizes[-1]:,}"
        texts.append(f"{where}: {reason}")
    return texts
