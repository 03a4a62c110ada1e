"""Cited pages are looked up politely, on request alone, and what was found is kept with its date."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from harvest.cli.main import main
from harvest.judging.cited_pages import quotation_outcome, quotations
from harvest.judging.page_fetcher import AGENT, FetchedPage, PageFetcher, look_at, page_words
from harvest.studies.scores.gathered import gather_runs, score_runs
from harvest.studies.sources.exposure import study_sources
from harvest.systems.timing import Clock
from recordings.judged.judgments import read_layers
from recordings.log.run_folder import read
from tests.servers.cited_site import PAGE, Site, serving_site
from tests.support.citing_runs import record_cited


@pytest.fixture
def site() -> Iterator[Site]:
    with serving_site() as found:
        yield found


def looked(
    site: Site, folder: Path, *paths: str, private: bool = True, clock: Clock | None = None
) -> list[FetchedPage]:
    fetcher = PageFetcher(folder, pause=0.0 if clock is None else 2.0, private=private, clock=clock or Clock())

    async def look() -> dict[str, FetchedPage]:
        try:
            return await look_at([f"{site.url}{path}" for path in paths], fetcher.look)
        finally:
            await fetcher.close()

    return list(asyncio.run(look()).values())


@pytest.mark.parametrize(
    ("path", "outcome", "why"),
    [
        ("/there", "exists", "200"),
        ("/moved", "exists", "200"),
        ("/picture", "exists", "200"),
        ("/made-up", "gone", "404"),
        ("/gone", "gone", "410"),
        ("/limit", "blocked", "429"),
        ("/private/page", "blocked", "robots.txt"),
        ("/broken", "unknown", "500"),
        ("/round", "unknown", "redirect"),
    ],
)
def test_the_text_of_a_page_is_that_from_its_server(
    site: Site, tmp_path: Path, path: str, outcome: str, why: str
) -> None:
    (found,) = looked(site, tmp_path, path)
    assert (found.outcome, found.why) == (outcome, why)
    assert "/private/page" not in site.paths


def test_requests_identify_themselves_follow_robots_and_run_one_at_a_time(site: Site, tmp_path: Path) -> None:
    looked(site, tmp_path, "/there", "/gone", "/made-up")
    assert site.paths == ["/robots.txt", "/there", "/gone", "/made-up"]
    assert {agent for _, agent in site.asked} == {AGENT}
    assert site.most == 1


@pytest.mark.parametrize(("robots", "pause"), [((404, ""), 2.0), ((200, "User-agent: *\nCrawl-delay: 7\n"), 7.0)])
def test_there_is_a_pause_between_requests_to_a_host(
    site: Site, tmp_path: Path, robots: tuple[int, str], pause: float
) -> None:
    site.robots = robots
    now, slept = [0.0], list[float]()

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        now[0] += seconds

    looked(site, tmp_path, "/there", "/gone", clock=Clock(monotonic=lambda: now[0], sleep=sleep))
    assert slept == [pause, pause]


@pytest.mark.parametrize(
    ("robots", "outcome", "why"), [((403, ""), "blocked", "robots.txt"), ((503, ""), "unknown", "robots.txt: 503")]
)
def test_no_page_is_requested_if_robots_are_refused_or_unknown(
    site: Site, tmp_path: Path, robots: tuple[int, str], outcome: str, why: str
) -> None:
    site.robots = robots
    (found,) = looked(site, tmp_path, "/there")
    assert (found.outcome, found.why, site.paths) == (outcome, why, ["/robots.txt"])


def test_found_pages_are_kept_and_faults_are_retried(site: Site, tmp_path: Path) -> None:
    first = looked(site, tmp_path, "/there", "/broken")
    site.asked.clear()
    assert looked(site, tmp_path, "/there", "/broken")[0] == first[0]
    assert "/there" not in site.paths
    assert "/broken" in site.paths


def test_hosts_of_this_machine_are_not_contacted_unless_allowed(site: Site, tmp_path: Path) -> None:
    (found,) = looked(site, tmp_path, "/there", private=False)
    assert (found.outcome, found.why, site.asked) == ("unknown", "not a public host", [])


def test_a_missing_host_is_gone_and_other_schemes_are_not_requested(tmp_path: Path) -> None:
    async def look(url: str) -> FetchedPage:
        return await PageFetcher(tmp_path).look(url)

    assert asyncio.run(look("https://made-up.invalid/page")).why == "no such host"
    assert asyncio.run(look("ftp://example.org/")).outcome == "unknown"


def test_the_words_of_a_page_are_those_visible_to_readers() -> None:
    assert page_words(PAGE) == "The council met on Monday, and voted to close the bridge — for a year."


@pytest.mark.parametrize(
    ("said", "outcomes"),
    [
        ('It says "voted to close the bridge for a year".', ["found"]),
        ("It says “The Council met on Monday and voted”.", ["found"]),
        ('It says "voted to open the bridge for a year".', ["not found"]),
        ('It says "the mayor resigned at noon today".', ["not found"]),  # in a script alone
        ('It says "voted to close".', []),  # too short to tell
    ],
)
def test_quotations_are_searched_for_in_the_pages_that_the_answer_cites(
    tmp_path: Path, said: str, outcomes: list[str]
) -> None:
    url = "https://example.org/there"
    run = record_cited(tmp_path / "run", lambda *_: [[said, url]], topics=1, trials=1)
    pages = {url: FetchedPage(url, "exists", "200", "2026-11-29T00:00:00Z", page_words(PAGE))}
    (conversation,) = run.finished
    found = list(quotations(conversation))
    assert [quotation_outcome(one, pages) for one in found] == outcomes
    answer = conversation.turns[0].reply
    assert answer is not None
    assert [answer.answer.text[one.target.start : one.target.end] for one in found] == [one.words for one in found]
    unread = {url: FetchedPage(url, "blocked", "403", "2026-11-29T00:00:00Z")}
    assert [quotation_outcome(one, unread) for one in found] == ["unknown" for _ in found]


def test_the_command_keeps_a_layer_with_its_date_and_the_study_shows_it(
    site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    quoted = 'It says "voted to close the bridge for a year".'
    cited = [[quoted, f"{site.url}/there"], [f"{site.url}/made-up", f"{site.url}/private"]]
    run = record_cited(tmp_path / "run", lambda *_: cited, topics=5, trials=1)
    before = read(run.path).conversations
    with pytest.raises(SystemExit) as ended:
        main(["judge", "cited", str(run.path), "--private", "--pause", "0", "--quotations"])
    assert ended.value.code in (0, None)
    printed = capsys.readouterr()
    assert "3 addresses: 1 exists, 1 gone, 1 blocked, 0 unknown" in printed.out + printed.err
    assert "5 quotations: 5 found" in printed.out + printed.err
    (layer,) = read_layers(run.path)
    assert (layer.kind, layer.author) == ("rule", "look-up")
    assert all("looked up on 20" in one.note for one in layer.judgments if one.criterion == "page")
    assert read(run.path).conversations == before
    study = study_sources(gather_runs([read(run.path)], {"replications": 200}))
    columns = {one.column: one.systems[0] for one in study.columns}
    assert {one.name: one.citations for one in columns["page"].shown} == {
        "blocked": pytest.approx(1 / 3),
        "exists": pytest.approx(1 / 3),
        "gone": pytest.approx(1 / 3),
    }
    assert [one.name for one in columns["quotation"].shown] == ["found"]
    assert any("looked up on 20" in note for note in study.notes)
    assert not any("in no score" in note for note in score_runs(run.path, measures=["SWAN"]).notes)


def test_too_many_addresses_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = record_cited(tmp_path / "run", lambda _, topic, __: [[f"https://s{topic}.example/"]], topics=3, trials=1)
    with pytest.raises(SystemExit):
        main(["judge", "cited", str(run.path), "--most", "2"])
    assert "3 addresses, more than --most 2" in capsys.readouterr().err
    assert not read_layers(run.path)
