"""Trees as SVG: well-formed whatever was said, nothing over anything else, and nothing left out in silence."""

from __future__ import annotations

import base64
import os
import re
import shutil
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from playwright.sync_api import Browser, sync_playwright

from harvest.studies.trees.figures import tree_figures
from harvest.studies.trees.tree_scores import tree_scores
from harvest.studies.trees.words import tree_drawings
from harvest.tables.drawing.colours import STYLE
from harvest.tables.drawing.layout import row_positions, select_branches
from harvest.tables.drawing.picture import picture
from harvest.tables.drawing.svg import break_lines, fit_text, text_width
from recordings.conversations.conversation import Conversation, Outcome
from recordings.trees.builder import LABEL, fold
from recordings.trees.node_text import column_width
from recordings.trees.tree import ConversationTree, Symbol
from scoring.notation import parse
from tests.support.tree_examples import conversation, recordings, tree_of

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = [
    "<script>alert(1)</script>",
    "]]> <![CDATA[ <!-- --> <?php ?> &lt; &#x41; &amp",
    "\"quotes' and `ticks`",
    "\x00\x1b[31mred\x7f\x85\ufffe\uffff\U0001fffe\u2028",
    "\u202eright to left\u2066 \u05d0\u05d1\u05d2 \u0627\u0644\u0639",
    "\ud800 half \udfff",
    "x" * 1_000_000,
    "W" * 300,
    "漢字" * 60,
    "Z" + "\u0300\u0301\u0302" * 200 + "algo",
    "👩‍👩‍👧‍👦" * 20 + "\ufdfd\ufdfd",
    "\n\n\n    indented\n\n# heading\n</svg>",
    "",
]


def drawn(*trees: ConversationTree, score: bool = False, **more: Any) -> str:
    figures = []
    for tree in trees:
        values = {trial.key: i / 100 for i, trial in enumerate(tree.trials)}
        figures.append(tree_figures(tree, scores=tree_scores(tree, parse("R"), values) if score else None))
    made, said = tree_drawings(figures, "two-round", **more)
    return picture(made, said)


def words(svg: str) -> list[str]:
    return [element.text or "" for element in ET.fromstring(svg).iter(f"{SVG}text")]


def hostile() -> ConversationTree:
    return tree_of([conversation([("ask", text), (text, "done")], i) for i, text in enumerate(HOSTILE, 1)])


def labelled() -> ConversationTree:
    made = []
    for trial in range(1, 41):
        if trial % 5 == 0:
            made.append(conversation([("list", "sorry")], trial, labels=["x"], outcome="breakdown"))
        else:
            answers = ["o", "x" if trial % 3 == 0 else "o"]
            made.append(conversation([("list", f"one {trial}"), ("more", "two")], trial, labels=answers))
    return tree_of(made, LABEL)


def wide(branches: int = 30) -> ConversationTree:
    """One turn, and answers 1 … branches; answer i was given i times."""
    paths = [[0, i] for i in range(1, branches + 1) for _ in range(i)]
    symbols = [Symbol("user", "ask"), *(Symbol("system", f"answer {i:03}") for i in range(1, branches + 1))]
    return fold(np.array(paths), symbols)


def long() -> ConversationTree:
    turns = [(f"question {i}, with some words", f"answer {i}, with some more words than that") for i in range(15)]
    return tree_of([conversation(turns, 1), conversation([*turns[:9], ("otherwise", "ended early")], 2)])


@pytest.mark.parametrize("text", HOSTILE)
def test_any_reply_is_shown_as_text(text: str) -> None:
    svg = drawn(tree_of([conversation([(text, text)], 1), conversation([(text, "other")], 2)]))
    root = ET.fromstring(svg)
    kinds = {element.tag.removeprefix(SVG) for element in root.iter()}
    assert kinds <= {"svg", "g", "title", "style", "rect", "path", "circle", "text"}
    assert all(not name.lower().startswith("on") and "href" not in name for one in root.iter() for name in one.attrib)
    assert [style.text for style in root.iter(f"{SVG}style")] == [STYLE]
    assert len(svg) < 60_000
    svg.encode("utf-8")


def test_hostile_text_is_shown_by_its_code_and_in_full_in_the_title() -> None:
    svg = drawn(hostile(), most=20)
    titles = [element.text or "" for element in ET.fromstring(svg).iter(f"{SVG}title")]
    assert any("<script>alert(1)</script>" in title for title in titles)
    assert any("␀␛[31mred␡ <U+FFFE><U+FFFF><U+1FFFE>" in title for title in titles)
    assert any("<U+202E>right to left<U+2066>" in title for title in titles)
    assert any("<U+D800> half <U+DFFF>" in title for title in titles)
    assert any("(1,000,000 characters)" in title and len(title) < 3000 for title in titles)


