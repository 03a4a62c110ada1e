"""Questions about the service itself, and orders that are part of an answer, in the languages of `question_words`.

A system that asks whether its answer helped, for a rating, or whether to hand over to a person needs nothing for its
answer. "Select Settings, then Network." says what to do elsewhere, although it is an order like "Name the year."
"""

import re
from collections.abc import Iterable
from typing import Final

from topics.late_pattern import lazy_pattern


def _join(patterns: Iterable[str]) -> re.Pattern[str]:
    return lazy_pattern("|".join(patterns), re.IGNORECASE)


# Whether the answer was right, useful or understood; how the service is rated; what only asks to agree.
FEEDBACK: Final = _join(
    (
        # English
        r"\b(?:satisfied|happy|pleased)(?:\s+with\s+(?:this|that|it|my|our|the)\s+(?:answers?|repl(?:y|ies)|chat|help"
        r"|service|results?|responses?|suggestions?|experience))?\W*$",
        r"\b(?:have|did|do|does|has)\s+(?:I|we|this|that|it|my\s+\w+)\s+(?:\w+\s+)?answer\w*\s+(?:your|the|it|all)\b",
        r"\b(?:is|was|has)\s+(?:your|the)\s+(?:\w+\s+)?(?:question|problem|issue|request|matter)\s+(?:now\s+|been\s+)*"
        r"(?:answered|solved|resolved|fixed|settled)\b",
        r"\brat(?:e|ing)\s+(?:this|my|our|us|me|your\s+(?:experience|visit))\b",
        r"\b(?:leave|give|share|send)\s+(?:us\s+|me\s+)?(?:\w+\s+)?(?:feedback|review|rating)\b",
        r"\b(?:was|were)\s+(?:I|we|my\s+\w+)\s+(?:\w+\s+)?(?:able\s+to\s+help|helpful|useful|clear)\b",
        r"\b(?:wouldn't|don't)\s+you\s+(?:agree|think|say)\b|,\s*do\s+you\W*$|\bready\s+to\s+(?:get|start|begin|go)\b",
        r"\bis\s+(?:everything|all)\s+(?:\w+\s+)?(?:correct|ok|okay|clear|right|fine)\b",
        r"\blet\s+me\s+know\s+(?:if|whether)\s+(?:this|that|it)\b",
        r"\bhow\s+(?:was|were|is)\s+(?:your|the|our)\s+(?:\w+\s+)?(?:experience|visit|chat|service|support|day|stay)\b",
        r"\bwie\s+war\s+(?:Ihr|dein|unser)\w*\s+(?!Name|Nummer|Adresse|Frage)\w+|\bcomment\s+s'est\s+pass\w+|\bcómo\s+(?:fue|ha\s+sido)\s+(?:su|tu)\b"
        r"|\bcom'è\s+(?:andat|stat)\w+|\bcomo\s+foi\s+(?:a\s+sua|sua|o\s+seu)\b|\bhoe\s+was\s+(?:uw|je|jouw)\b",
        r"\b(?:take|fill\s+(?:in|out)|complete)\s+(?:a|our|this)\s+(?:\w+\s+)?survey\b|\b(?:found|find)\s+(?:everything|all)\b",
        # All clear, found, in order
        r"\b(?:alles|tout|todo|tutto|tudo|все|всё|wszystko|allt|alt|kaikki)\s+(?:\w+\s+)?(?:gefunden|geklappt|klar|gut"
        r"|in\s+Ordnung|clair|trouvé|bien|claro|chiaro|certo|duidelijk|gevonden|понятно|нашли|jasne|klart|selvää)\b",
        r"\btrouvé\s+ce\s+que\b|\bencontr\w+\s+lo\s+que\b|\btrovato\s+(?:quello|ciò)\s+che\b|\bencontrou\s+o\s+que\b",
        r"\b(?:esta|essa|questa|cette|deze)\s+(?:información|informação|informazione|information|informatie)\b",
        r"\b(?:répond(?:-il|-elle)?\s+à|responde\s+a|risponde\s+alla|responde\s+à|antwoord\s+op)\s+(?:votre|su|sua|tu|uw|je)\b",
        r"\b(?:did\s+you\s+get|is\s+(?:this|that))\s+what\s+you\b|\b(?:has|did)\s+(?:this|that|it)\s+(?:\w+\s+)?sort(?:ed)?\b",
        r"\b(?:вопрос|проблема)\s+(?:решён|решен)\w*|\bbeantwortet\s+das\b",
        # German
        r"\b(?:zufrieden|hilfreich|nützlich|verständlich)(?:\s+mit\s+(?:dies|mein|unser|d)\w+\s+\w+)?\W*$",
        r"\bist\s+(?:Ihre?|deine?)\s+\w+\s+(?:\w+\s+)?(?:beantwortet|gelöst|geklärt|behoben|erledigt)\b",
        r"\bhabe\s+ich\s+(?:Ihre|deine)\s+\w+\s+(?:\w+\s+)?beantwortet\b|\bkonnte\s+ich\s+(?:\w+\s+){0,3}helfen\b",
        r"\b(?:Antwort|Dienst|Service|Chat|Gespräch|mich|uns)\s+(?:zu\s+)?bewerten\b",
        r"\bbewert\w+\s+Sie\s+(?:mein|dies|uns)",
        # French, Spanish, Italian, Portuguese
        r"\b(?:satisfaite?s?|utile)(?:\s+de\s+(?:cette|ma|la|notre)\s+\w+)?\W*$|\b(?:est-ce|c'est)\s+clair\W*$",
        r"\b(?:ai-je|avons-nous|est-ce\s+que\s+j'ai)\s+(?:\w+\s+)?répondu\b|\b(?:noter|évaluer)\s+(?:ma|cette|notre|ce)\b",
        r"\b(?:satisfech[oa]s?|útil)(?:\s+con\s+(?:esta|mi|la|nuestr[ao])\s+\w+)?\W*$|\b(?:está|queda)\s+claro\W*$",
        r"\bhe\s+(?:respondido|contestado|resuelto)\b|\b(?:valorar|calificar|puntuar)\s+(?:mi|esta|este|nuestro)\b",
        r"\b(?:se\s+ha|está|ha\s+quedado)\s+(?:resuelt|solucionad|aclarad)\w+",
        r"\b(?:soddisfatt[oa]|utile)(?:\s+(?:di|della|dalla)\s+\w+(?:\s+\w+)?)?\W*$|\b(?:è|tutto)\s+chiaro\W*$",
        r"\bho\s+(?:risposto|risolto|chiarito)\b|\bvalutare\s+(?:la|questa|il)\s+(?:mia|nostr\w+|chat|conversazione)\b",
        r"\b(?:satisfeit[oa]|útil)(?:\s+com\s+(?:esta|a|minha)\s+\w+)?\W*$|\b(?:está|ficou)\s+claro\W*$",
        r"\brespondi\s+(?:à|a|ao|sua|tudo)\b|\bavaliar\s+(?:a\s+minha|minha|esta|este|nosso)\b|\bfoi\s+resolvid\w+",
        # Dutch, Japanese, Chinese, Korean
        r"\b(?:tevreden|nuttig|duidelijk)(?:\s+(?:met|over)\s+(?:dit|mijn|het|deze)\s+\w+)?\W*$",
        r"\b(?:is|heb\s+ik)\s+(?:uw|je|jouw)\s+\w+\s+(?:\w+\s+)?(?:beantwoord|opgelost|verholpen)\b",
        r"\bbeoorde\w+\s+(?:mijn|dit|deze|ons)\b|\b(?:mijn|dit|ons)\s+\w+\s+(?:te\s+)?beoordelen\b",
        r"(?:答え|回答)に(?:なって|なりま)|満足(?:いただけ|して|です)|評価(?:して|をお願い)|(?:解決|理解)(?:でき|し)ま(?:した|す)か",
        r"(?:满意|滿意)(?:吗|嗎)|(?:回答|解决|解決).{0,8}(?:问题|問題)(?:了)?(?:吗|嗎)|(?:请|請|对|對).{0,8}(?:评价|評價|打分)",
        r"만족하|해결(?:되|하)(?:셨|었)|답변이\s?(?:되|도움)|평가해",
        # Russian, Greek, Polish, Turkish
        r"\b(?:довольны|доволен|полезно|понятно)(?:\s+(?:ответом|моим\s+\w+))?\W*$|\bпомог(?:ло|ла|ли)?\s+(?:вам\s+)?ли\b",
        r"\b(?:вам|тебе)\s+помогло\b|\bответил[аи]?\s+(?:ли\s+)?(?:\w+\s+)?на\s+(?:ваш|твой)",
        r"\bоцени(?:те|ть)\s+(?:мой|мою|наш|этот|разговор|ответ)",
        r"\b(?:ικανοποιημέν\w+|χρήσιμο|σαφές)\W*$|\bαπάντησα\s+(?:σ|στ)\w*|\bαξιολογ\w+\s+(?:την|τη|αυτ)|\bλύθηκε\b",
        r"\b(?:zadowolon\w+|przydatne|pomocne)\W*$|\bczy\s+(?:to|wszystko)\s+(?:\w+\s+)?(?:pomogło|jasne)\b",
        r"\bodpowiedział\w*\s+na\b|\bocenić\s+(?:tę|moją|naszą)\b",
        r"\b(?:memnun|yararlı|faydalı)\s*(?:mu|mı|mi|kaldı|oldu)\w*|\bişinize\s+yara\w+|\byanıtladım\s+m",
        # Arabic, Hindi, Finnish, Swedish, Danish, Norwegian
        r"(?:مفيد|راض|واضح)[\w\u064b-\u065f]*\s*[؟?]|هل\s+أجبت|(?:उपयोगी|मददगार|संतुष्ट)\s+(?:था|थी|हैं|है)",
        r"\b(?:tyytyväi\w+|hyödylli\w+|selvää)\W*$|\bauttoiko\b|\bvastasinko\b|\barvioi\w*\s+(?:tämä|palvelu|vastau)",
        r"\b(?:nöjd|tilfreds|fornøyd|nyttig\w*|tydligt)(?:\s+(?:med|af)\s+\w+(?:\s+\w+)?)?\W*$",
        r"\bhj[äæe]lpt?e\s+(?:det|dette)\b|\b(?:besvarade|svarte|svarede)\s+(?:jag|jeg)\b|\bvurder[ae]\s+(?:denne|min)\b",
    )
)

