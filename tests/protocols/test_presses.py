"""States that press a button: what they press, where they go without it, and what nobody may press."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.answer import Answer, Exchange, Offer
from protocols.interpreter import advance, begin
from protocols.library import decode_protocol, encode_protocol, protocol_hash
from protocols.missing_turns import fewest_turns_onward
from protocols.presses import LANGUAGES, Press, forbidden_words, press_refusal, pressable
from protocols.protocol import Protocol
from protocols.reading import read_protocol
from protocols.route import Say, Stop
from topics.document import parse_document
from topics.errors import InputError
from topics.library import load_topics

TOPIC = load_topics("fairweb-45")["M002"]
TEXT = """\
format: harvest-protocol/1
name: menu
version: 1
turn_limit: 4
start: ask
states:
  ask:
    say: hello
    edges: [{otherwise: true, label: o, go: rooms}]
  rooms:
    press: "Our rooms"
    absent: {go: any}
    edges: [{otherwise: true, label: o, stop: completed}]
  any:
    press: first
    absent: {stop: breakdown}
    edges: [{otherwise: true, label: x, go: rooms}]
"""
# What each language says for buying, booking, sending and deleting, and buttons that only look like it.
HARMFUL = {
    "de": "Jetzt kaufen|Zimmer buchen|Nachricht absenden|Konto löschen|Abo kündigen|Zahlungspflichtig bestellen",
    "en": "Buy now|Book a room|Send message|Delete my account|CANCEL ORDER|Proceed to checkout|Place an order",
    "es": "Comprar ahora|Reservar mesa|Enviar mensaje|Eliminar cuenta|Añadir al carrito",
    "fr": "Acheter|Réserver une table|Envoyer le message|Supprimer mon compte|Prendre rendez-vous",
    "it": "Acquista ora|Prenota un tavolo|Invia messaggio|Elimina account|Aggiungi al carrello",
    "ja": "今すぐ購入|部屋を予約する|メッセージを送信|アカウントを削除|注文する",
    "nl": "Koop nu|Reserveer een tafel|Verstuur bericht|Verwijder account|In winkelwagen",
    "pl": "Kup teraz|Zarezerwuj stolik|Wyślij wiadomość|Usuń konto|Dodaj do koszyka",
    "pt": "Comprar agora|Reservar mesa|Enviar mensagem|Excluir conta|Adicionar ao carrinho",
    "zh": "立即购买|预订房间|发送消息|删除账户|加入購物車",
}
HARMLESS = {
    "de": "Öffnungszeiten|Buch empfehlen|Versandkosten|Sendung verfolgen|Kontostand|Zurück",
    "en": "Opening hours|Recommend the book|Order status|Payment methods|Bookmarks|My bookings|Sender|Back",
    "es": "Horario|Volver|Métodos de envío|Compras anteriores",
    "fr": "Horaires|Retour|Moyens de paiement|Frais d’envoi",
    "it": "Orari|Indietro|Metodi di pagamento|Spese di spedizione",
    "ja": "営業時間|戻る|予約番号|注文状況|お問い合わせ",
    "nl": "Openingstijden|Terug|Verzendkosten|Betaalmethoden",
    "pl": "Godziny otwarcia|Wstecz|Metody płatności|Koszty wysyłki",
    "pt": "Horário|Voltar|Formas de pagamento|Custos de envio",
    "zh": "营业时间|返回|联系我们|价格",
}


def protocol(text: str = TEXT) -> Protocol:
    return read_protocol(parse_document(text, "menu.yaml"))


def offering(*titles: str, value: str = "") -> Answer:
    return replace(
        Answer.of("Choose."), offers=tuple(Offer(title, value or f"/{number}") for number, title in enumerate(titles))
    )


def after(*answers: Answer, text: str = TEXT) -> Say | Stop:
    """What the protocol does after these answers, whatever was said."""
    read = protocol(text)
    action, position = begin(read, TOPIC)
    said: list[Exchange] = []
    for answer in answers:
        assert isinstance(action, Say)
        said.append(Exchange(action.text, answer))
        action, position = advance(read, TOPIC, position, said)
    assert isinstance(action, Say | Stop)
    return action


def test_a_state_presses_the_button_with_its_title_regardless_of_case_and_spaces() -> None:
    action = after(offering("Prices", " our  ROOMS "))
    assert isinstance(action, Say)
    assert (action.text, action.state, action.turn) == (" our  ROOMS ", "rooms", 2)
    assert action.pressed == Offer(" our  ROOMS ", "/1")


def test_an_absent_button_is_a_branch_and_not_a_turn() -> None:
    action = after(offering("Prices", "Hours"))
    assert isinstance(action, Say)
    assert (action.text, action.state, action.turn) == ("Prices", "any", 2)
    assert action.route is not None
    assert action.route.target == "any"
    ended = after(Answer.of("No buttons."))
    assert isinstance(ended, Stop)
    assert (ended.outcome, ended.route and ended.route.target) == ("breakdown", "stop:breakdown")


def test_only_the_last_answer_offers_anything() -> None:
    assert isinstance(after(offering("Prices"), Answer.of("Nothing.")), Stop)


@pytest.mark.parametrize(
    ("written", "pressed"),
    [
        *(("first", "Alpha"), (2, "Beta one"), (3, "Beta two"), (4, None), ("beta two", "Beta two"), ("beta", None)),
        *(("/beta/", "Beta one"), ("/t[wx]o$/", "Beta two"), ("/gamma/", None), ("first ", None)),
    ],
)
def test_words_places_and_patterns_select_buttons(written: str | int, pressed: str | None) -> None:
    found = Press(written).choose(offering("Alpha", "Buy beta", "Beta one", "Beta two").offers)
    assert (found.title if found else None) == pressed


@pytest.mark.parametrize("language", LANGUAGES)
def test_words_for_buying_booking_sending_and_deleting_are_known_in_each_language(language: str) -> None:
    assert [one for one in HARMFUL[language].split("|") if not forbidden_words(one)] == []
    assert [(one, forbidden_words(one)) for one in HARMLESS[language].split("|") if forbidden_words(one)] == []


@given(st.sampled_from(["|".join(HARMFUL.values())]).flatmap(lambda all_: st.sampled_from(all_.split("|"))), st.data())
def test_signs_and_case_around_forbidden_words_hide_nothing(title: str, data: st.DataObject) -> None:
    shown = data.draw(st.sampled_from([title, title.upper(), title.lower()]))
    around = data.draw(st.sampled_from(["{}", "👉 {} ", "» {} «", "{}!", "1. {}", "({})", "{} →", "/{}"]))
    assert press_refusal(Offer(around.format(shown)))
    assert press_refusal(Offer("Go on", around.format(shown)))


@pytest.mark.parametrize("value", ["/delete_account", "deleteAccount", "flow:book-room", "BUY_NOW", "action=send"])
def test_words_are_found_in_the_names_of_programs(value: str) -> None:
    assert "names buying" in press_refusal(Offer("Go on", value))


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        *(("link", "x"), ("openUrl", "x"), ("file", ""), ("form", ""), ("call", "1"), ("reply", "https://a.example")),
        *(("reply", "tel:+1"), ("button", "mailto:a@b.example"), ("reply", "javascript:x()"), ("reply", "//a.example")),
        *(("reply", '{"type": "open", "url": "http://a.example/"}'), ("web_url", "")),
    ],
)
def test_a_button_that_leaves_the_chat_is_pressed_only_if_its_title_is_allowed(kind: str, value: str) -> None:
    offer = Offer("Read more", value, kind)
    assert press_refusal(offer)
    assert pressable((offer,), ("read  MORE",)) == (offer,)


@pytest.mark.parametrize("kind", ["reply", "button", "postback", "imBack", "postBack", "quick_reply", "path-3f2a"])
def test_a_button_that_says_something_in_the_chat_may_be_pressed(kind: str) -> None:
    assert press_refusal(Offer("Hours", "topic:hours", kind)) == ""


FAULTS = [
    (("start: ask", "start: rooms"), "'rooms' presses a button, but nothing is offered yet"),
    (("    absent: {go: any}\n", ""), "press and absent belong together"),
    (('press: "Our rooms"', "say: x"), "press and absent belong together"),
    (('press: "Our rooms"', 'press: "Our rooms"\n    say: x'), "a state with `press` must not have `say` or `user`"),
    (('"Our rooms"', '"Book a room"'), "'Book a room' may not be pressed: 'book' names buying"),
    (('"Our rooms"', "0"), "the number of a button must be from 1"),
    (('"Our rooms"', '"/(a*)*/"'), "press: "),
    (("{stop: breakdown}", "{go: rooms}"), "endless loop without any words: rooms → any → rooms"),
    (("{go: any}", "{go: anny}"), "unknown state 'anny'"),
]


@pytest.mark.parametrize(("change", "said"), FAULTS, ids=[said for _, said in FAULTS])
def test_an_unplayable_press_is_refused_with_its_place(change: tuple[str, str], said: str) -> None:
    with pytest.raises(InputError) as fault:
        protocol(TEXT.replace(*change, 1))
    assert re.match(r"menu\.yaml:\d+:\d+: .*", str(fault.value), re.DOTALL)
    assert said in str(fault.value)


def test_an_allowed_title_may_be_pressed() -> None:
    text = TEXT.replace("Our rooms", "Book a room").replace("start:", "allow: [Book a room]\nstart:", 1)
    action = after(offering("Book a room"), text=text)
    assert isinstance(action, Say)
    assert action.pressed is not None


def test_a_protocol_with_presses_is_kept_as_json() -> None:
    read = protocol(TEXT.replace("start:", "allow: [Book a room]\nstart:", 1).replace("first", "2"))
    again = decode_protocol(encode_protocol(read))
    assert (again, protocol_hash(again)) == (read, protocol_hash(read))
    assert read.needs == {"presses"}


def test_the_longest_and_the_shortest_paths_take_both_branches_at_a_button() -> None:
    straight = TEXT.replace("turn_limit: 4\n", "").replace("label: x, go: rooms", "label: x, stop: completed")
    assert protocol(straight).most_turns(TOPIC) == 2
    more = straight.replace("go: rooms}]", "go: rooms}]", 1).replace("label: o, stop: completed", "label: o, go: any")
    assert protocol(more).most_turns(TOPIC) == 3
    assert protocol().most_turns(TOPIC) == 4
    assert fewest_turns_onward(protocol(), TOPIC, "ask", {}, 1, target="rooms") == 1
    assert fewest_turns_onward(protocol(), TOPIC, "ask", {}, 1) == 1
