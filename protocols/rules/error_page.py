"""`error_page`: the text of the answer is an error message.

Such a text arrived as an answer, so the driver noticed no failure, but a server wrote it and not the assistant. The
rule recognises an HTML page with an error in its title or heading, a JSON body that is an error, and a short text
that begins with the words of an error, a rate limit or a request to try again. A film called "Error 404" in a list is
not an error: a line that goes on to name something, or contains a URL, is not an error message.
"""

import json
import re
from typing import ClassVar

from protocols.route import Evidence
from protocols.rules.answer_rule import AnswerRule
from protocols.rules.rule import Sight, Verdict, absence, span
from topics.late_pattern import lazy_pattern
from topics.links import find_urls

_LONGEST_BODY = 50_000  # characters of the longest JSON body that is parsed
_LONGEST_MESSAGE = 600  # characters of the longest text that can be only an error message
_HEAD = 20_000  # characters at the beginning of a page that contain its title

_REASONS = (
    r"bad\s+request|unauthori[sz]ed|payment\s+required|forbidden|not\s+found|method\s+not\s+allowed|request\s+time-?out"
    r"|conflict|gone|payload\s+too\s+large|too\s+many\s+requests|internal\s+server\s+error|not\s+implemented"
    r"|bad\s+gateway|service\s+(?:temporarily\s+)?unavailable|gateway\s+time-?out"
)
_PLAIN_REASONS = (  # those that are hardly ever a title
    r"too\s+many\s+requests|internal\s+server\s+error|bad\s+gateway|service\s+(?:temporarily\s+)?unavailable"
    r"|gateway\s+time-?out"
)
# An error's words may be followed by the end of the sentence, or by a clause about the error. "Something went
# wrong in the lab: that is the plot" continues with something else.
_MESSAGE_END = (
    r"(?=\s*(?:[.!,;:<–—-]|\n|\Z|(?:and|or|while|when|whilst|during|please|try|trying|processing|generating|loading"
    r"|right\s+now|at\s+(?:the|this)|currently|due|on\s+our|with\s+(?:your|the)|for\s+your|in\s+[0-9])\b))"
)
# White space is matched without backtracking (`\s*+`): with two `\s*` in a row, the blanks of "error  error  …" can be
# divided in too many ways to try.
_STATUS = lazy_pattern(
    r"(?:http(?:/[0-9.]+)?\s++|(?:error|status|code)\s*+:?\s*+)*+\(?[45][0-9]{2}\)?\s*+[:|–—-]?\s*+"
    rf"(?:error\s*+:?\s*+)?(?:{_REASONS})(?!\w){_MESSAGE_END}"
    r"|(?:http\s++(?:error|status)(?:\s++code)?|error(?:\s++code)?|status\s++code)\s*+:?\s*+[45][0-9]{2}\s*+(?=[.!]|\Z)"
    rf"|(?:{_PLAIN_REASONS})\s*+(?=[.!]|\Z)",
    re.IGNORECASE,
)
_MESSAGE = lazy_pattern(
    r"(?:(?:oops|uh[- ]oh|whoops|hmm+|sorry|we're\s+sorry|error|apologies)\b\W{0,4}\s*(?:but\s+)?){0,4}"
    r"(?:(?:something|an\s+error|a\s+(?:network|server|internal|technical)\s+error|an?\s+un\w+\s+error)\s+"
    r"(?:\w+\s+){0,5}?(?:went\s+wrong|gone\s+wrong|occurred|happened)"
    r"|(?:network|server|internal|connection|time-?out|unknown|unexpected)\s+error"
    r"|(?:rate|usage|message|request|quota)\s+limits?\s+(?:\w+\s+){0,3}?(?:exceeded|reached|hit)"
    r"|(?:you|you've|you\s+have|we|we've|we\s+have)\s+(?:\w+\s+){0,2}?(?:reached|hit|exceeded|used\s+up)\s+"
    r"(?:your|the|our|a)\s+(?:\w+\s+){0,4}?(?:limit|quota|cap)"
    r"|you(?:\s+are|'re|\s+have\s+been|'ve\s+been)\s+(?:being\s+)?rate[- ]limited"
    r"|too\s+many\s+(?:requests|concurrent\s+requests|messages)"
    r"|(?:the|our|this)\s+(?:server|service|system|model|site)s?\s+(?:is|are)\s+(?:\w+\s+){0,3}?"
    r"(?:overloaded|unavailable|down|busy|at\s+capacity)"
    r"|(?:we(?:'re|\s+are)|our\s+(?:servers|systems|services)\s+are)\s+(?:currently\s+)?experiencing\s+"
    r"(?:\w+\s+){0,3}?(?:demand|load|traffic|difficulties|issues)"
    r"|there\s+was\s+an?\s+(?:\w+\s+){0,2}?(?:error|problem)\s+"
    r"(?:generating|processing|loading|with\s+(?:your|the)\s+request)(?:\s+\w+){0,4}?"
    r"|(?:the\s+|your\s+)?request\s+(?:has\s+)?(?:timed\s+out|failed)"
    r"|(?:please\s+)?try\s+again\s+(?:later|in\s+(?:a\s+few|[0-9]+)\s+\w+))"
    rf"(?:\s+for\s+this\s+\w+)?(?!\w){_MESSAGE_END}",
    re.IGNORECASE,
)
_PAGE = lazy_pattern(r"\s*(?:<\?xml[^>]{0,200}>\s*)?<(?:!doctype\s+html|html|head)\b", re.IGNORECASE)
_TITLE = lazy_pattern(r"<(title|h1)\b[^>]{0,200}>([^<]{0,300})<", re.IGNORECASE)
_PAGE_WORDS = lazy_pattern(
    rf"\b[45][0-9]{{2}}\b|\b(?:{_REASONS}|error|just\s+a\s+moment|attention\s+required|access\s+denied"
    r"|temporarily\s+unavailable|maintenance)\b",
    re.IGNORECASE,
)
_PLAIN = str.maketrans({"\u2019": "'", "\u02bc": "'", "\u00a0": " "})
_NO_ERROR_VALUES = (None, False, 0, "", "null", "none", "None")


