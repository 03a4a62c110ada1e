"""Rules that find the dialogue act of an English piece of a turn (Stolcke et al. 2000, Table 2).

The rules are lists of patterns, tried in order. The first match wins and is named on the nugget. The rules see only
words and punctuation, and find the acts in `ACTS` out of the 42 in the taxonomy. They do not recognise opinions
(which count as claims), quotations, rhetorical questions, repeated phrases, talk to a third party, or acts that only
intonation shows. `OTHER` is for pieces that are neither a claim nor an act in `ACTS`, such as a heading or a lead-in
with a colon.
"""

import re
from dataclasses import dataclass
from functools import cache

# The acts the rules can find, by the taxonomy's names, shortened to one word or hyphenated: ACKNOWLEDGE is its
# backchannel and response acknowledgement, AGREEMENT its agreement/accept, OFFER its offers, options and commits.
ACTS = (
    "ACKNOWLEDGE",
    "ACTION-DIRECTIVE",
    "AGREEMENT",
    "APOLOGY",
    "APPRECIATION",
    "CONVENTIONAL-CLOSING",
    "CONVENTIONAL-OPENING",
    "DECLARATIVE-YES-NO-QUESTION",
    "DOWNPLAYER",
    "HEDGE",
    "MAYBE",
    "NO-ANSWER",
    "OFFER",
    "OPEN-QUESTION",
    "OTHER",
    "REJECT",
    "SIGNAL-NON-UNDERSTANDING",
    "TAG-QUESTION",
    "THANKING",
    "WH-QUESTION",
    "YES-ANSWER",
    "YES-NO-QUESTION",
)

_PLAIN = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "*": " ", "_": " ", "\u00a0": " ", "\u202f": " "})


def normalise_marks(text: str) -> str:
    """Replace curly quotation marks by straight marks and emphasis by blanks, so that the length stays the same."""
    return text.translate(_PLAIN)


@dataclass(frozen=True, slots=True)
class FoundAct:
    """A dialogue act, the rule that found it, and the number of characters that perform it."""

    act: str
    rule: str
    length: int


def _join_patterns(*patterns: str) -> str:
    """Join patterns as alternatives, in which `don't` also matches the misspellings `dont`, `don t` and `don 't`."""
    joined = "|".join(f"(?:{pattern})" for pattern in patterns)
    return joined.replace("n't", r"n\s?'?\s?t").replace("'m", r"\s?['\s]\s?m")


@cache  # not at import, which would take 50 ms: few commands look for acts
def _compile_pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_LEAD = (
    r"^(?:(?:so|and|but|also|then|now|please|well|ok|okay|oh|um|just|kindly|however|alternatively|next|finally"
    r"|first|instead|to\s+start|you\s+know|I\s+mean|u+h+|u+m+|hm+|seriously|actually)\b,?\s+){0,4}"
)
_AUX = (
    r"(?:do|does|did|is|are|was|were|am|can|could|would|will|shall|should|may|might|must|has|have|had|isn't"
    r"|aren't|don't|doesn't|didn't|can't|couldn't|won't|wouldn't|shouldn't|haven't|hasn't|wasn't|weren't)"
)
_WH = r"(?:who|whom|whose|what|when|where|why|which|how|what's|who's|where's|how's|whats)"
_PERSON = r"(?:you|he|she|it|they|we|I|there|this|that|these|those|your|the|my|any|some)"
_DO = (
    r"(?:tell|give|show|list|name|find|explain|describe|summari[sz]e|recommend|suggest|provide|write|make|send"
    r"|translate|compare|help|repeat"
    r"|rephrase|clarify|elaborate|adhere|stop|search|check|add|remove|rewrite|correct|keep|sort|rank|answer|ask"
    r"|speak|talk|teach|share|expand|include|point)"
)
_REQUEST_VERBS = (  # verbs that begin a sentence only in a request
    rf"(?:{_DO}|try|use|visit|click|look\s+(?:at|for|up|into)|consider|go\s+(?:to|for|ahead|on|home|back)|read|see"
    r"|contact|call|avoid|ensure|take|follow|wait|imagine|choose|pick|come|continue|mix|bake|heat|stir|select|enter"
    r"|download|install|let's|let\s+(?:us|me\s+know)|put|replace|create|bring|wear|eat|get|buy|say|please|refer"
    r"|apply|discard|remind|practi[cs]e|calm\s+down|be\s+(?:careful|sure|patient|aware)|make\s+sure|feel\s+free"
    r"|don't|do\s+not|never)\b"
)
_MAYBE_VERBS = r"(?:open|close|set|book|store|watch|play|press|start|turn|type|cook|drink|run|pay|check)"  # or nouns
_OBJECT = (
    r"(?:the|an?|your|my|it|this|that|these|those|up|down|on|off|in|out|to|for|with|all|any|some|me|us|them"
    r"|and)"
)
_IMPERATIVE = rf"(?:{_REQUEST_VERBS}|{_MAYBE_VERBS}(?=\s+{_OBJECT}\b|\W*$))"
_POLITE = r"(?:\s+(?:please|kindly|just|also|maybe|perhaps|possibly|at\s+least|quickly))?"

