"""Whose sources answers show, from a run to what is printed: planted citations, counted by hand."""

import csv
import io
import json
import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from xml.etree import ElementTree

import pytest

from harvest.cli.main import main
from harvest.studies.scores.gathered import Gathered, gather_runs
from harvest.studies.sources.exposure import SourceStudy, study_sources
from harvest.studies.sources.figures import system_sentences
from harvest.studies.sources.news import find_news
from harvest.studies.sources.rows import source_rows
from recordings.log.run_folder import Run, read
from tests.support.citing_runs import TABLE, draw_addresses, record_cited
from tests.support.exposure_worlds import ExposureWorld
from topics.errors import InputError
from topics.source_table import parse_source_table

LAW = ExposureWorld(name="of tests", domains=30, exponent=1.2)
EQUAL = ExposureWorld(name="equal, of tests", domains=30, exponent=0.0)
SYSTEMS = ("A", "A2", "B")


def drawn(seed: int) -> Callable[[str, int, int], Sequence[Sequence[str]]]:
    one, other = draw_addresses(LAW, seed), draw_addresses(EQUAL, seed)
    return lambda system, topic, trial: (other if system == "B" else one)(system, topic, trial)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, Run]:
    """An earlier run and a later one, in which A shows another domain on every third topic."""
    folder = tmp_path_factory.mktemp("citing")

    def later(system: str, topic: int, trial: int) -> Sequence[Sequence[str]]:
        found = drawn(2)(system, topic, trial)
        fresh = system == "A" and topic % 3 == 0
        return [[*found[0], "https://fresh.example/x"]] if fresh else found

    return (
        record_cited(folder / "before", drawn(1), systems=SYSTEMS, topics=30),
        record_cited(folder / "after", later, systems=SYSTEMS, topics=30),
    )


@pytest.fixture(scope="module")
def gathered(runs: tuple[Run, Run]) -> Gathered:
    return gather_runs([runs[1]], {"replications": 200}, sources=parse_source_table(TABLE, "sources.csv"))


@pytest.fixture(scope="module")
def study(gathered: Gathered) -> SourceStudy:
    return study_sources(gathered, most=5)


def planted(tmp_path: Path, *addresses: Sequence[Sequence[str]], **options: int) -> SourceStudy:
    """A study of one system, whose topics cite these addresses in every trial, one list for each answer."""
    run = record_cited(
        tmp_path / "run",
        lambda _, topic, trial: addresses[topic],
        topics=len(addresses),
        trials=options.get("trials", 2),
    )
    return study_sources(gather_runs([run], {"replications": 200}))


def test_shares_match_a_count_by_hand(tmp_path: Path) -> None:
    a, b, c = "https://a.example/1", "https://www.a.example/2", "https://b.example/"
    found = planted(tmp_path, [[a, b], [c]], [[a], []], [[c], [c]], [[], []])
    (one,) = found.columns[0].systems
    assert (one.answers, one.with_source, one.citations, one.distinct) == (16, 10, 12, 2)
    shares = [(shown.name, shown.answers, shown.citations) for shown in one.shown]
    # a.example: in half of the answers of two topics of four; three of the six citations of a trial of all topics.
    assert shares == [("a.example", 0.25, 0.5), ("b.example", 0.375, 0.5)]
    # Topic shares of a.example: 2/3, 1, 0. Pairs: 2/3 + 0 + (1/3) for topics 1 and 2, 1 and 3; 2 and 3: 0.
    assert one.same.value == pytest.approx((2 / 3 + 1 / 3 + 0) / 3)
    assert one.same.interval.note == "3 topics: too few to resample"
    assert one.leader == "a.example"
    assert one.largest.value == pytest.approx(5 / 9)
    assert one.entropy == 1
    assert one.alike["Jaccard"].value == 1


@pytest.mark.parametrize(
    ("shown", "said"),
    [
        (["https://a.example/1"], "1 of 1 answer has a source: 1 citation of one domain."),
        (["https://t.co/x"], "1 of 1 answer has a source: 1 citation without a known domain."),
        (
            ["https://a.example/1", "https://b.example/1", "https://t.co/x"],
            "1 of 1 answer has a source: 3 citations, 1 of them without a known domain, "
            "the others of 2 different domains.",
        ),
    ],
)
def test_citations_are_counted_in_words(tmp_path: Path, shown: list[str], said: str) -> None:
    (column,) = planted(tmp_path, [shown], trials=1).columns
    assert next(system_sentences(column.systems[0], column)) == said


def test_a_run_without_sources_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no answer has a source"):
        planted(tmp_path, [[]], [[]])


def test_unknown_systems_and_columns_are_refused(gathered: Gathered) -> None:
    with pytest.raises(InputError, match="unknown system 'C'"):
        study_sources(gathered, systems=["C"])
    with pytest.raises(InputError, match="unknown column 'colour'"):
        study_sources(gathered, columns=["colour"])


