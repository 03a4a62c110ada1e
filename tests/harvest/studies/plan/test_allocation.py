"""Trials proposed for each topic of an audit, from a recorded pilot: what is proposed, printed and refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harvest.audits.audit import load_audit
from harvest.cli.main import main
from harvest.studies.plan.allocation import Spending, plan_spending
from harvest.studies.plan.spending import spending_form, trials_lines
from protocols.library import load_protocol
from recordings.formats.imports import record
from recordings.log.header import make_header
from recordings.log.run_folder import read
from scoring.notation import parse
from tests.support.scoring_examples import CHAT, conversation, movie, topic_set
from topics.errors import InputError
from topics.topic import Topic
from topics.yaml_values import read_yaml

TOPICS = ("M001", "M002", "R001", "R002", "Y001", "Y002")
AUDIT = (
    f"format: harvest-audit/1\nname: small\ntopics: fairweb-45\nonly: [{', '.join(TOPICS)}]\n"
    "protocol: fairweb-two-round\ntrials: 8\nsystems:\n  - {name: A, driver: parrot, options: {profile: steady}MORE}\n"
)
_TRIALS = 8


def piloted(folder: Path, *, system: str = "A", topics: tuple[str, ...] = TOPICS, trials: int = _TRIALS) -> Path:
    """Every other topic is always answered usefully; the others in every other trial, each time in another way."""
    header = make_header(
        audit={"name": "pilot", "trials": trials},
        protocol=load_protocol("fairweb-two-round"),
        topics=topic_set(*(Topic(name, CHAT, f"About {name}?") for name in topics)),
        systems={system: {"name": system, "driver": "openai"}},
    )
    said = [("say", f"see {movie(number)}") for number in (1, 2)]
    each = [
        conversation(
            *said,
            labels="oo" if topics.index(topic) % 2 == 0 or trial % 2 else "xo" if trial % 4 else "xx",
            topic=topic,
            system=system,
            trial=trial,
        )
        for topic in topics
        for trial in range(1, trials + 1)
    ]
    record(folder, each, header)
    return folder


def audit(folder: Path, more: str = "") -> str:
    path = folder / "audit.yaml"
    path.write_text(AUDIT.replace("MORE", more))
    return str(path)


@pytest.fixture(scope="module")
def spending(tmp_path_factory: pytest.TempPathFactory) -> Spending:
    folder = tmp_path_factory.mktemp("allocation")
    return plan_spending(load_audit(audit(folder)), read(piloted(folder / "pilot")))


def test_topics_that_vary_get_more_trials_out_of_the_audits_total(spending: Spending) -> None:
    each = {one.topic: one.trials for one in spending.topics}
    assert sum(each.values()) == spending.total == 6 * 8
    assert min(each["M002"], each["R002"], each["Y002"]) > max(each["M001"], each["R001"], each["Y001"]) >= 2
    assert spending.found.width < spending.found.equal_width
    assert spending.found.low <= spending.found.narrower <= spending.found.high
    assert spending.continued_width < spending.found.equal_width, "twice the trials"


def test_new_ways_are_those_seen_once(spending: Spending) -> None:
    unseen = {one.topic: one.unseen for one in spending.topics}
    assert unseen == {"M001": 0, "M002": 0, "R001": 0, "R002": 0, "Y001": 0, "Y002": 0}
    assert not any(one.stop for one in spending.topics), "8 trials are too few to be sure"


def test_a_way_seen_once_may_be_one_of_many_and_30_similar_trials_are_enough(tmp_path: Path) -> None:
    few = plan_spending(load_audit(audit(tmp_path)), read(piloted(tmp_path / "few", trials=4)))
    assert few.topics[1].unseen == 0.5, "of 4 trials two were useful, and the others each went a way of its own"
    many = plan_spending(load_audit(audit(tmp_path)), read(piloted(tmp_path / "many", trials=32)))
    assert [one.stop for one in many.topics] == [True] * 6


def test_the_printed_lines_can_be_used_in_an_audit(spending: Spending, tmp_path: Path) -> None:
    lines = trials_lines(spending)
    path = Path(audit(tmp_path))
    path.write_text(path.read_text().replace("trials: 8\n", f"{lines}\n"))
    played = load_audit(str(path))
    wanted = {one.topic: one.trials for one in spending.topics}
    assert {topic.id: played.trials_with(topic) for topic in played.topics.topics} == wanted
    document = spending_form(spending).head
    assert wanted == {name: document["trials_of"].get(name, document["trials"]) for name in wanted}
    assert sum(wanted.values()) == document["total"]


def test_topics_with_any_name_can_be_pasted(spending: Spending) -> None:
    from dataclasses import replace

    names = ["yes", "1", "a b", "ü", "x-1", 'q"']
    renamed = replace(spending, topics=tuple(replace(one, topic=n) for one, n in zip(spending.topics, names)))
    value = read_yaml(trials_lines(renamed) + "\n", "x.yaml").value
    assert isinstance(value, dict)
    own = value["trials_of"]
    assert isinstance(own, dict)
    assert set(own) <= set(names)
    assert {one.topic: own.get(one.topic, value["trials"]) for one in renamed.topics} == {
        one.topic: one.trials for one in renamed.topics
    }


def test_other_measures_are_allocated_too(tmp_path: Path) -> None:
    found = plan_spending(
        load_audit(audit(tmp_path)), read(piloted(tmp_path / "pilot")), measure=parse("ave%useful"), total=36
    )
    assert (found.key[0], sum(one.trials for one in found.topics)) == ("ave%useful", 36)
    assert found.topics[1].trials > found.topics[0].trials


def test_topics_and_systems_that_the_pilot_lacks_are_named(tmp_path: Path) -> None:
    run = read(piloted(tmp_path / "pilot", system="other", topics=TOPICS[:4]))
    found = plan_spending(load_audit(audit(tmp_path)), run)
    assert found.notes == (
        "the pilot says nothing of Y001, Y002: taken to vary as topics do on average",
        "the pilot has no system of the audit; variances are those of other",
    )
    assert found.topics[4].pilot == 0
    assert found.topics[0].spread < found.topics[4].spread < found.topics[1].spread


def refused(tmp_path: Path, more: str = "", *, total: int | None = None, trials: int = 4, topic: str = "M001") -> str:
    run = read(piloted(tmp_path / "pilot", topics=(topic, "M003"), trials=trials))
    with pytest.raises(InputError) as fault:
        plan_spending(load_audit(audit(tmp_path, more)), run, total=total)
    return str(fault.value)


def test_an_impossible_allocation_is_refused_with_the_reason(tmp_path: Path) -> None:
    for number, (more, total, trials, topic, why) in enumerate(
        (
            ("", 11, 4, "M001", "11 trials of each system cannot be shared among 6 topics"),
            ("", None, 1, "M001", "at least one topic needs two trials"),
            ("", None, 4, "X001", "the pilot has none of the topics of this audit"),
            (", session: continued", None, 4, "M001", "sessions of A continue from topic to topic"),
        )
    ):
        folder = tmp_path / str(number)
        folder.mkdir()
        assert why in refused(folder, more, total=total, trials=trials, topic=topic)


def test_the_command_prints_it_in_every_form_and_refuses_irrelevant_options(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    base = ["plan", audit(tmp_path), "--from", str(piloted(tmp_path / "pilot")), "--allocate"]

    def said(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as done:
            main([*arguments])
        out = capsys.readouterr()
        return int(done.value.code or 0), out.out, " ".join(out.err.split())

    code, shown, _ = said(*base)
    assert code == 0
    assert shown.startswith("trials: ")
    assert "trials_of: {" in shown
    assert max(map(len, shown.splitlines())) <= 80
    assert "would narrow the interval of a difference for these topics by" in " ".join(shown.split())
    document = json.loads(said(*base, "--json")[1])
    assert (document["format"], len(document["long"])) == ("harvest-allocation/1", 4 + 3 * 6)
    rows = said(*base, "--csv")[1].splitlines()
    assert len(rows) == 1 + 4 + 3 * 6
    assert said(*base, "--latex")[1].splitlines()[1].startswith(r"\begin{tabular}")
    assert "--detect has no effect on --allocate" in said(*base, "--detect", "5")[2]
    assert "give --from RUN" in said("plan", base[1], "--allocate")[2]
    assert "the difference to detect is missing" in said("plan", base[1])[2]
    assert "--total has no effect on" in said("plan", base[1], "--detect", "5", "--total", "90")[2]
