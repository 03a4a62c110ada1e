"""The words of the judging page in the language of those who judge, from a file or shipped with Harvest."""

import re
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from recordings.files.json_text import Json
from scoring.swan.schema import Criterion, CriterionWords, Schema
from topics.document import StrictModel, form_validator, read_document, validation_error
from topics.errors import InputError, suggestion
from topics.topic import LANGUAGE_TAG

_FOLDER = Path(__file__).parent / "words"
_PLACE = re.compile(r"\{(\w+)\}")

_Word = Annotated[str, Field(min_length=1, max_length=400)]


class Words(StrictModel):
    """The texts of the page, by key. The default values are in English. Texts in braces, such as {n}, are filled in."""

    title: _Word = "Annotate"
    skip: _Word = "Skip to the decision"
    your_progress: _Word = "Your progress"
    conversation: _Word = "Conversation"
    what_was_said: _Word = "What was said"
    loading: _Word = "Loading…"
    your_decision: _Word = "Your decision"
    note: _Word = "Note (optional)"
    reason: _Word = "Your reason"
    save: _Word = "Save and go on"
    back: _Word = "Back"
    forth: _Word = "Forth"
    open: _Word = "Next open"
    undo: _Word = "Undo"
    jump: _Word = "Jump to…"
    keys: _Word = "Keys"
    single_keys: _Word = "Single keys are on (all but Enter and the arrows)"
    close: _Word = "Close"
    jump_title: _Word = "Jump to a decision"
    number: _Word = "Number"
    jump_now: _Word = "Jump"
    unsure_ones: _Word = "Unsure:"
    deciding: _Word = "{person}, deciding where people differ"
    progress: _Word = "{done} of {of}"
    progress_of_all: _Word = "{people} people together: {done} of {of}"
    minutes_left: _Word = "about {n} min left"
    hours_left: _Word = "about {n} h left"
    place: _Word = "{n} of {of}"
    decided: _Word = "decided"
    user_turn: _Word = "User, turn {n}"
    system_turn: _Word = "System, turn {n}"
    asked_about: _Word = "asked about"
    sources: _Word = "Documents it names:"
    part: _Word = "Conversation {n} of {of}"
    pair_question: _Word = "Which conversation would you rather have had?"
    left_title: _Word = "Left"
    right_title: _Word = "Right"
    wanted: _Word = "What was wanted: {text}"
    votes: _Word = "What people said:"
    covered: _Word = "Covered: it may contain {what}."
    view: _Word = "Show it"
    saving: _Word = "Saving…"
    saved: _Word = "Saved"
    undone: _Word = "Undone"
    waits: _Word = "{n} waiting in this browser, to be sent again"
    choose_first: _Word = "Choose first: press the letter beside a choice"
    not_shown: _Word = "Nothing is decided before the conversation is shown"
    say_why: _Word = "Say why, then Ctrl+Enter"
    no_digits: _Word = "Digits choose nothing: press the letter beside the score"
    all_decided: _Word = "All {n} are decided. Thank you! To change one, go back to it (←)."
    not_loaded: _Word = "This conversation is not loaded; it will be when the server can be reached."
    not_open: _Word = "This page is not open"
    unreachable: _Word = "The server cannot be reached."
    kept_here: _Word = (
        "The server cannot be reached. Your answers are kept in this browser; you can go on with what is loaded."
    )
    new_link: _Word = "The server was started anew: open your new link in this window. Your answers are kept here."
    not_saved: _Word = "Not saved yet: {why}"
    refused: _Word = "An answer was refused: {why}"
    server_failed: _Word = "the server failed"
    key_enter: _Word = "save, and go on to the next open decision"
    key_arrows: _Word = "back and forth, without deciding"
    key_note: _Word = "write a note (Esc leaves it, Ctrl+Enter saves)"
    key_skip: _Word = "skip to the next open decision"
    key_undo: _Word = "undo the last decision"
    key_jump: _Word = "jump to a number, or to what you were unsure of"
    key_view: _Word = "view what is covered"
    key_list: _Word = "this list"
    no: _Word = "no"
    partly: _Word = "partly"
    yes: _Word = "yes"
    unsure: _Word = "unsure – I cannot tell"
    not_applicable: _Word = "n/a – it does not apply here"
    left: _Word = "left – the left one is better"
    tie: _Word = "tie – neither is better"
    right: _Word = "right – the right one is better"

    @model_validator(mode="after")
    def _same_places(self) -> Self:
        for name, field in type(self).model_fields.items():
            wanted, given = (sorted(_PLACE.findall(text)) for text in (field.default, getattr(self, name)))
            if wanted != given:
                shown = ", ".join(f"{{{one}}}" for one in wanted) or "no text in braces"
                raise validation_error(f"the words must have {shown}, each once", at=(name,))
        return self


