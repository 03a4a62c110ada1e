"""Names, times, states and notices around messages in chats, in the most common languages. The phrases are matched
against whole lines only. Other modules decide whether a line is left out, because a time may be the answer."""

import re
from collections.abc import Iterable

_CLOCK = (
    r"(?:上午|下午|午前|午後|오전|오후)?\s?\d{1,2}[:：]\d{2}(?:[:：]\d{2})?(?:\s?[ap]\.?\s?m\.?)?(?:\s?(?:uhr|h|utc|gmt))?"
    r"|\d{1,2}(?:[.h]\d{2})?\s?(?:[ap]\.?\s?m\.?|uhr)|\d{1,2}\s?h\s?\d{2}"
)
_MONTH = (
    r"(?:jan|feb|fev|f[ée]v|mar|mär|mrz|apr|avr|abr|may|mai|mag|mei|jun|jui|giu|jul|lug|ago|aug|ao[uû]|sep|set|oct|okt|out"
    r"|ott|nov|dec|dez|d[ée]c|dic|gen|ene)[a-zà-ÿ]{0,7}\.?"
)
_DATE = (
    r"\d{1,2}[./-]\d{1,2}[./-](?:\d{4}|\d{2})|\d{4}[./-]\d{1,2}[./-]\d{1,2}(?:[t ]\d{2}:\d{2}(?::\d{2})?(?:\.\d+)?z?)?"
    rf"|\d{{1,2}}\.?\s(?:de\s)?{_MONTH}(?:,?\s(?:de\s)?\d{{4}})?|{_MONTH}\s\d{{1,2}}(?:st|nd|rd|th)?(?:,?\s\d{{4}})?"
    r"|(?:\d{2,4}\s?[年년]\s?)?\d{1,2}\s?[月월]\s?\d{1,2}\s?[日일]"
)
_DAY = (
    r"(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?|today|yesterday|heute|gestern|montag|dienstag"
    r"|mittwoch|donnerstag|freitag|samstag|sonntag|aujourd['’]hui|hier|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche"
    r"|hoy|ayer|lunes|martes|mi[ée]rcoles|jueves|viernes|s[áa]bado|domingo|oggi|ieri|hoje|ontem|vandaag|gisteren"
    r"|сегодня|вчера|今天|昨天|今日|昨日|오늘|어제|星期[一二三四五六日]|[月火水木金土日]曜日?"
)
_UNIT = (
    r"(?:s|m|h|d|w|sec(?:ond)?s?|min(?:ute)?s?|h(?:ou)?rs?|hours?|days?|weeks?|months?|years?|sek(?:unden?)?|minuten?"
    r"|std\.?|stunden?|tag(?:en?)?|sec(?:onde)?s?|heures?|jours?|segundos?|minutos?|horas?|d[ií]as?|secondi|minuti|ore)\.?"
)
_AGO = (
    rf"(?:just\s)?now|(?:a\sfew\s|a\s|an\s|about\s)?(?:\d+\s?)?{_UNIT}\sago|vor\s(?:\d+|einer|einem)\s{_UNIT}"
    rf"|il\sy\sa\s\d+\s{_UNIT}|h[aá](?:ce)?\s\d+\s{_UNIT}|\d+\s?{_UNIT}\s(?:fa|geleden|atrás)|less\sthan\sa\sminute\sago"
    r"|gerade\seben|à\sl['’]instant|ahora(?:\smismo)?|adesso|agora|刚刚|剛剛|\d+\s?(?:秒|分钟|分鐘|分|小时|小時|時間|天|日)[之以]?前|방금|\d+\s?(?:초|분|시간|일)\s?전"
    r"|только\sчто"
)
_AT = r"(?:at|on|um|am|à|le|a\slas|alle|às|om|в)\s"
_TIME = rf"(?:{_AT})?(?:{_CLOCK}|{_DATE}|{_DAY}|{_AGO})"
_BREAK = r"[\s,;·•|–—\-/()\[\]・、✓✔]+"
_TIMES = re.compile(rf"[\W_]*{_TIME}(?:{_BREAK}{_TIME})*[\W_]*", re.IGNORECASE)

