"""What the awkward pages say, and what must be read from them: for each page its HTML, beside the same in Markdown."""

from __future__ import annotations

import hashlib
import html
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["ALONE", "LAYOUTS", "PAGES", "PageReply", "reply_of"]


@dataclass(frozen=True, slots=True)
class PageReply:
    """One reply. bubbles: HTML. markdown: what a reader sees, bubbles joined by empty lines. links: (text, href).
    status: of the response, 200 where there is a reply. first: seconds before it begins. pause: seconds in its middle,
    between bubbles where it has several. broken: the connection is closed in the middle."""

    bubbles: tuple[str, ...]
    markdown: str
    links: tuple[tuple[str, str], ...] = ()
    status: int = 200
    first: float = 0.15
    pause: float = 0.0
    broken: bool = False


LAYOUTS = (
    *(
        "authored",
        "bare",
        "beside",
        "blocks",
        "grouped",
        "hashed",
        "header-footer",
        "heading-name",
        "inline",
        "lone-user",
    ),
    *("material", "model", "modifiers", "paragraphs", "titled", "transcript", "turns", "utility"),
)
"""Widgets laid out as those met most; see pages/layouts.js."""
ALONE = "Lanternfish"
"""The short answer that all of them give."""

PAGES: dict[str, tuple[str, ...]] = {
    "plain": ("answer", "answer", "answer"),
    "name-first": ("answer", "answer"),
    "name-lines": ("answer", "answer"),
    "error-bubble": ("answer", "error", "answer"),
    "rate-limit": ("answer", "rate-limit", "answer"),
    "error-toast": ("answer", "error", "answer"),
    "toast-notyf": ("answer", "told", "answer"),
    "toast-sonner": ("told", "answer"),
    "empty-named": ("answer", "answer"),
    "silent-error": ("answer", "silence", "answer"),
    "stuck-composer": ("answer", "error", "stuck"),
    "broken-stream": ("answer", "broken", "answer"),
    "greeting": ("answer", "answer"),
    "consent-banner": ("answer", "answer"),
    "modal": ("answer", "answer"),
    "login": ("login",),
    "captcha": ("captcha",),
    "maintenance": ("maintenance",),
    "empty-disabled": ("answer", "answer"),
    "editor": ("answer", "answer"),
    "code-editor": ("answer", "answer", "answer"),
    "self-anchors": ("answer", "answer"),
    "code": ("answer", "answer"),
    "rich": ("answer", "answer"),
    "shadow-open": ("answer", "answer"),
    "shadow-closed": ("answer", "answer"),
    "frame-same": ("answer", "answer"),
    "frame-other": ("answer", "answer"),
    "frame-nested": ("answer", "answer"),
    "virtualised": ("answer", "answer", "answer", "answer"),
    "newest-first": ("answer", "answer", "answer"),
    "column-reverse": ("answer", "answer", "answer"),
    "launcher": ("answer", "answer"),
    "new-window": ("answer", "answer"),
    "enter-newline": ("answer", "answer"),
    "enter-only": ("answer", "answer"),
    "bubbles": ("answer", "answer"),
    "long-pause": ("answer", "answer"),
    "edits": ("answer", "answer"),
    "regenerated": ("answer", "answer"),
    "parrot": ("answer", "answer"),
    "quoting": ("answer", "answer"),
    "alike": ("answer", "answer"),
    "user-markdown": ("answer", "answer"),
    "masked": ("answer", "answer"),
    "icons": ("answer", "answer"),
    "icons-alive": ("answer", "answer"),
    "painted-anew": ("answer", "nothing"),
    "ticker": ("answer", "answer"),
    "animation": ("answer", "answer"),
    "dialogs": ("answer", "answer"),
    "pop-up": ("answer", "answer"),
    "download": ("answer", "answer"),
    "thinking": ("answer", "answer"),
    "reasoning": ("answer", "answer"),
    "right-to-left": ("answer", "answer"),
    "suggestions": ("answer", "answer", "answer"),
    "toolbar": ("answer", "answer"),
    "same-container": ("answer", "answer"),
    "long-polling": ("answer", "answer"),
    "web-socket": ("answer", "answer"),
    "event-source": ("answer", "answer"),
    "acknowledged": ("answer", "answer"),
    "doubled": ("twice",),
    "sidebar": ("answer", "answer"),
    "both-late": ("answer", "answer"),
    "max-length": ("not-sent",),
    "stop-button": ("answer", "answer"),
    "aria-busy": ("answer", "answer"),
    "told-twice": ("answer", "answer"),
    "reloading": ("answer", "answer"),
    "words-faded-in": ("answer", "answer"),
    "cursor": ("answer", "answer"),
    "new-chat": ("answer", "answer"),
    "widget": ("answer", "answer"),
    "rebuilt": ("answer", "answer", "answer"),
    "renamed": ("answer", "answer"),
    "typewriter": ("answer", "answer"),
    "polled-parts": ("answer", "answer"),
    "accepted": ("answer", "answer"),
    "table-log": ("answer", "answer"),
    "definitions": ("answer", "answer"),
    "typed-log": ("answer", "answer"),
    "cards": ("answer", "answer"),
    "set-apart": ("answer", "answer", "answer"),
    "suggested-links": ("answer", "answer"),
    "two-chats": ("answer", "answer"),
    "new-box": ("answer", "answer", "answer"),
    "long-page": ("answer", "answer"),
    "japanese": ("answer", "answer"),
    "connecting": ("answer", "answer"),
    "drafts": ("answer", "answer"),
    "receipts": ("answer", "answer"),
    "delivery": ("answer", "answer"),
    "own-states": ("answer",),
    "late-states": ("answer",),
    "redirecting": ("answer", "answer"),
    "loaded-anew": ("answer", "answer"),
    "lost-turn": ("answer", "lost"),
    "swept": ("answer", "lost"),
    **dict.fromkeys((f"layout-{name}" for name in LAYOUTS), ("answer", "answer", "answer")),
}
"""What becomes of the first turns on each page: `answer` is the reply of that turn; login, captcha, maintenance,
rate-limit and error are said by the page; silence: it says nothing, though the server failed; broken: half a reply, and
nothing said of it; told: only a toast says that it failed; nothing: no bubble comes; lost: the turn does not appear, or
goes with the whole page; stuck: nothing can be typed any more; twice: the turn goes twice; not-sent: what is
typed does not go in whole (a turn of more than 24 characters). What each page does stands in its first line."""


