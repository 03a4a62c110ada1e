"""The most common phrases that identify a speaker other than the person a model speaks for.

The expressions ignore case and are for text from `simulators.llm.acceptance.normalise_letters`.
"""

import re
import unicodedata
from typing import Final

from topics.late_pattern import lazy_pattern

# A model's tags and marks, complete or cut JSON, an unfilled template.
MARKUP: Final = lazy_pattern(
    r"<\|[^|>\n]{0,40}\|>|<\uff5c|\[/?INST\]|<</?SYS>>"
    r"|(?-i:</?(?:[a-z][\w:-]{0,40}|[A-Z_]{2,40})(?:\s+[\w:-]+=[^<>\n]{0,200})?\s*/?>)"
    r"|^\s*[\[{].*[\]}]\s*$|^\s*[\[{]\s*[\"']|\{\{|\}\}|\{%|%\}|\[/?(?:END|EOS|EOF|STOP|DONE|BOS|PAD|UNK)\]"
    r"|^\s*<(?:!doctype|html|\?xml)\b",
    re.IGNORECASE | re.DOTALL,
)

_ROLES = (
    r"(?:user|human|person|customer|assistant|chatbot|bot|system|ai|service|answer|response|reply|message"
    r"|rephrased|rewritten|paraphrased?|reworded|output|note|ユーザー|アシスタント|用户|助手)"
)
# The name of a role or of a task at the beginning of a line, or a direction for the stage at the beginning.
ROLE: Final = lazy_pattern(
    rf"^\W*{_ROLES}(?:'s)?(?:\s+(?:next|new|first|last))?"
    rf"(?:\s+(?:says?|turn|message|said|writes?|asks?|version|reply|\d+))?\s*\W?\s*[:：]"
    # "Rewritten message: …", and what the person does: "*sighs* …", "(laughing) …"
    r"|\A\W*(?:the\s+|my\s+)?(?:next|new|(?:re)?written|re-?worded|(?:re|para)phrased|final)\s+(?:\w+\s+)?(?:message|turn|utterance"
    r"|version|sentence|reply|response)\s*\W?\s*[:：]|\A\s*\*[a-z]+(?:s|ing)\b[^*\n]{0,40}\*\s|\A\s*[(\[](?:sigh|laugh|smil|nod|frown|paus"
    r"|think|wait|cough|chuckl|shrug|grin|giggl)\w*\b[^)\]\n]{0,40}[)\]]"
    rf"|^\W*{_ROLES}\s*(?:>|\s[-–—]\s|\n\s*\S)|^\W*turn\s+\d+\s*[:：]|^\s*[\[<(]\s*{_ROLES}\s*[\])>]"
    r"|\A\s*[(\[*](?:as\s+(?:the|a)\b|in\s+the\s+|(?:keep|speak|type|writ|say|ask|us|sound|repl|rephras|stay|maintain)"
    r"\w*\s)[^)\]*\n]*[)\]*]",
    re.IGNORECASE | re.MULTILINE,
)

APOLOGY: Final = lazy_pattern(
    r"\b(?:sorry|apolog(?:y|ies|i[sz]e[sd]?|i[sz]ing)|forgive\s+me|pardon\s+me|my\s+(?:bad|mistake)|i\s+regret)\b"
    r"|\bexcuse\s+me\b|\bi\s+beg\s+your\s+pardon\b|\boops\b"
    r"|\bi(?:'m|\s+am)\s+afraid\s+(?:i|that|my|this|it|we|not|there)\b"
    r"|申し?訳(?:ござい|あり|ない)|ごめん|すみません|すいません|失礼(?:し|いた)|お詫び|恐れ入り"
    r"|抱歉|对不起|對不起|不好意思|道歉"
    r"|\bentschuldig|\b(?:tut|täte)\s+mir\s+leid|\bverzeih"
    r"|\bdésolée?s?\b|\bpardon(?:nez|ne)?\b|\bexcuse[sz]?[- ]moi\b|\bmes\s+excuses\b"
    r"|\blo\s+siento\b|\bperd[oó]n(?:a|e|en)?\b|\bdisculp(?:a|e|en|as)\b",
    re.IGNORECASE,
)

