"""New protocols on old answers: labels, paths and figures, worked by hand and held against what is then played."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from pathlib import Path

import pytest

import protocols
from harvest.audits.audit import load_audit
from harvest.playing.play import play
from harvest.studies.pairs.conversation_rows import outcome_words
from harvest.studies.relabel.figures import relabel_form, summary_lines
from harvest.studies.relabel.relabelling import Figure, Relabelling, relabel
from harvest.studies.scores.gathered import gather_runs, score_runs
from harvest.tables.long_rows import long_latex
from protocols.answer import Answer
from protocols.library import load_protocol
from recordings.conversations.conversation import Conversation, Outcome, SystemTurn, TrialKey, Turn
from recordings.conversations.endings import is_cut_short
from recordings.formats.imports import import_header, record
from recordings.log.run_folder import Run, read
from scoring.notation import parse_all
from tests.support.command_line import harvest
from topics.errors import InputError
from topics.library import load_topics

# By topic: the first answer, and the second, whatever was asked.
ANSWERS = {
    "both": ("Ein Kredit mit 3%.", "Der Kredit läuft 5 Jahre."),
    "first": ("Ein Kredit mit 4%.", "Ein Darlehen."),
    "second": ("Ein Darlehen.", "Ein Kredit."),
    "none": ("Guten Tag.", "Ein Darlehen."),
}
BANK = """\
format: harvest-protocol/1
name: bank
version: 1
rules:
  good: {contains: {phrases: [Kredit]}}
start: ask
states:
  ask:
    say: "{{ topic.request }}"
    edges: [{if: good, label: o, go: more}, {otherwise: true, label: x, go: again}]
  more:
    say: Und weiter?
    edges: [{if: good, label: o, stop: completed}, {otherwise: true, label: x, stop: completed}]
  again:
    say: Noch einmal?
    edges: [{if: good, label: o, stop: completed}, {otherwise: true, label: x, stop: completed}]
