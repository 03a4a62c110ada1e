"""A template from elsewhere takes neither the memory nor the time of the machine."""

from __future__ import annotations

import pytest

from protocols.wording import Wording, faults, render
from topics.errors import InputError
from topics.topic import Topic, TopicType

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
        ("{% set a = 'x' %}{% set a = a ~ a %}{{ a }}", "made of 'a'"),
        ("{% set a %}{{ turn }}{% endset %}", "a block that sets"),
        ("{% for a in topic.turns %}{% for b in topic.turns %}x{% endfor %}{% endfor %}", "a loop inside a loop"),
        ("{{ " + "1 + " * 3000 + "1 }}", "nested too deeply"),
        ("{{ " + "topic.request ~ " * 101 + "turn }}", "more than 100 things joined"),
        ("{{ (((turn + 1) + (turn + 1)) + ((turn + 1) + (turn + 1))) }}" * 20, "more than 100 things joined"),
        ("x" * 20_001, "longer than"),
    ],
)
def test_what_could_run_away_is_refused_when_it_is_read(template: str, says: str) -> None:
    assert says in next(faults(Wording(template))).what


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
def test_what_a_template_makes_is_bounded(template: str) -> None:
    long = Topic("T1", TopicType("chat"), "word " * 1000, subject="x" * 5000)
    assert not list(faults(Wording(template)))
    with pytest.raises(InputError, match="topic 'T1'"):
        render(Wording(template), long, turn=1)


def test_an_ordinary_template_is_filled_in() -> None:
    template = "{% set n = turn + 1 %}{% for t in topic.turns %}{{ t }} {% endfor %}{{ n }}{{ 'x'|replace('x', 'y') }}"
    assert not list(faults(Wording(template)))
    assert render(Wording(template), TOPIC, turn=1) == "a b 2y"
    words = "{{ topic.turns|sort(reverse=true)|join(', ') }}{{ topic.turns|unique|first }}{{ 'a b'|title|truncate(9) }}"
    assert not list(faults(Wording(words)))
    for _ in range(3):
        assert render(Wording(words), TOPIC, turn=1) == "b, aaA B"