class PageWords(StrictModel):
    """A file of words: their `language` (a tag such as `de` or `pt-BR`), their `direction`, the `words` that differ
    from English, and the `criteria` by name. Names of criteria and values stay as they are in the schema, so that
    judgments in several languages are of the same criteria."""

    format: Literal["harvest-words/1"] = "harvest-words/1"
    language: Annotated[str, form_validator(LANGUAGE_TAG, "a language tag such as de, ja or pt-BR")] = "en"
    direction: Literal["ltr", "rtl"] = "ltr"
    words: Words = Words()
    criteria: dict[str, CriterionWords] = Field(default_factory=dict)

    def question(self, criterion: Criterion) -> str:
        """Return the question of a criterion in this language if this file or the schema has it."""
        own = self._own_words(criterion)
        return own.question if own is not None else criterion.question

    def values(self, criterion: Criterion) -> list[tuple[str, str]]:
        """Return the values of a criterion, each with its meaning in this language as far as this file or the schema
        has it."""
        own = self._own_words(criterion)
        return [(name, own.values.get(name, meaning) if own else meaning) for name, meaning in criterion.values]

    def _own_words(self, criterion: Criterion) -> CriterionWords | None:
        translated = dict(criterion.translations)
        nearest = translated.get(self.language) or translated.get(self.language.partition("-")[0])
        return self.criteria.get(criterion.name) or nearest

    def as_json(self) -> dict[str, Json]:
        """Return the values that the page needs."""
        return {"language": self.language, "direction": self.direction, "words": dict(self.words.model_dump())}


ENGLISH = PageWords()


def shipped_words() -> tuple[str, ...]:
    """Return the languages whose words come with Harvest, besides English."""
    return tuple(sorted(one.stem for one in _FOLDER.glob("*.yaml")))


def load_words(name_or_path: str, schema: Schema | None = None) -> PageWords:
    """Load the words of a shipped language, or your own file. Raises InputError for an unknown language, an invalid
    file, and a criterion or value that `schema` does not have."""
    if name_or_path == "en":
        return ENGLISH
    if "." not in name_or_path and "/" not in name_or_path:
        known = ("en", *shipped_words())
        if name_or_path not in known:
            raise InputError(
                f"Harvest has no page texts in the language {name_or_path!r}{suggestion(name_or_path, known)}",
                allowed=f"{', '.join(known)}, or a file of your own (docs/judging.md)",
            )
        return read_document(_FOLDER / f"{name_or_path}.yaml").validate_as(PageWords)
    document = read_document(name_or_path)
    found = document.validate_as(PageWords)
    criteria = {one.name: one for one in schema} if schema is not None else {}
    for name, words in found.criteria.items() if schema is not None else ():
        if name not in criteria:
            raise document.error(
                ("criteria", name), f"{name} is not a criterion of the schema", allowed=", ".join(criteria)
            )
        values = [value for value, _ in criteria[name].values]
        for value in words.values:
            if value not in values:
                raise document.error(
                    ("criteria", name, "values", value),
                    f"{value} is not a value of {name}",
                    allowed=", ".join(values) or "no value: its scores are those of the scale",
                )
    return found