_NAMED_TIME = re.compile(rf"(?P<name>(?!\d)\w[\w'’.-]*(?:\s\w[\w'’.-]*){{0,2}}),?\s+(?i:{_TIME})")

_ROLES = (
    r"(?:the\s|your\s|virtual\s|digital\s)?(?:(?:ai|chat|virtual|support|digital|voice)[\s-]?)?"
    r"(?:assistant|agent|bot|chat\s?bot|assistent|assistente|asistente|assistant\sia|copilot|chatgpt|gpt-?\S{0,6}|claude|gemini)"
    r"|ai|a\.i\.|ki|ia|model|system|support"
    r"|助手|机器人|機器人|智能助手|アシスタント|ボット|챗봇|어시스턴트|бот|ассистент|assistent"
)
_PEOPLE = (
    r"you|me|user|human|guest|visitor|customer|du|sie|ich|vous|moi|tu|tú|usted|yo|você|voce|eu|io|jij|ik|вы|ты|я"
    r"|nutzer|benutzer|gast|utilisateur|usuario|usuário|utente|你|您|我|用户|用戶|あなた|ユーザー|사용자|나"
)
_SAID = r"(?:\s(?:said|says|wrote|answered|replied|sagt|schreibt|a\sdit|dijo))?\s?[:：]?"
_ROLE = re.compile(rf"(?:{_ROLES}|{_PEOPLE}){_SAID}", re.IGNORECASE)
_PART = rf"(?:{_TIME}|(?:{_ROLES}|{_PEOPLE}){_SAID}|edited|bearbeitet)"
_LABEL = re.compile(rf"[^\w\s]*\s*{_PART}(?:{_BREAK}{_PART})*[\W_]*", re.IGNORECASE)

_DELIVERY_WORDS = (
    r"(?:not\s(?:yet\s)?)?(?:sent|delivered|read|seen|received)|sending|delivering|posting|posted|submitted|pending|queued"
    r"|message\ssent|(?:wird|noch\snicht)\s(?:gesendet|zugestellt|versendet|übermittelt|gelesen)|gesendet|versendet|verschickt"
    r"|zugestellt|ausgeliefert|gelesen|gesehen|empfangen|ausstehend|(?:en\scours\sd['’])?envoi(?:\sen\scours)?|envoyée?"
    r"|distribuée?|remise?|livrée?|lue?|vue?|reçue?|non\slue?|en\sattente|enviando|(?:a\s)?enviar|enviad[oa]|entregad[oa]"
    r"|entregue|leíd[oa]|lid[oa]|vist[oa]|recibid[oa]|recebid[oa]|pendiente|pendente|(?:in\s)?invio(?:\sin\scorso)?"
    r"|inviat[oa]|consegnat[oa]|lett[oa]|visualizzat[oa]|ricevut[oa]|in\sattesa|(?:wordt|bezig\smet)?\s?verzenden"
    r"|(?:wordt\s)?verzonden|verstuurd|bezorgd|afgeleverd|gelezen|gezien|ontvangen|wysyłanie|wysłan[oay]|dostarczon[oay]"
    r"|przeczytan[oay]|odczytan[oay]|wyświetlon[oay]|отправка|отправляется|отправлен[оа]?|доставлен[оа]?|прочитан[оа]?"
    r"|просмотрен[оа]?|получен[оа]?|gönderiliyor|gönderildi|iletildi|teslim\sedildi|okundu|görüldü|جارٍ?\sالإرسال"
    r"|جاري\sالإرسال|قيد\sالإرسال|تم\sالإرسال|تم\sالتسليم|تم\sالتوصيل|تمت\sالقراءة|تمت\sالمشاهدة|भेजा\sजा\sरहा(?:\sहै)?"
    r"|भेजा\sगया|डिलीवर\sहुआ|पहुंच\sगया|देखा\sगया|पढ़ा\sगया|送信中|送信しています|送信済み?|送信しました|配信済み|既読|未読"
    r"|发送中|正在发送|已发送|发送成功|已?送达|已读|未读|已收到|傳送中|正在傳送|已傳送|已送出|已送達|已讀|未讀|전송\s?중|보내는\s?중"
    r"|전송됨|전송\s?완료|보냄|전달됨|(?:안\s?)?읽음"
)
_BY = r"(?:(?:by|von|par|por|door|przez|to)\s\w[\w'’.-]*(?:\s\w[\w'’.-]*)?)"
_DELIVERY = re.compile(
    rf"[\W_]*(?:{_DELIVERY_WORDS})(?:{_BREAK}(?:{_DELIVERY_WORDS}|{_TIME}|{_BY}))*[\W_]*", re.IGNORECASE
)

