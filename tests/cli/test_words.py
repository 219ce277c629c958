"""What a newcomer reads: help with examples, terms, citations, names that are almost right."""

import json
import re
import shlex
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cyclopts import App
from rich.table import Table

from giantstep.cli import claims
from giantstep.cli.app import app
from giantstep.cli.commands import COMMANDS
from giantstep.cli.main import main
from giantstep.errors import InputError
from giantstep.language.word import Word
from giantstep.papers.claims import CLAIMS
from giantstep.papers.claims.stored import stored_records
from giantstep.papers.figures import REPRODUCTIONS
from giantstep.papers.glossary import BY_NAME, TERMS, look_up
from giantstep.papers.references import ANALYSIS, REFERENCES, REQUIREMENTS, papers_in
from giantstep.problem.catalog import CATALOG
from giantstep.problem.inputs import LAWS
from giantstep.problem.momentum import MOMENTA
from giantstep.problem.setting import GROUPS, Setting
from giantstep.show.tex import plain_words

SIZES = ["--d", "100", "--readout-n", "0", "--test-n", "0"]


def said(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    main(arguments)
    return capsys.readouterr().out


def refusal(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    text = capsys.readouterr().err
    assert text.count("\n") == 1
    return text


def test_commands_come_in_the_order_of_a_newcomers_path(capsys: pytest.CaptureFixture[str]) -> None:
    text = said(["--help"], capsys)
    places = [text.index(f"│ {command.name} ") for command in COMMANDS]
    assert places == sorted(places)
    assert text.index("Start here") < text.index("Go on") < text.index("The papers")
    assert "--install-completion" in text


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_every_example_of_help_can_be_typed(
    command: object, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is shown by --help, and its arguments are understood; nothing is run."""
    [found] = [each for each in COMMANDS if each is command]
    module, _, function = found.path.partition(":")
    alone = App(name=found.name, default_command=getattr(import_module(module), function))
    text = " ".join(said([found.name, "--help"], capsys).split())
    assert found.examples
    for line in found.examples:
        assert " ".join(line.split()) in text
        program, name, *arguments = shlex.split(line)
        assert (program, name) == ("giantstep", found.name)
        alone.parse_args(arguments, exit_on_error=False, print_error=False)


def test_a_setting_of_an_example_is_one(capsys: pytest.CaptureFixture[str]) -> None:
    """``cite`` builds the settings of the examples of learn, but for the file nobody has."""
    [learn] = [command for command in COMMANDS if command.name == "learn"]
    for line in learn.examples[:3]:
        assert "@software{giantstep" in said(["cite", *shlex.split(line)[1:]], capsys)


def test_options_stand_in_groups_the_common_ones_first(capsys: pytest.CaptureFixture[str]) -> None:
    text = said(["learn", "--help"], capsys)
    titles = ["Arguments", "Experiment", "Output", "Network", "Steps", "Data", "Readout"]
    places = [text.index(f"─ {title} ─") for title in [*titles, "Computation"]]
    assert places == sorted(places)
    assert "--d SIZE" in text
    assert "--steps SIZE" in text
    assert "--no-json" not in text


def test_every_field_is_in_one_group_and_a_flag(capsys: pytest.CaptureFixture[str]) -> None:
    grouped = [field for fields in GROUPS.values() for field in fields]
    assert sorted(["target", *grouped]) == sorted(Setting.fields)
    text = said(["learn", "--help"], capsys)
    for field in grouped:
        assert f"--{field.replace('_', '-')} " in text


def test_a_flag_names_the_one_default_of_its_command(capsys: pytest.CaptureFixture[str]) -> None:
    usual = {"learn": "20000 (of a data set: the rows left)", "spectrum": "4000"}
    for command, default in usual.items():
        text = " ".join(said([command, "--help"], capsys).replace("│", " ").split())
        [words] = re.findall(r"--test-n SIZE (.*? by default)", text)
        assert words == f"samples it is tested on, 0 for no readout; {default} by default"


def test_overlaps_and_gram_can_be_typed(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["learn", "x1", "--d", "50", "--p", "2", "--readout-n", "0", "--test-n", "0"]
    typed = ["--start", "given", "--start-overlaps", ".5; -.5", "--start-gram", "1, 0; 0, 1"]
    found = json.loads(said([*command, *typed, "--json"], capsys))["simulation"]["setting"]
    assert found["start_overlaps"] == [[0.5], [-0.5]]
    assert found["start_gram"] == [[1.0, 0.0], [0.0, 1.0]]
    typed[3] = ".5; q"
    assert "start_overlaps must be a number" in refusal([*command, *typed], capsys)


@pytest.mark.parametrize(
    ("arguments", "piece"),
    [
        (["learn", "x1", "--d", "abc"], "d must be a whole number, got 'abc'"),
        (
            ["learn", "x1", "--steps", "2q"],
            "steps must be a whole number or a product of powers of",
        ),
        (["learn", "x1", "--n", "4q"], "n must be a whole number or a product of powers of d, p"),
        (["learn", "x1", "--step-size", "huge"], "of d, n, p, giant, such as '3*giant'"),
        (["claims", "bogus"], "unknown claim 'bogus'; giantstep claims --list lists all"),
        (["claims", "spike-counts"], "did you mean spike-count"),
        (["reproduce", "spike"], "unknown figure 'spike', did you mean spikes;"),
        (["explain", "flor"], "unknown term 'flor', did you mean floor"),
        (["cite", "nowhere"], "about must be a command or a file or folder of results, got 'now"),
        (["cite", "claims", "bogus"], "unknown claim 'bogus'"),
        (["cite", "learn", "x1", "--d", "abc"], "d must be a whole number"),
    ],
)
def test_what_is_almost_right_is_answered_in_one_sentence(
    arguments: list[str], piece: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = refusal(arguments, capsys)
    assert piece in text
    assert len(text) < 250


def test_an_unknown_key_names_the_nearest() -> None:
    with pytest.raises(ValueError, match=r"unknown key 'step', did you mean steps or step_size"):
        Setting("x1", step=3)


def test_claims_are_listed_with_what_they_say(capsys: pytest.CaptureFixture[str]) -> None:
    words = " ".join(said(["claims", "--list", "one-step-line"], capsys).split())
    assert "one-step-line" in words
    assert "arXiv 2305.18270" in words
    assert "spike-count" not in words
    assert f"one-step-line {stored_records()['one-step-line']['verdict']} With leap 1" in words
    assert f"(theorem: {CLAIMS['one-step-line'].source.place})" in words
    everything = said(["claims", "--list"], capsys)
    assert all(name in everything for name in CLAIMS)


def test_a_claim_is_told_before_it_is_judged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["claims", "one-step-line", "--out", str(tmp_path)])
    text = " ".join(capsys.readouterr().out.split())
    claim = CLAIMS["one-step-line"]
    for words in (claim.statement, claim.source.citation, claim.rule):
        assert " ".join(plain_words(words).split()) in text
    assert "1 statement of the papers: 1 holds" in text
    page = (tmp_path / "quick" / "claims.html").read_text()
    assert "<h2>Statements of the papers</h2><p>1 holds</p>" in page
    assert '<meta name="viewport"' in page


@pytest.mark.parametrize("flags", [(), ("--full",), ("--controls",), ("--full", "--controls")])
def test_controls_are_run_where_they_are_asked_for(
    flags: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At full size they take four times what the claims take by themselves."""
    asked: list[dict[str, Any]] = []
    monkeypatch.setattr(claims, "run_claims", lambda chosen, **options: asked.append(options) or [])
    main(["claims", "one-step-line", *flags, "--out", str(tmp_path), "--quiet"])
    assert (asked[0]["full"], asked[0]["controls"]) == ("--full" in flags, "--controls" in flags)


def test_every_term_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    listed = said(["explain"], capsys)
    names = [name for term in TERMS for name in term.names]
    assert len(set(names)) == len(names)
    for term in TERMS:
        assert term.name in listed
        assert all(name in BY_NAME for name in term.see), term
        assert all(paper in REFERENCES for paper in papers_in(term.paper)), term
    for name in ("leap", "T_k", "b_k", "floor", "giant", "deflated", "spike", "kappa", "fresh"):
        assert look_up(name)
    for name in ("effective dimension", "exit times", "emergence"):
        assert look_up(name)
    assert look_up("t 2").name == "T_k"
    assert "leap index" in said(["explain", "leap"], capsys)
    kept = said(["explain", "kept", "and", "dropped"], capsys)
    assert "singular value" in " ".join(kept.split())
    assert list(json.loads(said(["explain", "giant", "--json"], capsys))) == ["giant"]


def test_words_of_the_tables_are_in_the_glossary(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The columns of what a newcomer sees first."""
    monkeypatch.setenv("COLUMNS", "120")
    main(["analyze", "staircase", "--all"])
    main(["learn", "staircase", "--d", "300", "--readout-n", "100", "--test-n", "100"])
    text = capsys.readouterr().out
    for word in ("kept / dropped", "narrow p ~ 1", "principal cosines", "network itself", "floor"):
        assert word in text
        assert look_up(word)


@pytest.mark.slow
def test_every_title_of_a_table_is_a_word_that_explain_knows(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """All columns of analyze, needed, activation, learn, compare, spectrum, sweep and claims."""
    titles: set[str] = set()
    add = Table.add_column

    def recorded(table: Table, header: Any = "", *arguments: Any, **options: Any) -> None:
        titles.add(str(header))
        add(table, header, *arguments, **options)

    monkeypatch.setattr(Table, "add_column", recorded)
    small = ["--d", "60", "--runs", "2"]
    spiked = np.random.default_rng(0).normal(size=(60, 40))
    spiked[:, 0] += 9.0
    np.save(tmp_path / "layer.npy", spiked)
    main(["analyze", "five-regimes", "--all"])
    sizes = ["--d", "300", "--p", "2", "--steps", "1", "--smallest", "d", "--largest", "16d"]
    main(["needed", "x1", "--error", "0.9,0.7", *sizes])
    main(["activation", "relu"])
    main(["learn", "staircase", *small, "--readout-n", "100", "--test-n", "100"])
    main(["compare", "x1", "x1 + x2", *small, "--steps", "1", "--show", "principal_cosine_1"])
    main(["compare", "x1", "x1 + x2", *small, "--steps", "1", "--test-n", "100"])
    main(["spectrum", "x1", *small, "--test-n", "100"])
    main(["spectrum", "--weights", str(tmp_path / "layer.npy")])
    grid = ["--vary", "d=30,60", "--runs", "2", "--p", "2", "--steps", "1", "--no-theory"]
    main(["sweep", "x1", *grid, "--readout-n", "0", "--test-n", "0", "--out", str(tmp_path / "s")])
    main(["claims", "one-step-line", "--out", str(tmp_path / "claims")])
    main(["claims", "--list", "one-step-line"])
    capsys.readouterr()
    # The titles of subspaces are directions of the target.
    words = {title for title in titles if title and not re.search(r"\(step|\(not at", title)}
    assert {"|w|", "learns", "through", "measured", "count", "without noise"} <= words
    for title in words:
        assert look_up(title), title
    printed = ("leaps", "variance", "noise", "generative exponent", "weak recovery", "agree", "±")
    for word in (*printed, "theory (narrow)", "edge (theory)", "learned", "not learned"):
        assert look_up(word)


@pytest.mark.parametrize(
    "word",
    [
        *("~", "would be noticed", "largest deviation", "sigma", "noticed", "steps needed"),
        *("comparisons", "not compared", "p-value", "disagree", "standard error", "chance"),
        *("constant", "largest", "sphere", "gaussian", "orthogonal", "given", "degree"),
        *("cells", "boundary", "finished", "failed", "workers", "bootstrap", "run by run"),
        *("nothing", "not at n ~ d", "pass on", "activation", "differing in", "holds instead"),
        *("statement", "finding", "not seen", "assumptions", "tested at"),
        *("best first-order method", "not a polynomial", "quadrature error", "near-tie"),
        *("formula", "remark", "shows"),
    ],
)
def test_words_of_verdicts_and_notes_are_explained(word: str) -> None:
    assert word in look_up(word).names


def test_words_of_a_verdict_are_printed_and_explained(
    capsys: pytest.CaptureFixture[str],
) -> None:
    sizes = ["--d", "50", "--runs", "3", "--steps", "1", "--readout-n", "0", "--test-n", "0"]
    text = " ".join(said(["learn", "x1 + x1*x2", "--p", "2", *sizes], capsys).split())
    for word in ("largest deviation", "comparisons", "sigma", "would be noticed", "p-value"):
        assert word in text
        assert look_up(word)


def test_every_field_of_a_setting_can_be_explained(capsys: pytest.CaptureFixture[str]) -> None:
    for field in Setting.fields:
        assert look_up(field)
    assert "corruption" in said(["explain", "corruption"], capsys)
    assert "N(0, 1/p)" in said(["explain", "readout_start"], capsys)


def words_of_fields() -> dict[str, list[str]]:
    """The words that each field takes: the names of its kinds, or those that its refusal lists."""
    words = {
        "inputs": list(LAWS),
        "momentum": [each.name or each.meaning for each in MOMENTA.values()],
    }
    for name, held in vars(Setting("x1")).items():
        if isinstance(held, Word):
            words[name] = list(held.kinds)
        elif isinstance(held, str):
            with pytest.raises(InputError) as refused:
                Setting("x1", **{name: "?"})
            # A list of words: none with a space, as numbers and formulas are told.
            plain = re.sub(r"\([^()]*\)", "", str(refused.value))
            listed = re.match(r"\w+ must be ((?:[a-z]\w*(?:, | or |, got))+) ", plain)
            if listed:
                words[name] = re.findall(
                    r"\w+", listed[1].removesuffix(", got").replace(" or ", ", ")
                )
    return words


def unexplained(words: dict[str, list[str]]) -> list[str]:
    """Words of fields whose term is missing, or says nothing of the field."""
    missing = []
    for field, names in words.items():
        for name in names:
            term = BY_NAME.get(name)
            text = "" if term is None else " ".join([*term.names, term.text, *term.see])
            if field.replace("_", " ") not in text.lower().replace("_", " "):
                missing.append(f"{field} {name}")
    return missing


def test_every_word_that_a_field_takes_is_explained() -> None:
    """All lists of kinds, by the table of each; a word of several fields names all of them."""
    words = words_of_fields()
    walked = [set(names) for names in words.values()]
    assert all(set(kinds.kinds) in walked for kinds in Word.__subclasses__())
    assert {"residual", "rows", "label_kind", "frame", "engine", "device"} <= set(words)
    assert unexplained(words) == []
    wrong = {"update": ["adam", "lion"], "loss": ["adam"]}
    assert unexplained(wrong) == ["update lion", "loss adam"]


def test_inputs_open_with_the_field_and_the_letter_d_has_both_dimensions(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = " ".join(said(["explain", "inputs"], capsys).split())
    assert text.startswith("inputs As a field of a setting, inputs is the distribution of x")
    assert all(name in text for name in LAWS if name != "gaussian")
    text = " ".join(said(["explain", "D"], capsys).split())
    assert "d is the number of inputs" in text
    assert "D is the effective dimension" in text
    assert "tr(Σ)" in text


def test_floors_promise_no_more_than_a_lower_bound(capsys: pytest.CaptureFixture[str]) -> None:
    text = " ".join(said(["analyze", "x1*x2*x3 + x1", "--all"], capsys).split())
    assert "No readout of relu without biases does better, and it may do worse" in text
    assert "Error floors, fresh batches: lower bounds" in text
    assert "Error floors with relu" not in text
    assert "fitted at best" in text
    assert "lower bound" in look_up("floor").text
    sizes = ["--d", "60", "--readout-n", "100", "--test-n", "100"]
    assert "floor: a lower bound" in said(["learn", "x1", *sizes], capsys)


def test_papers_that_are_named_can_be_cited() -> None:
    sources = [claim.source.citation for claim in CLAIMS.values()]
    sources += [figure.paper for figure in REPRODUCTIONS.values()]
    sources += [entry.source for entry in CATALOG.values()]
    named = {paper for source in sources for paper in papers_in(source)}
    assert len(named) >= 8
    assert named <= set(REFERENCES)
    keys = [reference.key for reference in REFERENCES.values()]
    assert len(set(keys)) == len(keys)
    for reference in REFERENCES.values():
        assert reference.bibtex.count("{") == reference.bibtex.count("}")


@pytest.mark.parametrize(
    ("about", "papers"),
    [
        ([], ["2305.18270"]),
        (["learn", "x1", "--inputs", "rademacher"], ["2305.18270"]),
        (["learn", "x1*x2", "--d", "10^5"], ["2305.18270", "2101.07464"]),
        (["learn", "tanh-cubic", "--inputs", "uniform"], ["2305.18270", "2402.03220"]),
        (
            ["learn", "x1", "--inputs", "uniform", "--batches", "repeat(2)"],
            ["2305.18270", "2402.03220", "2405.15459"],
        ),
        (
            ["spectrum", "x1", *SIZES, "--step-size", "1,1"],
            ["2305.18270", "2310.07891", "2605.17767"],
        ),
        (["spectrum", "--weights", "layer.npy"], ["1103.2221"]),
        (["analyze", "x1"], list(ANALYSIS)),
        (["analyze", "x1", "--all"], [*ANALYSIS, *REQUIREMENTS]),
        (["claims", "learning-rate-decides"], ["2510.21020"]),
        (["reproduce", "reuse-map"], ["2402.03220"]),
        (["sweep", "x1", "--vary", "d=50,60", "--inputs", "uniform"], ["2305.18270"]),
    ],
)
def test_a_command_is_cited_by_the_papers_it_rests_on(
    about: list[str], papers: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    text = said(["cite", *about], capsys)
    assert text.startswith("@software{giantstep,")
    assert re.findall(r"^  eprint = {(.*)}", text, flags=re.MULTILINE) == papers


def test_results_are_cited_by_their_settings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sizes = ["--d", "50", "--readout-n", "0", "--test-n", "0", "--inputs", "uniform"]
    main(["learn", "x1", *sizes, "--batches", "reused", "--out", str(tmp_path), "--quiet"])
    for about in (tmp_path, tmp_path / "learn.json"):
        assert "2402.03220" in said(["cite", str(about)], capsys)
    (tmp_path / "other.json").write_text("{}")
    assert "such as learn.json" in refusal(["cite", str(tmp_path / "other.json")], capsys)
    (tmp_path / "empty").mkdir()
    assert "about must hold results" in refusal(["cite", str(tmp_path / "empty")], capsys)


def test_completion_knows_commands_and_options() -> None:
    script = app.generate_completion(shell="bash")
    for word in ("analyze", "explain", "--step-size", "--list"):
        assert word in script
