"""CSS selectors for elements of a page: short, unique on the page, and likely to match again tomorrow.

Marks meant for tests and people come first (test ids, ids, labels, names), then roles and types, then classes that read
like words; names that a build tool made up are not used. A selector never crosses the edge of a shadow root, since CSS
does not, and position among siblings is the last resort.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from harvest.pages.reading.page import Node, Page

_TEST_IDS = ("data-testid", "data-test-id", "data-test", "data-qa", "data-cy")
_MARKS = ("aria-label", "name", "placeholder", "title", "data-placeholder")
_KINDS = ("role", "type")
_FOR_MANY = ("role", "type", "itemtype")
_PREFIX_MADE = re.compile(
    r"^(?:css|sc|jsx|jss|emotion|svelte|astro|makeStyles|Mui\w*-\w*\d|tss|ng-tns|ng-c|_ngcontent|_nghost|v|radix|headlessui|mantine"
    r"|ember|react-aria|chakra|r|st|e|cls|class|tw)[-_:]?(?=[-_:]|$|[a-zA-Z]*\d)",
)
_STATES = re.compile(
    r"^(?:is-|has-|js-)?(?:active|hover|hovered|focus|focused|focus-visible|focus-within|open|opened|closed|selected|disabled"
    r"|enabled|loading|loaded|visible|hidden|show|shown|hide|collapsed|expanded|empty|dirty|pristine|touched|untouched|valid"
    r"|invalid|checked|new|last|first|odd|even|dark|light|no-label|animate\S*|fade\S*|enter\S*|leave\S*|transition\S*)$"
    r"|(?:^|[-_])(?:disabled|active|focused|hidden|loading|selected|last|first|empty)(?:[-_]|$)",
    re.IGNORECASE,
)
_UTILITY = re.compile(
    r"^-?(?:[mp][trblxyse]?|w|h|min-[wh]|max-[wh]|gap(?:-[xy])?|space-[xy]|text|font|leading|tracking|bg|border(?:-[trblxy])?"
    r"|rounded(?:-[trblse]{1,2})?|shadow|ring(?:-offset)?|outline|opacity|z|top|left|right|bottom|inset(?:-[xy])?|flex|grid"
    r"|col|row|order|basis|grow|shrink|items|justify|content|self|place|overflow(?:-[xy])?|object|cursor|select|duration|delay"
    r"|ease|transition|transform|translate(?:-[xy])?|rotate|scale|origin|align|whitespace|break|line-clamp|size|aspect|fill"
    r"|stroke|divide(?:-[xy])?|from|via|to|resize|appearance|pointer-events|backdrop|blur|sr|not-sr|d|fs|fw|lh|g|gx|gy|offset)"
    r"-(?:\d|\[|auto|full|fit|none|xs|sm|base|md|lg|xl|px|screen|min|max|start|end|center|between|stretch|hidden|clip|scroll|only"
    r"|all|left|right|top|bottom|bold|medium|normal|semibold|light|mono|sans|serif|wrap|nowrap|col|row|cover|contain|ellipsis"
    r"|white|black|current|transparent|inherit|muted|primary|secondary|accent|foreground|background|destructive|card|input|ring"
    r"|border|popover|[a-z]+-\d{2,3}|inline|flex|words|x|y|t|r|b|l)"
    r"|^(?:absolute|relative|fixed|sticky|static|block|inline|inline-block|inline-flex|hidden|truncate|italic|underline|uppercase"
    r"|lowercase|capitalize|antialiased|container|row|col|clearfix|group|peer|visible|invisible|contents|isolate|border|prose|flex"
    r"|grid|rounded|shadow|outline|ring|transition|transform|resize|grow|shrink|blur|[wh]-\w+|[mp][trblxyse]?-\w+)$"
)
_VOWEL = re.compile(r"[aeiouy]", re.IGNORECASE)
_MOST_STEPS = 12  # up from an element
_EVERYWHERE = ("div", "span", "body")
_MOST_CLASSES = 4  # utility frameworks give an element dozens


def stable_class(name: str) -> bool:
    """True if a class is likely to be there after the next build and in every state, and describes the element."""
    if not re.fullmatch(r"[A-Za-z_][\w-]*", name) or len(name) > 60:
        return False
    return not (_made_up(name) or _STATES.search(name) or _UTILITY.match(name))


def stable_id(name: str) -> bool:
    """True if an id is likely to be the same at the next visit: without a counter or a hash."""
    plain = bool(re.fullmatch(r"[A-Za-z_][\w-]*", name)) and len(name) <= 60
    return plain and not _made_up(name) and not _has_counter(name)


def _has_counter(name: str) -> bool:
    return bool(re.search(r"\d{2,}|[-_:]\d+(?:$|[-_:])", name))


def _made_up(name: str) -> bool:
    """True if a part of the name looks like a hash: digits among letters, or letters that are not a word."""
    if _PREFIX_MADE.match(name) and (
        re.search(r"\d", name) or name.startswith(("css-", "sc-", "jsx-", "svelte-", "emotion-"))
    ):
        return True
    if re.search(r"__[A-Za-z0-9+]{5,8}$", name) and _is_mixed(name.rsplit("__", 1)[1]):
        return True
    return any(_is_mixed(part) for part in re.split(r"[-_]+", name) if len(part) >= 5) or _has_counter(name)


def _is_mixed(part: str) -> bool:
    digits = sum(character.isdigit() for character in part)
    if digits and digits < len(part) and re.search(r"\d[A-Za-z]|[A-Za-z]\d+[A-Za-z]", part):
        return True
    if digits >= 3:
        return True
    turns = len(re.findall(r"[a-z][A-Z]|[A-Z]{2}[a-z]", part))
    humps = re.findall(r"[A-Z]?[a-z]+", part)
    return (turns >= 2 and any(len(hump) <= 2 for hump in humps[1:])) or (len(part) >= 5 and not _VOWEL.search(part))


@dataclass(frozen=True, slots=True)
class _Compound:
    """Describes one element. `place` counts from 1 among siblings of the same tag; 0 means any."""

    tag: str = ""
    id: str = ""
    classes: tuple[str, ...] = ()
    attributes: tuple[tuple[str, str], ...] = ()
    place: int = 0  # among siblings, from 1; 0: not said

    def css(self) -> str:
        quoted = ((name, value.replace("\\", "\\\\").replace('"', '\\"')) for name, value in self.attributes)
        attributes = "".join(f'[{name}="{value}"]' for name, value in quoted)
        classes = "".join(f".{name}" for name in self.classes)
        text = self.tag + (f"#{self.id}" if self.id else "") + classes + attributes
        return f"{text}:nth-of-type({self.place})" if self.place else text

    def fits(self, node: Node) -> bool:
        if (self.tag and node.tag != self.tag) or (self.id and node.get("id") != self.id):
            return False
        if self.classes and not set(self.classes) <= set(node.classes):
            return False
        if any(node.attributes.get(name) != value for name, value in self.attributes):
            return False
        return not self.place or _place(node) == self.place


@dataclass(frozen=True, slots=True)
class _Path:
    """Compounds from an outer element to the target. `direct` is True for each that is a child of the one before."""

    parts: tuple[_Compound, ...]
    direct: tuple[bool, ...] = field(default=())

    def css(self) -> str:
        text = self.parts[0].css()
        for direct, part in zip(self.direct, self.parts[1:]):
            text += (" > " if direct else " ") + part.css()
        return text

    def fits(self, node: Node) -> bool:
        return self.parts[-1].fits(node) and self._above(node, len(self.parts) - 2)

    def _above(self, node: Node, index: int) -> bool:
        if index < 0:
            return True
        for parent in _nodes_in_same_root(node):
            if self.parts[index].fits(parent) and self._above(parent, index - 1):
                return True
            if self.direct[index]:
                return False
        return False


def selector_for(page: Page, node: Node) -> str | None:
    """Return a selector that matches only this element on the page; None if none can be made."""
    everything = list(page.walk())
    return next((path.css() for path in _paths(node) if [one for one in everything if path.fits(one)] == [node]), None)


def selector_for_all(page: Page, nodes: Sequence[Node], never: Collection[Node] | None = None) -> str | None:
    """Return a selector that matches all of these elements; None if none can be made.

    never: elements that it must not match, nor anything inside or around them; it may match other elements then. If not
    given, it matches `nodes` only.
    """
    if not nodes:
        return None
    everything = list(page.walk())
    wanted = {id(node) for node in nodes}
    for compound in _shared_compounds(nodes):
        paths = [_Path((compound,))]
        # The same compound inside an element around the nodes.
        for index, parent in enumerate(_nodes_in_same_root(nodes[0])[:_MOST_STEPS]):
            for outer in _compounds(parent):
                if not outer.place and (not outer.tag or outer.attributes):
                    paths += [_Path((outer, compound), (True,))] if index == 0 else []
                    paths.append(_Path((outer, compound), (False,)))
        for path in paths:
            matched = [one for one in everything if path.fits(one)]
            if not wanted <= {id(one) for one in matched}:
                continue
            others = [one for one in matched if id(one) not in wanted]
            if never is None:
                if not others:
                    return path.css()
            elif not any(one.within(other) or other.within(one) for one in others for other in (*never, *nodes)):
                return path.css()
    return None


def _paths(node: Node) -> Iterator[_Path]:
    """Yield selectors that match the element, the best first; they may match others, too."""
    own = list(_compounds(node))
    for compound in own:
        yield _Path((compound,))
    above = _nodes_in_same_root(node)[:_MOST_STEPS]
    plain = [*own, _Compound(tag=node.tag)]
    for strong in (True, False):
        for parent in above:
            for outer in _compounds(parent):
                if bool(outer.id or outer.attributes) is strong:
                    for compound in plain:
                        yield _Path((outer, compound), (False,))
    for parent in above:
        if parent.tag not in _EVERYWHERE:
            for compound in plain:
                yield _Path((_Compound(tag=parent.tag), compound), (False,))
    # By position, from the nearest element around it that can be named, or from the top of its root.
    steps: list[_Compound] = [_Compound(tag=node.tag, place=_place(node))]
    for parent in above:
        for outer in (*_compounds(parent), *([_Compound(tag=parent.tag)] if parent.tag not in _EVERYWHERE else [])):
            yield _Path((outer, *steps), (True,) * len(steps))
        if parent.tag != "h-page":
            steps.insert(0, _Compound(tag=parent.tag, place=_place(parent)))
            yield _Path(tuple(steps), (True,) * (len(steps) - 1))
    if len(steps) == 1:
        yield _Path(tuple(steps))


def _compounds(node: Node) -> Iterator[_Compound]:
    if node.tag == "h-page":
        return
    for name in _TEST_IDS:
        if node.get(name) and not _has_counter(node.get(name)) and len(node.get(name)) <= 60:
            yield _Compound(attributes=((name, node.get(name)),))
    if node.get("id") and stable_id(node.get("id")):
        yield _Compound(id=node.get("id"))
    if "-" in node.tag:
        yield _Compound(tag=node.tag)  # the name of a custom element says what it is
    marks = [(name, node.get(name)) for name in _MARKS if _is_telling(node, name)]
    for mark in marks:
        yield _Compound(tag=node.tag, attributes=(mark,))
    classes = [name for name in node.classes if stable_class(name)][:_MOST_CLASSES]
    classes.sort(key=lambda name: -len(name))
    for name in classes:
        yield _Compound(classes=(name,))
    for name in classes:
        yield _Compound(tag=node.tag, classes=(name,))
    for names in combinations(classes, 2):
        yield _Compound(classes=names)
    kinds = [(name, node.get(name)) for name in _KINDS if _is_telling(node, name)]
    for pair in combinations((*marks, *kinds), 2):
        yield _Compound(tag=node.tag, attributes=pair)
    for mark in kinds:
        yield _Compound(tag=node.tag, attributes=(mark,))


def _is_telling(node: Node, name: str) -> bool:
    value = node.get(name)
    return bool(value) and len(value) <= 80 and "\n" not in value and not _has_counter(value)


def _shared_compounds(nodes: Sequence[Node]) -> Iterator[_Compound]:
    first = nodes[0]
    for name in _TEST_IDS:
        if first.get(name) and all(node.get(name) == first.get(name) for node in nodes):
            yield _Compound(attributes=((name, first.get(name)),))
    data = [name for name in first.attributes if name.startswith("data-") and name not in _TEST_IDS]
    for name in (*data, *_FOR_MANY):
        value = first.get(name)
        if value and len(value) <= 60 and not _has_counter(value) and all(node.get(name) == value for node in nodes):
            yield _Compound(attributes=((name, value),))
    classes = [name for name in first.classes if stable_class(name) and all(name in node.classes for node in nodes)]
    classes.sort(key=lambda name: -len(name))
    for name in classes:
        yield _Compound(classes=(name,))
    for pair in combinations(classes[:_MOST_CLASSES], 2):
        yield _Compound(classes=pair)
    if len({node.tag for node in nodes}) == 1:
        yield _Compound(tag=first.tag)


def _nodes_in_same_root(node: Node) -> list[Node]:
    """Return the elements around it that CSS can name together with it: up to the edge of its shadow root."""
    found = []
    for parent in node.ancestors():
        if "h-shadow" in parent.attributes or parent.tag in ("slot", "h-page"):
            break
        found.append(parent)
    return found


def _place(node: Node) -> int:
    """Return its position, from 1, among siblings of the same tag; the page has no scripts and styles to count."""
    alike = [one for one in node.parent.elements if one.tag == node.tag] if node.parent is not None else [node]
    return next(number for number, one in enumerate(alike, 1) if one is node)
