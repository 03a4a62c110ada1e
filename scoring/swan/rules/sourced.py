"""`sourced`: Groundedness, judged by whether the answer names a source that a reader could look up ([SWAN] §4.4)."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import partial

from scoring.swan.nugget import Span
from scoring.swan.rules.own_words import blank_quotations
from scoring.swan.rules.rule import Rule, Sight, Verdict
from topics.late_pattern import lazy_pattern
from topics.links import find_urls
from topics.sentences import sentences

_Opens = Callable[[str], bool | None]
_PLACEHOLDER = lazy_pattern(r"//(?:www\.)?(?:example\.(?:com|org|net)|localhost|yoursite|domain\.com)\b", re.IGNORECASE)
_NOBODY = (
    r"(?:my|me|us|our|experts?|studies|research|scientists|many|some|several|most|sources?|people|reports?|you|all|legend"
    r"|tradition|data|available)\b"
)
# A name of at least two words, as of organisations and authors.
_NAME = (
    r"[A-Z][\w.&'-]{0,40}(?:\s+(?:(?:of|for|and|the|de|du|des|der|die|das|von|del)\s+){0,2}[A-Z][\w.&'-]{0,40}){1,6}"
)
_SAYS = (
    r"(?:(?:says|states|reports)\b|(?:said|stated|reported|writes|wrote|notes|noted|finds|found|shows|showed|estimates"
    r"|estimated|confirms|confirmed|announced)\s+that\b)"
)
_AS = r"(?:says|states|reports|reported|writes|wrote|notes|noted|found|shows|showed|records|recorded)"
_KIND = (
    r"(?:report|survey|census|study|inquiry|chronicle|dictionary|encyclop[a-z]+|atlas|archive|register|almanac|treaty"
    r"|act)"
)
_YEAR = r"(?:1[5-9]|20)\d\d"
_NAMED = lazy_pattern(
    r"\b(?i:according\s+to|as\s+reported\s+by|selon|laut|según|nach\s+angaben)\s+"
    r"(?i:the\s+|le\s+|la\s+|les\s+|l'|der\s+|die\s+|das\s+|dem\s+|den\s+|des\s+|el\s+|los\s+)?"
    rf"(?!(?i:{_NOBODY}))"
    r"[\w' -]{0,40}?[A-Z][\w.&-]+"
    r"|\b[A-Z]\w+(?:\s+(?:et\s+al\.|and\s+[A-Z]\w+|&\s+[A-Z]\w+))?\s+\((?:19|20)\d\d\)"
    r"|\([A-Z]\w+(?:\s+(?:et\s+al\.|and\s+[A-Z]\w+))?,?\s+(?:19|20)\d\d(?:,[^()]{1,40})?\)"
    r"|\b(?i:wikipedia|britannica|reuters|the\s+guardian|the\s+times|the\s+lancet)"
    r"\s+(?:says|states|reports|writes|gives|notes)\b"
    rf"|(?<![\w'.&-])(?i:the\s+)?{_NAME},?\s+(?:also\s+)?{_SAYS}|\b[A-Z]{{2,6}}\s+{_SAYS}"
    rf"|,\s+(?:says|reports|writes)\s+(?i:the\s+)?[A-Z]"
    rf"|\bas\s+(?!(?i:the\s+)?(?i:{_NOBODY}))[^,.;\n]{{0,40}}?[A-Z][^,.;\n]{{0,40}}\s{_AS}\b"
    rf"|\b(?i:{_KIND})\s+(?:of|from|by|in)\s+(?:[\w,'-]+\s+){{0,5}}{_YEAR}\b"
    rf"|\b{_YEAR}\s+(?:[\w'-]+\s+)?(?i:{_KIND})\b"
    rf"|(?<![\w'.&-]){_NAME},\s+[A-Z][^.!?\n]{{2,80}},\s+{_YEAR}\b"
    r"|\b(?:Section|Article|Chapter|Paragraph)\s+\d+\s+of\s+(?:the\s+)?\w|§\s*\d+|,?\s+p(?:p)?\.\s*\d+\b"
)
_MARK = lazy_pattern(r"\[(\d{1,3})\]")
_LISTED = lazy_pattern(r"^[ \t]*\[(\d{1,3})\][:\s]+\S", re.MULTILINE)
_SOURCES = lazy_pattern(
    r"^[ \t]*(?:sources?|references?|quellen?|based\s+on)[ \t]*:[ \t]*(?P<what>\S[^\n]*)", re.I | re.M
)
_RULE = lazy_pattern(r"[ \t]*\|?[ \t]*:?-{2,}:?[ \t]*(?:\|[ \t]*:?-{2,}:?[ \t]*)*\|?[ \t]*(?:\n|\Z)")
_NOT = lazy_pattern(r"\b(?:not|never|no|isn't|doesn't)\b[^.!?]{0,60}\Z", re.IGNORECASE)
_OF_ITSELF = lazy_pattern(
    r"^\W*(?:I\b|I'm|we\b|you\b|your\b|my\b|as\s+an?\s+(?:AI|language|large)|if\s+(?:I|you)\b|thank|sorry)",
    re.IGNORECASE,
)


def judge(reachable: _Opens | None, sight: Sight) -> Iterator[Verdict]:
    """Score 1 for each claim about the world that has a source and 0 for each claim without a source."""
    read: dict[int, _TurnSources] = {}
    rules = {(one.turn, one.start): one.rule for one in sight.nuggets if one.speaker == "system"}
    for item in sight.items:
        if item.type != "F" or rules.get((item.turn, item.start)) == "code":
            continue
        if item.turn not in read:
            text = next(
                one.reply.answer.text for one in sight.conversation.turns if one.number == item.turn and one.reply
            )
            read[item.turn] = _TurnSources(item.turn, text, reachable)
        turn = read[item.turn]
        if _OF_ITSELF.match(sight.text(item)) or turn.is_source(item.start) or turn.is_heading(item.start):
            continue
        found, unknown = turn.source(item.start)
        if found is not None:
            yield Verdict(item, 1.0, "a source is shown", (found,))
        elif not unknown:
            yield Verdict(item, 0.0, "no source is shown")


def sourced_rule(reachable: _Opens | None = None) -> Rule:
    """Score 1 for a claim with a source in its sentence, list item or table row, and 0 for a claim without a source.

    A source is a link, a numbered reference that the turn lists, or a named work or organisation. A list of sources at
    the end of a turn counts for all claims of the turn. Code, and claims about the conversation or the system itself,
    get no score. `reachable` is called with each URL and returns whether it can be opened, or None if that is unknown.
    A link that cannot be opened is not a source, and a claim that has only links of unknown state gets no score. By
    default no link is opened. `reachable` can be set only in Python, not in schema files.
    """
    return Rule(
        name="sourced" if reachable is None else "sourced(links=opened)",
        version="2",
        level="nugget",
        limits="sees that a source is shown, not that it exists or says so; a claim may be grounded in one that is "
        "not shown",
        silence="no claim about the world, or nobody can tell whether its link opens",
        judge=partial(judge, reachable),
    )


class _TurnSources:
    def __init__(self, number: int, text: str, reachable: _Opens | None) -> None:
        self.number = number
        self.plain = blank_quotations(text, addresses=True)
        self.spans = [(one.start, one.end) for one in sentences(text)]
        sources = list(_SOURCES.finditer(self.plain))
        self.listed = {found[1]: found.span() for found in _LISTED.finditer(self.plain)}
        self.entries = sorted([start for start, _ in self.listed.values()] + [one.start() for one in sources])
        self.links: list[tuple[int, int]] = []
        self.unknown: list[int] = []
        for url in find_urls(self.plain, www=True):
            opens = True if reachable is None else reachable(self.plain[url.start : url.end])
            if opens is None:
                self.unknown.append(url.start)
            elif opens and not _PLACEHOLDER.search(self.plain[url.start : url.end]):
                self.links.append((url.start, url.end))
        self.overall = next((one for one in map(self._final_list, sources) if one), None)

    def _final_list(self, found: re.Match[str]) -> tuple[int, int] | None:
        start, end = found.span("what")
        return self._source_within(start, end)

    def is_source(self, at: int) -> bool:
        line = self.plain.rfind("\n", 0, at) + 1
        place = bisect_right(self.entries, at) - 1
        return place >= 0 and self.entries[place] >= line

    def is_heading(self, at: int) -> bool:
        end = self.plain.find("\n", at)
        return end >= 0 and _RULE.match(self.plain, end + 1) is not None

    def source(self, at: int) -> tuple[Span | None, bool]:
        """Return the source of the claim at `at`, or None. The second result is True if no source was found but a
        link of unknown state may be one."""
        place = bisect_right(self.spans, (at, len(self.plain))) - 1
        start, end = self.spans[place] if place >= 0 else (at, at + 1)
        found = self._source_within(start, self._extend_to_link(end)) or self.overall
        unknown = bisect_right(self.unknown, end - 1) > bisect_right(self.unknown, start - 1)
        return (None, unknown) if found is None else ((self.number, "system", *found), False)

    def _extend_to_link(self, end: int) -> int:
        line = self.plain.find("\n", end)
        rest = self.plain[end : line if line >= 0 else len(self.plain)]
        return end + len(rest) if re.fullmatch(r"\s*[(\[]?(?:https?://\S+|\d{1,3}\])[)\].]?\s*", rest) else end

    def _source_within(self, start: int, end: int) -> tuple[int, int] | None:
        place = bisect_right(self.links, (start - 1, len(self.plain)))
        if place < len(self.links) and self.links[place][0] < end:
            return self.links[place]
        for mark in _MARK.finditer(self.plain, start, end):
            if mark[1] in self.listed and self.listed[mark[1]][0] != mark.start():
                return mark.span()
        for named in _NAMED.finditer(self.plain, start, end):
            if not _NOT.search(self.plain[start : named.start()]):
                return named.span()
        return None
