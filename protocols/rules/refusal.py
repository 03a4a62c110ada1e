"""`refusal`: the answer says that the system cannot or will not do what was requested, and does nothing else.

The rule favours precision: an answer that apologises and then delivers is not a refusal, nor is "you can't miss it"
or "I can't recommend this film enough". All three conditions must hold:

1. One of the first three sentences states an inability or unwillingness in the first person ("I'm unable to help",
   "that is outside of my capabilities"), or names the speaker as a language model and contains a negation.
2. The sentence is not a quotation and does not reverse itself (", but here are …").
3. Nothing is delivered: the answer is short, has no URL of the requested kind, is not a list, and no later sentence
   begins with "Here are …".

English and Japanese are supported, as in the pilot study (GFRC §5); refusals in other languages are not recognised.
If the system marks its answer as a refusal in a separate field, that field decides, because a field is better
evidence.
"""

import re
from collections.abc import Iterator
from typing import ClassVar

from protocols.rules.answer_rule import AnswerRule
from protocols.rules.mentions import ASKED, named_urls
from protocols.rules.plain import blank_emphasis
from protocols.rules.rule import Sight, Verdict, absence, span
from topics.late_pattern import lazy_pattern

_OPENING = 1_500  # characters that are searched for the first sentences
_SENTENCES = 3  # sentences at the beginning that are searched for a refusal
_LONGEST = 2_000  # characters of the longest answer that can be only a refusal
_LIST_LINES = 3  # a list of this many lines is an answer

# Each character is replaced by one, so that spans are still those of the answer.
_PLAIN = str.maketrans({"\u2019": "'", "\u2018": "'", "\u02bc": "'", "\u00b4": "'", "\uff07": "'", "\u00a0": " "})

_SENTENCE = lazy_pattern(r"[^\s.!?。！？…][^.!?。！？\n]*(?:\.(?=\w)[^.!?。！？\n]*)*")
_CONDITION = lazy_pattern(r"\b(?:if|when|where|why|what|how)\s+$", re.IGNORECASE)
_QUOTED = lazy_pattern(r"[\"“”«»「『]")

