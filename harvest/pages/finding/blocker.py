"""An obstacle before a conversation, and tests of the elements that may be one."""

from dataclasses import dataclass

from harvest.pages.reading.page import Box, Node, Page


@dataclass(frozen=True, slots=True)
class Blocker:
    """An obstacle before a conversation, or a sign that a turn has failed.

    - `kind`: consent or modal (these two can be clicked away), login, captcha, rate-limit, error or maintenance.
    - `excerpt`: at most 300 characters of its text.
    - `node`: its element, or None if only the traffic shows the obstacle.
    - `dismiss`: the button that closes the obstacle, or None if there is no button. `stronger` lists further buttons
      in case `dismiss` has no effect; the button that agrees to least comes first.
    - `why`: the reasons, in words.
    """

    kind: str
    excerpt: str
    node: Node | None
    dismiss: Node | None
    why: tuple[str, ...]
    stronger: tuple[Node, ...] = ()


def appeared_after_send(node: Node) -> bool:
    """Return True if the element, or a text in it, appeared after the last send."""
    return any("h-born" in one.attributes or "h-said" in one.attributes for one in node.walk())


def is_inside_code(node: Node) -> bool:
    """Return True for code listings and elements in them. Class names in a listing describe only the listing."""
    return any(one.tag in ("pre", "code", "samp", "kbd") for one in (node, *node.ancestors()))


def overlap_area(one: Box, other: Box) -> float:
    """Return the area of the intersection, in square pixels."""
    width = min(one.right, other.right) - max(one.x, other.x)
    height = min(one.bottom, other.bottom) - max(one.y, other.y)
    return max(0.0, width) * max(0.0, height)


def covers_share(page: Page, node: Node, share: float) -> bool:
    """Return True if the element covers at least `share` of the window."""
    window = Box(0, 0, page.width, page.height)
    whole = page.width * page.height
    return node.box is not None and whole > 0 and overlap_area(node.box, window) >= share * whole
