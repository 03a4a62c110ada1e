"""Runs that are scored side by side: over what they have in common, and what sets them apart is said."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.console import Console

from harvest.cli.main import main
from harvest.studies.runs.readings import changes_between, describe_changes, group_by_value
from harvest.studies.scores.gathered import gather_runs
from harvest.studies.watch.baseline import make_baseline
from harvest.studies.watch.figures import watch_tables
from harvest.studies.watch.watch import watch
from protocols.library import load_protocol
from protocols.protocol import Protocol
from recordings.conversations.conversation import Conversation, Turn
from recordings.files.json_text import Json
from recordings.formats.imports import record
from recordings.judged.gold_layers import keep_gold
from recordings.judged.judgments import Judgment, Layer, write_layer
from recordings.log.header import make_header
from recordings.log.run_folder import read
from tests.support.scoring_examples import CHAT, GENDER, MOVIE, conversation, movie, topic_set
from topics.attributes import AttributeSet
from topics.gold import GoldEntry, GoldTable
from topics.topic import Topic, TopicSet

TWO_ROUND = load_protocol("fairweb-two-round")


def made(
    folder: Path,
    labels: Mapping[str, str],
    *,
    topics: TopicSet | None = None,
    protocol: Protocol | None = TWO_ROUND,
    trials: int = 1,
    options: Mapping[str, Json] | None = None,
    model: str = "",
    population: Json = None,
    **audit: Json,
) -> Path:
    """A run of the system `mine`: the labels of its conversation on each topic, in each trial the same."""
    chosen = topics or topic_set(*(Topic(name, CHAT, f"About {name}?") for name in labels))
    header = make_header(
        audit={"name": "t", "trials": trials, **audit},
        protocol=protocol,
        topics=chosen,
        systems={
            "mine": {"name": "mine", "driver": "openai", "options": dict(options or {}), "population": population}
        },
    )
    record(
        folder, [one for topic, text in labels.items() for one in _conversations(topic, text, trials, model)], header
    )
    return folder


def _conversations(topic: str, labels: str, trials: int, model: str = "") -> list[Conversation]:
    said = [("say", f"see {movie(number)}") for number in range(1, len(labels) + 1)]
    each = [
        conversation(*said, labels=labels, topic=topic, system="mine", trial=trial) for trial in range(1, trials + 1)
    ]
    return [replace(one, turns=tuple(_by(model, turn) for turn in one.turns)) for one in each]


def _by(model: str, turn: Turn) -> Turn:
    assert turn.reply is not None
    return replace(turn, reply=replace(turn.reply, model=model))


def score(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as done:
        main(["score", *map(str, words)])
    told = capsys.readouterr()
    assert isinstance(done.value.code, int)
    return done.value.code, told.out, told.err


def document(capsys: pytest.CaptureFixture[str], *words: object) -> dict[str, Any]:
    code, out, told = score(capsys, *words, "--json")
    assert code == 0, told
    value = json.loads(out)
    assert isinstance(value, dict)
    return value


def figure(value: Mapping[str, Any], system: str, measure: str = "%useful", turn: int | None = 1) -> dict[str, Any]:
    (found,) = (
        row
        for row in value["rows"]
        if (row["measure"], row["system"], row["turn"]) == (measure, system, turn)
        and row["topic"] is None is row["trial"] is row["topic_type"]
    )
    assert isinstance(found, dict)
    return found


def contrasts(value: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    return {one["what"]: one for one in value["differences"]}


FOUR = {"T1": "oo", "T2": "oo", "T3": "xx", "T4": "xx"}


def test_similar_runs_have_no_differences_and_share_all_topics(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [made(tmp_path / name, FOUR) for name in ("jan", "feb")]
    value = document(capsys, *runs)
    assert value["differences"] == []
    assert (figure(value, "mine@jan")["value"], figure(value, "mine@feb")["n"]) == (0.5, 4)
    _, out, _ = score(capsys, *runs)
    assert "the runs differ" not in out
    assert document(capsys, runs[0])["differences"] == []


def test_only_topics_that_every_run_tried_are_in_the_figures_and_the_others_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """All four topics of jan are half useful, the two that feb has were all useful in jan."""
    monkeypatch.setenv("COLUMNS", "80")
    runs = [made(tmp_path / "jan", FOUR), made(tmp_path / "feb", {"T1": "oo", "T2": "xo"})]
    value = document(capsys, *runs)
    assert [figure(value, f"mine@{run.name}")["value"] for run in runs] == [1.0, 0.5]
    assert [figure(value, f"mine@{run.name}")["n"] for run in runs] == [2, 2]
    assert contrasts(value)["topics"]["runs"] == {"jan": ["T3", "T4"], "feb": []}
    assert {row["topic"] for row in value["rows"]} == {"T1", "T2", None}
    _, out, _ = score(capsys, *runs)
    said = " ".join(out.split())
    assert "- figures are over the 2 topics that both runs tried; left out: of jan T3, T4" in said
    assert "T3" not in out.partition("the runs differ")[0], "no row of the grid"
    assert out.index("the runs differ") < out.index("measure"), "above the figures"
    assert max(map(len, out.splitlines())) <= 80


def test_systems_recorded_by_several_runs_are_shown_together(tmp_path: Path) -> None:
    topics = topic_set(Topic("T1", CHAT, "About T1?"))
    runs = []
    for name in ("jan", "feb"):
        header = make_header(audit={"name": "t"}, protocol=TWO_ROUND, topics=topics, systems={"a": {}, "b": {}})
        talks = [conversation(("say", "well"), labels="o", topic="T1", system=system) for system in "ab"]
        record(tmp_path / name, talks, header)
        runs.append(read(tmp_path / name))
    assert gather_runs(runs).material.systems == ("a@jan", "a@feb", "b@jan", "b@feb")


def test_topics_that_a_run_has_not_reached_yet_are_left_out_of_the_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    both = topic_set(*(Topic(name, CHAT, "?") for name in FOUR))
    runs = [made(tmp_path / "jan", FOUR, topics=both), made(tmp_path / "feb", {"T3": "oo"}, topics=both)]
    value = document(capsys, *runs)
    assert [figure(value, f"mine@{run.name}")["value"] for run in runs] == [0.0, 1.0]
    assert contrasts(value)["topics"]["runs"] == {"jan": ["T1", "T2", "T4"], "feb": []}


def test_runs_without_a_common_topic_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = [made(tmp_path / "books", {"B1": "oo", "B2": "oo"}), made(tmp_path / "movies", {"M1": "xx"})]
    code, _, told = score(capsys, *runs)
    assert code == 2
    assert "no topic in common: books has B1, B2; movies has M1" in " ".join(told.split())
    empty = made(tmp_path / "empty", {}, topics=topic_set(Topic("B1", CHAT, "About B1?")))
    code, _, told = score(capsys, runs[0], empty)
    assert code == 2
    assert "no trial is recorded in this run" in told


def test_a_topic_with_another_request_is_in_no_figure_and_its_words_are_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = "Please list at least ten films in which somebody travels through "
    old, new = (topic_set(Topic("T1", CHAT, f"{words}{where}."), Topic("T2", CHAT, "?")) for where in ("time", "space"))
    labels = {"T1": "oo", "T2": "xx"}
    runs = [made(tmp_path / "jan", labels, topics=old), made(tmp_path / "feb", labels, topics=new)]
    value = document(capsys, *runs)
    assert figure(value, "mine@jan")["value"] == 0.0
    said = contrasts(value)["topic"]["said"]
    assert said == "topic T1: request is …s through time. in jan, …s through space. in feb"


def test_a_system_is_identified_even_if_no_trial_is_in_both_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    jan = made(tmp_path / "jan", FOUR)
    both = topic_set(*(Topic(name, CHAT, f"About {name}?") for name in FOUR))
    header = make_header(
        audit={"trials": 2}, protocol=TWO_ROUND, topics=both, systems={"mine": {"name": "mine", "driver": "openai"}}
    )
    later = [replace(one, key=replace(one.key, trial=2)) for name in FOUR for one in _conversations(name, "xx", 1)]
    record(tmp_path / "feb", later, header)
    value = document(capsys, jan, tmp_path / "feb")
    assert [figure(value, f"mine@{name}")["value"] for name in ("jan", "feb")] == [0.5, 0.0]


def test_other_differences_are_reported_by_run_and_are_in_no_figure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    later = replace(TWO_ROUND, version=2)
    runs = [
        made(tmp_path / "jan", FOUR, options={"model": "small", "stream": True}, groups=["older", "younger"]),
        made(tmp_path / "feb", FOUR, protocol=later, trials=3, options={"model": "large", "stream": True}),
    ]
    value = document(capsys, *runs)
    found = contrasts(value)
    assert list(found) == ["protocol", "groups", "trials", "system"]
    assert found["protocol"]["said"].startswith("protocol: version is 1 in jan, 2 in feb: turns, labels and ends")
    assert found["protocol"]["runs"]["feb"] == {"name": "fairweb-two-round", "version": 2}
    assert found["groups"]["runs"] == {"jan": ["older", "younger"], "feb": []}
    assert found["trials"]["said"] == "trials of each topic: 1 in jan, 3 in feb"
    assert found["system"]["said"] == "system mine: options.model is small in jan, large in feb"
    assert [figure(value, f"mine@{run.name}")["n"] for run in runs] == [4, 12]
    _, out, _ = score(capsys, *runs)
    for one in found.values():
        assert one["said"] in " ".join(out.split())


def test_other_users_of_the_trials_are_named_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = [
        made(tmp_path / name, FOUR, population={"hasty": {"share": share}})
        for name, share in (("jan", 0.3), ("feb", 0.5))
    ]
    found = contrasts(document(capsys, *runs))
    assert list(found) == ["users"]
    assert found["users"]["said"] == "simulated users: population.hasty.share is 0.3 in jan, 0.5 in feb"


def test_topics_with_another_number_of_trials_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = [
        made(tmp_path / "jan", FOUR, trials=3),
        made(tmp_path / "feb", FOUR, trials=3, trials_of={"T1": 9, "T2": 3}),
    ]
    found = contrasts(document(capsys, *runs))["trials"]
    assert found["said"] == (
        "trials of single topics: T1 is 3 in jan, 9 in feb; in means over topics each topic still counts alike"
    )
    assert found["runs"]["feb"] == {"trials": 3, "trials_of": {"T1": 9, "T2": 3}}
    same = made(tmp_path / "mar", FOUR, trials=3, trials_of={"T1": 3})
    assert "trials" not in contrasts(document(capsys, runs[0], same)), "written in another way, but the same"


def test_another_protocol_is_named_and_an_import_has_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = [
        made(tmp_path / "jan", FOUR),
        made(tmp_path / "feb", FOUR, protocol=load_protocol("recovery")),
        made(tmp_path / "mar", FOUR, protocol=None),
    ]
    said = contrasts(document(capsys, *runs))["protocol"]["said"]
    assert said.startswith("protocol: fairweb-two-round in jan, recovery in feb, none known in mar")


def test_a_system_that_answers_with_another_model_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    jan, feb, mar = (
        made(tmp_path / name, FOUR, model=model)
        for name, model in (("jan", "m1 fp_1"), ("feb", "m1 fp_2"), ("mar", ""))
    )
    found = contrasts(document(capsys, jan, feb))
    assert found["model"]["said"] == "mine says that it answered with another model: m1 fp_1 in jan, m1 fp_2 in feb"
    assert found["model"]["runs"] == {"jan": ["m1 fp_1"], "feb": ["m1 fp_2"]}
    assert "model" not in contrasts(document(capsys, jan, mar)), "not known is not another"


def test_a_baseline_knows_the_models_that_answered_and_a_watch_reports_other_models(tmp_path: Path) -> None:
    january, march, old = (
        read(made(tmp_path / name, FOUR, trials=3, model=name.removeprefix("old"))) for name in ("m1", "m2", "old")
    )
    baseline = make_baseline([january], measures=(), by="me", at="2026-01-31")
    assert baseline.systems["mine"].models == ("m1",)
    (found,) = watch(march, baseline).systems
    assert found.models == (("m1",), ("m2",))
    assert "mine: answered as m2, before as m1" in "\n".join(map(str, watch_tables(watch(march, baseline))))
    assert "answered as" not in "\n".join(map(str, watch_tables(watch(old, baseline))))
    console = Console(width=120, file=io.StringIO(), record=True)
    console.print(*watch_tables(watch(march, baseline)))
    told = " ".join(console.export_text().split())
    assert "difference [low, high]" in told, "brackets are no markup"
    assert "[low, high]°: the 95% interval of the difference between these very runs, at their hours" in told
    assert '"models"' not in make_baseline([old], measures=(), by="me", at="2026-01-31").text(), (
        "as baselines always were"
    )


def test_audits_that_score_differently_are_refused_unless_an_option_decides(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    films = topic_set(Topic("M1", MOVIE, "Films?"))
    runs = [
        made(tmp_path / "jan", {"M1": "oo"}, topics=films),
        made(tmp_path / "feb", {"M1": "oo"}, topics=films, scoring={"patience": 600, "gains": {"L1": 0.2}}),
    ]
    for run in runs:
        keep_gold(run, GoldTable([GoldEntry("M1", movie(1), 1, "", {})]), source="t")
    for order in (runs, runs[::-1]):
        code, _, told = score(capsys, *order)
        flat = " ".join(told.split())
        assert code == 2
        assert "patience is 1250 in jan, 600 in feb" in flat or "patience is 600 in feb, 1250 in jan" in flat
        assert "--patience L --gain GRADE=GAIN" in flat
    options = ("--patience", "600", "--gain", "L1=0.2", "-m", "R")
    value = document(capsys, *runs, *options)
    assert value["settings"]["patience"] == 600
    alone = document(capsys, runs[0], *options)
    assert figure(value, "mine@jan", "R", None)["value"] == figure(alone, "mine", "R", None)["value"]


def test_a_changed_attribute_set_and_different_gold_are_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = replace(GENDER, gold=(0.5, 0.25, 0.25))
    assert isinstance(other, AttributeSet)
    films = Topic("M1", MOVIE, "Films?")
    sets: Sequence[TopicSet] = (
        topic_set(films),
        replace(topic_set(films), attributes={**topic_set().attributes, "GENDER": other}),
    )
    runs = [
        made(tmp_path / name, {"M1": "oo"}, topics=topics)
        for name, topics in zip(("jan", "feb", "mar"), (*sets, sets[0]))
    ]
    for grade, run in zip((1, 2), runs):
        keep_gold(run, GoldTable([GoldEntry("M1", movie(1), grade, "", {})]), source="t")
    value = document(capsys, *runs, "-m", "R")
    said = [one["said"] for one in value["differences"]]
    assert any(one.startswith("attribute set GENDER: gold.0 is 0.3333333333333333 in jan and mar") for one in said)
    assert "gold: 1 entity judged differently; the newest judgment is used for all" in said
    assert any(one.startswith("gold: mar has none of its own") for one in said)
    (tmp_path / "gold.csv").write_text(f"topic,entity,grade\nM1,{movie(1)},1\n")
    given = document(capsys, *runs, "-m", "R", "--gold", tmp_path / "gold.csv")
    assert "gold" not in contrasts(given), "the table that was given judges all"


def test_judgments_that_only_one_run_has_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = [made(tmp_path / name, FOUR) for name in ("jan", "feb")]
    judged = Judgment({"trial": "mine-T1-1", "attempt": 1, "turn": 1}, "Fluency", 1.0)
    write_layer(runs[0], Layer("human", "anna", "1", judgments=(judged,)))
    found = contrasts(document(capsys, *runs, "-m", "SWAN"))["judgments"]
    assert found["runs"] == {"jan": ["human:anna"], "feb": []}
    assert found["said"].startswith("judgments: human:anna in jan, none in feb")


_values = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.text("ab", max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)


def given_keys(value: Json) -> Json:
    """`value` without the keys that hold null."""
    if isinstance(value, dict):
        return {key: given_keys(held) for key, held in value.items() if held is not None}
    return [given_keys(held) for held in value] if isinstance(value, list) else value


@given(_values, _values)
@example({}, {"a": None})
def test_changes_are_there_exactly_where_values_differ(one: Json, two: Json) -> None:
    found = list(changes_between({"x": one, "y": two}))
    assert bool(found) == (given_keys(one) != given_keys(two))
    for path, by_run in found:
        assert by_run["x"] != by_run["y"]
        at: list[Any] = [one, two]
        for key in path.split(".") if path else ():
            at = [value[int(key)] if isinstance(value, list) else value.get(key) for value in at]
        assert [by_run["x"], by_run["y"]] == at


def test_long_values_are_shortened_to_their_differences_and_many_changes_are_counted() -> None:
    said = group_by_value({"a": "x" * 60 + "one", "b": "x" * 60 + "two", "c": "x" * 60 + "one"})
    assert said == "…xxxxxxxxxxone in a and c, …xxxxxxxxxxtwo in b"
    many = list(changes_between({"a": {str(i): 1 for i in range(5)}, "b": {str(i): 2 for i in range(5)}}))
    assert describe_changes(many).endswith("2 is 1 in a, 2 in b; and 2 more differences")