def reply_of(page: str, turn: int, text: str) -> PageReply:
    """The reply to the user's `turn`-th turn (from 1) on the page, the same every time. Pages within frames are the
    page `plain`."""
    outcomes = PAGES[page]
    outcome = outcomes[turn - 1] if turn <= len(outcomes) else "answer"
    if outcome in ("error", "silence"):
        return PageReply(("Something went wrong. Please try again.",), "", status=500)
    if outcome == "told":
        return PageReply(("The robots are asleep.",), "")
    if outcome == "nothing":
        return PageReply((), "")
    if outcome == "rate-limit":
        return PageReply(("Too many requests. Please wait a moment before you ask again.",), "", status=429)
    mark = hashlib.sha256(f"{page} {turn}".encode()).hexdigest()[:8]
    return _OWN.get(page, _simple)(page, turn, text, mark)


def _simple(page: str, turn: int, text: str, mark: str) -> PageReply:
    href = f"https://example.org/{page}/{turn}?a=1&b=2"
    return PageReply(
        (
            f'<p>Answer {turn} of the page: see <a href="{html.escape(href)}">the guide</a> for the rest.</p>'
            f"<p>It ends with the mark {mark}.</p>",
        ),
        f"Answer {turn} of the page: see [the guide]({href}) for the rest.\n\nIt ends with the mark {mark}.",
        (("the guide", href),),
        first=_FIRST.get(page, 0.15),
        pause=_PAUSE.get(page, 0.0),
    )


_FIRST = {
    "masked": 4.5,
    "name-first": 2.5,
    "thinking": 1.5,
    "delivery": 4.0,
    "own-states": 6.5,
    "late-states": 3.0,
    "acknowledged": 4.0,
}
_PAUSE = {
    "delivery": 2.5,
    "late-states": 3.5,
    "long-pause": 2.5,
    "aria-busy": 2.0,
    "polled-parts": 2.5,
    "accepted": 3.0,
    "loaded-anew": 1.5,
    "swept": 3.0,
}


def _bubbles(page: str, turn: int, text: str, mark: str) -> PageReply:
    said = (f"First thing of {turn}.", "Second thing.", f"Third thing, mark {mark}.")
    return PageReply(tuple(f"<p>{one}</p>" for one in said), "\n\n".join(said), pause=1.0)