"""
SHIPPED = Path(protocols.__file__).parent
LOAN = "{contains: {phrases: [Kredit, Darlehen]}}"
FIRST = "    edges: [{if: good, label: o, go: more}"
SECOND = "    edges: [{if: good, label: o, stop: completed}"
CHANGED = {
    "labels alone": BANK.replace(SECOND, SECOND.replace("good", LOAN)),
    "another path": BANK.replace(FIRST, FIRST.replace("good", LOAN)),
    "an earlier end": BANK.replace(FIRST, FIRST.replace("go: more", "stop: completed")).replace(
        BANK[BANK.index("  more:") : BANK.index("  again:")], ""
    ),
    "a later end": BANK.replace("label: x, stop: completed}]\n  again", "label: x, go: last}]\n  again")
    + '  last: {say: "Bitte!", edges: [{if: good, label: o, stop: completed}, '
    "{otherwise: true, label: x, stop: completed}]}\n",
    "another end": BANK[: BANK.index("  again:")].replace("label: x, go: again", "label: x, stop: breakdown"),
    "another opening": BANK.replace("{{ topic.request }}", "Guten Tag. {{ topic.request }}"),
}  # fmt: skip


def audit_of(folder: Path, protocol: str, **system: object) -> str:
    folder.mkdir(exist_ok=True)
    (folder / "bank.py").write_text(
        f"ANSWERS = {ANSWERS!r}\n\n\ndef answer(text, history):\n"
        "    first = history[0]['content'] if history else text\n"
        "    return ANSWERS[first.removeprefix('Guten Tag. ')][min(sum(one['role'] == 'user' for one in history), 1)]\n"
    )
    (folder / "protocol.yaml").write_text(protocol)
    topics = {
        "format": "harvest-topics/1",
        "name": "bank",
        "types": {"loan": {"asks_for": "a loan"}},
        "topics": [{"id": name, "type": "loan", "request": name} for name in ANSWERS],
    }
    (folder / "topics.yaml").write_text(json.dumps(topics))
    options = {"function": "bank.py:answer", "takes": "history"}
    audit = {
        "format": "harvest-audit/1",
        "name": "bank",
        "topics": "topics.yaml",
        "protocol": "protocol.yaml",
        "trials": 1,
        "systems": [{"name": "Sparkasse", "driver": "python", "options": options, **system}],
    }
    (folder / "audit.yaml").write_text(json.dumps(audit))
    return str(folder / "audit.yaml")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("bank")
    return play(load_audit(audit_of(folder, BANK)), folder / "run")


def relabelled(run: Run, protocol: str, folder: Path) -> Relabelling:
    path = folder / "new.yaml"
    path.write_text(protocol)
    return relabel(run, load_protocol(path))


def values(found: Relabelling, name: str, turn: int | None = None) -> tuple[float, list[float]]:
    figure = found.figures["Sparkasse", (name, turn)]
    assert figure.before is not None
    return figure.before.value, [row.value for row in figure.after]


def test_a_modified_protocol_of_the_recorded_version_is_reported_as_modified(run: Run, tmp_path: Path) -> None:
    """docs/protocols.md: raise the version with every change."""
    other = CHANGED["labels alone"]
    assert any("the same version, 1: raise it" in line for line in summary_lines(relabelled(run, other, tmp_path)))
    for protocol in (other.replace("version: 1", "version: 2"), BANK):
        assert not any("version" in line for line in summary_lines(relabelled(run, protocol, tmp_path)))


def test_labels_alone_change_figures_but_no_path(run: Run, tmp_path: Path) -> None:
    found = relabelled(run, CHANGED["labels alone"], tmp_path)
    assert {one.recorded.key.topic: [c.turn for c in one.changes] for one in found.conversations if one.changes} == {
        "first": [2],
        "none": [2],
    }
    # `second` says Kredit in turn 2; `first` and `none` say Darlehen, which counts only in `more`.
    assert values(found, "%useful", 2) == (0.5, [1.0])
    assert values(found, "ave%useful") == (0.5, [0.75])
    (change,) = found.figures["Sparkasse", ("ave%useful", None)].change
    assert change.value == 0.25
    assert found.count("same") == 4
    assert (found.labels, found.kinds) == (8, {("x", "o"): 2})


def test_if_the_user_would_have_continued_differently_figures_are_bounded(run: Run, tmp_path: Path) -> None:
    found = relabelled(run, CHANGED["another path"], tmp_path)
    (parted,) = [one for one in found.conversations if one.course == "unknown"]
    assert parted.recorded.key.topic == "second"
    assert "would say 'Und weiter?'; in the recording, the user said 'Noch einmal?'" in parted.because
    assert [turn.label for turn in parted.known.turns] == ["o"]
    assert values(found, "%useful", 1) == (0.5, [0.75]), "the first turn is known"
    assert values(found, "%useful", 2) == (0.5, [0.25, 0.5])
    assert values(found, "ave%useful") == (0.5, [0.5, 0.625])
    assert values(found, "%recovery") == (0.5, [0.0]), "only `none` still fails first"
    figure = found.figures["Sparkasse", ("ave%useful", None)]
    assert [one.value for one in figure.change] == [0.0, 0.125]
    interval = figure.change_interval
    assert interval.low == min(one.interval.low for one in figure.change) < 0.0
    assert interval.high == max(one.interval.high for one in figure.change) > 0.125


def test_a_replay_with_the_new_protocol_has_the_known_figures_and_the_same_bounds(run: Run, tmp_path: Path) -> None:
    """docs/protocols.md: conversations that would have continued differently count up to there, and no further."""
    found = relabelled(run, CHANGED["another path"], tmp_path)
    audit = audit_of(tmp_path / "again", CHANGED["another path"], driver="replay", options={"run": str(run.path)})
    replayed = play(load_audit(audit), tmp_path / "again" / "run")
    known = {one.recorded.key: [turn.label for turn in one.known.turns] for one in found.conversations}
    told = {one.key: [turn.label for turn in one.turns if turn.reply] for one in replayed.finished}
    assert told == known
    (cut,) = [one for one in replayed.finished if is_cut_short(one.outcome)]
    assert cut.outcome is not None
    assert (cut.key.topic, cut.outcome.reason) == ("second", "diverged")
    assert outcome_words(cut) == "cut short (diverged)", "no user stopped"
    score = score_runs(replayed)
    rows = {(row.measure, row.turn): row.value for row in score.joint if row.topic is None and row.trial is None}
    assert rows["%useful", 1] == 0.75
    lost = gather_runs([replayed]).material.first_lost
    assert [one.key.topic for one in lost.values()] == ["second"], "what score, compare and report bound"
    again = play(load_audit(audit), tmp_path / "again" / "run")
    assert len(again.conversations) == len(replayed.conversations), "trying again would change nothing"


def test_an_earlier_end_leaves_out_the_later_turns(run: Run, tmp_path: Path) -> None:
    found = relabelled(run, CHANGED["an earlier end"], tmp_path)
    assert found.count("shorter") == 2
    assert values(found, "%useful", 2) == (0.5, [0.5]), "of `second` and `none`"
    assert values(found, "ave%useful") == (0.5, [0.625])


def test_another_end_counts_the_turns_that_it_prevents(run: Run, tmp_path: Path) -> None:
    found = relabelled(run, CHANGED["another end"], tmp_path)
    ends = {one.recorded.key.topic: one.known.outcome.kind for one in found.conversations if one.known.outcome}
    assert ends == {"both": "completed", "first": "completed", "second": "breakdown", "none": "breakdown"}
    # The breakdown after turn 1 prevents turn 2 of `second` and `none`, which counts against the system.
    assert values(found, "%useful", 2) == (0.5, [0.25])
    assert values(found, "ave%useful") == (0.5, [0.375])


def test_the_figures_before_are_those_of_harvest_score(run: Run, tmp_path: Path) -> None:
    parrots = parrot_run(tmp_path / "parrots", "fairweb-two-round")
    for one in (run, parrots):
        scored = {(row.measure, row.turn, row.system): row for row in score_runs(one).joint if row.topic_type is None}
        for (system, (name, turn)), figure in relabel(one).figures.items():
            assert figure.before == scored[name, turn, system] == figure.after[0]


def test_another_opening_leaves_nothing_known(run: Run, tmp_path: Path) -> None:
    found = relabelled(run, CHANGED["another opening"], tmp_path)
    assert (found.count("unknown"), found.labels) == (4, 0)
    assert values(found, "ave%useful") == (0.5, [0.0, 1.0])


@pytest.mark.parametrize("changed", CHANGED)
def test_a_later_play_has_the_known_labels_and_figures_within_the_bounds(
    changed: str, run: Run, tmp_path: Path
) -> None:
    found = relabelled(run, CHANGED[changed], tmp_path)
    played = play(load_audit(audit_of(tmp_path / "played", CHANGED[changed])), tmp_path / "played" / "run")
    truth = {one.key: one for one in played.finished}
    assert len(truth) == len(found.conversations) == 4
    for one in found.conversations:
        now = truth[one.recorded.key]
        known = [(turn.said, turn.label, turn.state) for turn in one.known.turns]
        assert known == [(turn.said, turn.label, turn.state) for turn in now.turns][: len(known)]
        if one.course != "unknown":
            assert len(known) == len(now.turns)
            assert replace(one.known.outcome, missing=None) == now.outcome  # type: ignore[type-var]
    rows = {(row.measure, row.turn): row for row in score_runs(played).joint if row.topic is None and row.trial is None}
    for (_, key), figure in found.figures.items():
        if key not in rows or math.isnan(rows[key].value):
            continue
        ends = [row.value for row in figure.after]
        assert min(ends) <= rows[key].value <= max(ends), key
        if len(figure.after) == 1:
            assert (figure.after[0].low, figure.after[0].n) == pytest.approx((rows[key].low, rows[key].n), nan_ok=True)


def test_a_measure_without_bounds_is_withheld_if_a_path_differs(run: Run, tmp_path: Path) -> None:
    (tmp_path / "new.yaml").write_text(CHANGED["another path"])
    found = relabel(run, load_protocol(tmp_path / "new.yaml"), measures=parse_all("latency"))
    figure = found.figures["Sparkasse", ("latency", None)]
    assert figure.before is not None
    assert not math.isnan(figure.before.value)
    assert figure.after == ()
    assert not figure.change_interval.is_defined


OTHER_RULES = {
    # A simulated user hears the labels of these protocols, of which one rule is another.
    "recovery": ("useful: {urls: {kind: asked, at_least: 1}}", "useful: {words: {at_least: 60}}"),
    "open-ended": ("unanswered: {any: [", "unanswered: {any: [{words: {at_most: 60}}, "),
}


def parrot_run(folder: Path, protocol: str, **more: object) -> Run:
    folder.mkdir()
    audit = {
        "format": "harvest-audit/1",
        "name": "parrot",
        "topics": "fairweb-45",
        "only": ["M001", "M002", "R003"],
        "protocol": protocol,
        "trials": 6,
        "systems": [{"name": "A", "driver": "parrot", "options": {"profile": "erratic"}}],
        **more,
    }
    (folder / "audit.yaml").write_text(json.dumps(audit))
    return play(load_audit(str(folder / "audit.yaml")), folder / "run")


@pytest.mark.parametrize("name", OTHER_RULES)
def test_the_computed_words_of_a_simulated_user_are_those_it_then_says(name: str, tmp_path: Path) -> None:
    old, new = OTHER_RULES[name]
    text = (SHIPPED / f"{name}.yaml").read_text()
    assert text.count(old) == 1
    (tmp_path / "new.yaml").write_text(text.replace(old, new))
    found = relabel(parrot_run(tmp_path / "old", name), load_protocol(tmp_path / "new.yaml"))
    truth = {one.key: one for one in parrot_run(tmp_path / "new", str(tmp_path / "new.yaml")).finished}
    kept = [one for one in found.conversations if one.course == "same" and one.changes]
    assert found.count("unknown")
    assert kept, "labels that were heard, after which the user said the same"
    for one in found.conversations:
        known, now = ([(turn.said, turn.label) for turn in each.turns] for each in (one.known, truth[one.recorded.key]))
        assert known == (now[: len(known)] if one.course == "unknown" else now)
        outcome, then = one.known.outcome, truth[one.recorded.key].outcome
        assert one.course == "unknown" or (outcome and outcome.kind) == (then and then.kind)


LISTENING = BANK[: BANK.index("start:")] + (
    "turn_limit: 4\nusers: {visitor: {simulator: random, leave: 0.2}}\nstart: ask\nstates:\n"
    '  ask: {say: "{{ topic.request }}", edges: [{otherwise: true, label: x, go: wander}]}\n'
    "  wander:\n    user: visitor\n"
    "    edges: [{if: good, label: o, go: wander}, {otherwise: true, label: x, go: wander}]\n"
)


def test_a_redefined_user_says_the_words_of_its_new_definition(tmp_path: Path) -> None:
    recorded = play(load_audit(audit_of(tmp_path / "old", LISTENING)), tmp_path / "old" / "run")
    assert not relabel(recorded).differs
    found = relabelled(recorded, LISTENING.replace("leave: 0.2", "leave: 1"), tmp_path)
    assert {(one.course, len(one.known.turns)) for one in found.conversations} == {("shorter", 2)}


def test_if_users_cannot_be_computed_nothing_is_known_after_a_changed_label(tmp_path: Path) -> None:
    arms = {"as written": {}, "small": {"wording": {"case": 1}}}
    path = Path(audit_of(tmp_path / "old", LISTENING))
    path.write_text(json.dumps({**json.loads(path.read_text()), "arms": arms}))
    recorded = play(load_audit(str(path)), tmp_path / "old" / "run")
    assert not relabel(recorded).differs
    first = LISTENING.replace("label: x, go: wander}]}\n  w", "label: o, go: wander}]}\n  w")
    # Only from its second turn on does the user hear the label of the answer before.
    changed = relabelled(recorded, first, tmp_path).conversations
    assert {(change.turn, one.course) for one in changed for change in one.changes} == {(1, "same")}
    found = relabelled(recorded, LISTENING.replace("{if: good, label: o", "{if: good, label: x"), tmp_path)
    for one in found.conversations:
        left = one.recorded.outcome is not None and one.recorded.outcome.kind == "user-stopped"
        heard = [change for change in one.changes if left or change.turn < len(one.recorded.turns)]
        assert (one.course == "unknown") == bool(heard)
        if heard:
            assert one.known.turns[-1].number == one.changes[0].turn
            assert "the user 'visitor' would have heard the label x, not o" in one.because
    assert found.count("unknown") > 0
    other = relabelled(recorded, LISTENING.replace("leave: 0.2", "leave: 1"), tmp_path)
    assert {(one.course, len(one.known.turns)) for one in other.conversations} == {("unknown", 1)}
    assert all("the user 'visitor' is defined otherwise" in one.because for one in other.conversations)


def test_in_a_continued_session_nothing_later_is_known(tmp_path: Path) -> None:
    audit = load_audit(audit_of(tmp_path / "old", BANK, session="continued"))
    recorded = play(audit, tmp_path / "old" / "run")
    places = {one.key.topic: one.place for one in recorded.finished}
    found = relabelled(recorded, CHANGED["an earlier end"], tmp_path)
    first = min(one.recorded.place for one in found.conversations if one.course == "shorter")
    for one in found.conversations:
        assert (one.course == "unknown") == (places[one.recorded.key.topic] > first)


def test_an_import_has_the_labels_of_a_protocol_regardless_of_the_users_words(tmp_path: Path) -> None:
    audit_of(tmp_path, BANK)
    talks = [
        Conversation(
            TrialKey("S", name, 1),
            f"talk-{name}",
            1,
            tuple(Turn(at, "", said, SystemTurn(Answer.of(each))) for at, (said, each) in enumerate(turns, 1)),
            Outcome("user-stopped", "imported"),
            user="imported",
        )
        for name, answers in ANSWERS.items()
        for turns in [tuple(zip(("Hallo", "Hm"), answers, strict=True))]
    ]
    record(tmp_path / "logs", talks, import_header(talks, load_topics(tmp_path / "topics.yaml")))
    found = relabel(read(tmp_path / "logs"), load_protocol(tmp_path / "protocol.yaml"))
    assert not found.bound
    assert [[turn.label for turn in one.known.turns] for one in found.conversations] == [
        ["o", "o"],
        ["o", "x"],
        ["x", "o"],
        ["x", "x"],
    ]
    assert found.count("same") == 4
    with pytest.raises(InputError, match="no protocol was recorded"):
        relabel(read(tmp_path / "logs"))


def test_the_command_summarises_the_changes_and_lists_them(run: Run, tmp_path: Path) -> None:
    (tmp_path / "new.yaml").write_text(CHANGED["another path"])
    done = harvest("relabel", run.path, "--protocol", tmp_path / "new.yaml", "--fail-on-change", width=200)
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert lines[1:3] == [
        "1 of 7 labels changes (x → o: 1); 1 further label is of later turns, which this protocol may not have asked.",
        "1 of 4 conversations would have continued differently.",
    ]
    (line,) = [line for line in lines if "turn 1: x → o" in line]
    assert line.startswith("Sparkasse second trial 1, turn 1: x → o, because contains is met (contains: ")
    assert "“Darlehen”" in line
    assert any("25.0% to 50.0% [" in line for line in lines)
    assert "; what would have continued differently counts up to there" in " ".join(done.stdout.split())
    same = harvest("relabel", run.path, "--fail-on-change")
    assert same.returncode == 0
    assert "0 of 8 labels change." in same.stdout
    (tmp_path / "new.yaml").write_text(CHANGED["an earlier end"])
    shorter = harvest("relabel", run.path, "--protocol", tmp_path / "new.yaml", width=200).stdout
    assert "change of %useful S2: of the trials that have it before and after: Sparkasse 2 of 4" in shorter
    assert "no interval: change of %useful S2 of Sparkasse (2 topics: too few to resample)" in shorter


def test_each_kind_of_change_is_shown_once_with_the_number_of_others(run: Run, tmp_path: Path) -> None:
    def lines(protocol: str, *options: str) -> list[str]:
        (tmp_path / "new.yaml").write_text(protocol)
        done = harvest("relabel", run.path, "--protocol", tmp_path / "new.yaml", *options, width=200)
        return [line for line in done.stdout.splitlines() if line.startswith("Sparkasse ") or "driver: " in line]

    # In `more`, a loan counts too (topic first); in `again`, nothing does any more (topic second).
    head, tail = BANK.replace(SECOND, SECOND.replace("good", LOAN), 1).split("  again:")
    two_rules = f"{head}  again:{tail.replace('if: good', 'if: {contains: {phrases: [Konto]}}')}"
    more, again, following = lines(two_rules)
    assert more.startswith("Sparkasse first trial 1, turn 2: x → o, because contains is met")
    assert again.startswith("Sparkasse second trial 1, turn 2: o → x, because no rule is met (")
    assert "name it in an audit that replays them: driver: replay, options: {run: run}" in following
    assert "continued differently" not in following
    (shorter, _) = lines(CHANGED["an earlier end"])
    assert shorter.startswith("Sparkasse both trial 1: after the answer to turn 1 the protocol would stop (completed)")
    assert shorter.endswith("; 1 more of this kind")
    assert [line.split()[1] for line in lines(CHANGED["an earlier end"], "--all")] == ["both", "first"]


def test_the_document_of_several_runs_names_each_changed_conversation(run: Run, tmp_path: Path) -> None:
    (tmp_path / "new.yaml").write_text(CHANGED["another path"])
    other = play(load_audit(audit_of(tmp_path / "other", BANK)), tmp_path / "other" / "again")
    done = harvest("relabel", run.path, other.path, "--protocol", tmp_path / "new.yaml", "--json")
    document = json.loads(done.stdout)
    assert document["format"] == "harvest-relabel/1"
    assert [one["run"] for one in document["runs"]] == ["run", "again"]
    (changed,) = document["runs"][1]["changed"]
    assert (changed["topic"], changed["course"], changed["outcome_now"]) == ("second", "unknown", None)
    assert changed["labels"][0]["rules"] == [{"name": "contains", "met": True, "why": "one of the phrases: “Darlehen”"}]
    rows = [row for row in document["long"] if (row["run"], row["measure"], row["turn"]) == ("run", "%useful", 2)]
    assert [(row["figure"], row["estimate"], row["lowest"], row["highest"]) for row in rows] == [
        ("before", 0.5, 0.5, 0.5),
        ("after", None, 0.25, 0.5),
        ("change", None, -0.25, 0.0),
    ]


def test_a_figure_without_an_earlier_value_is_not_unchanged() -> None:
    assert not Figure(None, (), ()).is_same


def test_the_table_for_a_paper_has_bounds_and_points_and_says_what_it_is_of(run: Run, tmp_path: Path) -> None:
    form = relabel_form([relabelled(run, CHANGED["another path"], tmp_path)])
    assert form.paper is not None
    lines = form.paper().splitlines()
    (columns,) = filter(None, (re.fullmatch(r"\\begin\{tabular\}\{([lr]+)\}", line) for line in lines))
    cells = [line for line in lines if line.endswith(r"\\") and "multicolumn" not in line]
    assert {line.count(" & ") + 1 for line in cells} == {len(columns[1])}
    at = next(place for place, line in enumerate(lines) if r"{ave\%useful}" in line)
    assert lines[at + 1] == r"Sparkasse & 50.0\% & 50.0\% to 62.5\% & 0.0 to $+$12.5 \\"
    assert re.fullmatch(r" & \[[\d., ]+\] & \[[\d., ]+\] & \[\$-\$[\d.]+, \$\+\$[\d.]+\] \\\\", lines[at + 2])
    assert not any("n/a" in line for line in lines)
    (caption,) = (line for line in lines if line.startswith(r"\caption"))
    assert r"by the protocol bank, version 1: 1 of 7 labels changed." in caption
    assert "Changes of percentages are in points." in caption
    assert "$a$ to $b$: 1 of 4 conversations would have continued differently" in caption
    assert any(line.startswith("% run run: created_at 20") for line in lines)


def test_the_table_of_all_figures_has_bounds_and_points(run: Run, tmp_path: Path) -> None:
    form = relabel_form([relabelled(run, CHANGED["another path"], tmp_path)])
    table = long_latex([*form.rows()])
    assert r"ave\%useful & Sparkasse & after & topics like these & 50.0\% to 62.5\% &" in table
    assert r"ave\%useful & Sparkasse & change & topics like these & 0.0 to 12.5 points &" in table