_QUESTIONS = (
    (
        "SIGNAL-NON-UNDERSTANDING",
        _join_patterns(
            _LEAD + r"(?:what|huh|pardon(?:\s+me)?|excuse\s+me|sorry|come\s+again)\s*[?!]+$",
            r"\bwhat\s+(?:do|did|does|are)\s+(?:you|that|it|this)\s+(?:mean|saying|talking\s+about)\b",
            rf"{_LEAD}(?:can|could|would)\s+you{_POLITE}\s+(?:repeat|rephrase|clarify|elaborate\s+on\s+what)\b",
        ),
    ),
    (
        "CONVENTIONAL-OPENING",
        _join_patterns(
            _LEAD + r"how\s+(?:are\s+(?:you|things)|do\s+you\s+do|is\s+it\s+going|have\s+you\s+been)\b",
            _LEAD + r"(?:how's\s+it\s+going|what's\s+up|how's\s+everything|how\s+r\s+u)\b",
        ),
    ),
    (
        "ACTION-DIRECTIVE",
        _join_patterns(
            rf"{_LEAD}(?:can|could|would|will|can't|won't)\s+(?:you|u){_POLITE}\s+{_DO}\b",
            rf"{_LEAD}(?:can|could|may)\s+(?:I|we)\s+(?:please\s+)?(?:get|have|see|ask|book|order|talk|change|go)\b",
        ),
    ),
    (
        "OFFER",
        _join_patterns(
            rf"{_LEAD}(?:would\s+you\s+like(?:\s+me)?\s+(?:to|some|more|any|another|a\b|help)"
            rf"|(?:do\s+you\s+)?want\s+me\s+to|shall\s+(?:I|we)|should\s+I|may\s+I|can\s+I\s+(?:help|assist|offer"
            rf"|get\s+you)"
            r"|(?:how|what)\s+(?:else\s+)?(?:can|may|could)\s+I\s+(?:help|assist|do\s+for|offer|get\s+you)"
            r"|is\s+there\s+anything(?:\s+else)?|anything\s+else|do\s+you\s+(?:need|want)\s+(?:any|some|more|help"
            r"|another))",
            r"\b(?:I|we)\s+(?:can|could|may)\s+(?:help|assist)\b",
        ),
    ),
    (
        "TAG-QUESTION",
        _join_patterns(
            rf",\s*(?:right|correct|okay|ok|no|yes|huh|eh|{_AUX}\s+(?:you|he|she|it|they|we|I"
            rf"|there)(?:\s+not)?)\s*\?+$"
        ),
    ),
    (
        "OPEN-QUESTION",
        _join_patterns(
            rf"{_LEAD}(?:how|what)\s+about\b|{_LEAD}and\s+you\b|\bwhat\s+(?:do|did|would)\s+you\s+think\b"
            rf"|\bhow\s+(?:do|did)\s+you\s+(?:feel|like)\b",
            rf"{_LEAD}any\s+(?:other\s+)?(?:ideas|thoughts|opinions|advice|suggestions|tips)\b|{_LEAD}(?:why"
            rf"|what)\s+else\b",
        ),
    ),
    (
        "WH-QUESTION",
        _join_patterns(
            rf"{_LEAD}(?:(?:to|for|in|on|at|from|by|with|of|about|under|since)\s+)?{_WH}\b",
            rf"[,:]\s+(?:(?:to|for|in|on|at|from|by|with|of|about)\s+)?{_WH}\s+(?:\w+\s+){{0,3}}?{_AUX}\b",
        ),
    ),
    ("YES-NO-QUESTION", _join_patterns(rf"{_LEAD}{_AUX}\b", rf"(?:[,:]|\band|\bbut|\bor)\s+{_AUX}\s+{_PERSON}\b")),
)
_UNMARKED = (  # questions without a question mark
    ("OPEN-QUESTION", _join_patterns(rf"{_LEAD}(?:how|what)\s+about\s+\w+")),
    ("CONVENTIONAL-OPENING", _join_patterns(r"^how\s+(?:are|r)\s+(?:you|u)(?:\s+(?:doing|today))?\W*$")),
    (
        "WH-QUESTION",
        _join_patterns(
            rf"{_LEAD}(?:{_WH})\s+(?:else\s+)?(?:is|are|was|were|do|does|did|can|could|would|should|will|kind\s+of"
            rf"|sort\s+of|type\s+of)\s+(?:\w+\s+)?{_PERSON}\b",
            rf"{_LEAD}how\s+(?:many|much|long|old|far|often)\b",
            rf"{_LEAD}why\s+not\b|{_LEAD}(?:what|which)\s+\w+\s+{_AUX}\s+{_PERSON}\b",
            rf"{_LEAD}what\s+(?:do|does|did|kind|is\s+the|are\s+the)\b",
        ),
    ),
    (
        "YES-NO-QUESTION",
        _join_patterns(
            rf"{_LEAD}(?:do|does|did|are|is|can|could|would|will|have|has|was|were)\s+(?:you|he|she|it|they|we|I"
            rf"|there|this|that)\b"
        ),
    ),
)
_ADVERBS = r"(?:\s+(?:\w+ly|just|still|also|even|really))*"
_STATEMENTS = (
    (
        "OFFER",
        _join_patterns(
            r"\b(?:feel\s+free\s+to|don't\s+hesitate\s+to|do\s+not\s+hesitate\s+to|let\s+me\s+know\s+(?:if|whether"
            r"|what|which|how|when)|please\s+let\s+me\s+know)\b",
            r"\b(?:I|we)(?:'d|\s+would|'ll|\s+will|'m|\s+am)\s+(?:be\s+)?(?:more\s+than\s+)?(?:happy|glad|willing"
            r"|delighted)\s+to\b",
            rf"{_LEAD}(?:I|we)(?:'ll|\s+will)\s+(?!be\b|not\b|have\b|never\b)\w+",
            rf"{_LEAD}(?:I|we)\s+(?:can|could){_ADVERBS}\s+(?:help|recommend|suggest|provide|show|give|offer|tell"
            rf"|find|try|answer|list|share|assist|explain|look|search|check|do\s+that|teach|send|make)\b",
            rf"{_LEAD}(?:let\s+me|allow\s+me\s+to)\s+\w+",
        ),
    ),
    (
        "SIGNAL-NON-UNDERSTANDING",
        _join_patterns(
            rf"\bI(?:'m|\s+am)?(?:\s+afraid\s+I)?{_ADVERBS}\s+(?:don't|do\s+not|didn't|did\s+not|couldn't"
            rf"|could\s+not|can't|cannot|not\s+sure\s+I)\s+(?:\w+\s+)?(?:understand|get\s+(?:it|that|you|what)"
            rf"|follow(?:ing)?|catch)\b",
            r"\bnot\s+sure\s+what\s+you\s+mean\b|\bI(?:'m|\s+am)\s+(?:not\s+following|confused)\b",
        ),
    ),
    (
        "HEDGE",
        _join_patterns(
            rf"{_LEAD}I(?:{_ADVERBS})\s+(?:don't|do\s+not|didn't|dont)\s+(?:\w+ly\s+)?know\b|{_LEAD}I(?:'m"
            rf"|\s+am)\s+not\s+(?:\w+ly\s+|quite\s+|too\s+)?(?:sure|certain)\b",
            rf"{_LEAD}(?:I\s+have\s+)?no\s+idea\b|{_LEAD}who\s+knows\b|{_LEAD}(?:dunno|idk)\b|{_LEAD}I\s+(?:can't"
            rf"|cannot)\s+(?:say|tell|be\s+sure)\b",
        ),
    ),
    (
        "REJECT",
        _join_patterns(
            r"^(?:(?:unfortunately|however|but|so|sadly|regrettably|at\s+this\s+time|currently"
            r"|as\s+an?\s+[^,]{1,60}|at\s+the\s+moment)\b,?\s+){0,3}"
            rf"(?:(?:I|we)(?:'m|'re|\s+am|\s+are)?{_ADVERBS}\s+(?:(?:cannot|can't|can\s+not|couldn't|could\s+not"
            rf"|won't|will\s+not|wouldn't)(?!\s+(?:\w+\s+)?(?:believe|wait|stand|remember|think|say|live|be\b))"
            r"|unable\s+to|not\s+able\s+to|not\s+allowed\s+to|refuse\s+to|(?:must|have\s+to)\s+decline|(?:do\s+not"
            r"|don't)\s+(?:currently\s+)?(?:have\s+(?:any\s+|enough\s+|the\s+)?(?:access|ability|information"
            r"|capability)|want\s+to|agree|think\s+so)))\b",
            r"^(?:that|this|it)(?:'s|\s+is)\s+(?:not\s+(?:true|right|correct|what\s+I)|wrong|incorrect|false)\b"
            r"|^I\s+disagree\b|^you(?:'re|\s+are)\s+wrong\b",
        ),
    ),
    (
        "APPRECIATION",
        _join_patterns(
            r"^(?:I\s+)?(?:really\s+)?(?:appreciate|enjoyed)\s+(?:it|that|your|the|talking|chatting)\b.{0,60}$"
        ),
    ),
    (
        "ACTION-DIRECTIVE",
        _join_patterns(
            rf"{_LEAD}{_IMPERATIVE}(?!\s*(?:of|is|was|are|were|has|will)\b)(?!\s*:)",
            r"\bI(?:'d\s+like|\s+would\s+like|\s+want|\s+need)\s+you\s+to\b",
        ),
    ),
)
_WORDS = re.compile(r"\w")


