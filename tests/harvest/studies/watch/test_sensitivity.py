"""What `harvest watch bless` says of the smallest fall that later audits confirm."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harvest.studies.watch.baseline import BaselineFile, read_baseline
from harvest.studies.watch.sensitivity import sensitivity_sentences
from tests.support.command_line import harvest
from tests.support.watched_bot import bless, watch

NEVER_THE_SAME = (
    "No number of trials is likely to show that nothing changed by more than 3 points, so most audits end with cannot "
    "tell: bless more runs, or let a larger difference matter (--matters)."
)


@pytest.fixture(scope="module")
def blessed(tmp_path_factory: pytest.TempPathFactory) -> BaselineFile:
    folder = bless(watch(tmp_path_factory.mktemp("sensitive")), *(f"runs/base-{number}" for number in range(4)))
    return read_baseline(folder / "audit.baseline.json")


def test_the_sentence_names_the_size_of_the_audits_and_what_would_help(blessed: BaselineFile) -> None:
    (said,) = sensitivity_sentences(blessed)
    found = re.fullmatch(
        r"bot: within 4 audits of this size \(8 topics × 6 trials\), a fall of ave%useful by (?P<within>\d+) points is "
        r"confirmed in 4 cases of 5\. Smaller falls: (?P<trials>\d+) points with twice the trials"
        r"(?:, \d+ points with 8 blessed runs)?\. For the first audit to raise an alarm, it takes (?P<first>\d+) "
        r"points\. (?P<same>.+)",
        said,
    )
    assert found is not None, said
    assert found["same"] == NEVER_THE_SAME
    within, first, trials = (int(found[name]) for name in ("within", "first", "trials"))
    assert 3 < trials < within < first < 90


def test_three_runs_are_said_to_lack_a_fourth_as_in_the_command(blessed: BaselineFile, tmp_path: Path) -> None:
    few = blessed.model_copy(update={"runs": blessed.runs[:3]})
    (said,) = sensitivity_sentences(few)
    assert said.startswith("fewer than 4 blessed runs do not show how much audits differ by themselves: ")
    folder = watch(tmp_path)
    assert harvest("run", "audit.yaml", "--out", "one", cwd=folder).returncode == 0
    done = harvest("watch", "bless", "one", "--out", "audit.baseline.json", cwd=folder)
    assert said in " ".join(done.stderr.split())


def test_a_figure_that_cannot_fall_far_enough_is_named(blessed: BaselineFile) -> None:
    system = blessed.systems["bot"]
    low = dict.fromkeys(system.figures["ave%useful"].topics, (24, 0.04, 0.04))
    figure = system.figures["ave%useful"].model_copy(update={"topics": low, "runs": (0.03, 0.05, 0.04, 0.04)})
    worse = system.model_copy(update={"figures": {"ave%useful": figure}})
    many = {"bot": worse, **{f"bot-{number}": worse for number in range(5)}}
    sentences = [*sensitivity_sentences(blessed.model_copy(update={"systems": many}))]
    assert sentences[0] == (
        "bot: no fall of ave%useful is likely to be confirmed within 4 audits of this size (8 topics × 6 trials). "
        f"{NEVER_THE_SAME}"
    )
    assert sentences[-1] == "not computed for 2 more systems"


def test_a_baseline_of_many_steady_runs_says_how_many_trials_call_an_audit_the_same(blessed: BaselineFile) -> None:
    system = blessed.systems["bot"]
    well = dict.fromkeys(system.figures["ave%useful"].topics, (2400, 0.9, 0.09))
    figure = system.figures["ave%useful"].model_copy(update={"topics": well, "runs": (0.9, 0.902, 0.898, 0.9) * 10})
    known = blessed.model_copy(
        update={
            "runs": blessed.runs * 10,
            "systems": {"bot": system.model_copy(update={"figures": {"ave%useful": figure}})},
        }
    )
    (said,) = sensitivity_sentences(known)
    found = re.search(
        r"by more than 3 points takes about (\d+) trials of each topic, else most end with cannot tell", said
    )
    assert found is not None, said
    assert 60 < int(found[1]) <= 2000
