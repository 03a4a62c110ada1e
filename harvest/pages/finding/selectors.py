"""CSS selectors for elements of a page: short, unique on it, and made of what is likely to be there tomorrow.

Marks meant for tests and people come first (test ids, ids, labels, names), then roles and types, then classes that
read like words; what a build tool made up is not used. A selector never crosses the edge of a shadow root, since CSS
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
    """Whether a class is likely to be there after the next build, in every state, and to say what the element is."""
    if not re.fullmatch(r"[A-Za-z_][\w-]*", name) or len(name) > 60:
        return False
    return not (_made_up(name) or _STATES.search(name) or _UTILITY.match(name))


def stable_id(name: str) -> bool:
    """Whether an id is likely to be the same at the next visit: no counter, no hash."""
    return (
        bool(re.fullmatch(r"[A-Za-z_][\w-]*", name))
        and len(name) <= 60
        and not _made_up(name)
        and not _has_counter(name)
    )


def _has_counter(name: str) -> bool:
    return bool(re.search(r"\d{2,}|[-_:]\d+(?:$|[-_:])", name))


def _made_up(name: str) -> bool:
    """Whether a part of the name looks like a hash: digits among letters, or letters no word is made of."""
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
    """One element's part of a selector, of the kinds that are written here."""

    tag: str = ""
    id: str = ""
    classes: tuple[str, ...] = ()
    attributes: tuple[tuple[str, str], ...] = ()
    place: int = 0  # among siblings, from 1; 0: not said

    def css(self) -> str:
        attributes = "".join(f'[{name}="{_quote(value)}"]' for name, value in self.attributes)
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
    """Compounds from an outer element to the one that is meant.

    direct: whether each next one is a child of the one before.
    """

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
        for parent in _same_root(node):
            if self.parts[index].fits(parent) and self._above(parent, index - 1):
                return True
            if self.direct[index]:
                return False
        return False


def selector_for(page: Page, node: Node) -> str | None:
    """A selector that matches this element and no other one in the page; None if there is none to be had."""
    everything = list(page.walk())
    for path in _paths(node):
        if _only(everything, path, (node,)):
            return path.css()
    return None


def selector_for_all(page: Page, nodes: Sequence[Node], never: Collection[Node] | None = None) -> str | None:
    """A selector that matches all of these elements; None if there is none to be had.

    never: elements it must not match, neither them nor what is within them or around them; it may match others then.
    Not given: nothing but `nodes`.
    """
    if not nodes:
        return None
    everything = list(page.walk())
    wanted = {id(node) for node in nodes}
    for compound in _shared_compounds(nodes):
        for path in (_Path((compound,)), *_with_shared_parent(nodes, compound)):
            matched = [one for one in everything if path.fits(one)]
            if not wanted <= {id(one) for one in matched}:
                continue
            others = [one for one in matched if id(one) not in wanted]
            if never is None:
                if not others:
                    return path.css()
            elif not any(_touches(one, (*never, *nodes)) for one in others):
                return path.css()
    return None


def _touches(node: Node, those: Collection[Node]) -> bool:
    return any(node.within(one) or one.within(node) for one in those)


def _only(everything: list[Node], path: _Path, nodes: Sequence[Node]) -> bool:
    wanted = {id(node) for node in nodes}
    return {id(one) for one in everything if path.fits(one)} == wanted


def _paths(node: Node) -> Iterator[_Path]:
    """Selectors that match the element, the best first; not yet known to be unique."""
    own = list(_compounds(node))
    for compound in own:
        yield _Path((compound,))
    above = _same_root(node)[:_MOST_STEPS]
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
    yield from _paths_by_place(node, above)


def _paths_by_place(node: Node, above: list[Node]) -> Iterator[_Path]:
    """By position, from the nearest element around it that can be named, or from the top of its root."""
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
    """What can be said of the element itself, the most telling first."""
    if node.tag == "h-page":
        return
    for name in _TEST_IDS:
        if node.get(name) and not _has_counter(node.get(name)) and len(node.get(name)) <= 60:
            yield _Compound(attributes=((name, node.get(name)),))
    if node.get("id") and stable_id(node.get("id")):
        yield _Compound(id=node.get("id"))
    if "-" in node.tag:
        yield _Compound(tag=node.tag)  # a custom element says what it is
    marks = [(name, node.get(name)) for name in _MARKS if _telling(node, name)]
    for mark in marks:
        yield _Compound(tag=node.tag, attributes=(mark,))
    yield from _class_compounds(node)
    kinds = [(name, node.get(name)) for name in _KINDS if _telling(node, name)]
    for pair in combinations((*marks, *kinds), 2):
        yield _Compound(tag=node.tag, attributes=pair)
    for mark in kinds:
        yield _Compound(tag=node.tag, attributes=(mark,))


def _telling(node: Node, name: str) -> bool:
    value = node.get(name)
    return bool(value) and len(value) <= 80 and "\n" not in value and not _has_counter(value)


def _class_compounds(node: Node) -> Iterator[_Compound]:
    named = [name for name in node.classes if stable_class(name)][:_MOST_CLASSES]
    named.sort(key=lambda name: -len(name))
    for name in named:
        yield _Compound(classes=(name,))
    for name in named:
        yield _Compound(tag=node.tag, classes=(name,))
    for pair in combinations(named, 2):
        yield _Compound(classes=pair)


def _shared_compounds(nodes: Sequence[Node]) -> Iterator[_Compound]:
    """What can be said of all of them."""
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
    tags = {node.tag for node in nodes}
    if len(tags) == 1:
        yield _Compound(tag=first.tag)


def _with_shared_parent(nodes: Sequence[Node], compound: _Compound) -> Iterator[_Path]:
    """The same, within something that is around all of them, or around each."""
    first = _same_root(nodes[0])[:_MOST_STEPS]
    for index, parent in enumerate(first):
        for outer in _compounds(parent):
            if outer.place or (outer.tag and not outer.attributes):
                continue
            if index == 0:
                yield _Path((outer, compound), (True,))
            yield _Path((outer, compound), (False,))


def _same_root(node: Node) -> list[Node]:
    """The elements around it that CSS can name together with it: up to the edge of its shadow root."""
    found = []
    for parent in node.ancestors():
        if "h-shadow" in parent.attributes or parent.tag in ("slot", "h-page"):
            break
        found.append(parent)
    return found


def _place(node: Node) -> int:
    """Its place among its siblings of the same tag: the snapshot has no scripts and styles to count."""
    alike = [one for one in node.parent.elements if one.tag == node.tag] if node.parent is not None else [node]
    return next(number for number, one in enumerate(alike, 1) if one is node)


def _quote(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"')
