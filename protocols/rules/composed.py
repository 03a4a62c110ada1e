"""Rules composed of rules: `any`, `all`, `not` and `thoughts`, and a rule referred to by its name."""

from dataclasses import dataclass, replace

from protocols.answer import Answer, Exchange
from protocols.rules.rule import Rule, Sight, Verdict, absence
from topics.topic import Topic


@dataclass(frozen=True, slots=True)
class Reference:
    """A named rule of the same protocol, used inside another one."""

    name: str
    rule: Rule

    @property
    def version(self) -> str:
        return self.rule.version

    @property
    def needs(self) -> frozenset[str]:
        return self.rule.needs

    def judge(self, sight: Sight) -> Verdict:
        return self.rule.judge(sight)

    def unfit(self, topic: Topic) -> str | None:
        return self.rule.unfit(topic)


@dataclass(frozen=True, slots=True)
class Any:
    """Holds if one of the rules does. Evidence: that of the first that holds; if none does, what each missed."""

    rules: tuple[Rule, ...]

    @property
    def version(self) -> str:
        return f"any({' '.join(rule.version for rule in self.rules)})"

    @property
    def needs(self) -> frozenset[str]:
        return frozenset[str]().union(*(rule.needs for rule in self.rules))

    def judge(self, sight: Sight) -> Verdict:
        verdicts = []
        for rule in self.rules:
            verdict = rule.judge(sight)
            if verdict.holds:
                return verdict
            verdicts.append(verdict)
        return Verdict(False, tuple(piece for verdict in verdicts for piece in verdict.evidence))

    def unfit(self, topic: Topic) -> str | None:
        return next(filter(None, (rule.unfit(topic) for rule in self.rules)), None)


@dataclass(frozen=True, slots=True)
class All:
    """Holds if every rule does. Evidence: that of all rules; if one does not hold, what the first such rule missed."""

    rules: tuple[Rule, ...]

    @property
    def version(self) -> str:
        return f"all({' '.join(rule.version for rule in self.rules)})"

    @property
    def needs(self) -> frozenset[str]:
        return frozenset[str]().union(*(rule.needs for rule in self.rules))

    def judge(self, sight: Sight) -> Verdict:
        verdicts = []
        for rule in self.rules:
            verdict = rule.judge(sight)
            if not verdict.holds:
                return verdict
            verdicts.append(verdict)
        return Verdict(True, tuple(piece for verdict in verdicts for piece in verdict.evidence))

    def unfit(self, topic: Topic) -> str | None:
        return next(filter(None, (rule.unfit(topic) for rule in self.rules)), None)


@dataclass(frozen=True, slots=True)
class Not:
    """Holds if the rule does not. Evidence: that of the rule, which then says what it missed."""

    rule: Rule

    @property
    def version(self) -> str:
        return f"not({self.rule.version})"

    @property
    def needs(self) -> frozenset[str]:
        return self.rule.needs

    def judge(self, sight: Sight) -> Verdict:
        verdict = self.rule.judge(sight)
        return Verdict(not verdict.holds, verdict.evidence)

    def unfit(self, topic: Topic) -> str | None:
        return self.rule.unfit(topic)


@dataclass(frozen=True, slots=True)
class Thoughts:
    """Holds if the rule does for the system's thoughts instead of its answer. Evidence: that of the rule, outside the
    text of the answer."""

    rule: Rule

    @property
    def version(self) -> str:
        return f"thoughts({self.rule.version})"

    @property
    def needs(self) -> frozenset[str]:
        return self.rule.needs

    def judge(self, sight: Sight) -> Verdict:
        thought = [Exchange(one.said, Answer.of(one.answer.thoughts)) for one in sight.exchanges]
        verdict = self.rule.judge(replace(sight, exchanges=tuple(thought)))
        pieces = (absence(piece.quote, f"in the thoughts: {piece.note}") for piece in verdict.evidence)
        return Verdict(verdict.holds, tuple(pieces))

    def unfit(self, topic: Topic) -> str | None:
        return self.rule.unfit(topic)
