"""`repetition`: Retentiveness as not repeating claims or entities ([SWAN] §4.17)."""

from collections.abc import Iterator

from protocols.rules.repetition import comparable_text
from scoring.swan.rules.rule import Rule, Sight, Verdict


def judge(sight: Sight) -> Iterator[Verdict]:
    """Score claims after the first system turn: 0 for a repetition and 1 for a claim with a new entity. A claim is a
    repetition if an earlier turn had it in the same words or had all of its entities. Other claims get no score."""
    said: dict[str, int] = {}
    given: dict[str, int] = {}
    for nugget in sight.nuggets:
        if nugget.speaker == "system" and nugget.type == "E":
            given.setdefault(nugget.entity, nugget.turn)
    inside = _entities_by_item(sight)
    for item in sight.items:
        if item.type != "F":
            continue
        form = comparable_text(sight.text(item)).rstrip(".!?…:;,")
        before = said.setdefault(form, item.turn)
        named = inside.get((item.turn, item.start, item.end), ())
        if item.turn == sight.items[0].turn:
            continue
        if any(given[entity] >= item.turn for entity in named):
            yield Verdict(item, 1.0)
        elif named or (form and before < item.turn):
            yield Verdict(item, 0.0)


REPETITION = Rule(
    name="repetition",
    version="1",
    level="nugget",
    limits="sees repeated words and links alone; wrong where the user asked to hear it again, blind to what is "
    "forgotten silently",
    silence="the first system turn, or a claim in new words without a link",
    judge=judge,
)


def _entities_by_item(sight: Sight) -> dict[tuple[int, int, int], tuple[str, ...]]:
    links: dict[int, list[tuple[int, int, str]]] = {}
    for nugget in sight.nuggets:
        if nugget.type == "E" and nugget.speaker == "system" and nugget.start >= 0:
            links.setdefault(nugget.turn, []).append((nugget.start, nugget.end, nugget.entity))
    found: dict[tuple[int, int, int], tuple[str, ...]] = {}
    for item in sight.items:
        here = links.get(item.turn)
        if here:
            named = tuple(entity for start, end, entity in here if item.start <= start and end <= item.end)
            if named:
                found[item.turn, item.start, item.end] = named
    return found
