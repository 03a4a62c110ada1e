"""Where a page takes files, and what it shows of files that it was given before a turn is sent."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import takewhile

from harvest.pages.finding.labels import code_of, is_button, labels_of, role_of
from harvest.pages.finding.notices import FAULT
from harvest.pages.finding.weighing import is_shown
from harvest.pages.finding.wordings import Wording, word_set
from harvest.pages.reading.page import Node, Page, collapse_spaces, letters
from topics.sent_files import SentFile

_ATTACH = Wording("""
    attach* | upload* | add file* | add photo* | add image* | choose file* | select file* | browse* | from device |
    from computer | file | files | photos | anhängen | anhang | hochladen | datei* | joindre | pièce jointe | fichier* |
    téléverser | adjuntar | archivo* | subir | anexar | arquivo* | allega | carica | file bijvoegen | bijlage |
    bestand* | uploaden | załącz* | plik* | dosya* | прикрепить | файл* | загрузить | إرفاق | ملف | अटैच | फ़ाइल |
    अपलोड | 添付 | ファイル | アップロード | 附件 | 上传 | 上傳 | 文件 | 첨부 | 파일 | 업로드
""")
_MORE = Wording("plus | add | add more | more | tools | mehr | plus d'options | más | mais | altro | meer | ещё | 更多")
_REMOVE = Wording("""
    remove* | delete* | clear* | discard* | close | cancel* | entfernen | löschen | supprimer | retirer | quitar |
    eliminar | remover | rimuovi | elimina | verwijder* | usuń | kaldır | удалить | убрать | إزالة | حذف | हटाएं | 削除 |
    移除 | 删除 | 刪除 | 삭제 | 제거
""")
_REFUSED = Wording("""
    too large | too big | too many | not supported | unsupported | not allowed | not accepted | invalid | exceed* |
    rejected | zu groß | nicht unterstützt | nicht erlaubt | ungültig* | trop volumineu* | non pris en charge |
    no compatible* | no permitid* | demasiado grande | não suportad* | muito grande | non supportat* | troppo grande |
    te groot | niet ondersteund | слишком больш* | не поддержива* | サポートされて | 対応して | 大きすぎ | 不支持 |
    过大 | 太大 | 지원하지 | 너무 큽
""")
# What pages also say before anything went wrong.
_LIMITS = Wording("are supported | are allowed | are accepted | can be uploaded | maximum | max | at most | only")
_UNDERWAY = Wording("""
    uploading | processing file* | wird hochgeladen | lädt hoch | téléversement | chargement | subiendo | cargando |
    carregando | enviando | caricamento | przesyłanie | yükleniyor | загружается | загрузка | アップロード中 |
    上传中 | 上傳中 | 업로드 중
""")
_ATTACH_CODE = word_set("attach attachment attachments upload uploader file files paperclip clip dropzone")
_WORKING_CODE = word_set("uploading loading loader spinner spinning progress progressbar pending skeleton")
_FAILED_CODE = word_set("error failed failure invalid danger destructive rejected")
_TOAST_CODE = word_set("toast toasts snackbar notification notice alert")
_REMOVE_SIGNS = frozenset("×✕✖✗⨯xX")
_PERCENT = re.compile(r"(?<!\d)\d{1,2}\s?%")
_CUT = re.compile(r"…|\.{3}")
_LONGEST_NOTICE = 300  # characters: longer texts are not about a file
_NEAR_LEVELS = 6  # ancestors of the box to type in that belong to it and its buttons …
_NEAR_HEIGHT = 350  # … if they are at most so many CSS pixels higher
_LEAST_LETTERS = 3  # a shorter beginning of a name is no sign of it
_ENOUGH_LETTERS = 8
_PICTURES = frozenset({"img", "canvas", "video", "audio", "object"})


@dataclass(frozen=True, slots=True)
class UploadState:
    """What a page shows of files that it was given. `shown` is True if it shows them as attached, `working` is True
    while it seems to store them, and `complaint` is what it says if it did not take them, or "". `traces` are the
    texts that came or changed since."""

    shown: bool
    working: bool
    complaint: str
    traces: tuple[str, ...]


def find_file_fields(page: Page, composer: Node) -> tuple[list[Node], list[Node]]:
    """Return the fields for files around the box to type in, the nearest first, and those elsewhere. Most are hidden
    behind a button."""
    fields = [node for node in page.walk() if node.tag == "input" and role_of(node) == "file" and _is_on(node)]
    around = _surroundings(composer)
    near = [(next((at for at, one in enumerate(around) if node.is_within(one)), -1), node) for node in fields]
    return [node for at, node in sorted(near, key=lambda one: one[0]) if at >= 0], [n for at, n in near if at < 0]


def find_attach_buttons(page: Page, composer: Node) -> list[Node]:
    """Return the buttons around the box to type in that may open a choice of files, the most likely first. The last
    may open a menu that has one."""
    around = _surroundings(composer)
    buttons = [node for node in (around[-1] if around else composer).walk() if is_button(node) and is_shown(node)]
    buttons = [node for node in buttons if _is_on(node) and not node.is_within(composer) and not node.get("href")]
    named = [node for node in buttons if any(name in _ATTACH for name in labels_of(page, node))]
    coded = [node for node in buttons if node not in named and code_of(node, inside=True) & _ATTACH_CODE]
    menus = [
        node
        for node in buttons
        if node not in named
        and node not in coded
        and any(_MORE.is_all(name) or name.strip() in ("+", "＋") for name in labels_of(page, node))
    ]
    return [*named, *coded, *menus]


def find_menu_items(before: Page, now: Page) -> list[Node]:
    """Return what a press has brought that may choose a file: the items of a menu, and buttons."""
    return [
        node
        for node in _came(before, now)
        if (is_button(node) or role_of(node) in ("menuitem", "option"))
        and _is_on(node)
        and any(name in _ATTACH for name in labels_of(now, node))
    ]


def takes_type(accept: str, file: SentFile) -> bool:
    """Return True if a field with this attribute `accept` lets a person choose the file."""
    patterns = [one.strip().lower() for one in accept.split(",") if one.strip()]
    kind, name = file.type.lower(), file.name.lower()
    return not patterns or any(
        name.endswith(one) if one.startswith(".") else fnmatchcase(kind, one) for one in patterns
    )


def read_upload(before: Page, now: Page, composer: Node, files: Sequence[SentFile]) -> UploadState:
    """Return what the page shows of these files, compared with the page `before` it was given them. `composer` is the
    box to type in on the page `now`."""
    came = list(_came(before, now))
    named = all(count_names(now, one.name) > count_names(before, one.name) for one in files)
    around = _surroundings(composer)
    near = [node for node in came if around and node.is_within(around[-1])]
    pictured = any(node.tag in _PICTURES for node in near)
    removable = any(_removes(now, node) for node in near)
    marks = [sum(one.visible for one in page.marked("attached")) for page in (before, now)]
    return UploadState(
        marks[1] > marks[0] or named or pictured or removable,
        any(_is_working(node) for node in came),
        _complaint(came, files),
        tuple(node.text for node in came if node.has_text),
    )


def count_names(page: Page, name: str) -> int:
    """Count the visible elements that show a file's name, or its beginning if the page cuts it short."""
    whole, stem = letters(name), letters(name.rpartition(".")[0] or name)
    return sum(any(_is_name(said, whole, stem) for said in _sayings(node)) for node in page.walk() if node.visible)