_MACHINE = (
    r"\b(?:as|i\s*a?m|i'm|i\s+am)\s+(?:just\s+|only\s+|merely\s+)?(?:an?\s+)(?:[\w-]+\s+){0,3}?"
    r"(?:ai|a\.i\.|llm|language\s+model|artificial\s+intelligence|chatbot|bot|virtual\s+assistant|assistant"
    r"|digital\s+assistant|computer\s+program)\b"
    r"|\bmy\s+(?:training\s+data|knowledge\s+cut-?off|training)\b|\bi\s+was\s+trained\b"
    r"|\b(?:i\s+(?:do\s+not|don't)\s+have\s+(?:personal|real-time|access)|in\s+this\s+role-?play|as\s+the\s+user\b)"
    r"|\bsimulated?\s+(?:user|person)\b|\b(?:i\s+(?:cannot|can't|can\s+not)|i'm\s+(?:not\s+able|unable)\s+to)\s+"
    r"(?:help|assist|fulfil+|comply|provide|role-?play|continue\s+with|generate|create)\b"
    r"|(?:言語モデル|AIアシスタント|AIとして|ＡＩとして|私はAI)|(?:作为|作為)(?:一个|一個|一名)?\s?(?:AI|人工智能|语言模型)"
    r"|\bals\s+(?:eine?\s+)?(?:KI|Sprachmodell)|\ben\s+tant\s+qu['e]\s?(?:une?\s+)?(?:IA|intelligence|assistant|modèle)"
    r"|\bcomo\s+(?:una?\s+)?(?:IA|inteligencia|asistente|modelo)\b"
)
_OFFERS = (
    r"\bhow\s+(?:can|may|could)\s+i\s+(?:help|assist|be\s+of)"
    r"|\bi(?:'m|\s+am)\s+here\s+to\s+(?:help|assist|support)"
    r"|\bi(?:'d|\s+would|'ll|\s+will)\s+(?:be\s+)?(?:happy|glad|delighted|pleased)\s+to\s+(?:help|assist|provide|answer)"
    r"|\b(?:happy|glad)\s+to\s+(?:help|assist)\b"
    r"|\b(?:let\s+me|i\s+can|i\s+could|i'll|i\s+will|allow\s+me\s+to)\s+(?:help|assist|guide|walk)\s+you\b"
    r"|\b(?:can|may|shall|should)\s+i\s+(?:help|assist)\s+(?:you\s+)?(?:with|further|in)\b"
    r"|\blet\s+me\s+know\s+(?:if|how|what|whether|which)\s+you\b|\b(?:please\s+)?feel\s+free\s+to\b"
    r"|\bdon't\s+hesitate\s+to\b|\bis\s+there\s+anything\s+else\b|\banything\s+else\s+(?:i\s+can|you(?:'d|\s+would))"
    r"|\bwould\s+you\s+like\s+me\s+to\b|\bi\s+hope\s+(?:this|that|it)\s+helps\b|\bthank\s+you\s+for\s+(?:reaching"
    r"|your\s+(?:question|patience|inquiry|enquiry|understanding))"
    r"|お手伝い(?:し|いた|でき)|お役に立て|お気軽に|いかがいたしましょう|我可以(?:帮|幫|为您|為您)|有什么可以帮"
    r"|\bwie\s+kann\s+ich\s+(?:ihnen|dir|euch)\b|\bgerne\s+helfe\s+ich\b|\bcomment\s+puis-je\s+vous\s+aider"
    r"|\ben\s+qué\s+puedo\s+ayudar|\bpuedo\s+ayudar(?:te|le)\b"
    r"|\byou(?:'re|\s+are)\s+(?:very\s+|most\s+)?welcome\b|\b(?:glad|happy|pleased)\s+(?:i|that\s+i)\s+could\s+help\b"
    r"|\b(?:what|which)\s+(?:kinds?|sorts?|types?)\s+of\b[^.!?\n]{0,80}\bare\s+you\s+(?:looking\s+for|interested\s+in|after)\b"
    r"|\blet\s+me\s+(?:check|look|search|find|see|get|pull)\b[^.!?\n]{0,80}\bfor\s+you\b"
)
_ADVICE = (
    r"(?:\A|[.!?:]\s+)\W*(?:(?:i(?:'d|\s+would)?\s+(?:highly\s+|strongly\s+)?(?:recommend|suggest)"
    r"|you\s+(?:could|might|may|can)\s+(?:want\s+to\s+)?(?:try|watch|check\s+out|consider))\b(?![^.!?\n]*\?))"
)
_OPENS_AS_ONE = (
    r"\A\W*(?:certainly|of\s+course|absolutely|sure(?:\s+thing)?|great\s+question|good\s+question|gladly)\s*[!,.:]?\s+"
    r"(?:here|i|let|below|the\s+following|that|this)\b"
    r"|\A\W*(?:great|good|excellent)\s+question\b"
    r"|\A\W*(?:here(?:'s|\s+is|\s+are)|below\s+(?:is|are)|the\s+following\s+(?:is|are))\b"
    r"|\A\W*(?:以下(?:は|が|の)|こちら(?:は|が)|当然可以|好的，以下)"
    r"|\b(?:certainly|absolutely)!"
    r"|\A\W*here\s+you\s+(?:go|are)\b"
)
# Self-description, an offer of help, accepted thanks, advice, an assistant's opening.
ASSISTANT: Final = lazy_pattern("|".join((_MACHINE, _OFFERS, _ADVICE, _OPENS_AS_ONE)), re.IGNORECASE)

