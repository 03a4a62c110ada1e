"""Replies, how a page reads them, and what may go wrong in the reading: for tests of the witness."""

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from harvest.pages.witness.account import Account, make_account
from harvest.pages.witness.judgement import SiteKnowledge
from harvest.pages.witness.opening import open_content
from harvest.pages.witness.strands import EarlierTexts
from tests.support.transports import Transport, Turn

WORDS = re.findall(
    r"\w+",
    "the river runs past old mills and quiet gardens while boats carry grain towards a harbour where many people wait "
    "for news from islands that nobody has visited since last winter because storms broke every bridge between them",
)


def paragraph(rng: random.Random, words: int) -> str:
    return " ".join(rng.choice(WORDS) for _ in range(words)).capitalize() + "."


def reply(rng: random.Random) -> str:
    """In Markdown: short or long, with lists, tables, code, links, other scripts, formulas."""
    kind = rng.randrange(10)
    first = paragraph(rng, rng.randint(6, 40))
    number = rng.randint(10, 9999)
    if kind == 0:
        return rng.choice(("Yes.", "No, not today.", f"{number}", "Lanternfish", "はい。"))
    if kind == 1:
        return f"{first}\n\n| Name | Size |\n|---|---:|\n| Mill | {number} |\n| Boat | 7 |\n\n{paragraph(rng, 12)}"
    if kind == 2:
        return (
            f"{first}\n\n```python\nfor i in range({number}):\n    print(f'<b>{{i}}</b>')\n```\n\n{paragraph(rng, 9)}"
        )
    if kind == 3:
        return f"## Summary\n\n{first}\n\n1. {paragraph(rng, 5)}\n2. {paragraph(rng, 6)}\n\n- [x] done {number}"
    if kind == 4:
        return f"{first} See [the guide](https://example.org/{number}?a=1) and <https://example.com/x>. 🎉 {number}"
    if kind == 5:
        return f"図書館は九時に開きます。番号は{number}です。\n\n* 火曜日は休み\n* 水曜日は{number}時まで"
    if kind == 6:
        return "\n\n".join(paragraph(rng, rng.randint(20, 40)) for _ in range(rng.randint(3, 8)))
    if kind == 7:
        return f"المكتبة مفتوحة اليوم حتى الساعة {number}. {first}"
    if kind == 8:
        return f"{first} **Bold {number}** and *slanted* `code & <tag>` — “quoted” … {paragraph(rng, 8)}"
    return f"{first}\n\n> {paragraph(rng, 8)}\n\n{paragraph(rng, 20)} {number}"


def cut_up(rng: random.Random, text: str) -> list[str]:
    """A text in pieces, as a model's tokens come: words, parts of words, sometimes several at once."""
    tokens = re.findall(r"\s*\S{1,6}|\s+", text)
    pieces: list[str] = []
    while tokens:
        size = rng.choice((1, 1, 1, 2, 3, 20))
        pieces.append("".join(tokens[:size]))
        tokens = tokens[size:]
    return pieces


def token_cut(text: str) -> str | None:
    """Without its last word."""
    found = re.search(r"\s+\S*\w\S*\s*$", text) or (re.search(r"\w{1,3}\W*$", text) if len(text) > 8 else None)
    return text[: found.start()] if found else None


def table_dropped(text: str) -> str | None:
    left = re.sub(r"(?m)^\|.*\n?", "", text)
    return left if left != text else None


def code_dropped(text: str) -> str | None:
    left = re.sub(r"(?ms)^```.*?^```\n?", "", text)
    return left if left != text else None


def last_blocks(text: str) -> str | None:
    """A list that keeps only the last three messages."""
    blocks = text.split("\n\n")
    return "\n\n".join(blocks[-3:]) if len(blocks) > 3 else None


def first_bubble(text: str) -> str | None:
    """All but a bubble that came after the reading."""
    blocks = text.split("\n\n")
    return "\n\n".join(blocks[:-1]) if len(blocks) > 1 else None


def echoed(text: str, said: str) -> str:
    """The user's words in front, in the form in which the page shows them."""
    return f"{said.upper()}\n\n{text}"


FAULTS: Sequence[Callable[[str], str | None]] = (token_cut, table_dropped, code_dropped, last_blocks, first_bubble)


@dataclass(frozen=True, slots=True)
class Played:
    """account: of one turn. fault: what was planted in its reading, "" for nothing."""

    account: Account
    fault: str


def play(transport: Transport, seed: object, rate: float, *, conversations: int = 6, turns: int = 4) -> list[Played]:
    """Conversations over a transport, with faults planted in a share of the readings."""
    rng = random.Random(f"{transport.__name__} {seed}")
    met, found, at = SiteKnowledge(), list[Played](), 0.0
    for _ in range(conversations):
        heard, earlier = EarlierTexts(), list[tuple[str, str]]()
        for number in range(1, turns + 1):
            said, text = f"{paragraph(rng, rng.randint(2, 9))} {rng.randint(1, 999)}", reply(rng)
            wire = open_content(transport(Turn(number, said, cut_up(rng, text), list(earlier), at)), at)
            read, fault = text, ""
            if rng.random() < rate:
                faults = [(one.__name__, other) for one in FAULTS if (other := one(text)) is not None]
                fault, read = rng.choice([*faults, ("echoed", echoed(text, said))])
            account = make_account(wire, said, read, heard, met.known_keys)
            met.add_account(account)
            heard.add(wire.leaves)
            found.append(Played(account, fault))
            earlier.append((said, text))
            at += 1000
    return found
