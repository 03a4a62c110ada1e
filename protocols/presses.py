"""Presses: which offer of an answer a user presses, and which offers no user may press.

An offer that leaves the chat (a link, a telephone number, a file, a form), or whose title or value names buying,
booking, sending or deleting in one of `LANGUAGES`, is pressed only if its title is in a list of allowed titles. The
words err on the side of caution: a harmless button that is not pressed costs a line in that list, a button that is
pressed by mistake may cost somebody money.
"""

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from protocols.answer import Offer
from topics.late_pattern import lazy_pattern
from topics.patterns import check_searchable

# `press: first`
FIRST = "first"

_LONGEST_TITLE = 1000  # characters of a title or value in which a pattern or word is searched

# Kinds of offers that only say something in the chat, without case and signs: Harvest's own, Rasa's, Bot Framework's,
# Botpress's and those of Dialogflow and Messenger. A kind that is not listed may do anything.
_SAYS_SOMETHING = frozenset(
    {"reply", "quickreply", "button", "card", "postback", "imback", "messageback", "say", "choice", "option"}
    | {"text", "message", "suggestion", "suggestedaction", "intent", "dropdown", "select"}
)
_ADDRESS = lazy_pattern(
    r"(?i)[a-z][a-z0-9+.-]{1,30}://|^\s*//|^\s*www\.|^\s*(?:tel|mailto|sms|callto|javascript|data|blob|file|geo|whatsapp"
    r"|skype|facetime|intent|market):"
)
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_SEPARATORS = re.compile(r"[\s_\-‐‑/.:#?&=+]+")

# Words of buying and paying, booking, sending, and deleting or cancelling, by language.
_WORDS: Mapping[str, str] = {
    "de": r"(?:\w*kauf(?:en|e|t)|(?:ab)?bestell(?:en|e|t)|bestellung (?:abschicken|aufgeben|absenden|bestätigen)"
    r"|(?:be)?zahl(?:en|e)|(?:zur )?kasse|in den (?:warenkorb|einkaufswagen)|abonnier\w*|spend(?:en|e)"
    r"|(?:ein|um|ab|ver|zu)?buch(?:en|e|t)|reservier\w*|termin vereinbaren"
    r"|(?:ab|ver|ein|zu)?(?:send|schick)(?:en|e|et|t)|einreich\w*|übermitteln|überweisen"
    r"|lösch(?:en|e|t)|entfern(?:en|e|t)|stornier\w*|kündig(?:en|e|t)|widerrufen|konto schließen)",
    "en": r"(?:buy|buys|buying|purchas(?:e|es|ing)|pay|pays|paying|(?:make|send) (?:a |my |the )?payment|checkout"
    r"|(?:proceed|go) to check out|add to (?:my |your |the )?(?:cart|basket|bag)|subscribe|donate|upgrade now"
    r"|order (?:a|an|it|this|these|one|more|again|here|online|now)|(?:place|submit|confirm) \w* ?order|(?<!.)order$"
    r"|(?<!\ba )(?<!the )(?<!this )(?<!that )(?<!my )(?<!your )(?<!which )(?<!another )(?:re)?book|reserve"
    r"|(?:make|start|confirm|complete) (?:a |an |my |the |your )?(?:\w+ )?(?:booking|reservation|appointment)"
    r"|schedule (?:a|an|my|the)|send|sends|submit|transmit|transfer|forward|confirm|sign up|post (?:it|this|now)"
    r"|delet(?:e|es|ing)|erase|remove|cancel|cancels|cancell?ing|deactivate|unsubscribe|discard|terminate|wipe"
    r"|clear (?:all|my|history|data)|close (?:my |your |the )?account)",
    "es": r"(?:comprar?|compre|pagar?|pague|pedir|(?:hacer|realizar) (?:el |un |mi )?(?:pedido|pago)"
    r"|(?:añadir|agregar) al? (?:la )?(?:carrito|cesta)|suscribir(?:se|me)|donar|reserv(?:ar|e|a ahora)|agendar"
    r"|envi(?:ar|e)|envíe|mandar|remitir|borrar?|elimin(?:ar|e|a)|suprimir|cancel(?:ar|e|a)|anular"
    r"|dar(?:se|me)? de baja|cerrar (?:la |mi )?cuenta)",
    "fr": r"(?:achet(?:er|ez)|command(?:er|ez)|pay(?:er|ez)|passer (?:la |ma |une )?commande|ajouter au panier"
    r"|s'abonner|abonnez vous|faire un don|réserv(?:er|ez)|prendre (?:un )?rendez vous|(?:r?envoy|expédi)(?:er|ez)"
    r"|envoie|soumettre|transmettre|supprim(?:er|ez)|effac(?:er|ez)|annul(?:er|ez)|résili(?:er|ez)|retirer"
    r"|se désabonner|désabonnez vous|fermer (?:le |mon )?compte)",
    "it": r"(?:acquist(?:a|are|o)|compra(?:re)?|ordina(?:re)?|paga(?:re)?|aggiungi al carrello|abbonati|abbonarsi"
    r"|dona(?:re)?|prenot(?:a|are|o)|fissa(?:re)? un appuntamento|invi(?:a|are|o)|manda(?:re)?|spedi(?:sci|re)"
    r"|inoltra(?:re)?|elimina(?:re)?|cancella(?:re)?|rimuov(?:i|ere)|annulla(?:re)?|disdi(?:ci|re)"
    r"|chiud(?:i|ere) (?:l'|il |il mio )?account)",
    "ja": r"(?:購入|買[うい]|注文(?!状況|履歴|番号)|支払|決済|カート[にへ]|予約(?!状況|番号)|申し?込|送信|送る|送付"
    r"|投稿|削除|消去|解約|退会|取り?消|キャンセル|登録解除)",
    "nl": r"(?:koop|kopen|bestel(?:len)?|betaal|betalen|afrekenen|in (?:mijn |de )?winkel(?:wagen|mandje)|abonneren"
    r"|doneren|(?<!een )(?<!het )(?<!dit )(?<!dat )boek|boeken|reserve(?:er|ren)|afspraak maken"
    r"|(?:ver)?stu(?:ur|ren)|verzend(?:en)?|indienen|wissen|verwijder(?:en)?|annule(?:er|ren)|opzeggen"
    r"|account sluiten)",
    "pl": r"(?:kup(?:ić|uję|uj)?|zam[óa]wi(?:ć|am)|zamów|za?pła(?:cić|ć|cę)|do koszyka|subskrybuj|wpłać"
    r"|za?rezerw(?:uj|ować)|umów (?:wizytę|się)|wyślij|wysłać|prześlij|przesłać|usu(?:ń|nąć)|skasuj|skasować"
    r"|anul(?:uj|ować)|zrezygnuj|wypowiedz|zamknij konto)",
    "pt": r"(?:comprar?|compre|pagar?|pague|encomendar|fazer (?:o |um |meu )?pedido|finalizar (?:a )?compra"
    r"|adicionar ao carrinho|assinar|doar|reserv(?:ar|e)|agendar|marcar (?:uma )?consulta|envi(?:ar|e)|submeter"
    r"|mandar|apagar?|excluir|exclua|elimin(?:ar|e)|remov(?:er|a)|cancel(?:ar|e)|anular"
    r"|encerrar (?:a |minha )?conta)",
    "zh": r"(?:购买|購買|[买買](?![うい])|下[单單]|付款|支付|[结結][账帳]|加入[购購]物[车車]"
    r"|[订訂][购購阅閱]|[预預][订訂约約定]|[发發]送|提交|寄送|[删刪]除|清除|取消|[注註][销銷]|退[订訂])",
}
# Languages whose words of buying, booking, sending and deleting are known.
LANGUAGES = tuple(_WORDS)
_SPACED = "|".join(words for language, words in _WORDS.items() if language not in ("ja", "zh"))
_FORBIDDEN = lazy_pattern(rf"(?<!\w)(?:{_SPACED})(?!\w)|{_WORDS['ja']}|{_WORDS['zh']}")


