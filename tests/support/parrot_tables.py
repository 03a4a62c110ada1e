"""What docs/parrot.md shows: an example, the chains of the shipped profiles, and what is true of each.

`python -m tests.support.parrot_tables` prints them, and a test keeps the page equal to what is printed.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator, Mapping

from harvest.audits.audit import load_audit
from harvest.parrot.parrot import Catalogue, Parrot, load_catalogue
from harvest.parrot.profiles import PROFILES, Profile, Row
from protocols.library import load_protocol
from protocols.protocol import Protocol
from recordings.conversations.conversation import Conversation
from scoring.measure import Declaration
from scoring.measures.conversation_breakdown import BREAKDOWN
from scoring.measures.relevance import RELEVANCE
from scoring.measures.usefulness import MEAN_USEFUL, RECOVERY, USEFUL
from scoring.scores import score
from scoring.settings import Settings
from scoring.table import ScoreTable
from simulators.scripted import ScriptedUser
from simulators.user import User
from tests.support.parrot_truth import Truth, truth
from tests.support.rehearsal import rehearse
from topics.identity import generator
from topics.library import load_topics
from topics.topic import Topic

__all__ = ["chain_table", "demo_table", "example", "main", "truth_table"]


def example(parrot: Parrot, user: User, topic: Topic, *, seed: int = 1) -> str:
    """One conversation as text, each turn under the name of its speaker and the label it got."""
    (conversation,) = rehearse(parrot, user, [topic], trials=1, seed=seed)
    parts = []
    for turn in conversation.turns:
        said = turn.reply.answer.text if turn.reply else ""
        parts += [f"### U{turn.number}\n{turn.said}", f"### S{turn.number} {turn.label}\n{said}"]
    return "\n\n".join(parts) + "\n"


def chain_table(profiles: Mapping[str, Profile] = PROFILES) -> str:
    """A Markdown table with a line for each row of each chain."""
    return _table(("profile", "row", "probabilities"), (line for p in profiles.values() for line in _rows(p)))


def truth_table(
    protocol: Protocol, topics: Iterable[Topic], catalogue: Catalogue, profiles: Mapping[str, Profile] = PROFILES
) -> str:
    """A Markdown table with a line for each profile: label paths, then the figures, over `topics`."""
    asked = tuple(topics)
    truths = {name: truth(profile, protocol, asked, catalogue) for name, profile in profiles.items()}
    labels = sorted({path for found in truths.values() for path in found.label_paths}, key=_path_order)
    turns = max(len(found.useful) for found in truths.values())
    head = (
        "profile",
        *labels,
        *(f"{USEFUL.name} {turn}" for turn in range(1, turns + 1)),
        *(one.name for one in (MEAN_USEFUL, RECOVERY, BREAKDOWN, RELEVANCE)),
    )
    return _table(head, ((name, *_figures(found, labels)) for name, found in truths.items()))


def demo_table() -> str:
    """The shipped audit `demo`, rehearsed and scored as `harvest run demo` does, beside the truth of its parrots."""
    audit = load_audit("demo")
    catalogue = load_catalogue("parrot", audit.topics)
    user, topics = ScriptedUser(audit.protocol), audit.topics.topics
    conversations: list[Conversation] = []
    truths: dict[str, Truth] = {}
    for system in audit.systems:
        profile = PROFILES[system.options["profile"]]
        truths[system.name] = truth(profile, audit.protocol, topics, catalogue)
        parrot = Parrot(catalogue, profile)
        conversations += rehearse(parrot, user, topics, trials=audit.trials, seed=audit.seed, system=system.name)
    scores = score(conversations, audit.topics, audit.gold, Settings(), generator(0, "scores"))
    return beside_table(truths, scores)


def beside_table(truths: Mapping[str, Truth], scores: ScoreTable) -> str:
    """A Markdown table: for each system, each figure that has a truth here, and its estimate over all trials."""
    return _table(
        ("system", "measure", "truth", "estimate", "95% interval", "n"),
        (line for system, found in truths.items() for line in _beside(system, found, scores)),
    )


def _beside(system: str, found: Truth, scores: ScoreTable) -> Iterator[tuple[str, ...]]:
    wanted: list[tuple[Declaration, int | None, float]] = [(USEFUL, turn, v) for turn, v in enumerate(found.useful, 1)]
    wanted += [(MEAN_USEFUL, None, found.average), (RECOVERY, None, found.recovery), (RELEVANCE, None, found.relevance)]
    for declaration, turn, value in wanted:
        measure = declaration.name
        (row,) = scores.select(measure=measure, system=system, turn=turn, topic=None, topic_type=None, trial=None)
        true, estimate, low, high = (
            f"{number:.{6 if declaration is RELEVANCE else 4}f}" for number in (value, row.value, row.low, row.high)
        )
        yield system, f"{measure} {turn}" if turn else measure, true, estimate, f"{low} to {high}", str(row.n)


def _figures(found: Truth, labels: Iterable[str]) -> Iterator[str]:
    yield from (_share(found.label_paths.get(path, 0.0)) for path in labels)
    yield from (_share(value) for value in (*found.useful, found.average, found.recovery, found.breakdown))
    yield f"{found.relevance:.6f}"


def _path_order(path: str) -> tuple[int, ...]:
    return tuple("ox-".index(label) for label in path.split())


def _share(value: float) -> str:
    return "n/a" if math.isnan(value) else f"{value:.4f}"


def _rows(profile: Profile) -> Iterator[tuple[str, str, str]]:
    rows = [("first", profile.first)]
    rows += [(f"after {before}", row) for before, row in profile.then.items()]
    rows += [(f"after {before}, told to adhere", row) for before, row in profile.told.items()]
    for number, (name, row) in enumerate(rows):
        yield profile.name if number == 0 else "", name, _row(row)
    habits = {
        "wrong": profile.wrong,
        "repeats": profile.repeats,
        "carry": profile.carry,
    }
    given = [f"{name} {value:.2f}" for name, value in habits.items() if value]
    if profile.delay[1]:
        given.append(f"delay {profile.delay[0]:g} to {profile.delay[1]:g} s")
    if given:
        yield "", "habits", ", ".join(given)


def _row(row: Row) -> str:
    return ", ".join(f"{behaviour} {probability:.2f}" for behaviour, probability in row.items())


def _table(head: tuple[str, ...], lines: Iterable[tuple[str, ...]]) -> str:
    written = [head, tuple("---" for _ in head), *lines]
    return "\n".join(f"| {' | '.join(line)} |" for line in written) + "\n"


def main() -> None:
    topics, protocol = load_topics("fairweb-45"), load_protocol("fairweb-two-round")
    catalogue = load_catalogue("parrot", topics)
    pages = (
        example(Parrot(catalogue, PROFILES["format-breaking"]), ScriptedUser(protocol), topics["M002"]),
        chain_table(),
        truth_table(protocol, topics.topics, catalogue),
        demo_table(),
    )
    sys.stdout.write("\n".join(pages))


if __name__ == "__main__":
    main()