_STATUS_WORDS = (
    rf"{_DELIVERY_WORDS}|copied!?|copy(?:\scode|\stext|\smessage)?|edit(?:ed)?|re-?generate(?:\sresponse)?|retry"
    r"|try\sagain|share|like|dislike|good\sresponse|bad\sresponse|read\saloud|show\s(?:more|less)|see\smore|report"
    r"|helpful\??|was\sthis\shelpful\??|kopiert!?|kopieren|bearbeitet|neu\sgenerieren|teilen"
    r"|copié!?|copier|modifié|copiado!?|copiar|editado|复制|已复制|编辑|重新生成|コピー"
)
_STATUS = re.compile(rf"[\W_]*(?:{_STATUS_WORDS})(?:[\W_]+(?:{_STATUS_WORDS}))*[\W_]*", re.IGNORECASE)
_LONGEST_RATING_QUESTION = 60  # characters
_RATING_QUESTION = re.compile(
    r"\b(?:was|were|is|did|how\swas|rate)\s(?:this|that|it|the|these|my|our)\b.{0,30}\b(?:helpful|useful|help|answers?|responses?"
    r"|reply|conversation|chat)\b|\b(?:hilfreich|weitergeholfen|utile|útil|nuttig|pomocn[aey]|faydalı)\b.{0,10}\?|役に立ちましたか"
    r"|有帮助吗|有幫助嗎|도움이\s?되|полез|مفيد",
    re.IGNORECASE,
)
_COUNTER = re.compile(r"[\s<>‹›«»◀▶←→]*\d{1,3}\s?/\s?\d{1,3}[\s<>‹›«»◀▶←→]*")

