"""A check of whether the pages that answers cite exist, and whether they contain the quoted text.

Both are looked up only on request, and the results are kept with the run as a layer of judgments with its date: a page
that is gone today may have existed when the answer cited it, and the other way round.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from harvest.judging.page_fetcher import FetchedPage
from protocols.answer import Answer
from recordings.conversations.conversation import Conversation
from recordings.judged.judgments import Judgment, Layer, Target
from recordings.judged.source_layers import LOOK_UP, PAGE, QUOTATION
from topics.late_pattern import lazy_pattern
from topics.links import find_urls

VERSION = "1"
# A quotation of at least this many words, or characters of a script without blanks, is looked for.
_FEWEST_WORDS, _FEWEST_SIGNS = 5, 15
_QUOTED = lazy_pattern(
    r'"([^"\n]{15,600})"|“([^“”\n]{15,600})”|„([^„“”\n]{15,600})[“”]|«([^«»\n]{15,600})»|「([^「」\n]{15,600})」'
)
_NO_WORD = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Quotation:
    """Words that an answer quotes, with their place in its text, and the addresses that the answer cites."""

    target: Target
    words: str
    addresses: tuple[str, ...]


def cited_addresses(conversation: Conversation) -> Iterator[str]:
    """Yield the web addresses that the answers of a conversation cite, each once in an answer."""
    for turn in conversation.turns:
        if turn.reply is not None:
            yield from _addresses(turn.reply.answer)


def quotations(conversation: Conversation) -> Iterator[Quotation]:
    """Yield the quotations in answers that have a source."""
    for turn in conversation.turns:
        if turn.reply is None:
            continue
        answer = turn.reply.answer
        addresses = tuple(_addresses(answer))
        if not addresses:
            continue
        for found in _QUOTED.finditer(answer.text):
            words = next(part for part in found.groups() if part is not None)
            start = found.start() + 1
            if len(words.split()) >= _FEWEST_WORDS or (
                words.isascii() is False and len(_plain(words)) >= _FEWEST_SIGNS
            ):
                target = Target(
                    conversation.trial_id, conversation.attempt, turn.number, start=start, end=start + len(words)
                )
                yield Quotation(target, words, addresses)


def _addresses(answer: Answer) -> Iterator[str]:
    every = [*(mention.href for mention in find_urls(answer.text)), *(source.href for source in answer.sources)]
    yield from dict.fromkeys(url for url in every if url.startswith(("http://", "https://")))


def quotation_outcome(quotation: Quotation, pages: Mapping[str, FetchedPage]) -> str:
    """Return `found` if a cited page contains the words, `not found` if every cited page was read and none contains
    them, or `unknown`. Case, punctuation and blanks do not matter."""
    wanted = _plain(quotation.words)
    read = [pages[url] for url in quotation.addresses if url in pages]
    if any(page.outcome == "exists" and wanted in _plain(page.text) for page in read):
        return "found"
    known = len(read) == len(quotation.addresses) and all(page.outcome == "exists" and page.text for page in read)
    return "not found" if known else "unknown"


def _plain(text: str) -> str:
    return _NO_WORD.sub("", unicodedata.normalize("NFKC", text).casefold())


def look_up_layer(
    pages: Mapping[str, FetchedPage], quoted: Mapping[Quotation, str], *, made_at: str, source: str
) -> Layer:
    """Return the results as a layer of judgments: one for each address, and one for each quotation."""
    return Layer(
        "rule",
        LOOK_UP,
        VERSION,
        source,
        made_at,
        (
            *(
                Judgment({"address": url}, PAGE, page.outcome, f"{page.why}, looked up on {page.at[:10]}")
                for url, page in sorted(pages.items())
            ),
            *(Judgment(one.target.about(), QUOTATION, outcome) for one, outcome in quoted.items()),
        ),
    )