# Orders to a model about its instructions.
ORDERS: Final = lazy_pattern(
    r"\b(?:ignore|disregard|forget|override|bypass)\s+(?:all\s+|any\s+|the\s+|your\s+|my\s+|of\s+|these\s+|those\s+){0,3}"
    r"(?:previous|prior|above|earlier|preceding|system|former)\s+(?:\w+\s+)?(?:instructions?|prompts?|messages?|rules?)\b"
    r"|\b(?:print|reveal|show|repeat|output|tell\s+me|what\s+is)\s+(?:me\s+)?(?:your|the)\s+(?:system\s+prompt|instructions)\b",
    re.IGNORECASE,
)

# "Ignore all previous instructions" in other languages: the parts, in either order.
_DROP: Final = (
    r"(?:ignor|negeer|vergiss|vergeet|oubli|olvid|esqueç|dimentic|игнориру|забудь|αγν[οό]|zignoruj|zapomnij|yok\s+say|unut"
    r"|تجاهل|無視|忽略|忘れ|忘记|무시|unohda|glöm|glem)"
)
_EARLIER: Final = (
    r"(?:bisherig|vorherig|obig|précédent|anterior|precedent|vorige|eerdere|これまで|以前|上記|之前|以上|先前|이전|предыдущ"
    r"|προηγούμεν|poprzedni|önceki|السابق|aiem|tidigare|tidligere)"
)
_GIVEN: Final = (
    r"(?:anweisung|instruction|instruccion|istruzion|instruç|instructie|指示|指令|命令|지시|명령|инструкци|указани|οδηγί"
    r"|instrukcj|polece|talimat|تعليمات|أوامر|ohjee|instruktion|instruks)"
)

