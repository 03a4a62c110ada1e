"""The questions on the page: rows of a sheet with their conversations. Nothing in a question reveals the system.

Trials with the same text up to a turn share a node of the conversation tree. People are asked only once about a
node, and the answer applies to all its trials.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from harvest.judging.pool import single_spaced
from harvest.judging.sheets.annotation_sheet import Assessed
from harvest.judging.sheets.sheet_file import Row
from protocols.answer import Source
from recordings.conversations.conversation import Conversation, Turn
from recordings.files.json_text import Json
from recordings.judged.judgments import Target
from scoring.swan.triage import find_harms
from topics.identity import content_hash
from topics.topic import Topic


@dataclass(frozen=True, slots=True)
class Question:
    """One question to people, which asks for one decision.

    `id` is a hash of the text and the criterion, with 16 hexadecimal digits. `about` has the things that the
    question decides, each as the `about` of a judgment. `conversations` are to be read: several for a set, and two
    with `titles` for a comparison. `turn`, `speaker`, `start` and `end` are the span in question. A turn of 0 means
    the whole conversation, and a start of -1 the whole turn. `votes` are other people's judgments, for
    adjudication.
    """

    id: str
    criterion: str
    question: str
    about: tuple[Mapping[str, str | int], ...]
    topic: str
    conversations: tuple[Conversation, ...]
    turn: int = 0
    speaker: str = "system"
    start: int = -1
    end: int = -1
    titles: tuple[str, ...] = ()
    votes: tuple[str, ...] = ()

    @property
    def group(self) -> tuple[str | int, ...]:
        """The conversation that must be read to answer. Questions of one group are asked one after the other."""
        first = self.conversations[0]
        return (self.id,) if self.titles else (first.trial_id, first.attempt)


_SHOWN = 4_000  # characters of a document's text that the page shows

# Rows that are one question: those of one node of a tree; those with the same words anywhere in the topic, too;
# or no two.
Sameness = Literal["node", "words", "trial"]


def questions(
    rows: Iterable[Row], assessed: Sequence[Assessed], *, sameness: Sameness = "node"
) -> tuple[Question, ...]:
    """Merge rows that ask the same question into one question, in the order of their first rows."""
    trials = {(one.conversation.trial_id, one.conversation.attempt): one.conversation for one in assessed}
    sets: dict[tuple[str, str], list[Conversation]] = {}
    for one in assessed:
        key = one.conversation.key
        sets.setdefault((key.system, key.topic), []).append(one.conversation)
    found: dict[str, Question] = {}
    for row in rows:
        made = _turn_question(row, trials, sameness) if "attempt" in row else _set_question(row, sets)
        first = found.get(made.id)
        if first is not None:
            votes = tuple(dict.fromkeys((*first.votes, *made.votes)))
            made = replace(first, about=(*first.about, *made.about), votes=votes)
        found[made.id] = made
    return tuple(found.values())


def _set_question(row: Row, sets: Mapping[tuple[str, str], Sequence[Conversation]]) -> Question:
    system, topic = row["system"], row["topic"]
    return Question(
        content_hash("harvest-asked", [row["criterion"], system, topic], size=8),
        row["criterion"],
        row["question"],
        ({"system": system, "topic": topic},),
        topic,
        tuple(sets[system, topic]),
        votes=_row_votes(row),
    )


def _turn_question(row: Row, trials: Mapping[tuple[str, int], Conversation], same: Sameness) -> Question:
    trial, attempt, turn = row["id"], int(row["attempt"]), int(row.get("turn", 0))
    conversation = trials[trial, attempt]
    start, end = int(row.get("start", -1)), int(row.get("end", -1))
    asked: list[Json] = [row["criterion"], row["topic"]]
    if same == "words" and start >= 0:
        asked.append(single_spaced(row["text"]))
    else:
        read = [one for one in conversation.turns if not turn or one.number <= turn]
        words: list[Json] = [_exchanged(one) for one in read]
        if row.get("speaker") == "user":  # trials may be answered in different ways
            words[-1] = [read[-1].said, None]
        own: list[Json] = [trial, attempt] if same == "trial" else []
        asked += [words, turn, start, end, own]
    return Question(
        content_hash("harvest-asked", asked, size=8),
        row["criterion"],
        row["question"],
        (Target(trial, attempt, turn, row.get("speaker", "system"), start, end).about(),),
        row["topic"],
        (conversation,),
        turn,
        row.get("speaker", "system"),
        start,
        end,
        votes=_row_votes(row),
    )


def _exchanged(turn: Turn) -> list[Json]:
    """Return what tells a node from others: the words of a turn, and the documents that the system reported."""
    answer = turn.reply.answer if turn.reply else None
    sources: list[Json] = _shown_sources(answer.sources) if answer else []
    return [turn.said, answer.text if answer else None, *([sources] if sources else [])]


def _row_votes(row: Row) -> tuple[str, ...]:
    return (row["votes"],) if "votes" in row else ()


def page_question(question: Question, topics: Mapping[str, Topic]) -> dict[str, Json]:
    """Return a question as the page shows it. A text is a list of pieces: `["", text]`, or `["mark", text]` for the
    span in question. Offsets would be wrong, because browsers count an emoji as two characters. A conversation
    ends with the turn in question, since trials that share this turn may continue differently."""
    topic = topics.get(question.topic)
    conversations: list[Json] = []
    for conversation in question.conversations:
        sides: list[Json] = []
        for turn in conversation.turns:
            if question.turn and turn.number > question.turn:
                break
            of_user = turn.number == question.turn and question.speaker == "user"
            of_system = turn.number == question.turn and question.speaker == "system"
            sides.append(_side_pieces("user", turn.number, turn.said, question, of_user))
            if turn.reply is not None and not of_user:
                answer = turn.reply.answer
                side = _side_pieces("system", turn.number, answer.text, question, of_system)
                # Blind pairs are judged by what was said: addresses of documents often tell whose answer it is.
                if answer.sources and not question.titles:
                    side["sources"] = _shown_sources(answer.sources)
                sides.append(side)
        conversations.append(sides)
    return {
        "id": question.id,
        "wanted": topic.request if topic else "",
        "titles": list(question.titles),
        "votes": list(question.votes),
        "conversations": conversations,
    }


def _shown_sources(sources: Iterable[Source]) -> list[Json]:
    """Return `[name, text]` of each document that the system reported, once. The name is its title and address. The
    text is the beginning of the document, or "" if it is unknown or may be harmful."""
    shown: dict[str, str] = {}
    for one in sources:
        text = one.text if len(one.text) <= _SHOWN else one.text[:_SHOWN] + "…"
        shown.setdefault(one.shown, "" if cover_reasons(text) else text)
    return [[name, text] for name, text in shown.items() if name]


def _side_pieces(speaker: str, turn: int, text: str, question: Question, asked: bool) -> dict[str, Json]:
    pieces: list[Json] = [["", text]]
    if asked and question.start >= 0:
        cut = ("", text[: question.start]), ("mark", text[question.start : question.end]), ("", text[question.end :])
        pieces = [list(piece) for piece in cut if piece[1] or piece[0]]
    return {"speaker": speaker, "turn": turn, "asked": asked, "pieces": pieces, "cover": cover_reasons(text)}


def cover_reasons(text: str) -> str:
    """Return the reasons for hiding the text at first, as in "it may contain …", or "" to show the text. If the
    triage misses a harmful text, the text is shown; a false alarm costs people one key press."""
    return " and ".join(dict.fromkeys(flag.reason for flag in find_harms(text)))
