"""The speaker's own words, without quotations, code and URLs."""

import re

from topics.late_pattern import lazy_pattern

_STRAIGHT = str.maketrans({"’": "'", "‘": "'", "\u00a0": " ", "\u202f": " "})
_NOT_OWN = (
    r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|`[^`\n]*`"
    r"|\"[^\"\n]{1,400}\"|“[^”\n]{1,400}”|„[^“”\n]{1,400}[“”]|«[^»\n]{1,400}»|(?<!\w)'[^'\n]{2,200}'(?!\w)"
    r"|^[ \t]{0,3}>[^\n]*"
)
_WITH_ADDRESSES = lazy_pattern(_NOT_OWN, re.DOTALL | re.MULTILINE)
_WITHOUT_ADDRESSES = lazy_pattern(rf"https?://\S+|{_NOT_OWN}", re.DOTALL | re.MULTILINE)


def blank_quotations(text: str, *, addresses: bool = False) -> str:
    """Blank out quotations, code and (unless kept) addresses, preserving the length and the line ends."""
    pattern = _WITH_ADDRESSES if addresses else _WITHOUT_ADDRESSES
    return pattern.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text.translate(_STRAIGHT))