# "You are now the assistant": the part, and who is told to take it.
_PARTS: Final = (
    *("assistant", "chatbot", "asist", "assistent", "asystent", "avustaja", "βοηθός", "ассистент", "помощник"),
    *("アシスタント", "助手", "助理", "어시스턴트", "비서"),
)
_NEW_PART: Final = (
    r"(?:\byou(?:'re|’re|\s+are)(?:\s+(?:now|from\s+now\s+on))?\s+(?:the|an?)\s+"
    r"|\bdu\s+bist\s+(?:jetzt|nun|ab\s+\w+)\s+(?:der|ein)\s+|\b(?:tu\s+es|vous\s+êtes)\s+(?:désormais|maintenant)\s+(?:l['’]|un\s+)"
    r"|\bahora\s+(?:\w+\s+)?eres\s+(?:el|un)\s+|\beres\s+ahora\s+(?:el|un)\s+|\bsei\s+(?:ora|adesso)\s+(?:l['’]|un\s+)"
    r"|\bvocê\s+(?:agora\s+é|é\s+agora)\s+o\s+|\bje\s+bent\s+(?:nu|voortaan)\s+(?:de|een)\s+|(?:今から|これから|今後)[^。]{0,8}"
    r"|(?:从现在起|從現在起|现在|現在)(?:你|您)(?:就)?是[^。，]{0,6}|(?:你|您)(?:现在|現在)(?:就)?是[^。，]{0,6}|\b(?:ты|вы)\s+теперь\s+|당신은\s?이제\s?|이제\s?당신은\s?"
    r"|\bteraz\s+jesteś\s+|\bjesteś\s+teraz\s+|\bείσαι\s+τώρα\s+ο\s+|\bolet\s+nyt\s+)"
    rf"(?:{'|'.join(_PARTS)})|\bartık\s+(?:sen\s+)?(?:bir\s+)?asistan"
)
# What hides a word from a search, and from nobody who reads it.
_UNSEEN: Final = dict.fromkeys(map(ord, "\xad\u200b\u200c\u200d\u2060\ufeff"))