_TASK = (
    r"(?:help(?!\s+(?:but|myself|it)\b)|assist|do\s+(?:that|this|so)|provide|fulfil+|comply|answer|access|browse|search"
    r"|generate|create|complete|process|perform|support|share|list|give|offer|supply|respond|engage|discuss|continue"
    r"|recommend|suggest|retrieve|look\s+up|verify|carry\s+out|talk\s+about|be\s+of\s+(?:help|assistance))\b"
)
_NOT_ENOUGH = r"(?![^\n]{0,80}?\b(?:enough|all|every|everything)\b)"  # "recommend it enough", "list them all"
_CANNOT = (
    r"(?:can't|cannot|can\s+not|could\s+not|couldn't|won't|will\s+not|am\s+not\s+able\s+to|'m\s+not\s+able\s+to"
    r"|am\s+unable\s+to|'m\s+unable\s+to|won't\s+be\s+able\s+to|will\s+not\s+be\s+able\s+to"
    r"|am\s+not\s+(?:allowed|permitted|programmed|designed|equipped)\s+to"
    r"|'m\s+not\s+(?:allowed|permitted|programmed|designed|equipped)\s+to)"
)
_INABILITY = lazy_pattern(
    rf"\b(?:I|we)\s*(?:(?:really|currently|simply|just|still|also|unfortunately)\s+)?{_CANNOT}\s+"
    rf"(?:(?:really|currently|directly|actually|simply|just|even)\s+)?{_TASK}{_NOT_ENOUGH}"
    # "I am an LLM and cannot help", "I'm still learning and can't help with that": the subject comes earlier
    rf"|\bI(?:'m|\s+am)\b[^\n\"]{{0,160}}?\b(?:and|so|thus|therefore|but)\s+(?:I\s+)?(?:also\s+)?{_CANNOT}\s+{_TASK}"
    r"|\bI\s+(?:do\s+not|don't)\s+have\s+(?:the\s+|any\s+)?(?:(?:necessary|enough|sufficient)\s+)?"
    r"(?:information|abilit(?:y|ies)|capabilit(?:y|ies)|capacity|access)\b"
    r"|\b(?:that|this|it|(?:that|this|your)\s+request)(?:'s|\s+is)\s+(?:\w+\s+)?(?:outside|beyond)\s+(?:of\s+)?(?:my|the\s+scope\s+of\s+my)\s+\w+"
    r"|\b(?:that|this|it)(?:'s|\s+is)\s+not\s+something\s+(?:that\s+)?I(?:'m|\s+am|\s+can)\b"
    r"|\bI\s+(?:must|have\s+to)\s+decline\b"
    r"|\bI(?:'d|\s+would)?\s+prefer\s+not\s+to\s+(?:continue|answer|discuss|talk|respond|help)\b",
    re.IGNORECASE,
)
_MODEL = lazy_pattern(
    r"\b(?:as|I(?:'m|\s+am))\s+(?:only\s+|just\s+|merely\s+)?an?\s+(?:\w+[\s-]+){0,2}?"
    r"(?:ai(?:\s+(?:language\s+)?(?:model|assistant|chatbot))?|language\s+model|llm|chatbot)\b",
    re.IGNORECASE,
)
_NEGATION = lazy_pattern(
    r"\b(?:can't|cannot|can\s+not|unable|not\s+able|don't\s+have|do\s+not\s+have|not\s+(?:capable|designed|programmed)"
    r"|outside|beyond|won't)\b",
    re.IGNORECASE,
)
_TURNS_ROUND = lazy_pattern(
    r"\b(?:but|however)\b,?\s+(?:here(?:'s|\s+is|\s+are)\b|(?:these|some|below)\b"
    r"|I\s+(?:can|could|would|will|do)\s+(?:recommend|suggest|list|name|give|offer|share|provide|tell)\b"
    r"|I(?:'d|'ll|\s+have|'ve)\b)",
    re.IGNORECASE,
)
_ADVICE = r"(?:that\s+)?(?:you|searching|checking|using|visiting|consulting|trying|looking|asking|contacting)\b"
_DELIVERS = lazy_pattern(
    r"(?:^|[.!?:\n]\s*)(?:(?:however|but|that\s+said|still|instead|nevertheless)\b,?\s+)?"
    r"(?:here(?:'s|\s+is|\s+are)\b|the\s+following\b|below\s+(?:is|are)\b"
    rf"|I(?:'d|\s+would|\s+can)?\s+(?:recommend|suggest)\s+(?!{_ADVICE}))",
    re.IGNORECASE,
)
_LIST_LINE = lazy_pattern(r"^[ \t]*(?:[-*+•‣▪]|\(?[0-9]{1,3}[.):])[ \t]*\S", re.MULTILINE)

_JAPANESE_INABILITY = lazy_pattern(
    r"(?:でき(?:ません|ない|かねます|兼ねます)|出来(?:ません|ない|かねます)|お役に立て|お答え(?:し|いたし)?かね|応じ(?:られ|かね)"
    r"|対応(?:し|いたし)?(?:ておりません|ていません|かね)|(?:能力|情報|機能)(?:が|は|を持って)(?:あり|い|おり)?(?:ません|ない)"
    r"|範囲(?:外|を超え))"
)
_JAPANESE_APOLOGY = lazy_pattern(
    r"(?:申し?訳(?:ございません|ありません|ない(?:です|の)?)|すみません|ごめんなさい|恐れ入りますが)"
)
_JAPANESE_MODEL = lazy_pattern(r"(?:言語モデル|人工知能|AI|ＡＩ)\s?(?:です|であ|として|な|のため)")
_JAPANESE_REFUSAL = lazy_pattern(
    r"(?:お手伝い|お答え|お応え|ご要望|ご質問|ご依頼|リクエスト|対応|提供|回答|支援|サポート)[^。\n]{0,30}"
    r"(?:でき|出来)?(?:ません|かねます)(?=[。!！\s]|$)"
)
_JAPANESE_DELIVERS = lazy_pattern(
    r"(?:以下(?:の|に|は|が)|こちら(?:が|は|の)|次の(?:よう|とおり|通り|映画|研究者|動画))"
)
_JAPANESE_APOLOGY_ONLY = 60  # characters; in a longer answer the apology is politeness


