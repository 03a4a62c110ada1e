"""Atomic pieces of a sentence: an opening act apart from what follows it, a reason apart from what it explains.

    pieces(text, sentence, …)   spans with the act each performs; None for a claim

Sentences are split only where a connecting word is followed by a new subject, or at a semicolon: one split too few
leaves a nugget that could be broken down further, one too many would invent claims. Lists of nouns, relative clauses
and shared subjects (`it is old and costs little`) are therefore left whole.
"""

import re
from collections.abc import Iterator

from scoring.swan.acts import Found, act, plain
from scoring.swan.openings import opening
from topics.late_pattern import late_pattern
from topics.sentences import Sentence, has_word

_SUBJECT = r"(?:I|you|he|she|it|we|they|this|that|these|those|there)"
_VERB = (
    r"(?:'m|'s|'re|'ve|'d|'ll|\s+(?:am|is|are|was|were|has|have|had|do|does|did|don't|doesn't|didn't|can|can't"
    r"|cannot|could|couldn't|will|won't|would|wouldn't"
    r"|should|may|might|must|isn't|aren't|wasn't|weren't|also|only|just|never|think|know|need|want|like|love|seem"
    r"|seems|apologi[sz]e|hope))\b"
)
_GAP = r"(?:,\s+|(?<![\s,])\s+)"  # begins where white space begins, so that long runs of it take linear time
_JOINT = late_pattern(
    r"(?<!\s)\s*;\s+"
    rf"|{_GAP}(?:because|although|though|whereas|but|while)\s+(?=(?:{_SUBJECT}\b|(?:the|my|your|our|their|its)\s+\w))"
    rf"|{_GAP}(?:as|since)\s+(?={_SUBJECT}{_VERB})"
    rf"|,\s+(?:and|so|yet|however)\s+(?={_SUBJECT}\b)"
    rf"|{_GAP}(?:and|so)\s+(?={_SUBJECT}{_VERB})",
    re.IGNORECASE,
)
_SPLICE = late_pattern(rf",\s+(?={_SUBJECT}{_VERB})", re.IGNORECASE)
_BEGINS = late_pattern(_SUBJECT + r"\b", re.IGNORECASE)
_AS = late_pattern(r"\bas\s+\w", re.IGNORECASE)
_JOINING = late_pattern(r"[\s,;:!.…–—-]*(?:\b(?:but|and|so|because)\b\s+)?", re.IGNORECASE)
_MOST_OPENINGS = 4
_TWO_WORDS = late_pattern(r"\s*\S+\s+\S")


def pieces(
    text: str, sentence: Sentence, *, answering: bool = False, whole: bool = False
) -> Iterator[tuple[int, int, Found | None]]:
    """(start, end, act) for each atomic piece of `sentence`, in order, none empty, none overlapping.

    answering: the other side's last words were a question. whole: do not split (another language than English).
    """
    start, end = sentence.start, sentence.end
    for _ in range(_MOST_OPENINGS if not whole else 0):
        view = plain(text[start:end])
        ahead = len(view) - len(view.lstrip())  # emphasis
        found = opening(view[ahead:], answering=answering)
        if found is None:
            break
        stop = start + len(text[start : start + ahead + found.length].rstrip())
        yield start, stop, found
        joining = _JOINING.match(text, stop, end)
        start = joining.end() if joining else stop
        if not any(letter.isalnum() for letter in text[start:end]):
            return
    spans = [(start, end)] if whole else list(_clauses(text, start, end))
    for first, last in spans:
        leads = sentence.leads and last == sentence.end
        yield first, last, act(plain(text[first:last]), leads=leads, shape=sentence.shape, english=not whole)


def _clauses(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    view = plain(text[start:end])
    first = 0
    # Where a sentence could be split, in order.
    found = {match.start(): match for match in _SPLICE.finditer(view)}
    found.update({match.start(): match for match in _JOINT.finditer(view)})
    joints = [found[place] for place in sorted(found)]
    ends = [*(joint.start() for joint in joints), len(view)][1:]
    for joint, following in zip(joints, ends, strict=True):
        before = view[first : joint.start()]
        if not _TWO_WORDS.match(before) or not _TWO_WORDS.match(view, joint.end()):
            continue
        if not (has_word(before) and has_word(view[joint.end() : following])):
            continue
        if joint[0].strip() == "," and not _BEGINS.match(before):  # If it rains, we stay
            continue
        if "as" in joint[0].lower().split() and _AS.search(before):  # as close as I am
            continue
        yield start + first, start + first + len(before.rstrip())
        first = joint.end()
    yield start + first, end
