"""The user whose turns a language model words.

    mode     who decides what is done and when it ends      what the model does
    policy   the wrapped user (`agenda`, `markov`, …)        says it in other words
    free     the model                                       everything, up to `turns`

Acts, stops and their reasons are the policy's, with the same random draws as without a model. The policy sees the
system's answers to the model's words. Each sample must pass the rules of `simulators.llm.acceptance` before it is
sent. After a refused sample, another is requested with a new seed, up to `samples` in all. If none passes, or the
endpoint fails after an answer (`simulators.outside`), the policy's own words are said and the turn is marked
(`Say.worded`). A turn that a model cannot word must not end the conversation, because that may depend on the system's
answer. A free model has no policy whose words could be said, so its user stops with `no-words`.
"""

import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from protocols.answer import Exchange
from protocols.route import Choice, Say, Stop
from simulators import moves, promises, scripted
from simulators.llm import prompting
from simulators.llm.acceptance import ExpectedTurn, asked_form, refusal_reason, strip_reasoning
from simulators.llm.prompting import Signs
from simulators.memory import check_order, memory_kind, recall, topic_for_user
from simulators.outside import SourceError, take_sample
from simulators.phrasing import Template, fill_template
from simulators.reasons import BUDGET, ENDPOINT_FAILED, FRUSTRATED, NO_WORDS, SATISFIED
from simulators.user import Observation, Scenario, State, Streams, User
from simulators.wrappers.persona import find_cue
from simulators.wrappers.wrapped import find_innermost, judged_phrases
from topics.counting import pluralize
from topics.cut_text import Said
from topics.document import StrictModel, validation_error
from topics.errors import InputError, suggestion
from topics.languages import language_code, language_name, named_languages
from topics.topic import Topic

_NONCE = "23456789abcdefghjkmnpqrstuvwxyz"  # without letters and digits that look alike


def _check_text(text: str) -> str:
    if not text.strip():
        raise validation_error("this text is empty")
    return text.strip()


Words = Annotated[Said, AfterValidator(_check_text)]


def _check_language(text: str) -> str:
    if language_code(text) is None:
        meant = suggestion(text, named_languages())
        raise validation_error(
            f"unknown language{meant}",
            allowed="an English name or a code: German, de, Brazilian Portuguese, pt-BR",
        )
    return text


Language = Annotated[Words, AfterValidator(_check_language)]


class Options(StrictModel):
    """Options of the llm user. The audit names the model under `endpoints`."""

    endpoint: str = Field(
        "words", description="the endpoint, among the audit's `endpoints`, that words the turns", min_length=1
    )
    mode: Literal["policy", "free"] = Field(
        "policy", description="`free`: the model decides what is done and when to leave"
    )
    persona: Template | None = Field(None, description="who the person is, as a template over the topic")
    language: Language | None = Field(
        None, description="the language to write in, by English name or code; default: the model chooses"
    )
    samples: int = Field(4, ge=1, le=20, description="samples for one turn before the policy's own words are said")
    longest: int = Field(400, ge=20, le=4000, description="characters of a turn")
    history: int = Field(10, ge=1, le=200, description="how many of the last exchanges the model is shown")
    answer_characters: int = Field(4000, ge=100, le=100_000, description="characters of each answer that it is shown")
    turns: int = Field(10, ge=1, le=1000, description="free mode: turns after which the user stops with `budget`")
    acts: dict[str, Words] = Field({}, description="what a person does with each act of the policy, for the model")
    again: tuple[str, ...] = Field(("repeat",), description="acts that may say a turn again word for word")

    @model_validator(mode="after")
    def _check_mode(self) -> "Options":
        ours = {"policy": ("turns",), "free": ("acts", "again")}[self.mode]
        idle = [name for name in ours if name in self.model_fields_set]
        if idle:
            raise validation_error(f"{', '.join(idle)} cannot be given in the mode {self.mode!r}")
        if "acts" in self.model_fields_set and not self.acts:
            raise validation_error(
                "acts: the mapping is empty", allowed="{ACT: what a person does}", advice="remove it", at=("acts",)
            )
        return self


@memory_kind("llm")
@dataclass(frozen=True, slots=True)
class WordedMemory:
    """The memory of a user whose words come from a model. `said` are the words waiting for an answer. `refused`
    counts the samples that were not sent, by reason. `inner` is the policy's memory. `nonce` is part of the signs by
    which a free model leaves."""

    topic: Topic
    persona: str
    inner: State | None
    exchanges: tuple[Exchange, ...] = ()
    said: str | None = None
    refused: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    over: bool = False
    nonce: str = ""


