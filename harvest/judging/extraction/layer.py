"""The layer of nuggets made from a model's replies: completed conversations, and counts of what was left out."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from harvest.judging.extraction.questions import Question
from harvest.judging.extraction.reply import Reading
from harvest.judging.replies.asking import Answers
from recordings.conversations.conversation import Conversation
from recordings.judged.judgments import Judgment, Layer, Target
from scoring.swan.extraction import extract_nuggets
from scoring.swan.judged import EXTRACTION, NUGGET, words_hash
from scoring.swan.nugget import Candidate, Nugget
from scoring.words import Passage, passages

_SOURCE = "harvest annotate --extract"


@dataclass(frozen=True, slots=True)
class ModelExtractor:
    """An `Extractor` that returns kept replies for one conversation. `readings` is by turn and speaker."""

    version: str
    readings: Mapping[tuple[int, str], Reading]

    def candidates(self, passage: Passage, earlier: Sequence[Passage]) -> Iterable[Candidate]:
        reading = self.readings.get((passage.turn, passage.speaker), Reading())
        return reading.found


@dataclass(slots=True)
class Extraction:
    """The result of an extraction.

    layer: the nuggets of the completed conversations.
    refused: the number of their nuggets that were refused, by reason.
    unreadable: the number of passages whose last reply could not be read, by reason.
    missing: the conversations that are incomplete, each with its reason.
    """

    layer: Layer
    conversations: int = 0
    passages: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    unreadable: Counter[str] = field(default_factory=Counter)
    missing: list[tuple[Conversation, str]] = field(default_factory=list)


def extraction(
    asked: Sequence[tuple[Conversation, Sequence[Question]]],
    answers: Answers[Reading],
    *,
    author: str,
    version: str,
    made_at: str,
) -> Extraction:
    """Return the nuggets of the conversations in which every passage has a readable reply.

    Each of them also gets a judgment `extraction`, which distinguishes a conversation without nuggets from one that was
    not extracted, and which counts the refused nuggets for the scores.
    """
    found: list[Judgment] = []
    told = Extraction(Layer("model", author, version, _SOURCE, made_at))
    told.unreadable.update(one.fault for one in answers.readings.values() if one.fault)
    for conversation, questions in asked:
        told.conversations += 1
        told.passages += len(questions)
        fault = next((said for one in questions if (said := _passage_fault(one, answers))), "")
        if fault:
            told.missing.append((conversation, fault))
            continue
        readings = {(one.passage.turn, one.passage.speaker): answers.readings[one.key] for one in questions}
        refused = sum((Counter(one.refused) for one in readings.values()), Counter[str]())
        told.refused.update(refused)
        nuggets = extract_nuggets(conversation, ModelExtractor(f"{author}/{version}", readings))
        about: dict[str, str | int] = {"trial": conversation.trial_id, "attempt": conversation.attempt}
        value = {"nuggets": len(nuggets), "passages": len(questions), "refused": dict(sorted(refused.items()))}
        value = {"said": words_hash(passages(conversation)), **value}
        found.append(Judgment(about, EXTRACTION, value))
        found += nugget_judgments(conversation, nuggets)
    told.layer = Layer("model", author, version, _SOURCE, made_at, tuple(found))
    return told


def nugget_judgments(conversation: Conversation, nuggets: Iterable[Nugget]) -> list[Judgment]:
    """Return the nuggets of types F and O of both sides as judgments. Entities are found again by their URLs."""
    found = []
    for nugget in nuggets:
        if nugget.type == "E":
            continue
        turn, speaker, start, end = nugget.span
        target = Target(conversation.trial_id, conversation.attempt, turn, speaker, start, end)
        value = {"type": nugget.type, "act": nugget.act} if nugget.act else {"type": nugget.type}
        more = {"rule": nugget.rule, "version": nugget.version, "position": nugget.position, "text": nugget.text}
        found.append(Judgment(target.about(), NUGGET, {**value, **more}))
    return found


def _passage_fault(question: Question, answers: Answers[Reading]) -> str:
    """Return why a passage has no readable reply; "" if it has one."""
    where = f"turn {question.passage.turn}, {question.passage.speaker}"
    failure = answers.failures.get(question.key)
    if failure is not None:
        return f"{where}: {failure}"
    reading = answers.readings.get(question.key)
    if reading is None:
        return f"{where}: not asked"
    return f"{where}: no reply could be read ({reading.fault})" if reading.fault else ""
