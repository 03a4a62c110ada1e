"""The judgments of rules on a run, as layers: nuggets, scores with their reasons, and spans to review first."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from harvest.judging.extraction.extracting import nugget_judgments
from harvest.judging.sheets.annotation_sheet import Assessed
from recordings.conversations.conversation import Conversation
from recordings.judged.judgments import Judgment, Layer, Target
from scoring.swan.extraction import RULES
from scoring.swan.ruled_sets import set_verdicts
from scoring.swan.rules.rule import Sight
from scoring.swan.schema import Schema
from scoring.swan.triage import TRIAGE, Flag
from topics.languages import language_name, language_of


def rule_layers(
    assessed: Sequence[Assessed], schema: Schema, sight: Callable[[Conversation], Sight], made_at: str
) -> list[Layer]:
    """Return a layer of the nuggets of types F and O of both sides, and one layer for each rule, even for rules without
    a score. Rules that read other scores are left out, because every scoring applies such rules again. `sight` returns
    the view of a conversation that rules read. `made_at` is UTC time in ISO 8601."""
    extractor, _, version = RULES.partition("/")
    nuggets = tuple(row for one in assessed for row in nugget_judgments(one.conversation, one.assessment.nuggets))
    found: dict[tuple[str, str], list[Judgment]] = {}
    for criterion in schema:
        for rule in criterion.rules:
            if not rule.needs:
                found.setdefault((str(rule), rule.version), [])
        for whole in criterion.set_rules:
            found.setdefault((str(whole), whole.version), [])
    for one in assessed:
        trial, attempt = one.conversation.trial_id, one.conversation.attempt
        for name, scored in one.assessment.scored.items():
            for entry in scored:
                item = entry.item
                target = Target(trial, attempt, item.turn, item.speaker, item.start, item.end)
                judgment = Judgment(target.about(), name, entry.value, entry.note)
                found.get((entry.by.author, entry.by.version), []).append(judgment)
    conversations = [one.conversation for one in assessed]
    for (system, topic, name), (verdict, by) in set_verdicts(conversations, schema, sight).items():
        about: dict[str, str | int] = {"system": system, "topic": topic}
        judgment = Judgment(about, name, verdict.value, verdict.because)
        found.get((str(by), by.version), []).append(judgment)
    scores = (Layer("rule", *author, schema.name, made_at, tuple(said)) for author, said in found.items())
    return [Layer("rule", extractor, version, "harvest annotate", made_at, nuggets), *scores]


@dataclass(frozen=True, slots=True)
class FlaggedSpan:
    """A span that people should review first, because a criterion's triage flags it. Its text is left out, since it
    may be harmful."""

    criterion: str
    conversation: Conversation
    turn: int
    flag: Flag

    def __str__(self) -> str:
        key, flag = self.conversation.key, self.flag
        where = f"--system {key.system!r} --topic {key.topic!r} --trial {key.trial}"
        return f"{self.criterion}: {flag.reason}: turn {self.turn}, characters {flag.start}-{flag.end} ({where})"


def spans_to_review(conversations: Iterable[Conversation]) -> Iterator[FlaggedSpan]:
    """Yield, for each system turn and criterion, the first span that the criterion's triage flags. Spans are in the
    order of the recording."""
    for conversation in conversations:
        for turn in conversation.turns:
            if turn.reply is None:
                continue
            for criterion, flags in TRIAGE.items():
                flag = next(flags(turn.reply.answer.text), None)
                if flag is not None:
                    yield FlaggedSpan(criterion, conversation, turn.number, flag)


def other_languages(conversations: Iterable[Conversation]) -> Counter[str]:
    """Count the system turns in each known language other than English, of which the triage knows little."""
    replies = (turn.reply for conversation in conversations for turn in conversation.turns if turn.reply is not None)
    codes = Counter(language_of(reply.answer.text) for reply in replies)
    return Counter({language_name(code): count for code, count in codes.items() if code not in ("", "en")})