def test_no_line_is_empty_so_that_markdown_treats_it_as_one_block() -> None:
    lines = drawn(hostile(), labelled()).splitlines()
    assert all(line.strip() for line in lines)
    assert re.fullmatch("<svg [^<>]*>", lines[0])
    assert lines[-1] == "</svg>"


def test_rules_for_dark_screens_only_affect_the_picture() -> None:
    inside = re.fullmatch(r"(.*)@media screen and \(prefers-color-scheme:dark\)\{(.*)\}", STYLE)
    assert inside is not None
    rules = re.findall(r"([^{}]+)\{[^{}]*\}", inside[1] + inside[2])
    assert len(rules) > 8
    assert all(rule == ".harvest-tree" or rule.startswith(".harvest-tree .") for rule in rules)
    assert " id=" not in drawn(labelled())


def _luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("theme", [0, 1])
@pytest.mark.parametrize("ground", ["paper", "user", "system", "useful", "useless"])
@pytest.mark.parametrize("ink", ["ink", "dim"])
def test_text_contrasts_with_its_background_in_both_themes(theme: int, ground: str, ink: str) -> None:
    from harvest.tables.drawing.colours import PAINTS

    one, two = sorted(_luminance(PAINTS[name][theme][0]) for name in (ground, ink))
    assert (two + 0.05) / (one + 0.05) >= 4.5


def test_every_branch_has_its_share_its_counts_and_its_interval_and_every_end_its_outcome() -> None:
    said = words(drawn(labelled()))
    assert [
        one for one in ("80%", "32/40", "[65, 90]", "20%", "8/40", "breakdown", "completed") if one not in said
    ] == []
    assert said.count("useful") == 2
    assert said.count("not useful") == 2
    assert "40 trials" in said
    assert [one for one in said if re.fullmatch(r"[US]\d", one)] == ["U1", "S1", "U2", "S2"]


def test_labels_and_speakers_are_told_apart_by_shape_and_not_only_by_colour() -> None:
    root = ET.fromstring(drawn(labelled()))
    boxes = [one for one in root.iter(f"{SVG}rect") if one.get("class") in ("user", "useful", "useless", "system")]
    rounded = {one.get("class"): float(one.get("rx", "0")) > 5 for one in boxes}
    assert rounded == {"user": True, "useful": False, "useless": False, "system": False}
    assert {one.tag for one in root.iter() if one.get("class") == "useful-mark"} == {f"{SVG}circle"}
    assert {one.tag for one in root.iter() if one.get("class") == "useless-mark"} == {f"{SVG}path"}


def test_edges_are_as_wide_as_the_share_of_their_trials() -> None:
    root = ET.fromstring(drawn(labelled()))
    found = [float(one.get("stroke-width", "0")) for one in root.iter(f"{SVG}path") if one.get("class") == "edge"]
    assert 12 * 32 / 40 in found
    assert 12 * 8 / 40 in found
    assert max(found) == 12


def test_the_caption_names_system_topic_protocol_trials_key_intervals_and_score() -> None:
    said = " ".join(words(drawn(labelled(), score=True)))
    for part in (
        "B1 · M002",
        "two-round",
        "merged by label",
        "40 trials",
        "95% interval in percent (Wilson; exact for fewer than 4 trials)",
        "R: mean",
    ):
        assert part in said
    assert "In a box: the mean R of the trials that came this way and have one." in said
    assert re.search(r"mean \.\d{4}", said)


def test_a_wide_tree_is_folded_and_says_how_many_branches_and_trials_are_hidden() -> None:
    tree = wide(30)
    said = words(drawn(tree))
    rest = sum(range(1, 19))
    assert sum(one.startswith("answer") for one in said) - 1 == 12  # and the legend's "answer of the system"
    assert f"+ 18 others, together {100 * rest / 465:.0f}% {rest}/465" in said
    assert any("at most 12 branches of a turn are drawn" in one for one in said)
    assert not any("others, together" in one for one in words(drawn(tree, most=30)))


def test_ways_of_few_trials_are_folded_where_they_begin() -> None:
    said = words(drawn(wide(30), least=0.05, most=100))
    kept = [i for i in range(1, 31) if i / 465 >= 0.05]
    rest = 465 - sum(kept)
    assert f"+ {30 - len(kept)} others, together {100 * rest / 465:.0f}% {rest}/465" in said
    everything = words(drawn(wide(30), least=0.5))
    assert "+ 30 branches, together 100% 465/465" in everything
    legend = " ".join(everything)
    assert "Numbers after “+” are omitted branches: at most 12 branches of a turn are drawn" in legend
    assert "turns that less than 50% of a tree's trials came to are not; ends are always drawn." in legend


