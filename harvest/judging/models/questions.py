"""The questions to a model about each thing to judge: one for each sample, and for a pair also one for each order."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from harvest.judging.models.judge_file import Judge
from harvest.judging.models.prompting import item_messages, pair_messages
from harvest.judging.replies.asking import strict_json
from harvest.judging.serving.questions import Question
from harvest.judging.sheets.pair_sheet import BlindPair, text_hash, transcript
from harvest.voices.endpoint import OVERFLOW, REFUSED
from recordings.files.json_text import Json
from recordings.judged.judgments import UNSURE, Judgment
from simulators.llm.acceptance import SECRET
from simulators.outside import Message, Sample
from topics.identity import content_hash
from topics.topic import Topic

BETTER = ("first", "second", "tie", UNSURE)

# Why a thing is unjudged, by name.
FAULTS = MappingProxyType(
    {
        "failed": "The endpoint gave no whole reply: an error, a time-out, or another end than a reply has.",
        "refused": "The endpoint says that the model refused, or that a filter stopped it.",
        "overflowed": "The question was too long for the model, or the reply was cut off at its limit.",
        "nonsense": "The reply is anything but one JSON value: words or a code fence around it, a key twice, nothing.",
        "out of schema": "It is JSON, and not the two keys that were asked for with a score of the scale.",
    }
)

_WHOLE = ("", "stop", "end_turn", "eos", "eos_token", "stop_sequence")
_CUT = ("length", "max_tokens", "model_length", "model_context_window_exceeded")
_REFUSED = ("content_filter", "safety", "recitation", "blocklist", "prohibited_content", REFUSED)
_TOO_LONG = (OVERFLOW, "contextwindowexceeded")
# API error names for questions that are too long, and for filtered words.
_FILTERED = ("content_filter", "content_policy_violation")
# Characters of a reason that are kept.
_MOST = 4000


@dataclass(frozen=True, slots=True)
class Verdict:
    """The content of a reply: a score, null or `unsure`, or for a pair one of `BETTER`. `fault` is one of `FAULTS`,
    or "" if the reply was readable."""

    value: Json = None
    reason: str = ""
    fault: str = ""


def read_score(sample: Sample, scale: Collection[float]) -> Verdict:
    """Return the score in a reply on one criterion."""
    verdict = _read_verdict(sample, "score")
    value = verdict.value
    if verdict.fault or value is None or value == UNSURE:
        return verdict
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value not in scale:
        return Verdict(fault="out of schema")
    return Verdict(float(value), verdict.reason)


def read_better(sample: Sample) -> Verdict:
    """Return the preference in a reply on a pair."""
    verdict = _read_verdict(sample, "better")
    return verdict if verdict.fault or verdict.value in BETTER else Verdict(fault="out of schema")


def failure_of(why: str) -> str:
    """Classify a failure of the endpoint as one of `FAULTS`, by the error names that APIs use."""
    text = why.lower()
    if any(name in text for name in _TOO_LONG):
        return "overflowed"
    return "refused" if any(name in text for name in _FILTERED) else "failed"


def _read_verdict(sample: Sample, key: str) -> Verdict:
    finish = sample.finish.lower()
    if finish not in _WHOLE and finish != SECRET:
        return Verdict(fault="overflowed" if finish in _CUT else "refused" if finish in _REFUSED else "failed")
    try:
        value = strict_json(sample.text)
    except (ValueError, RecursionError):
        return Verdict(fault="nonsense")
    match value:
        case {"reason": str(reason), **rest} if rest.keys() == {key}:
            return Verdict(rest[key], reason.strip()[:_MOST])
    return Verdict(fault="out of schema")


PREFERENCE = "preference"

# The meaning of a verdict for a pair in its own order, and in reverse.
_SIDES = {"first": ("left", "right"), "second": ("right", "left"), "tie": ("tie", "tie"), UNSURE: (UNSURE, UNSURE)}


@dataclass(frozen=True, slots=True)
class Asked:
    """One question; `key` hashes messages and sample number, and `swapped` ones show the right conversation first."""

    key: str
    messages: tuple[Message, ...]
    about: Mapping[str, str | int]
    swapped: bool = False


@dataclass(frozen=True, slots=True)
class Thing:
    """A thing to judge: the `about` of every place with the same words, and the questions about it."""

    criterion: str
    about: tuple[Mapping[str, str | int], ...]
    asked: tuple[Asked, ...]

    @property
    def paired(self) -> bool:
        return self.criterion == PREFERENCE


def of_items(questions: Iterable[Question], judge: Judge, topics: Mapping[str, Topic]) -> tuple[Thing, ...]:
    """Return the questions about items. `topics`, by id, state the needs of users."""
    found = []
    for one in questions:
        topic = topics.get(one.topic)
        messages = item_messages(
            one,
            judge.scale,
            wanted=topic.request if topic else "",
            guideline=judge.guideline.get(one.criterion, ""),
        )
        asked = tuple(_make_asked(messages, number, one.about[0]) for number in range(judge.samples))
        found.append(Thing(one.criterion, one.about, asked))
    return tuple(found)


def of_pairs(pairs: Iterable[BlindPair], judge: Judge) -> tuple[Thing, ...]:
    """Return the questions about pairs, in both orders for every sample."""
    found = []
    for one in pairs:
        left, right = transcript(one.left), transcript(one.right)
        about: dict[str, str | int] = {"pair": one.number, "text": text_hash(left, right)}
        asked = tuple(
            _make_asked(pair_messages(*texts), number, about, swapped=swapped)
            for number in range(judge.samples)
            for swapped, texts in ((False, (left, right)), (True, (right, left)))
        )
        found.append(Thing(PREFERENCE, (about,), asked))
    return tuple(found)


def _make_asked(
    messages: tuple[Message, ...], number: int, about: Mapping[str, str | int], *, swapped: bool = False
) -> Asked:
    key = content_hash("harvest-judged", [number, *([one.role, one.text] for one in messages)])
    return Asked(key, messages, about, swapped)


def folded(thing: Thing, verdicts: Sequence[Verdict]) -> tuple[Judgment, ...]:
    """Combine the verdicts on a thing's questions, in their order, into its judgments.

    The value is the mean of the samples with a score; without any it is null or `unsure`. A pair is decided if the
    majorities of both orders prefer the same conversation; if they differ, it is a tie. A thing is unjudged if no
    sample could be read, and a pair also if one order has no verdict.
    """
    read = [one for one in verdicts if not one.fault]
    value: Json
    if thing.paired:
        sides = {swapped: _majority(thing, verdicts, swapped) for swapped in (False, True)}
        if not all(sides.values()):
            read = []
        samples: tuple[Json, ...] = tuple(
            None if one.fault else _SIDES[str(one.value)][asked.swapped]
            for asked, one in zip(thing.asked, verdicts, strict=True)
        )
        value = sides[False] if sides[False] == sides[True] else UNSURE if UNSURE in sides.values() else "tie"
    else:
        scores = [one.value for one in read if isinstance(one.value, float)]
        samples = tuple(one.value for one in read)
        value = sum(scores) / len(scores) if scores else None if None in samples else UNSURE
    if not read:
        why = Counter(one.fault for one in verdicts if one.fault).most_common(1)[0][0]
        return tuple(Judgment(about, thing.criterion, {"unjudged": why}) for about in thing.about)
    kept = samples if len(samples) > 1 else ()
    return tuple(Judgment(about, thing.criterion, value, read[0].reason, kept) for about in thing.about)


def _majority(thing: Thing, verdicts: Sequence[Verdict], swapped: bool) -> str:
    """Return the most frequent verdict in one order: "tie" if several are equally frequent, "" without a verdict."""
    counts = Counter(
        _SIDES[str(one.value)][swapped]
        for asked, one in zip(thing.asked, verdicts, strict=True)
        if asked.swapped == swapped and not one.fault
    )
    most = [side for side, count in counts.items() if count == max(counts.values())]
    return most[0] if len(most) == 1 else "tie" if most else ""
