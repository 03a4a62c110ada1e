"""Functions that load protocols: shipped protocols by name, files by path, and recorded protocols from JSON."""

from collections.abc import Mapping
from os import PathLike, fspath
from pathlib import Path

from protocols.graph import reachable_on_topic
from protocols.protocol import Protocol
from protocols.reading import FORMAT, read_protocol
from protocols.rules.registry import encode_rule
from protocols.states import State, Target
from protocols.wording import render
from topics.document import Document, read_document
from topics.errors import InputError
from topics.identity import content_hash
from topics.topic import TopicSet

_HERE = Path(__file__).parent


def shipped_protocols() -> tuple[str, ...]:
    """Return the names of the protocols that come with Harvest."""
    return tuple(sorted(path.stem for path in _HERE.glob("*.yaml")))


def load_protocol(name_or_path: str | PathLike[str]) -> Protocol:
    """Load a shipped protocol by name, or a protocol from a file. A text that contains a slash or ends in .yaml or
    .yml is a path; any other text is a name. Raises InputError with file:line:column."""
    text = fspath(name_or_path)
    if "/" in text or "\\" in text or text.endswith((".yaml", ".yml")):
        return read_protocol(read_document(text))
    if text not in shipped_protocols():
        raise InputError(
            f"unknown protocol {text!r}",
            allowed=f"{', '.join(shipped_protocols())}, or the path of a .yaml file",
        )
    return read_protocol(read_document(_HERE / f"{text}.yaml"))


def encode_protocol(protocol: Protocol) -> dict[str, object]:
    """Return the protocol as JSON values, in the layout of its file with all defaults written out."""
    value: dict[str, object] = {
        "format": FORMAT,
        "name": protocol.name,
        "version": protocol.version,
        "about": protocol.about,
        "rules": {name: encode_rule(rule) for name, rule in protocol.rules.items()},
        "start": protocol.start,
        "states": {name: _encode_state(state) for name, state in protocol.states.items()},
    }
    if protocol.users:
        value["users"] = {name: {"simulator": user.simulator, **user.options} for name, user in protocol.users.items()}
    if protocol.allow:
        value["allow"] = list(protocol.allow)
    if protocol.greeted:
        value["greeted"] = True
    if protocol.turn_limit is not None:
        value["turn_limit"] = protocol.turn_limit
    if protocol.no_match is not None:
        value["no_match"] = {"label": protocol.no_match}
    return value


def decode_protocol(value: object, path: str = "recorded protocol") -> Protocol:
    """Return the protocol from a value of `encode_protocol`, called `path` in messages. Raises InputError."""
    return read_protocol(Document(path, _as_tuples(value), {}, {}))


def protocol_hash(protocol: Protocol) -> str:
    """Return the identity of the protocol: 32 hexadecimal digits computed from its normal form. `about` is left out,
    so that the explanation of a protocol may be corrected during a run."""
    return content_hash("protocol", {**encode_protocol(protocol), "about": ""})


def check_topics(protocol: Protocol, topics: TopicSet) -> None:
    """Check that the protocol can be played on the topics, considering only the states that a conversation can reach.
    Raises InputError for the first topic that has one of these faults: a template uses a value that the topic lacks,
    a rule cannot judge the topic (because it has no kind of URL or no format), or nothing would be said."""
    said: dict[bool, list[State]] = {}
    judged: dict[bool, dict[str, str]] = {}
    for topic in topics.topics:
        has_turns = bool(topic.turns)  # only this decides which states conversations on a topic can reach
        if has_turns not in said:
            on_the_way = reachable_on_topic(protocol.start, protocol.states, topic)
            said[has_turns] = [state for name, state in protocol.states.items() if name in on_the_way]
            judged[has_turns] = {edge.rule: one.name for one in said[has_turns] for edge in one.edges if edge.rule}
        states, used = said[has_turns], judged[has_turns]
        for rule, state in used.items():
            unfit = protocol.rules[rule].unfit(topic)
            if unfit:
                raise InputError(
                    f"protocol {protocol.name!r} does not fit topic {topic.id!r}: rule {rule!r} (in state {state!r}) "
                    f"{unfit}",
                    advice="choose another protocol, or give the topic type what the rule needs",
                )
        if protocol.most_turns(topic) == 0:
            raise InputError(
                f"protocol {protocol.name!r} has nothing to say on topic {topic.id!r}: the topic has no turns",
                advice="give the topic turns, or the state an `empty: {go: …}`",
            )
        for state_ in states:
            if state_.say is None:
                continue
            for number, item in enumerate(topic.turns if state_.each else ("",), 1):
                try:
                    render(state_.say, topic, turn=number, item=item)
                except InputError as fault:
                    raise InputError(
                        f"protocol {protocol.name!r}, state {state_.name!r}: {fault.what}",
                        allowed=fault.allowed,
                        advice=fault.advice,
                    ) from None


def _encode_state(state: State) -> dict[str, object]:
    value: dict[str, object] = {
        **_encode_voice(state),
        "edges": [
            {
                **({"if": edge.rule} if edge.rule else {"otherwise": True}),
                "label": edge.label,
                **_encode_target(edge.target),
            }
            for edge in state.edges
        ],
    }
    if state.then is not None:
        value["each"] = "topic.turns"
        value["then"] = _encode_target(state.then)
    if state.empty is not None:
        value["empty"] = _encode_target(state.empty)
    return value


def _encode_voice(state: State) -> dict[str, object]:
    if state.press is not None and state.absent is not None:
        return {"press": state.press.written, "absent": _encode_target(state.absent)}
    said: dict[str, object] = {"say": state.say.template} if state.say else {"user": state.user}
    return {**said, "attach": True} if state.attach else said


def _encode_target(target: Target) -> dict[str, object]:
    return {"go": target.state} if target.state else {"stop": target.outcome}


def _as_tuples(value: object) -> object:
    if isinstance(value, Mapping):
        return {str(key): _as_tuples(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return tuple(_as_tuples(part) for part in value)
    return value
