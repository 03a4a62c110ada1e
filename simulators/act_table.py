"""Tables of what users do next: counts of acts by context, and the probabilities estimated from the counts.

A user act is a name (`ask`, `more`, `FQ`). The system's answer is a label or an act (`o`, `x`, `PA`), or `-` if it is
unknown. `stop` means that the user leaves, which is impossible before the first turn.

The context of an act is the last `order` acts (`start` before the first) and the last answer. If a context was seen
too seldom, shorter contexts are used, in this order:

    (a2 a1, answer)  →  (a1, answer)  →  (a1)  →  anything but the opening  →  all contexts
    (a2 a1)  →  (a1)  →  anything but the opening  →  all contexts      if the answer is unknown

(a1) is short for (a1, `*`), which allows any answer. The second-last act is dropped first, because the last answer
predicts more. A context includes the counts of all longer contexts, so contexts are nested.

Witten–Bell (Witten and Bell 1991, IEEE Trans. Information Theory 37, 1085–1094, method C, interpolated; Chen and
Goodman 1999, Computer Speech & Language 13, section 2.4): if n(h) acts with T(h) different names were seen after h,

    p(a | h) = (n(h, a) + T(h)·p(a | shorter h)) / (n(h) + T(h)).

A context with the same counts as the next shorter context is skipped, so that no count is smoothed twice.

Additive (Lidstone): in the longest context seen at least `least` times, p(a | h) = (n(h, a) + w) / (n(h) + w·K),
where K is the number of possible acts. With w = 0 this is the relative frequency.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, cast

from protocols.labels import NOT_USEFUL, USEFUL

# Before the first act; leaving; an unknown answer; any answer.
START, STOP, UNKNOWN, ANY = "start", "stop", "-", "*"

Smoothing = Literal["witten-bell", "additive"]
# The previous acts, oldest first, and the answer to the last of them (`*`: any answer).
Context = tuple[tuple[str, ...], str]


@dataclass(frozen=True, slots=True)
class ActSequence:
    """The acts of one user in one dialogue, with the system's answer to each act (`-` if unknown). There is at least
    one act. The last act has no answer if the user left before the answer came. `ended` is False if the recording was
    cut off before the user left."""

    acts: tuple[str, ...]
    answers: tuple[str, ...]
    ended: bool = True

    def __post_init__(self) -> None:
        if not self.acts:
            raise ValueError("a sequence of acts needs at least one act")
        if len(self.answers) not in (len(self.acts), len(self.acts) - 1):
            raise ValueError(
                f"each act but the last must have an answer: {len(self.acts)} acts, {len(self.answers)} answers"
            )
        if {START, STOP} & set(self.acts):
            raise ValueError("'start' and 'stop' cannot be acts of a user")

    def contexts(self, order: int) -> Iterator[tuple[Context, str]]:
        """Yield each act with its context, and finally `stop` with its context if the user left."""
        before: list[str] = [START]
        answer = UNKNOWN
        for number, act in enumerate(self.acts):
            yield (tuple(before[-order:]), answer), act
            before.append(act)
            answer = self.answers[number] if number < len(self.answers) else UNKNOWN
        if self.ended:
            yield (tuple(before[-order:]), answer), STOP


def fit(
    sequences: Iterable[ActSequence],
    *,
    order: int = 1,
    smoothing: Smoothing = "witten-bell",
    weight: float = 0.5,
    least: int = 1,
    acts: Sequence[str] = (),
) -> "ActTable":
    """Count the acts of all sequences. `acts` are possible acts in addition to those in the sequences. Raises
    ValueError if there are no sequences."""
    counts: dict[Context, Counter[str]] = {}
    seen = set(acts)
    for sequence in sequences:
        seen.update(sequence.acts)
        for context, act in sequence.contexts(order):
            counts.setdefault(context, Counter())[act] += 1
    if not counts:
        raise ValueError("at least one sequence of acts is needed to fit a table")
    return ActTable(
        tuple(sorted(seen)), order, {key: dict(counts[key]) for key in sorted(counts)}, smoothing, weight, least
    )


@dataclass(frozen=True)
class ActTable:
    """Counts of the acts in every longest context, with the smoothing that turns them into probabilities.

    `acts` are all possible acts, without `stop`, and `order` is the number of acts in a context, 1 or 2. `counts` has
    the number of times that each act (or `stop`) followed each context. Additive smoothing adds `weight`, at least 0,
    and only uses contexts that were seen at least `least` times, at least 1.
    """

    acts: tuple[str, ...]
    order: int
    counts: Mapping[Context, Mapping[str, int]]
    smoothing: Smoothing = "witten-bell"
    weight: float = 0.5
    least: int = 1
    _levels: Mapping[Context, Counter[str]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.order not in (1, 2):
            raise ValueError(f"the order of a table of acts must be 1 or 2, not {self.order}")
        if self.smoothing not in ("witten-bell", "additive"):
            raise ValueError(f"smoothing must be 'witten-bell' or 'additive', not {self.smoothing!r}")
        if not 0 <= self.weight < float("inf") or self.least < 1:
            raise ValueError("`weight` must be at least 0, and `least` must be at least 1")
        _check_acts(self.acts)
        levels: dict[Context, Counter[str]] = {}
        for context, row in self.counts.items():
            _check_context(context, self.order, self.acts)
            _check_known(context, row, self.acts)
            wrong = next((act for act, n in row.items() if n < 0 or n != int(n)), None)
            if wrong is not None:
                raise ValueError(
                    f"after {_show_context(context)}: the count of {wrong!r} must be at least 0 (here: {row[wrong]})"
                )
            if _is_opening(context) and row.get(STOP):
                raise ValueError("a user cannot stop before the first turn")
            for level in _containing_contexts(context):
                levels.setdefault(level, Counter()).update(row)
        object.__setattr__(self, "_levels", levels)

    def row(self, after: Sequence[str], answer: str = UNKNOWN) -> dict[str, float]:
        """Return the probabilities of each act and of `stop` after the acts `after`. The probabilities sum to 1.
        `after` is ordered from oldest to newest. It is empty for the opening, where `stop` is impossible."""
        context = _context(after, answer, self.order)
        possible = self.acts if _is_opening(context) else (*self.acts, STOP)
        levels = [self._levels.get(level, Counter()) for level in _shorter_contexts(context)]
        # A context with the same counts as the shorter one adds nothing.
        levels = [counted for counted, shorter in zip(levels, [*levels[1:], None]) if counted != shorter]
        found = dict.fromkeys(possible, 1 / len(possible))
        if self.smoothing == "additive":
            for counted in levels:
                n = counted.total()
                if n >= self.least:
                    total = n + self.weight * len(possible)
                    return {act: (counted[act] + self.weight) / total for act in possible}
            return found
        for counted in reversed(levels):
            n, kinds = counted.total(), sum(1 for count in counted.values() if count)
            if n:
                found = {act: (counted[act] + kinds * found[act]) / (n + kinds) for act in possible}
        return found

    def count(self, context: Sequence[str], answer: str = UNKNOWN) -> int:
        """Return the number of times that this exact context was seen."""
        return self._levels.get(_context(context, answer, self.order), Counter()).total()

    def as_json(self) -> dict[str, object]:
        """Return {acts, order, smoothing, weight, least, counts: [{after, answer, next}], rows: [{after, answer, n,
        next}]}. `rows` show the probabilities that follow from the counts. `from_json` ignores `rows`."""
        counts = [
            {"after": list(after), "answer": answer, "next": dict(row)} for (after, answer), row in self.counts.items()
        ]
        rows = [
            {"after": list(after), "answer": answer, "n": sum(row.values()), "next": self.row(after, answer)}
            for (after, answer), row in self.counts.items()
        ]
        return {
            "acts": list(self.acts),
            "order": self.order,
            "smoothing": self.smoothing,
            "weight": self.weight,
            "least": self.least,
            "counts": counts,
            "rows": rows,
        }

    @classmethod
    def from_json(cls, value: object) -> "ActTable":
        """Return the table from a value of `as_json`. Raises ValueError for any other value."""
        match value:
            case {"acts": [*acts], "order": int(order), "smoothing": str(smoothing), "counts": [*counts], **rest}:
                weight, least = rest.get("weight", 0.5), rest.get("least", 1)
                if not isinstance(weight, (int, float)) or not isinstance(least, int):
                    raise ValueError("weight and least of a table of acts must be numbers")
            case _:
                raise ValueError("a table of acts must have acts, order, smoothing and counts")
        found: dict[Context, dict[str, int]] = {}
        for entry in counts:
            match entry:
                case {"after": [*after], "answer": str(answer), "next": Mapping() as row} if all(
                    isinstance(n, int) for n in row.values()
                ):
                    found[tuple(str(act) for act in after), answer] = {str(act): n for act, n in row.items()}
                case _:
                    raise ValueError("each count of a table of acts must be {after: […], answer: …, next: {act: n}}")
        return cls(tuple(str(act) for act in acts), order, found, cast(Smoothing, smoothing), float(weight), least)


@dataclass(frozen=True)
class ProbabilityTable:
    """A table of given probabilities instead of counts, with one row per context.

    Each row sums to 1 (within 1e-6) over acts and `stop`. If a context has no row, the row of a shorter context is
    used. More acts take precedence over fewer, and a row for the answer takes precedence over a row for any answer.
    The table needs a row for (`start`, `*`). For every act, it needs a row for (act, `*`) or a row for each possible
    answer.
    """

    acts: tuple[str, ...]
    order: int
    rows: Mapping[Context, Mapping[str, float]]

    def __post_init__(self) -> None:
        if self.order not in (1, 2):
            raise ValueError(f"the order of a table of acts must be 1 or 2, not {self.order}")
        _check_acts(self.acts)
        for context, row in self.rows.items():
            _check_context(context, self.order, self.acts)
            _check_known(context, row, self.acts)
            if any(not 0 <= p <= 1 for p in row.values()) or abs(sum(row.values()) - 1) > 1e-6:
                raise ValueError(f"after {_show_context(context)}: the probabilities must be in [0, 1] and sum to 1")
            if _is_opening(context) and row.get(STOP):
                raise ValueError("a user cannot stop before the first turn")
        for act in (START, *self.acts):
            answers = (UNKNOWN,) if act == START else (USEFUL, NOT_USEFUL, UNKNOWN)
            if not all(self._found(((act,), answer)) for answer in answers):
                raise ValueError(f"the table needs a row after {act!r} for any answer, or for each of o, x and -")

    def _found(self, context: Context) -> Mapping[str, float] | None:
        after, answer = context
        lasts = (after,) if _is_opening(context) else tuple(after[start:] for start in range(len(after) + 1))
        levels = ((last, said) for last in lasts for said in (answer, ANY))
        return next((self.rows[level] for level in levels if level in self.rows), None)

    def row(self, after: Sequence[str], answer: str = UNKNOWN) -> dict[str, float]:
        context = _context(after, answer, self.order)
        row = self._found(context)
        assert row is not None  # checked above
        total = sum(row.values())
        possible = self.acts if _is_opening(context) else (*self.acts, STOP)
        return {act: row.get(act, 0.0) / total for act in possible}


def _context(after: Sequence[str], answer: str, order: int) -> Context:
    return tuple([START, *after][-order:]), (answer if after else UNKNOWN)


def _is_opening(context: Context) -> bool:
    return context[0] == (START,)


def _shorter_contexts(context: Context) -> Iterator[Context]:
    """Yield the context and the shorter contexts that may replace it, each once. The opening has no replacement."""
    after, answer = context
    if _is_opening(context):
        levels: tuple[Context, ...] = ((after, answer), (after, ANY))
    elif answer in (UNKNOWN, ANY):
        levels = ((after, answer), (after, ANY), (after[-1:], ANY), ((), ANY))
    else:
        levels = ((after, answer), (after[-1:], answer), (after[-1:], ANY), ((), ANY))
    yield from dict.fromkeys(levels)


def _containing_contexts(context: Context) -> Iterator[Context]:
    after, answer = context
    if _is_opening(context):
        return _shorter_contexts(context)
    levels: tuple[Context, ...] = tuple((last, said) for last in (after, after[-1:]) for said in (answer, ANY))
    return iter(dict.fromkeys((*levels, ((), ANY))))


def _check_acts(acts: Sequence[str]) -> None:
    if not acts:
        raise ValueError("acts: at least one name is needed")
    twice = next((act for place, act in enumerate(acts) if act in acts[:place]), None)
    if twice is not None:
        raise ValueError(f"acts: {twice!r} appears twice")
    reserved = next((act for act in (START, STOP, "") if act in acts), None)
    if reserved is not None:
        meaning = {START: "stands for the opening", STOP: "stands for leaving", "": "is not a name"}[reserved]
        raise ValueError(f"acts: {reserved!r} {meaning} and must not be listed among the acts")


def _check_context(context: Context, order: int, acts: Sequence[str]) -> None:
    after, _ = context
    unknown = next((act for act in after if act != START and act not in acts), None)
    if unknown is not None:
        raise ValueError(f"after {_show_context(context)}: {_unknown_act(unknown, acts)}")
    if len(after) > order:
        raise ValueError(
            f"after {_show_context(context)}: a table of order {order} cannot have a context of {len(after)} acts"
        )
    if START in after[1:]:
        raise ValueError(f"after {_show_context(context)}: 'start' precedes all acts, so it must come first")


def _check_known(context: Context, row: Iterable[str], acts: Sequence[str]) -> None:
    unknown = next((act for act in row if act not in acts and act != STOP), None)
    if unknown is not None:
        raise ValueError(f"after {_show_context(context)}: {_unknown_act(unknown, acts)}")


def _unknown_act(act: str, acts: Sequence[str]) -> str:
    return f"{act!r} is not among the acts: {', '.join(acts)}"


def _show_context(context: Context) -> str:
    return f"{' '.join(context[0]) or 'anything'} ({context[1]})"
