"""The own words of a speaker: quotations, code and URLs are blanked out, character by character."""

import re

from topics.late_pattern import late_pattern

_STRAIGHT = str.maketrans({"’": "'", "‘": "'", "\u00a0": " ", "\u202f": " "})
_FOREIGN = (
    r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|`[^`\n]*`"
    r"|\"[^\"\n]{1,400}\"|“[^”\n]{1,400}”|„[^“”\n]{1,400}[“”]|«[^»\n]{1,400}»|(?<!\w)'[^'\n]{2,200}'(?!\w)"
    r"|^[ \t]{0,3}>[^\n]*"
)
_WITH_ADDRESSES = late_pattern(_FOREIGN, re.DOTALL | re.MULTILINE)
_WITHOUT = late_pattern(rf"https?://\S+|{_FOREIGN}", re.DOTALL | re.MULTILINE)


def own_words(text: str, *, addresses: bool = False) -> str:
    """`text` at the same length without quotations, code and (unless kept) addresses; line ends stay."""
    pattern = _WITH_ADDRESSES if addresses else _WITHOUT
    return pattern.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text.translate(_STRAIGHT))