def test_the_columns_are_those_of_the_table_and_unknown_ones_are_counted(study: SourceStudy) -> None:
    assert [one.column for one in study.columns] == ["domain", "kind", "owner"]
    domains, kinds, owners = (one.systems[0] for one in study.columns)
    assert domains.citations == kinds.citations == owners.citations
    assert domains.unknown == 0 < kinds.unknown < owners.unknown < owners.citations
    assert study.columns[2].names[0] == "One Group"


def test_pairs_of_systems_are_one_family(study: SourceStudy) -> None:
    assert [(pair.first, pair.second) for pair in study.columns[0].pairs] == [("A", "A2"), ("A", "B"), ("A2", "B")]
    assert study.family == sum(3 * len(one.names) for one in study.columns)


def test_different_laws_are_told_apart_and_equal_ones_are_not(study: SourceStudy) -> None:
    alike, other, _ = study.columns[0].pairs
    assert not any(one.beyond for one in alike.shares.values())
    assert not any(one.beyond for one in alike.apart.values())
    assert other.shares["s1.example"].beyond
    assert other.shares["s1.example"].value < 0
    assert other.apart["Jaccard"].beyond
    assert other.between["Jaccard"].value < study.columns[0].systems[0].alike["Jaccard"].value


def test_a_new_domain_is_news_and_a_rare_one_is_not(gathered: Gathered, runs: tuple[Run, Run]) -> None:
    earlier = gather_runs([runs[0]], {"replications": 200})
    news = {one.system: one for one in find_news(gathered, earlier, SYSTEMS, ["domain"])}
    told = [own.name for own in news["A"].new if own.corrected <= 0.05]
    assert told == ["fresh.example"]
    assert not [own for own in news["A2"].new if own.corrected <= 0.05]
    assert news["A"].trials == (90, 90)
    assert news["A2"].range[0] <= len(news["A2"].new) <= news["A2"].range[1]
    assert 0 < news["A"].unseen.value < 0.2


def test_an_earlier_run_of_other_systems_is_refused(gathered: Gathered, tmp_path: Path) -> None:
    other = record_cited(tmp_path / "other", drawn(1), systems=("C",), topics=3, trials=1)
    with pytest.raises(InputError, match="none of these systems"):
        find_news(gathered, gather_runs([other]), SYSTEMS, ["domain"])


def test_topics_with_other_words_are_not_compared(gathered: Gathered, tmp_path: Path) -> None:
    other = record_cited(tmp_path / "other", drawn(1), topics=30, trials=1, words="other things")
    (found,) = find_news(gathered, gather_runs([other]), ("A",), ["domain"])
    assert (found.trials, found.new) == ((0, 0), ())


def test_lost_trials_bound_the_difference(tmp_path: Path) -> None:
    lost = [("B", topic, trial) for topic in range(12) for trial in (1, 2)]
    run = record_cited(tmp_path / "run", drawn(1), systems=("A", "B"), topics=24, trials=2, lost=lost)
    found = study_sources(gather_runs([run], {"replications": 200}), most=3)
    each = found.columns[0].pairs[0].shares
    assert all(one.bounds is not None for one in each.values())
    assert not any(one.beyond for one in each.values())


def test_one_trial_per_topic_only_shows_the_variation_between_topics(tmp_path: Path) -> None:
    run = record_cited(tmp_path / "run", drawn(1), systems=("A", "B"), topics=8, trials=1)
    (pair,) = study_sources(gather_runs([run], {"replications": 200})).columns[0].pairs
    assert pair.between["RBO"].interval.is_defined
    assert math.isnan(pair.apart["RBO"].value)
    assert pair.apart["RBO"].beyond is None
    assert pair.apart["RBO"].interval.note == "each side needs two trials of a topic with a source"


def test_systems_in_arms_are_compared_within_each_system(tmp_path: Path) -> None:
    arms = {f"{name} [{arm}]": {"system": name, "arm": arm} for name in ("A", "B") for arm in ("German", "English")}
    run = record_cited(tmp_path / "run", drawn(1), systems=arms, topics=6, trials=1)
    pairs = study_sources(gather_runs([run], {"replications": 200}), most=1).columns[0].pairs
    assert {(pair.facet, pair.first, pair.second) for pair in pairs} == {
        ("arm", "A [German]", "A [English]"),
        ("arm", "B [German]", "B [English]"),
        ("system", "A [German]", "B [German]"),
        ("system", "A [English]", "B [English]"),
    }


def test_runs_of_a_system_are_compared(tmp_path: Path) -> None:
    each = [record_cited(tmp_path / name, drawn(seed), topics=6, trials=2) for seed, name in enumerate(("may", "june"))]
    (pair,) = study_sources(gather_runs(each, {"replications": 200}), most=1).columns[0].pairs
    assert (pair.facet, pair.first, pair.second) == ("run", "A@may", "A@june")
    assert not pair.apart["Jaccard"].beyond


