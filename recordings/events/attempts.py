"""Attempts built from events line by line. Each event is checked before it is added."""

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field

from msgspec import Struct

from protocols.answer import Offer
from protocols.route import Choice, Route
from recordings.conversations.conversation import Conversation, Outcome, SystemTurn, Turn
from recordings.events import typed_lines
from recordings.events.events import Answered, Asked, Event, Failed, Routed, Sent, Spent, TrialEnded, TrialStarted
from recordings.files.errors import RunError
from recordings.files.json_text import Json
from topics.errors import Place
from topics.sent_files import SentFile

# Identity of a trial, and number of the attempt.
AttemptId = tuple[str, int]

# The state of a turn, what was said, the label of the answer ("" for none), and the answer, None for none.
SpokenTurn = tuple[str, str, str, str | None]

_MOST_SHARED = 2**13  # spoken turns that are known again


class _OpenTurn(Struct):  # which is made in a fifth of the time that a dataclass takes
    state: str
    said: str
    user: str
    act: str
    worded: str
    choice: Choice | typed_lines.ChoiceLine | None
    session: str
    pressed: Offer | typed_lines.OfferLine | None = None
    attached: tuple[SentFile | typed_lines.FileLine, ...] = ()
    reply: SystemTurn | typed_lines.TurnLine | None = None
    route: Route | typed_lines.RouteLine | None = None


