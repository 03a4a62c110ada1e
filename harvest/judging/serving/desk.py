"""The state of the judging page: each person's questions, their order, decisions and progress. People never see
each other's decisions, only the number of decisions."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from harvest.judging.serving.page_words import ENGLISH, PageWords, Words
from harvest.judging.serving.questions import Question, page_question
from harvest.judging.sheets.annotators import judgment_key, newest_judgments
from recordings.files.json_text import Json
from recordings.files.times import unix_seconds
from recordings.judged.decision_book import DecisionBook
from recordings.judged.decisions import Decision, read_decisions
from recordings.judged.judgments import UNSURE, Judgment, decided_layers, read_layers
from topics.counting import pluralize
from topics.identity import content_hash, generator
from topics.topic import Topic


@dataclass(frozen=True, slots=True)
class Choice:
    """One possible decision: its key on the keyboard, its value, and its label on the page. A key is never a digit,
    because a digit that stands for a score would be mistaken for the score."""

    key: str
    value: Json
    words: str


_LETTERS = "ABCDEFGHI"


def scale_choices(scale: Sequence[float], words: Words = ENGLISH.words) -> tuple[Choice, ...]:
    """Return the choices of a scale with at most nine scores from 0 to 1 in ascending order."""
    labels = {0.0: words.no, 0.5: words.partly, 1.0: words.yes}
    scores = (
        Choice(key, value, f"{value:g} – {labels[value]}" if value in labels else f"{value:g}")
        for key, value in zip(_LETTERS, map(float, scale), strict=False)
    )
    return (*scores, *_other_choices(words))


def value_choices(values: Sequence[tuple[str, str]], words: Words = ENGLISH.words) -> tuple[Choice, ...]:
    """Return the choices for at most nine values, each with its meaning."""
    named = (
        Choice(key, name, f"{name} – {meaning}" if meaning else name)
        for key, (name, meaning) in zip(_LETTERS, values, strict=False)
    )
    return (*named, *_other_choices(words))


def pair_choices(words: Words = ENGLISH.words) -> tuple[Choice, ...]:
    """Return the choices for two conversations. The values are those of a sheet of pairs."""
    return (
        Choice("L", "left", words.left),
        Choice("T", "tie", words.tie),
        Choice("R", "right", words.right),
        Choice("U", UNSURE, words.unsure),
    )


def _other_choices(words: Words) -> tuple[Choice, ...]:
    return Choice("-", None, words.not_applicable), Choice("U", UNSURE, words.unsure)


# Characters of a note.
LONGEST_NOTE = 4000

# Seconds: a longer gap between two decisions is a pause, and not part of the pace.
_PAUSE_SECONDS = 300.0
_RECENT_JUDGMENTS = 50  # judgments from which the pace is estimated
_DECISION_ID = re.compile(r"[A-Za-z0-9-]{16,64}")


class InvalidRequest(Exception):
    """A request that is not a valid decision. `status` is the HTTP status of the answer."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


@dataclass(slots=True)
class _Person:
    """One person's progress. `states` has the value and note by question. `made` maps the id of each current
    decision to its question."""

    order: tuple[str, ...]
    states: dict[str, tuple[Json, str]] = field(default_factory=dict)
    made: dict[str, str] = field(default_factory=dict)
    times: list[float] = field(default_factory=list)


