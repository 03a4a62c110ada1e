"""The input of a predictor of helpdesk annotations: the blocks of a dialogue, with counts.

A block is everything that one side says before the other speaks. Its length is in words; two characters of a script
without blanks between words count as one, as they take as long to read (`scoring.words`). If a file contains the texts,
the words themselves are used, too; if it contains only lengths (`words`), only positions and lengths are used.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from scoring.words import CHARACTERS_A_WORD, length, unit_of
from topics.json_value import JsonValue
from topics.late_pattern import lazy_pattern

SIDES = ("customer", "helpdesk")

# What is counted of a whole dialogue, in the order of `dialogue_values`. Lengths are log(1 + words).
DIALOGUE_FEATURES = (
    "blocks (log)",
    "the dialogue has two blocks",
    "the dialogue has three blocks",
    "the customer has the last word",
    "words of the customer (log)",
    "words of the helpdesk (log)",
    "words of the customer's first block (log)",
    "words of the helpdesk's first block (log)",
    "words of the customer's last block (log)",
    "words of the helpdesk's last block (log)",
    "words of the customer's longest later block (log)",
    "words of the helpdesk's longest block (log)",
    "share of the words that are the helpdesk's",
)

# What is counted of one block, in the order of `block_values`.
BLOCK_FEATURES = (
    "first block of its side",
    "second block of its side",
    "earlier blocks of its side (log)",
    "last block of its side",
    "last block of the dialogue",
    "place in the dialogue, from 0 to 1",
    "blocks of the dialogue (log)",
    "words (log)",
    "at most 5 words",
    "at most 12 words",
    "words of the block before (log)",
    "words of the block after (log)",
    "words (log), in the first block of its side",
    "words (log), in the last block of its side",
    "blocks of the dialogue (log), in the last block of its side",
)

_FEW, _SOME = 5, 12  # words
_WORD = lazy_pattern(r"[^\W\d_]+(?:['’][^\W\d_]+)*|[?？!！]")


@dataclass(frozen=True, slots=True)
class Block:
    """One block: its side (`customer` or `helpdesk`), its length in words, and its text, or None if it is unknown."""

    side: str
    words: float
    text: str | None = None


def read_blocks(dialogue: JsonValue) -> tuple[Block, ...] | None:
    """Return the blocks of a dialogue with `turns`, from their `utterances` (texts) or else their `words` (a count).
    Returns None if a turn has neither."""
    turns = dialogue["turns"].elements()
    if all(turn.has_key("utterances") for turn in turns):
        return spoken_blocks([(turn["sender"].text(SIDES), _read_text(turn["utterances"])) for turn in turns])
    if all(turn.has_key("words") for turn in turns):
        return tuple(Block(turn["sender"].text(SIDES), turn["words"].index()) for turn in turns)
    return None


def _read_text(value: JsonValue) -> str:
    parts = [value] if isinstance(value.value, str) else value.elements()
    # An empty utterance is a picture or a deleted post: it is a block that people annotated.
    return "\n".join("" if part.value == "" else part.text() for part in parts)


def spoken_blocks(turns: Iterable[tuple[str, str]]) -> tuple[Block, ...]:
    """Return a block for each (side, text)."""
    said = list(turns)
    unit = unit_of(text for _, text in said)
    scale = CHARACTERS_A_WORD if unit == "characters" else 1
    return tuple(Block(side, length(text, unit) / scale, text) for side, text in said)


def dialogue_values(blocks: Sequence[Block]) -> list[float]:
    """Return the values of `DIALOGUE_FEATURES`."""
    customer, helpdesk = ([block.words for block in blocks if block.side == side] for side in SIDES)
    return [
        math.log1p(len(blocks)),
        float(len(blocks) == 2),
        float(len(blocks) == 3),
        float(bool(blocks) and blocks[-1].side == "customer"),
        math.log1p(sum(customer)),
        math.log1p(sum(helpdesk)),
        *(math.log1p(side[at]) if side else 0.0 for at in (0, -1) for side in (customer, helpdesk)),
        math.log1p(max(customer[1:], default=0)),
        math.log1p(max(helpdesk, default=0)),
        sum(helpdesk) / max(1.0, sum(customer) + sum(helpdesk)),
    ]


def block_values(blocks: Sequence[Block], at: int) -> list[float]:
    """Return the values of `BLOCK_FEATURES` of the block at index `at`."""
    places = [place for place, block in enumerate(blocks) if block.side == blocks[at].side]
    earlier, words = places.index(at), blocks[at].words
    first, last = float(earlier == 0), float(at == places[-1])
    size = math.log1p(len(blocks))
    return [
        first,
        float(earlier == 1),
        math.log1p(earlier),
        last,
        float(at == len(blocks) - 1),
        at / max(1, len(blocks) - 1),
        size,
        math.log1p(words),
        float(words <= _FEW),
        float(words <= _SOME),
        math.log1p(blocks[at - 1].words) if at else 0.0,
        math.log1p(blocks[at + 1].words) if at + 1 < len(blocks) else 0.0,
        first * math.log1p(words),
        last * math.log1p(words),
        last * size,
    ]


def words_said(blocks: Iterable[Block]) -> frozenset[str]:
    """Return the words of each side, as `customer: thanks`. In scripts without blanks between words, pairs of
    characters count as words. Blocks without a text give none."""
    found: set[str] = set()
    for block in blocks:
        for word in _WORD.findall((block.text or "").lower()):
            bare = unit_of([word]) == "characters" and len(word) > 2
            pieces = [word[at : at + 2] for at in range(len(word) - 1)] if bare else [word]
            found.update(f"{block.side}: {piece}" for piece in pieces)
    return frozenset(found)
