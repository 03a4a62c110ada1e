"""All rules, and their conversion from and to protocol files.

A rule in a file is a mapping whose only key is its kind and whose value holds its options (`{urls: {at_least: 3}}`).
`any` and `all` take a list of rules or names of rules; `not` and `thoughts` take a single rule or name.

Other distributions add kinds through entry points of the group `harvest.rules`, `kind = "module:Class"`. The class is
a StrictModel whose fields are the options, and implements `Rule`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import EntryPoint

from protocols.answer import Answer, Exchange
from protocols.rules.answer_rule import AnswerRule
from protocols.rules.breakdown import Breakdown
from protocols.rules.clarifying_question import ClarifyingQuestion
from protocols.rules.contains import Contains
from protocols.rules.echo import Echo
from protocols.rules.empty import Empty
from protocols.rules.error_page import ErrorPage
from protocols.rules.evasion import Evasion
from protocols.rules.format import Format, Urls
from protocols.rules.label_was import LabelWas
from protocols.rules.language import Language
from protocols.rules.list_items import ListItems
from protocols.rules.offer import Offer
from protocols.rules.parts import Parts
from protocols.rules.refusal import Refusal
from protocols.rules.repetition import Repetition
from protocols.rules.rule import Rule, Sight, Verdict, absence
from protocols.rules.words import Sentences, Words
from topics.document import Document, StrictModel
from topics.errors import suggestion
from topics.plug_ins import find_plug_ins, load_entry
from topics.topic import Topic
from topics.yaml_values import Loc

# Every kind of rule that reads answers itself, by its name in files.
KINDS_OF_RULES: Mapping[str, type[StrictModel]] = {
    "breakdown": Breakdown,
    "clarifying_question": ClarifyingQuestion,
    "contains": Contains,
    "echo": Echo,
    "empty": Empty,
    "error_page": ErrorPage,
    "evasion": Evasion,
    "format": Format,
    "label_was": LabelWas,
    "language": Language,
    "list_items": ListItems,
    "offer": Offer,
    "parts": Parts,
    "refusal": Refusal,
    "repetition": Repetition,
    "sentences": Sentences,
    "urls": Urls,
    "words": Words,
}

# The group of entry points by which other distributions add kinds of rules.
GROUP = "harvest.rules"

_COMPOSED = ("any", "all", "not", "thoughts")

# What other tools call a rule, where the names are too different for a suggestion.
_CALLED_ELSEWHERE = {
    "contains: {pattern: …}": ("regex", "regexp", "re", "pattern", "match", "matches"),
    "contains: {phrases: […]}": (
        "phrase",
        "phrases",
        "keyword",
        "keywords",
        "includes",
        "icontains",
        "substring",
        "text",
    ),
    "words: {at_least: …}": ("length", "word_count"),
    "urls: {at_least: …}": ("link", "links"),
    "clarifying_question: {}": ("question", "asks"),
    "any: […, …]": ("or", "one_of", "anyof"),
    "all: […, …]": ("and", "allof"),
    "not: …": ("none", "no", "unless"),
}

_ATTRIBUTES = ("version", "needs", "judge", "unfit")

# Finds a rule of the same file by its name, which is at the position `Loc`.
NamedRule = Callable[[str, Loc], Rule]


def read_rule(document: Document, loc: Loc, value: object, named: NamedRule) -> Rule:
    """Return the rule at `loc`. Raises InputError at the position of the fault."""
    if isinstance(value, str):
        return Reference(named(value, loc), value)
    if not isinstance(value, dict) or len(value) != 1:
        raise document.error(
            loc,
            "a rule must be one kind with its options, such as {urls: {at_least: 1}}",
            allowed=", ".join(rule_kinds()),
        )
    ((kind, options),) = value.items()
    inside = (*loc, kind)
    if kind in _COMPOSED:
        if kind in ("not", "thoughts"):
            inner = read_rule(document, inside, options, named)
            return Not(inner) if kind == "not" else Thoughts(inner)
        if not isinstance(options, tuple) or len(options) < 2:
            raise document.error(inside, f"{kind} needs a list of at least two rules")
        rules = tuple(read_rule(document, (*inside, place), item, named) for place, item in enumerate(options))
        return Any(rules) if kind == "any" else All(rules)
    if kind not in rule_kinds():
        meant = next((rule for rule, names in _CALLED_ELSEWHERE.items() if kind.casefold() in names), None)
        hint = f": did you mean {{{meant}}}?" if meant else suggestion(kind, rule_kinds())
        raise document.error(inside, f"unknown rule {kind!r}{hint}", allowed=", ".join(rule_kinds()), key=True)
    if not isinstance(options, dict):
        raise document.error(inside, f"{kind}: options must be a mapping; write {{}} if there are none")
    rule: Rule = document.part(inside).validate_as(_model_of(kind))  # type: ignore[assignment]
    return rule


def rule_kinds() -> tuple[str, ...]:
    """Return the names of all kinds of rules, with those of plug-ins."""
    return (*sorted(KINDS_OF_RULES), *_COMPOSED, *_plug_in_kinds())


@cache
def _plug_in_kinds() -> Mapping[str, EntryPoint]:
    return find_plug_ins(GROUP, "kinds of rules", (*KINDS_OF_RULES, *_COMPOSED))


@cache
def _model_of(kind: str) -> type[StrictModel]:
    """Return the class of a rule that is not composed of other rules. Raises InputError for a plug-in that is not a
    rule."""
    if kind in KINDS_OF_RULES:
        return KINDS_OF_RULES[kind]
    return load_entry(_plug_in_kinds()[kind], "the rule", f"a StrictModel with {', '.join(_ATTRIBUTES)}", _check_model)


def _check_model(model: type[StrictModel]) -> type[StrictModel]:
    if not (issubclass(model, StrictModel) and all(hasattr(model, name) for name in _ATTRIBUTES)):
        raise TypeError(f"the class must be a StrictModel with {', '.join(_ATTRIBUTES)}")
    return model


def encode_rule(rule: Rule) -> object:
    """Return the rule as JSON values in the layout of a protocol file."""
    match rule:
        case Reference():
            return rule.name
        case Any():
            return {"any": [encode_rule(part) for part in rule.rules]}
        case All():
            return {"all": [encode_rule(part) for part in rule.rules]}
        case Not():
            return {"not": encode_rule(rule.rule)}
        case Thoughts():
            return {"thoughts": encode_rule(rule.rule)}
        case StrictModel():
            kind = next(kind for kind in (*KINDS_OF_RULES, *_plug_in_kinds()) if type(rule) is _model_of(kind))
            return {kind: rule.model_dump(mode="json", by_alias=True, exclude_none=True)}
    raise TypeError(f"{type(rule).__name__} is not a rule of the registry")


def languages_known(rule: Rule) -> dict[str, tuple[str, ...]]:
    """Return, by kind, the languages that rules within `rule` know, for kinds that do not know all languages."""
    match rule:
        case _Wrapper():
            return languages_known(rule.rule)
        case _Combination():
            return {kind: known for part in rule.rules for kind, known in languages_known(part).items()}
        case AnswerRule() if rule.languages:
            return {rule.version.partition("/")[0]: rule.languages}
    return {}


@dataclass(frozen=True, slots=True)
class _Wrapper:
    rule: Rule

    @property
    def version(self) -> str:
        return f"{type(self).__name__.lower()}({self.rule.version})"

    @property
    def needs(self) -> frozenset[str]:
        return self.rule.needs

    def unfit(self, topic: Topic) -> str | None:
        return self.rule.unfit(topic)


@dataclass(frozen=True, slots=True)
class _Combination:
    rules: tuple[Rule, ...]

    @property
    def version(self) -> str:
        return f"{type(self).__name__.lower()}({' '.join(rule.version for rule in self.rules)})"

    @property
    def needs(self) -> frozenset[str]:
        return frozenset[str]().union(*(rule.needs for rule in self.rules))

    def unfit(self, topic: Topic) -> str | None:
        return next(filter(None, (rule.unfit(topic) for rule in self.rules)), None)

    def first_verdict(self, holds: bool, sight: Sight) -> Verdict:
        """Return the first verdict with `holds`, or else the opposite verdict with the evidence of all rules."""
        verdicts = []
        for rule in self.rules:
            verdict = rule.judge(sight)
            if verdict.holds == holds:
                return verdict
            verdicts.append(verdict)
        return Verdict(not holds, tuple(piece for verdict in verdicts for piece in verdict.evidence))


@dataclass(frozen=True, slots=True)
class Reference(_Wrapper):
    """A reference to a named rule of the same protocol."""

    name: str

    @property
    def version(self) -> str:
        return self.rule.version

    def judge(self, sight: Sight) -> Verdict:
        return self.rule.judge(sight)


@dataclass(frozen=True, slots=True)
class Any(_Combination):
    """Holds if at least one of the rules holds. Evidence: the evidence of the first rule that holds. If no rule
    holds, the evidence of all rules."""

    def judge(self, sight: Sight) -> Verdict:
        return self.first_verdict(True, sight)


@dataclass(frozen=True, slots=True)
class All(_Combination):
    """Holds if every rule holds. Evidence: the evidence of all rules, or only of the first rule that does not hold."""

    def judge(self, sight: Sight) -> Verdict:
        return self.first_verdict(False, sight)


@dataclass(frozen=True, slots=True)
class Not(_Wrapper):
    """Holds if the rule does not hold. Evidence: the evidence of that rule."""

    def judge(self, sight: Sight) -> Verdict:
        verdict = self.rule.judge(sight)
        return Verdict(not verdict.holds, verdict.evidence)


@dataclass(frozen=True, slots=True)
class Thoughts(_Wrapper):
    """Holds if the rule holds for the system's thoughts instead of its answers. Evidence: the evidence of the rule,
    marked as outside the text of the answer."""

    def judge(self, sight: Sight) -> Verdict:
        thought = [Exchange(one.said, Answer.of(one.answer.thoughts)) for one in sight.exchanges]
        verdict = self.rule.judge(replace(sight, exchanges=tuple(thought)))
        pieces = (absence(piece.quote, f"in the thoughts: {piece.note}") for piece in verdict.evidence)
        return Verdict(verdict.holds, tuple(pieces))