def _self_anchors(page: str, turn: int, text: str, mark: str) -> PageReply:
    return PageReply(
        (
            '<h2 id="part"><a class="anchor" href="#part" aria-label="Link to this part">#</a>First part</h2>'
            f'<p>Look at <a href="https://example.org/auto/{turn}">example.org/auto/{turn}</a>, or at '
            f'<a href="https://example.org/whole/{turn}">https://example.org/whole/{turn}</a>.</p>'
            f'<h3 id="end">Last part<a class="anchor" href="#end">¶</a></h3><p>Mark {mark}.</p>',
        ),
        f"## First part\n\nLook at [example.org/auto/{turn}](https://example.org/auto/{turn}), or at "
        f"https://example.org/whole/{turn}.\n\n### Last part\n\nMark {mark}.",
        (
            (f"example.org/auto/{turn}", f"https://example.org/auto/{turn}"),
            (f"https://example.org/whole/{turn}", f"https://example.org/whole/{turn}"),
        ),
    )


_PYTHON = """def walk(tree, depth=0):
    for branch in tree:
        if branch.leaves:
            print("  " * depth, branch.name)

    return depth
"""


def _code(page: str, turn: int, text: str, mark: str) -> PageReply:
    coloured = html.escape(_PYTHON, quote=False)
    for word in ("def", "for", "in", "if", "return"):
        coloured = coloured.replace(f"{word} ", f'<span class="hljs-keyword">{word}</span> ')
    return PageReply(
        (
            '<p>Run this:</p><div class="code-block"><div class="bar"><span>python</span><button>Copy code</button>'
            f'</div><pre><code class="hljs language-python">{coloured}</code></pre></div>'
            f"<p>Then call <code>walk(tree)</code>. Mark {mark}.</p>",
        ),
        f"Run this:\n\n```python\n{_PYTHON}```\n\nThen call `walk(tree)`. Mark {mark}.",
    )


def _editors(page: str, turn: int, text: str, mark: str) -> PageReply:
    if turn == 3:
        draft = f"Dear Ada,\n\nthe tide was high. Mark {mark}.\n\nYours, Robin"
        return PageReply(
            (f'<p>Change it as you like:</p><pre class="draft">{draft}</pre>',), f"Change it as you like:\n\n{draft}"
        )
    code = "".join(f"def step_{number}(tide):\n    return tide + {number}\n\n" for number in range(40)) + "# the end"
    return PageReply(
        (f'<p>Run this:</p><pre><div><code class="language-python">{code}</code></div></pre><p>Mark {mark}.</p>',),
        f"Run this:\n\n```python\n{code}\n```\n\nMark {mark}.",
    )


def _rich(page: str, turn: int, text: str, mark: str) -> PageReply:
    return PageReply(
        (
            "<table><thead><tr><th>Name</th><th>Year</th></tr></thead><tbody><tr><td>Up</td><td>2009</td></tr>"
            '<tr><td><a href="https://example.org/coco">Coco</a></td><td>2017</td></tr></tbody></table>'
            "<ol><li>Pack<ul><li>shoes</li><li>coat</li></ul></li><li>Walk</li></ol><blockquote><p>The sea is "
            f"calm.</p></blockquote><p>This is <strong>bold</strong> and <em>slanted</em>. Mark {mark}.</p>",
        ),
        "| Name | Year |\n| --- | --- |\n| Up | 2009 |\n| [Coco](https://example.org/coco) | 2017 |\n\n"
        "1. Pack\n   - shoes\n   - coat\n2. Walk\n\n> The sea is calm.\n\n"
        f"This is **bold** and *slanted*. Mark {mark}.",
        (("Coco", "https://example.org/coco"),),
    )


def _set_apart(page: str, turn: int, text: str, mark: str) -> PageReply:
    if turn == 2:
        return PageReply((f'<img src="{_PICTURE}" alt="A red bridge">',), "![A red bridge]()")
    href = f"https://example.org/map/{turn}"
    return PageReply(
        (
            '<h2><span class="k1">Summary</span></h2><p>It holds 10<sup>3</sup> l of H<sub>2</sub>O; '
            f"mark {mark}.</p><pre><code><i>1</i>ls -l\n<i>2</i>pwd</code></pre>"
            f'<details><summary>1 source</summary><a href="{href}">The map</a></details>'
            "<small>AI-generated content may be incorrect.</small>",
        ),
        f"## Summary\n\nIt holds 10³ l of H₂O; mark {mark}.\n\n```\nls -l\npwd\n```",
        (("The map", href),),
    )