@dataclass(slots=True)
class Attempt:
    """The recorded part of an attempt. `rows` has the lines of the file, if they are kept. `requests` has, in a run
    with a cap, what every request was sent to ("" for the system) and the tokens that it took: None if it never ended,
    {} if no count came."""

    started: TrialStarted
    worker: str
    place: Place
    rows: list[dict[str, Json]] = field(default_factory=list)
    failures: list[Failed] = field(default_factory=list)
    requests: list[tuple[str, Mapping[str, int] | None]] = field(default_factory=list)
    _turns: list[_OpenTurn] = field(default_factory=list)
    _spoken: tuple[SpokenTurn, ...] | None = None  # in place of `_turns`
    _outcome: Outcome | None = None
    _ended_at: str = ""

    @property
    def has_ended(self) -> bool:
        return self._outcome is not None

    @property
    def outcome(self) -> Outcome | None:
        """How the attempt ended; None if the recording breaks off."""
        return self._outcome

    @property
    def valid(self) -> bool:
        """True if the attempt finished and did not end because the infrastructure failed."""
        return self._outcome is not None and self._outcome.valid

    @property
    def spoken_turns(self) -> Iterable[SpokenTurn]:
        """The state, user's text, label and answer of each turn. This is much faster than `conversation`."""
        return _spoken_in(self._turns) if self._spoken is None else self._spoken

    @property
    def last_turn(self) -> Turn | None:
        """The last turn that was asked, even if its record is incomplete; None if no turn was asked."""
        turns = self._whole_turns()
        return _recorded_turn(len(turns), turns[-1]) if turns else None

    def add_event(self, event: Event, place: Place) -> None:
        """Add the next event. Raises RunError, with the place in the file, if the event is not valid at this point."""
        if self.has_ended:
            raise self._event_error(place, "an event after its trial-ended")
        match event:
            case Asked():
                if self._turns and self._turns[-1].reply is None:
                    raise self._event_error(
                        place, f"turn {event.turn} is asked before turn {len(self._turns)} was answered"
                    )
                if event.turn != len(self._turns) + 1:
                    raise self._event_error(
                        place, f"turn {event.turn} is asked, but turn {len(self._turns) + 1} is next"
                    )
                self._turns.append(
                    _OpenTurn(
                        *(event.state, event.text, event.user, event.act, event.worded),
                        *(event.choice, event.session, event.pressed, event.attached),
                    )
                )
            case Answered():
                turn = self._turn(event.turn, "answer", place)
                if turn.reply is not None:
                    raise self._event_error(place, f"a second answer to turn {event.turn}")
                turn.reply = event.reply
            case Routed():
                turn = self._turn(event.route.turn, "route", place)
                if turn.reply is None:
                    raise self._event_error(place, f"a route for turn {event.route.turn}, which has no answer")
                if turn.route is not None:
                    raise self._event_error(place, f"a second route for turn {event.route.turn}")
                turn.route = event.route
            case Failed():
                if event.turn > len(self._turns):
                    raise self._event_error(place, f"a failure at turn {event.turn}, which was not asked")
                self.failures.append(event)
            case Sent():
                self.requests.append((event.to, None))
            case Spent():
                if not self.requests or self.requests[-1][1] is not None:
                    raise self._event_error(place, "a request ends that was not sent")
                to, _ = self.requests.pop()
                if event.received:
                    self.requests.append((to, event.tokens))
            case TrialEnded():
                self._outcome, self._ended_at = event.outcome, event.at
            case TrialStarted():
                raise self._event_error(place, "a second trial-started")

    def add_lines(self, rows: list[typed_lines.Line], first: int) -> int:
        """Add the lines from index `first` on, as long as they belong to this attempt and continue it in a valid order.
        Returns the index of the first line that was not added."""
        if self._outcome is not None:
            return first
        name, attempt, turns = self.started.trial_id, self.started.attempt, self._turns
        turn, count = turns[-1] if turns else None, len(turns)
        for number in range(first, len(rows)):
            row = rows[number]
            if row.id != name or row.attempt != attempt:
                return number
            # `isinstance` takes several times as long to say no.
            if type(row) is typed_lines.TurnLine:
                if turn is None or row.turn != count or turn.reply is not None:
                    return number
                turn.reply = row
            elif type(row) is typed_lines.RouteLine:
                if turn is None or row.turn != count or turn.reply is None or turn.route is not None:
                    return number
                turn.route = row
            elif type(row) is typed_lines.AskedLine:
                if row.turn != count + 1 or (turn is not None and turn.reply is None):
                    return number
                spoke = (row.state, row.text, row.user, row.act, row.worded, row.choice, row.session, row.pressed)
                turn, count = _OpenTurn(*spoke, attached=row.attached), row.turn
                turns.append(turn)
            elif type(row) is typed_lines.EndedLine:
                self._outcome, self._ended_at = row.ended(), row.at
                return number + 1
            else:
                return number
        return len(rows)

    def discard_turns(self) -> None:
        """Discard the turns and failures to save memory; the outcome is kept."""
        self._turns, self.failures = [], []

    def keep_spoken(self, known: dict[SpokenTurn, SpokenTurn]) -> None:
        """Keep only the text and label of each turn. Equal turns are shared through `known`, which grows."""
        self._spoken = tuple([known.setdefault(turn, turn) for turn in _spoken_in(self._turns)])
        self._turns = []

    def interrupt(self) -> None:
        """Remove the last event and its row if the event ended the attempt, because earlier lines may be missing."""
        if self.has_ended:
            self._outcome, self._ended_at = None, ""
            del self.rows[-1:]

    def _whole_turns(self) -> list[_OpenTurn]:
        if self._spoken is not None:
            raise ValueError("only the text of this attempt's turns was kept")
        return self._turns

    def _turn(self, number: int, what: str, place: Place) -> _OpenTurn:
        if number != len(self._turns) or not self._turns:
            raise self._event_error(place, f"{what} for turn {number}, but only {len(self._turns)} turns were asked")
        return self._turns[-1]

    def _event_error(self, place: Place, what: str) -> RunError:
        key = self.started.key
        whose = f"attempt {self.started.attempt} at {key.system}, {key.topic}, trial {key.trial}"
        return RunError(f"{what} ({whose}, begun at {self.place})", place=place)

    def conversation(self) -> Conversation:
        """Return the attempt as a Conversation. Raises ValueError if only the text of its turns was kept."""
        started = self.started
        return Conversation(
            key=started.key,
            trial_id=started.trial_id,
            attempt=started.attempt,
            turns=tuple(_recorded_turn(number, turn) for number, turn in enumerate(self._whole_turns(), 1)),
            outcome=self._outcome,
            session=started.session,
            place=started.place,
            user=started.user,
            worker=started.worker or self.worker,
            started_at=started.at,
            ended_at=self._ended_at,
            member=started.member,
        )


