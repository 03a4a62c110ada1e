"""Protocol files: what is refused when they are read, and where the message points."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from protocols.library import (
    check_topics,
    decode_protocol,
    encode_protocol,
    load_protocol,
    protocol_hash,
    shipped_protocols,
)
from protocols.protocol import Protocol
from topics.errors import InputError
from topics.kinds import KINDS
from topics.library import load_topics, shipped_topics
from topics.topic import Topic, TopicSet, TopicType

SOUND = """\
format: harvest-protocol/1
name: sound
version: 1
turn_limit: 4
rules:
  useful: {urls: {kind: asked}}
  refused: {any: [{refusal: {}}, blank]}
  blank: {empty: {}}
start: ask
states:
  ask:
    say: |
      {{ topic.request }}
      Format: {{ topic.asks_for }}
    edges:
      - {if: useful, label: o, go: play}
      - {otherwise: true, label: x, stop: breakdown}
  play:
    each: topic.turns
    say: "{{ item }}, please."
    edges:
      - {if: refused, label: x, go: ask}
      - {if: useful, label: o, go: next}
    then: {stop: completed}
no_match: {label: x}
"""

MOVIE = TopicType("movie", "movie title, IMDb URL", KINDS["imdb-title"])
TOPIC = Topic("M002", MOVIE, "Please list up movies.", turns=("More", "And more"))


@pytest.fixture
def load(tmp_path: Path) -> Callable[[str], Protocol]:
    def loaded(text: str) -> Protocol:
        path = tmp_path / "p.yaml"
        path.write_text(text, encoding="utf-8")
        return load_protocol(path)

    return loaded


def topics(*given: Topic) -> TopicSet:
    return TopicSet("some", given, {})


def test_a_sound_protocol_is_read(load: Callable[[str], Protocol]) -> None:
    protocol = load(SOUND)
    assert tuple(protocol.states) == ("ask", "play")
    assert protocol.needs == {"links"}
    assert protocol.rule_versions == {"useful": "urls/1", "refused": "any(refusal/5 empty/2)", "blank": "empty/2"}
    assert protocol.most_turns(TOPIC) == 4


def test_a_rule_on_an_edge_is_read_as_if_it_had_a_name(load: Callable[[str], Protocol]) -> None:
    inline = SOUND.replace("if: refused, label: x", "if: {contains: {phrases: [Größe]}}, label: x").replace(
        "      - {if: useful, label: o, go: next}",
        "      - {if: {contains: {pattern: 'a{1,3}'}}, label: o, go: next}\n"
        "      - {if: {contains: {phrases: [Größe]}}, label: o, go: next}\n"
        "      - {if: {all: [useful, {not: blank}]}, label: o, go: next}",
    )
    protocol = load(inline)
    assert [edge.rule for edge in protocol.states["play"].edges] == ["contains", "contains-2", "contains", "all"]
    assert protocol.rule_versions["all"] == "all(urls/1 not(empty/2))"
    named = inline.replace("{contains: {phrases: [Größe]}}", "contains").replace(
        "{contains: {pattern: 'a{1,3}'}}", "contains-2"
    )
    named = named.replace("{all: [useful, {not: blank}]}", "all").replace(
        "start: ask",
        "  contains: {contains: {phrases: [Größe]}}\n  contains-2: {contains: {pattern: 'a{1,3}'}}\n"
        "  all: {all: [useful, {not: blank}]}\nstart: ask",
    )
    assert protocol_hash(load(named)) == protocol_hash(protocol)
    assert decode_protocol(json.loads(json.dumps(encode_protocol(protocol)))) == protocol


def test_a_rule_on_an_edge_gets_no_name_that_the_file_uses(load: Callable[[str], Protocol]) -> None:
    protocol = load(
        SOUND.replace("  blank: {", "  empty: {refusal: {}}\n  blank: {").replace("if: refused", "if: {empty: {}}")
    )
    assert protocol.states["play"].edges[0].rule == "empty-2"
    assert protocol.rule_versions["empty"] == "refusal/5"
    assert protocol.rule_versions["empty-2"] == "empty/2"


def at(line: int, column: int, *words: str) -> tuple[int, int, tuple[str, ...]]:
    return line, column, words


REFUSED = {
    # What is changed in SOUND: (old, new) → line, column, words of the message.
    "another format": ("protocol/1", "protocol/9", at(1, 9, "format:", "harvest-protocol/1")),
    "an unknown key": ("turn_limit: 4", "turn_limits: 4", at(4, 1, "'turn_limits'", "did you mean 'turn_limit'")),
    "a turn limit of nothing": ("turn_limit: 4", "turn_limit: 0", at(4, 13, "turn_limit")),
    "a turn limit in words": ("turn_limit: 4", "turn_limit: four", at(4, 13, "turn_limit", "'four'")),
    "a missing key": ("version: 1\n", "", at(1, 1, "missing key 'version'")),
    "an unknown rule kind": ("{urls: {kind: asked}}", "{url: {}}", at(6, 12, "unknown rule 'url'", "'urls'", "words")),
    "a rule by the name of other tools": ("{urls: {kind: asked}}", "{regex: 'a+'}",
                                          at(6, 12, "unknown rule 'regex': did you mean {contains: {pattern: …}}?")),
    "an operator of other languages": ("any: [", "OR: [", at(7, 13, "unknown rule 'OR': did you mean {any: […, …]}?")),
    "a bad rule option": ("kind: asked", "kinds: asked", at(6, 19, "unknown key 'kinds'", "kind, at_least")),
    "a bad rule value": ("kind: asked", "at_least: 0", at(6, 29, "at_least")),
    "an unknown URL kind": ("kind: asked", "kind: imdb", at(6, 25, "unknown kind of URL", "imdb-title")),
    "options that are no mapping": ("{urls: {kind: asked}}", "{urls: 3}", at(6, 18, "options must be a mapping")),
    "a rule of two kinds": ("{empty: {}}", "{empty: {}, refusal: {}}", at(8, 10, "one kind with its options")),
    "a rule that names no rule": ("blank]", "blanc]", at(7, 34, "unknown rule 'blanc'", "'blank'")),
    "a rule that refers to itself": ("{empty: {}}", "{not: refused}", at(8, 16, "refused → blank → refused")),
    "any of one": ("[{refusal: {}}, blank]", "[blank]", at(7, 18, "at least two")),
    "a reserved rule name": ("  blank: {", "  otherwise: {", at(8, 3, "'otherwise' is a reserved name")),
    "an odd name": ("  ask:\n", "  ask me:\n", at(11, 3, "'ask me' is not a valid name", "letters, digits")),
    "a duplicate state": ("  play:\n", "  ask:\n", at(18, 3, "duplicate key 'ask'", "line 11")),
    "a state called next": ("  play:\n", "  next:\n", at(18, 3, "'next' is a reserved name")),
    "an unknown start": ("start: ask", "start: aks", at(9, 8, "unknown state 'aks'", "'ask'", "ask, play")),
    "an unknown target": ("go: play", "go: plays", at(16, 36, "unknown state 'plays'", "'play'")),
    "an unknown rule on an edge": ("if: useful, label: o, go: play", "if: usefull, label: o, go: play",
                                   at(16, 14, "unknown rule 'usefull'", "useful, refused, blank")),
    "a kind of rule as the name of one": ("if: useful, label: o, go: play", "if: refusal, label: o, go: play",
                                          at(16, 14, "called 'refusal', which is a kind", "{refusal: {…}}")),
    "a list of rules on an edge": ("if: useful, label: o, go: play", "if: [useful], label: o, go: play",
                                   at(16, 14, "`if` must be a rule", "{urls: {at_least: 1}}")),
    "an unknown kind on an edge": ("if: useful, label: o, go: play", "if: {url: {}}, label: o, go: play",
                                   at(16, 15, "unknown rule 'url'", "'urls'")),
    "an unknown name in a rule on an edge": ("if: useful, label: o, go: play", "if: {not: blanc}, label: o, go: play",
                                             at(16, 20, "unknown rule 'blanc'", "'blank'")),
    "a missing label": ("{if: useful, label: o, go: play}", "{if: useful, go: play}", at(16, 9, "missing key 'label'")),
    "another label": ("label: x, stop: breakdown", "label: '-', stop: breakdown", at(17, 34, "label", "'o' or 'x'")),
    "both go and stop": ("go: play}", "go: play, stop: completed}", at(16, 9, "either `go` or `stop`", "both")),
    "neither go nor stop": ("label: x, stop: breakdown", "label: x", at(17, 9, "either `go` or `stop`", "neither")),
    "both if and otherwise": ("otherwise: true,", "otherwise: true, if: useful,",
                              at(17, 9, "`if` or `otherwise`", "both")),
    "neither if nor otherwise": ("otherwise: true, ", "", at(17, 9, "`if` or `otherwise`", "neither")),
    "otherwise: false": ("otherwise: true", "otherwise: false", at(17, 21, "otherwise")),
    "an unknown outcome": ("stop: breakdown", "stop: crashed", at(17, 43, "stop", "'completed' or 'breakdown'")),
    "an edge after otherwise": (
        "      - {if: useful, label: o, go: play}\n      - {otherwise: true, label: x, stop: breakdown}\n",
        "      - {otherwise: true, label: x, stop: breakdown}\n      - {if: useful, label: o, go: play}\n",
        at(17, 9, "never reached"),
    ),
    "no edges": (
        "    edges:\n      - {if: useful, label: o, go: play}\n      - {otherwise: true, label: x, stop: breakdown}\n",
        "    edges: []\n",
        at(15, 12, "edges"),
    ),
    "an unreachable state": ("go: play}", "go: ask}", at(18, 3, "'play' is never reached from 'ask'")),
    "an answer nothing fits": ("no_match: {label: x}\n", "", at(21, 5, "'play' has no edge", "no_match")),
    "no label without a match": ("no_match: {label: x}", "no_match: {}", at(25, 11, "missing key 'label'")),
    "next without a list": ("go: play", "go: next", at(16, 36, "`next` is only for states with `each`")),
    "a list without then": ("    then: {stop: completed}\n", "", at(19, 5, "`each` also needs `then`")),
    "then without a list": ("    each: topic.turns\n", "", at(19, 5, "`then` is only for states with `each`")),
    "another list": ("each: topic.turns", "each: topic.words", at(19, 11, "'topic.turns'")),
    "a silent loop": ("then: {stop: completed}", "then: {go: play}",
                      at(18, 3, "endless loop without any words: play → play")),
    "a state that says nothing": ('say: "{{ item }}, please."', 'say: " "', at(20, 10, "this text is empty")),
    "a list for a simulated user": ('    say: "{{ item }}, please."\n', "    user: curious\n",
                                    at(19, 5, "`each` is only for states with `say`")),
    "two voices": ("    each: topic.turns\n", "    user: curious\n",
                   at(19, 5, "either `say` or `user`: both are given")),
    "no voice": ('    say: "{{ item }}, please."\n', "", at(19, 5, "either `say` or `user`: neither is given")),
    "a user who speaks nowhere": ("start: ask", "users: {curious: {simulator: markov}}\nstart: ask",
                                  at(9, 9, "user 'curious' is not used in any state", "user: curious")),
    "a user without a simulator": ("start: ask", "users: {curious: {simulater: markov}}\nstart: ask",
                                   at(9, 9, "no simulator", "'simulater'")),
    "an unknown variable": ("topic.request", "topic.reqest", at(13, 10, "'topic.reqest'", "topic.request", "turn")),
    "an unknown variable further on": ("topic.asks_for", "topic['asksfor']", at(14, 18, "'topic.asksfor'")),
    "a variable after words that look like it": (
        "Format: {{ topic.asks_for }}", "topics: {{ topics }} topic.x {{ topic.x }}", at(14, 18, "'topics'")),
    "a variable like earlier words": ("Format: {{ topic.asks_for }}", "topic.x {{ topic.x }}", at(14, 18, "'topic.x'")),
    "a variable in quotation marks": ("{{ item }}, please", "More, {{ itm }}", at(20, 20, "'itm'", "item")),
    "item outside a list": ("topic.request", "item", at(13, 10, "unknown variable 'item'")),
    "something inside a text": ("topic.request", "topic.request.lower", at(13, 10, "it has no parts")),
    "a topic as a text": ("topic.request", "topic", at(13, 10, "not text by itself")),
    "all fields as a text": ("topic.request", "topic.fields", at(13, 10, "topic.fields.NAME")),
    "a computed name": ("topic.request", "topic.fields[turn]", at(12, 10, "only known when the template is filled in")),
    "a call": ("topic.request", "topic.request.format(1)", at(13, 10, "cannot call functions")),
    "the sandbox's back door": ("topic.request", "topic.__class__", at(13, 10, "'topic.__class__'")),
    "a global function": ("topic.request", "lipsum", at(13, 10, "unknown variable 'lipsum'")),
    "a random filter": ("topic.request", "topic.turns | random", at(13, 24, "unknown filter 'random'", "join")),
    "an include": ("{{ topic.request }}", "{% include 'x' %}", at(13, 10, "'include'")),
    "a variable set anew": ("{{ topic.request }}", "{% set topic = 1 %}{{ turn }}", at(13, 14, "redefines 'topic'")),
    "an open brace": ("{{ topic.request }}", "{{ topic.request }", at(13, 1, "cannot be parsed")),
    "broken YAML": ("start: ask", "start: [ask", at(10, 7, "not valid YAML")),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_a_fault_of_a_file_is_refused_at_its_place(case: str, load: Callable[[str], Protocol]) -> None:
    old, new, where = REFUSED[case]
    assert SOUND.count(old) == 1, "the change is made in one place"
    line, column, words = where
    with pytest.raises(InputError) as caught:
        load(SOUND.replace(old, new))
    fault = caught.value
    for word in words:
        assert word in str(fault)
    assert fault.place is not None
    assert (fault.place.line, fault.place.column) == (line, column), str(fault)


def test_the_message_about_a_variable_lists_what_is_allowed(load: Callable[[str], Protocol]) -> None:
    with pytest.raises(InputError) as caught:
        load(SOUND.replace("topic.request", "topic.reqest"))
    assert caught.value.allowed == (
        "topic.asks_for, topic.fields, topic.id, topic.request, topic.subject, topic.turns, topic.type, turn"
    )


def talk(edges: dict[str, list[str]], each: dict[str, dict[str, str]] | None = None, limit: str = "") -> str:
    """A protocol file of states that lead on by one rule after the other; `stop` stops."""
    lines = ["format: harvest-protocol/1", "name: talk", "version: 1", *([limit] if limit else [])]
    lines += ["rules: {r: {empty: {}}}", f"start: {next(iter(edges))}", "states:"]
    for name, targets in edges.items():
        lines += [f"  {name}:", "    say: Go on.", "    edges:"]
        for number, target in enumerate(targets):
            condition = "otherwise: true" if number == len(targets) - 1 else "if: r"
            way = "stop: completed" if target == "stop" else f"go: {target}"
            lines.append(f"      - {{{condition}, label: o, {way}}}")
        for key, target in ((each or {}).get(name) or {}).items():
            lines += ["    each: topic.turns"] * (key == "then")
            lines.append(f"    {key}: " + ("{stop: completed}" if target == "stop" else f"{{go: {target}}}"))
    return "\n".join(lines) + "\n"


def test_an_endless_loop_is_refused_with_its_states(load: Callable[[str], Protocol]) -> None:
    loop = {"a": ["b", "stop"], "b": ["c"], "c": ["b", "a"]}
    with pytest.raises(InputError, match="an endless loop: b → c → b") as caught:
        load(talk(loop))
    assert caught.value.place is not None
    assert caught.value.place.line == 12
    assert load(talk(loop, limit="turn_limit: 7")).most_turns(TOPIC) == 7


def test_a_state_without_a_way_to_a_stop_is_refused(load: Callable[[str], Protocol]) -> None:
    with pytest.raises(InputError, match="'b' has no path to a stop"):
        load(talk({"a": ["b", "stop"], "b": ["b"]}))


def test_a_loop_through_the_topics_turns_ends_by_itself(load: Callable[[str], Protocol]) -> None:
    protocol = load(talk({"play": ["insist", "play"], "insist": ["play"]}, {"play": {"then": "stop"}}))
    assert protocol.most_turns(TOPIC) == 4  # both turns, and one insistence after each
    with pytest.raises(InputError, match="endless loop: play → ask → play"):
        load(talk({"play": ["play", "stop"], "ask": ["play"]}, {"play": {"then": "ask"}}))
    with pytest.raises(InputError, match="endless loop"):  # only on topics without turns
        load(talk({"play": ["play"], "ask": ["play"]}, {"play": {"then": "stop", "empty": "ask"}}))


def test_a_loop_without_words_is_refused_even_with_a_turn_limit(load: Callable[[str], Protocol]) -> None:
    states = {"a": ["a"], "b": ["b"]}
    with pytest.raises(InputError, match="endless loop without any words"):
        load(talk(states, {"a": {"then": "b"}, "b": {"then": "a"}}, limit="turn_limit: 3"))
    behind_a_loop_that_speaks = {"ask": ["ask", "a"], "a": ["a"]}
    with pytest.raises(InputError, match="endless loop without any words: a → a"):
        load(talk(behind_a_loop_that_speaks, {"a": {"then": "a"}}, limit="turn_limit: 3"))
    with pytest.raises(InputError, match="endless loop without any words: a → a"):  # only on topics without turns
        load(talk(behind_a_loop_that_speaks, {"a": {"then": "stop", "empty": "a"}}, limit="turn_limit: 3"))


def test_an_unknown_protocol_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(
        InputError, match=r"unknown protocol 'fairweb'\n  allowed: .*fairweb-two-round, .*seed-turns, .*or the path"
    ):
        load_protocol("fairweb")
    with pytest.raises(InputError, match="no such file"):
        load_protocol("./fairweb.yaml")


@pytest.mark.parametrize("name", ["fairweb-two-round", "seed-turns"])
def test_shipped_protocols_load_fit_every_shipped_topic_and_survive_json(name: str) -> None:
    assert name in shipped_protocols()
    protocol = load_protocol(name)
    assert protocol.name == name
    assert decode_protocol(json.loads(json.dumps(encode_protocol(protocol)))) == protocol
    for topic_set in shipped_topics():
        check_topics(protocol, load_topics(topic_set))


def test_the_hash_follows_what_a_protocol_does_and_not_its_description(load: Callable[[str], Protocol]) -> None:
    sound = protocol_hash(load(SOUND))
    assert len(sound) == 32
    assert protocol_hash(load(SOUND + "about: Some words.\n")) == sound
    assert protocol_hash(load(SOUND.replace("kind: asked", "kind: asked, at_least: 1"))) == sound
    for old, new in (("at_least", ""), ("turn_limit: 4", "turn_limit: 5"), ("please", "pleas"), ("{empty", "{refusal")):
        if old in SOUND:
            assert protocol_hash(load(SOUND.replace(old, new, 1))) != sound
    assert decode_protocol(encode_protocol(load(SOUND))) == load(SOUND)


def test_a_damaged_recorded_protocol_is_refused() -> None:
    value = encode_protocol(load_protocol("seed-turns"))
    with pytest.raises(InputError, match="recorded protocol"):
        decode_protocol({**value, "states": {}})
    with pytest.raises(InputError):
        decode_protocol([])


def test_topics_that_do_not_fit_are_refused_by_name(load: Callable[[str], Protocol]) -> None:
    sound = load(SOUND)
    check_topics(sound, topics(TOPIC))
    without_url = Topic("C1", TopicType("chat", "an opinion"), "What do you think?", turns=("Why?",))
    with pytest.raises(InputError, match=r"'C1': rule 'useful' .* topic type 'chat' asks for no URL"):
        check_topics(sound, topics(TOPIC, without_url))
    without_format = Topic("C2", TopicType("movie", "", KINDS["imdb-title"]), "List movies.", turns=("More",))
    with pytest.raises(InputError, match=r"state 'ask': topic 'C2' has no asks_for"):
        check_topics(sound, topics(without_format))
    with_field = load(SOUND.replace("topic.request", "topic.fields.year"))
    check_topics(with_field, topics(Topic("M1", MOVIE, "…", turns=("x",), fields={"year": "2004"})))
    with pytest.raises(InputError, match=r"topic 'M002' has no field 'year'") as caught:
        check_topics(with_field, topics(TOPIC))
    assert "this topic has no fields" in str(caught.value)
    check_topics(load(SOUND.replace("topic.request", "topic.fields.year | default('any')")), topics(TOPIC))


def test_a_topic_without_any_words_is_refused(load: Callable[[str], Protocol]) -> None:
    protocol = load(talk({"play": ["play"]}, {"play": {"then": "stop"}}))
    with pytest.raises(InputError, match="has nothing to say on topic 'M1'"):
        check_topics(protocol, topics(Topic("M1", MOVIE, "…")))
    blank = load(SOUND.replace('"{{ item }}, please."', '"{{ item }}"'))
    with pytest.raises(InputError, match="the template gives no text"):
        check_topics(blank, topics(Topic("M1", MOVIE, "…", turns=("x", " "))))