class Desk:
    """The questions and decisions of all people who use the page. `run` is the folder of the decisions, `version`
    the version of the guideline, and `seed` the seed of the orders. `values` has the choices of the criteria
    that define their own choices. `topics` are by id. If `adjudicating`, people see each other's votes and must
    give a reason. `words` are those of the page."""

    def __init__(
        self,
        run: Path,
        asked: Sequence[Question],
        people: Sequence[str],
        book: DecisionBook,
        *,
        choices: Sequence[Choice],
        values: Mapping[str, Sequence[Choice]] | None = None,
        version: str = "",
        seed: int = 0,
        topics: Mapping[str, Topic] | None = None,
        adjudicating: bool = False,
        words: PageWords = ENGLISH,
    ) -> None:
        self.words = words
        self._run, self._book, self._version = run, book, version
        self._choices, self._values = tuple(choices), values or {}
        self._topics, self._adjudicating = topics or {}, adjudicating
        self._asked = {one.id: one for one in asked}
        self._places = {
            judgment_key(Judgment(about, one.criterion, None)): one.id for one in asked for about in one.about
        }
        self._known: dict[str, tuple[str, str, Json]] = {}  # by id of a decision: person, question and value
        self._files = [layer for layer in read_layers(run) if layer.kind == "human" and layer.path]
        self._people = {name: _Person(_shuffle_questions(asked, name, seed)) for name in people}
        for name in people:
            self._recall(name)

    def page_state(self, name: str) -> dict[str, Json]:
        """Return everything that this person's page needs to start, or to continue after the page was closed."""
        person = self._people[name]
        texts = {one.criterion: one.question for one in self._asked.values()}
        return {
            "person": name,
            "key": content_hash("harvest-page", [str(self._run.resolve()), name], size=8),
            "criteria": texts,
            "choices": {one: [[each.key, each.value, each.words] for each in self._choices_of(one)] for one in texts},
            "questions": [[one, self._asked[one].criterion] for one in person.order],
            "states": {one: list(state) for one, state in person.states.items()},
            "made": [[decision, question] for decision, question in person.made.items()],
            "progress": self.progress(name),
            "adjudicating": self._adjudicating,
        }

    def question(self, known: str) -> dict[str, Json]:
        """Return a question for the page. Raises InvalidRequest if there is no such question."""
        return page_question(self._question(known), self._topics)

    def progress(self, name: str) -> dict[str, Json]:
        """Return this person's progress (`done`, `of`), everybody's progress (`all_done`, `all_of`), and the number
        of people. `seconds_left` is estimated from this person's recent pace, and is None until there are enough
        decisions."""
        person, total = self._people[name], len(self._asked)
        gaps = [b - a for a, b in zip(person.times, person.times[1:]) if 0 <= b - a <= _PAUSE_SECONDS]
        left = total - len(person.states)
        return {
            "done": len(person.states),
            "of": total,
            "all_done": sum(len(one.states) for one in self._people.values()),
            "all_of": total * len(self._people),
            "people": len(self._people),
            "seconds_left": left * median(gaps) if len(gaps) >= 3 else None,
        }

    async def decide(self, name: str, sent: Mapping[str, Json]) -> dict[str, Json]:
        """Record one decision, which is on disk on return. Repeating the call changes nothing. `sent` contains
        `id`, `question`, `value` (one of the choices) and `note`. Raises InvalidRequest and StoreError."""
        if set(sent) != {"id", "question", "value", "note"}:
            raise InvalidRequest(400, "a decision must have exactly id, question, value and note")
        known, question, note = _decision_id(sent["id"]), self._question(sent["question"]), sent["note"]
        value = self._value(sent["value"], question.criterion)
        if not isinstance(note, str) or len(note) > LONGEST_NOTE:
            raise InvalidRequest(400, f"a note must be text of at most {LONGEST_NOTE} characters")
        if self._adjudicating and not note.strip():
            raise InvalidRequest(400, "an adjudication needs a reason in its note")
        said = (name, question.id, value)
        if known in self._book.ids and self._known.get(known, said) != said:
            raise InvalidRequest(409, "the id of a new decision must not be in use")
        self._known[known] = said
        fresh = known not in self._book.ids
        kept = await self._book.decide(
            Decision(
                known,
                name,
                self._version,
                question.about,
                question.criterion,
                value,
                note,
                adjudicates=self._adjudicating,
            )
        )
        if fresh:
            person = self._people[name]
            person.states[question.id] = (value, kept.note)
            person.made[known] = question.id
            person.times = [*person.times, unix_seconds(kept.at)][-_RECENT_JUDGMENTS:]
        return {"progress": self.progress(name)}

    async def take_back(self, name: str, sent: Mapping[str, Json]) -> dict[str, Json]:
        """Undo a decision of this person and restore the previous decision. `sent` contains a new `id`, and in
        `undo` the id of the decision. Raises InvalidRequest and StoreError."""
        if set(sent) != {"id", "undo"}:
            raise InvalidRequest(400, "to undo a decision, send exactly id and undo")
        known, decision = _decision_id(sent["id"]), _decision_id(sent["undo"])
        by, question, _ = self._known.get(decision, ("", "", None))
        if by != name and known not in self._book.ids:  # one that was taken back before a new start is forgotten
            raise InvalidRequest(404, "you have made no decision with this id")
        if self._known.get(known, (name, decision, "undo")) != (name, decision, "undo"):
            raise InvalidRequest(409, "the id of a new decision must not be in use")
        self._known[known] = (name, decision, "undo")
        await self._book.take_back(known, name, decision)
        self._recall(name)
        state = self._people[name].states.get(question)
        return {"progress": self.progress(name), "question": question, "state": list(state) if state else None}

    def _recall(self, name: str) -> None:
        person = self._people[name]
        decisions = [
            one
            for one in read_decisions(self._run).standing
            if one.by == name and one.adjudicates == self._adjudicating
        ]
        files = [layer for layer in self._files if layer.author == name and layer.adjudicates == self._adjudicating]
        every = sorted((*files, *decided_layers(decisions, files)), key=lambda layer: layer.made_at)
        said = newest_judgments(layer for layer in every if self._version in ("", layer.version))
        person.states = {}
        for one in self._asked.values():
            judged = [said.get(judgment_key(Judgment(about, one.criterion, None))) for about in one.about]
            if all(judged) and judged[0] is not None:
                person.states[one.id] = (judged[0].value, judged[0].note)
        person.made = {}
        for decision in decisions:
            place = self._places.get(judgment_key(Judgment(decision.about[0], decision.criterion, None)))
            if place is not None:
                person.made[decision.id] = place
                self._known[decision.id] = (name, place, decision.value)
        person.times = [unix_seconds(one.at) for one in decisions][-_RECENT_JUDGMENTS:]

    def _question(self, known: Json) -> Question:
        found = self._asked.get(known) if isinstance(known, str) else None
        if found is None:
            raise InvalidRequest(404, "this page was made for another run and has no such question: open it again")
        return found

    def _choices_of(self, criterion: str) -> Sequence[Choice]:
        return self._values.get(criterion, self._choices)

    def _value(self, value: Json, criterion: str) -> Json:
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        choices = self._choices_of(criterion)
        for one in choices:
            if value == one.value and (number if isinstance(one.value, float) else type(value) is type(one.value)):
                return one.value
        raise InvalidRequest(400, f"the value must be one of {', '.join(json.dumps(one.value) for one in choices)}")

    def summary(self) -> Iterable[str]:
        """Yield a sentence about each person's progress."""
        for name, person in self._people.items():
            yield f"{name}: {len(person.states)} of {pluralize(len(self._asked), 'decision')}"


def _decision_id(known: Json) -> str:
    if not isinstance(known, str) or not _DECISION_ID.fullmatch(known):
        raise InvalidRequest(400, "an id must have 16 to 64 letters, digits and hyphens")
    return known


def _shuffle_questions(asked: Sequence[Question], name: str, seed: int) -> tuple[str, ...]:
    """Order the questions by criterion, then by conversation in a random order for this person. Questions about one
    conversation stay together, so that it is read only once."""
    found: list[str] = []
    for criterion in dict.fromkeys(one.criterion for one in asked):
        groups: dict[object, list[str]] = {}
        for one in asked:
            if one.criterion == criterion:
                groups.setdefault(one.group, []).append(one.id)
        order = generator(seed, "annotating", name, criterion).permutation(len(groups)).tolist()
        parts = list(groups.values())
        found += [known for i in order for known in parts[i]]
    return tuple(found)
