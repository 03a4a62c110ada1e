"""A template from elsewhere takes neither the memory nor the time of the machine."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from protocols import wording
from protocols.wording import Wording, render, template_faults
from topics.errors import InputError
from topics.topic import Topic, TopicType

HOLES = (
    *("{{topic.request}}", "{{ topic.subject }}", "{{ topic.type }}", "{{ topic.id }}", "{{ topic.fields.a }}"),
    *(
        "{{ topic.fields.b }}",
        "{{ turn }}",
        "{{ item }}",
        "{{ topic.asks_for }}",
        "{{- turn }}",
        "{% if turn %}x{% endif %}",
    ),
    *("\n", " ", "a ", "}}", "{# a #}", "\r\n", "{{ topic.request|upper }}", "{{ topic.turns }}", "$"),
)
TOPIC = Topic("T1", TopicType("chat"), "Tell me about time travel.", turns=("a", "b"))


@pytest.mark.parametrize(
    ("template", "says"),
    [
        ("{{ 10**(10**10) }}", "the operator **"),
        ("{{ 'a' * 10**9 }}", "the operator *"),
        ("{{ '%9999999d' % 1 }}", "the operator %"),
        ("{{ " + "(" * 3000 + "1" + ")" * 3000 + " }}", "nested too deeply"),
        ("{{ " + "not " * 100 + "turn }}", "nested too deeply"),
        ("{{ " + "9" * 5000 + " }}", "too large a number"),
        ("{{ 1000001 }}", "too large a number"),
        ("{% set a = 'x' %}{% set a = a ~ a %}{{ a }}", "depends on 'a'"),
        ("{% set a %}{{ turn }}{% endset %}", "with a block"),
        ("{% for a in topic.turns %}{% for b in topic.turns %}x{% endfor %}{% endfor %}", "a loop inside a loop"),
        ("{{ " + "1 + " * 3000 + "1 }}", "nested too deeply"),
        ("{{ " + "topic.request ~ " * 101 + "turn }}", "joins more than 100 values"),
        ("{{ (((turn + 1) + (turn + 1)) + ((turn + 1) + (turn + 1))) }}" * 20, "joins more than 100 values"),
        ("x" * 20_001, "more than 20,000 characters"),
    ],
)
def test_a_template_that_could_run_away_is_refused_when_it_is_read(template: str, says: str) -> None:
    assert says in template_faults(Wording(template))[0].what


@pytest.mark.parametrize(
    "template",
    [
        "{{ 'x'" + "|replace('x', 'xxxxxxxxxxxxxxxxxxxx')" * 9 + " }}",
        "{{ topic.request|indent(1000000) }}",
        "{{ topic.request|truncate(1) }}",
        "{{ topic.request|replace('w', '" + "w" * 80 + "')|join('" + "x" * 10_000 + "')|length }}",
        "{{ topic.request" + "|sort|string" * 15 + "|length }}",
        "{% for c in topic.subject %}{% if topic.request|sort|length < 0 %}x{% endif %}{% endfor %}turn",
        "{% for c in topic.subject %}{% if topic.request|wordcount < 0 %}x{% endif %}{% endfor %}turn",
        "{% for c in topic.subject %}{{ topic.request }}{% endfor %}",
    ],
)
def test_the_output_of_a_template_is_bounded(template: str) -> None:
    long = Topic("T1", TopicType("chat"), "word " * 1000, subject="x" * 5000)
    assert not template_faults(Wording(template))
    with pytest.raises(InputError, match="topic 'T1'"):
        render(Wording(template), long, turn=1)


def test_an_ordinary_template_is_filled_in() -> None:
    template = "{% set n = turn + 1 %}{% for t in topic.turns %}{{ t }} {% endfor %}{{ n }}{{ 'x'|replace('x', 'y') }}"
    assert not template_faults(Wording(template))
    assert render(Wording(template), TOPIC, turn=1) == "a b 2y"
    words = "{{ topic.turns|sort(reverse=true)|join(', ') }}{{ topic.turns|unique|first }}{{ 'a b'|title|truncate(9) }}"
    assert not template_faults(Wording(words))
    for _ in range(3):
        assert render(Wording(words), TOPIC, turn=1) == "b, aaA B"


PARTS = {
    "{{ (topic.request|upper).encode }}": "encode",
    "{{ (topic.request|upper)['encode'] }}": "[",
    "{{ (topic.request|upper)[topic.subject] }}": "[",
    "{{ 'abc'.upper }}": "upper",
    "{{ (1).real }}": "real",
    "{{ [turn].append }}": "append",
    "{{ {'a': 1}.items }}": "items",
    "{{ (topic.request ~ 'x').encode }}": "encode",
    "{{ (topic.request if turn else 'x').encode }}": "encode",
    "{% set a = topic.request %}{{ a.encode }}": "encode",
    "{% set a = topic.request %}{{ a['encode'] }}": "[",
    "{% for t in topic.turns %}{{ t.encode }}{% endfor %}": "encode",
    "{% for t in topic.turns %}{{ loop.cycle }}{% endfor %}": "loop.cycle",
    "{% for t in topic.turns %}{{ loop.index.real }}{% endfor %}": "loop.index.real",
    "{% for t in topic.turns %}{{ loop['changed'] }}{% endfor %}": "loop.changed",
    "{% for t in topic.turns %}{{ loop }}{% endfor %}": "loop",
    "{% for t in topic.turns %}{% set l = loop %}{{ l }}{% endfor %}": "loop",
    "a\nb {% if (topic.request|first).encode %}x{% endif %}": "encode",
}


@pytest.mark.parametrize("template", PARTS)
def test_a_part_of_a_value_that_could_be_a_method_is_refused_when_it_is_read(template: str) -> None:
    found = list(template_faults(Wording(template)))
    assert [one.words for one in found] == [PARTS[template]]
    assert found[0].line == 1 + template.count("\n")


@pytest.mark.parametrize(
    "template",
    [
        "{{ topic.turns|reverse }}",
        "{{ topic.turns|unique }}",
        "{{ topic.turns|sort }}",
        "{{ topic.turns }}",
        "{{ [turn, turn] }}",
        "{{ {'a': turn} }}",
        "{% set a = topic.turns|reverse %}{{ a }}",
    ],
)
def test_a_value_that_is_not_text_by_itself_is_not_said(template: str) -> None:
    with pytest.raises(InputError, match="is not text: use `join`"):
        render(Wording(template), TOPIC, turn=1)


@pytest.mark.parametrize(
    "template",
    [
        *(f"{{{{ topic.turns|{name}|string }}}}" for name in ("reverse", "unique", "sort")),
        "{{ '' ~ (topic.turns|reverse) }}",
        "{{ [topic.turns|reverse]|join }}",
        "{{ topic.turns|reverse|upper }}",
        "{{ topic.turns|unique|replace('a', 'b') }}",
    ],
)
def test_no_filter_reveals_an_address_of_memory(template: str) -> None:
    assert " at 0x" not in render(Wording(template), TOPIC, turn=1).lower()


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("{{ turn }} {{ true }} {{ none }} {{ 1.5 }}", "1 True None 1.5"),
        ("{% for t in topic.turns %}{{ loop.index }}{{ t }}{% if not loop.last %}, {% endif %}{% endfor %}", "1a, 2b"),
        ("{% set t = topic.turns %}{{ t[0] }}{{ t[-1] }}", "ab"),
        ("{{ (topic.request|upper)[:4] }}", "TELL"),
        ("{{ topic.turns|reverse|join }}", "ba"),
    ],
)
def test_text_numbers_truth_and_parts_by_number_are_said_as_before(template: str, said: str) -> None:
    assert not template_faults(Wording(template))
    assert render(Wording(template), TOPIC, turn=1) == said


@pytest.mark.parametrize("each", [False, True])
@given(
    st.lists(
        st.sampled_from(HOLES),
        max_size=4,
    ).map("".join),
    st.sampled_from(["", " ", "b", "{{ turn }}", "<b>", " c\r\n"]),
)
def test_names_are_filled_in_as_jinja_does(each: bool, template: str, word: str) -> None:
    topic = Topic("T1", TopicType("chat"), "Tell me.", subject=word, turns=("a",), fields={"a": word})

    assume(not template_faults(Wording(template, each)))

    def filled() -> object:
        try:
            return render(Wording(template, each), topic, turn=2, item=word)
        except InputError as fault:
            return fault.what

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(wording, "_plain_parts", lambda _: None)
        by_jinja = filled()
    assert filled() == by_jinja
