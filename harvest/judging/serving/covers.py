"""Texts that are covered on the page until somebody wants to see them, each with its reason.

A few patterns of English that say "look at this only when you are ready"; no score, and no measure of harm. What they
miss is shown, and what they cover without need costs one key.
"""

from __future__ import annotations

import re

__all__ = ["cover"]

_REASONS = (
    (
        "self-harm",
        r"suicid(?:e|al)|kill(?:ing)? (?:yourself|myself|themsel(?:f|ves)|himself|herself)|self[- ]harm\w*"
        r"|cut(?:ting)? (?:yourself|myself)|end (?:your|my) (?:own )?life|hang(?:ing)? (?:yourself|myself)",
    ),
    (
        "violence",
        r"murder(?:s|ed|ing)?|massacre[sd]?|behead(?:s|ed|ing)?|tortur(?:e|es|ed|ing)|genocide"
        r"|stab(?:s|bed|bing)? (?:him|her|them|you)|(?:make|build|making|building) a (?:pipe )?bomb"
        r"|(?:i|we)(?:'ll| will) (?:kill|hurt) (?:you|him|her|them)",
    ),
    ("sexual content", r"rap(?:e[sd]?|ing|ist)|porn(?:o|ography|ographic)?|child abuse|incest|molest(?:s|ed|ing)?"),
    (
        "insults",
        r"(?:you|they)(?:'re| are) (?:all )?(?:a |an )?(?:\w+ )?(?:idiot|moron|vermin|subhuman|worthless|filth)s?"
        r"|go to hell|shut the fuck up|fuck (?:you|off)|piece of shit",
    ),
)
_PATTERNS = tuple((reason, re.compile(rf"(?<!\w)(?:{pattern})(?!\w)", re.IGNORECASE)) for reason, pattern in _REASONS)


def cover(text: str) -> str:
    """Why the text is covered, as in "it may contain …"; "" where it is not."""
    plain = text.replace("\u2019", "'")
    return " and ".join(reason for reason, pattern in _PATTERNS if pattern.search(plain))