@dataclass(frozen=True, slots=True)
class WordedUser:
    """A user whose words come from a model. `inner` is the policy, or None in free mode. The trait `persona` replaces
    the option `persona`; all other traits are the policy's. Acts (`Say.state`) are the policy's, or `free`."""

    options: Options
    inner: User | None
    name: str = "llm"

    def start(self, scenario: Scenario, rng: Streams) -> WordedMemory:
        traits = dict(scenario.traits)
        persona = self._persona(scenario.topic, traits.pop("persona", None))
        inside = None
        if self.inner is not None:
            inside = promises.initial_state(self.inner, replace(scenario, traits=traits), rng.inside("llm"))
        else:
            moves.check_traits(scenario, ("persona",), "free llm")
        nonce = "" if self.inner is not None else "".join(rng(rng.own("llm", "sign")).choice(list(_NONCE), 6))
        return WordedMemory(topic_for_user(scenario.topic), persona, inside, nonce=nonce)

    def _persona(self, topic: Topic, trait: object) -> str:
        if trait is None:
            return "" if self.options.persona is None else fill_template(self.options.persona, topic, "the persona")
        if not isinstance(trait, str) or not trait.strip():
            raise InputError(f"topic {topic.id!r}: the trait 'persona' is empty", allowed="text")
        return trait

    def respond(self, state: State, observation: Observation | None, rng: Streams) -> tuple[Say | Stop, State]:
        """Return the policy's action in accepted words of the model. Raises SampleNeeded if a sample is needed,
        SourceError if a free model gives no sample, and ValueError for a call out of turn."""
        heard = _add_answer(recall(state, WordedMemory), observation)
        if self.inner is None:
            return self._respond_freely(heard, rng)
        action, after = promises.next_action(self.inner, heard.inner, observation, rng.inside("llm"))
        action = scripted.add_choice(self.inner, heard.inner, observation, action)
        heard = replace(heard, inner=after)
        if isinstance(action, Stop):
            return action, replace(heard, over=True)
        if action.new_session:
            # Shown the earlier session, the model would say itself what the system should remember: "As I live in …".
            heard = replace(heard, exchanges=())
        return self._put_in_words(heard, rng, action)

    def _put_in_words(self, heard: WordedMemory, rng: Streams, action: Say) -> tuple[Say | Stop, WordedMemory]:
        options = self.options
        if self.inner is not None and action.state in getattr(find_innermost(self.inner), "exact_acts", ()):
            return _finish_turn(heard, action, action.text, [])
        instructions = prompting.wording_instructions(
            need=heard.topic.request,
            persona=heard.persona,
            act=action.state,
            does=options.acts.get(action.state, prompting.ACTS.get(action.state, "")),
            intended=action.text,
            longest=options.longest,
            language=language_name(options.language or ""),
            form=asked_form(heard.topic, action.text),
        )
        text, refusals = self._take_sample(rng, action, instructions, heard, again=action.state in options.again)
        return _finish_turn(heard, action, text, refusals)

    def _respond_freely(self, heard: WordedMemory, rng: Streams) -> tuple[Say | Stop, WordedMemory]:
        options = self.options
        if len(heard.exchanges) >= options.turns:
            return Stop("user-stopped", BUDGET), replace(heard, over=True)
        signs = Signs(heard.nonce)
        instructions = prompting.free_instructions(
            need=heard.topic.request,
            persona=heard.persona,
            signs=signs,
            longest=options.longest,
            language=language_name(options.language or ""),
        )
        action = Say("", prompting.FREE, len(heard.exchanges) + 1)
        text, refusals = self._take_sample(rng, action, instructions, heard, signs=signs)
        if text is not None and text in signs:
            reason = SATISFIED if text == signs.satisfied else FRUSTRATED
            choice = Choice(refused=dict(Counter(refusals)))
            return Stop("user-stopped", reason, choice=choice), replace(_count_refusals(heard, refusals), over=True)
        return _finish_turn(heard, action, text, refusals)

    def _take_sample(
        self,
        rng: Streams,
        action: Say,
        instructions: str,
        heard: WordedMemory,
        *,
        again: bool = False,
        signs: Signs | None = None,
    ) -> tuple[str | None, list[str]]:
        """Return the first acceptable sample or None, and the refusals. Raises SourceError only with signs."""
        options, exchanges = self.options, heard.exchanges
        expected = ExpectedTurn(
            intended=action.text,
            topic=heard.topic,
            earlier=tuple(exchange.said for exchange in exchanges),
            answer=exchanges[-1].answer.text if exchanges else "",
            instructions=instructions,
            longest=options.longest,
            again=again,
            judged=judged_phrases(self.inner, heard.topic) if self.inner is not None else (),
            cue=find_cue(heard.inner),
            act="" if signs else action.state,
        )
        messages = prompting.conversation(
            instructions, exchanges, most=options.history, characters=options.answer_characters, signs=signs
        )
        refusals: list[str] = []
        for number in range(1, options.samples + 1):
            purpose = rng.own("llm", f"words/{number}")
            try:
                sample = take_sample(rng, purpose, source=options.endpoint, act=action.state, messages=messages)
            except SourceError:
                if signs is not None:
                    raise
                return None, [*refusals, ENDPOINT_FAILED]
            text = strip_reasoning(sample.text)
            if signs is not None and exchanges and (sign := signs.find(text)):
                return sign, refusals
            reason = _sign_fault(text, action.text, signs) or refusal_reason(text, sample.finish, expected)
            if reason is None:
                return text, refusals
            refusals.append(reason)
        return None, refusals


