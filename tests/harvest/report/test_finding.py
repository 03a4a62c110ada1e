"""What a report says first, of one system, of two, of one system in two runs, and where there is nothing."""

from __future__ import annotations

import json
import math
import re
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from harvest.report.compared import compared_blocks
from harvest.report.compared_finding import comparison_finding
from harvest.report.document import make_report
from harvest.report.finding import Finding, answer_place, is_share_of_turns, single_finding
from harvest.report.forest import difference_forest
from harvest.report.opening import bars_of_comparison
from harvest.report.page import page
from harvest.studies.compare.comparison import Comparison, compare_runs
from harvest.studies.scores.assessed import Leading
from harvest.studies.scores.gathered import gather_runs
from harvest.studies.scores.scorecard import Material, score_material
from harvest.studies.trees.parted_systems import PartingTurn
from recordings.conversations.conversation import Outcome
from recordings.log.run_folder import read
from scoring.comparison.pairs import SEE_BOUNDS, Driver, Pair
from scoring.inference.interval import Interval, no_interval
from scoring.inference.needed import NeededSize
from scoring.inference.paired import Verdict
from scoring.inference.sameness import Sameness
from tests.support.reported import copied_run, small_run
from tests.support.tree_examples import conversation
from topics.decimals import round_roughly
from topics.topic import Topic, TopicSet, TopicType

ONE = "  - {name: A, driver: parrot}\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("finding")


@pytest.fixture(scope="module")
def two(folder: Path) -> tuple[Comparison, Material]:
    run = read(copied_run(folder / "two"))
    return compare_runs([run]), gather_runs(run).material


def with_difference(
    found: Comparison, verdict: Verdict, value: float, low: float, high: float, **more: float
) -> Comparison:
    """The comparison, were the difference in ave%useful this one."""

    def changed(pair: Pair) -> Pair:
        needed = NeededSize(more.get("topics", 30.0), more.get("trials", 12.0))
        return replace(pair, value=value, interval=Interval(low, high, "t", "topics"), verdict=verdict, needed=needed)

    measures = [
        replace(one, pairs=tuple(changed(pair) for pair in one.pairs)) if one.measure == "ave%useful" else one
        for one in found.measures
    ]
    return replace(found, measures=tuple(measures))


def said(
    found: Comparison, material: Material, verdict: Verdict, value: float, low: float, high: float, **more: float
) -> Finding:
    changed = with_difference(found, verdict, value, low, high, **more)
    return comparison_finding(changed, material, 0.03, [Path("run")])


def test_a_difference_that_is_shown_names_the_better_system_the_topics_and_what_to_read(
    two: tuple[Comparison, Material],
) -> None:
    found = said(*two, "worse", -0.3, -0.4, -0.2)
    assert found.verdict == "better"
    assert found.found.startswith("B is better than A: they answered usefully in ")
    assert "a difference of +30.0 points [+20.0, +40.0]" in found.found
    assert "--beside A,B --topic" in found.command
    assert found.link.startswith("#topic=")


@pytest.mark.parametrize(
    ("low", "high", "told"), [(-0.02, 0.03, True), (-0.02, 0.0301, False), (math.nan, math.nan, False)]
)
def test_the_section_says_so_too_where_two_systems_are_the_same(
    two: tuple[Comparison, Material], low: float, high: float, told: bool
) -> None:
    found, _ = two
    blocks = compared_blocks(with_difference(found, "cannot tell", 0.005, low, high), 0.03, Leading())
    sentence = "the same within 3 points in ave%useful"
    assert any(sentence in str(block.get("text", "")) for block in blocks) is told


def test_an_interval_within_what_matters_is_the_same_and_one_across_it_cannot_be_told(
    two: tuple[Comparison, Material],
) -> None:
    same = said(*two, "cannot tell", 0.005, -0.02, 0.03)
    assert (same.verdict, same.found.split(":")[0]) == ("same", "A and B are the same within 3 points")
    across = said(*two, "cannot tell", 0.01, -0.02, 0.0301)
    assert across.verdict == "cannot tell"
    assert "cannot be told" in across.found
    assert across.next.startswith(
        "The observed difference is smaller than the 3 points that matter. Roughly 30 topics "
    )
    larger = said(*two, "cannot tell", -0.04, -0.1, 0.02)
    assert larger.next.startswith("Roughly 30 topics like these (now 6) would settle it")
    fewer = said(*two, "cannot tell", -0.04, -0.1, 0.02, topics=3.0)
    assert fewer.next.startswith("Roughly 7 topics like these (now 6) would settle it"), "more than there are"
    never = said(*two, "cannot tell", 0.0, -0.2, 0.2, topics=float("inf"))
    assert never.next.startswith("No number of topics like these")


