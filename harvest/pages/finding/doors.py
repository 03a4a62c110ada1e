"""Forms before a chat: fields to fill in, tick or choose before anybody may type."""

from dataclasses import dataclass

from harvest.pages.finding.discovery import find_composer, find_personal_question
from harvest.pages.finding.labels import is_button, labels_of, role_of
from harvest.pages.finding.notices import ACCEPT
from harvest.pages.finding.selectors import selector_for
from harvest.pages.finding.weighing import is_shown
from harvest.pages.finding.wordings import OPEN_CHAT, SEND, Wording
from harvest.pages.reading.page import Node, Page

_CONTINUE = Wording("""
    next | proceed | join | enter | join chat | start | weiter | los geht's | beitreten | chat beginnen | suivant |
    commencer | démarrer | siguiente | comenzar | avançar | começar | avanti | inizia | volgende | verder | dalej |
    rozpocznij | ileri | başla | далее | начать | التالي | ابدأ | आगे | शुरू करें | 次へ | 開始 | 下一步 | 开始 | 開始聊天 |
    다음 | 시작
""")
_CONTINUE_WORDINGS = (_CONTINUE, OPEN_CHAT, ACCEPT, SEND)
_FILLED_INPUTS = frozenset({"", "text", "email", "tel", "number", "date", "url", "search"})
_GOOD_SCORE = 0.5  # score from which a text box is one to talk in and not a field of the form
_EXAMPLES = {"email": "audit@example.org", "tel": "000", "number": "1", "date": "2000-01-01"}


@dataclass(frozen=True, slots=True)
class Door:
    """A form before a chat. `asks` lists the questions of its fields, in the page's own words. `fields` maps the
    selector of each field to a text that could be entered, or to True for a box to tick. `button` is a selector of
    the button that leads on, or None if no selector could be made."""

    asks: tuple[str, ...]
    fields: tuple[tuple[str, str | bool], ...]
    button: str | None

    @property
    def entries(self) -> tuple[str, ...]:
        """The entries for `fill`, as written in a site file."""
        return tuple(f"{_quote(css)}: {'true' if text is True else _quote(str(text))}" for css, text in self.fields)

    @property
    def advice(self) -> str:
        """The lines to add to a site file, joined by "and"."""
        lines = [f"fill: {{{', '.join(self.entries)}}}"] if self.fields else []
        lines += [f"open: [{_quote(self.button)}]"] if self.button else []
        return " and ".join(lines)


def find_door(page: Page) -> Door | None:
    """Find a form with a button to continue that asks for the user's identity or for consent to terms. Returns None if
    there is no such form. A box for the chat itself and a log-in form do not count."""
    talk = {one.node for one in find_composer(page) if one.score >= _GOOD_SCORE}
    asking = [node for node in page.walk() if is_shown(node) and node not in talk and _asks_who(page, node)]
    if not asking or any(node.get("type") == "password" and node.visible for node in page.walk()):
        return None
    form = _form_of(asking[0])
    buttons = [
        node
        for node in form.walk()
        if is_button(node) and is_shown(node)
        if any(name in way for name in labels_of(page, node) if len(name) <= 60 for way in _CONTINUE_WORDINGS)
    ]
    codes = (f"{one.get('class')} {one.get('id')}".lower() for one in (form, *form.ancestors()))
    named = (word in code for code in codes for word in ("chat", "messenger", "assistant"))
    if not buttons and not talk and not any(named):
        return None
    asks: list[str] = []
    fields: list[tuple[str, str | bool]] = []
    for node in page.walk():
        ticked = role_of(node) == "checkbox"
        if not node.is_within(form) or node in talk or not _is_field(node) or not (is_shown(node) or ticked):
            continue
        names = _tick_names(page, node) if ticked else labels_of(page, node)
        asks.append(next((name[:60] for name in names if name), find_personal_question(page, node)[:60] or node.tag))
        if css := selector_for(page, node):
            example = "one of its options" if node.tag == "select" else _EXAMPLES.get(node.get("type").lower(), "Audit")
            fields.append((css, True if ticked else example))
    return Door(tuple(asks), tuple(fields), selector_for(page, buttons[-1]) if buttons else None)


def _asks_who(page: Page, node: Node) -> bool:
    if role_of(node) == "checkbox":
        return any(name in ACCEPT for name in _tick_names(page, node))
    if node.tag == "textarea":
        return bool(find_personal_question(page, node))
    if node.tag != "input" or node.get("type").lower() not in _FILLED_INPUTS - {"search"}:
        return False
    return node.get("type") in ("email", "tel") or bool(find_personal_question(page, node))


def _is_field(node: Node) -> bool:
    if not node.visible or "h-off" in node.attributes:
        return False
    return (
        (node.tag == "select" and not node.get("h-value"))
        or node.tag == "textarea"
        or role_of(node) == "checkbox"
        or (node.tag == "input" and node.get("type").lower() in _FILLED_INPUTS)
    )


def _form_of(field: Node) -> Node:
    for around in field.ancestors():
        if around.tag in ("form", "dialog", "fieldset") or role_of(around) in ("form", "dialog"):
            return around
        if any(is_button(node) and is_shown(node) for node in around.walk()):
            return around
    return field.parent or field


def _tick_names(page: Page, node: Node) -> tuple[str, ...]:
    around = node.parent
    return (*labels_of(page, node), *((around.text,) if around is not None and len(around.text) <= 200 else ()))


def _quote(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
