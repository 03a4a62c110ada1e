"""Finding where one talks, on pages in a real browser: each marks what is to be found, and has decoys beside it.

`data-side="here"` is the box to type in, `there` the button that sends; the words mean nothing to discovery.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import cache
from urllib.parse import urlsplit

import pytest
import pytest_asyncio

from harvest.pages.browser.process import Browser
from harvest.pages.browser.settings import BrowserSettings
from harvest.pages.finding.buttons import find_launcher, find_new_chat, find_send
from harvest.pages.finding.discovery import find_composer
from harvest.pages.finding.wordings import NEW_CHAT, SEND, TALK, code_words
from harvest.pages.reading.page import Node, Page, parse_page
from tests.support.browsing import browsing, pages
from tests.support.fonts import FONTS, with_fonts

STYLE = """<style>body{margin:0;font:16px sans-serif;display:flex;flex-direction:column;height:100vh}
.log{flex:1;overflow:auto}form,.bar{display:flex;gap:4px;padding:10px}textarea,[contenteditable],.wide{flex:1;min-height:36px}
svg{width:18px;height:18px}.clone{position:absolute;visibility:hidden}.side{width:200px;float:left}</style>"""
ICON = '<svg viewBox="0 0 9 9"><path d="M0 0h9v9z"/></svg>'
LOG = '<div class="log"><p>Hello!</p></div>'

TALKING = {
    "a form with a textarea": LOG
    + '<form><textarea data-side="here"></textarea><button data-side="there">Send</button></form>',
    "an input and an icon": LOG + f'<div class="bar"><button aria-label="Attach file">{ICON}</button><input '
    'class="wide" data-side="here" placeholder="Ask me anything">'
    f'<button aria-label="Voice input">{ICON}</button><button data-side="there">{ICON}</button></div>',
    "a search box in the header": '<header><form role="search">'
    '<input type="search" placeholder="Search"><button>Go</button>'
    "</form></header>"
    + LOG
    + '<form><textarea data-side="here" placeholder="Type here"></textarea><button data-side="there">➤</button></form>',
    "a search box that is a plain input": '<input placeholder="Search conversations" style="width:200px">'
    + LOG
    + '<div class="bar"><textarea data-side="here"></textarea><div role="button" '
    'data-side="there" aria-label="Send">x</div></div>',
    "a newsletter box below": LOG + '<form><textarea data-side="here" aria-label="Your question"></textarea><button '
    'data-side="there">Ask</button></form>'
    '<footer><form><input type="text" name="email" placeholder="Your email"><button>Subscribe</button></form></footer>',
    "a feedback form beside": '<form class="side"><input placeholder="Name"><input placeholder="Subject"><textarea '
    'placeholder="Your message">'
    "</textarea><button>Send</button></form>"
    + LOG
    + '<div class="bar"><textarea data-side="here" placeholder="Message"></textarea>'
    f'<button data-side="there" aria-label="Send message">{ICON}</button></div>',
    "an editor with a paragraph": LOG
    + '<div class="bar"><div contenteditable="true" class="ProseMirror" data-side="here" '
    'translate="no"><p data-placeholder="Reply…"><br></p>'
    f'</div><button type="button" data-side="there" disabled aria-label="Send">{ICON}</button></div>',
    "an editor with a role": LOG + '<div class="bar"><div contenteditable="true" role="textbox" aria-label="Nachricht '
    'eingeben" data-lexical-editor="true" data-side="here">'
    '</div><button data-side="there">Senden</button></div>',
    "a textarea with a hidden clone": LOG
    + '<form><textarea class="clone" aria-hidden="true" tabindex="-1"></textarea><textarea '
    'data-side="here" placeholder="Écrivez un message">'
    '</textarea><button data-side="there">Envoyer</button></form>',
    "a code editor elsewhere": '<div style="height:520px"><textarea style="width:90%;height:500px" readonly># '
    "settings</textarea></div>"
    '<div class="bar"><textarea data-side="here" placeholder="Prompt"></textarea><button '
    'data-side="there">Run</button></div>',
    "tools in a row below the box": LOG + '<div style="border:1px solid;margin:10px"><div class="bar"><textarea '
    'data-side="here" placeholder="有问题，尽管问"></textarea></div>'
    f'<div class="bar"><button aria-haspopup="menu">{ICON}</button><button '
    'aria-pressed="false">深度思考</button><span style="flex:1"></span>'
    f'<button aria-label="语音">{ICON}</button><button data-side="there">{ICON}</button></div></div>',
    "system prompt and parameters": '<div class="side">'
    "<label>System prompt<textarea></textarea></label><label>Temperature"
    '<input value="0.7">'
    "</label></div>"
    + LOG
    + '<form><textarea data-side="here"></textarea><button data-side="there">Submit</button></form>',
    "a rename box": '<nav><input value="Old chat" aria-label="Rename chat" style="width:180px"></nav>'
    + LOG
    + '<form><textarea data-side="here"></textarea><button data-side="there">भेजें</button></form>',
    "stop and clear beside": LOG + '<form><button type="button">Clear</button><textarea data-side="here" '
    'placeholder="メッセージを入力"></textarea><button type="button">停止'
    '</button><button data-side="there">送信</button></form>',
    "Korean": LOG + '<form><textarea data-side="here" placeholder="메시지를 입력하세요"></textarea><button '
    'data-side="there">보내기</button></form>',
    "Russian": LOG + '<form><textarea data-side="here" placeholder="Напишите сообщение"></textarea><button '
    'data-side="there">Отправить</button></form>',
    "Arabic, from right to left": '<div dir="rtl">'
    + LOG
    + '<form><textarea data-side="here" placeholder="اكتب رسالتك"></textarea><button '
    'data-side="there">إرسال</button></form></div>',
    "Spanish": LOG + '<form><input class="wide" data-side="here" placeholder="Escribe tu mensaje"><button '
    'data-side="there">Enviar</button></form>',
    "Portuguese": LOG + '<form><input class="wide" data-side="here" placeholder="Digite sua pergunta"><button '
    'data-side="there">Enviar</button></form>',
    "an input that only Enter sends": LOG
    + '<div class="bar"><input class="wide" data-side="here" aria-label="Message"></div>',
    "in a shadow root": '<x-chat></x-chat><script>document.querySelector("x-chat").attachShadow('
    '{mode: "closed"}).innerHTML = '
    "`<div class=messages>Hi</div><form><textarea data-side=here></textarea><button "
    "data-side=there>Send</button></form>`</script>",
    "search or ask": LOG + '<form><textarea data-side="here" placeholder="Search or ask anything"></textarea><button '
    'data-side="there">→</button></form>',
    "suggestions above the box": LOG
    + '<div class="bar"><button>What can you do?</button><button>Tell me a joke</button></div>'
    '<form><textarea data-side="here"></textarea>'
    f'<button type="submit" data-side="there">{ICON}</button></form>',
    "an icon of a font": LOG + '<div class="bar"><textarea data-side="here"></textarea><button><span '
    'class="material-icons">attach_file</span></button>'
    '<button data-side="there"><span class="material-icons">arrow_upward</span></button></div>',
    "icons of a font that are put on the next line": LOG
    + '<div class="bar" style="flex-wrap:wrap;width:430px"><textarea '
    'style="flex:1 0 300px" data-side="here"></textarea><button><span class="material-icons">mic_none</span></button>'
    '<button data-side="there"><span class="material-icons">arrow_upward</span></button></div>',
    "a name that does not fit beside the box": LOG + '<div style="display:flex"><div style="width:500px"><button '
    f'aria-label="Attach">{ICON}</button><textarea data-side="here"></textarea></div>'
    '<button style="margin-left:160px" data-side="there">Ask the assistant now</button></div><p>May be wrong.</p>',
    "the log above holds buttons, too": '<div class="log"><p>Hello! <button>Again</button></p></div><div class="bar">'
    f'<textarea data-side="here"></textarea><button data-side="there">{ICON}</button></div><p>Hint</p>'
    "<button>Top</button>",
}
SILENT = {
    "a log-in": '<form><input type="email" placeholder="Email"><input type="password"><button>Sign in</button></form>',
    "a shop": '<header><input type="search" placeholder="Search products"></header><p>Chairs</p><footer>'
    '<form><input name="email" '
    'placeholder="Your email address"><button>Subscribe</button></form></footer>',
    "a contact form": '<form><input placeholder="Full name"><input placeholder="Email"><select><option>Sales'
    "</select><textarea "
    'placeholder="Your message"></textarea><button>Send</button></form>',
    "a plain page": "<h1>Opening hours</h1><p>9 to 5</p>",
    "a user name and a code": '<form><input name="username" autocomplete="username"><input '
    'autocomplete="one-time-code"><button>Go</button></form>',
}
OTHERS = {
    "launcher": '<h1>Shop</h1><nav><a href="/chat-rooms">Chat rooms</a></nav><button '
    'data-side="here" aria-label="Open chat" '
    f'style="position:fixed;right:20px;bottom:20px;width:60px;height:60px">{ICON}</button>',
    "launcher without a name": '<h1>Shop</h1><button>Add to cart</button><div id="chat-widget-launcher"><div '
    'role="button" data-side="here" '
    f'style="position:fixed;right:20px;bottom:20px;width:60px;height:60px">{ICON}</div></div>',
    "start": '<h1>Our assistant</h1><p>Knows all our products.</p><button data-side="here">Start '
    "chat</button><button>Impressum</button>",
    "no launcher": '<h1>Shop</h1><button>Add to cart</button><a href="/help">Help</a><button '
    'style="position:fixed;right:9px;bottom:9px">Top</button>',
    "new chat": '<nav><button>Search chats</button><a href="/new" data-side="here">New chat</a><button>Settings'
    "</button></nav>" + LOG,
    "new chat by icon": f'<nav><button aria-label="Share">{ICON}</button><button data-side="here" '
    f'id="new-chat-button">{ICON}</button></nav>' + LOG,
    "new chat in Japanese": '<nav><button>履歴</button><button data-side="here">新しいチャット</button></nav>' + LOG,
}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def looks(browser: Browser) -> dict[str, Page]:
    """Every page as the eye sees it."""
    return await _looks(browser, {**TALKING, **SILENT, **OTHERS})


async def _looks(browser: Browser, content: dict[str, str]) -> dict[str, Page]:
    """Each in a frame of its own, as large as a window: one page is loaded sooner than thirty."""
    paths = {f"/{number}": f"<!doctype html><body>{STYLE}{html}" for number, html in enumerate(content.values())}
    frames = "".join(f'<iframe src="{path}" style="width:1280px;height:800px;border:0"></iframe>' for path in paths)
    async with pages({**paths, "/": frames}) as server:
        window = await browser.open_window(BrowserSettings())
        await window.goto(server.url)
        found = {urlsplit(frame.url).path: await frame.look() for frame in window.frames()}
        await window.close()
    return {name: found[path] for path, name in zip(paths, content)}


def marked(page: Page, mark: str) -> Node | None:
    return next((node for node in page.walk() if node.get("data-side") == mark), None)


@pytest.mark.parametrize("name", TALKING)
def test_the_text_box_is_found_among_others(looks: dict[str, Page], name: str) -> None:
    found = find_composer(looks[name])
    assert found[0].node is marked(looks[name], "here"), found
    assert found[0].score >= 0.6
    assert all(other.score < 0.5 for other in found[1:]), found[1:]
    assert found[0].reasons


@pytest.mark.parametrize("name", TALKING)
def test_the_send_button_is_found_among_others(looks: dict[str, Page], name: str) -> None:
    composer, wanted = marked(looks[name], "here"), marked(looks[name], "there")
    assert composer is not None
    found = find_send(looks[name], composer)
    assert (found.node if found is not None else None) is wanted, found
    assert found is None or found.score >= 0.5


@pytest.mark.parametrize("name", SILENT)
def test_no_box_is_good_enough_if_nobody_can_chat(looks: dict[str, Page], name: str) -> None:
    assert [one for one in find_composer(looks[name]) if one.score >= 0.5] == []


@pytest.mark.parametrize("name", OTHERS)
def test_buttons_for_opening_a_chat_and_beginning_another_are_found(looks: dict[str, Page], name: str) -> None:
    page = looks[name]
    find = {"launcher": find_launcher, "start": find_launcher, "new": find_new_chat}
    found = find[next(word for word in find if word in name)](page)
    assert (found.node if found is not None else None) is marked(page, "here"), found


@pytest.mark.parametrize("name", TALKING)
def test_a_page_with_a_chat_needs_no_launcher(looks: dict[str, Page], name: str) -> None:
    found = find_launcher(looks[name])
    assert found is None or found.score < 0.9


FEW_FONTS = FONTS[:2]


@cache
def looks_with(fonts: str) -> dict[str, Page]:
    """Every page on which one can talk, or nobody can, in a browser that has these fonts alone."""

    async def looked() -> dict[str, Page]:
        async with browsing() as browser:
            return await _looks(browser, {**TALKING, **SILENT})

    with with_fonts(fonts):
        return asyncio.run(looked())


@pytest.mark.parametrize("fonts", [*FEW_FONTS, pytest.param(FONTS[2], marks=pytest.mark.soak)])
def test_the_way_is_found_with_any_fonts(fonts: str) -> None:
    others = looks_with(fonts)
    for name in TALKING:
        composer, wanted = marked(others[name], "here"), marked(others[name], "there")
        assert composer is not None
        first, *rest = find_composer(others[name])
        assert (first.node, first.score >= 0.6, [one for one in rest if one.score >= 0.5]) == (composer, True, []), name
        found = find_send(others[name], composer)
        assert (found.node if found is not None else None) is wanted, (name, found)
        assert found is None or found.score >= 0.5, (name, found)
    for name in SILENT:
        assert [one for one in find_composer(others[name]) if one.score >= 0.5] == [], name


@pytest.mark.parametrize("among", [FEW_FONTS, pytest.param(FONTS, marks=pytest.mark.soak)])
def test_a_browser_has_only_its_given_fonts(among: Sequence[str]) -> None:
    widths = {fonts: tuple(node.get("h-box") for node in looks_with(fonts)["Spanish"].walk()) for fonts in among}
    assert len(set(widths.values())) == len(among)


def box(markup: str) -> Page:
    return parse_page(f'<h-page url="https://chat.example/" width="1280" height="800">{markup}</h-page>')


def test_a_disabled_box_is_known_but_not_good_enough_to_type_into() -> None:
    page = box('<textarea h-id="1" h-box="100,700,800,40" h-edit="1" h-off="1" placeholder="Message"/>')
    (found,) = find_composer(page)
    assert 0.25 <= found.score < 0.5
    assert found.reasons[0] == "- disabled or read-only now"


@pytest.mark.parametrize("about", ['h-hide="1"', 'type="email"', 'type="password"'])
def test_hidden_and_address_boxes_are_not_candidates(about: str) -> None:
    assert find_composer(box(f'<input h-id="1" h-box="100,700,800,40" h-edit="1" {about}/>')) == []


def test_scores_are_probabilities_and_reasons_name_the_evidence() -> None:
    page = box('<textarea h-id="1" h-box="100,700,800,40" h-edit="1" placeholder="Message" aria-hidden="true"/>')
    (found,) = find_composer(page)
    assert 0 < found.score < 1
    assert any(reason.startswith("+ called 'Message'") for reason in found.reasons)
    assert any(reason.startswith("- hidden from screen readers") for reason in found.reasons)


def test_a_large_page_takes_little_time() -> None:
    rows = "".join(
        f'<div h-id="{n}" h-box="0,{n},900,20" class="message"><p h-id="{n + 50000}" h-box="0,{n},900,20">Line {n}</p>'
        f'<button h-id="{n + 90000}" h-box="0,{n},30,20" aria-label="Copy"/></div>'
        for n in range(1, 3000)
    )
    page = box(
        f'{rows}<form h-id="9001" h-box="0,700,900,60"><textarea h-id="9000" h-box="0,700,800,40" h-edit="1"/></form>'
    )
    import time

    begun = time.process_time()
    assert find_composer(page)[0].node.id == 9000
    find_launcher(page)
    assert time.process_time() - begun < 2.0


def test_words_are_whole_in_scripts_with_spaces_and_anywhere_in_others() -> None:
    assert "Send now" in SEND
    assert "Sender" not in SEND
    assert "メッセージを送信する" in SEND
    assert SEND.is_all("  Send! ")
    assert not SEND.is_all("Send feedback")
    assert "Nachrichten schreiben" in TALK
    assert NEW_CHAT.find("Start a NEW CHAT here") == "Start a NEW CHAT"


def test_the_words_of_a_name_are_separated_and_states_are_left_out() -> None:
    assert code_words("chat-inputBox send_btn2 disabled:hidden data-[error]:red") == {
        "chat",
        "input",
        "box",
        "send",
        "btn",
    }