def _nothing_first(page: str, turn: int, text: str, mark: str) -> PageReply:
    return PageReply((), "") if turn == 1 else _simple(page, turn, text, mark)


def _parrot(page: str, turn: int, text: str, mark: str) -> PageReply:
    return PageReply((f"<p>{html.escape(text)}</p>",), text)


def _quoting(page: str, turn: int, text: str, mark: str) -> PageReply:
    return PageReply(
        (f"<p>{html.escape(text)}</p><p>That is what you said. Mark {mark}.</p>",),
        f"{text}\n\nThat is what you said. Mark {mark}.",
    )


def _right_to_left(page: str, turn: int, text: str, mark: str) -> PageReply:
    href = f"https://example.org/rtl/{turn}"
    return PageReply(
        (f'<p>هذا جواب رقم {turn}، انظر <a href="{href}">الدليل</a>.</p><p>והסימן הוא {mark}.</p>',),
        f"هذا جواب رقم {turn}، انظر [الدليل]({href}).\n\nוהסימן הוא {mark}.",
        (("الدليل", href),),
    )


def _bare(page: str, turn: int, text: str, mark: str) -> PageReply:
    href = f"https://example.org/{page}/{turn}"
    said = f"Answer {turn} of the page: see {href} for the rest. It ends with the mark {mark}."
    return PageReply((said,), said, ((href, href),))


_PICTURE = "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' width='240' height='120'/>"


def _cards(page: str, turn: int, text: str, mark: str) -> PageReply:
    cards = "".join(
        f'<a class="card" href="https://example.org/{name}/{turn}" style="display: block; border: 1px solid">'
        f'<img src="{_PICTURE}" alt="" style="display: block"><div class="title">{title}</div>'
        f'<div class="host">example.org</div></a>'
        for name, title in (("boats", "Boats of the harbour"), ("nets", "Nets and knots"))
    )
    return PageReply(
        (
            f'<p>Here is the harbour:</p><img src="{_PICTURE}" alt="The harbour at noon">'
            f'<div class="cards">{cards}</div><p>Mark {mark}.</p>',
        ),
        "Here is the harbour:\n\n![The harbour at noon]()\n"
        f"[Boats of the harbour example.org](https://example.org/boats/{turn})\n"
        f"[Nets and knots example.org](https://example.org/nets/{turn})\n\nMark {mark}.",
        (
            ("Boats of the harbour example.org", f"https://example.org/boats/{turn}"),
            ("Nets and knots example.org", f"https://example.org/nets/{turn}"),
        ),
    )


def _japanese(page: str, turn: int, text: str, mark: str) -> PageReply:
    href = f"https://example.org/ja/{turn}"
    return PageReply(
        (
            f'<p>{turn}番目の回答です。詳しくは<a href="{href}">案内</a>をご覧ください。</p>'
            f"<ul><li>東京タワー</li><li>午後3:05の船</li></ul><p>印は{mark}です。</p>",
        ),
        f"{turn}番目の回答です。詳しくは[案内]({href})をご覧ください。\n\n- 東京タワー\n- 午後3:05の船\n\n"
        f"印は{mark}です。",
        (("案内", href),),
    )


def _alone(page: str, turn: int, text: str, mark: str) -> PageReply:
    """A word alone, then a sentence, then the word as a paragraph: on the kept pages it is exchanged for others."""
    if turn == 2:
        said = "The harbour was built in 1891, and it has been in use ever since then."
        return PageReply((f"<p>{said}</p>",), said)
    return PageReply((ALONE if turn == 1 else f"<p>{ALONE}</p>",), ALONE)


def _broken(page: str, turn: int, text: str, mark: str) -> PageReply:
    whole = _simple(page, turn, text, mark)
    return PageReply(whole.bubbles, whole.markdown, whole.links, broken=turn == 2)


_OWN: dict[str, Callable[[str, int, str, str], PageReply]] = {
    **dict.fromkeys((f"layout-{name}" for name in LAYOUTS), _alone),
    "bubbles": _bubbles,
    "self-anchors": _self_anchors,
    "code": _code,
    "code-editor": _editors,
    "rich": _rich,
    "parrot": _parrot,
    "quoting": _quoting,
    "alike": _quoting,
    "right-to-left": _right_to_left,
    "broken-stream": _broken,
    "typed-log": _bare,
    "cards": _cards,
    "empty-named": _nothing_first,
    "set-apart": _set_apart,
    "japanese": _japanese,
}
