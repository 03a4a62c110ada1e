"""Regular expressions from a file, with bounded running time.

Python's engine takes exponential time on some patterns, and patterns are matched against the output of other people's
systems. A pattern is therefore rejected unless the number of ways to match it from one position is small: nothing
that contains a choice is repeated, there are no backreferences, and the product of all choices is bounded.

`check_searchable` is for a pattern that is searched in a long text: nothing repeats without a limit.
`check_matchable` is for a pattern that must match a whole short text: `.*` counts as one way for each character, so
two such repeats are within the limit and three are not. Such a pattern may also have named groups and lookahead.
"""

import re

# Characters of the longest text that a matchable pattern may be tried on.
LONGEST_MATCHED = 2048

_LONGEST_SEARCHABLE = 200  # times as many positions in a text: the limit for the cost of a search
_LONGEST_MATCHABLE = 500  # a match begins at one position, and may cost more there
_MOST_WAYS_SEARCHED = 300  # from one place; nested repeats have exponentially many
_LONGEST_FOUND = 300  # characters; matches are quoted in evidence
_MOST_WAYS_MATCHED = 10_000_000  # a few tenths of a second, at worst

_ATOM = re.compile(
    r"\\[dDsSwWbBAZntrfv]|\\[^\w]|\\x[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}"  # escapes; no \1
    r"|\[\^?\]?(?:[^\]\\]|\\.)*\]"  # a class
    r"|[^\\()\[|?*+{]",  # a character
    re.DOTALL,
)
_ZERO_WIDTH = re.compile(r"\\[bBAZ]|[\^$]")
_REPEAT = re.compile(r"(?:(\?)|([*+])|\{([0-9]{0,4})(,?)([0-9]{0,4})\})[?+]?")
_NAMED = re.compile(r"\(\?P<\w+>")


def check_searchable(pattern: str) -> str:
    """Return `pattern` if its search takes time linear in the text with a small factor, or raise ValueError."""
    ways, longest = _measure_pattern(pattern, _LONGEST_SEARCHABLE, 0)
    if longest == 0:
        raise ValueError("matches only the empty text")
    if ways > _MOST_WAYS_SEARCHED:
        raise ValueError(
            f"can be matched in {ways} ways from one position, more than {_MOST_WAYS_SEARCHED}; make repeats shorter"
        )
    if longest > _LONGEST_FOUND:
        raise ValueError(f"can match {longest} characters, more than {_LONGEST_FOUND}; make repeats shorter")
    return pattern


def check_matchable(pattern: str) -> str:
    """Return `pattern` if it can be matched quickly on a text of `LONGEST_MATCHED` characters, or raise ValueError."""
    ways, _ = _measure_pattern(pattern, _LONGEST_MATCHABLE, LONGEST_MATCHED)
    if ways > _MOST_WAYS_MATCHED:
        raise ValueError(
            "can be matched in too many ways on one text; write {0,40} or similar for all but one or two of * and +"
        )
    return pattern


def _measure_pattern(pattern: str, most: int, unbounded: int) -> tuple[int, int]:
    """Return (ways, longest match) of a pattern of at most `most` characters. `*` counts as `unbounded` characters,
    and is rejected if `unbounded` is 0."""
    if len(pattern) > most:
        raise ValueError(f"is longer than {most} characters")
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as fault:
        raise ValueError(f"is not a regular expression: {fault}") from None
    ways, longest, end = _Measure(pattern, unbounded).alternatives(0)
    assert end == len(pattern)
    return ways, longest


class _Measure:
    def __init__(self, pattern: str, unbounded: int) -> None:
        self.pattern, self.unbounded = pattern, unbounded

    def alternatives(self, at: int) -> tuple[int, int, int]:
        ways, longest = 0, 0
        while True:
            branch_ways, branch_longest, at = self._measure_sequence(at)
            ways, longest = ways + branch_ways, max(longest, branch_longest)
            if not self.pattern.startswith("|", at):
                return ways, longest, at
            at += 1

    def _measure_sequence(self, at: int) -> tuple[int, int, int]:
        pattern, ways, longest = self.pattern, 1, 0
        while at < len(pattern) and pattern[at] not in "|)":
            if pattern[at] == "(":
                atom_ways, atom_longest, at = self._measure_group(at)
            else:
                atom = _ATOM.match(pattern, at)
                if atom is None:
                    raise ValueError(self._not_allowed(at))
                atom_ways, atom_longest = 1, 0 if _ZERO_WIDTH.fullmatch(atom[0]) else 1
                at = atom.end()
            repeat = _REPEAT.match(pattern, at)
            if repeat:
                least, most = self._repeat_bounds(repeat)
                if most > 1 and atom_ways > 1:
                    raise ValueError(
                        "contains a repeated group with a choice or repeat inside: matching it may never end"
                    )
                atom_ways = atom_ways + 1 if most <= 1 else max(1, most - least + 1)
                atom_longest *= most
                at = repeat.end()
            ways, longest = ways * atom_ways, longest + atom_longest
        return ways, longest, at

    def _measure_group(self, at: int) -> tuple[int, int, int]:
        start = 1
        if self.pattern.startswith("(?", at):
            opening = self.pattern[at : at + 3]
            named = _NAMED.match(self.pattern, at)
            if self.unbounded and named:
                start = named.end() - at
            elif opening == "(?:" or (self.unbounded and opening in ("(?=", "(?!")):
                start = 3
            else:
                raise ValueError(f"contains {opening!r}, which is not allowed; groups are ( ) or (?: )")
        ways, longest, end = self.alternatives(at + start)
        return ways, longest, end + 1

    def _repeat_bounds(self, repeat: re.Match[str]) -> tuple[int, int]:
        if repeat[1]:
            return 0, 1
        if repeat[2]:
            if not self.unbounded:
                raise ValueError(f"contains {repeat[2]!r}, which repeats without a limit; write {{0,80}} or similar")
            return 0, self.unbounded
        least = int(repeat[3] or 0)
        if repeat[4] and not repeat[5]:
            if not self.unbounded:
                raise ValueError(f"contains {repeat[0]!r}, which repeats without a limit; write an upper limit")
            return 0, max(least, self.unbounded)
        return least, int(repeat[5] or least)

    def _not_allowed(self, at: int) -> str:
        pattern = self.pattern
        shown = pattern[at : at + 2] if pattern[at] == "\\" else pattern[at]
        return f"contains {shown!r}, which is not allowed; characters, classes, groups, |, ? and {{m,n}} are"