def test_a_single_folded_branch_is_not_called_several() -> None:
    said = words(drawn(labelled(), most=1))
    assert "+ 1 other, 20% 8/40" in said
    assert any("at most 1 branch of a turn is drawn" in one for one in said)
    assert "+ 1 branch, 100% 40/40" in words(drawn(labelled(), least=1.5))


def test_unseen_branches_are_shown_where_every_branch_is_folded() -> None:
    said = words(drawn(wide(30), least=0.5))
    assert "+ 30 branches, together 100% 465/465" in said
    assert sum(one.startswith("another branch: about") for one in said) == 1


def test_ends_are_drawn_even_if_few_trials_are_drawn() -> None:
    said = words(drawn(labelled(), least=0.9))
    assert "+ 2 branches, together 100% 40/40" in said
    ended = words(
        drawn(
            tree_of(
                [conversation([("a", "b")], 1), *(conversation([("a", "b"), ("c", "d")], i) for i in range(2, 41))]
            ),
            least=0.5,
        )
    )
    assert "1/40" in ended
    assert "completed" in ended


def test_a_box_says_how_many_trials_its_mean_is_over_if_some_have_none() -> None:
    tree = labelled()
    values = {trial.key: 0.5 for trial in tree.trials if trial.key.trial % 5 and trial.key.trial % 3}
    (plate,), said = tree_drawings([tree_figures(tree, scores=tree_scores(tree, parse("GF(RATINGS)"), values))])
    assert plate.notes[0] == f"mean .5000 n={len(values)}"
    (broken_off,) = (node for node in range(1, len(tree)) if tree.stops[node] == 8)
    assert plate.notes[broken_off] == "no mean n=0"
    assert any("and have one, and n, if not all of them have one." in one for one in said)


@given(recordings())
@settings(max_examples=60)
def test_drawn_and_folded_branches_and_ends_are_complete(conversations: list[Conversation]) -> None:
    tree = tree_of(conversations)
    for least, most, nodes in ((0.0, 12, 400), (0.3, 2, 400), (0.0, 1, 3)):
        chosen = select_branches(tree, least=least, most=most, nodes=nodes)
        assert chosen.nodes[0] == 0
        assert len(chosen.nodes) <= nodes
        for node in chosen.nodes:
            folded = chosen.folded.get(node)
            visits = sum(int(tree.visits[one]) for one in chosen.branches[node]) + (folded.visits if folded else 0)
            assert int(tree.visits[node]) == visits + int(tree.stops[node])
            count = len(chosen.branches[node]) + (folded.branches if folded else 0)
            assert count == int(tree.branches[node])


@given(recordings())
@settings(max_examples=60)
def test_rows_do_not_overlap_and_are_within_the_picture(conversations: list[Conversation]) -> None:
    tree = tree_of(conversations)
    chosen = select_branches(tree)
    own = {node: 20.0 + 7 * (node % 5) for node in chosen.nodes}
    middles, rows, height = row_positions(chosen, own.__getitem__, lambda node: [9.0] * int(tree.stops[node] > 0))
    by_depth: dict[int, list[tuple[float, float]]] = {}
    for node in chosen.nodes:
        by_depth.setdefault(int(tree.depth[node]), []).append((middles[node], own[node] / 2))
        for row in rows[node]:
            by_depth.setdefault(int(tree.depth[node]) + 1, []).append((row, 4.5))
    for column in by_depth.values():
        column.sort()
        assert all(y - half >= -1e-9 and y + half <= height + 1e-9 for y, half in column)
        assert all(one + half <= two - other + 1e-9 for (one, half), (two, other) in pairwise(column))


def test_a_tree_of_a_hundred_thousand_nodes_is_drawn_in_part_and_the_rest_is_counted() -> None:
    rng = np.random.default_rng(1)
    paths = rng.integers(0, 60, (60_000, 4)) + np.array([0, 60, 0, 60])
    symbols = [*(Symbol("user", f"u{i}") for i in range(60)), *(Symbol("system", f"s{i}") for i in range(60))]
    tree = fold(paths, symbols)
    assert len(tree) > 100_000
    svg = drawn(tree)
    assert len(svg) < 1_000_000
    assert any(re.match(r"\+ \d+ others, together", one) for one in words(svg))
    ET.fromstring(svg)


