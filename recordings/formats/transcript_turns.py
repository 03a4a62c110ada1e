"""Conversations read from a transcript. The parts that the file leaves out are inferred."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from protocols.answer import Answer
from protocols.route import Route
from recordings.conversations.conversation import INVALID, Conversation, Outcome, SystemTurn, TrialKey, Turn
from recordings.formats.transcript_heading import Heading
from topics.topic import Topic, TopicSet

# Name of the rule in the route of an imported label.
IMPORT_RULE = "imported"


@dataclass(slots=True)
class OpenTurn:
    """One side of a turn. `lines` has the side's text without annotations."""

    speaker: str
    number: int
    label: str
    line: int
    lines: list[str] = field(default_factory=list)

    def text(self, *, exact: bool) -> str:
        """Return the text of the turn. Unless `exact`, blank lines at the beginning and end are removed."""
        if exact:
            return "\n".join(self.lines)
        lines = list(self.lines)
        while lines and not lines[-1].strip():
            lines.pop()
        while lines and not lines[0].strip():
            lines.pop(0)
        return "\n".join(lines)


@dataclass(slots=True)
class Draft:
    """A conversation that is being read. `heading` is the line from Harvest above the conversation. `exact` is True if
    its texts are escaped and must not be trimmed."""

    system: str
    topic_id: str
    trial: int
    trial_id: str
    heading: Heading
    exact: bool
    line: int
    topic: Topic | None = None
    turns: list[OpenTurn] = field(default_factory=list)

    @property
    def own_fields(self) -> Mapping[str, str]:
        return self.heading.own

    @property
    def attempt(self) -> int:
        return self.heading.number("attempt", 1)

    @property
    def open_turn(self) -> OpenTurn | None:
        return self.turns[-1] if self.turns else None

    def fault(self, speaker: str, number: int) -> str:
        """Return a phrase on why this turn cannot come next, or "" if it can."""
        wanted = ("U", 1)
        if self.open_turn is not None:
            wanted = ("S", self.open_turn.number) if self.open_turn.speaker == "U" else ("U", self.open_turn.number + 1)
        if (speaker, number) == wanted:
            return ""
        return f"the next turn must be {wanted[0]}{wanted[1]}, not {speaker}{number}"

    def begin(self, speaker: str, number: int, label: str, line: int) -> None:
        self.turns.append(OpenTurn(speaker, number, label, line))

    def conversation(
        self,
        said: list[OpenTurn],
        replies: dict[int, OpenTurn],
        never: set[int],
        outcome: Outcome | None,
        states: list[str],
    ) -> Conversation:
        turns: list[Turn] = []
        for turn in said:
            state = state_name(states, turn.number)
            text, speaker = turn.text(exact=self.exact), self.heading.speakers.get(turn.number, ("", ""))
            spoke = dict(zip(("user", "act", "worded", "session"), speaker, strict=False))
            choice = self.heading.choices.get(turn.number)
            if turn.number not in replies or turn.number in never:
                turns.append(
                    Turn(turn.number, state, text, None, None, **spoke, choice=choice, pressed=None, attached=())
                )
                continue
            answer = replies[turn.number].text(exact=self.exact)
            label = replies[turn.number].label
            last = turn is said[-1]
            target = (
                f"stop:{outcome.kind if outcome else 'interrupted'}" if last else state_name(states, turn.number + 1)
            )
            route = imported_route(turn.number, state, label, target) if label else None
            own = self.heading.links.get(turn.number)
            given = Answer.of(answer) if own is None else Answer(answer, own)
            turns.append(
                Turn(
                    turn.number,
                    state,
                    text,
                    SystemTurn(given),
                    route,
                    **spoke,
                    choice=choice,
                    pressed=None,
                    attached=(),
                )
            )
        return Conversation(
            key=TrialKey(self.system, self.topic_id, self.trial),
            trial_id=self.own_fields.get("id") or self.trial_id,
            attempt=self.attempt,
            turns=tuple(turns),
            outcome=outcome,
            session=self.own_fields.get("session", ""),
            place=self.heading.number("place", 1),
            user=self.own_fields.get("user", "imported"),
            worker=self.own_fields.get("worker", ""),
            member=self.own_fields.get("member", ""),
            started_at=self.own_fields.get("started_at", ""),
            ended_at=self.own_fields.get("ended_at", ""),
        )


def state_name(states: list[str], number: int) -> str:
    """Return the protocol state of turn `number`, or `turn-<number>` if the state is unknown."""
    return states[number - 1] if number <= len(states) and states[number - 1] else f"turn-{number}"


def imported_route(number: int, state: str, label: str, target: str) -> Route:
    """Return the route of a decision that another program made, with its label but no reasons."""
    return Route(number, state, label, IMPORT_RULE, "1", (), target)


def marked_breakdown(never: int, detail: str) -> Outcome:
    """Return the outcome of a conversation that a file marks as broken off, with `never` missing turns."""
    return Outcome("breakdown", IMPORT_RULE, detail, never)


def assemble(draft: Draft, path: str) -> tuple[Conversation, list[str]]:
    """Return the conversation in a draft, and warnings with file:line."""
    said = [turn for turn in draft.turns if turn.speaker == "U"]
    replies = {turn.number: turn for turn in draft.turns if turn.speaker == "S"}
    broke_down = any(turn.label == "-" for turn in replies.values())
    warnings: list[str] = []
    for turn in replies.values():
        if turn.label == "-" and turn.text(exact=draft.exact).strip():
            warnings.append(
                f"{path}:{turn.line}: S{turn.number} is marked - (no such turn) but has a text: kept as a turn"
            )
            turn.label = ""
            broke_down = False
    never = {number for number, turn in replies.items() if turn.label == "-"}
    said = [turn for turn in said if turn.number not in never or turn.text(exact=draft.exact).strip()]
    silent = [turn for turn in said if turn.number not in replies]
    outcome: Outcome | None
    if "outcome" in draft.own_fields:
        missing = draft.heading.number("missing", 0) if "missing" in draft.own_fields else None
        outcome = Outcome(
            draft.own_fields["outcome"], draft.own_fields.get("reason", ""), draft.own_fields.get("detail", ""), missing
        )
        outcome = replace(outcome, choice=draft.heading.choices.get(0))
        outcome = None if outcome.kind == "interrupted" else outcome
    elif broke_down:
        dropped = len(never - {turn.number for turn in said})
        outcome = marked_breakdown(dropped, "the transcript marks a turn that never came")
    elif silent or not said:
        outcome = Outcome(INVALID, "no-reply", "the transcript holds no answer to the last user turn")
        line = silent[-1].line if silent else draft.line
        warnings.append(f"{path}:{line}: no answer is recorded, so this trial is invalid (neither useful nor useless)")
    else:
        outcome = Outcome("completed", IMPORT_RULE, "the transcript does not say how the conversation ended")
    states = draft.own_fields["states"].split(" ") if draft.own_fields.get("states") else []
    return draft.conversation(said, replies, never, outcome, states), warnings


def topic_names(topics: TopicSet) -> str:
    """Return the first eight topic ids of a set, as a phrase for error messages."""
    names = [topic.id for topic in topics.topics]
    return ", ".join(names[:8]) + (", …" if len(names) > 8 else "")