class Refusal(AnswerRule):
    """Holds if the answer is only a refusal. The module docstring lists the conditions. Evidence: the sentence that
    refuses, or the whole answer if the system marked it. The rule has no options."""

    version: ClassVar[str] = "refusal/3"
    languages: ClassVar[tuple[str, ...]] = ("en", "ja")

    def judge(self, sight: Sight) -> Verdict:
        text = sight.answer.text
        if sight.answer.refused:
            note = "the system marked its answer as a refusal"
            return Verdict(True, (span(text, 0, len(text), note) if text else absence("a refusal", note),))
        stripped = text.strip()
        if len(stripped) > _LONGEST:
            return _no_refusal(f"{len(stripped)} characters are more than a refusal takes")
        start = len(text) - len(text.lstrip())
        if start >= _OPENING:  # text after this much white space, which may be megabytes, is not read
            return _no_refusal("none in the first sentences")
        plain = blank_emphasis(text[: start + len(stripped)].translate(_PLAIN))
        found = _english_refusal(plain) or _japanese_refusal(plain)
        if found is None:
            return _no_refusal("none in the first sentences")
        lines = sum(1 for _ in _LIST_LINE.finditer(plain))
        if given := named_urls(sight.answer, ASKED, sight.topic):
            return _no_refusal(f"the answer delivers all the same: a URL of the asked kind, {given[0].href}")
        if lines >= _LIST_LINES:
            return _no_refusal(f"the answer delivers all the same: a list of {lines} lines")
        if opening := _DELIVERS.search(plain) or _JAPANESE_DELIVERS.search(plain):
            return _no_refusal(f"the answer delivers all the same: {opening[0].strip()!r}")
        start, end, note = found
        return Verdict(True, (span(text, start, end, note),))


def _no_refusal(note: str) -> Verdict:
    return Verdict(False, (absence("a refusal", note),))


def _first_sentences(plain: str) -> Iterator[tuple[int, int]]:
    for count, match in enumerate(_SENTENCE.finditer(plain, 0, _OPENING)):
        if count == _SENTENCES:
            return
        yield match.start(), match.start() + len(match[0].rstrip())


def _english_refusal(plain: str) -> tuple[int, int, str] | None:
    for start, end in _first_sentences(plain):
        sentence = plain[start:end]
        hit = _INABILITY.search(sentence)
        note = "says that it cannot or will not"
        if hit is None:
            hit, note = _MODEL.search(sentence), "a language model that says what it cannot do"
            if hit is None or not _NEGATION.search(sentence):
                continue
        before = sentence[: hit.start()]
        if _QUOTED.search(before) or (start and _QUOTED.match(plain[start - 1])) or _CONDITION.search(before):
            continue  # quoted words, such as a film's dialogue, or a hypothetical case
        if not _TURNS_ROUND.search(sentence):
            return start, end, note
    return None


def _japanese_refusal(plain: str) -> tuple[int, int, str] | None:
    head = plain[:_OPENING]
    first = head.lstrip()
    offset = len(head) - len(first)
    apology = _JAPANESE_APOLOGY.search(first[:80])
    model = _JAPANESE_MODEL.search(first[:80])
    inability = _JAPANESE_INABILITY.search(first[:400])
    opening = apology or model
    if opening and inability:
        start, end = min(opening.start(), inability.start()), max(opening.end(), inability.end())
        return offset + start, offset + end, "an apology or a self-introduction, and an inability, in Japanese"
    refusal = _JAPANESE_REFUSAL.search(first[:80])
    if refusal:
        return offset + refusal.start(), offset + refusal.end(), "opens with a refusal, in Japanese"
    if apology and apology.start() < 10 and len(plain.strip()) <= _JAPANESE_APOLOGY_ONLY:
        return offset + apology.start(), offset + apology.end(), "nothing but an apology, in Japanese"
    return None
