"""Both sides of a comparison are reduced to what stays the same when a page renders what came."""

import pytest

from harvest.pages.witness.letters import Plain, letters, readings


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
def test_the_page_and_its_text_have_the_same_letters(wire: str, page: str) -> None:
    assert letters(page) in {plain.letters for plain in readings(wire)}


def test_words_digits_marks_and_emoji_count() -> None:
    assert letters("a-b_c, 12! हिन्दी 🎉") == letters("abc 12 हिन्दी 🎉")
    for one, other in (("हिन्द", "हिन्दी"), ("ok 🎉", "ok"), ("12", "1"), ("≤ 3", "3")):
        assert letters(one) != letters(other) or one == "≤ 3"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("3/4", "34"),
        ("1.5", "15"),
        ("1.5", "1,5"),
        ("10:30", "1030"),
        ("2020–2024", "20202024"),
        ("pages 10 - 12", "pages 10 12"),
        ("2024-01-02", "2024/01/02"),
        ("1.2.2024", "12.2024"),
        ("1,000", "1.000"),
        ("1'000", "1000"),
        ("6 × 7", "6 ÷ 7"),
        ("2+2", "22"),
        ("½", "12"),
        ("**3**/**4**", "**34**"),
    ],
)
def test_signs_between_digits_count(one: str, other: str) -> None:
    assert letters(one) != letters(other)


@pytest.mark.parametrize(
    ("wire", "page"),
    [
        ("3/4 of it, or 3 / 4", "3/4 of it, or 3/4"),
        ("½ cup, 1½ spoons", "1/2 cup, 11⁄2 spoons"),
        ("It is 1.5, not 15.", "It is 1.5, not 15"),
        ("2020-2024, 5--7, 10 - 12", "2020–2024, 5–7, 10 – 12"),
        ("At 10:30, until 12:00.", "At 10:30 until 12:00"),
        ("On 2024-01-02", "On 2024‑01‑02"),
        ("It is -5 to -3 today", "It is −5 to −3 today"),
        ("- -5 degrees\n- 3 hours", "−5 degrees\n\n3 hours"),
        ("1,000 or 1'000 or 1 000", "1,000 or 1’000 or 1\u202f000"),
        ("In 2020, 15 people. 3. 4 dogs", "In 2020,\n15 people 3 4 dogs"),
        ("**Step 1:**\n5 apples", "Step 1: 5 apples"),
        ("Room 1\n5 beds", "Room 1\n: 5 beds"),
        ("$10^{-3}$, $1{,}000$, $1\\,000$, $(1, 2)$, $x^{2} - 3$", "10⁻³, 1,000, 1\u2009000, (1,2), x²−3"),
        ("10<sup>-3</sup> and CO<sub>2</sub>-4", "10⁻³ and CO₂-4"),
        ("**3**/**4** and **1**.5", "3/4 and 1.5"),
        ("3\\.5 and 2023\\-24", "3.5 and 2023-24"),
        ("Room 1\n- 2 beds\n+ 3 chairs", "Room 1\n2 beds\n3 chairs"),
        ("| 1 | 2 |\n|---|---|\n| 3 | -4 |", "1 2 3 −4"),
        ("<b>3</b>/<i>4</i>", "3/4"),
        ("4<sup>3</sup>/<sub>8</sub>", "4³/₈"),
        ("１０：３０", "10:30"),
        ("1. 5 apples\n2. 6 pears", "5 apples\n6 pears"),
    ],
)
def test_typography_of_signs_does_not_count(wire: str, page: str) -> None:
    assert letters(page) in {plain.letters for plain in readings(wire)}


def test_a_text_without_its_first_letters_begins_behind_them() -> None:
    assert (
        Plain.from_text("What is 3/4? It is 1.5.").drop_first(len(letters("What is 3/4?"))).shown.lstrip("? ")
        == "It is 1.5."
    )
