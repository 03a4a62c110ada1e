"""Sentences about the behaviour of simulated users that no figure shows: whose words they said, and why they left.

If this behaviour differs between systems, the systems may have been asked differently. Every sentence gives a count
and its total. Shares omit turns that a user did not take, so a system that drives users away looks no worse in
later turns. The shares of users who left show whether a system does this.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from protocols.labels import NOT_USEFUL, USEFUL
from recordings.conversations.conversation import Conversation
from recordings.conversations.endings import cut_words, is_cut_short, is_end_stated
from recordings.conversations.outlines import by_system, kinds
from simulators.llm.prompting import contains_sign
from simulators.llm.voices import gives_order_to_model
from simulators.reasons import FRUSTRATED, WITHOUT_A_CHOICE
from topics.counting import pluralize
from topics.decimals import percent

_LABELS = (NOT_USEFUL, USEFUL)


def odd_users(conversations: Sequence[Conversation]) -> Iterator[str]:
    """Yield the sentences about these valid conversations, by system."""
    for system, own in by_system(conversations).items():
        yield from _unworded_notes(system, own)
        cut: Counter[str] = Counter()
        for one, count, _ in kinds(own):
            if one.outcome is not None and is_cut_short(one.outcome):
                cut[one.outcome.reason] += count
        if cut:
            reasons = ", ".join(f"{reason} x {count}" for reason, count in cut.most_common())
            yield (
                f"{system}: {cut.total()} of {pluralize(len(own), 'conversation')} {cut_words(cut)} "
                f"({reasons}): what was answered before counts, what would have followed is not known."
            )
        yield from _order_notes(system, own)
        ended = [
            ({turn.label for turn in one.turns}, count)
            for one, count, _ in kinds(own)
            if one.outcome is not None and (one.outcome.kind, one.outcome.reason) == ("user-stopped", "satisfied")
        ]
        satisfied = sum(count for _, count in ended)
        useless = sum(count for labels, count in ended if NOT_USEFUL in labels and USEFUL not in labels)
        if useless:
            yield (
                f"{system}: {useless} of {pluralize(satisfied, 'conversation')} that ended as satisfied had no useful "
                "answer."
            )


def _unworded_notes(system: str, own: Sequence[Conversation]) -> Iterator[str]:
    marked = turns = 0
    why: Counter[str] = Counter()
    for one, count, _ in kinds(own):
        turns += count * len(one.turns)
        for mark in (turn.worded for turn in one.turns if turn.worded):
            marked += count
            for reason, refused in parse_refused(mark).items():
                why[reason] += count * refused
    if not marked:
        return
    reasons = ", ".join(f"{reason} x {count}" for reason, count in why.most_common())
    yield (
        f"{system}: {marked} of {pluralize(turns, 'user turn')} in the policy's own words, as the model had "
        f"none that can be sent ({reasons})."
    )


# The trait of outlines that `count_orders` finds.
ORDERS = "orders"


def count_orders(conversation: Conversation) -> tuple[int, int, int, int]:
    """Return how many answers a conversation has; how many address a model instead of a user; and how many contain
    signs of leaving, and orders."""
    answers = [turn.reply.answer.text for turn in conversation.turns if turn.reply is not None]
    found = [(contains_sign(text), gives_order_to_model(text)) for text in answers]
    return len(answers), sum(map(any, found)), sum(sign for sign, _ in found), sum(order for _, order in found)


def _order_notes(system: str, own: Sequence[Conversation]) -> Iterator[str]:
    """Count the answers with orders to a model in the user's place, so that a person can read these answers."""
    each = [[count * number for number in found] for _, count, found in kinds(own, ORDERS, count_orders)]
    answers, either, signs, orders = (sum(column) for column in zip(*each, strict=True))
    if either:
        yield (
            f"{system}: {either} of {pluralize(answers, 'answer')} with words for a model in the user's place "
            f"(signs of leaving x {signs}, orders x {orders})."
        )


def parse_refused(mark: str) -> Mapping[str, int]:
    """Parse the refused samples by reason from a turn's mark, such as `policy: repeats-itself 3, assistant 1`."""
    counted: Counter[str] = Counter()
    for reason in filter(None, mark.partition(": ")[2].split(", ")):
        name, _, count = reason.rpartition(" ")
        counted[name if count.isdecimal() else reason] += int(count) if count.isdecimal() else 1
    return dict(counted)


@dataclass(frozen=True, slots=True)
class Leaving:
    """How often users left after answers of one label. `answers` counts the answers after which users could choose
    to leave, and `left` the answers after which users left."""

    left: int = 0
    answers: int = 0

    def __str__(self) -> str:
        share = percent(self.left / self.answers) if self.answers else "n/a"
        return f"{share} ({self.left} of {self.answers})"


def users_leaving(conversations: Sequence[Conversation]) -> dict[str, Leaving]:
    """Return how often users left after answers labelled `x` and `o`. An answer counts if the user then continued
    or chose to leave. An answer does not count if the protocol, a limit, the system or a user without a choice
    (`WITHOUT_A_CHOICE`) ended the conversation."""
    left, answers = dict.fromkeys(_LABELS, 0), dict.fromkeys(_LABELS, 0)
    for one, count, _ in kinds(conversations):
        for turn, following in zip(one.turns, (*one.turns[1:], None), strict=True):
            if turn.reply is None or turn.label not in answers:
                continue
            if following is not None:
                answers[turn.label] += count
            elif left_by_choice(one):
                answers[turn.label] += count
                left[turn.label] += count
    return {label: Leaving(left[label], answers[label]) for label in _LABELS}


def leaving_sentences(conversations: Sequence[Conversation]) -> Iterator[str]:
    """Yield sentences about users who left, by system. If no user left, nothing is yielded."""
    shares = {system: users_leaving(own) for system, own in by_system(conversations).items()}
    if not any(own[label].left for own in shares.values() for label in _LABELS):
        return
    after = (
        f"after {label}: {', '.join(f'{system} {own[label]}' for system, own in shares.items())}"
        for label in _LABELS
        if any(own[label].answers for own in shares.values())
    )
    yield f"Users left {'; '.join(after)}. The turns that they did not take are in no figure, whatever their reason."
    frustrated = sum(
        count
        for one, count, _ in kinds(conversations)
        if one.outcome is not None and one.outcome.reason == FRUSTRATED and left_by_choice(one)
    )
    if frustrated:
        yield (
            f"In {pluralize(frustrated, 'conversation')} the user left as {FRUSTRATED}: older scores "
            "counted the next turn of each as useless, so their later turns differ from these."
        )


def left_by_choice(conversation: Conversation) -> bool:
    """Return true if the conversation ended because the user chose not to continue."""
    outcome = conversation.outcome
    return (
        outcome is not None
        and outcome.kind == "user-stopped"
        and is_end_stated(outcome)
        and outcome.reason not in WITHOUT_A_CHOICE
    )
