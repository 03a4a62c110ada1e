"""Normal forms of claims, in which numbers and dates are replaced by marks, so that claims can be compared.

    claim_form("The hotel has about forty rooms.")   ("hotel", "has", "#", "rooms"), 40, rounded

Numbers may be digits with thousands separators or English words. Lengths are converted to metres, masses to grams,
clock times to minutes of the day, and dates in English or ISO to year, month and day. Quotations, code and addresses
are left out.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from scoring.swan.rules.own_words import blank_quotations
from topics.late_pattern import lazy_pattern

_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_MONTH = "|".join(f"{name}|{name[:3]}" for name in _MONTHS)
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_SMALL = (
    "zero", "_one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_WORDS = {word: n for n, word in enumerate(_SMALL)} | {word: 10 * n for n, word in enumerate(_TENS, 2)}
_UNITS = {
    "km": ("m", 1000.0), "kilometres": ("m", 1000.0), "kilometers": ("m", 1000.0), "metres": ("m", 1.0),
    "meters": ("m", 1.0), "m": ("m", 1.0), "cm": ("m", 0.01), "kg": ("g", 1000.0), "kilograms": ("g", 1000.0),
    "grams": ("g", 1.0), "g": ("g", 1.0), "million": ("", 1e6), "thousand": ("", 1e3), "billion": ("", 1e9),
    "percent": ("%", 1.0), "%": ("%", 1.0),
}  # fmt: skip
_TOKEN = lazy_pattern(
    rf"(?P<iso>\b\d{{4}}-\d\d-\d\d\b)"
    rf"|(?P<day>\b\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<month>{_MONTH})\b\.?(?:,?\s+(?P<year>\d{{4}}))?"
    rf"|\b(?P<month2>{_MONTH})\s+(?P<day2>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,?\s+(?P<year2>\d{{4}}))?"
    r"|\b(?P<hour>[01]?\d|2[0-3])(?::(?P<minute>[0-5]\d))?\s*(?P<half>am|pm|a\.m\.|p\.m\.)(?!\w)"
    r"|\b(?P<hour2>[01]?\d|2[0-3]):(?P<minute2>[0-5]\d)\b"
    r"|(?<![\w.,])(?P<number>-?\d{1,3}(?:,\d{3})+(?:\.\d+)?|-?\d+(?:\.\d+)?)(?![\w]*\w-)"
    rf"|\b(?P<word>{'|'.join([*_WORDS])})\b(?!-)"
    r"|(?P<plain>[^\W\d_]+(?:'[^\W\d_]+)?|%)",
    re.IGNORECASE,
)
_NEGATIONS = frozenset({"not", "never", "cannot", "no", "n't"})
_ROUNDING_WORDS = frozenset(
    {"about", "around", "roughly", "approximately", "nearly", "almost", "over", "some", "circa"}
)
_LEAD = lazy_pattern(
    r"^\W*(?:(?:as\s+I\s+(?:said|mentioned)|yes|no|well|indeed|actually|in\s+fact|again|sorry|so|and|but|you\s+are\s+right"
    r"|you're\s+right|correct|right|that\s+is)\b[\s,.:;!-]*)+",
    re.IGNORECASE,
)
_ARTICLES = frozenset({"the", "a", "an"})
_PRONOUNS = frozenset({"it", "he", "she", "they", "this", "that", "these", "those"})
_VERBS = frozenset(
    re.findall(
        r"\S+",
        "is are was were has have had can could will does do did costs opens closes stands lies weighs takes lasts "
        "begins starts ends contains includes",
    )
)
_SHADED = lazy_pattern(
    r"\b(?:if|would|could|might|(?-i:may)|perhaps|maybe|suppose|say|says|said|claims?|believes?|think|thinks|according|heard"
    r"|used\s+to|unless)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Value:
    """A number with a `unit`, which may be ""; or a `time`, in minutes; or a `date`, with its text in `date`."""

    number: float
    unit: str
    date: str = ""
    rounded: bool = False

    def agrees(self, other: "Value") -> bool:
        """Return True if both values can be true of the same thing. Rounded numbers may differ by a tenth of the larger
        number."""
        if self.unit == other.unit == "date":
            short, long = sorted((self.date, other.date), key=len)
            return long.endswith(short)
        apart = abs(self.number - other.number)
        if self.rounded or other.rounded:
            return apart <= 0.1 * max(abs(self.number), abs(other.number))
        return apart < 1e-9


@dataclass(frozen=True, slots=True)
class ClaimForm:
    """A claim in normal form. `words` are in lower case, with `#unit` in place of each value, and without articles
    and negations. `values` are in order. `subject` is the number of words before the verb, 0 if unknown. `negated` is
    true for an odd number of negations. `shaded` is true if the claim is conditional, a possibility, or reported."""

    words: tuple[str, ...]
    values: tuple[Value, ...]
    subject: int
    negated: bool
    shaded: bool

    @property
    def by_pronoun(self) -> bool:
        """True if the subject is a single pronoun."""
        return self.subject == 1 and self.words[0] in _PRONOUNS

    @property
    def predicate(self) -> tuple[str, ...]:
        return self.words[self.subject :]


def claim_form(text: str) -> ClaimForm:
    """Return the normal form of one claim, without words if the text has no words."""
    plain = blank_quotations(text)
    lead = _LEAD.match(plain)
    plain = plain[(lead.end() if lead and lead.end() < len(plain.rstrip()) else 0) :]
    words: list[str] = []
    values: list[Value] = []
    negations = 0
    rounded = False
    # Contracted negations as words of their own.
    spread = re.sub(r"\b(can)not\b", r"\1 not", plain, flags=re.IGNORECASE)
    spread = re.sub(r"\bcan't\b", "can not", spread, flags=re.IGNORECASE)
    spread = re.sub(r"\bwon't\b", "will not", spread, flags=re.IGNORECASE)
    for found in _TOKEN.finditer(re.sub(r"(?<=\w)n't\b", " not", spread, flags=re.IGNORECASE)):
        value = _read_value(found, rounded)
        if value is not None:
            values.append(value)
            words.append(f"#{value.unit if value.unit in ('date', 'time') else ''}")
            rounded = False
            continue
        word = found[0].lower()
        if word in _UNITS and values and words and words[-1] == "#":
            unit, times = _UNITS[word]
            last = values[-1]
            values[-1] = Value(last.number * times, unit, rounded=last.rounded)
            words[-1] = f"#{unit}"
            continue
        rounded = word in _ROUNDING_WORDS
        if word in _NEGATIONS:
            negations += 1
        elif not rounded and word not in _ARTICLES:
            words.append(word)
    subject = next((place for place, word in enumerate(words) if word in _VERBS), 0)
    return ClaimForm(tuple(words), tuple(values), subject, negations % 2 == 1, _SHADED.search(plain) is not None)


def values_in(text: str) -> tuple[Value, ...]:
    """Return the numbers, times and dates of a text in order."""
    return claim_form(text).values


_FUNCTION = frozenset(
    re.findall(
        r"\S+",
        "a an the of in on at to for and or is are was were be it its he she they his her their this that there what "
        "which who when where how why do does did you i me my your we us really sure yes no not so then say tell "
        "please can could many much long old far else about with from by as one ok thanks",
    )
)


def content_words(text: str) -> frozenset[str]:
    """Return the content words of a text in lower case."""
    return frozenset(word for word in re.findall(r"[^\W\d_]+", blank_quotations(text).lower()) if word not in _FUNCTION)


def _read_value(found: re.Match[str], rounded: bool) -> Value | None:
    got = found.groupdict()
    if got["iso"]:
        return Value(0, "date", got["iso"])
    for day, month, year in (("day", "month", "year"), ("day2", "month2", "year2")):
        if got[month]:
            number = next(n for n, name in enumerate(_MONTHS, 1) if name.startswith(got[month].lower()[:3]))
            text = f"{number:02d}-{int(got[day]):02d}"
            return Value(0, "date", f"{got[year]}-{text}" if got[year] else text)
    if got["hour"] or got["hour2"]:
        hour = int(got["hour"] or got["hour2"])
        if got["half"]:
            hour = hour % 12 + (12 if got["half"].lower().startswith("p") else 0)
        return Value(60 * hour + int(got["minute"] or got["minute2"] or 0), "time")
    if got["number"]:
        return Value(float(got["number"].replace(",", "")), "", rounded=rounded)
    if got["word"]:
        return Value(_WORDS[got["word"].lower()], "", rounded=rounded)
    return None


_T = TypeVar("_T")
_PREPOSITIONS = frozenset({"in", "on", "at", "by", "since", "until", "before", "after", "from", "during"})
_FEWEST_WORDS = 3  # words of a claim: "Room 1" and "Room 2" do not contradict each other
_MOST_CLAIMS = 50  # claims with the same words that are kept


def compare_claims(one: ClaimForm, other: ClaimForm) -> bool | None:
    """Return whether two claims of the same words agree, or None if they cannot be compared: claims of fewer than
    three words, with a condition, in reported speech, or with two or more differing values."""
    if one.words != other.words or len(one.words) < _FEWEST_WORDS or one.shaded or other.shaded:
        return None
    apart = [place for place, (a, b) in enumerate(zip(one.values, other.values, strict=True)) if not a.agrees(b)]
    if one.negated != other.negated:
        return None if apart else False
    if len(apart) > 1:
        return None
    if apart:
        # A value in an opening phrase such as `In 1990` is a time or place, not the claim.
        spots = [at for at, word in enumerate(one.words) if word.startswith("#")]
        if spots[apart[0]] <= 1 and one.words[0] in _PREPOSITIONS and len(spots) > 1:
            return None
    return not apart


@dataclass(slots=True)
class Claims(Generic[_T]):
    """Claims by their words, each with its owner. Only the first of equal claims is kept, and at most 50, so that
    time is linear."""

    known: dict[tuple[str, ...], dict[ClaimForm, _T]] = field(default_factory=dict)

    def add(self, form: ClaimForm, of: _T) -> None:
        same = self.known.setdefault(form.words, {})
        if len(same) < _MOST_CLAIMS:
            same.setdefault(form, of)

    def compare(self, form: ClaimForm) -> Iterator[tuple[bool, _T]]:
        """Yield (agrees, owner) for each claim that can be compared with `form`."""
        for other, of in self.known.get(form.words, {}).items():
            agree = compare_claims(form, other)
            if agree is not None:
                yield agree, of
