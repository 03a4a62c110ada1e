"""Links in a panel beside the chat that come with an answer are its sources; menus and advertisements are not."""

from __future__ import annotations

import pytest

from harvest.pages.reading.page import Page
from harvest.pages.reading.page_text import PageText
from harvest.pages.reading.turn import LINKS_NOTE, STOOD_NOTE, Habits, ReadTurn, learn_habits, read_turn
from protocols.answer import Source
from tests.support.snapshots import COMPOSER, snapshot

SAID = "Who built the pier?"
HERE = "https://pier.example/1"
LINKS = ((HERE, "The pier"), ("https://coast.example/2", "Coast"))
SOURCES = tuple(Source(href, title) for href, title in LINKS)


def items(*links: tuple[str, str], number: int = 50, born: str = ' h-born="900"') -> str:
    return "".join(
        f'<li h-id="{number + 2 * at}"{born}><a h-id="{number + 2 * at + 1}" href="{href}"{born}>{title}</a></li>'
        for at, (href, title) in enumerate(links)
    )


def page(panel: str, *, answered: bool = True) -> Page:
    turn = (
        f'<div class="m u" h-id="11" h-born="5">{SAID}</div><div class="m b" h-id="12" h-born="300">Ada did.</div>'
        if answered
        else ""
    )
    chat = f'<main h-id="2"><div id="log" h-id="3"><div class="m b" h-id="10">Hello.</div>{turn}</div>{COMPOSER}</main>'
    return snapshot(f'<div h-id="1">{chat}{panel}</div>')


def read(before: str, now: str, habits: Habits | None = None) -> ReadTurn:
    return read_turn(page(now), SAID, before=PageText(page(before, answered=False)), habits=habits)


@pytest.mark.parametrize(
    "panel",
    [
        '<aside h-id="30"><h2 h-id="31">Sources</h2><ol h-id="32">{}</ol></aside>',
        '<div h-id="30"><div h-id="31"><b>Quellen (2)</b></div><ul h-id="32">{}</ul></div>',
        '<section h-id="30" class="answer-sources"><ul h-id="32">{}</ul></section>',
        '<div h-id="30" aria-label="References"><ul h-id="32">{}</ul></div>',
        '<div h-id="30"><ul h-id="32">{}</ul></div>',
    ],
)
def test_links_that_come_with_an_answer_into_a_panel_are_its_sources(panel: str) -> None:
    turn = read(panel.format(""), panel.format(items(*LINKS)))
    assert (turn.text, turn.answer.sources, turn.notes) == ("Ada did.", SOURCES, ())
    assert [link.href for link in turn.answer.links] == [source.href for source in SOURCES]
    # The next answer may have the same ones.
    habits = Habits.from_json(learn_habits(page(panel), turn).as_json())
    again = read(panel.format(items(*LINKS, born="")), panel.format(items(*LINKS, number=70)), habits)
    assert again.answer.sources == SOURCES
    # One with none leaves what stood there, or nothing.
    for left in (items(*LINKS, born=""), ""):
        assert read(panel.format(items(*LINKS, born="")), panel.format(left), habits).answer.sources == ()


def test_a_link_that_only_has_a_new_target_has_changed() -> None:
    panel = '<aside h-id="30"><h3 h-id="31">Sources</h3><ol h-id="32">{}</ol></aside>'
    turn = read(panel.format(items(LINKS[1], born="")), panel.format(items(LINKS[0], born="")))
    assert turn.answer.sources == SOURCES[:1]


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("<nav>{}</nav>", "<nav>{}</nav>"),
        ('<div class="history">{}</div>', '<div class="history">{}</div>'),
        ('<div class="ad-slot">{}</div>', '<div class="ad-slot">{}</div>'),
        ("<footer>{}</footer>", "<footer>{}</footer>"),
    ],
)
def test_menus_and_advertisements_are_not_sources(before: str, now: str) -> None:
    turn = read(before.format(""), now.format(items(*LINKS)))
    assert (turn.answer.sources, turn.notes) == ((), ())


def test_redrawn_links_are_not_sources_and_unnamed_changes_are_noted() -> None:
    panel = '<aside h-id="30"><ul h-id="32">{}</ul></aside>'
    stood = panel.format(items(*LINKS, born=""))
    assert read(stood, panel.format(items(*LINKS, number=70))).answer.sources == ()
    assert read(stood, panel.format(items(*LINKS, number=70))).notes == ()
    changed = read(stood, panel.format(items(("https://sea.example/", "Sea"), number=70)))
    assert (changed.answer.sources, changed.notes) == ((), (LINKS_NOTE,))


def test_a_panel_that_stays_as_it_was_is_noted() -> None:
    panel = '<aside h-id="30"><h3 h-id="31">Sources</h3><ol h-id="32">{}</ol></aside>'
    first = read(panel.format(""), panel.format(items(*LINKS)))
    habits = learn_habits(page(panel.format(items(*LINKS))), first)
    stood = panel.format(items(*LINKS, born=""))
    again = read(stood, stood, habits)
    assert (again.answer.sources, again.notes) == ((), (STOOD_NOTE,))
    gone = read(stood, panel.format(""), habits)
    assert (gone.answer.sources, gone.notes) == ((), ())
    anew = read(stood, panel.format(items(*LINKS, number=70)), habits)
    assert (anew.answer.sources, anew.notes) == (SOURCES, ())


def test_the_place_that_a_site_file_names_is_read_whatever_it_is_called() -> None:
    panel = '<nav h-id="30" h-site="sources">{}</nav>'
    stood = panel.format(items(*LINKS, born=""))
    more = items(*LINKS, born="") + items(("https://sea.example/", "Sea"), number=70)
    assert read(stood, stood).answer.sources == SOURCES
    assert read(stood, panel.format(more)).answer.sources == (Source("https://sea.example/", "Sea"),)
