"""Sentences about answers in a different language than the user's turn, or in one that rules do not know.

Such an answer is not necessarily worse, but judges and rules may miss words that they look for. Only reports have these
sentences, because loading the language detector takes longer than scoring a small run.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from protocols.rules.answer_rule import AnswerRule
from protocols.rules.registry import KINDS_OF_RULES
from recordings.conversations.conversation import Conversation
from topics.counting import pluralize
from topics.languages import language_name, language_of

_MOST_NAMES = 5  # in a sentence; the others are counted


def odd_languages(conversations: Sequence[Conversation]) -> Iterator[str]:
    """Yield a sentence for each system, over the turns in which the languages of user and answer are both detected."""
    told: Counter[str] = Counter()
    of: dict[str, Counter[str]] = {}
    for one in conversations:
        for exchange in one.exchanges:
            asked, answered = language_of(exchange.said), language_of(exchange.answer.text)
            told[one.key.system] += bool(asked and answered)
            if asked and answered and asked != answered:
                of.setdefault(one.key.system, Counter())[f"{asked} > {answered}"] += 1
    for system, counts in of.items():
        pairs = ", ".join(f"{pair} x {count}" for pair, count in counts.most_common(_MOST_NAMES))
        more = ", …" if len(counts) > _MOST_NAMES else ""
        yield (
            f"{system}: {counts.total()} of {pluralize(told[system], 'answer')} whose language was detected are in "
            f"another one than the user's turn ({pairs}{more})."
        )


def unknown_languages(conversations: Sequence[Conversation]) -> Iterator[str]:
    """Yield a sentence for each rule that labelled answers in languages whose words it does not know. A rule of
    another version than the recorded one may have known others, and is left out."""
    known = {
        str(vars(rule)["version"]): rule.languages
        for rule in KINDS_OF_RULES.values()
        if issubclass(rule, AnswerRule) and rule.languages
    }
    unknown: dict[str, Counter[str]] = {}
    for one in conversations:
        for turn in one.turns:
            if turn.reply is None or turn.route is None:
                continue
            for version, languages in known.items():
                written = language_of(turn.reply.answer.text) if version in turn.route.version else ""
                if written and written not in languages:
                    unknown.setdefault(version, Counter())[written] += 1
    for version, counts in unknown.items():
        named = ", ".join(f"{language_name(code)} x {count}" for code, count in counts.most_common(_MOST_NAMES))
        more = ", …" if len(counts) > _MOST_NAMES else ""
        yield (
            f"The rule {version} helped to label {pluralize(counts.total(), 'answer')} in languages that it does not "
            f"know ({named}{more}), where it cannot see what it looks for."
        )