def test_what_would_show_two_to_be_the_same_is_said_instead_of_what_would_show_a_difference(
    two: tuple[Comparison, Material],
) -> None:
    found, material = two
    changed = with_difference(found, "cannot tell", 0.005, -0.05, 0.06, topics=math.inf)
    known = Sameness(0.005, 150, 4.0, 0.15, 0.02, 1.005, 0.05, "like-these")
    measures = tuple(
        replace(one, pairs=tuple(replace(pair, sameness=known) for pair in one.pairs)) for one in changed.measures
    )
    headline = comparison_finding(replace(changed, measures=measures), material, 0.03, [Path("run")])
    needed = round_roughly(known.needed(0.03).topics)
    assert headline.next.startswith(
        "The observed difference is smaller than the 3 points that matter. Roughly "
        f"{needed} topics like these (now 6) would show that they are the same within 3 points, in four studies of five"
    )
    assert known.needed(0.03).topics < 2000
    assert known.needed(0.004).topics == math.inf, "no interval around what was observed is as narrow"
    fewer = with_difference(replace(changed, measures=measures), "cannot tell", 0.005, -0.05, 0.06, topics=90)
    headline = comparison_finding(fewer, material, 0.03, [Path("run")])
    assert "would show one of its size" in headline.next, "fewer show a difference than that they are the same"


def test_a_difference_that_is_shown_and_smaller_than_what_matters_is_said_to_be(
    two: tuple[Comparison, Material],
) -> None:
    found = said(*two, "better", 0.02, 0.01, 0.03)
    assert found.verdict == "better"
    assert ", by less than 3 points" in found.found


def test_where_interval_and_test_do_not_agree_both_are_said(two: tuple[Comparison, Material]) -> None:
    found = said(*two, "cannot tell", 0.3, 0.1, 0.5)
    assert found.verdict == "cannot tell"
    assert "the interval excludes 0, but the test does not settle it (p " in found.found


def test_where_a_winner_is_withheld_the_headline_says_why_and_not_that_a_test_failed(
    two: tuple[Comparison, Material],
) -> None:
    found, material = two
    why = "whether trials were lost depended on what the system had answered, and users said something else"

    def withheld(pair: Pair) -> Pair:
        away = Interval(0.1, 0.5, "t", "topics")
        return replace(
            pair, value=0.3, interval=away, verdict="cannot tell", corrected=0.0001, why=f"{why}{SEE_BOUNDS}"
        )

    measures = tuple(replace(one, pairs=tuple(map(withheld, one.pairs))) for one in found.measures)
    changed = replace(found, measures=measures, selected=frozenset("A"), unlike=frozenset("AB"))
    headline = comparison_finding(changed, material, 0.03, [Path("run")])
    assert f"the interval excludes 0, but {why}." in headline.found
    assert "the test does not settle it" not in headline.found
    assert headline.next.startswith(
        "Whether trials of A were lost depended on what had been answered, and the users of A and B did not "
        "say the same as those of another system: remove the cause"
    )
    assert "would select among the answers" in headline.next


def test_too_few_topics_are_said_and_never_taken_for_the_same(two: tuple[Comparison, Material]) -> None:
    nan = float("nan")
    found = said(*two, "too few", 0.1, nan, nan, topics=nan, trials=nan)
    assert found.verdict == "cannot tell"
    assert found.found.startswith("There are too few topics")


def test_systems_that_have_no_measure_in_common_are_not_compared(two: tuple[Comparison, Material]) -> None:
    found, material = two

    def without(pair: Pair) -> Pair:
        return replace(pair, value=float("nan"), interval=no_interval("no value"), verdict="no value", drivers=())

    measures = tuple(replace(one, pairs=tuple(map(without, one.pairs))) for one in found.measures)
    changed = replace(found, measures=measures, parted=())
    headline = comparison_finding(changed, material, 0.03, [Path("run")])
    assert (headline.verdict, headline.found) == (
        "cannot tell",
        "These systems cannot be compared: no measure has a value for all of them.",
    )
    assert "n/a" not in headline.found + headline.drives
    assert not list(bars_of_comparison(changed, 0.03, Leading()))
    assert not list(difference_forest(changed, 0.03, turned=False))


