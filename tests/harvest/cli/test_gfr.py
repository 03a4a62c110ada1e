"""`harvest metrics gfr`: its table, its JSON, and what it refuses."""

from __future__ import annotations

import doctest
import json
import re
from pathlib import Path
from typing import Any

import pytest

from harvest.cli import main
from harvest.cli.metrics.gfr import command
from scoring.notation import parse
from scoring.rankings.list_scores import GAINS
from scoring.table import FORMAT, ScoreRow
from tests.support.checkout import DOCS
from tests.support.ranked_lists import REFERENCE, example_options, write_example

PATH = DOCS / "rankings.md"
PAGE = PATH.read_text(encoding="utf-8")


def run(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> tuple[str, str]:
    """(standard output, standard error) of `harvest metrics gfr`."""
    with pytest.raises(SystemExit) as stopped:
        main(["metrics", "gfr", *arguments])
    printed = capsys.readouterr()
    assert (stopped.value.code or 0) == code, printed
    assert "Traceback" not in printed.err
    return printed.out, printed.err


def document(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    out, err = run(capsys, *arguments, "--json")
    assert err == ""
    found: dict[str, Any] = json.loads(out)
    return found


@pytest.fixture
def example(tmp_path: Path) -> list[str]:
    write_example(tmp_path)
    return example_options(tmp_path)


def test_gains_may_be_given_in_several_options(capsys: pytest.CaptureFixture[str], example: list[str]) -> None:
    apart = document(capsys, *example, "--gains", "L2=5", "--gains", "L1=2,L3=9")
    assert apart["rows"] == document(capsys, *example, "--gains", "L1=2,L2=5,L3=9")["rows"]
    assert apart["rows"] != document(capsys, *example)["rows"]


@pytest.mark.parametrize("gains", ["1:3", "1:2"])
@pytest.mark.parametrize("cutoff", ["", "0005", "0010", "0020"])
def test_all_values_of_ntcireval_are_in_the_document_to_1e_9(
    capsys: pytest.CaptureFixture[str], example: list[str], gains: str, cutoff: str
) -> None:
    low, high = gains.split(":")
    cut = ["--cutoff", str(int(cutoff))] if cutoff else []
    found = document(capsys, *example, "--gains", f"L1={low},L2={high}", *cut)
    rows = {(row["system"], row["topic"], row["measure"]): row["value"] for row in found["rows"]}
    suffix = f", cutoff={int(cutoff)}" if cutoff else ""
    checked = 0
    for name, topic, attribute, how, measure, _, digits in REFERENCE["values"]:
        kind, _, at = measure.partition("@")
        if (how, at) != (gains, cutoff):
            continue
        written = f"GF({attribute}, by={kind[3:]}{suffix})" if kind.startswith("GF-") else kind
        written += f"({suffix[2:]})" if suffix and "(" not in written else ""
        assert rows[name, topic, written] == pytest.approx(digits, abs=1e-9)
        checked += 1
    for name, topic, how, measure, value in REFERENCE["averages"]:
        kind, _, at = measure.removeprefix("GFR-").partition("@")
        if (how, at) != (gains, cutoff):
            continue
        utility, ordinal = kind.split("+")[:2]
        written = f"GFR({utility}{suffix}, ordinal={ordinal})"
        assert rows[name, topic, written] == pytest.approx(value, abs=1e-9)
        checked += 1
    assert checked == 60 + (32 if cutoff else 0)


def test_the_document_is_in_long_form_and_names_its_settings_and_files(
    capsys: pytest.CaptureFixture[str], example: list[str]
) -> None:
    found = document(capsys, *example)
    assert found["format"] == FORMAT
    assert found["settings"]["gains"] == {"L1": 1, "L2": 3}
    assert found["settings"]["attributes"] == {name: one["scale"] for name, one in REFERENCE["sets"].items()}
    assert found["files"]["runs"] == ["first", "second"]
    assert any("only relevant nuggets" in note for note in found["notes"])
    for row in found["rows"]:
        assert set(row) == set(ScoreRow.__dataclass_fields__)
        assert str(parse(row["measure"])) == row["measure"]
        assert 0 <= row["value"] < 1
        if row["measure"].startswith("GF"):
            assert row["note"]


def test_means_are_over_the_topics_that_have_the_measure_and_say_what_was_resampled(
    capsys: pytest.CaptureFixture[str], example: list[str]
) -> None:
    rows = document(capsys, *example)["rows"]
    means = {row["measure"]: row for row in rows if row["topic"] is None and row["system"] == "first"}
    topics = [row["value"] for row in rows if row["measure"] == "ERR" and row["topic"] and row["system"] == "first"]
    assert means["ERR"]["value"] == pytest.approx(sum(topics) / 4)
    assert (means["ERR"]["n"], means["ERR"]["topics"], means["ERR"]["resampled"]) == (4, 4, "topics")
    assert means["ERR"]["low"] < means["ERR"]["value"] < means["ERR"]["high"]
    alone = means["GF(R-GENDER, by=JSD)"]
    assert (alone["n"], alone["low"], alone["interval"]) == (1, None, None)
    assert "one topic" in alone["note"]


def test_the_same_command_prints_the_same_and_files_may_stand_in_any_order(
    capsys: pytest.CaptureFixture[str], example: list[str], tmp_path: Path
) -> None:
    first = document(capsys, *example)
    again = document(capsys, *example)
    assert first == again
    sets = list(REFERENCE["sets"])
    repeated = ["--qrels", str(tmp_path / "small.qrels")]
    for name in reversed(sets):
        repeated += ["--gold", str(tmp_path / f"{name}.golddistr")]
        repeated += [f"--membership={name}={tmp_path / f'small.{name}.gmemb'}"]
    repeated += ["--run", str(tmp_path / "first"), "--run", str(tmp_path / "second")]
    assert document(capsys, *repeated)["rows"] == first["rows"]


def test_a_run_without_a_topic_counts_0_for_the_topic_and_a_note_says_so(
    capsys: pytest.CaptureFixture[str], example: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "first"
    kept = [line for line in path.read_text().splitlines() if not line.startswith("movie")]
    path.write_text("\n".join([*kept, "unasked 0 d 1 1 first"]) + "\n")
    found = document(capsys, *example)
    row = next(
        row for row in found["rows"] if (row["system"], row["topic"], row["measure"]) == ("first", "movie", "ERR")
    )
    assert (row["value"], row["n"]) == (0, 0)
    assert "serves nobody" in row["note"]
    assert "first has no list for 1 of 4 topics; they count as 0." in found["notes"]
    assert "first has lists for 1 topic outside the qrels, which are left out." in found["notes"]


def test_groups_of_unknown_scale_give_no_gfr_until_the_scale_is_given(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "q").write_text("T a L2\nT b L0\nU a L1\n")
    (tmp_path / "LANGUAGE.gmemb").write_text("T a 1 0\nT b 0 1\nU a 1 0\n")
    (tmp_path / "LANGUAGE.golddistr").write_text("0.5\n0.5\n")
    (tmp_path / "r").write_text("T 0 a 1 1 r\nT 0 b 2 1 r\nU 0 a 1 1 r\n")
    files = ["--qrels", str(tmp_path / "q"), "--run", str(tmp_path / "r")]
    files += ["--membership", str(tmp_path / "LANGUAGE.gmemb"), "--gold", str(tmp_path / "LANGUAGE.golddistr")]
    silent = document(capsys, *files)
    assert not any(row["measure"].startswith("GFR") for row in silent["rows"])
    assert any("--nominal LANGUAGE" in note for note in silent["notes"])
    said = document(capsys, *files, "--nominal", "LANGUAGE")
    measures = {row["measure"] for row in said["rows"]}
    assert {"GFR(ERR)", "GFR(iRBU)"} <= measures
    ordered = document(capsys, *files, "--ordinal", "LANGUAGE")
    assert "GFR(ERR, ordinal=NMD)" in {row["measure"] for row in ordered["rows"]}


def test_relevance_alone_can_be_scored_without_groups(capsys: pytest.CaptureFixture[str], example: list[str]) -> None:
    only = [*example[:2], *example[example.index("--run") :]]
    found = document(capsys, *only, "--persistence", "0.9")
    assert {row["measure"] for row in found["rows"]} == {"ERR", "iRBU(p=0.9)"}
    assert found["notes"] == []


def test_the_table_fits_80_columns_and_shows_what_suits_each_scale(
    capsys: pytest.CaptureFixture[str], example: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    out, _ = run(capsys, *example, "--all")
    assert max(map(len, out.splitlines())) <= 80
    assert "mean over topics" in out
    assert "topic researcher" in out
    assert "GF(R-GENDER, by=JSD)" in out
    assert "GF(R-GENDER, by=RNOD)" not in out
    assert "GF(R-HINDEX, by=NMD)" in out
    assert "GF(R-HINDEX, by=JSD)" not in out
    assert "only relevant nuggets" in " ".join(out.split())
    assert "[low, high]: 95% Gaffke-type interval" in out


def test_names_that_could_steer_a_terminal_are_shown_as_pictures(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "q").write_text("T a L2\n")
    (tmp_path / "r").write_text("T 0 a 1 1 \x1b[31m[red]r\n")
    out, _ = run(capsys, "--qrels", str(tmp_path / "q"), "--run", str(tmp_path / "r"))
    assert "\x1b" not in out
    assert "␛[31m[red]r" in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--gains", "L1"], "'L1' does not give the gain of a grade"),
        (["--gains", "L1=-1"], "from 0 to 1000000; write L1=1,L2=3"),
        (["--weights", "utility=1e308"], "from 0 to 1000000; write utility=2,RATINGS=1"),
        (["--gains", "L1=1,L1=2"], "L1 is given twice"),
        (["--gains", "L1=0"], "no grade has a gain above 0"),
        (["--gains", "L1=1"], "grade L2 has no gain"),
        (["--cutoff", "0"], "cutoff"),
        (["--persistence", "0"], "persistence"),
        (["--gains", "L1=1,L2=3", "--gains", "L1=2"], "L1 is given twice"),
        (["--ordinal", "AGE"], "there is no attribute set 'AGE'"),
        (["--weights", "utility"], "'utility' does not give the weight of a part"),
        (["--weights", "utility=1,utility=2"], "utility is given twice"),
        (["--weights", "AGE=1"], "there is no attribute set 'AGE'"),
        (["--weights", "utility=2000000"], "utility=2e+06 is not allowed"),
        (["--ordinal", "M-ORIGIN", "--nominal", "M-ORIGIN"], "cannot be both ordinal and nominal"),
        (["--run", "no-such-run"], "no-such-run: no such file"),
        (["stray"], "stray"),
    ],
)
def test_invalid_input_is_refused_with_one_message(
    capsys: pytest.CaptureFixture[str], example: list[str], arguments: list[str], words: str
) -> None:
    head = [*arguments, *example] if arguments == ["stray"] else [*example, *arguments]
    out, err = run(capsys, *head, code=2)
    assert out == ""
    assert words in err


def test_weights_of_parts_weigh_them_in_every_topic(capsys: pytest.CaptureFixture[str], example: list[str]) -> None:
    plain, found = document(capsys, *example), document(capsys, *example, "--weights", "utility=3,M-RATINGS=0.5")
    assert "weights" not in plain["settings"]
    assert found["settings"]["weights"] == {"utility": 3.0, "M-RATINGS": 0.5}
    values = {(row["system"], row["topic"], row["measure"]): row["value"] for row in plain["rows"]}
    seen = 0
    for row in found["rows"]:
        term = parse(row["measure"])
        if term.name != "GFR":
            assert row["value"] == values[row["system"], row["topic"], row["measure"]]
        elif row["topic"] is not None:
            here = {
                name: values.get((row["system"], row["topic"], f"GF({name}, by={by})"))
                for name, by in (("M-RATINGS", str(term.get("ordinal"))), ("M-ORIGIN", "JSD"))
            }
            if row["topic"] != "movie":
                continue
            utility = values[row["system"], row["topic"], str(term.arguments[0])]
            expected = (3 * utility + 0.5 * here["M-RATINGS"] + here["M-ORIGIN"]) / 4.5  # type: ignore[operator]
            assert row["value"] == pytest.approx(expected, abs=1e-12)
            seen += 1
    assert seen


def test_sets_of_a_topic_that_all_have_weight_0_leave_gfr_undefined(
    capsys: pytest.CaptureFixture[str], example: list[str]
) -> None:
    rows = document(capsys, *example, "--weights", "M-ORIGIN=0,M-RATINGS=0")["rows"]
    movies = [row for row in rows if row["topic"] == "movie" and row["measure"].startswith("GFR")]
    assert movies
    assert {(row["value"], row["note"]) for row in movies} == {(None, "every attribute set of this topic has weight 0")}


def test_the_mean_of_a_run_has_the_note_and_the_counts_of_the_topics_with_a_value(
    capsys: pytest.CaptureFixture[str], example: list[str]
) -> None:
    rows = document(capsys, *example, "--weights", "R-HINDEX=0,R-GENDER=0")["rows"]
    own = [row for row in rows if row["system"] == "first" and row["measure"] == "GFR(ERR, ordinal=NMD)"]
    (mean,) = (row for row in own if row["topic"] is None)
    without, *others = (row for row in own if row["topic"] is not None)
    assert (without["topic"], without["value"], without["unknown"]) == ("researcher", None, 4)
    assert "weight 0" in without["note"]
    assert "weight 0" not in mean["note"]
    assert (mean["n"], mean["unknown"]) == (len(others), sum(row["unknown"] for row in others))


def test_two_runs_with_the_same_name_are_refused(capsys: pytest.CaptureFixture[str], example: list[str]) -> None:
    _, err = run(capsys, *example, example[-1], code=2)
    assert "2 runs are called 'second'" in err


def test_the_example_of_the_page_prints_what_the_page_shows(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)
    for name, text in re.findall(r"`([\w.-]+)`:\n\n```\n(.*?)```", PAGE, re.DOTALL):
        (tmp_path / name).write_text(text)
    shown = re.search(r"```console\n\$ harvest metrics gfr (.*?)\n(.*?)```", PAGE, re.DOTALL)
    assert shown is not None
    out, _ = run(capsys, *shown[1].split())
    assert [line.rstrip() for line in out.splitlines()] == shown[2].splitlines()


def test_the_examples_of_the_page_in_python_are_what_the_functions_give() -> None:
    failed, tried = doctest.testfile(str(PATH), module_relative=False, encoding="utf-8")
    assert (failed, tried > 8) == (0, True)


def test_the_page_names_every_option_measure_and_default() -> None:
    for parameter in command.params:
        assert f"`{parameter.opts[0]}" in PAGE, parameter.opts
    for name in ("ERR", "iRBU", "GF(SET, by=X)", "GFR(ERR, ordinal=X)", "S-measure", "T-measure", "F-flat", "W-recall"):
        assert f"`{name}`" in PAGE, name
    for name in ("U-measure", "U-IA", "M-measure"):
        assert f"`{name}`" in PAGE, name
    assert ",".join(f"L{grade}={gain:g}" for grade, gain in GAINS.items()) in PAGE
