"""The user's own text in another form on the page: masked, censored, cut short, corrected or translated. Such a text
is recognised by its likeness to the typed text, by the position of the user's text in earlier turns, or by its
time: text that appears when the turn is sent, before the first byte came back, is not an answer."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from functools import lru_cache

from harvest.pages.reading.echo import Echo, is_set_aside, is_title, trail
from harvest.pages.reading.page import AT_ONCE, Node, collapse_spaces, letters
from harvest.pages.reading.page_text import PageText
from harvest.pages.reading.phrases import is_placeholder

_PRESS_MILLISECONDS = 500.0  # milliseconds in which a page shows the user's words, even on a busy machine
_KEPT, _OWN = 0.6, 0.7  # least common shares of what was said and of what is shown
_WHOLE_SHARE = 0.9  # least share of what was said if there is much else
_SHORTEST_PIECE = 3  # letters: shorter pieces are common by chance
_LONGEST = 600  # most letters that are compared
_EXTRA_LETTERS = 32  # letters of name, time and state that may be with the user's words
_FEWEST_LETTERS = 8  # letters that identify a sentence cut short
_ADDRESS = re.compile(r"https?://\S+")
_MASK = re.compile(
    r"[•●∙·⋅‧*＊∗✱█▇■□░▒▓…]+|\.{3,}|\{\{[^{}]{1,40}\}\}|[\[<(][^\[\]<>()]{1,40}[\]>)]"
    r"|(?<![^\W\d_])[xX#]{2,}(?![^\W\d_])"
)


def find_altered(
    ground: PageText,
    said: str,
    *,
    user: Sequence[str] = (),
    apart: bool = False,
    rising: bool = False,
    until: float | None = None,
) -> Echo | None:
    """Find where the page shows the user's text of this turn in another form, or return None if nothing new resembles
    the text. `user` is the trail (see `trail`) of the user's text in earlier turns. Set `apart` if no reply had an
    element with that trail. Text that came more than `until` milliseconds after the send is ignored."""
    lines = {
        block: came
        for block in ground.lines
        if (came := _last_change(ground, block)) is not None
        and (until is None or came < until)
        and not ground.is_rerendered(block)
        and not (is_title(block) or is_set_aside(block, said))
    }
    if apart:
        placed = [node for node in _elements_holding(ground, lines, letters(said)) if trail(node) == tuple(user)]
        if placed:
            return _echo_at(ground, placed[0 if rising else -1])
    told = {block: came for block, came in lines.items() if not is_placeholder(collapse_spaces(ground.lines[block]))}
    first = min(told.values(), default=0.0) + AT_ONCE
    early = {block: came for block, came in told.items() if came <= first}
    found = [
        (share, node)
        for node in _elements_holding(ground, early, letters(said))
        if (share := likeness_to_said(said, node.lines))
    ]
    if found:
        best = max(share for share, _ in found)
        return _echo_at(ground, next(node for share, node in found if share == best))
    # A page may append what a link in the words leads to. An answer may repeat the words as well, so something else
    # must have come later.
    begin = letters(said)[:_FEWEST_LETTERS]
    for node in _elements_holding(ground, early, letters(said)):
        kept, own = _common_shares(said, node.lines)
        if kept >= _WHOLE_SHARE and own >= 1 - _OWN and letters(node.text).startswith(begin):
            came = max(early[line] for line in node.walk() if line in early) if node in early else 0.0
            if any(at > came + AT_ONCE and not line.is_within(node) for line, at in told.items()):
                return _echo_at(ground, node)
    return None


def find_early_lines(ground: PageText, heard: float | None) -> set[Node]:
    """Return the blocks whose text came completely when the turn was sent, before the first byte came back. `heard` is
    the milliseconds from the send to the first byte. Pass None if the time is unknown, or if nothing has left the
    page, because such a page may answer by itself."""
    if heard is None:
        return set()
    limit = min(_PRESS_MILLISECONDS, heard)
    return {block for block in ground.lines if (came := _last_change(ground, block)) is not None and came < limit}


def _last_change(ground: PageText, block: Node) -> float | None:
    """Return the time of the last change in the block's text, or None if some text was present before the send."""
    holders = [node for node in block.walk() if node.has_text]
    times = [ground.text_time(node) for node in holders if node in ground.spans]
    return None if not times or None in times else max(time for time in times if time is not None)


def _elements_holding(ground: PageText, lines: dict[Node, float], wanted: str) -> Iterator[Node]:
    """Yield the elements that contain only `lines`, innermost first, up to the largest size of a user's text."""
    most = 2 * len(wanted) + _EXTRA_LETTERS
    seen: set[Node] = set()
    for line in lines:
        for node in line.self_and_ancestors():
            span = ground.spans.get(node)
            if node in seen or span is None or span.end - span.start > most:
                break
            if any(block not in lines for block in node.walk() if block in ground.lines):
                break
            seen.add(node)
            inner = node
            while len(inner.elements) == 1 and inner not in ground.lines and ground.signs(inner.elements[0]):
                inner = inner.elements[0]
            yield inner


def _echo_at(ground: PageText, node: Node) -> Echo:
    span = ground.spans[node]
    return Echo(node, span.start, span.end)


@lru_cache(maxsize=1024)
def likeness_to_said(said: str, shown: str) -> float:
    """Return the share of `said` that the text shows, in (0, 1], or 0 if the text is no form of `said`."""
    if _is_masked(said, shown):
        return 1.0
    kept, own = _common_shares(said, shown)
    return kept if kept >= _KEPT and own >= _OWN else 0.0


def share_kept(said: str, shown: str) -> float:
    """Return the share of the letters of `said` that the text has in the same order, in [0, 1]."""
    return 1.0 if _is_masked(said, shown) else _common_shares(said, shown)[0]


def _common_shares(said: str, shown: str) -> tuple[float, float]:
    plain = said if _ADDRESS.search(shown) else _ADDRESS.sub("", said)  # a page may show what an address leads to
    mine, theirs = (letters(plain) or letters(said))[:_LONGEST], letters(shown)[:_LONGEST]
    if not mine or not theirs:
        return 0.0, 0.0
    most = (Counter(mine) & Counter(theirs)).total()  # an upper limit for any order
    if most < _KEPT * len(mine) and most < _OWN * len(theirs):
        return 0.0, 0.0
    blocks = SequenceMatcher(None, mine, theirs, autojunk=False).get_matching_blocks()
    common = sum(block.size for block in blocks if block.size >= min(_SHORTEST_PIECE, len(mine)))
    return common / len(mine), common / len(theirs)


def _is_masked(said: str, shown: str) -> bool:
    pieces = _MASK.split(shown)
    if len(pieces) == 1:
        return False
    wanted, known = letters(said), [letters(piece) for piece in pieces]
    plain = collapse_spaces(shown)
    if not any(sign.isalnum() for sign in plain):  # all of it, sign by sign
        return len(plain) == len(collapse_spaces(said)) and not is_placeholder(plain)
    if sum(map(len, known)) < min(_FEWEST_LETTERS, 0.3 * len(wanted)):
        return False
    if not wanted.startswith(known[0]) or not wanted[len(known[0]) :].endswith(known[-1]):
        return False
    at, end = len(known[0]), len(wanted) - len(known[-1])
    for piece in known[1:-1]:
        found = wanted.find(piece, at, end)
        if found < 0:
            return False
        at = found + len(piece)
    return True
