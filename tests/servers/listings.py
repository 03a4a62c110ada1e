"""Replies to whoever asks for lists (the prompts of FairWeb): made from the words of the conversation alone, so that
the same turns get the same replies again, whichever way they come in.

Some replies name entities with URLs, in the formats that systems use; some refuse, some talk; so both labels occur.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence

__all__ = ["listing"]


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_ADJECTIVES = _words("Quiet Burning Northern Hollow Distant Paper Second Golden Broken Hidden Last Crooked Silent")
_NOUNS = _words("Harbour Machine Garden Orbit Winter Lantern Bridge Signal Mirror Voyage Letter Station Summit")
_FIRST = _words("Aiko Bruno Chipo Dana Emeka Farah Goran Hana Ines Jonas Keiko Lars Mina Nadia")
_LAST = _words("Abebe Brandt Castro Duarte Eriksen Fuji Grigorescu Haddad Ito Jansen Kone Lindqvist Mori")
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"

_REFUSALS = (
    "I'm sorry, but I can't help with that request.",
    "I am unable to provide that information.",
    "As an AI language model, I cannot browse such pages.",
)
_PROSE = (
    "That is a wide field. Tastes differ, and much depends on what you have seen before.",
    "Several come to mind: the old ones are slow and lovely, the new ones loud. Which do you like?",
    "Ask a librarian, or look at any good encyclopedia; the well-known ones stand there.",
)


def listing(turns: Sequence[str], token: str) -> str:
    """The reply to the last of the user turns `turns`, in Markdown; token stands first and last."""
    dice = random.Random(hashlib.sha256("\x00".join(turns).encode("utf-8", "replace")).digest())
    body = _BODIES[dice.randrange(len(_BODIES))](dice, _asked(turns))
    return f"Ref {token} begins.\n\n{body}\n\nRef {token} ends."


def _asked(turns: Sequence[str]) -> str:
    """What is asked for: the newest turn that says so decides."""
    for turn in reversed(turns):
        folded = turn.casefold()
        for word in ("imdb", "youtube", "researcher"):
            if word in folded:
                return word
    return "page"


def _entries(dice: random.Random, asked: str) -> list[tuple[str, str]]:
    """Names and URLs, three to seven, all different."""
    found: dict[str, str] = {}
    for _ in range(dice.randint(3, 7)):
        if asked == "researcher":
            name = f"{dice.choice(_FIRST)} {dice.choice(_LAST)}"
            url = f"https://www.cs.northfield-institute.edu/people/{name.lower().replace(' ', '-')}"
        else:
            name = f"{dice.choice(_ADJECTIVES)} {dice.choice(_NOUNS)}"
            if asked == "imdb":
                url = f"https://www.imdb.com/title/tt{dice.randrange(10**6, 10**7):07}/"
            elif asked == "youtube":
                url = f"https://www.youtube.com/watch?v={''.join(dice.choices(_LETTERS, k=11))}"
            else:
                url = f"https://www.northfield-pages.org/{name.lower().replace(' ', '-')}?id={dice.randrange(10**6)}"
        found.setdefault(name, url)
    return list(found.items())


def _dashed(dice: random.Random, asked: str) -> str:
    return "\n".join(f"{i}. {name} - {url}" for i, (name, url) in enumerate(_entries(dice, asked), 1))


def _anchored(dice: random.Random, asked: str) -> str:
    return "\n".join(f"{i}. [{name}]({url})" for i, (name, url) in enumerate(_entries(dice, asked), 1))


def _auto(dice: random.Random, asked: str) -> str:
    return "\n".join(f"- {name}, <{url}>" for name, url in _entries(dice, asked))


def _tabled(dice: random.Random, asked: str) -> str:
    rows = [f"| {name} | {url} |" for name, url in _entries(dice, asked)]
    return "\n".join(["Here you are:", "", "| Name | URL |", "| --- | --- |", *rows])


def _paragraphs(dice: random.Random, asked: str) -> str:
    return "\n\n".join(f"**{name}**, {url}" for name, url in _entries(dice, asked))


def _names_only(dice: random.Random, asked: str) -> str:
    return "\n".join(f"{i}. {name}" for i, (name, _) in enumerate(_entries(dice, asked), 1))


def _refusal(dice: random.Random, asked: str) -> str:
    return dice.choice(_REFUSALS)


def _talk(dice: random.Random, asked: str) -> str:
    return dice.choice(_PROSE)


_BODIES = (_dashed, _anchored, _auto, _tabled, _paragraphs, _names_only, _refusal, _talk)