# What the system could do next, and what it says of its own answer and service. If such a sentence offers a choice
# ("Should my answer be short or long?"), it asks all the same.
OWN_MATTERS: Final = _join(
    (
        # Questions that need no answer: who does not, what could be better, why should I
        r"\bwho\s+(?:\w+n't|would\s+not|could\s+not|does\s+not|has\s+not|can\s+resist)\b(?!.*\byou\b)"
        r"|\bwhat\s+(?:could|can|would)\s+be\s+(?:\w+er|more\s+\w+)\b|\bwhy\s+(?:would|should|do)\s+(?:I|we|anyone|anybody)\b",
        r"\bwer\s+(?:\w+\s+){1,5}nicht\W*$|\bwas\s+(?:könnte|kann|gibt)\s+(?:\w+\s+){0,2}(?:schöner|besser|Schöner|Besser)\w*",
        r"\bqui\s+n(?:e\s+|')(?!êtes|es)|\bquoi\s+de\s+(?:plus|mieux)\b|\b(?:quién|quem|chi)\s+(?:no|não|non)\b"
        r"|\b(?:qué|cosa|o\s+que)\s+(?:hay|c'è|há)\s+(?:de\s+|di\s+)?(?:mejor|meglio|melhor|más|più)\b",
        r"\bwie\s+(?:\w+\s+){1,4}niet\W*$|(?:谁|誰)(?:会|會|能)?(?:不|没|沒)|誰が[^。]{1,15}ない|누가\s?안|누가[^.?]{1,12}않"
        r"|\bкто\s+(?:же\s+)?(?:\w+\s+)?не\b|\bkto\s+(?:\w+\s+)?nie\b|\bποιος\s+δεν\b|\bkim\s+(?:\w+\s+){1,4}\w+m[ae]z\b|\bvem\s+\w+\s+inte\b",
        # What the system could do next: it is the subject, and no word asks which or when
        r"^\W*(?:can|could|may|might)\s+(?:I|we)\s+(?!(?:\w+ly\s+|just\s+|please\s+)?(?:ask|know|have|get|see|check|take|assume|presume"
        r"|clarify|confirm)\b)\w+|^\W*(?:devo|dobbiamo|posso|possiamo)\s+(?!sapere|chieder|aver)\w+",
        r"^\W*(?:那|那么)?(?:让|讓)?(?:我|我们|我們)(?![^。？]{0,6}(?:知道|问|問|了解|确认|確認))[^。？]{1,25}(?:吗|嗎|如何|怎么样|怎麼樣)"
        r"|^(?!.*(?:어느|어떤|무슨|무엇|뭐|몇|언제|어디|누구)).*(?:볼|릴|할)까요|^\W*\w+ть\s+(?:вам\s+|тебе\s+)?(?:ещ[её]|другие|больше)\b",
        # "Do you want me to …", with the system as the subject of the clause
        r"\b(?:vuol\w*|vuoi|desider\w+|preferis\w+)\s+che\s+(?:gli\w*|[tv]e\s+\w+|te\s+ne|ne|ci)\b|\b(?:vill|vil|ønsker|önskar)"
        r"\s+(?:du|ni|De)\s+(?:att|at|ha|have)\s+(?:jag|jeg|vi|mig|meg)\b|\b(?:хотите|хочешь|желаете)\W+(?:чтобы\s+)?(?:я|мы)\b",
        r"\b(?:chce\w*|chciał\w*)\W+(?:\w+\W+){0,2}(?:żebym|abym|żebyśmy)\b|\bhaluat(?:te)?ko\W+että\s+(?:minä\s+)?\w+n\b"
        r"|드릴까요|\b\w+m[ae]m[iı]\s+ist\w+|\b(?:chcete|chceš)\W+abych\b|هل\s+(?:تريد|ترغب|تود)\w*\s+(?:أن|في\s+أن)\s+أ",
        r"\bconnected\s+to\s+an?\b|\b(?:matter|case|ticket)\s+(?:as\s+)?closed\b|\bpass\s+you\s+(?:on|to)\b",
        r"\b(?:jemandem|einem)\s+(?:aus|von)\s+unserem\b|\b(?:mich|uns|Ihnen|dir)\s+(?:damit\s+)?geholfen\W*$",
        r"\b(?:le|te)\s+paso\s+con\b|\bpassar(?:le|ti)\s+un\w*|\btransferir\s+(?:para|a)\s+uma?\b|\bvous\s+passer\s+un\w*",
        r"\bu\s+(?:\w+\s+)?geholpen\W*$|理解いただけ|\bavalia\w*\s+o\s+nosso\b|\b(?:till|til)\s+(?:hjälp|hjelp|hjælp)\b",
        r"\b(?:my|this)\s+(?:answer|reply|response|information)\b|\bthat\s+the\s+information\s+you\b|\bare\s+we\s+done\b",
        r"\b(?:recommend|rate|evaluate)\s+(?:us|our)\b|\b(?:close|mark)\s+(?:this|the|your)\s+(?:ticket|case|chat|as)\b"
        r"|\bmark\s+(?:this|it)\s+as\b",
        r"\b(?:meine|diese)\s+(?:Antwort|Auskunft|Information)\b|\bunser\w*\s+(?:Service|Dienst)\b|\bweitergeleitet\b"
        r"|\b(?:Ticket|Fall|Vorgang|Chat)\s+(?:ab)?schließen\b|\bkonnte\s+ich\s+(?:\w+\s+){0,3}weiterhelfen\b",
        r"\b(?:ma|cette)\s+réponse\b|\bnotre\s+service\b|\bmise?\s+en\s+(?:relation|contact)\b|\bclôturer\b",
        r"\b(?:mi|esta)\s+respuesta\b|\bnuestro\s+servicio\b|\bcerrar\s+(?:el|este)\s+(?:ticket|caso|chat)\b",
        r"\b(?:mia|questa)\s+risposta\b|\bnostro\s+servizio\b|\bin\s+contatto\s+con\b|\bchiudere\s+(?:il|questo)\b",
        r"\b(?:minha|esta|essa)\s+resposta\b|\bnosso\s+(?:serviço|atendimento)\b|\b(?:encerrar|fechar)\s+(?:o|este)\b",
        r"\b(?:mijn|dit)\s+antwoord\b|\bonze\s+(?:service|dienst)\b|\b(?:ticket|zaak|gesprek)\s+(?:af)?sluiten\b",
        r"(?:この|私の)(?:回答|答え)|(?:这个|我的|這個)(?:回答|答案)|(?:이|제)\s?답변",
        r"\b(?:эт[аи]|мой|этот)\s+(?:ответ|информаци)\w*|\bпоговорить\s+с\s+(?:операт|менедж|челов|сотруд)",
        r"\bαπάντησή\s+μου\b|\b(?:moja|ta)\s+odpowiedź\b|\b(?:cevabım|yanıtım|bu\s+(?:cevap|yanıt))\b|إجابتي|هذه\s+الإجابة",
        r"\b(?:vastaukseni|tämä\s+vastaus)\b|\b(?:mitt|mit|det\s+här|dette)\s+svaret?\b",
        r"\b(?:speak|talk|chat)\s+(?:to|with)\s+(?:a|an|one\s+of|our|some)\s*(?:\w+\s+){0,2}(?:person|human|agents?"
        r"|staff|colleagues?|experts?|advis[oe]rs?|operators?|representatives?|specialists?|team|one)\b",
        r"\b(?:connect|transfer|put)\s+you\s+(?:to|through|with)\b|\b(?:something|anything)\s+(?:I|we)\s+can\s+(?:do|help)",
        r"\bhow\s+(?:can|may|could)\s+(?:I|we)\s+(?:make|be|improve|serve)\b|\bis\s+there\s+(?:some|any)\s+other\b",
        r"\bmit\s+(?:einem|einer|unserem|unserer)\s+(?:\w+\s+)?(?:Mensch|Mitarbeit|Kolleg|Berat|Person|Agent|Team)\w*\s+"
        r"(?:sprechen|reden|chatten|verbinden|verbunden)",
        r"\bparler\s+(?:à|avec)\s+(?:une?|nos)\s+\w+|\bmettre\s+en\s+(?:relation|contact)\b",
        r"\bhablar\s+con\s+(?:una?|nuestr\w+)\s+\w+|\bqué\s+puedo\s+hacer\b|\b(?:alguna|otra)\s+(?:otra\s+)?duda\b",
        r"\bquiere[sn]?\s+que\s+l[oae]s?\s+(?:reserv|envi|compr|busqu|mand|llam)|\bparlare\s+con\s+un\w*\s+\w+",
        r"\b(?:vuole|vuoi|desidera)\s+che\s+l[oaei]\s+(?:prenot|invi|compr|cerch|mand)|\bfalar\s+com\s+uma?\s+\w+",
        r"\bo\s+que\s+posso\s+fazer\b|\bquer\s+que\s+(?:eu\s+\w+|reserve|envie|compre|marque)\b",
        r"\b(?:een|met\s+een)\s+(?:medewerker|collega|mens|adviseur)\s+(?:te\s+)?(?:spreken|praten)\b",
        r"(?:オペレーター|担当者|スタッフ).{0,8}(?:つな|お話|代わ)|どのようなご用件|何か(?:ございます|あります)",
        r"(?:转|轉|接)(?:人工|客服)|(?:需要|要)(?:我)?(?:帮您|幫您)|(?:상담원|담당자).{0,8}(?:연결|통화)|^\W*(?:지금\s*)?예약해\s?드릴까요",
        r"\b(?:соединить|переключить|связать)\s+(?:вас|тебя)|\bчем\s+(?:я\s+)?могу\s+быть\b",
        r"\bвам\s+(?:нужно|нужна)\s+(?:что|помощь)|^\W*(?:забронировать|заказать|показать)\s+(?:его|её|ее|их)\b",
        r"\bμιλήσετε\s+με\s+(?:έναν|μια|κάποιον)|\b(?:po)?rozmawiać\s+(?:\w+\s+)?z\s+(?:konsultant|doradc|człowiek|prac)",
        r"\b(?:temsilci|yetkili|uzman)\w*\s+(?:görüş|konuş|bağlan)\w+|(?:التحدث|أوصلك|تحويلك)\s+(?:إلى|مع)",
        r"\b(?:asiakaspalvelij|ihmis|virkailij)\w+\s+kanssa\b|\b(?:prata|tale|snakke)\s+med\s+(?:en|et)\s+\w+",
    )
)

