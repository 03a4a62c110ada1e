"""Clarifying questions: answers that ask the user for necessary information, and deliver nothing.

The rules are explicit. An answer is a clarifying question if all of these hold:

1. One of its last three sentences asks, outside code and quotations: it ends with a question mark (?, ？, ؟, ⸮; in
   Greek text also ;), requests information ("Could you tell me the year.", "機種名を教えてください。"), or has
   the form of a question (どの年ですか。, 您指的是哪一年). List items that ask count as well.
2. That sentence is not an offer ("Anything else?", "Kann ich sonst noch helfen?"), a suggestion ("How about Primer?"),
   an invitation ("Let me know if you have other questions."), a question about the service ("Did I answer your
   question?") or an instruction to do something elsewhere ("Select Settings, then Network.").
3. Nothing was delivered: no link, source or file, no block of code, no list except of choices or questions, no
   sentence that announces an answer ("Here are …"). Other sentences may only lead up to the question ("Sure!", "There
   are several films by that name."). If the question asks what was meant, the other sentences may say anything in up
   to 60 words; if it requests information, anything but names and titles.

Conditions 2 and 3 rely on the phrases in `protocols.question_words` and `protocols.service_questions`, so in other
languages a question is recognised only by its question mark. The rules do not understand the meaning of a question.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from protocols.answer import Answer
from protocols.question_words import CHOICE, DELIVERS, INVITES, MEANT, OFFERS, REQUESTS, TALK
from protocols.service_questions import FEEDBACK, OWN_MATTERS, is_instruction
from topics.late_pattern import lazy_pattern

# A system that needs to know something is brief: a longer answer has already delivered something.
_LONGEST = 4_000
_MOST_WORDS = 60  # an answer that is longer and ends with a question also answers
_MOST_LETTERS = 150  # characters instead of words, for text without blanks between words
_WORDS_OF_CHOICE = 12  # longer items are content rather than choices
_MOST_OFFERS = 6  # sentences of an answer that only offers
_LAST_SENTENCES = 3  # number of sentences at the end that are searched for a question

_BLOCK = lazy_pattern(r"^[ \t]*(?:```|~~~|\|.*\|[ \t]*$)", re.MULTILINE)
_CODE = lazy_pattern(r"`[^`\n]*`")
_QUOTED = lazy_pattern(
    r'"[^"\n]{0,300}"|“[^”\n]{0,300}”|„[^“”\n]{0,300}[“”]|«[^»\n]{0,300}»|‹[^›\n]{0,300}›|「[^」\n]{0,300}」'
    r"|『[^』\n]{0,300}』|《[^》\n]{0,300}》|‘[^’\n]{0,300}’(?!\w)|(?<!\w)'[^'\n]{1,300}'(?!\w)|^[ \t]*>.*$",
    re.MULTILINE,
)
_ITEM = lazy_pattern(r"^[ \t]*(?:[-*+•‣]|\(?[0-9]{1,3}[.):])[ \t]+(?=\S)")
_SENTENCE = lazy_pattern(r"(?:[^.!?？؟⸮。！…\n]|\.(?=\w))+[.!?？؟⸮。！…]*")
_QUESTION_MARKS = ("?", "？", "؟", "⸮")
_AFTER_A_MARK = "\"“”*_)').!！ "
_GREEK_MARK = lazy_pattern(r"[;\u037e](?=\s|$)")
_BUILT_AS_QUESTION = lazy_pattern(
    # Japanese and Korean end a question with a particle; Chinese has one, or a question word in place of the answer.
    r"(?:です|ます|でしょう|ません|でした|ました|だろう|の)か(?:ね)?$|(?:吗|嗎|呢)$"
    r"|(?:您|你).{0,40}(?:什么|什麼|哪|谁|誰|多少|几[个位天年月号]|是否|还是|還是|怎么|怎麼)"
    r"|(?:까요?|나요|는가요|은가요|인가요|건가요)$"
    # A French question without a mark has its subject after the verb.
    r"|\b(?:quel(?:le)?s?|où|quand|comment|combien|qui|quoi)\b[^.,]{0,40}-(?:vous|tu)$"
    # An English question with a full stop or no mark: a verb before "you", at the start or after a question word.
    r"|^\W*是?哪[一个個几款种種部位家][^。，]{0,12}$"
    r"|^\W*(?:(?:and|so|sure|then|okay|ok)\W+)*(?:(?:would|do|did|are|were|have|can|could|will)\s+you\b"
    r"|(?:is|was)\s+(?:it|this|that|there|your)\b|are\s+(?:there|they|these|your)\b)"
    r"|^\W*(?:(?:and|so|sure|then)\W+)*(?:which|what|when|where|who|whose|how)\b[^,]{0,60}?\b(?:do|did|are|were|would|have|can|is)\s+your?\b",
    re.IGNORECASE,
)
# A request that ends with the exact words to be said, such as [DONE]: a question does not contain its answer.
_DICTATES = lazy_pattern(r"[:：]\W*[\[［(（<{][\w _-]{2,80}[\]］)）>}]\W*$")
_TAG = lazy_pattern(
    r",\s*(?:right|okay|ok|isn't\s+it|no|oder|ne|n'est-ce\s+pas|verdad|vero|né|toch)\W*$", re.IGNORECASE
)
_TO_THE_USER = lazy_pattern(
    r"\b(?:you|your|du|deine?|Sie|Ihre?|vous|votre|vos|tu|ton|usted|su|te|ti|lei|suo|sua|tuo|tua|você|seu|je|jouw|u|uw)\b",
    re.IGNORECASE,
)
_CLOSED = lazy_pattern(
    r"^\W*(?:(?:so|and|just to (?:be sure|check|clarify))\W+)?(?:do|does|did|is|are|was|were|have|has|would|will|can"
    r"|could|should|shall)\b(?! you (?:\w+ )?(?:tell|say|give|specify|explain|clarify|describe|be more|provide|share"
    r"|let))",
    re.IGNORECASE,
)
_COURTESY = lazy_pattern(
    r"^\W*(?:(?:and|so|und|et|y|e|en|а|и)\s+)?(?:(?:can|could|may|might)\s+(?:I|we|you)\s+(?:please\s+)?(?:ask|tell|know)"
    r"(?:\s+(?:me|us|you))?|(?:darf|dürfte|kann)\s+ich\s+(?:Sie\s+|dich\s+)?fragen|puis-je\s+vous\s+demander"
    r"|puedo\s+(?:saber|preguntar\w*)|posso\s+(?:sapere|chieder\w+|perguntar\w*|saber)|mag\s+ik\s+(?:u\s+)?vragen"
    r"|подскажите|скажите|proszę\s+powiedzieć|혹시)\b[\s,，]*|^\W*(?:请问|請問)(?:您|你)?[\s,，]*",
    re.IGNORECASE,
)
# A suggestion ("How about the Louvre?"), a number or a quotation gives something.
_SAYS_MORE = lazy_pattern(
    r"[\d`“”«»「」\"]|\b(?:why\s+(?:not|don't)|(?:how|what)\s+about|wie\s+wär|warum\s+nicht|pourquoi\s+pas|que\s+diriez|por\s+qué\s+no"
    r"|qué\s+tal|perché\s+non|por\s+que\s+não|que\s+tal|waarom\s+niet|wat\s+dacht|почему\s+бы|как\s+насч[её]т|γιατί\s+όχι)\b|いかが|不如|怎么样|怎麼樣",
    re.IGNORECASE,
)
_GREETS = lazy_pattern(
    r"^\W*(?:(?:hello|hi|hey|welcome|thanks?|thank\s+you|hallo|guten\s+\w+|danke|bonjour|merci|hola|gracias|buen[oa]s\s+\w+|ciao|salve"
    r"|grazie|olá|obrigad[oa]|goedendag|bedankt|здравствуйте|привет|спасибо|dzień\s+dobry|merhaba|γεια|hei|hej)\b"
    r"|こんにちは|ありがとう|お問い合わせ|您好|你好|谢谢|感谢|안녕|감사|مرحب|أهلا)[^,:：]{0,60}$",
    re.IGNORECASE,
)
_LETTERS = lazy_pattern(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_SMALL_WORD, _WORDS_OF_TITLE = 3, 3  # letters of the longest word that a title may write small; words with a capital
# In German every noun has a capital, so a short question may look like a title.
_GERMAN_QUESTION = lazy_pattern(r"^\W*(?:welche|wie|was|wann|wer|wo|um|in|für|ist|sind|hat|haben)\w*\b", re.IGNORECASE)
_BY_GERMANS = lazy_pattern(r"\b(?:ich|wir|Ihnen|dir)\b")
_GERMAN = lazy_pattern(r"\b(?:und|ist|sind|der|nicht|wird)\b")
_ENUMERATES = lazy_pattern(r"[:：]\s*\S")
_MORE = lazy_pattern(r"\b(?:else|more|other|another|mehr|plus|más|altro|mais|meer)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Question:
    """A question asked by the system. `text` is the sentence without quotations. `closed` is True if the question
    asks for yes or no, or offers a choice. In languages other than English, only choices are recognised."""

    text: str
    closed: bool


def clarifying_question(answer: Answer) -> Question | None:
    """Return the clarifying question in the answer, or None. The module docstring lists the rules."""
    text = answer.text.strip()
    if answer.links or answer.sources or answer.attachments or len(text) > _LONGEST:
        return None
    return _question_in(text)


def only_offers(answer: Answer) -> bool:
    """Return True if every sentence of the answer offers something, asks about the service, invites or greets, and at
    least one does not only greet: "Hello! How can I help you?", "Shall I list some films?"."""
    text = answer.text.strip()
    if answer.links or answer.sources or answer.attachments or answer.offers:
        return False
    if len(text) > _LONGEST or _BLOCK.search(text):
        return False
    sentences = list(_split_sentences([line for line in text.splitlines() if not _ITEM.match(line)]))
    if len(sentences) > _MOST_OFFERS or any(map(_ITEM.match, text.splitlines())):
        return False
    offering = [one for one in sentences if _offers(one)]
    return bool(offering) and all(one in offering or _GREETS.match(one) for one in sentences)


def _offers(sentence: str) -> bool:
    says_more = DELIVERS.search(sentence) or CHOICE.search(sentence) or _SAYS_MORE.search(sentence)
    if says_more or _ENUMERATES.search(sentence) or (_names_something(sentence) and not _BY_GERMANS.search(sentence)):
        return False
    if INVITES.search(sentence):
        return True
    offers = OFFERS.search(sentence) or OWN_MATTERS.search(sentence) or FEEDBACK.search(sentence)
    return bool(offers) and _is_question(sentence) and not _asks_user(sentence)


@lru_cache(maxsize=64)  # a simulated user reads an answer several times: for its act, and for the chances of others
def _question_in(text: str) -> Question | None:
    if _BLOCK.search(text):
        return None
    bare = _QUOTED.sub("“”", _CODE.sub("``", text))
    greek = sum("\u0370" <= sign <= "\u03ff" or "\u1f00" <= sign <= "\u1fff" for sign in bare)
    if greek > sum(sign.isascii() and sign.isalpha() for sign in bare):
        bare = _GREEK_MARK.sub("?", bare)
    lines = [line.strip() for line in bare.splitlines() if line.strip()]
    listed = [bool(_ITEM.match(line)) for line in lines]
    items = [_ITEM.sub("", line) for line, in_list in zip(lines, listed, strict=True) if in_list]
    choices = [item for item in items if not _is_question(item)]
    if len(choices) >= 2:
        before = lines[listed.index(True) - 1] if listed.index(True) else ""
        led_up_to = next(reversed(list(_split_sentences([before]))), "")
        if not _asks_user(led_up_to) or any(len(item.split()) > _WORDS_OF_CHOICE for item in choices):
            return None
        lines, items = [line for line, in_list in zip(lines, listed, strict=True) if not in_list], []
    sentences = list(_split_sentences([_ITEM.sub("", line) for line in lines]))
    asked = next(
        (one for one in reversed(sentences[-_LAST_SENTENCES - max(0, len(items) - 1) :]) if _asks_user(one)), None
    )
    if asked is None:
        return None
    beside = [one for one in sentences if not _is_question(one)]
    # The text beside a question is limited in words, or in characters if words are not separated by blanks.
    words = sum(len(one.split()) for one in beside)
    letters = sum(unicodedata.category(sign) == "Lo" for one in beside for sign in one)
    if any(DELIVERS.search(one) for one in beside) or words > _MOST_WORDS or letters > _MOST_LETTERS:
        return None
    content = [one for one in beside if not _is_lead_in(one)]
    asking = [one for one in sentences if _asks_user(one)]
    explains = any(map(_is_request, asking)) and not any(map(_names_something, content))
    if content and not (explains or any(MEANT.search(one) for one in asking)):
        return None
    return Question(asked, len(choices) >= 2 or bool(_CLOSED.search(asked) or CHOICE.search(asked)))


def _split_sentences(lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        yield from (one for found in _SENTENCE.findall(line) if any(map(str.isalnum, one := found.strip())))


def _is_question(sentence: str) -> bool:
    if sentence.rstrip(_AFTER_A_MARK).endswith(_QUESTION_MARKS) or "՞" in sentence:
        return True
    return _is_request(sentence) or bool(_BUILT_AS_QUESTION.search(sentence.rstrip("。.!！ ")))


def _is_request(sentence: str) -> bool:
    if not REQUESTS.search(sentence) or INVITES.search(sentence) or _DICTATES.search(sentence):
        return False
    return not is_instruction(sentence)


def _offers_politely(sentence: str) -> bool:
    """Check that only a courtesy makes a request of an offer: "May I ask if I can do more?", 请问还需要什么？"""
    polite = _COURTESY.match(sentence)
    rest = sentence[polite.end() :] if polite else ""
    return bool(rest and OFFERS.search(rest)) and not (REQUESTS.search(rest) or CHOICE.search(rest))


def _is_title(sentence: str) -> bool:
    """Check that the sentence is a title ("Who Framed Roger Rabbit?"): all its longer words have a capital."""
    words = [word for word in _LETTERS.findall(sentence) if len(word) > _SMALL_WORD or word[0].isupper()]
    if len(words) < _WORDS_OF_TITLE or not all(word[0].isupper() and word[1:] == word[1:].lower() for word in words):
        return False
    other = _TO_THE_USER.search(sentence) or CHOICE.search(sentence) or _GERMAN_QUESTION.match(sentence)
    return not other and sentence.count(",") < 2


def _asks_user(sentence: str) -> bool:
    """Check that the sentence asks for something that only the user knows, unlike offers, suggestions, invitations
    and rhetorical questions."""
    if not _is_question(sentence) or INVITES.search(sentence) or FEEDBACK.search(sentence):
        return False
    if (_TAG.search(sentence) and not _TO_THE_USER.search(sentence)) or _is_title(sentence):
        return False
    if MEANT.search(sentence) or (_is_request(sentence) and not _offers_politely(sentence)):
        return True
    if OFFERS.search(sentence) or OWN_MATTERS.search(sentence):
        # "Shall I look for comedies or for dramas?" asks as well as offers; "… or is there anything else?" does not.
        return bool(CHOICE.search(sentence)) and not _MORE.search(sentence)
    return not DELIVERS.search(sentence)


def _names_something(sentence: str) -> bool:
    """Check that the sentence contains a title in quotation marks, or a name: a capital within the sentence. In
    German, where every noun has a capital, only titles are found."""
    inner = (word.lstrip("(¿¡'") for word in sentence.split()[1:])
    named = any(word[:1].isupper() and not word.startswith(("I'", "I’")) and word != "I" for word in inner)
    return "“”" in sentence or (named and not _GERMAN.search(sentence))


def _is_lead_in(sentence: str) -> bool:
    """Check that the sentence has no content of its own: thanks, courtesy, abilities, or "there are several"."""
    if _ENUMERATES.search(sentence):
        return False
    return bool(TALK.search(sentence)) or (sentence.endswith(("!", "！")) and len(sentence.split()) <= 2)
