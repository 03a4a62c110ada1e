"""What Harvest itself has a part in: who read pages, with which site file and rules; it is said where runs differ."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harvest.studies.compare.comparison import compare_runs
from harvest.studies.runs.readings import Reading, reading_of
from harvest.studies.runs.side_by_side import find_contrasts
from harvest.studies.runs.sources import sources
from harvest.studies.variance.variance import study_variance
from protocols.library import load_protocol
from recordings.conversations.conversation import Conversation
from recordings.files.json_text import Json
from recordings.formats.imports import record
from recordings.log.header import DISTRIBUTION, make_header
from recordings.log.run_folder import Run, harvest_versions, read
from recordings.merging.revision import write_revision
from tests.support.command_line import harvest
from tests.support.scoring_examples import CHAT, conversation, topic_set
from topics.topic import Topic

PROTOCOL = load_protocol("fairweb-two-round")


def made(
    folder: Path,
    *opened_with: str,
    driver: str = "browser",
    rule: Sequence[str] = ("refusal/1",),
    source: Json = None,
    parts: Sequence[str] = (),
    **audit: Json,
) -> Run:
    """A run of two systems on four topics. opened_with: the versions that wrote a file each."""
    header = make_header(
        audit={"name": "t", "trials": 2, **audit},
        protocol=PROTOCOL,
        topics=topic_set(*(Topic(f"T{n}", CHAT, f"About {n}?") for n in range(4))),
        systems={name: {"name": name, "driver": driver} for name in "AB"},
        source=source,
    )
    software = [{**header.software, DISTRIBUTION: version} for version in opened_with or ("",)]
    header = replace(header, software=software[0], parts=tuple(_part(header.as_json(), version) for version in parts))
    record(folder, [_said(name, n, trial, rule) for name in "AB" for n in range(4) for trial in (1, 2)], header)
    first = folder / "trials-000001.jsonl"
    opening, _, rest = first.read_text(encoding="utf-8").partition("\n")
    for number, versions in enumerate(software, 1):
        line = json.dumps({**json.loads(opening), "software": versions})
        (folder / f"trials-{number:06}.jsonl").write_text(f"{line}\n{rest if number == 1 else ''}", encoding="utf-8")
    return read(folder)


def _part(value: dict[str, Any], version: str) -> Json:
    return {
        **{key: value[key] for key in ("audit", "created_at", "audit_commit", "source", "redaction", "changes")},
        "software": {DISTRIBUTION: version},
    }


def _said(system: str, topic: int, trial: int, rule: Sequence[str]) -> Conversation:
    one = conversation(("say", "well"), labels="ox"[(topic + trial) % 2], topic=f"T{topic}", system=system, trial=trial)
    (turn,) = one.turns
    assert turn.route is not None
    version = rule[trial % len(rule)]
    return replace(one, turns=(replace(turn, route=replace(turn.route, rule="refusal", version=version)),))


def said(*runs: Run) -> list[str]:
    return [one.said for one in find_contrasts(runs).contrasts]


def test_runs_read_by_one_version_are_not_reported_as_different(tmp_path: Path) -> None:
    runs = [made(tmp_path / name, "0.1.0") for name in ("jan", "feb")]
    assert said(*runs) == said(runs[0]) == []
    assert [one["reading"] for one in sources(runs)] == [
        {"recorded_with": ["0.1.0"], "read_again_with": None, "read_again": None}
    ] * 2


def test_pages_that_other_versions_read_are_named_by_every_study_of_several_runs(tmp_path: Path) -> None:
    runs = [made(tmp_path / "jan", "0.1.0"), made(tmp_path / "feb", "0.2.0")]
    sentence = (
        "pages of A were read by Harvest 0.1.0 in jan, by Harvest 0.2.0 in feb: one page may give another answer; "
        "`harvest pages read-again` shows what today's reading changes"
    )
    for contrasts in (compare_runs(runs).contrasts, study_variance(runs).contrasts, find_contrasts(runs).contrasts):
        assert (contrasts[0].what, contrasts[0].said) == ("reading", sentence)
    assert said(*runs)[1] == sentence.replace("of A", "of B")
    for command in ("score", "compare", "variance"):
        done = harvest(command, *(run.path for run in runs), width=80)
        assert done.returncode == 0, done.stderr
        assert sentence in " ".join(done.stdout.split())
        assert max(map(len, done.stdout.splitlines())) <= 80 or command == "compare"


def test_a_run_continued_by_another_version_differs_within_itself(tmp_path: Path) -> None:
    run = made(tmp_path / "jan", "0.1.0", "0.2.0")
    assert harvest_versions(run) == ("0.1.0", "0.2.0")
    assert said(run)[0].startswith("pages of A were read by Harvest 0.1.0 and 0.2.0 in jan: ")
    for command in ("score", "compare", "variance"):
        told = " ".join(harvest(command, run.path, width=80).stdout.split())
        assert "the run differs within itself" in told
        assert "the runs differ" not in told


def test_the_versions_of_a_merged_run_are_those_of_its_parts(tmp_path: Path) -> None:
    assert harvest_versions(made(tmp_path / "all", "0.1.0", parts=("0.1.0", "0.3.0"))) == ("0.1.0", "0.3.0")


def test_answers_that_were_not_read_from_pages_do_not_depend_on_the_version(tmp_path: Path) -> None:
    assert said(*(made(tmp_path / one, one, driver="openai") for one in ("0.1.0", "0.2.0"))) == []


def test_an_unrecorded_version_is_reported_as_unknown(tmp_path: Path) -> None:
    (first, _) = said(made(tmp_path / "jan", "0.1.0"), made(tmp_path / "old"))
    assert first.startswith("pages of A were read by Harvest 0.1.0 in jan, by an unknown version in old: ")


def test_pages_that_were_read_again_count_by_their_last_reader_and_others_by_their_recorder(tmp_path: Path) -> None:
    made(tmp_path / "jan", "0.1.0", "0.2.0")
    jan = read(tmp_path / "jan", keep_rows=True)
    write_revision(jan, tmp_path / "again", {}, told={"system": "A"})
    again = read(tmp_path / "again")
    assert (reading_of(again).versions, reading_of(again).only) == (("0.1.0", "0.2.0"), "A")
    assert [one.partition(":")[0] for one in said(again)] == [
        "pages of B were read by Harvest 0.1.0 and 0.2.0 in again"
    ]
    assert said(jan, again)[0].startswith(
        f"pages of A were read by Harvest 0.1.0 and 0.2.0 in jan, again by Harvest {reading_of(again).again} in again: "
    )


def test_one_version_read_pages_again_and_the_other_run_was_not_read_again(tmp_path: Path) -> None:
    jan = made(tmp_path / "jan", "0.1.0")
    other = made(
        tmp_path / "feb", "0.1.0", source={"format": "reread", "software": {DISTRIBUTION: "0.1.0"}, "system": None}
    )
    assert reading_of(other) == Reading(("0.1.0",), "0.1.0")
    assert said(jan, other)[0].startswith("pages of A were read by Harvest 0.1.0 in jan, again by Harvest 0.1.0 in feb")


@pytest.mark.parametrize(("driver", "what"), [("browser", "reading"), ("command", "system")])
def test_files_and_defaults_that_changed_under_one_name_are_reported(tmp_path: Path, driver: str, what: str) -> None:
    def one(name: str, content: str, seconds: float, **more: Json) -> Run:
        files: Mapping[str, Json] = {"A": {"chat.yaml": content, "ca.pem": "same"}}
        return made(
            tmp_path / name,
            "0.1.0",
            driver=driver,
            system_files=files,
            system_defaults={"A": {"timeout": seconds, **more}},
        )

    jan, feb = one("jan", "1f", 240.0), one("feb", "2e", 120.0, headed=False)
    found = [(each.what, each.said) for each in find_contrasts([jan, feb]).contrasts]
    assert found == [
        (what, "system A: not the same content of chat.yaml"),
        (what, "system A, not set by the audit: timeout is 240.0 in jan, 120.0 in feb"),
    ]
    assert said(jan, made(tmp_path / "mar", "0.1.0", driver=driver)) == [], "an older audit wrote none of it down"


def test_labels_by_other_versions_of_a_rule_are_reported(tmp_path: Path) -> None:
    jan, feb = made(tmp_path / "jan", "0.1.0"), made(tmp_path / "feb", "0.1.0", rule=("refusal/2",))
    sentence = "answers were labelled by rules of other versions, refusal/1 in jan, refusal/2 in feb: one answer may"
    assert [one.startswith(sentence) for one in said(jan, feb)] == [True]
    composed = made(tmp_path / "composed", "0.1.0", rule=("urls/1 any(empty/1 refusal/1)", "any(empty/1 refusal/1)"))
    assert said(composed) == said(composed, jan) == [], "which rules were tried differs from answer to answer"
    both = made(tmp_path / "both", "0.1.0", rule=("any(empty/1 refusal/1)", "refusal/2"))
    (found,) = find_contrasts([both]).contrasts
    assert (found.what, found.by_run) == ("rules", {"both": ["refusal/1", "refusal/2"]})


def test_a_version_of_any_length_takes_no_time(tmp_path: Path) -> None:
    run = made(tmp_path / "run", "0.1.0", rule=("x" * 1_000_000,))
    before = time.process_time()
    assert said(run) == []
    assert time.process_time() - before < 5, "it took hours: each place was tried to the end"


def test_a_run_that_was_really_played_does_not_differ_within_itself(tmp_path: Path) -> None:
    """The two-round protocol labels by composed rules, and by different ones in each of its states."""
    audit = tmp_path / "audit.yaml"
    audit.write_text(
        "format: harvest-audit/1\nname: small\ntopics: fairweb-45\nonly: [M001, M002, R001, Y001]\n"
        "protocol: fairweb-two-round\ntrials: 3\nsystems:\n"
        "  - {name: A, driver: parrot}\n  - {name: B, driver: parrot, options: {profile: erratic}}\n",
        encoding="utf-8",
    )
    for name in ("jan", "feb"):
        assert harvest("run", audit, "--out", tmp_path / name).returncode == 0
    runs = [read(tmp_path / name) for name in ("jan", "feb")]
    assert len({turn.route.version for one in runs[0].finished for turn in one.turns if turn.route}) > 1
    assert said(runs[0]) == said(*runs) == []
