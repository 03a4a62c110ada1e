"""A strict reader of a judge's replies, which checks `finish_reason` first, so that no fault becomes a verdict.

Nothing is repaired. A reply without a verdict leaves the thing unjudged, with the reason.
"""

from collections.abc import Collection
from dataclasses import dataclass
from types import MappingProxyType

from harvest.judging.replies.asking import strict_json
from harvest.voices.endpoint import OVERFLOW, REFUSED
from recordings.files.json_text import Json
from recordings.judged.judgments import UNSURE
from simulators.llm.acceptance import SECRET
from simulators.outside import Sample

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
# API errors for a question that is too long, and for words that are filtered.
_FILTERED = ("content_filter", "content_policy_violation")
# Characters of a reason that are kept.
_MOST = 4000


@dataclass(frozen=True, slots=True)
class Verdict:
    """The content of a reply.

    value: a score, null or `unsure`; for a pair one of `BETTER`.
    fault: one of `FAULTS`, or "" if the reply was readable.
    """

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
