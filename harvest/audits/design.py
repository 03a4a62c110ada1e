"""The design of an audit: its questions in several wordings, languages and roles, asked from several places.

    design:
      languages: [en, de]
      templates: {plain: "{question}", polite: {en: "Please tell me: {question}", de: "Sag mir bitte: {question}"}}
      personas: {nobody: "", older: {en: "I am 74 years old.", de: "Ich bin 74 Jahre alt."}}
      places: {oslo: {country: NO, options: {headers: {Accept-Language: nb-NO}}}, lyon: {country: FR}}

Every list of several entries is a factor, and each combination of their levels is an arm. The words of an arm come from
the topics and their translations, and are fixed before anything is sent.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Annotated, Any, Literal, cast

from pydantic import Field

from harvest.audits.arms import refuse_similar_names
from harvest.audits.vantage import PlaceEntry, Vantage
from protocols.protocol import Protocol
from protocols.states import State
from protocols.wording import Wording, render
from topics.counting import pluralize
from topics.cut_text import Said
from topics.document import Document, StrictModel, name_validator
from topics.errors import suggestion
from topics.names import LONGEST
from topics.topic import QUESTION, Topic
from topics.topic_file import Language
from topics.yaml_values import Loc

LANGUAGE, TEMPLATE, PERSONA, PLACE = "language", "template", "persona", "place"
# The keys of the audit that hold the levels of each factor.
_KEYS = {TEMPLATE: "templates", PERSONA: "personas", LANGUAGE: "languages", PLACE: "places"}
_HOLE = re.compile(r"\{\s*([^{}]*?)\s*\}")
_CODE = re.compile(r"\{\{.*?\}\}|\{%.*?%\}", re.DOTALL)
_MOST_NAMED = 3

_Name = Annotated[str, Field(max_length=LONGEST), name_validator(" ._+-")]
# One text for all languages, or a text for each.
_Words = Said | dict[Language, Said]


class LanguageEntry(StrictModel):
    """A language as written in the design: the words of the protocol's own states, which may have holes as templates
    have."""

    states: dict[str, Said] = Field(default_factory=dict)


class DesignEntry(StrictModel):
    """The design as written in the audit file."""

    languages: Annotated[tuple[Language, ...] | dict[Language, LanguageEntry], Field(min_length=1)] = ()
    templates: dict[_Name, _Words] = Field({"plain": "{question}"}, min_length=1)
    personas: dict[_Name, _Words] = Field({"nobody": ""}, min_length=1)
    places: dict[_Name, PlaceEntry] = Field({}, min_length=1)
    missing: Literal["refuse", "leave out"] = "refuse"

    @property
    def vantages(self) -> dict[str, Vantage]:
        return {name: place.vantage(name) for name, place in self.places.items()}


@dataclass(frozen=True, slots=True)
class Design:
    """A design whose words are known. `levels` has the factors with several levels, `topics` are those with words in
    every language, and `left_out` names the topics that are not played. `vantages` are the places by name."""

    levels: Mapping[str, tuple[str, ...]]
    topics: tuple[Topic, ...]
    left_out: tuple[str, ...]
    vantages: Mapping[str, Vantage]
    entry: DesignEntry
    protocol: Protocol

    def place_of(self, factor: str, level: str) -> Loc:
        """Return the position of a level in the audit file."""
        own = getattr(self.entry, _KEYS[factor])
        at = own.index(level) if isinstance(own, tuple) else level
        return ("design", _KEYS[factor], at)

    def level(self, chosen: Mapping[str, str], factor: str) -> str:
        """Return the level of a factor in an arm: the only level if the design has just one, or "" if it has none."""
        return chosen.get(factor) or next(iter(getattr(self.entry, _KEYS[factor])), "")

    def vantage(self, chosen: Mapping[str, str]) -> Vantage | None:
        return self.vantages.get(self.level(chosen, PLACE))

    def words(self, chosen: Mapping[str, str]) -> dict[str, dict[str, str]]:
        """Return what the protocol says in an arm, by topic and state."""
        language = self.level(chosen, LANGUAGE)
        template = _in_language(self.entry.templates[self.level(chosen, TEMPLATE)], language)
        persona = _in_language(self.entry.personas[self.level(chosen, PERSONA)], language)
        assert template is not None
        assert persona is not None
        own = _own_states(self.entry, language)
        found: dict[str, dict[str, str]] = {}
        for topic in self.topics:
            texts = {**_texts(topic, language, self.entry)[0], PERSONA: persona.strip()}
            said = dict(texts)
            asked = _fill(template, texts)
            if persona.strip() and PERSONA not in _holes(template):
                asked = f"{persona.strip()} {asked}"
            told = replace(
                topic,
                request=asked,
                subject=said.pop("subject", ""),
                format=said.pop("asks_for", ""),
                fields=MappingProxyType({name: said[name] for name in topic.fields if name in said}),
            )
            found[topic.id] = {
                state.name: _fill(own[state.name], {**texts, QUESTION: asked})
                if state.name in own
                else render(cast(Wording, state.say), told, turn=1)
                for state in _speaking(self.protocol)
            }
        return found

    def as_json(self) -> dict[str, Any]:
        """Return the values that the header of a run stores in addition to the arms."""
        return {
            "places": {name: one.as_json() for name, one in self.vantages.items()},
            "left_out": list(self.left_out),
        }


def read_design(document: Document, entry: DesignEntry, protocol: Protocol, topics: Sequence[Topic]) -> Design:
    """Read the design of an audit. Raises InputError, with its place in the audit, for a text that is missing in one of
    its languages, unless it says `missing: leave out`, and for a protocol whose words it cannot change."""
    _check_protocol(document, entry, protocol, topics)
    languages = tuple(entry.languages) or ("",)
    left_out: list[str] = []
    for factor in (TEMPLATE, PERSONA):
        entry = _with_all_languages(document, entry, factor, languages, topics, left_out)
    kept = []
    lacking: dict[str, list[str]] = {}
    for topic in topics:
        gaps = [f"{name} in {one!r}" for one in languages for name in _texts(topic, one, entry)[1]]
        if gaps:
            lacking[topic.id] = gaps
        else:
            kept.append(topic)
    if lacking and (entry.missing == "refuse" or not kept):
        named = [f"the topic {topic!r} has no {', no '.join(gaps)}" for topic, gaps in lacking.items()]
        more = f"; and {len(named) - _MOST_NAMED} more" if len(named) > _MOST_NAMED else ""
        raise document.error(
            ("design", "languages"),
            f"translations are missing: {'; '.join(named[:_MOST_NAMED])}{more}",
            allowed="every question in every language, so that all cells ask the same",
            advice="add them to the topics, such as in a column `question:de`"
            + (", or write `missing: leave out` here" if kept else ": without them no topic is left"),
        )
    left_out += [f"topic {topic}: no {', no '.join(gaps)}" for topic, gaps in lacking.items()]
    every = {factor: tuple(getattr(entry, key)) for factor, key in _KEYS.items()}
    for factor, own in every.items():
        refuse_similar_names(document, ("design", _KEYS[factor]), own, _KEYS[factor])
    levels = {factor: own for factor, own in every.items() if len(own) > 1}
    return Design(levels, tuple(kept), tuple(left_out), entry.vantages, entry, protocol)


def _speaking(protocol: Protocol) -> Iterator[State]:
    """Yield the states that say words of the protocol, except the turns of a topic."""
    return (state for state in protocol.states.values() if state.say is not None and not state.each)


def _own_states(entry: DesignEntry, language: str) -> Mapping[str, str]:
    return entry.languages[language].states if isinstance(entry.languages, dict) and language else {}


def _check_protocol(document: Document, entry: DesignEntry, protocol: Protocol, topics: Sequence[Topic]) -> None:
    speaking = {state.name: state for state in _speaking(protocol)}
    loc: Loc = ("design",)
    if not speaking:
        what = f"the protocol {protocol.name!r} says nothing of its own, so a design cannot change its words"
        raise document.error(loc, what, advice="choose a protocol that sends the request, such as seed-turns", key=True)
    for name, user in protocol.users.items():
        if len(entry.languages) > 1:
            what = f"the user {name!r} ({user.simulator}) would speak the same language in every cell"
            advice = "choose a protocol without simulated users, or one language"
            raise document.error((*loc, "languages"), what, advice=advice)
    if any(state.each for state in protocol.states.values()):
        several = next((topic.id for topic in topics if topic.turns), None)
        if several is not None:
            what = f"the topic {several!r} has seed turns, which a design cannot translate or reword"
            raise document.error(loc, what, advice="choose topics that have only a request", key=True)
    for number, language in enumerate(entry.languages):
        own = _own_states(entry, language)
        for name in own:
            if name not in speaking:
                what = f"the protocol {protocol.name!r} has no words of its own in a state {name!r}"
                raise document.error(
                    (*loc, "languages", language, "states", name), what, allowed=", ".join(speaking), key=True
                )
            _check_holes(document, (*loc, "languages", language, "states", name), own[name], topics)
        for name, state in speaking.items():
            wordless = not any(map(str.isalpha, _CODE.sub("", state.say.template if state.say else "")))
            if number and not wordless and name not in own:
                at: Loc = (*loc, "languages", language if isinstance(entry.languages, dict) else number)
                raise document.error(
                    at,
                    f"the protocol {protocol.name!r} has a text for the state {name!r}, but none in the language "
                    f"{language!r}",
                    advice=f"write languages: {{{language}: {{states: {{{name}: …}}}}}}",
                )


def _with_all_languages(
    document: Document,
    entry: DesignEntry,
    factor: str,
    languages: Sequence[str],
    topics: Sequence[Topic],
    left_out: list[str],
) -> DesignEntry:
    """Return the entry without the levels of a factor that lack words in a language, or refuse them."""
    kept: dict[str, Any] = {}
    for name, words in getattr(entry, _KEYS[factor]).items():
        loc: Loc = ("design", _KEYS[factor], name)
        for text in words.values() if isinstance(words, dict) else (words,):
            _check_holes(document, loc, text, topics)
            if factor == TEMPLATE and QUESTION not in _holes(text):
                what = f"the template {name!r} does not ask the question"
                raise document.error(loc, what, allowed="a text with {question} in it")
        if isinstance(words, str) and len(languages) > 1 and any(map(str.isalpha, _HOLE.sub("", words))):
            what = f"the {factor} {name!r} has words of its own, which would be said in every language"
            advice = f"write them by language: {{{languages[0]}: …, {languages[1]}: …}}"
            raise document.error(loc, what, advice=advice)
        lacking = [one for one in languages if _in_language(words, one) is None]
        if lacking and entry.missing == "refuse":
            what = f"the {factor} {name!r} has no words in {', '.join(lacking)}"
            raise document.error(loc, what, advice="add them, or write `missing: leave out` in the design")
        if lacking:
            left_out.append(f"{factor} {name}: no words in {', '.join(lacking)}")
        else:
            kept[name] = words
    if not kept:
        what = f"no {factor} has words in {'all of ' if len(languages) > 2 else ''}{' and '.join(languages)}"
        raise document.error(("design", _KEYS[factor]), what)
    return entry.model_copy(update={_KEYS[factor]: kept})


def _in_language(words: str | Mapping[str, str], language: str) -> str | None:
    if isinstance(words, str):
        return words
    return words.get(language) if language else next(iter(words.values()))


def _texts(topic: Topic, language: str, entry: DesignEntry) -> tuple[dict[str, str], list[str]]:
    """Return the texts of a topic in a language by name, and the names of those that it does not have there.

    What a topic file says without a language is in the first one of the design, unless it is also a translation. A text
    that no language translates, such as a name or a number, is the same in all.
    """
    plain = {QUESTION: topic.request, "subject": topic.subject, "asks_for": topic.asks_for, **topic.fields}
    base = next(iter(entry.languages), "")
    written_in = next((one for one, own in topic.translations.items() if own.get(QUESTION) == topic.request), base)
    # Codes of languages that differ in capitals alone are one (RFC 5646, section 2.1.1).
    own = next((own for one, own in topic.translations.items() if one.casefold() == language.casefold()), {})
    translated = {name for texts in topic.translations.values() for name in texts}
    texts, gaps = {}, []
    for name, text in plain.items():
        if name in own:
            texts[name] = own[name]
        elif (
            language.casefold() == written_in.casefold()
            or not text
            or (name not in translated and name not in (QUESTION, "asks_for"))
        ):
            texts[name] = text
        elif name == QUESTION or name in _used(entry):
            gaps.append(name)
    return texts, gaps


def _used(entry: DesignEntry) -> frozenset[str]:
    """Return the names of all holes in templates, personas and states."""
    words: list[Any] = [*entry.templates.values(), *entry.personas.values()]
    if isinstance(entry.languages, dict):
        words += [one.states for one in entry.languages.values()]
    texts = [text for one in words for text in ((one,) if isinstance(one, str) else one.values())]
    return frozenset(name for text in texts for name in _holes(text))


def _holes(text: str) -> set[str]:
    return set(_HOLE.findall(text))


def _check_holes(document: Document, loc: Loc, text: str, topics: Sequence[Topic]) -> None:
    known = {QUESTION, PERSONA, "subject", "asks_for", *(name for topic in topics for name in topic.fields)}
    for name in sorted(_holes(text) - known):
        what = f"there is no {{{name}}} in the topics{suggestion(name, known)}"
        raise document.error(loc, what, allowed=", ".join(f"{{{one}}}" for one in sorted(known)))
    for name in sorted(_holes(text) - {QUESTION, PERSONA}):
        without = [
            topic.id
            for topic in topics
            if not {"subject": topic.subject, "asks_for": topic.asks_for, **topic.fields}.get(name)
        ]
        if without:
            what = f"{{{name}}} is empty in {pluralize(len(without), 'topic')}: {', '.join(without[:_MOST_NAMED])}"
            raise document.error(loc, what, advice="fill the column, or leave it out here")


def _fill(template: str, texts: Mapping[str, str]) -> str:
    return _HOLE.sub(lambda hole: texts.get(hole[1], ""), template).strip()
