"""Sentences on simulated users' behaviour that no figure shows: whose words they said, and why they ended.

If these differ between systems, the systems may have been asked differently. Every sentence gives a count and its
total.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from harvest.studies.validity.worded_turns import refused_in
from protocols.labels import NOT_USEFUL, USEFUL
from recordings.conversations.conversation import Conversation
from recordings.conversations.endings import is_cut_short
from simulators.llm.prompting import names_sign
from simulators.llm.voices import orders_a_model
from topics.counting import pluralize


def odd_users(finished: Sequence[Conversation]) -> Iterator[str]:
    """Yield the sentences about these valid conversations, by system."""
    by_system: dict[str, list[Conversation]] = {}
    for one in finished:
        by_system.setdefault(one.key.system, []).append(one)
    for system, own in by_system.items():
        yield from _unworded_notes(system, own)
        cut = Counter(one.outcome.reason for one in own if one.outcome is not None and is_cut_short(one.outcome))
        if cut:
            reasons = ", ".join(f"{reason} x {count}" for reason, count in cut.most_common())
            yield (
                f"{system}: {cut.total()} of {pluralize(len(own), 'conversation')} cut short by a failure of the user "
                f"({reasons}): what was answered before counts, what would have followed is not known."
            )
        yield from _order_notes(system, own)
        ended = [
            {turn.label for turn in one.turns}
            for one in own
            if one.outcome is not None and (one.outcome.kind, one.outcome.reason) == ("user-stopped", "satisfied")
        ]
        useless = sum(NOT_USEFUL in labels and USEFUL not in labels for labels in ended)
        if useless:
            yield (
                f"{system}: {useless} of {pluralize(len(ended), 'conversation')} that ended as satisfied had no useful "
                "answer."
            )


def _unworded_notes(system: str, own: Sequence[Conversation]) -> Iterator[str]:
    """Count the turns that a model could not word, and the rules that refused its samples."""
    turns = [turn for one in own for turn in one.turns]
    marked = [turn.worded for turn in turns if turn.worded]
    if not marked:
        return
    why: Counter[str] = Counter()
    for mark in marked:
        why.update(refused_in(mark))
    refused = ", ".join(f"{reason} x {count}" for reason, count in why.most_common())
    yield (
        f"{system}: {len(marked)} of {pluralize(len(turns), 'user turn')} in the policy's own words, as the model had "
        f"none that can be sent ({refused})."
    )


def _order_notes(system: str, own: Sequence[Conversation]) -> Iterator[str]:
    """Count the answers with orders to a model in the user's place, for a person to read."""
    answers = [turn.reply.answer.text for one in own for turn in one.turns if turn.reply is not None]
    found = [(names_sign(text), orders_a_model(text)) for text in answers]
    either = sum(map(any, found))
    if either:
        signs, orders = (sum(column) for column in zip(*found, strict=True))
        yield (
            f"{system}: {either} of {pluralize(len(answers), 'answer')} with words for a model in the user's place "
            f"(signs of leaving x {signs}, orders x {orders})."
        )
