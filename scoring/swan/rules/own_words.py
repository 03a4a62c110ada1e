"""The own words of a speaker: what is quoted, or stands in code or a URL, is blanked out, character by character."""

from __future__ import annotations

import re

__all__ = ["own_words"]

_STRAIGHT = str.maketrans({"’": "'", "‘": "'", "\u00a0": " ", "\u202f": " "})
_FOREIGN = re.compile(
    r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|`[^`\n]*`|https?://\S+"
    r"|\"[^\"\n]{1,400}\"|“[^”\n]{1,400}”|„[^“”\n]{1,400}[“”]|«[^»\n]{1,400}»|(?<!\w)'[^'\n]{2,200}'(?!\w)"
    r"|^[ \t]{0,3}>[^\n]*",
    re.DOTALL | re.MULTILINE,
)


def own_words(text: str) -> str:
    """`text` at the same length with straight apostrophes, and spaces where somebody else's words, code, or an
    address stand; line ends stay."""
    return _FOREIGN.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text.translate(_STRAIGHT))
