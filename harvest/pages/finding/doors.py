"""Doors before a chat: what a page wants to be told, ticked or chosen before one may talk."""

from dataclasses import dataclass

from harvest.pages.finding.discovery import find_composer, who_is_asked
from harvest.pages.finding.labels import is_button, labels_of, role_of
from harvest.pages.finding.notices import ACCEPT
from harvest.pages.finding.selectors import selector_for
from harvest.pages.finding.weighing import is_shown
from harvest.pages.finding.wordings import OPEN_CHAT, SEND, Wording
from harvest.pages.reading.page import Node, Page

_ON = Wording("""
    next | proceed | join | enter | join chat | start | weiter | los geht's | beitreten | chat beginnen | suivant |
    commencer | démarrer | siguiente | comenzar | avançar | começar | avanti | inizia | volgende | verder | dalej |
    rozpocznij | ileri | başla | далее | начать | التالي | ابدأ | आगे | शुरू करें | 次へ | 開始 | 下一步 | 开始 | 開始聊天 |
    다음 | 시작
""")
_FILLED = frozenset({"", "text", "email", "tel", "number", "date", "url", "search"})
_GOOD = 0.5  # of a box to type in, which is then no field of a door


@dataclass(frozen=True, slots=True)
class Door:
    """asks: what its fields ask for, in the page's own words. fields: their selectors, with what may be written there;
    True: to be ticked. button: the selector of what leads on, None where there is none to be named."""

    asks: tuple[str, ...]
    fields: tuple[tuple[str, str | bool], ...]
    button: str | None

    @property
    def entries(self) -> tuple[str, ...]:
        """The entries of `fill`, as a site file has them."""
        return tuple(f"{_quote(css)}: {'true' if text is True else _quote(str(text))}" for css, text in self.fields)

    @property
    def advice(self) -> str:
        """What a site file needs, in one line."""
        lines = [f"fill: {{{', '.join(self.entries)}}}"] if self.fields else []
        lines += [f"open: [{_quote(self.button)}]"] if self.button else []
        return " and ".join(lines)


def find_door(page: Page) -> Door | None:
    """The form that asks who is talking, or for consent to terms, with a button that leads on; None where there is
    none. A box to talk in, and a form to log in by, are none."""
    talk = {one.node for one in find_composer(page) if one.score >= _GOOD}
    found = [node for node in page.walk() if is_shown(node) and node not in talk and _asks(page, node)]
    if not found or any(node.get("type") == "password" and node.visible for node in page.walk()):
        return None
    form = _form_of(found[0])
    buttons = [node for node in form.walk() if is_button(node) and is_shown(node) and _leads_on(page, node)]
    fields = [node for node in page.walk() if node.within(form) and node not in talk and _is_field(node)]
    if not buttons and len(talk) == 0 and not any(_named_form(one) for one in (form, *form.ancestors())):
        return None
    told = [(_door_name(page, node), node) for node in fields if is_shown(node) or role_of(node) == "checkbox"]
    named = [(selector_for(page, node), _example(node)) for _, node in told]
    button = selector_for(page, buttons[-1]) if buttons else None
    return Door(tuple(what for what, _ in told), tuple((css, text) for css, text in named if css), button)


def _asks(page: Page, node: Node) -> bool:
    """Whether it is a field that asks who is talking, or a box to tick for terms."""
    if role_of(node) == "checkbox":
        return any(name in ACCEPT for name in _tick_names(page, node))
    if node.tag == "textarea":
        return bool(who_is_asked(page, node))
    if node.tag != "input" or node.get("type").lower() not in _FILLED - {"search"}:
        return False
    return node.get("type") in ("email", "tel") or bool(who_is_asked(page, node))


def _is_field(node: Node) -> bool:
    if not node.visible or "h-off" in node.attributes:
        return False
    return (
        (node.tag == "select" and not node.get("h-value"))
        or node.tag == "textarea"
        or role_of(node) == "checkbox"
        or (node.tag == "input" and node.get("type").lower() in _FILLED)
    )


def _form_of(field: Node) -> Node:
    """What its page puts together with the field: a form, a window, or the nearest element with a button."""
    for around in field.ancestors():
        if around.tag in ("form", "dialog", "fieldset") or role_of(around) in ("form", "dialog"):
            return around
        if any(is_button(node) and is_shown(node) for node in around.walk()):
            return around
    return field.parent or field


def _named_form(node: Node) -> bool:
    return any(word in f"{node.get('class')} {node.get('id')}".lower() for word in ("chat", "messenger", "assistant"))


def _leads_on(page: Page, node: Node) -> bool:
    names = [name for name in labels_of(page, node) if len(name) <= 60]
    return any(name in wording for name in names for wording in (_ON, OPEN_CHAT, ACCEPT, SEND))


def _tick_names(page: Page, node: Node) -> tuple[str, ...]:
    around = node.parent
    return (*labels_of(page, node), *((around.text,) if around is not None and len(around.text) <= 200 else ()))


def _door_name(page: Page, node: Node) -> str:
    names = _tick_names(page, node) if role_of(node) == "checkbox" else labels_of(page, node)
    return next((name[:60] for name in names if name), who_is_asked(page, node)[:60] or node.tag)


def _example(node: Node) -> str | bool:
    if role_of(node) == "checkbox":
        return True
    if node.tag == "select":
        return "one of its options"
    kind = node.get("type").lower()
    return {"email": "audit@example.org", "tel": "000", "number": "1", "date": "2000-01-01"}.get(kind, "Audit")


def _quote(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