def test_one_system_has_its_main_figure_with_what_it_is_of_and_its_weakest_topics(folder: Path) -> None:
    report = make_report([read(small_run(folder / "one", ONE))], beside=folder)
    found = report.document["finding"]
    assert found["verdict"] == "measured"
    assert found["found"].startswith("A answered usefully in ")
    assert "interval for topics like these; 18 valid trials of 6 topics, none invalid" in found["scope"]
    assert not [one for one in report.document["sections"] if one["id"] == "compared"]


def test_one_system_in_two_runs_is_asked_whether_it_changed_of_these_topics(folder: Path) -> None:
    first = small_run(folder / "again", ONE)
    other = folder / "later"
    worse = "  - {name: A, driver: parrot, options: {profile: erratic}}\n"
    second = small_run(other, worse)
    (folder / "june").mkdir()
    shutil.copytree(first, folder / "june" / "june")
    shutil.copytree(second, folder / "june" / "july")
    runs = [read(folder / "june" / name) for name in ("june", "july")]
    report = make_report(runs, beside=folder)
    found = report.document["finding"]
    assert "for these topics" in found["scope"]
    said = {"changed": "A is worse in july than in june: it ", "cannot tell": "Whether A changed from june to july"}
    assert found["found"].startswith(said[found["verdict"]])
    assert found["drives"].startswith("The runs differ: system A: options.profile is ")
    assert "the runs differ" not in json.dumps(report.document["sections"])


def test_three_systems_name_the_best_and_those_it_cannot_be_told_from(folder: Path) -> None:
    systems = "".join(
        f"  - {{name: {name}, driver: parrot{options}}}\n"
        for name, options in (("A", ""), ("B", ", options: {profile: erratic}"), ("C", ""))
    )
    report = make_report([read(small_run(folder / "three", systems))], beside=folder)
    found = report.document["finding"]
    assert found["found"].startswith(("Of 3 systems ", "No two of 3 systems"))
    assert found["drives"].count("%") == 3


def test_of_many_systems_the_same_are_named_and_drawn_and_the_rest_is_counted(folder: Path) -> None:
    systems = "".join(
        f"  - {{name: S{number}, driver: parrot{', options: {profile: erratic}' if number < 5 else ''}}}\n"
        for number in range(11)
    )
    report = make_report([read(small_run(folder / "many", systems, trials=1))], beside=folder)
    found, bars = report.document["finding"], report.document["bars"]
    named = re.findall(r"\b(S\d+) [\d.]+%", found["drives"])
    assert [bar["label"] for bar in bars] == named
    assert len(named) == 8
    assert found["drives"].endswith(" and 3 more systems.")
    assert report.document["undrawn"] == "Drawn are those named below, 8 of 11 systems; all are under “Figures”."
    assert "8 of 11 systems" in page(report, "many").html


def test_figures_over_fewer_topics_than_the_bars_are_said_to_be_in_common(folder: Path) -> None:
    bot = "def down(text):\n    if 'robot' in text: raise RuntimeError('down')\n    return 'https://www.imdb.com/title/tt0088763/'\n"
    bot += "def up(text): return 'https://www.imdb.com/title/tt0088763/' if 'robot' not in text else 'I cannot.'\n"
    place = folder / "lost-topic"
    place.mkdir()
    (place / "bots.py").write_text(bot, encoding="utf-8")
    systems = "".join(
        f"  - {{name: {name}, driver: python, options: {{function: 'bots.py:{name}'}}}}\n" for name in ("down", "up")
    )
    report = make_report([read(small_run(place, systems, trials=2))], beside=folder)
    found, bars = report.document["finding"]["found"], report.document["bars"]
    assert re.search(r"they answered usefully in .* over the \d topics in common, a difference of ", found)
    one, other = (float(figure) for figure in re.findall(r"([\d.]+)%", found))
    (drawn,) = [float(bar["said"].split("%")[0]) for bar in bars if bar["label"] == "up"]
    assert drawn < one == other


