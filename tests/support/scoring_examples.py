"""Conversations, topics and gold tables that the scoring tests share, written here in full."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from itertools import cycle, islice
from types import MappingProxyType

from protocols.answer import Answer
from protocols.route import Route
from recordings.conversations.conversation import Conversation, Outcome, SystemTurn, TrialKey, Turn
from scoring.material import Judged, Material
from scoring.settings import Settings
from scoring.swan.judged import Judgments
from scoring.swan.schema import load_schema
from tests.support.checkout import DATA
from topics.attributes import AttributeSet, uniform_shares
from topics.gold import GoldEntry, GoldTable
from topics.kinds import KINDS
from topics.links import Link, links_in
from topics.topic import Topic, TopicSet, TopicType

PAPER = json.loads((DATA / "gfrc_m002_example.json").read_text(encoding="utf-8"))

RATINGS = AttributeSet(
    "RATINGS",
    "ordinal",
    ("x < 100", "100 ≤ x < 10K", "10K ≤ x < 1M", "1M ≤ x"),
    uniform_shares(4),
    bounds=(100, 10_000, 1e6),
)
REGIONS = ("Africa", "America", "Antarctica", "Asia", "Caribbean", "Europe", "Middle East", "Oceania")
ORIGIN = AttributeSet(
    "ORIGIN", "nominal", REGIONS, tuple(count / 237 for count in (58, 26.5, 2, 36.5, 23.5, 47.5, 19, 24))
)
GENDER = AttributeSet("GENDER", "nominal", ("he", "she", "other"), uniform_shares(3))
ATTRIBUTES = MappingProxyType({known.name: known for known in (RATINGS, ORIGIN, GENDER)})

MOVIE = TopicType("movie", "movie title, IMDb URL", KINDS["imdb-title"], ("RATINGS", "ORIGIN"))
RESEARCHER = TopicType("researcher", "researcher name, URL", KINDS["web-page"], ("GENDER",))
CHAT = TopicType("chat")

M002 = Topic("M002", MOVIE, "Please list up sci-fi movies that feature time travel, listed in IMDb.")

_NUMBERS = {
    "Back to the Future": "0088763",
    "The Terminator": "0088247",
    "Groundhog Day": "0107048",
    "Interstellar": "0816692",
    "The Time Machine": "0054387",
    "12 Monkeys": "0114746",
    "The Butterfly Effect": "0289879",
    "Looper": "1276104",
    "Edge of Tomorrow": "1631867",
    "Predestination": "2397535",
}


def movie(number: int | str) -> str:
    """The canonical URL of a movie."""
    return f"https://www.imdb.com/title/tt{number:0>7}/"


def filler(words: int) -> str:
    """So many words of no importance."""
    return " ".join(islice(cycle(("a", "clock", "that", "runs", "ahead", "is", "never", "quite", "wrong")), words))


def topic_set(*topics: Topic, attributes: Iterable[AttributeSet] = ATTRIBUTES.values()) -> TopicSet:
    return TopicSet("examples", topics, MappingProxyType({known.name: known for known in attributes}))


def conversation(
    *exchanges: tuple[str, str],
    labels: str = "",
    topic: str = "M002",
    system: str = "B1",
    trial: int = 1,
    links: Sequence[tuple[Link, ...]] = (),
    outcome: Outcome | None = None,
) -> Conversation:
    """A finished conversation. labels: one of `o`, `x`, `?` (none) for each turn; all `o` where left out."""
    turns = []
    for number, (said, text) in enumerate(exchanges, start=1):
        label = labels[number - 1] if labels else "o"
        route = None if label == "?" else Route(number, "ask", label, "rule", "1", (), "stop:completed")
        found = links[number - 1] if links else links_in(text)
        turns.append(Turn(number, "ask", said, SystemTurn(Answer(text, found)), route))
    ended = outcome or Outcome("completed")
    return Conversation(TrialKey(system, topic, trial), f"{system}-{topic}-{trial}", 1, tuple(turns), ended)


def grid(rows: Sequence[str], *, system: str = "G", trial: int = 1, prefix: str = "T") -> list[Conversation]:
    """A conversation without links for each row of labels such as `xo`; at `-` it breaks down."""
    found = []
    for number, row in enumerate(rows, start=1):
        taken = row.rstrip("-")
        said = [("say", "reply")] * len(taken)
        outcome = Outcome("completed" if taken == row else "breakdown")
        topic = f"{prefix}{number:02d}"
        found.append(conversation(*said, labels=taken, topic=topic, system=system, trial=trial, outcome=outcome))
    return found


def grid_topics(count: int, *, kind: TopicType = CHAT, prefix: str = "T") -> TopicSet:
    return topic_set(*(Topic(f"{prefix}{number:02d}", kind, "ask") for number in range(1, count + 1)))


def paper_gold() -> GoldTable:
    """The entities of Figure 5 with their grades and groups."""
    entries: dict[str, GoldEntry] = {}
    for system in PAPER["systems"].values():
        for turn in system["turns"]:
            for title, grade, _, ratings, origin in turn["entities"]:
                groups = MappingProxyType({"RATINGS": tuple(map(float, ratings)), "ORIGIN": tuple(map(float, origin))})
                url = movie(_NUMBERS[title])
                entries[url] = GoldEntry("M002", url, int(grade[1]), title, groups)
    wrong = [GoldEntry("M002", movie(number), 0, "of another movie") for number in ("0110912", "1853739")]
    return GoldTable([*entries.values(), *wrong])


_ASKED = f"{M002.request}\nFormat: movie title, iMDB URL"


def _listed(*titles: str) -> str:
    years = {"12 Monkeys": 1995, "Looper": 2012}
    return "\n".join(f"{title} ({years.get(title, 1985)}): {movie(_NUMBERS[title])}" for title in titles)


def paper_b1() -> Conversation:
    """B1 of Figure 5: the lists as printed, everything else our own words in the same number."""
    first = _listed("Back to the Future", "The Terminator", "Groundhog Day", "Interstellar", "The Time Machine")
    second = _listed("12 Monkeys", "The Butterfly Effect", "Looper", "Edge of Tomorrow", "Predestination")
    return conversation(
        (_ASKED, f"{filler(12)}:\n{first}\n{filler(16)}."),
        ("Can you name a few more?", f"{filler(14)}:\n{second}\n{filler(16)}."),
        labels="oo",
        system="B1",
    )


def paper_g1() -> Conversation:
    """G1 of Figure 5: a first turn without links, then two relevant movies among wrong links."""
    reply = "\n".join(
        [
            filler(19),
            f"Back to the Future (1985) {movie(_NUMBERS['Back to the Future'])}",
            filler(20),
            f"Pulp Fiction (1994) {movie('0110912')} www.imdb.com {filler(15)}",
            f"Looper (2012) {movie('1853739')} {filler(8)}",
            f"Interstellar (2014) {movie(_NUMBERS['Interstellar'])} {filler(9)}",
            f"Tenet (2020){movie('10375988')}",
        ]
    )
    return conversation(
        (_ASKED, filler(452)),
        ('Adhere to the output format I specified: "Format: movie title, iMDB URL"', reply),
        labels="xo",
        system="G1",
    )


def seen(conversation: Conversation, topic: Topic, gold: GoldTable | None) -> Material:
    """A conversation as measures see it, under the settings there are by default; nobody judged anything."""

    def judged() -> Judged:
        return Judged(load_schema("sakai-2023"), Judgments())

    return Material(conversation, topic, gold, ATTRIBUTES, Settings(), judged, Settings())
