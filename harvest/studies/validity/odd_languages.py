"""Sentences about answers in a different language than the user's turn.

Such an answer is not necessarily worse, but judges and rules may not find words in it that they look for. Only
reports have these sentences, because loading the language detector takes longer than scoring a small run.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from recordings.conversations.conversation import Conversation
from topics.counting import pluralize
from topics.languages import language_of

_MOST_NAMES = 5  # in a sentence; the others are counted


def odd_languages(finished: Sequence[Conversation]) -> Iterator[str]:
    """Yield a sentence for each system, over the turns in which the languages of user and answer are both detected."""
    told: Counter[str] = Counter()
    of: dict[str, Counter[str]] = {}
    for one in finished:
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
