"""What a page says and offers before anybody has typed: its greeting, and the ready-made turns next to it."""

from dataclasses import replace

from harvest.pages.finding.discovery import is_log
from harvest.pages.finding.labels import code_of
from harvest.pages.finding.wordings import NEW_CHAT, word_set
from harvest.pages.reading.page import Node, Page, markup, parse_page
from harvest.pages.reading.turn import read_bubbles
from protocols.answer import Answer, Offer

_SUGGESTION_CODE = word_set("""
    suggestion suggestions suggested starter starters example examples chip chips quickreply quickreplies replies
    prompts
""")
_ASIDE_TAGS = frozenset({"nav", "header", "footer", "aside", "dialog"})


def read_greeting(page: Page, composer: Node) -> tuple[Answer | None, tuple[tuple[Offer, Node], ...]]:
    """Return the greeting of a page before the first turn, with its offers, and each offer with its button. `composer`
    is the box to type in. The greeting is None if the page says and offers nothing."""
    said = [*_conversation(page, composer), *_suggestions(page)]
    bubbles = [node for node in said if not any(node is not other and node.is_within(other) for other in said)]
    if not bubbles:
        return None, ()
    turn = read_bubbles(parse_page(markup(page, bubbles)))
    offered = {
        offer.title: (offer, page.by_id[node.id])
        for offer, node in zip(turn.beside.offers, turn.buttons, strict=True)
        if node.id in page.by_id and not NEW_CHAT.is_all(offer.title)
    }
    # The name of the conversation is nothing that was said.
    named = {node.text for bubble in bubbles for node in bubble.walk() if node.tag == "label"}
    answer = Answer("") if turn.text in named else turn.answer
    if not answer.text and not offered:
        return None, ()
    return replace(answer, offers=tuple(offer for offer, _ in offered.values())), tuple(offered.values())


def _conversation(page: Page, composer: Node) -> list[Node]:
    """Return the element next to the box to type in that holds the conversation, or the site's replies."""
    if replies := [node for node in page.marked("reply") if node.visible]:
        return replies
    below = composer
    for parent in composer.ancestors():
        if logs := [one for one in parent.elements if one is not below and one.visible and is_log(one, height=1)]:
            return logs
        below = parent
    return []


def _suggestions(page: Page) -> list[Node]:
    """Return the elements whose code says that they hold ready-made turns."""
    return [
        node
        for node in page.walk()
        if node.visible
        and node.elements
        and code_of(node) & _SUGGESTION_CODE
        and not any(one.tag in _ASIDE_TAGS for one in node.self_and_ancestors())
    ]
