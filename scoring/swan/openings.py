"""Dialogue acts at the beginning of a piece of a turn: `I'm sorry, …`, `Yes, …`, `Great question! …`.

Patterns are tried in order. The first match that is followed by a comma, a full stop or the end wins.
"""

import re

from scoring.swan.acts import FoundAct
from topics.late_pattern import lazy_pattern


def _whole_word_pattern(*patterns: str) -> re.Pattern[str]:
    return lazy_pattern(rf"(?:{'|'.join(f'(?:{pattern})' for pattern in patterns)})(?![\w'])", re.IGNORECASE)


_PRAISE = (
    r"(?:great|good|excellent|interesting|nice|wow|awesome|cool|wonderful|perfect|amazing|lovely|fantastic|brilliant"
    r"|impressive|fun|neat|well done|congratulations)"
)
_VERY = r"(?:(?:so|very|really|truly|pretty|quite|extremely|terribly|deeply|sincerely|do|just)\s+){0,3}"

# Openings before anything else is said. A comma, a full stop or the end must follow; after an apology, and after yes
# and no, `but` may.
_OPENINGS = (
    (
        "APOLOGY",
        _whole_word_pattern(
            rf"(?:(?:oh|ah|well|unfortunately),?\s+)?(?:I\s*(?:'m|am)\s+{_VERY}sorry|(?:{_VERY})sorry"
            rf"|(?:my\s+)?(?:sincere(?:st)?\s+)?apologies"
            rf"|(?:I|we)\s+{_VERY}apologi[sz]e|please\s+accept\s+(?:my|our)\s+\w*\s?apologies|my\s+bad|pardon\s+me"
            rf"|forgive\s+me)"
            r"(?:\s+(?:for|about|to\s+hear|if|that)\b(?:(?!\s+but\s)[^,.;:!?\n]){0,200})?"
        ),
    ),
    (
        "THANKING",
        _whole_word_pattern(
            r"(?:many\s+thanks|thank\s*(?:you|u)|thanks|thx)(?:\s+(?:so|very)\s+much|\s+a\s+(?:lot|bunch)|\s+again)?"
            r"(?:\s+(?:for|in\s+advance|to)\b[^,.;:!?\n]{0,200})?"
        ),
    ),
    (
        "CONVENTIONAL-OPENING",
        _whole_word_pattern(
            r"(?:hi|hello|hey|hiya|greetings|good\s+(?:morning|afternoon|evening)|welcome(?:\s+back)?)"
            r"(?:\s+(?:there|again|everyone|all|friend))?",
            r"(?:nice|pleased|glad|good|great)\s+to\s+(?:meet|see)\s+you(?:\s+too)?",
        ),
    ),
    (
        "CONVENTIONAL-CLOSING",
        _whole_word_pattern(
            r"good\s?bye|bye(?:[\s-]?bye)?|see\s+(?:you|ya)(?:\s+(?:later|soon|again|around|tomorrow))?|take\s+care"
            r"|have\s+an?\s+(?:\w+\s+){1,2}(?:day|one|evening|weekend|time|night|trip)|good\s?night|farewell"
            r"|(?:talk|speak)\s+to\s+you\s+(?:later|soon)"
        ),
    ),
    (
        "DOWNPLAYER",
        _whole_word_pattern(
            r"you(?:'re|\s+are)\s+(?:very\s+|most\s+)?welcome|no\s+problem|no\s+worries|(?:it\s+was\s+)?my\s+pleasure"
            r"|don't\s+worry(?:\s+about\s+(?:it|that))?|not\s+at\s+all|(?:that|it)(?:'s|\s+is)\s+(?:ok|okay"
            r"|all\s+right|alright|fine)"
        ),
    ),
    (
        "AGREEMENT",
        _whole_word_pattern(
            rf"(?:you(?:'re|\s+are)|that(?:'s|\s+is))\s+(?:absolutely\s+|totally\s+|quite\s+|{_VERY})?(?:right"
            rf"|correct|true)"
            r"|I\s+(?:totally\s+|completely\s+|fully\s+)?agree(?:\s+with\s+you)?|agreed|exactly|me\s+too"
            r"|same\s+here|so\s+do\s+I"
            r"|sure(?:\s+thing)?|certainly|absolutely|of\s+course|definitely|indeed|correct|right|fair\s+enough"
        ),
    ),
    (
        "YES",
        _whole_word_pattern(
            r"(?:oh\s+)?(?:yes|yeah|yep|yup|aye)(?:,?\s+(?:yes|yeah|sure|indeed|please|it\s+is|I\s+do|I\s+am))?"
        ),
    ),
    (
        "NO",
        _whole_word_pattern(
            r"(?:oh\s+)?(?:no|nope|nah)(?:,\s+no){0,50}(?:,?\s+(?:thanks|thank\s+you|not\s+really|I\s+don't))?"
            r"|not\s+really"
        ),
    ),
    (
        "ACKNOWLEDGE",
        _whole_word_pattern(
            r"(?:ok|okay|okey|k|alright|all\s+right|I\s+see|oh|ah|ahh?|hm+|mm+|uh[\s-]?huh|mhm|got\s+it|I\s+got\s+it"
            r"|understood"
            r"|I\s+understand|noted|oh,?\s+I\s+see|really|is\s+that\s+so|well)"
        ),
    ),
    (
        "APPRECIATION",
        _whole_word_pattern(
            rf"{_PRAISE}(?:,?\s+{_PRAISE}){{0,3}}(?:\s+(?:question|idea|point|choice|job|work|answer|one"
            rf"|to\s+hear(?:\s+that)?))?"
            rf"|(?:what|that(?:'s|\s+is|\s+was)|it(?:'s|\s+is)|this\s+is)\s+an?\s+{_VERY}{_PRAISE}\s+(?:question"
            rf"|idea|point|choice|one|list|answer)"
            rf"|(?:that(?:'s|\s+is|\s+was)?|it(?:'s|\s+is)|this\s+is"
            rf"|how)\s+(?:sounds\s+)?{_VERY}{_PRAISE}(?:\s+to\s+hear(?:\s+that)?)?"
            rf"|sounds\s+{_VERY}{_PRAISE}|i'?m\s+(?:so\s+|very\s+)?glad(?:\s+(?:to\s+hear|that"
            rf"|you)\b[^,.;:!?\n]{{0,80}})?|lol|haha\w*"
        ),
    ),
    (
        "MAYBE",
        _whole_word_pattern(r"maybe|perhaps|possibly|could\s+be|it\s+depends|I\s+guess(?:\s+so)?|sort\s+of|kind\s+of"),
    ),
)
_FOLLOWS = lazy_pattern(r"\s*(?:[,.;:!…–—-]+(?=\s|$|[A-Z\"])|$)|\s*(?=[)(]|[:;]-?[)(DP])")
_FOLLOWS_BUT = lazy_pattern(r"\s+(?=(?:but|and)\b)", re.IGNORECASE)
_BEFORE_BUT = {"APOLOGY", "YES", "NO", "AGREEMENT", "THANKING"}
_ADDRESS = lazy_pattern(r",?\s+[A-Z][\w'-]+(?=\s*[,.!?])")  # Hello, Anna.


def find_opening(text: str, *, answering: bool = False) -> FoundAct | None:
    """Return the act at the beginning of `text`, or None. If `answering`, yes and no count as answers to a question.
    The text must be normalised by `plain`."""
    for name, pattern in _OPENINGS:
        match = pattern.match(text)
        if match is None:
            continue
        end = match.end()
        if name in ("CONVENTIONAL-OPENING", "CONVENTIONAL-CLOSING", "THANKING"):
            address = _ADDRESS.match(text, end)
            end = address.end() if address else end
        followed = _FOLLOWS.match(text, end)
        if followed is None and name in _BEFORE_BUT:
            followed = _FOLLOWS_BUT.match(text, end)
        if followed is None:
            continue
        meant = {"YES": "YES-ANSWER", "NO": "NO-ANSWER"} if answering else {"YES": "AGREEMENT", "NO": "REJECT"}
        return FoundAct(meant.get(name, name), f"opening-{name.lower()}", end)
    return None
