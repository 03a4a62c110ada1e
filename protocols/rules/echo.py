"""`echo`: the answer gives back what the user said."""

import re
import unicodedata
from typing import ClassVar

from protocols.rules.answer_rule import AnswerRule
from protocols.rules.rule import Sight, Verdict, absence, span

# "You said:", "Ihre Nachricht lautet: „": at most so many characters and words, up to a colon, a quotation or a line.
_LED_IN = re.compile(r"\A([^:：\"“„«「『\n]{0,40})[:：\"“„«「『\n]+")
_MOST_WORDS_BEFORE = 5
# "The red one." may affirm "The red one?"; whole sentences do not. So of short turns the mark at the end counts, too.
_SHORT = 4
_ASKS = ("?", "？", "؟", ";", "\u037e")


class Echo(AnswerRule):
    """Holds if the answer only repeats a turn of the user, after at most a few words such as "You said:".

    Case, punctuation and the form of letters are not compared. An answer with a link, source, file or something to
    press is not an echo. Evidence: the answer, with the turn that it repeats."""

    version: ClassVar[str] = "echo/1"

    def judge(self, sight: Sight) -> Verdict:
        answer, turns = sight.answer, [one.said for one in sight.exchanges]
        if answer.links or answer.sources or answer.attachments or answer.offers:
            return Verdict(False, (absence("the user's words alone", "something came with the text"),))
        turn = next((number for number, said in enumerate(turns, 1) if gives_back(answer.text, said)), None)
        if turn is None:
            return Verdict(False, (absence("the user's words alone", f"{len(turns)} turns of the user compared"),))
        return Verdict(True, (span(answer.text, 0, len(answer.text), f"the words of user turn {turn}"),))


def gives_back(text: str, user_text: str) -> bool:
    """Return True if the text only repeats `user_text`, after at most a few words before a colon."""
    # An answer of megabytes is not read: letters in other forms are at most four times as many.
    if len(text) > 4 * len(user_text) + 100:
        return False
    wanted = _words(user_text)
    if not wanted:
        return False
    if (own := _words(text)) == wanted:
        return len(wanted.split()) > _SHORT or _asks(text) == _asks(user_text)
    led_in = _LED_IN.match(text)
    if led_in is None or len(led_in[1].split()) > _MOST_WORDS_BEFORE or not own.endswith(wanted):
        return False
    return _words(text[led_in.end() :]) == wanted


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", unicodedata.normalize("NFKC", text).casefold()))


def _asks(text: str) -> bool:
    return text.rstrip(' \n"”“»」』*_').endswith(_ASKS)
