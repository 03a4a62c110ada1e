"""Regular expressions that are compiled when they are first asked something: long ones cost every command its start."""

import re
from typing import Any, cast


def late_pattern(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """As `re.compile`. A fault in the pattern shows at its first use, so it is for patterns written in the code."""
    return cast(re.Pattern[str], _Late(pattern, flags))


class _Late:
    def __init__(self, pattern: str, flags: int) -> None:
        self._given = pattern, flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # nothing of a pattern's, and `_given` itself while a copy is made
            raise AttributeError(name)
        found = getattr(re.compile(*self._given), name)
        setattr(self, name, found)  # from now on it costs what the pattern's own does
        return found