_WAITING = (
    r"(?:is\s)?(?:currently\s)?(?:still\s)?(?:typing|thinking|writing|generating|loading|processing|searching|working"
    r"|responding|answering|reasoning|analy[sz]ing|preparing|composing)"
)
_PLACEHOLDER = re.compile(
    rf"[\W_]*(?:(?:processing|queue:?[\s\d/]*|pending)?\s?\|?\s?\d+\.\d(?:/\d+\.\d)?s|(?:[\w.’'-]+\s){{0,3}}{_WAITING}(?:\s(?:an?\s|the\s|your\s|for\s|on\s|it\s?)?(?:answers?|response|reply|request"
    r"|web|question|that|this|message))?"
    r"|(?:[\w-]+\s){0,3}(?:schreibt|tippt|denkt\snach|überlegt)|wird\sgeladen|lädt|(?:[\w-]+\s){0,3}est\sen\strain\sd['’]écrire"
    r"|chargement|réfléchit|escribiendo|pensando|cargando|digitando|scrivendo|carregando|печатает|думает"
    r"|正在输入|思考中|加载中|正在思考|生成中|入力中|考え中|입력\s?중|생각\s?중)(?:[.…。·]+|\s?\d+\s?%?)*[\W_]*",
    re.IGNORECASE,
)
_HOLDING = re.compile(
    r"[\W_]*(?:one\s(?:moment|second)(?:,?\splease)?|just\sa\s(?:moment|second|sec)|please\swait|hold\son|einen\smoment"
    r"|un\s(?:instant|momento)|请稍候|少々お待ちください)\s?(?:\.\.+|…|。。+|·{2,})[\W_]*",
    re.IGNORECASE,
)
_CURSOR = re.compile(r"[ \t]*[▍▌▋▊▎▏█]$")
_REASONING = re.compile(
    r"[\W_]*(?:thought|thinking|thoughts|reasoning|reasoned|chain[\s-]of[\s-]thought|show\s(?:thinking|reasoning|thoughts)"
    r"|view\s(?:thinking|reasoning)|analy[sz]ed|searched|used|using|steps?\b.{0,20}|gedanken(?:gang)?|nachgedacht|raisonnement"
    r"|réflexion|razonamiento|pensamiento|思考|推理|已深度思考|深度思考|思考过程)\b.{0,60}",
    re.IGNORECASE | re.DOTALL,
)
_SECONDS = r"(?:~\s?)?\d+(?:[.,]\d+)?\s?(?:ms|s|secs?|seconds?|sek(?:unden)?|secondes?|segundos?)\.?"
_TOOK = re.compile(
    rf"(?:(?:in|took|time|latency|duration|response\stime|dauer|durée)\s?:?\s?)?{_SECONDS}", re.IGNORECASE
)
_TOOK_BY = re.compile(
    r"(?:answered|generated|written|replied|responded|completed|finished|processed|took|beantwortet|generiert|erstellt|répondu"
    rf"|généré|respondido|generado)(?:\s(?:by|with|using|von|mit|par|avec|por|con)\s\S+(?:\s\S+){{0,3}}?)?(?:\s(?:in|en))?\s{_SECONDS}",
    re.IGNORECASE,
)
_TOKENS = re.compile(
    r"(?:tokens?\s?:\s?)?\d[\d.,]*\s?k?\s?(?:(?:prompt|completion|total|input|output)\s)?tok(?:en)?s?(?:\s?/\s?s(?:ec)?|\sper\ssecond)?",
    re.IGNORECASE,
)
_LASTING = (
    rf"(?:\d+(?:[.,:]\d+)?\s?(?:{_UNIT}|秒(?:间|間)?|分(?:钟|間)?|초|분)"
    r"|(?:an?|some|several|a\sfew|a\scouple\sof|einige|einen|quelques|unos|algunos|alcuni)\s\w+)"
)
_THOUGHT = (
    r"(?:thought|thinking|reasoning)\s(?:process|steps|trace|summary|complete|completed|finished|done)|thought|thoughts"
    r"|thinking|thinking\sit\sthrough|reasoned|reasoning|pondered|chain[\s-]of[\s-]thought|(?:deep|extended)\s?think(?:ing)?"
    r"|nachgedacht|nachdenken|denkt\snach|gedanken(?:gang|gänge)?|überlegt|überlegung(?:en)?|denkprozess"
    r"|réflexion|raisonnement|(?:a\s)?réfléchi|réfléchit|razonamiento|razonando|pensamiento|(?:ha\s)?pensado|pensó|pensando"
    r"|ragionamento|(?:ha\s)?(?:pensato|ragionato)|raciocínio|pensou|nagedacht|redenering|przemyśle(?:nia|ł)|rozumowanie"
    r"|размышлени[ея]|рассуждени[ея]|думал[а]?|(?:已)?(?:深度)?(?:思考|推理)(?:过程|過程|完成|了|中|時間|プロセス)?|考え中|考えました"
    r"|생각(?:\s?중|함|했음|하는\s?과정|\s?과정)?|추론(?:\s?과정)?"
)
_FOR = r"(?:for|in|about|für|pendant|durant|durante|por|per|voor|в\sтечение|用时|用時|耗时|동안)"
_THOUGHT_TITLE = re.compile(
    rf"[\W_]*(?:(?:show|hide|view|see|expand|collapse)\s)?(?:(?:my|the|model|full)\s)?(?:{_LASTING}\s?(?:lang\s|{_FOR}\s)?)?"
    rf"(?:{_THOUGHT})(?:[\s(（:：·•,-]*(?:{_FOR}\s?)?{_LASTING})?[\W_]*",
    re.IGNORECASE,
)
_MORE_OF = (
    r"(?:\s(?:the\s|this\s|full\s|entire\s|whole\s|der\s|die\s|la\s|le\s)?"
    r"(?:answer|response|message|reply|text|output|antwort|nachricht|réponse|respuesta|risposta|resposta))?"
)
_GO_ON = re.compile(
    rf"[\W_]*(?:(?:continue|keep|resume)\s(?:generating|writing|going|typing){_MORE_OF}|(?:continue|resume|complete|finish){_MORE_OF}"
    r"|continue\sgeneration|generate\s(?:more|the\srest)|go\son|carry\son|keep\sgoing"
    r"|weiter(?:\s?(?:generieren|schreiben|machen|erzeugen))?|fortsetzen|fortfahren|(?:antwort|generierung)\sfortsetzen"
    r"|continuer(?:\s(?:à|de)\s(?:générer|écrire)|\sla\s(?:génération|réponse))?|poursuivre|(?:continuar|seguir)(?:\s(?:generando|escribiendo|gerando|a\sgerar|generación|geração))?"
    r"|continua(?:re)?(?:\s(?:a\s)?(?:generare|generazione|scrivere))?|doorgaan(?:\smet\sgenereren)?|ga\sdoor|kontynuuj(?:\sgenerowanie)?"
    r"|продолжить(?:\s(?:генерацию|ответ))?|继续(?:生成|输出|回答)?|繼續(?:生成|回答)?|続き?を?(?:生成|書く)|続ける|生成を続ける|계속\s?(?:생성)?(?:하기)?)[\W_]*",
    re.IGNORECASE,
)
_UNFOLD = re.compile(
    rf"[\W_]*(?:(?:read|show|see|view|load|display)\s(?:more|all|(?:the\s)?(?:rest|full|whole|entire)){_MORE_OF}|more|expand{_MORE_OF}|read\son"
    r"|mehr(?:\s(?:an)?(?:zeigen|lesen|sehen|anzeigen))?|(?:alles|vollständig)\s(?:an)?zeigen|weiterlesen|ausklappen|lire\s(?:la\ssuite|plus)|(?:voir|afficher)\s(?:plus|tout|la\ssuite)"
    r"|(?:leer|ver|mostrar|ler|leia)\s(?:más|mais|todo|tudo)|leggi\s(?:di\spiù|tutto)|mostra\s(?:altro|di\spiù|tutto)|(?:lees|toon)\s(?:meer|alles|verder)"
    r"|(?:czytaj|pokaż)\s(?:więcej|dalej)|читать\s(?:далее|полностью)|показать\s(?:ещё|еще|полностью|больше)|развернуть|展开(?:全文|更多)?|(?:显示|查看|阅读)(?:更多|全文|全部)"
    r"|顯示更多|查看更多|もっと(?:見る|読む|表示)|続きを(?:読む|見る|表示)|(?:더|전체)\s?(?:보기|읽기))[\W_]*",
    re.IGNORECASE,
)
_CALLED = re.compile(
    r"[\W_]*(?:(?:used|using|called|calling|ran|running|invoked|executed)(?:\s(?:the|tool|function))*|(?:tool|function)(?:\s(?:call|use))?\s?:?)"
    r"\s[`\"“']?(?P<name>[A-Za-z_][\w.:/-]*)[`\"”']?(?:\s(?:tool|function))?[\W_]*",
    re.IGNORECASE,
)
_NOTICE = re.compile(
    r"(?:can|may|might|could)\s(?:still\s)?(?:make|contain|produce|give|be|display|generate)\s(?:\w+\s){0,4}"
    r"(?:mistakes|errors|incorrect|inaccura\w+|wrong|misleading)"
    r"|check\simportant\sinfo|verify\s(?:important|its|the)\s|powered\sby\s|terms\s(?:of\suse|and\sconditions|of\sservice)"
    r"|privacy\s(?:policy|notice)|kann\sfehler\smachen|peut\s(?:faire|commettre)\sdes\serreurs|puede\scometer\serrores"
    r"|pode\scometer\serros|può\scommettere\serrori|可能会?(?:会|出)?(?:犯错|出错|有误)",
    re.IGNORECASE,
)
_FINE_PRINT = re.compile(
    r"(?:ai|a\.i\.|ki|ia|machine)[\s-]?(?:generated|assisted|written|generiert\w*|erzeugt\w*)\s(?:content|answer|response|repl|text|by|inhalt)"
    r"|generated\s(?:by|with|using)\s(?:an?\s)?(?:ai|artificial|machine)|(?:not|no|isn['’]t|never)\s(?:\w+\s){0,4}(?:legal|medical"
    r"|financial|professional|tax|investment)(?:,?\s(?:or\s|and\s)?\w+){0,3}\sadvice|for\s(?:general\s)?information(?:al)?\s(?:purposes\s)?only"
    r"|(?:please\s)?(?:double[\s-])?check\s(?:\w+\s){0,4}(?:accuracy|facts|answers|responses|information)"
    r"|(?:von|durch|mit)\s(?:einer\s)?ki\s(?:erstellt|erzeugt|generiert)|(?:können|kann)\s(?:\w+\s){0,3}(?:fehlerhaft|falsch|ungenau|unrichtig|fehler)"
    r"|généré\w?\spar\s(?:l['’])?ia|peu(?:t|vent)\s(?:\w+\s){0,4}(?:erron|inexact|incorrect|erreur)|generad[oa]s?\s(?:por|con)\s(?:la\s)?ia"
    r"|puede[n]?\s(?:\w+\s){0,4}(?:incorrect|inexact|error)|generat[oi]\s(?:da(?:ll['’])?|con)\s?ia|gerad[oa]s?\s(?:por|com)\sia|podem?\s(?:\w+\s){0,4}(?:incorret|imprecis|erro)"
    r"|内容由\s?ai\s?生成|由\s?ai\s?(?:自动)?生成|ai\s?(?:が|による)?生成|仅供参考|誤り|不正確|ai가\s?생성|부정확",
    re.IGNORECASE,
)