# For text in lower case: words of orders, and the orders. Most answers have none of the words,
# and searching for them first takes a tenth of the time.
_COMMANDS: Final = tuple(
    (words, lazy_pattern(pattern, re.MULTILINE))
    for words, pattern in (
        (
            ("exactly",),
            r"\b(?:reply|respond|answer|write|say|output|print|type)\s+(?:only\s+)?(?:with\s+)?exactly\b",
        ),
        (
            ("reply", "respond", "answer"),
            r"\b(?:reply|respond|answer)\s+(?:with\s+)?(?:only|just|nothing\s+but)\s+(?:with\s+)?[\"'\[<]",
        ),
        (
            ("instruction", "prompt", "system"),
            r"\b(?:new|updated|system)\s+(?:instructions?|prompts?)\s*:|^\W{0,5}system\s*:",
        ),
        (
            ("you are",),
            r"\byou are\s+(?:now\s+)?(?:an?\s+)?"
            r"(?:ai|assistant|language\s+model|simulated\s+user|the\s+(?:user|customer))\b"
            r"|\byou are\s+(?:simulating|playing|role-?playing|acting\s+as)\s+(?:an?|the)\s+(?:\w+\s+)?"
            r"(?:user|customer|client|person)\b",
        ),
        (
            ("nothing else",),
            r"\b(?:reply|respond|answer|write|say|output|print|type)\b[^.!?\n]{1,80}\band\s+nothing\s+else\b",
        ),
        (
            ("your next", "your message", "your reply", "your answer", "your response", "your turn"),
            r"\byour\s+next\s+(?:message|reply|answer|turn|response|question)\s+(?:must|should|has\s+to|will)\b"
            r"|\b(?:begin|start|end|finish|close)\s+your\s+(?:next\s+)?(?:message|reply|answer|turn|response)\s+with\b",
        ),
        (
            ("ai", "llm", "model"),
            r"\b(?:to|attention|note\s+(?:to|for))\W+(?:the|any|all)\s+(?:ai|llm|language\s+model|model)s?"
            r"(?:\s+(?:reading|processing|simulating|that\s+reads?)\b|\s*:)",
        ),
        (
            ("above", "forget", "disregard", "ignore"),
            r"\b(?:ignore|disregard|forget)\s+(?:(?:all|everything)\s+)?(?:of\s+)?the\s+above\b(?!\s+(?:\w+\s+)?(?:if|when|unless)\b)"
            r"|\b(?:ignore|disregard|forget)\s+(?:everything|all|anything)\s+(?:that\s+)?you\s+(?:were|have\s+been)\s+told\b"
            r"|\bforget\s+(?:about\s+)?your\s+(?:role|part|persona|character|instructions?|task)\b"
            r"|\b(?:repeat|print|output)\s+(?:\w+\s+){0,2}(?:text|words|prompt|everything)\s+above\b",
        ),
        (
            ("your new", "### "),
            r"\byour\s+new\s+(?:task|role|goal|instructions?|job)\s+(?:is|are)\b|^\W{0,3}###\s+(?:instructions?|system|task)\b",
        ),
        (_PARTS, _NEW_PART),
        (
            ("prompt", "プロンプト", "промпт", "提示", "프롬프트"),
            r"\b(?:print|reveal|show|repeat|output|zeig\w*|nenn\w*|verrate?|révèl\w+|montr\w+|affich\w+|revel\w+|muestr\w+|mostr\w+"
            r"|rivel\w+|toon|onthul|покажи\w*|раскрой\w*|pokaż|ujawnij|göster\w*)\s+(?:\w+\s+){0,3}(?:system-?\s*)?(?:prompt|промпт)\w*"
            r"|(?:输出|顯示|显示|告诉我)[^。]{0,6}(?:系统|系統)?(?:提示词|提示詞|提示)|プロンプトを(?:表示|出力|教え)|프롬프트를\s?(?:출력|보여|알려)",
        ),
        (
            tuple(_EARLIER.strip("(?:)").split("|")),
            rf"{_DROP}.{{0,40}}{_EARLIER}.{{0,20}}{_GIVEN}|{_DROP}.{{0,40}}{_GIVEN}.{{0,20}}{_EARLIER}"
            rf"|{_EARLIER}.{{0,20}}{_GIVEN}.{{0,20}}{_DROP}",
        ),
        (
            ("conversation", "chat", "dialogue"),
            r"\b(?:end|leave|stop|finish)\s+(?:the|this)\s+(?:conversation|chat|dialogue)\s+(?:now|immediately|at\s+once)\b",
        ),
        (("<|", "inst]", "sys>>"), r"<\|[^|>\n]{0,40}\|>|\[/?inst\]|<</?sys>>"),
        (
            ("ignor", "忽略", "無視"),
            r"(?:ignorie|ignorez|ignora|忽略|無視).{0,40}(?:anweisung|instruction|instruccion|指示|指令)",
        ),
    )
)
# Every match of `ORDERS` contains one of these.
_TOLD: Final = ("instruction", "prompt", "message", "rule")


def gives_order_to_model(text: str) -> bool:
    """Return True if an answer gives an order to a model that plays the user. Such answers are only counted, because
    people may get similar answers."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text.translate(_UNSEEN))
    plain = text.casefold()
    if "SATISFIED" in text or "GIVES UP" in text or (any(word in plain for word in _TOLD) and ORDERS.search(text)):
        return True
    for words, order in _COMMANDS:
        for word in words:  # nested calls of `any` take three times as long, for every answer of a run
            if word in plain:
                if order.search(plain):
                    return True
                break
    return False


SELF_ANSWERED: Final = lazy_pattern(
    r"[?？]\W+(?i:the\s+answer\b|the\s+(?:correct|right|best)\s+\w+\s+(?:is|are)\b|it(?:'s|\s+is|\s+was)\b"
    r"|they(?:'re|\s+are|\s+were)\b|that\s+(?:is|was|would\s+be)\b|yes\b|no,|here(?:'s|\s+is|\s+are)\b|there\s+(?:is|are)\b"
    r"|はい|答えは|それは|是的|答案是|die\s+antwort|la\s+réponse|la\s+respuesta)"
    r"|[?？]\s+(?:[A-Z][\w'&:-]*\s+){1,8}(?:is|was|are|were)\s+(?:one|some|good|great|the)\b",
)