def _is_name(said: str, whole: str, stem: str) -> bool:
    head = letters(_CUT.split(said, maxsplit=1)[0])
    if len(stem) < _LEAST_LETTERS:
        return bool(whole) and whole in letters(said)
    if _CUT.search(said):
        return len(head) >= _LEAST_LETTERS and stem.startswith(head)
    return stem[:_ENOUGH_LETTERS] in head


def _sayings(node: Node) -> Iterator[str]:
    """Yield the text directly in an element, and its names."""
    yield collapse_spaces(" ".join(child for child in node.children if isinstance(child, str)))
    yield from (node.get(name) for name in ("aria-label", "title", "alt", "h-value") if node.get(name))


def _came(before: Page, now: Page) -> Iterator[Node]:
    """Yield the visible elements that are new, were hidden, or say something else than before."""
    for node in now.walk():
        if node.visible and node.tag != "h-page":
            was = before.by_id.get(node.id)
            if was is None or not was.visible or tuple(_sayings(was)) != tuple(_sayings(node)):
                yield node


def _surroundings(composer: Node) -> list[Node]:
    """Return the elements around the box to type in, from the inside out, that belong to it and its buttons."""
    found: list[Node] = []
    tallest = (composer.box.height if composer.box is not None else 0.0) + _NEAR_HEIGHT
    for parent in takewhile(lambda one: one.tag not in ("body", "html", "h-page"), composer.ancestors()):
        high = parent.box is not None and parent.box.height > tallest
        if len(found) == _NEAR_LEVELS or high or _has_conversation(parent):
            break
        found.append(parent)
    return found


def _has_conversation(node: Node) -> bool:
    return any(one.get("role") in ("log", "feed") or one.tag in ("header", "nav") for one in node.walk())


def _is_on(node: Node) -> bool:
    return "h-off" not in node.attributes


def _removes(page: Page, node: Node) -> bool:
    names = labels_of(page, node) if is_button(node) else ()
    return any(name in _REMOVE or name.strip() in _REMOVE_SIGNS for name in names)


def _is_working(node: Node) -> bool:
    if node.tag == "progress" or role_of(node) == "progressbar" or node.get("aria-busy") == "true":
        return True
    if code_of(node) & _WORKING_CODE:
        return True
    return any(said in _UNDERWAY or _PERCENT.search(said) for said in _sayings(node))


def _complaint(came: Sequence[Node], files: Sequence[SentFile]) -> str:
    """Return the text that says why a file was not taken, or ""."""
    for node in came:
        said = node.text if len(node.text) <= _LONGEST_NOTICE else ""
        for file in files:  # a file may be called `error.txt`
            said = said.replace(file.name, "")
        told = role_of(node) in ("alert", "status", "alertdialog") or bool(node.get("aria-live"))
        told = told or bool(code_of(node) & _TOAST_CODE)
        coded = bool(code_of(node) & _FAILED_CODE)
        if said in _REFUSED or ((told or coded) and (said in FAULT or said in _LIMITS)) or (coded and node.text):
            return node.text
    return ""