def is_origin_note(text: str) -> bool:
    """Return True for a page's remark on the origin of an answer: `Answered by GPT-4 in 1.2 s`, `1.4 s · 45 tokens`."""
    if len(text) > 90 or text.endswith((".", "!", "?")):
        return False
    parts = [part.strip() for part in re.split(r"[·•|;()]+|,(?!\d)|\s[-–—]\s", text) if part.strip()]
    counted = [part for part in parts if _TOOK.fullmatch(part) or _TOKENS.fullmatch(part)]
    told = any(_TOOK_BY.fullmatch(part) for part in parts) or len(counted) > 1
    return told and all(part in counted or _TOOK_BY.fullmatch(part) or len(part.split()) <= 3 for part in parts)


def is_time(text: str) -> bool:
    """Return True for a text that is only a time of day, a date, or a time ago."""
    return len(text) <= 60 and _TIMES.fullmatch(text) is not None


def is_role(text: str) -> bool:
    """Return True for a text that is only a speaker: `Bot`, `ChatGPT said:`, `You`."""
    return len(text) <= 40 and _ROLE.fullmatch(text.strip()) is not None


def is_status(text: str) -> bool:
    """Return True for a text that is only the label of a button or a tick: `Copied`, `Seen`, `Show more`."""
    return len(text) <= 60 and _STATUS.fullmatch(text) is not None