def test_a_run_without_a_valid_trial_says_so_and_lists_the_reasons(folder: Path) -> None:
    run = small_run(folder / "lost", ONE, trials=1)
    (file,) = run.glob("trials-*.jsonl")
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    for line in lines:
        if line["event"] == "trial-ended":
            line |= {"outcome": "invalid", "reason": "timeout", "detail": "no answer in 60 s"}
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    report = make_report([read(run)], beside=folder)
    assert report.document["finding"]["verdict"] == "nothing"
    invalid, _ = report.document["sections"]
    assert report.document["finding"]["drives"] == "timeout in 6 attempts (“no answer in 60 s”)."
    assert report.document["bars"] == []
    assert invalid["id"] == "invalid"
    assert invalid["blocks"][1]["table"]["rows"] == [["A", "timeout", "6"]]
    assert len(invalid["blocks"][2]["table"]["rows"]) == 6


@pytest.mark.parametrize(
    ("turns", "branch", "said"),
    [
        (("U ask",), "S x", "answer 1: not useful"),
        (("U ask", "S o", "U more"), "S x", "answer 2, after one that was useful: not useful"),
        (
            ("U ask", "S x", "U insist", "S o", "U more"),
            "S o",
            "answer 3, after answers that were not useful, then useful: useful",
        ),
        (("U ask", "S x"), "■ breakdown", "U ask → S x → ■ breakdown:"),
        (("U ask",), "S weiß nicht", "U ask → S weiß nicht:"),
        (("U ask", "S other", "U more"), "S o", "U ask → S other → U more → S o:"),
    ],
)
def test_the_turn_at_which_conversations_part_is_said_in_words(turns: tuple[str, ...], branch: str, said: str) -> None:
    assert answer_place(turns, branch) == said


def test_the_turn_of_most_of_the_difference_is_said_with_the_shares_of_both(two: tuple[Comparison, Material]) -> None:
    found, material = two
    way: tuple[str, ...] = ("U ask", "S o", "U more")
    small = PartingTurn(("U ask",), "S o", (20, 20), (18, 10), (0.9, 0.5), 0.2, 0.01, ())
    large = PartingTurn(way, "S o", (18, 10), (16, 3), (0.89, 0.3), 0.7, 0.02, ())
    unsure = PartingTurn(way, "S x", (18, 10), (2, 7), (0.11, 0.7), 0.9, 0.2, ())

    def drives(verdict: Verdict, *turns: PartingTurn) -> str:
        parted = (replace(found.parted[0], turns=turns),)
        return said(replace(found, parted=parted), material, verdict, 0.2, 0.1, 0.3).drives

    place = "Conversations part most at answer 2, after one that was useful: useful in"
    assert drives("better", small, large, unsure).endswith(f"{place} 89% and 30%.")
    assert drives("worse", small, large, unsure).endswith(f"{place} 30% and 89%.")  # as the figures in the headline
    assert "part most" not in drives("better", unsure)


def test_what_cannot_be_told_says_how_much_better_each_may_be(two: tuple[Comparison, Material]) -> None:
    found = said(*two, "cannot tell", 0.1, -0.073, 0.25)
    assert "[-7.3, +25.0]: A may be better by up to 25.0 points, or B by up to 7.3." in found.found
    assert "may be better" not in said(*two, "better", 0.2, 0.1, 0.3).found
    assert "may be better" not in said(*two, "cannot tell", 0.2, 0.1, 0.3).found  # the test does not settle it
    assert "may be better" not in said(*two, "too few", 0.1, float("nan"), float("nan")).found


def test_these_topics_are_reported_where_nothing_can_be_told_of_others(two: tuple[Comparison, Material]) -> None:
    found, material = two
    one = next(each for each in found.measures if each.measure == "ave%useful")

    def told(verdict: Verdict, these: Verdict, value: float = 0.285) -> str:
        known = replace(
            one.pairs[0], value=value, verdict=these, interval=Interval(value - 0.08, value + 0.08, "t", "trials")
        )
        wide = replace(one.pairs[0], value=value, verdict=verdict, interval=Interval(-0.4, 0.509, "t", "topics"))
        measures = tuple(replace(each, pairs=(wide,)) if each is one else each for each in found.measures)
        on_these = (replace(one, pairs=(known,)),) if known.is_distinguished else ()
        changed = replace(found, measures=measures, on_these=on_these)
        return comparison_finding(changed, material, 0.03, [Path("run")]).found

    topics = f"these {len(one.topics)} topics; for others like them it cannot be told: they answered usefully"
    of = "points [-40.0, +50.9] for topics like these,"
    assert told("cannot tell", "better").startswith(f"A is better on {topics}")
    assert told("too few", "better").endswith(f"+28.5 {of} [+20.5, +36.5] for these topics.")
    assert told("cannot tell", "worse", -0.285).startswith(f"B is better on {topics}")
    assert told("cannot tell", "cannot tell").startswith("Whether A or B is better cannot be told: ")
    assert told("better", "better").startswith("A is better than B: ")


