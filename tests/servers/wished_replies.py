"""The replies of the scenario server to wishes: each kind holds something that is easily lost on the way to a reader.

Every reply begins and ends with a token of its own, so that a cut one is seen; `echo`, `asking` (which begin with the
user's words), `empty` and `short` (the `count`-th of the short answers) are what they are.
"""

from __future__ import annotations

from collections.abc import Callable

from tests.servers.short_answers import SHORT
from tests.servers.wishes import Wish

__all__ = ["KINDS", "bubbles_for"]

_TEXT = """
lantern harbour meadow copper window travel quiet morning paper garden engine river bridge signal winter letter island
market shadow cotton silver mountain kitchen ticket forest candle orchard pocket thunder village
"""
_WORDS = tuple(_TEXT.split())


def _prose(words: int, seed: int = 0) -> str:
    """Sentences of ten words, paragraphs of five sentences; no two neighbours alike."""
    paragraphs: list[list[str]] = []
    for start in range(0, words, 10):
        chosen = [_WORDS[(seed + place * 7 + place // 30) % len(_WORDS)] for place in range(start, start + 10)]
        sentence = " ".join([f"{start // 10 + 1}", *chosen]).capitalize() + "."
        if start % 50 == 0:
            paragraphs.append([])
        paragraphs[-1].append(sentence)
    return "\n\n".join(" ".join(sentences) for sentences in paragraphs)


def _long(wish: Wish) -> str:
    text = _prose(wish.chars // 6)
    return text[: wish.chars].rsplit(" ", 1)[0] + "."


def _table(wish: Wish) -> str:
    rows = [f"| {_WORDS[i]} | {i * i} | https://example.org/rows/{i} |" for i in range(wish.count)]
    return "\n".join(["| Name | Square | Where |", "| --- | --- | --- |", *rows])


_CODE = """Run this:

```python
def walk(tree, depth=0):
    for branch in tree:
        if branch.leaves:
            print("  " * depth, branch.name)
            walk(branch.leaves, depth + 1)

    return depth
```

Then call `walk(tree)` once, and read `a_b_c * 2` as it stands."""

_LISTS = """Steps to take:

1. Pack
   - shoes
   - coat
     - the warm one
     - the dry one
2. Walk
3. Rest
   1. sit
   2. sleep

Things left:

- tea
- bread"""

_ANCHORS = """Two places: [the film's page](https://www.imdb.com/title/tt0088763/) and \
[www.example.com](https://example.org/elsewhere?a=1&b=2).

- [A guide](https://example.org/guide_(short)#part-2)
- <https://example.org/auto>
- https://example.org/bare"""

_HEADINGS = """# First part

Some words.

## Second part

More words.

### Third part

Last words."""

_EMPHASIS = "This is **bold**, this is *slanted*, this is ***both***, this is ~~gone~~, and 2 * 3 * 4 is 24."

_CJK = """東京の映画を三つ挙げます。

1. 七人の侍 - https://www.imdb.com/title/tt0047478/
2. 東京物語 - https://www.imdb.com/title/tt0046438/
3. 千と千尋の神隠し - https://www.imdb.com/title/tt0245429/

以上です。한국어도 있고，中文也有。"""

_RTL = """إليك ثلاثة أفلام:

1. باب الحديد - https://www.imdb.com/title/tt0051390/
2. المومياء - https://www.imdb.com/title/tt0064714/

ועוד משפט אחד בעברית, עם קישור: https://example.org/he"""

_QUOTE = """They said:

> The sea is calm.
> It is late.

And then they left."""

_EMOJI = "Sunny ☀️ until noon, then rain 🌧️. Bring an umbrella ☂️ 👍🏽 👩‍👩‍👧 🇸🇪!"

_FORMULA = "The roots are x = (−b ± √(b² − 4ac)) / 2a; here 2 ≤ x < 10³, so ∑ xᵢ ≈ 6.02 × 10²³ ≠ ∞."


def _mixed(wish: Wish) -> str:
    return "\n\n".join((_HEADINGS.splitlines()[0], _prose(30), _LISTS, _table(wish), _CODE, _QUOTE, _ANCHORS))


KINDS: dict[str, Callable[[Wish], str]] = {
    "prose": lambda wish: _prose(60),
    "stream": lambda wish: _prose(60),
    "broken": lambda wish: _prose(60),
    "error": lambda wish: _prose(60),
    "slow": lambda wish: _prose(20),
    "quick": lambda wish: "Done at once.",
    "long": _long,
    "burst": _long,
    "table": _table,
    "code": lambda wish: _CODE,
    "lists": lambda wish: _LISTS,
    "anchors": lambda wish: _ANCHORS,
    "headings": lambda wish: _HEADINGS,
    "emphasis": lambda wish: _EMPHASIS,
    "cjk": lambda wish: _CJK,
    "rtl": lambda wish: _RTL,
    "quote": lambda wish: _QUOTE,
    "emoji": lambda wish: _EMOJI,
    "formula": lambda wish: _FORMULA,
    "mixed": _mixed,
}
"""Kinds whose reply does not depend on the user's words; further ones are bubbles, echo, asking,
quoting, short and empty."""


def bubbles_for(wish: Wish, text: str, token: str) -> tuple[str, ...]:
    """The bubbles of the reply, in Markdown, none for an empty one. token: stands first and last.

    Raises ValueError, naming the kinds, for a kind that is not there.
    """
    if wish.kind == "empty":
        return ()
    if wish.kind == "echo":
        return (text,)
    if wish.kind == "asking":
        return (f"{text}? What do you mean by that?",)
    if wish.kind == "short":
        return (SHORT[wish.count % len(SHORT)],)
    first, last = f"Begin {token}.", f"End {token}."
    if wish.kind == "bubbles":
        inner = [f"Bubble {i + 1}: {_prose(20, i)}" for i in range(wish.count)]
        inner[0], inner[-1] = f"{first}\n\n{inner[0]}", f"{inner[-1]}\n\n{last}"
        return tuple(inner) if wish.count > 1 else (f"{first}\n\n{_prose(20)}\n\n{last}",)
    if wish.kind == "quoting":
        body = f"You wrote: {' '.join(text.split())}\n\nThat is noted."
    elif wish.kind in KINDS:
        body = KINDS[wish.kind](wish)
    else:
        kinds = ", ".join((*sorted(KINDS), "bubbles", "echo", "asking", "quoting", "short", "empty"))
        raise ValueError(f"no scenario is called {wish.kind!r}; there are {kinds}")
    return (f"{first}\n\n{body}\n\n{last}",)