_PLACES = (
    r"desk|counter|door|entrance|gate|reception|form|settings|menu|app|website|account"
    r"|Schalter|Empfang|Eingang|Formular|Menü|Einstellungen|Website|Konto"
    r"|guichet|accueil|entrée|formulaire|application|site|paramètres|réglages"
    r"|mostrador|taquilla|entrada|formulario|menú|aplicación|ajustes|sportello|ingresso|modulo|sito|impostazioni"
    r"|balcão|formulário|aplicativo|configurações|balie|ingang|formulier|instellingen"
)
_ORDERS = _join(
    (
        r"\b(?:at|by|in|on|under|from|through|via)\s+(?:the|your|our)\s+(?:\w+\s+)?(?:" + _PLACES + r")\b",
        r"\b(?:am|beim|im|unter|auf\s+der|in\s+(?:der|den|Ihrem)|au|à\s+la|dans\s+l[ea]s?|en\s+(?:el|la|los)|al|allo|nel"
        r"|nella|nelle|no|na|nas|ao|aan\s+de|bij\s+de|in\s+(?:de|het))\s+(?:\w+\s+)?(?:"
        + _PLACES
        + r")\b|\bà\s+l'accueil\b",
        r"\b(?:then|und\s+dann|puis|y\s+luego|e\s+poi|e\s+depois|en\s+dan)\s+(?-i:(?!I\b|Ihr|Sie\b|Uw)[A-ZÄÖÜÉ])",
        # A second order that only a machine or a page can be given
        r"\b(?:and|then)\s+(?:\w+\s+)?(?:press|click|tap|hit|save|submit|confirm\s+with|remove|insert|reboot|restart)\b",
        r"\b(?:und|y|et|e|en|и|i|ve|och|og|ja)\s+(?:\w+\s+){0,3}?(?:klick\w*|drück\w*|tipp\w*|speicher\w*|appuy\w+|cliqu\w+"
        r"|valid\w+|enregistr\w+|puls[ae]\w*|haga\s+clic|haz\s+clic|guard\w+|prem[aei]\w*|clicc\w+|salv\w+|clique\w*"
        r"|pression\w+|toque|druk\w*|klik\w*|нажмите|сохраните|naciśnij|kliknij|tıklayın|basın|tryck\w*|trykk\w*|tryk\w*|paina\w*)\b",
        r"\bund\s+(?:\w+\s+)?\w+en\s+Sie\b|\b(?:et|puis)\s+\w+ez\b(?!-)|\b(?:y|luego)\s+confirm\w+\b",
        r"(?:点击|點擊|按下|点按|單擊|单击|押して|クリックして|タップして|누르|클릭)",
        r"\bthen\s+(?:wait|press|click|tap|go|turn|open|choose|select|restart|follow|sign|log|enter|save|hit)\b|^\W*name,",
    )
)
_ASKS = _join(
    (
        r"\b(?:me|us|which|what|when|where|who|whose|how|mir|uns|welche[rsmn]?|was|wann|wo|wer|wie|moi|nous|quel\w*|quand"
        r"|nos|cuál\w*|qué|cuándo|dónde|mi|ci|quale|quali|quando|cosa|qual|quais|mij|welke?|wat|wanneer|waar|hoe)\b",
    )
)


def is_instruction(sentence: str) -> bool:
    """Return True if the sentence says what to do elsewhere: at a desk, in a menu, or step by step."""
    return bool(_ORDERS.search(sentence)) and not _ASKS.search(sentence)