def test_topics_are_said_to_favour_only_the_side_that_they_do(two: tuple[Comparison, Material]) -> None:
    found, material = two
    one = next(each for each in found.measures if each.measure == "ave%useful")
    pair = one.pairs[0]
    some = [replace(pair.drivers[0], topic=f"T{n}", share=share) for n, share in enumerate((0.9, 0.3, 0.0, -0.2))]

    def drives(value: float, drivers: list[Driver]) -> str:
        changed = replace(pair, value=value, verdict="cannot tell", drivers=tuple(drivers))
        measures = tuple(replace(each, pairs=(changed,)) if each is one else each for each in found.measures)
        return comparison_finding(replace(found, measures=measures), material, 0.03, [Path("run")]).drives

    assert drives(0.1, some) == "Topics pull both ways: T0 and T1 towards A, T3 towards B."
    assert drives(-0.1, some) == "Topics pull both ways: T3 towards A, T0 and T1 towards B."
    assert drives(0.1, some[:3]) == "Topics pull one way: T0 and T1 towards A, no topic towards B."


def talks(lengths: Sequence[tuple[str, str]]) -> Material:
    """Of each topic and its labels a conversation with A, in their order."""
    played = [
        replace(
            conversation([("said", "heard")] * len(labels), number, system="A", topic=topic, labels=labels),
            outcome=Outcome("user-stopped", "plan-done"),
        )
        for number, (topic, labels) in enumerate(lengths, 1)
    ]
    names = dict.fromkeys(topic for topic, _ in lengths)
    topics = TopicSet("t", tuple(Topic(name, TopicType("chat"), f"About {name}?") for name in names), {})
    turns = dict.fromkeys((("A", name) for name in names), 1)
    keys = frozenset(one.key for one in played)
    return Material(topics, ("A",), tuple(played), turns, keys, None, {}, (), ())


@pytest.mark.parametrize(
    ("lengths", "said"),
    [
        ([("M1", "ox"), ("M1", "oo"), ("M2", "xx"), ("M2", "xo")], "50.0% of turns"),
        # 5 of 8 turns are 62.5%; topics have 1/4 and 1/1, and 1/1 and 2/2
        ([("M1", "oxxx"), ("M1", "o"), ("M2", "o"), ("M2", "oo")], "81.2% of a conversation's turns on average"),
        # as many turns each, but three conversations of one topic, and one of another: topics count alike
        ([("M1", "oo"), ("M1", "oo"), ("M1", "oo"), ("M2", "xx")], "50.0% of a conversation's turns on average"),
    ],
)
def test_a_headline_says_of_turns_only_where_it_is_the_share_of_turns(
    lengths: list[tuple[str, str]], said: str
) -> None:
    material = talks(lengths)
    found = single_finding("A", material, score_material(material), {}, Leading(), None, Path("run"), "A")
    assert re.sub(r" \[[^]]*\]", "", found.found) == f"A answered usefully in {said}."
    of_all = [label for _, labels in lengths for label in labels]
    share = f"{100 * of_all.count('o') / len(of_all):.1f}%"
    assert ("of turns" in said) == is_share_of_turns(material, ["A"])
    assert "of turns" not in said or said.startswith(share)


def test_what_is_drawn_of_two_runs_is_subtracted_as_in_the_first_sentence(folder: Path) -> None:
    steady = small_run(folder / "direction", ONE)
    erratic = small_run(folder / "reversed", "  - {name: A, driver: parrot, options: {profile: erratic}}\n")
    (folder / "both").mkdir()
    shutil.copytree(steady, folder / "both" / "june")
    shutil.copytree(erratic, folder / "both" / "july")
    runs = [read(folder / "both" / name) for name in ("june", "july")]
    report = make_report(runs, beside=folder)
    blocks = json.dumps(report.document["sections"], ensure_ascii=False)
    assert "difference A@july − A@june [low, high]" in blocks
    assert set(re.findall(r"A@\w+ − A@\w+: together", blocks)) == {"A@july − A@june: together"}
