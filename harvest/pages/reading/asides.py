"""Lines that a page adds between or inside the bubbles and that are not answers.

Some lines are announcements of the chat: somebody joins or will join, or the user is in a queue. An announcement is
recognised by its form: a name, a word for coming or going, and a word for the conversation, or else a position in a
queue. An answer on this subject ("You can join the chat here") is longer and does not name a person who has come.
Other lines are dates between two turns, notes on who answered and how fast, and the user's text quoted above the
answer.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from harvest.pages.reading.bubble import read_look, visible_leaves
from harvest.pages.reading.elements import hints, is_akin, is_control, leads_elsewhere
from harvest.pages.reading.page import AT_ONCE, Node, collapse_spaces, letters
from harvest.pages.reading.page_text import PageText
from harvest.pages.reading.turn_place import Spot

_LONGEST_LINE = 90  # characters: more is a message
_EXTRA_LETTERS = 32  # letters of a name and a time that may be in a quotation
_FEWEST_LETTERS = 8  # fewest letters of a quotation that is cut short
_QUOTES = frozenset({"blockquote", "cite", "q"})
_QUOTED = frozenset(
    {"context", "inreply", "original", "parent", "quote", "quoted", "quotation", "reference", "replied", "reply"}
)
_LONGEST = 200  # most characters of an announcement
_SENTENCE = re.compile(r"(?<=[^\W\d][^\W\d][.!?…])\s+|(?<=[。！])\s*|\s+[-–—|·•]\s+")
_EDGES = " \t.…·!。！:：*_()[]«»\"'“”-–—"

_CHAT = (
    r"(?:(?:the|this|your|our|live|room|de[nmr]?|die|das|dieser?m?|le|la|ce|cette|el|al|il|alla?|nella?|dalla?|a|à|ao|na|no"
    r"|da|do|à\sla|de|het|deze|до|do|z|к|в|из|i|till?)\s|l['’]|all['’])*"
    r"(?:chat\w{0,3}(?:\sroom|\ssession)?|tchat|conversation|session|discussion|call|gespräch|unterhaltung|konversation\w{0,2}|sitzung"
    r"|conversación|sesión|sala|conversazione|sessione|conversa|bate-papo|sessão|gesprek|sessie|czatu?|rozmow[yę]|чату?а?"
    r"|беседе|беседу|разговору?|диалогу?|sohbete?|görüşmeye|chatten|konversationen|samtalet)"
)
_HELPER = (
    r"(?:agents?|advis[eo]rs?|operators?|representatives?|specialists?|colleagues?|someone|somebody|team|human|person|staff"
    r"|mitarbeiter\w*|berater\w*|kolleg\w+|agenten|conseill\w+|agente?s?|asesor\w*|operador\w*|operator[ei]?\w*|consulent\w+"
    r"|atendente\w*|consultor\w*|medewerkers?|collega\w*|konsultant\w*|agent\w*|pracownik\w*|оператор\w*|специалист\w*"
    r"|консультант\w*|temsilci\w*|danışman\w*|medarbetare|rådgivare|客服\w*|人工\w*|坐席|オペレーター|担当者?|スタッフ|상담원|상담사"
    r"|담당자|(?:ال)?موظف|(?:ال)?وكيل|एजेंट|प्रतिनिधि)"
)
_CAME = (
    rf".{{1,60}}?\s(?:(?:has|have|is|just|now)\s)*(?:joined|entered|left|rejoined|connected\sto|disconnected\sfrom)\s{_CHAT}",
    rf".{{1,60}}?\s(?:ist|hat|sind|haben)\s(?:jetzt\s|nun\s)?{_CHAT}\s(?:beigetreten|betreten|verlassen)",
    rf".{{1,60}}?\s(?:a|ont|vient\sde|s['’]est)\s(?:maintenant\s)?(?:rejoint|rejoindre|quitté|intégré|joint(?:e)?\sà)\s{_CHAT}",
    rf".{{1,60}}?\s(?:se\s(?:ha\s)?(?:unido|unió|incorporado|conectado)|ha\s(?:entrado|salido|abandonado)|entró|salió)\s(?:en\s|de\s|a\s)?{_CHAT}",
    rf".{{1,60}}?\s(?:si\sè\s(?:unit[oa]|collegat[oa])|è\sentrat[oa]|ha\s(?:lasciato|abbandonato))\s(?:in\s)?{_CHAT}",
    rf".{{1,60}}?\s(?:entrou|se\sjuntou|juntou-se|ingressou|saiu)\s{_CHAT}",
    rf".{{1,60}}?\s(?:neemt\s(?:nu\s)?deel\saan|is\stoegetreden\stot|is\sdeelnemer\svan|heeft)\s{_CHAT}(?:\s(?:verlaten|betreten))?",
    rf".{{1,60}}?\s(?:dołączył[ao]?|opuścił[ao]?|wszedł|weszła)\s{_CHAT}",
    rf".{{1,60}}?\s(?:присоединил\w+|подключил\w+|вош[её]л\w*|вошла|покинул\w*)\s{_CHAT}",
    rf".{{1,60}}?\s{_CHAT}\s(?:katıldı|bağlandı|girdi)",
    rf".{{1,60}}?\s(?:har\s)?(?:anslutit(?:\ssig)?|gått\smed|lämnat|anslöt)\s(?:till\s|i\s)?{_CHAT}",
    r".{1,40}?(?:已经|已|刚刚|剛剛)?(?:加入|进入|進入|离开|離開|退出)了?(?:本次|此|该|該)?(?:聊天室?|对话|對話|会话|會話|群聊)",
    r".{1,40}?(?:さん|様)?が(?:この)?(?:チャット|会話|ルーム|トーク)(?:ルーム)?(?:に|から|を)(?:参加|入室|接続|退室|退出)(?:し|され)まし?た",
    r".{1,40}?(?:님이|님께서|이|가)\s?(?:채팅|대화|상담)(?:방|창)?(?:에|에서|을|를)?\s?(?:참여|입장|참가|연결|퇴장|나가)\S{0,8}",
    r"(?:لقد\s)?(?:انضم|انضمت|غادر|غادرت)\s.{1,40}?\s?(?:إلى\s)?(?:المحادثة|الدردشة|الجلسة)",
    r"(?:لقد\s)?(?:انضم|انضمت)\s(?:إلى\s)?(?:المحادثة|الدردشة)\s.{1,40}",
    r".{1,40}?\s(?:चैट|बातचीत)\s(?:में\sशामिल|छोड़)\s?\S{0,8}(?:\s\S{1,6}){0,2}",
    r"you(?:['’]re|\sare)\s(?:now\s)?(?:chatting|connected|talking|speaking)\s(?:with|to)\s.{1,60}",
    r"sie\s(?:chatten|sprechen|sind)\s(?:jetzt|nun)\smit\s.{1,60}",
    r"vous\s(?:êtes|discutez|parlez)\s(?:maintenant\s|désormais\s)(?:en\s\w+\s|connectée?\s)?(?:avec|à)\s.{1,60}",
    r"ahora\s(?:estás?|usted\sestá)\s(?:chateando|hablando|conectad[oa])\scon\s.{1,60}",
)
_NUMBER = r"(?:#|nr\.?\s?|n[o°º]\.?\s?|№\s?)?\d{1,4}(?:\.|st|nd|rd|th|e|º|ª|°)?"
_IN_LINE = (
    r"(?:queue|in\sline|waitlist|waiting\slist|warteschlange|warteliste|file\sd['’]attente|cola|fila|coda|wachtrij|kolejce"
    r"|kolejka|kolejki|очереди|очередь|sıra\w*|kuyruk\w*|kön?|队列|隊列|排队|排隊|待ち|キュー|대기열?|대기\s?순[번서]|قائمة\sالانتظار|الطابور|कतार)"
)
_YOU = (
    r"(?:\b(?:you(?:['’]re|r)?|position|place|number|sie|ihre?r?|du|deine?r?|platz|vous|votre|eres|está|estás|su|tu|posición"
    r"|sei|tua|posizione|você|sua|posição|je|uw?|jouw|jesteś|twoj[ae]|вы|ваш[ае]?|siz|sıranız|sırada\w*|du|din)\b"
    r"|[您你]|お客様|現在|현재|고객님|순번|أنت|دورك|आप)"
)
_AHEAD = (
    r"(?:ahead\sof\syou|before\syou|in\sfront\sof\syou|vor\s(?:ihnen|dir)|avant\svous|devant\svous|delante\s(?:de\s\w+|tuyo)"
    r"|antes\s(?:que|de)\s\w+|davanti\sa\s\w+|prima\sdi\s\w+|à\s(?:sua|tua)\sfrente|voor\su|voor\sje|przed\s(?:tobą|państwem|panem)"
    r"|перед\s(?:вами|тобой)|önünüzde|före\sdig|前面)"
)
_WAIT = (
    r"(?:(?:(?:estimated|expected|average|approximate|current)\s)+wait(?:ing)?(?:\stime)?|wait(?:ing)?\stime|voraussichtliche\swartezeit|wartezeit"
    r"|temps\sd['’]attente(?:\sestimé)?|tiempo\s(?:estimado\s)?de\sespera(?:\sestimado)?|tempo\s(?:stimato\s)?d[i']\s?attesa"
    r"|tempo\s(?:estimado\s)?de\sespera|wachttijd|czas\soczekiwania|время\sожидания|bekleme\ssüresi|väntetid|等待时间|等待時間"
    r"|待ち時間|대기\s?시간|وقت\sالانتظار)"
)
_QUEUED = (
    rf"(?=.*{_YOU})(?=.*{_IN_LINE})(?=.*\d).{{3,48}}",
    rf"(?:queue|warteschlange|file\sd['’]attente|cola|fila|coda|wachtrij|kolejka|очередь|排队|キュー|대기열)\W{{0,3}}{_NUMBER}(?:\W\d+)?",
    rf".{{0,30}}?\d{{1,4}}.{{0,30}}?{_AHEAD}.{{0,20}}",
    rf".{{0,20}}?{_AHEAD}.{{0,30}}?\d{{1,4}}.{{0,20}}",
    rf"(?:\w{{1,6}}\s)?{_WAIT}\s?(?:[:：]|is|beträgt|est(?:\sde)?|es(?:\sde)?|è(?:\sdi)?|é(?:\sde)?)?\s?"
    rf"(?:\w{{2,9}}\.?\s|[<~≈]\s?){{0,2}}\d[\d\s–-]*\S{{1,9}}",
    r"you(?:['’]re|\sare|\shave\sbeen)\s(?:now\s|currently\s|placed\s|added\s|next\s)+(?:in|to)\s(?:(?:the|a|our)\s)?(?:queue|line)",
    r"(?:sie\ssind|du\sbist)\s(?:jetzt\s|nun\s)?in\sder\swarteschlange",
)
_LINKING = (
    r"(?:(?:please\s)?(?:wait|hold(?:\son)?)\swhile\s)?(?:we(?:['’]re|\sare|['’]ll|\swill)?\s|i(?:['’](?:m|ll))?\s|now\s)*"
    r"(?:connect|transferr?|rout|redirect|assign|hand)(?:e|ing)?\s(?:you|your\schat)(?:\s(?:to|with|through|over|now)\b.{0,50})?",
    r"connecting(?:\s(?:to|with)\s.{1,40})?",
    rf"(?:looking\sfor|searching\sfor|waiting\sfor|finding|paging|notifying)\s.{{0,30}}?{_HELPER}.{{0,30}}",
    rf".{{0,30}}?{_HELPER}\s(?:will\s(?:(?:shortly\s|soon\s)?(?:join|assist|help)|be\s(?:with|right|there|joining|in\stouch|here))|is\son\s(?:the|their)\sway|has\sbeen\snotified).{{0,50}}",
    rf"all\s(?:of\s)?(?:our\s)?.{{0,20}}?{_HELPER}\s(?:are|is)\s(?:currently\s)?(?:busy|unavailable).{{0,40}}",
    rf"(?:sie\swerden|ich\sverbinde|wir\sverbinden|du\swirst|verbinde)\b.{{0,60}}?(?:verbunden|{_HELPER}|verbindung).{{0,20}}",
    r"(?:verbindung\swird\s(?:hergestellt|aufgebaut)|verbinden)",
    rf"(?:nous\s|je\s)?(?:vous\s)?(?:mettons|mets|connectons|transf[ée]rons|mise)\b.{{0,40}}?(?:relation|{_HELPER}).{{0,30}}",
    r"(?:connexion(?:\sen\scours)?|conectando|connessione(?:\sin\scorso)?|verbinding\s(?:maken|wordt\sgemaakt)|подключение)",
    rf"(?:le|te|lo|estamos|ti|la|vi|stiamo|estou|vou|we|ik)\b.{{0,20}}?(?:conect|transfer|pon|metti|mett|colleg|verbind)\w*.{{0,40}}?{_HELPER}.{{0,20}}",
    rf"(?:łącz\w+|przełącz\w+|соедин\w+|подключ\w+|перевод\w+).{{0,40}}?{_HELPER}.{{0,20}}",
    rf".{{0,40}}?{_HELPER}\S{{0,3}}\s?.{{0,20}}?(?:bağlan|aktarıl|yönlendir)\w+",
    rf"(?:kopplar|ansluter)\b.{{0,30}}?{_HELPER}.{{0,20}}",
    rf"(?:正在|现在|現在)?(?:为您|为你|為您|幫您)?(?:转接|轉接|连接|連接|接通|接入|分配).{{0,10}}?{_HELPER}.{{0,10}}",
    rf".{{0,10}}?{_HELPER}(?:に|と|へ)(?:お?つなぎ|接続|お繋ぎ).{{0,15}}",
    rf".{{0,10}}?{_HELPER}(?:에게|와|과|을|를|님과)?\s?(?:연결|배정).{{0,15}}",
    r"(?:جار[ٍي]?|يتم|سيتم|جاري)\s.{0,20}?(?:توصيل|تحويل|الاتصال).{0,30}",
    rf".{{0,20}}?{_HELPER}\sसे\s.{{0,10}}?(?:जोड़|कनेक्ट).{{0,20}}",
)
_HOLDING = (
    r"please\s(?:wait|hold|stand\sby|be\spatient).{0,40}|one\s(?:moment|second)(?:,?\splease)?|just\sa\s(?:moment|sec(?:ond)?)"
    r"|thank(?:s|\syou)\sfor\s(?:your\s(?:patience|waiting)|waiting)|(?:bitte\s)?(?:warten|einen\s(?:kleinen\s)?(?:moment|augenblick))"
    r".{0,30}|bitte\shaben\ssie\s.{0,20}geduld|(?:veuillez\s)?patient\w+.{0,30}|merci\sde\s(?:votre\spatience|patienter)"
    r"|(?:por\sfavor,?\s)?esper\w+.{0,30}|un\s(?:instant|momento|attimo).{0,20}|attend\w+.{0,20}|aguard\w+.{0,30}|um\smomento.{0,20}"
    r"|een\s(?:moment|ogenblik).{0,20}|proszę\sczekać.{0,20}|(?:пожалуйста,?\s)?подождите.{0,20}|lütfen\sbekleyin.{0,10}"
    r"|vänta.{0,20}|请?稍[等候].{0,6}|請稍[等候].{0,6}|(?:少々)?お待ちください.{0,6}|잠시만?\s?기다려.{0,10}|يرجى\sالانتظار.{0,20}"
)
_SURE = re.compile("|".join((*_CAME, *_QUEUED, *_LINKING)), re.IGNORECASE)
_WAITING = re.compile(_HOLDING, re.IGNORECASE)


def is_announcement(text: str) -> bool:
    """Return True if the text only says that somebody joins or leaves, or that the user is in a queue or being
    connected."""
    told = [part for part in (one.strip(_EDGES) for one in _SENTENCE.split(collapse_spaces(text))) if part]
    if not told or len(text) > _LONGEST or "://" in text or text.rstrip().endswith("?"):
        return False
    sure = [_SURE.fullmatch(part) is not None for part in told]
    return any(sure) and all(one or _WAITING.fullmatch(part) for one, part in zip(sure, told, strict=True))


def lines_between(ground: PageText, spot: Spot) -> list[Node]:
    """Return the bubbles of an answer that are lines added by the page itself. Such a line is short and unlike the
    user's bubble, while another bubble of the answer is like the user's bubble. In addition, the line has no box,
    or its letters are smaller or fainter than in that other bubble."""
    if spot.user is None or len(spot.bubbles) < 2:
        return []
    user = spot.user
    bubbles = [bubble for bubble in spot.bubbles if bubble.classes and is_akin(bubble, user)]
    others = [bubble for bubble in spot.bubbles if not any(is_akin(bubble, one) for one in (user, *bubbles))]
    lines = [one for one in others if len(one.text) <= _LONGEST_LINE and "\n" not in one.lines]
    return [
        line
        for line in lines
        if not any(one in ground.figures or leads_elsewhere(one) or is_control(one) for one in line.walk())
        and any(_is_set_apart(line, bubble, user) for bubble in bubbles)
    ]


def quotes_in(bubbles: Sequence[Node], said: str) -> Iterator[Node]:
    """Yield the user's own text at the top of a bubble if the page formats it as a quotation."""
    wanted = letters(said)
    for bubble in bubbles:
        leaves = visible_leaves(bubble, ())
        for element in leaves[0].parent.self_and_ancestors() if leaves and wanted else ():
            after = [leaf for leaf in leaves if not leaf.parent.is_within(element)]
            if element is bubble or not element.is_within(bubble) or not after:
                break
            shown = letters(element.text)
            if element.text.rstrip().endswith(("…", "...")):
                repeats = len(shown) >= _FEWEST_LETTERS and wanted.startswith(shown)
            else:
                repeats = wanted in shown and len(shown) - len(wanted) <= _EXTRA_LETTERS
            if repeats and (
                element.tag in _QUOTES
                or hints(element) & _QUOTED
                or read_look(leaves[0].parent).is_smaller_than(read_look(after[0].parent))
                or read_look(leaves[0].parent).is_fainter_than(read_look(after[0].parent))
            ):
                yield element
                break