def is_rating_question(text: str) -> bool:
    """Return True for a question whether the answer was any good."""
    return len(text) <= _LONGEST_RATING_QUESTION and _RATING_QUESTION.search(text) is not None


def is_delivery(text: str) -> bool:
    """Return True for a text that is only a message's state: `Sending…`, `Delivered ✓✓`, `Seen by Robin · 12:04`."""
    return len(text) <= 60 and _DELIVERY.fullmatch(text) is not None


def is_counter(text: str) -> bool:
    """Return True for the number of one of several versions of a reply: `2/3`."""
    return _COUNTER.fullmatch(text) is not None


def is_placeholder(text: str) -> bool:
    """Return True for text that is shown until an answer comes: `Thinking…`, `Bot is typing`, dots."""
    if not any(character.isalnum() for character in text):
        return bool(text) and all(character in " .…·•●○◦⋯▍▌▋▊▎▏█_⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏" for character in text)
    if len(text) > 60 or text.endswith((" .", "!", "?")):
        return False
    return _PLACEHOLDER.fullmatch(text) is not None or _HOLDING.fullmatch(text) is not None


def is_reasoning(text: str) -> bool:
    """Return True for a line above a model's notes to itself: `Thought for 5 s`."""
    return len(text) <= 80 and _REASONING.fullmatch(text) is not None


