"""Rules composed of rules: `any`, `all`, `not` and `thoughts`, and a rule referred to by its name."""

from dataclasses import dataclass, replace

from protocols.answer import Answer, Exchange
from protocols.rules.rule import Rule, Sight, Verdict, absence
from topics.topic import Topic


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
class _Several:
    rules: tuple[Rule, ...]

    @property
    def version(self) -> str:
        return f"{type(self).__name__.lower()}({' '.join(rule.version for rule in self.rules)})"

    @property
    def needs(self) -> frozenset[str]:
        return frozenset[str]().union(*(rule.needs for rule in self.rules))

    def unfit(self, topic: Topic) -> str | None:
        return next(filter(None, (rule.unfit(topic) for rule in self.rules)), None)

    def until(self, holds: bool, sight: Sight) -> Verdict:
        """Return the first verdict with this result, or else the opposite with the evidence of all."""
        verdicts = []
        for rule in self.rules:
            verdict = rule.judge(sight)
            if verdict.holds == holds:
                return verdict
            verdicts.append(verdict)
        return Verdict(not holds, tuple(piece for verdict in verdicts for piece in verdict.evidence))


@dataclass(frozen=True, slots=True)
class Reference(_Wrapper):
    """A named rule of the same protocol, used inside another one."""

    name: str

    @property
    def version(self) -> str:
        return self.rule.version

    def judge(self, sight: Sight) -> Verdict:
        return self.rule.judge(sight)


@dataclass(frozen=True, slots=True)
class Any(_Several):
    """Holds if one of the rules does. Evidence: that of the first that holds; if none does, what each missed."""

    def judge(self, sight: Sight) -> Verdict:
        return self.until(True, sight)


@dataclass(frozen=True, slots=True)
class All(_Several):
    """Holds if every rule does. Evidence: that of all rules; if one does not hold, what the first such rule missed."""

    def judge(self, sight: Sight) -> Verdict:
        return self.until(False, sight)


@dataclass(frozen=True, slots=True)
class Not(_Wrapper):
    """Holds if the rule does not. Evidence: that of the rule, which then says what it missed."""

    def judge(self, sight: Sight) -> Verdict:
        verdict = self.rule.judge(sight)
        return Verdict(not verdict.holds, verdict.evidence)


@dataclass(frozen=True, slots=True)
class Thoughts(_Wrapper):
    """Holds if the rule does for the system's thoughts. Evidence: that of the rule, outside the text of the answer."""

    def judge(self, sight: Sight) -> Verdict:
        thought = [Exchange(one.said, Answer.of(one.answer.thoughts)) for one in sight.exchanges]
        verdict = self.rule.judge(replace(sight, exchanges=tuple(thought)))
        pieces = (absence(piece.quote, f"in the thoughts: {piece.note}") for piece in verdict.evidence)
        return Verdict(verdict.holds, tuple(pieces))