def normal_title(title: str) -> str:
    """Return the title without differences of case and white space."""
    return " ".join(unicodedata.normalize("NFKC", title).casefold().split())


@lru_cache(maxsize=4096)
def forbidden_words(text: str) -> str:
    """Return the words in `text` that name buying, booking, sending or deleting, or ""."""
    plain = _CAMEL.sub(" ", unicodedata.normalize("NFKC", text[:_LONGEST_TITLE])).replace("’", "'")
    found = _FORBIDDEN.search(_SEPARATORS.sub(" ", plain).lower().strip())
    return found[0] if found else ""


def press_refusal(offer: Offer, allow: Collection[str] = ()) -> str:
    """Return why no user may press the offer, or "" if one may. `allow` has the titles that may be pressed whatever
    they do; case and white space are ignored."""
    if normal_title(offer.title) in map(normal_title, allow):
        return ""
    if not offer.title.strip():
        return "it has no title"
    kind = re.sub(r"[\W_]", "", offer.kind).lower()
    if kind not in _SAYS_SOMETHING and not kind.startswith("path"):  # Voiceflow's paths have an id each
        return f"its kind, {offer.kind[:40]!r}, may leave the chat"
    if _ADDRESS.search(offer.value[:_LONGEST_TITLE]):
        return "it leaves the chat"
    words = forbidden_words(offer.title) or forbidden_words(offer.value)
    return f"{words!r} names buying, booking, sending or deleting" if words else ""


def pressable(offers: Sequence[Offer], allow: Collection[str] = ()) -> tuple[Offer, ...]:
    """Return the offers that a user may press, in their order."""
    return tuple(offer for offer in offers if not press_refusal(offer, allow))


@dataclass(frozen=True, slots=True)
class Press:
    """The button that a state of a protocol presses, as written in the file: `first`, the number of an offer from 1,
    its title, or a bounded regular expression between two `/`, which is searched in titles without regard to case."""

    written: str | int

    @property
    def title(self) -> str:
        """The title, or "" if the press names none."""
        return self.written if isinstance(self.written, str) and self.written != FIRST and not self.pattern else ""

    @property
    def pattern(self) -> str:
        """The regular expression, or ""."""
        text = self.written
        return text[1:-1] if isinstance(text, str) and len(text) > 2 and text[0] == text[-1] == "/" else ""

    def check(self) -> None:
        """Raise ValueError if the press is invalid."""
        if self.pattern:
            check_searchable(self.pattern)
        elif isinstance(self.written, int) and not 1 <= self.written <= 1000:
            raise ValueError("the number of a button must be from 1 to 1000")
        elif isinstance(self.written, str) and not self.written.strip():
            raise ValueError("the title is empty")

    def choose(self, offers: Sequence[Offer], allow: Collection[str] = ()) -> Offer | None:
        """Return the offer to press, or None if it is absent. Offers that may not be pressed do not count."""
        known = pressable(offers, allow)
        if self.pattern:
            expression = re.compile(self.pattern, re.IGNORECASE)
            return next((one for one in known if expression.search(one.title, 0, _LONGEST_TITLE)), None)
        if self.title:
            return next((one for one in known if normal_title(one.title) == normal_title(self.title)), None)
        place = self.written if isinstance(self.written, int) else 1
        return known[place - 1] if place <= len(known) else None