class ErrorPage(AnswerRule):
    """Holds if the answer is an error message, page or body. Evidence: the words that identify the error. No
    options."""

    version: ClassVar[str] = "error_page/1"
    languages: ClassVar[tuple[str, ...]] = ("en",)  # of messages; pages and bodies have codes

    def judge(self, sight: Sight) -> Verdict:
        text = sight.answer.text
        found = _page_evidence(text) or _body_evidence(text) or _message_evidence(text)
        return Verdict(True, (found,)) if found else Verdict(False, (absence("an error message", "none found"),))


def _page_evidence(text: str) -> Evidence | None:
    if not _PAGE.match(text):
        return None
    for title in _TITLE.finditer(text, 0, _HEAD):
        if _PAGE_WORDS.search(title[2]):
            return span(text, title.start(2), title.end(2), f"the {title[1].lower()} of an HTML page")
    return None


def _body_evidence(text: str) -> Evidence | None:
    start, end = _text_span(text)
    if end - start > _LONGEST_BODY or not (text.startswith("{", start) and text.endswith("}", start, end)):
        return None
    try:
        value = json.loads(text[start:end])
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    for key in ("error", "errors"):
        if key in value and value[key] not in (*_NO_ERROR_VALUES, [], {}):
            return span(text, start, end, f"a JSON body with {key!r}")
    status = value.get("status", value.get("code", value.get("statusCode")))
    explained = {"title", "detail", "message", "type"} & set(value)
    if isinstance(status, int) and 400 <= status <= 599 and explained:
        return span(text, start, end, f"a JSON body with status {status}")
    return None


def _message_evidence(text: str) -> Evidence | None:
    start, end = _text_span(text)
    if end - start > _LONGEST_MESSAGE:
        return None
    plain = text[start:end].translate(_PLAIN)  # without the white space around it, which may be megabytes
    begin = len(plain) - len(plain.lstrip("#*_>`⚠️!❌ \t"))
    found = _STATUS.match(plain, begin) or _MESSAGE.match(plain, begin)
    if found is None:
        return None
    if find_urls(plain[begin:].partition("\n")[0]):
        return None  # "Error 404 (2011): https://…" names a film
    return span(text, start + found.start(), start + found.end(), "opens with the words of an error")


def _text_span(text: str) -> tuple[int, int]:
    start = len(text) - len(text.lstrip())
    return start, start + len(text.strip())