def printed(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    with pytest.raises(SystemExit) as ended:
        main(["sources", *map(str, words)])
    assert ended.value.code in (0, None)
    return capsys.readouterr().out


def test_every_form_is_printed(
    runs: tuple[Run, Run], tmp_path: Path, capsys: pytest.CaptureFixture[str], study: SourceStudy
) -> None:
    table, picture = tmp_path / "sources.csv", tmp_path / "sources.svg"
    table.write_text(TABLE, encoding="utf-8")
    words = [
        runs[1].path,
        "--since",
        runs[0].path,
        "--sources",
        table,
        "--top",
        3,
        "--replications",
        200,
        "--by",
        "domain",
    ]
    said = printed(capsys, *words)
    assert "A and B (system), by domain" in said
    assert "fresh.example (30 trials, p <.001)" in " ".join(said.split())
    document = json.loads(printed(capsys, *words, "--json"))
    assert document["format"] == "harvest-sources/1"
    assert len(document["news"]) == 3
    rows = list(csv.DictReader(io.StringIO(printed(capsys, *words, "--csv", "--figure", picture))))
    assert len(rows) == len(document["long"])
    assert {row["study"] for row in rows} == {"sources"}
    assert r"\bottomrule" in printed(capsys, *words, "--latex")
    drawn_text = " ".join(ElementTree.fromstring(picture.read_text(encoding="utf-8")).itertext())
    assert "by domain" in drawn_text
    # Every figure of the study has its row.
    figures = {row.figure for row in source_rows(study, ())}
    assert {row["figure"] for row in rows} - figures == {
        "new ones",
        "new ones, by chance",
        "gone",
        "unseen before",
        "trials with a new one",
    }


def test_arms_accept_another_table_and_have_the_intervals_of_score(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arms = {f"A [{arm}]": {"system": "A", "arm": arm} for arm in ("plain", "polite")}
    run = record_cited(tmp_path / "run", drawn(1), systems=arms, topics=6, trials=1)
    (tmp_path / "sources.csv").write_text("domain,kind\ns1.example,newspaper\n", encoding="utf-8")
    words = [str(run.path), "--sources", str(tmp_path / "sources.csv"), "-m", "%sourced(kind, newspaper)", "--csv"]

    def printed_rows(command: str, **chosen: str) -> list[tuple[str, ...]]:
        with pytest.raises(SystemExit) as ended:
            main([command, *words])
        assert ended.value.code in (0, None)
        rows = csv.DictReader(io.StringIO(capsys.readouterr().out))
        found = [row for row in rows if all(row[name] == value for name, value in chosen.items())]
        return [tuple(f"{float(row[name]):.9f}" for name in (VALUE[command], "low", "high")) for row in found]

    arm_rows = printed_rows("robustness", figure="arm")
    assert len(arm_rows) == 2
    assert arm_rows == printed_rows("score", measure="%sourced(kind, newspaper)", topic="", topic_type="", trial="")


VALUE = {"robustness": "estimate", "score": "value"}


@pytest.mark.parametrize("command", ["score", "compare", "variance"])
def test_every_study_of_measures_accepts_another_table(
    command: str, runs: tuple[Run, Run], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def values(table: str) -> set[str]:
        file = tmp_path / "sources.csv"
        file.write_text(table, encoding="utf-8")
        with pytest.raises(SystemExit) as ended:
            main([command, str(runs[1].path), "--sources", str(file), "-m", "%citations(kind, newspaper)", "--csv"])
        assert ended.value.code in (0, None)
        rows = csv.DictReader(io.StringIO(capsys.readouterr().out))
        return {str(row) for row in rows if "newspaper" in str(row)}

    known = values(TABLE)
    assert known
    assert values("domain,kind\ns1.example,newspaper\n") != known


def test_a_run_is_not_newer_than_itself(runs: tuple[Run, Run], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["sources", str(runs[1].path), "--since", str(runs[1].path)])
    assert ended.value.code != 0
    assert "not new since itself" in capsys.readouterr().err


def test_only_seeds_matter(runs: tuple[Run, Run], study: SourceStudy) -> None:
    table = parse_source_table(TABLE, "sources.csv")
    again = study_sources(gather_runs([read(runs[1].path)], {"replications": 200}, sources=table), most=5)
    assert list(map(str, source_rows(again, ()))) == list(map(str, source_rows(study, ())))


def every_row(study: SourceStudy) -> Iterator[tuple[str, float, float, float]]:
    for row in source_rows(study, ()):
        yield row.figure, row.estimate, row.low, row.high


def test_every_interval_contains_its_figure(study: SourceStudy) -> None:
    for figure, estimate, low, high in every_row(study):
        assert math.isnan(low) or low <= estimate <= high, figure