def test_a_conversation_without_a_turn_and_a_single_trial_are_drawn() -> None:
    assert "completed" in words(drawn(tree_of([conversation([], 1)])))
    said = words(drawn(tree_of([conversation([("a", "b")], 1)])))
    assert "1 trial" in said
    with pytest.raises(ValueError, match="there are no trees to draw"):
        picture([])


@pytest.mark.parametrize(
    "text", ["a few words of text", "Wide WORDS and MORE", "one" * 40, "漢字漢字漢字 kanji", "i" * 300, ""]
)
@pytest.mark.parametrize("most", [12.0, 60.0, 200.0])
def test_lines_fit_their_space_and_lose_only_the_end(text: str, most: float) -> None:
    lines = break_lines(text, most, 13, 3)
    assert len(lines) <= 3
    assert all(text_width(line, 13) <= most + 14 for line in lines)
    whole = "".join(lines).replace(" ", "")
    assert text.replace(" ", "").startswith(whole.removesuffix("…"))
    assert text_width(fit_text(text, most, 13), 13) <= most or len(fit_text(text, most, 13)) <= 1
    assert all(lines) or lines == ("",)


@given(st.text("aM+ -…", max_size=40), st.floats(5, 300), st.integers(1, 5))
def test_no_line_is_empty_or_broken_where_a_letter_would_be_lost(text: str, most: float, lines: int) -> None:
    text = " ".join(text.split())
    found = break_lines(text, most, 13, lines)
    assert len(found) <= lines
    assert all(found) or found == ("",)
    if not found[-1].endswith("…"):
        assert "".join(found).replace(" ", "") == text.replace(" ", "")


def test_acts_are_broken_at_joints_and_not_within_a_word() -> None:
    said = "F+OTHER+F+ACTION-DIRECTIVE+OPEN-OPTION"
    found = break_lines(said, text_width("F+OTHER+F+ACTION-DI", 13), 13, 3)
    assert found == ("F+OTHER+F+", "ACTION-DIRECTIVE+", "OPEN-OPTION")
    narrow = break_lines(said, text_width("F+OTHER+F+AC", 13), 13, 9)
    assert narrow == ("F+OTHER+F+", "ACTION-", "DIRECTIVE+", "OPEN-OPTION")
    assert break_lines("C++ is a language", text_width("C++", 13), 13, 9)[0] == "C++"


# What a browser makes of it.


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    found = shutil.which("chromium") or os.environ.get("HARVEST_BROWSER")
    with sync_playwright() as started:
        opened = started.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield opened
        opened.close()


_OVERLAPS = """() => {
  const page = document.querySelector('svg.harvest-tree').getBoundingClientRect();
  const texts = [...document.querySelectorAll('text')].map(one => {
    let box = one.getBoundingClientRect();
    const held = one.parentNode;
    if (held.tagName === 'svg' && !held.classList.contains('harvest-tree')) {
      const around = held.getBoundingClientRect(), x = Math.min, y = Math.max;
      const rect = new DOMRect(held.getScreenCTM().e, held.getScreenCTM().f);
      const wide = held.width.baseVal.value * page.width / PAGE, high = held.height.baseVal.value * page.width / PAGE;
      box = {left: y(box.left, rect.x), top: y(box.top, rect.y),
             right: x(box.right, rect.x + wide), bottom: x(box.bottom, rect.y + high)};
    }
    return {text: one.textContent, left: box.left, top: box.top, right: box.right, bottom: box.bottom};
  });
  const found = [];
  texts.forEach((a, i) => {
    if (a.left < page.left - 0.5 || a.right > page.right + 0.5) found.push('outside: ' + a.text.slice(0, 60));
    texts.slice(i + 1).forEach(b => {
      const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      // Boxes are as high as a line, so those of two lines may touch; a tenth of a line is air.
      if (wide > 0.5 && high > 0.25 * Math.min(a.bottom - a.top, b.bottom - b.top))
        found.push(a.text.slice(0, 60) + ' / ' + b.text.slice(0, 60));
    });
  });
  return [texts.length, found];
}"""


