"""The account of the received content of one turn, stored with the turn: a description of each text that may be the
reply. The account keeps only the differences from the page's text, and nothing that the page sent. The
reply is identified on request, over all turns of a run (see `judgement`), so that later code can decide again."""

import json
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from harvest.pages.witness.comparison import LEAST_LIKENESS, How, Reading
from harvest.pages.witness.letters import letters, page_readings
from harvest.pages.witness.opening import OpenedContent
from harvest.pages.witness.strands import EarlierTexts, Strand, find_strands

FORMAT = "harvest-wire/1"
_MOST_TEXTS = 8  # most texts that are kept of one turn, the most likely
_MOST_UNLIKE = 3  # most texts unlike the page that are kept
_MOST_KEYS = 12  # most keys that are kept of one text
_FEWEST_LETTERS = 12  # fewest letters of a text worth a note if the page does not show it
_LONGEST = 200  # most characters that are kept of it
_MOST_BESIDE = 3  # most other texts of an answer that are kept

# Address, path, names and way of a key.
KeyParts = tuple[str, str, str, str]


@dataclass(frozen=True, slots=True)
class Text:
    """A received text compared with the page's text.

    - `keys`: all keys that lead to the text.
    - `size`: the number of its letters. `pieces` is the number of pieces in which the text came.
    - `like`: the likeness to the page's text, from 0 to 1. `how` is the result of the comparison.
    - `old`: whether the text already came in an earlier turn.
    - `within`: whether the text contains the page's whole text and more.
    - `only_page`, `only_wire`: the number of letters that only one side has. `page` and `wire` are the first runs of
      these letters.
    - `ahead`: whether the page's additional letters come before everything else.
    - `beside`: other texts with the same key that the page does not show.
    """

    keys: tuple[KeyParts, ...]
    size: int
    pieces: int
    like: float
    how: How
    old: bool = False
    within: bool = False
    only_page: int = 0
    only_wire: int = 0
    page: tuple[str, ...] = ()
    wire: tuple[str, ...] = ()
    ahead: bool = False
    beside: tuple[str, ...] = ()

    @staticmethod
    def from_strand(strand: Strand, likeness: float, reading: Reading, known: bool) -> "Text":
        # The reading most like the page represents the text.
        plain = max(strand.readings, key=lambda one: reading.likeness(one.letters))
        difference = reading.compare(plain)
        beside = [
            one for one in strand.beside if len(own := letters(one)) >= _FEWEST_LETTERS and own not in reading.letters
        ]
        telling = known or likeness >= LEAST_LIKENESS / 2  # other text may be anything and is not stored
        return Text(
            tuple([key.parts for key in strand.keys[:_MOST_KEYS]]),
            len(plain.letters),
            strand.pieces,
            round(likeness, 3),
            difference.how,
            strand.old,
            bool(reading.letters) and plain.letters != reading.letters and reading.letters in plain.letters,
            difference.only_page,
            difference.only_wire,
            difference.page if telling else (),
            difference.wire if telling else (),
            difference.ahead,
            tuple([" ".join(text.split())[:_LONGEST] for text in beside[:_MOST_BESIDE]]),
        )

    @property
    def is_right(self) -> bool:
        """True if the page has the same words as the received text. The value `near` of old recordings does not
        count."""
        return self.how == "equal"


@dataclass(frozen=True, slots=True)
class Account:
    """The account of one turn. `letters` is the number of letters in the page's text, and `texts` lists the received
    texts, the most likely first. `received` is the number of bytes received, and `unread` the number of bytes in
    messages without text. `capped` is True if more was received than is read. `before` is the account of the
    previous turn if more of that turn came after its first account was made, otherwise None. `late` is a part of
    the text that the page now shows instead of the answer, if that text was received as well."""

    letters: int
    texts: tuple[Text, ...]
    received: int = 0
    unread: int = 0
    capped: bool = False
    before: "Account | None" = None
    late: str = ""

    def add_earlier(self, before: "Account | None") -> "Account":
        return replace(self, before=before)

    def add_late_text(self, text: str) -> "Account":
        return replace(self, late=" ".join(text.split())[:_LONGEST])

    def as_json(self) -> dict[str, Any]:
        return {"format": FORMAT, **_account_rows(self)}

    @staticmethod
    def from_bytes(data: bytes) -> "Account":
        """Read an account. Raises ValueError if `data` is something else."""
        try:
            value = json.loads(data)
            if value.pop("format", None) != FORMAT:
                raise ValueError(f"the format must be {FORMAT}")
            return msgspec.convert(value, Account, strict=False)
        except (AttributeError, TypeError, RecursionError, msgspec.ValidationError) as fault:
            raise ValueError(f"the content is not valid {FORMAT}: {fault!r}") from None


def make_account(
    opened: OpenedContent, said: str, answer: str, heard: EarlierTexts, known: Collection[KeyParts] = frozenset()
) -> Account:
    """Compare the received content of a turn with the answer. A text is always kept if its key is in `known`, the keys
    whose texts were like the page's text in earlier turns."""
    reading = Reading(page_readings(answer), said)
    like: list[tuple[float, Strand]] = []
    unlike: list[tuple[float, Strand]] = []
    for strand in find_strands(opened.leaves, said, heard):
        likeness = max(reading.likeness(plain.letters) for plain in strand.readings)
        (like if likeness > 0 else unlike).append((likeness, strand))
    like.sort(key=lambda one: (-one[0], one[1].old, -len(one[1].letters)))
    rest = [*like[_MOST_TEXTS:], *unlike]
    met = [one for one in rest if _is_known(one[1], known)]
    # The longest texts unlike the page are counted, too: one of them may turn out to be the reply.
    longest = [one for one in unlike if not _is_known(one[1], known)][:_MOST_UNLIKE]
    kept = [*like[:_MOST_TEXTS], *met, *longest]
    texts = tuple([Text.from_strand(strand, likeness, reading, _is_known(strand, known)) for likeness, strand in kept])
    return Account(len(reading.letters), texts, opened.size, opened.unread, opened.capped)


def _is_known(strand: Strand, known: Collection[KeyParts]) -> bool:
    return any(key.parts in known for key in strand.keys)


def _account_rows(one: Account) -> dict[str, Any]:
    return {
        "letters": one.letters,
        "received": one.received,
        "unread": one.unread,
        "capped": one.capped,
        "texts": [
            {
                name: value
                for name in Text.__dataclass_fields__
                if (value := getattr(text, name)) not in (False, (), 0) or name in ("keys", "like")
            }
            for text in one.texts
        ],
        **({"before": _account_rows(one.before)} if one.before is not None else {}),
        **({"late": one.late} if one.late else {}),
    }
