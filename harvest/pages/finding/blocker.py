"""Something in the way of a conversation."""

from dataclasses import dataclass

from harvest.pages.reading.page import Box, Node, Page


@dataclass(frozen=True, slots=True)
class Blocker:
    """kind: consent, modal (both to be clicked away), login, captcha, rate-limit, error, maintenance.

    excerpt: what it says, at most 300 characters. node: the element, None where only traffic tells of it. dismiss:
    what to click to be rid of it; None: nothing. why: the signs, in words. stronger: what else would answer it, the
    button that agrees to least first, for where `dismiss` does not make it go.
    """

    kind: str
    excerpt: str
    node: Node | None
    dismiss: Node | None
    why: tuple[str, ...]
    stronger: tuple[Node, ...] = ()


def came_since(node: Node) -> bool:
    """Whether it, or something it says, came after the last send."""
    return any("h-born" in one.attributes or "h-said" in one.attributes for one in node.walk())


def inside_code(node: Node) -> bool:
    """Whether it is a listing or within one, where class names say what the listing is about."""
    return any(one.tag in ("pre", "code", "samp", "kbd") for one in (node, *node.ancestors()))


def overlap(one: Box, other: Box) -> float:
    """Square pixels they have in common."""
    width = min(one.right, other.right) - max(one.x, other.x)
    height = min(one.bottom, other.bottom) - max(one.y, other.y)
    return max(0.0, width) * max(0.0, height)


def covers(page: Page, node: Node, share: float) -> bool:
    """Whether it takes at least that share of the window."""
    window = Box(0, 0, page.width, page.height)
    whole = page.width * page.height
    return node.box is not None and whole > 0 and overlap(node.box, window) >= share * whole
