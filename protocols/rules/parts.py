"""`parts`: besides its text, the answer has parts such as buttons or tool calls."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from pydantic import Field, field_validator

from protocols.answer import Answer, Attachment, Offer, Source, ToolCall
from protocols.route import Evidence
from protocols.rules.answer_rule import AnswerRule
from protocols.rules.rule import Sight, Verdict, absence, limit_evidence

_PART_LABELS = {"sources": "sources", "calls": "tool calls", "offers": "offers", "attachments": "attachments"}


class Parts(AnswerRule):
    """Holds if the answer has at least `at_least` parts of the kind `of`.

    `of` is `sources`, `calls`, `offers` or `attachments`. With `like`, only parts that contain one of these strings
    are counted, ignoring case. The strings are searched in the address and title of a source, in the name of a tool,
    in the title, value and kind of an offer, and in the name and type of an attachment (`image/`). Evidence: each
    part, marked as outside the text, or the number of parts if there are too few.
    """

    version: ClassVar[str] = "parts/1"

    of: Literal["sources", "calls", "offers", "attachments"]
    at_least: int = Field(default=1, ge=1, le=10_000)
    like: tuple[str, ...] | None = Field(default=None, min_length=1, max_length=200)

    @field_validator("like")
    @classmethod
    def _check_texts(cls, like: tuple[str, ...] | None) -> tuple[str, ...] | None:
        if any(not text.strip() for text in like or ()):
            raise ValueError("`like` contains an empty text; leave it out to count all parts")
        return like

    def judge(self, sight: Sight) -> Verdict:
        wanted = [text.casefold() for text in self.like or ("",)]
        found = [
            absence(shown, f"{what}, beside the text")
            for shown, what, words in _parts_of_kind(sight.answer, self.of)
            if any(text in word for text in wanted for word in words)
        ]
        pieces: tuple[Evidence, ...] = limit_evidence(found, len(found))
        if len(found) < self.at_least:
            what = f"at least {self.at_least} {_PART_LABELS[self.of]}"
            what += f" like {' | '.join(self.like)}" if self.like else ""
            pieces += (absence(what, f"{len(found)} came with the answer"),)
        return Verdict(len(found) >= self.at_least, pieces)


def _parts_of_kind(answer: Answer, of: str) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    for one in getattr(answer, of):
        match one:
            case Source(href, title):
                yield href or title, "a source", _part_names(href, title)
            case ToolCall(name):
                yield name, "a tool call", _part_names(name)
            case Offer(title, value, kind):
                yield title or value, f"an offer ({kind})", _part_names(title, value, kind)
            case Attachment(name, media_type):
                yield name, f"an attachment ({media_type or 'type not known'})", _part_names(name, media_type)


def _part_names(*texts: str) -> tuple[str, ...]:
    return tuple(text.casefold() for text in texts)