def _spoken_in(turns: Iterable[_OpenTurn]) -> list[SpokenTurn]:
    found: list[SpokenTurn] = []
    for turn in turns:
        reply, label = turn.reply, turn.route.label if turn.route else ""
        if reply is None:
            found.append((turn.state, turn.said, label, None))
        else:
            text = reply.text if isinstance(reply, typed_lines.TurnLine) else reply.answer.text
            found.append((turn.state, turn.said, label, text))
    return found


def _recorded_turn(number: int, turn: _OpenTurn) -> Turn:
    reply = turn.reply.reply() if isinstance(turn.reply, typed_lines.TurnLine) else turn.reply
    route = turn.route.route() if isinstance(turn.route, typed_lines.RouteLine) else turn.route
    choice = turn.choice.choice() if isinstance(turn.choice, typed_lines.ChoiceLine) else turn.choice
    pressed = turn.pressed.offer() if isinstance(turn.pressed, typed_lines.OfferLine) else turn.pressed
    return Turn(
        *(number, turn.state, turn.said, reply, route, turn.user, turn.act, turn.worded),
        *(choice, turn.session, pressed),
        tuple(one.file() if isinstance(one, typed_lines.FileLine) else one for one in turn.attached),
    )


class Attempts:
    """Collects the attempts of a run while its files are read one after the other. With `keep_rows`, the lines of each
    attempt are kept for copying. `turns_of` lists the systems whose ended attempts keep their turns; None means all
    systems. With `spoken`, ended attempts keep only the text of their turns."""

    def __init__(
        self, *, keep_rows: bool = False, turns_of: Container[str] | None = None, spoken: bool = False
    ) -> None:
        self.found: dict[AttemptId, Attempt] = {}
        self.keep_rows, self._turns_of = keep_rows, turns_of
        self._spoken: dict[SpokenTurn, SpokenTurn] | None = {} if spoken else None

    def begin_file(self, opening: dict[str, Json], place: Place) -> None:
        """Begin another file of events, whose first line is `opening`. The base class does nothing."""

    def add_event(self, event: Event, row: dict[str, Json], worker: str, place: Place) -> None:
        """Add an event from the file of `worker`. `row` is its line, or {} if rows are not kept. Raises RunError."""
        name = (event.trial_id, event.attempt)
        attempt = self.found.get(name)
        if isinstance(event, TrialStarted):
            if attempt is not None:
                elsewhere = attempt.worker != worker
                raise RunError(
                    f"attempt {event.attempt} at trial {event.trial_id} begins again (first at {attempt.place})",
                    place=place,
                    advice="files of several machines belong in separate folders; merge the folders"
                    if elsewhere
                    else None,
                )
            attempt = self.found[name] = Attempt(event, worker, place)
        elif attempt is None or attempt.worker != worker:
            raise RunError(
                f"attempt {event.attempt} at trial {event.trial_id} has an event, but was not started in this file",
                place=place,
            )
        else:
            attempt.add_event(event, place)
            if attempt.has_ended:
                self._drop_details(attempt)
        if self.keep_rows:
            attempt.rows.append(row)

    def _drop_details(self, attempt: Attempt) -> None:
        if self._turns_of is not None and attempt.started.key.system not in self._turns_of:
            attempt.discard_turns()
        if self._spoken is not None:
            if len(self._spoken) > _MOST_SHARED:
                self._spoken.clear()
            attempt.keep_spoken(self._spoken)

    def add_lines(self, rows: list[typed_lines.Line], first: int, worker: str) -> int:
        """Add lines from the file of `worker`, from index `first` on, as long as they continue one attempt in a valid
        order. Returns the index of the first line that was not added. If that index is `first`, pass the line to
        `take`."""
        attempt = self.found.get((rows[first].id, rows[first].attempt))
        if attempt is None or attempt.worker != worker:
            return first
        after = attempt.add_lines(rows, first)
        if after > first and attempt.has_ended:
            self._drop_details(attempt)
        return after

    def handle_fault(self, fault: RunError, row: dict[str, Json] | None) -> None:
        """Handle a line that cannot be added; the base class raises `fault`. `row` is the JSON object of the line."""
        raise fault