def act(text: str, *, leads: bool = False, shape: str = "prose", english: bool = True) -> FoundAct | None:
    """Return the act that a piece of a turn performs as a whole, or None for a statement, which is a claim (type F).

    The `text` must be normalised by `normalise_marks`. `leads` is true if the piece ends with a colon and something
    follows. `shape` is the shape of the piece's sentence. Without `english`, every question is of the unknown act
    `OTHER`.
    """
    whole = len(text)
    text = text.strip()
    if not _WORDS.search(text):
        return FoundAct("OTHER", "no-words", whole)
    if text.rstrip("!！\"'’”)*] \t\r\n").endswith(("?", "？")):
        if not english:
            return FoundAct("OTHER", "question-mark", whole)
        for name, pattern in _QUESTIONS:
            if _compile_pattern(pattern).search(text):
                return FoundAct(name, f"question-{name.lower()}", whole)
        return FoundAct("DECLARATIVE-YES-NO-QUESTION", "question-mark", whole)
    if shape == "heading":
        return FoundAct("OTHER", "heading", whole)
    if not english:
        return None
    for name, pattern in _STATEMENTS:
        if _compile_pattern(pattern).search(text):
            return FoundAct(name, f"stated-{name.lower()}", whole)
    if leads:
        return FoundAct("OTHER", "lead-in", whole)
    if shape == "prose":
        for name, pattern in _UNMARKED:
            if _compile_pattern(pattern).search(text):
                return FoundAct(name, f"unmarked-{name.lower()}", whole)
    return None
