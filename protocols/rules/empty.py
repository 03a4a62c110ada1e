"""`empty`: the answer shows nothing to the user."""

import re
from typing import ClassVar

from protocols.answer import Answer
from protocols.route import Evidence
from protocols.rules.answer_rule import AnswerRule
from protocols.rules.rule import Sight, Verdict, absence, span

# Characters that are invisible on a page, as the inside of a regular expression's class: white space, controls,
# zero-width and direction marks, fillers, variation selectors, tags.
INVISIBLE = (
    r"\s\x00-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    r"\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)

_VISIBLE = re.compile(f"[^{INVISIBLE}]")


class Empty(AnswerRule):
    """Holds if the answer shows nothing to the user: no visible character, link, file or picture, and nothing to
    press. Evidence: a note on the absence, or the first visible part."""

    version: ClassVar[str] = "empty/2"

    def judge(self, sight: Sight) -> Verdict:
        shown = _first_shown(sight.answer)
        nothing = absence("a visible character", f"none in {len(sight.answer.text)} characters")
        return Verdict(shown is None, (shown or nothing,))


def is_empty(answer: Answer) -> bool:
    """Return True if the answer shows nothing to the user."""
    return _first_shown(answer) is None


def _first_shown(answer: Answer) -> Evidence | None:
    if visible := _VISIBLE.search(answer.text):
        return span(answer.text, visible.start(), visible.end(), "the first visible character")
    if answer.links:
        return absence(answer.links[0].href, "no visible text, but a link")
    beside = [one.name or one.type for one in answer.attachments]
    beside += [one.title or one.value for one in answer.offers]
    return absence(beside[0], "no visible text, but this beside it") if beside else None
