"""Sentences about where two systems diverge, with commands that show the conversations."""

import math
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from harvest.studies.trees.parted_systems import PartedSystems, PartingTurn
from harvest.tables.comparison_words import p_text
from harvest.terminal import printable
from recordings.files.json_text import DIGITS, json_number
from recordings.trees.node_text import format_percent
from topics.counting import pluralize

INDENT = " " * 7
# Beginning of a line that is a command.
COMMAND = f"{INDENT}harvest show"

_MOST_TURNS = 5  # turns that are printed in any case
_LEAST_SHARE = 0.05  # of the whole: turns with less and without a small p are counted together


def parting_lines(systems: PartedSystems, shown: Mapping[str, tuple[Path, str]], level: float = 0.95) -> Iterator[str]:
    """Yield the printed divergence: sentences, and a line for each turn. For `harvest show` commands, `shown` has
    each system's run, and its name in that run."""
    one, other = printable(systems.first, line=True), printable(systems.second, line=True)
    yield f"Where the conversations of {one} and {other} part, merged by {systems.merge}:"
    yield divergence_words(systems)
    turns = listed_turns(systems, level)
    for turn in turns:
        sides = ", ".join(f"{name} {side_words(turn, side)}" for side, name in enumerate((one, other)))
        way = " → ".join((*turn.turns, turn.branch))
        tested = "not tested" if math.isnan(turn.p) else f"p {p_text(turn.p)}"
        yield f"{share_words(turn.share):>5}  {way}: {sides}; {tested}"
        names = (systems.first, systems.second)
        for pair in turn.pairs[:1]:
            for name, trial in zip(names, (pair.first, pair.second)):
                run, own = shown[name]
                words = (str(run), "--system", own, "--topic", pair.topic, "--trial", str(trial))
                yield f"{COMMAND} {printable(shlex.join(words), line=True)}"
    if rest := len(systems.turns) - len(turns):
        together = sum(turn.share for turn in systems.turns if turn not in turns)
        yield f"{share_words(together):>5}  {pluralize(rest, 'other turn')} together"
    yield from parting_notes(systems)


def listed_turns(systems: PartedSystems, level: float = 0.95) -> list[PartingTurn]:
    """Return the turns that are listed: those with a small p, and those with a large share."""
    return [turn for turn in systems.turns[:_MOST_TURNS] if turn.p <= 1 - level + 1e-12 or turn.share >= _LEAST_SHARE]


def divergence_words(systems: PartedSystems) -> str:
    """Describe the whole divergence of two systems."""
    if not systems.turns:
        also = " and came to every end" if systems.tells_ends and not systems.cut else ""
        where = "nowhere that is known" if systems.cut else "nowhere"
        return f"{where}: over {pluralize(systems.topics, 'topic')} both took every branch{also} as often"
    tested = f" (by chance alone: {systems.by_chance:.3f}), p {p_text(systems.p)}," if systems.p == systems.p else ""
    return (
        f"their trees differ by {systems.divergence:.3f} bits of at most 1{tested} of these "
        f"{pluralize(systems.topics, 'topic')}"
    )


def share_words(share: float) -> str:
    """Format a part of the whole divergence, such as `47%`."""
    return format_percent(round(share, DIGITS))


def side_words(turn: PartingTurn, side: int) -> str:
    """Return how often one side took the branch, such as `89% (201/225)`."""
    return f"{format_percent(turn.portion[side])} ({turn.took[side]}/{turn.came[side]})"


def parting_notes(systems: PartedSystems) -> Iterator[str]:
    """Yield explanations of the shares and tests, and the test of first answers."""
    if systems.cut:
        yield systems.cut
    if not systems.tells_ends:
        yield "ends are not distinguished, because some conversations have no recorded end"
    if systems.refused:
        yield f"no p{' of single turns' if systems.p == systems.p else ''}: {systems.refused}"
    elif systems.turns:
        few = f"; {pluralize(systems.out, 'turn')} had too few conversations to test" if systems.out else ""
        yield "%: share of the whole difference of the trees"
        yield f"p: among trials that came there, corrected over {pluralize(systems.tested, 'turn')} tested{few}"
    texts = systems.texts
    if not texts.topics:
        yield "first answers: too few with words of any topic to say whether both are the same system"
    elif not math.isnan(texts.p):
        said = "not from the same system" if texts.p <= 0.05 else "no sign that they are from different systems"
        yield (
            f"texts of first answers: {said}, p {p_text(texts.p)} ({pluralize(texts.n, 'text')} of "
            f"{pluralize(texts.topics, 'topic')}); this says nothing about which is better"
        )


def parting_document(systems: PartedSystems) -> dict[str, Any]:
    """Return the divergence as a JSON value, with null for undefined figures."""
    return {
        "first": systems.first,
        "second": systems.second,
        "merge": systems.merge,
        "topics": systems.topics,
        "trials": list(systems.n),
        "divergence": json_number(systems.divergence),
        "divergence_by_chance": json_number(systems.by_chance),
        "p": json_number(systems.p),
        "estimand": "these",
        "turns_tested": systems.tested,
        "turns_too_few": systems.out,
        "refused": systems.refused or None,
        "ends_told_apart": systems.tells_ends,
        "cut_short": systems.cut or None,
        "turns": [
            {
                "turns": list(turn.turns),
                "branch": turn.branch,
                "came": list(turn.came),
                "took": list(turn.took),
                "portion": [json_number(value) for value in turn.portion],
                "share": json_number(turn.share),
                "p_corrected": json_number(turn.p),
                "pairs": [{"topic": one.topic, "first": one.first, "second": one.second} for one in turn.pairs],
            }
            for turn in systems.turns
        ],
        "first_answers": {"p": json_number(systems.texts.p), "n": systems.texts.n, "topics": systems.texts.topics},
    }
