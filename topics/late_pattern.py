"""Regular expressions that are compiled on first use, because long patterns would slow the start of every command."""

import re
from typing import Any, cast


def lazy_pattern(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Return a pattern that is compiled on first use. An invalid pattern raises only then, so use this function only
    for patterns in the code."""
    return cast(re.Pattern[str], _LazyPattern(pattern, flags))


class _LazyPattern:
    def __init__(self, pattern: str, flags: int) -> None:
        self._given = pattern, flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # not an attribute of patterns, or `_given` itself while a copy is made
            raise AttributeError(name)
        found = getattr(re.compile(*self._given), name)
        setattr(self, name, found)  # from now on it is as fast as the pattern's own attribute
        return found