def _is_set_apart(line: Node, bubble: Node, user: Node) -> bool:
    boxed = [any("h-edge" in inner.attributes for inner in one.walk()) for one in (user, bubble, line)]
    if boxed == [True, True, False]:
        return True
    mine, theirs = (next((leaf.parent for leaf in visible_leaves(one, ())), one) for one in (line, bubble))
    return read_look(mine).is_smaller_than(read_look(theirs)) or read_look(mine).is_fainter_than(read_look(theirs))


_SIZE = re.compile(r"[\d.,]+\s?(?:bytes?|[kmg]?i?b)\b|\b[a-z0-9.+-]+/[a-z0-9.+-]+\b", re.IGNORECASE)


def shows_sent_file(
    ground: PageText, bubble: Node, echo: Node | None, files: Iterable[str], heard: float | None
) -> bool:
    """Return True for an element that shows a file of the user's, by its name, its size and its type, and came together
    with the user's words or before the system can have said anything. `heard` is the milliseconds from the send to the
    first byte that came back, or None if unknown."""
    left, named = _SIZE.sub(" ", bubble.text), False
    for name in files:
        stem, _, ending = name.rpartition(".")
        for part in (name, stem or name):
            named = named or part in left
            left = left.replace(part, " ")
        left = re.sub(rf"\b{re.escape(ending)}\b", " ", left, flags=re.IGNORECASE)
    came = ground.births.get(bubble)
    if not named or letters(left) or came is None:
        return False
    said = ground.births.get(echo) if echo is not None else None
    return (heard is not None and came < heard) or (said is not None and abs(came - said) <= AT_ONCE)