@pytest.mark.parametrize("font", ["", pytest.param("DejaVu Sans", marks=pytest.mark.soak)])
@pytest.mark.parametrize(
    "trees", [[labelled()], [wide(), labelled()], [hostile()], [long()]], ids=["labels", "wide", "hostile", "long"]
)
def test_no_text_overlaps_another_or_leaves_its_box_in_a_browser(
    browser: Browser, trees: Sequence[ConversationTree], font: str
) -> None:
    svg = drawn(*trees, score=bool(trees[0].trials), most=20)
    if font:
        svg = re.sub(r'font-family="[^"]*"', f'font-family="{font}"', svg, count=1)
    width = ET.fromstring(svg).get("width", "")
    page = browser.new_page(viewport={"width": 1200, "height": 900})
    page.set_content(f"<body style='margin:0'>{svg}</body>")
    count, found = page.evaluate(_OVERLAPS.replace("PAGE", width))
    page.close()
    assert count == len(words(svg))
    assert found == []


def test_a_picture_follows_the_theme_of_the_page_and_scrolls_if_it_would_be_too_small(browser: Browser) -> None:
    svg = drawn(labelled())
    ground = "getComputedStyle(document.querySelector('svg > rect')).fill"
    for scheme, media, colour in (
        ("light", "screen", "rgb(255, 255, 255)"),
        ("dark", "screen", "rgb(13, 17, 23)"),
        ("dark", "print", "rgb(255, 255, 255)"),
    ):
        page = browser.new_page(color_scheme=scheme, viewport={"width": 480, "height": 800})  # type: ignore[arg-type]
        page.set_content(f"<body style='margin:0'>{svg}</body>")
        page.emulate_media(media=media)  # type: ignore[arg-type]
        assert page.evaluate(ground) == colour
        width = float(ET.fromstring(svg).get("width", "0"))
        assert page.evaluate("document.querySelector('svg').getBoundingClientRect().width") >= 0.76 * width
        page.close()


_PIXELS = """async ([shot, places]) => {
  const image = new Image();
  image.src = shot;
  await image.decode();
  const canvas = document.createElement('canvas');
  canvas.width = image.width;
  canvas.height = image.height;
  const ink = canvas.getContext('2d');
  ink.drawImage(image, 0, 0);
  return places.map(([x, y]) => [...ink.getImageData(x, y, 1, 1).data].slice(0, 3));
}"""


def test_the_surroundings_of_a_picture_on_its_own_page_match_its_theme(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "tree.svg").write_text(drawn(tree_of([conversation([("a", "b")], 1)])), encoding="utf-8")
    for scheme, colour in (("light", (255, 255, 255)), ("dark", (13, 17, 23))):
        page = browser.new_page(color_scheme=scheme, viewport={"width": 500, "height": 900})  # type: ignore[arg-type]
        page.goto((tmp_path / "tree.svg").as_uri())
        shot = f"data:image/png;base64,{base64.b64encode(page.screenshot()).decode()}"
        page.goto("about:blank")
        assert page.evaluate(_PIXELS, [shot, [[5, 5], [250, 890], [495, 890]]]) == [list(colour)] * 3
        page.close()


def test_a_file_of_it_runs_and_requests_nothing(browser: Browser, tmp_path: Any) -> None:
    (tmp_path / "tree.svg").write_text(drawn(hostile(), labelled()), encoding="utf-8")
    page = browser.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("dialog", lambda dialog: asked.append(dialog.message))
    page.goto((tmp_path / "tree.svg").as_uri())
    assert page.evaluate("document.documentElement.tagName") == "svg"
    assert page.evaluate("document.querySelectorAll('script, parsererror').length") == 0
    assert asked == [(tmp_path / "tree.svg").as_uri()]
    page.close()


def test_ends_of_several_kinds_after_one_turn_are_several_ends_in_the_picture() -> None:
    """Also where an import gives reasons that no picture should hold."""
    outcomes = [
        *[("breakdown", "")] * 3,
        *[("user-stopped", "satisfied")] * 2,
        *(("user-stopped", one) for one in HOSTILE),
    ]
    tree = tree_of(
        [
            replace(conversation([("ask", "tell")], trial), outcome=Outcome(kind, reason))
            for trial, (kind, reason) in enumerate(outcomes, 1)
        ]
        + [replace(conversation([("ask", "tell"), ("more", "told")], 99), outcome=Outcome("turn-limit", "2"))]
    )
    said = words(drawn(tree))
    n = len(outcomes) + 1
    for name, count in (("breakdown", 3), ("user-stopped (satisfied)", 2)):
        assert name in said
        assert f"{count}/{n}" in said
    assert said.count("turn-limit") == 1
    assert not any(one.startswith("ended (") for one in said)
    assert max(column_width(one) for one in said if one.startswith("user-stopped")) <= 80
    lone = words(drawn(tree_of([conversation([("ask", "tell")], trial, outcome="breakdown") for trial in (1, 2)])))
    assert lone.count("breakdown") == 1
