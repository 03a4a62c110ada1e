"""`padding`: Conciseness as the share of a turn that is neither a pleasantry nor a repetition."""

import re
from collections.abc import Iterator

from protocols.rules.repetition import comparable_text
from scoring.swan.nugget import Nugget
from scoring.swan.rules.rule import Rule, Sight, Verdict
from scoring.words import CHARACTERS_A_WORD, Unit, length, unit_of
from topics.late_pattern import lazy_pattern

_PLEASANTRY = lazy_pattern(
    r"^(?:that(?:'s|\s+is)\s+(?:an?\s+)?(?:\w+\s+)?(?:wonderful|great|good|excellent|interesting|fantastic)\s+question"
    r"|(?:what\s+an?\s+)?(?:great|good|excellent|wonderful|interesting)\s+question"
    r"|thank\s+you\s+(?:so\s+much\s+)?for\s+(?:asking|your\s+question|reaching)"
    r"|I(?:'d|\s+would)\s+be\s+(?:more\s+than\s+)?(?:happy|glad|delighted)\s+to"
    r"|I(?:'m|\s+am)\s+(?:always\s+)?(?:here|happy|glad)\s+to\s+(?:help|assist)"
    r"|as\s+an?\s+(?:AI|artificial|language|large)\b|I\s+hope\s+this\s+helps|to\s+answer\s+your\s+question"
    r"|in\s+(?:summary|conclusion))",
    re.IGNORECASE,
)
_FEWEST_WORDS = 8  # words of padding below which the rule is silent
_SHORT_NUGGET = 3  # words that may be repeated: a refrain, "Yes."


def judge(sight: Sight) -> Iterator[Verdict]:
    """Score 1 - padding/words for each turn with at least 8 words of padding: pleasantries and repeated nuggets.
    Turns in scripts without blanks between words are measured in characters (see `scoring.words`)."""
    found: dict[int, list[Nugget]] = {}
    said: set[tuple[int, str]] = set()
    for one in sight.nuggets:
        if one.speaker != "system" or one.type == "E":
            continue
        form = comparable_text(one.text).rstrip(".!?…:;,。！？")
        again = (one.turn, form) in said and _length_in_words(
            form, unit_of((form,), sight.settings.unit)
        ) > _SHORT_NUGGET
        said.add((one.turn, form))
        if again or _PLEASANTRY.match(one.text.replace("’", "'")):
            found.setdefault(one.turn, []).append(one)
    for item in sight.items:
        idle = found.get(item.turn, [])
        text = sight.text(item)
        unit = unit_of((text,), sight.settings.unit)
        if sum(_length_in_words(one.text, unit) for one in idle) >= _FEWEST_WORDS:
            count, whole = sum(length(one.text, unit) for one in idle), length(text, unit)
            because = f"{count} of {whole} {unit} are pleasantries or said twice"
            yield Verdict(item, max(0.0, 1 - count / whole), because, tuple(one.span for one in idle))


PADDING = Rule(
    name="padding",
    version="2",
    level="turn",
    limits="knows set phrases of English and the same words twice; blind to the same in other words",
    silence="fewer than 8 words of the turn are pleasantries or said twice",
    judge=judge,
)


def _length_in_words(text: str, unit: Unit) -> float:
    """Return the length of `text` in words, counting characters as the words that take equally long to read."""
    return length(text, unit) / (CHARACTERS_A_WORD if unit == "characters" else 1)