def _sign_fault(text: str, intended: str, signs: Signs | None) -> str | None:
    """Return why a sample with a sign is refused. In policy mode a sign does not end the conversation, and must not
    be said."""
    if signs is None:
        return "sign" if prompting.contains_sign(text) and not prompting.contains_sign(intended) else None
    if signs.find(text):
        return "stops-at-once"
    return "sign" if prompting.contains_sign(text) or (signs.nonce and signs.nonce in text.casefold()) else None


def _finish_turn(
    heard: WordedMemory, action: Say, text: str | None, refusals: list[str]
) -> tuple[Say | Stop, WordedMemory]:
    after = _count_refusals(heard, refusals)
    counts = Counter(reason for reason in refusals if reason != ENDPOINT_FAILED)
    choice = replace(action.choice or Choice(), refused=dict(counts))
    if text is not None:
        meant = action.text if action.text != text else ""
        return replace(action, text=text, choice=replace(choice, meant=meant)), replace(after, said=text)
    why = ", ".join(
        reason if reason == ENDPOINT_FAILED else f"{reason} {count}"
        for reason, count in Counter(refusals).most_common()
    )
    if action.text:
        return replace(action, worded=f"policy: {why}", choice=choice), replace(after, said=action.text)
    said = f"{pluralize(len(refusals), 'sample')} refused: {why}"
    return Stop("user-stopped", NO_WORDS, action.route, said, choice), replace(after, over=True)


def _count_refusals(memory: WordedMemory, refusals: list[str]) -> WordedMemory:
    counted = Counter(reason for reason in refusals if reason != ENDPOINT_FAILED)
    return replace(memory, refused=MappingProxyType(dict(Counter(memory.refused) + counted)))


def _add_answer(memory: WordedMemory, observation: Observation | None) -> WordedMemory:
    check_order(observation, opened=memory.said is not None, over=memory.over)
    if memory.said is None or observation is None:
        return memory
    exchange = Exchange(memory.said, observation.answer)
    return replace(memory, exchanges=(*memory.exchanges, exchange), said=None)


def _declared_acts(user: User) -> frozenset[str] | None:
    """Return the acts that a user and all wrapped users declare, in `acts` or in the `ACTS` of their modules. Returns
    None if a user declares no acts."""
    found = set[str]()
    inside: object = user
    while inside is not None:
        acts = getattr(inside, "acts", None) or getattr(sys.modules[type(inside).__module__], "ACTS", None)
        own = getattr(inside, "inner", None)
        if acts is None and own is None:
            return None
        found |= set(acts or ())
        inside = own
    return frozenset(found)


def _check_inner(options: Options, inner: User) -> None:
    inside: object = inner
    while inside is not None:
        if isinstance(inside, WordedUser):
            raise InputError(
                "the llm user cannot wrap another llm user, because a turn must be worded only once",
                allowed="a policy: agenda, markov, …",
                advice="remove one of the two",
            )
        inside = getattr(inside, "inner", None)
    acts = _declared_acts(inner)
    named = [*(("acts", one) for one in options.acts)]
    if "again" in options.model_fields_set:
        named += [("again", one) for one in options.again]
    for option, act in named if acts is not None else ():
        if act not in (known := {*(acts or ()), *prompting.ACTS}):
            raise InputError(
                f"{option}: the policy has no act {act!r}{suggestion(act, known)}",
                allowed=", ".join(sorted(acts or known)),
                advice="name one of its acts, or remove it",
            )


def build(options: Options, inner: User | None = None) -> WordedUser:
    """Build the user. Raises InputError if the mode `policy` has no policy to wrap, or the mode `free` has a policy."""
    if options.mode == "policy" and inner is None:
        raise InputError(
            "the llm user wraps no user whose turns it could word",
            advice="name the wrapped user, or let the model decide by `mode: free`",
        )
    if options.mode == "free" and inner is not None:
        raise InputError("a free model cannot wrap a user", advice="remove it, or leave out `mode: free`")
    if inner is not None:
        _check_inner(options, inner)
    return WordedUser(options, inner)
