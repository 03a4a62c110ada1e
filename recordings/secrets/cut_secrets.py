"""Secrets of which only the beginning stands in a text, because the text was cut: an excerpt in a message ends in `…`,
a reply that was too large ends anywhere. What is left of a secret says much of it, and is not found by its value.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from recordings.secrets.escapes import Span
from recordings.secrets.searched_text import SearchedText

# Put between texts that are looked at together: no secret goes on over it.
APART = "\x02\n\"'<>[]\n\x02"

# Characters that must be left of a secret: fewer are often the known beginning of a kind of keys (`sk-proj-`).
_LEAST = 12

_AT_A_CUT = ("…", "...", "\\u2026", APART)


class CutSecrets:
    """The forms of known secrets, by how they begin."""

    def __init__(self) -> None:
        self._forms: defaultdict[str, set[str]] = defaultdict(set)

    def add(self, forms: Iterable[str]) -> None:
        for form in forms:
            if len(form) > _LEAST:
                self._forms[form[:_LEAST]].add(form)

    @property
    def beginnings(self) -> Iterable[str]:
        """One of these stands in every text in which a cut secret does."""
        return self._forms.keys()

    def spans(self, searched: SearchedText) -> Iterator[Span]:
        """Where the beginning of a secret stands right before a cut."""
        text = searched.text
        for beginning, forms in self._forms.items():
            at = text.find(beginning) if searched.may_hold(beginning) else -1
            while at >= 0:
                end = at + max(_in_common(text, at, form) for form in forms)
                if end == len(text) or text.startswith(_AT_A_CUT, end):
                    yield at, end, "secret"
                at = text.find(beginning, at + 1)


def _in_common(text: str, at: int, form: str) -> int:
    """How many characters of `form` stand in the text from `at` on."""
    if text.startswith(form, at):
        return len(form)
    return next(n for n, letter in enumerate(form) if text[at + n : at + n + 1] != letter)