def is_thought_title(text: str) -> bool:
    """Return True for the bare title of a model's thoughts: `Thought for 3 seconds ⌄`, `3 Sekunden nachgedacht`."""
    return len(text) <= 60 and _THOUGHT_TITLE.fullmatch(text) is not None


def is_notice(text: str) -> bool:
    """Return True for the small print under a chat: `X can make mistakes.`"""
    return len(text) <= 200 and _NOTICE.search(text) is not None


def is_fine_print(text: str) -> bool:
    """Return True for a warning that a page writes under an answer: `AI-generated content may be incorrect.`"""
    return len(text) <= 200 and (is_notice(text) or _FINE_PRINT.search(text) is not None)


def is_label(text: str, names: Iterable[str] = ()) -> bool:
    """Return True for names and times in a row: `Bot · 12:04`, `Aria 2 min ago`. `names` are the speakers' names on
    this page."""
    if len(text) > 90:
        return False
    told = text.strip()
    if _LABEL.fullmatch(told):
        return True
    # Building a regular expression for each page's names would take longer than reading the page.
    folded = told.casefold()
    for name in sorted({name.casefold() for name in names if name}, key=len, reverse=True):
        if name in folded:
            folded = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", "bot", folded)
    return _LABEL.fullmatch(folded) is not None


def is_named_time(text: str) -> bool:
    """Return True for a name and a time, whatever the name is: `Robin 10:42`, `Fin · AI Agent · 2m ago`."""
    parts = [part.strip() for part in re.split(r"[·•|]", text) if part.strip()]
    if len(parts) > 1 and len(text) <= 60:
        return all(len(part) <= 25 for part in parts) and any(is_time(part) or is_role(part) for part in parts)
    told = _NAMED_TIME.fullmatch(text) if len(text) <= 60 else None
    return told is not None and not any(word[0].islower() for word in told["name"].split())


def find_called_tool(text: str) -> str:
    """Return the tool named in a line above a call (`Used search`, `Tool call: get_weather`), or ""."""
    told = _CALLED.fullmatch(text.strip()) if len(text) <= 80 else None
    return told["name"] if told else ""


def is_continue_button(text: str) -> bool:
    """Return True for the text of a button that lets a system continue an answer: `Continue generating`."""
    return len(text) <= 60 and _GO_ON.fullmatch(text) is not None


def is_unfold_button(text: str) -> bool:
    """Return True for the text of a button that shows the rest of a text: `Read more`."""
    return len(text) <= 60 and _UNFOLD.fullmatch(text) is not None


def remove_cursor(text: str) -> str:
    """Remove the block character that marks the end of text still being written."""
    return _CURSOR.sub("", text)
