"""Phrases with which systems ask users something, in the languages of `protocols.questions`.

Each language adds alternatives to up to seven patterns, and all languages are searched at once. A gap within a phrase
is at most four words, so every search is fast.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from topics.late_pattern import lazy_pattern


@dataclass(frozen=True, slots=True)
class _Words:
    """Regular expressions for the phrases of one language. An empty expression adds nothing.

    - `requests`: a request for information, with or without a question mark.
    - `meant`: a question about the user's meaning.
    - `offers`: an offer of further help, a suggestion, or a rhetorical question.
    - `invites`: an invitation to give further information, which is not a question.
    - `delivers`: an announcement of the requested content.
    - `talk`: a sentence that leads up to a question and answers nothing.
    - `choice`: the word between two alternatives.
    """

    requests: str = ""
    meant: str = ""
    offers: str = ""
    invites: str = ""
    delivers: str = ""
    talk: str = ""
    choice: str = ""


_ENGLISH_ASK = (
    r"(?:tell|give|send|show)\s+(?:me|us)\b|let\s+(?:me|us)\s+know\b|(?:provide|specify|clarify|describe|confirm"
    r"|share|indicate|name|state|elaborate|enter|choose|select|answer|explain|expand|narrow)\b"
    r"|be\s+(?:(?:a\s+)?(?:bit|little)\s+)?(?:more|any)\s+(?:more\s+)?(?:specific|precise)\b|say\s+(?:which|what"
    r"|more|a\s)"
)
# "o" is "or" in Spanish and Italian, and an article in Portuguese.
_OR_IN_SPANISH = r"^(?!.*\b(?:você|não|eu|um|uma|em|do|dos|ao|mais|por\s+si|quer|deseja|seu|sua|isso|isto)\b).*\bo\b"
_LANGUAGES: Mapping[str, _Words] = MappingProxyType(
    {
        "en": _Words(
            requests=rf"^\W*(?:and\s+)?your\s+(?:\w+\s*){{1,4}},?\s+please\b|\b(?:can|could|would|will|might)\s+you\s+(?:\w+\s+){{0,2}}?(?:{_ENGLISH_ASK})"
            rf"|\b(?:please|kindly)\s+(?:\w+\s+)?(?:{_ENGLISH_ASK})|^\W*(?:(?:so|then|first|just"
            rf"|and)\W+)?(?:{_ENGLISH_ASK})"
            r"|\b(?:I|we)(?:'ll|'d|\s+will|\s+would|\s+do)?\s+(?:\w+\s+)?(?:need|have|must)\s+(?:to\s+know"
            r"|(?:to\s+)?ask)\b|\b(?:I|we)(?:'ll|'d|\s+will|\s+would|\s+do)?\s+(?:\w+\s+)?need\s+(?:your|the|more"
            r"|some|a\s+(?:few|bit|little)|one\s+more|further|additional)\b|\b(?:I'd|I\s+would)\s+like\s+to\s+(?:know"
            r"|ask)\b"
            r"|\b(?:can|could|may|might)\s+I\s+(?:\w+\s+)?(?:ask|know|have|get|see)\b(?!\s+you\b)"
            r"|\bit\s+would\s+help\s+(?:me\s+)?(?:to|if|a)\b"
            r"|\b(?:once|as\s+soon\s+as)\s+you(?:'ve)?\s+(?:have\s+)?(?:tell|told|give|given|send|sent|share|provide|let)\w*\b"
            r"|\b(?:can't|cannot|unable\s+to)\s+(?:\w+\s+){1,5}without\s+(?:knowing|your)\b"
            r"|\b(?:not\s+(?:\w+\s+)?(?:sure|clear|certain)|don't\s+know|unsure|unclear)\s+(?:which|what|who"
            r"|whether|when"
            r"|where|how)\b(?=.{0,80}\byou)",
            meant=r"\b(?:do|did)\s+you\s+(?:\w+\s+)?(?:mean|refer)\b|\byou(?:'re|\s+are)\s+(?:referring|asking)\b"
            r"|\bare\s+you\s+(?:\w+\s+)?(?:referring|asking)\b|^\W*(?:so\W+)?you\s+mean\b|\bhave\s+in\s+mind\b",
            offers=r"\b(?:anything|something|someone|somewhere)\s+(?:else|more|further)\b|\b(?:that"
            r"|this)\s+(?:be\s+)?all\b|\bwould\s+it\s+help\s+if\s+(?:I|we)\b|\bwhat\s+else\s+(?:can|could|may|would"
            r"|do\s+you)\b|\bwould\s+you\s+like\s+(?:me|us|(?:to\s+\w+\s+)?(?:another\b"
            r"|(?:\w+\s+)?more(?!\s+about\s+(?!it\b|this\b|that\b|them\b))))\b|\b(?:want|need|like|care\s+for"
            r"|interested\s+in)\s+(?:me\s+to|more\b|another\b|(?:any\s+|some\s+)?(?:further|more|other|additional)\b"
            r"|any\s*(?:thing\s+(?:else|more|other)|help\b|assistance\b))|\b(?:can|may|could|should|shall"
            r"|how\s+(?:can|may|might))\s+(?:I|we)\s+(?:help|assist|be\s+of|tell\s+you\s+more|do\b|show|suggest"
            r"|recommend|list|give|interest|offer|get\s+you|explain|look|search|continue)|\bwhat\s+do\s+you\s+say\b"
            r"|\b(?:was|is|did|does|has)\s+(?:this|that|it)\s+(?:help\w*|answer|sound|look|what\s+you|useful|ok|okay"
            r"|clear|solve\w*|work|fix|make\s+sense)\b|\b(?:any|got|have)\s+(?:\w+\s+)?(?:other|more"
            r"|further)\s+questions\b|\bany\s+other\s+way\b|^\W*(?:shall|should)\s+(?:I|we)\b|\bany\s+questions\b"
            r"|\bwhy\s+(?:not|don't)\b|\b(?:how|what)\s+about\b|\bshall\s+we\b|\bwhat\s+do\s+you\s+think\b"
            r"|\bsounds?\s+(?:good|interesting)\b|\bdid\s+you\s+know\b|\bhow\s+are\s+you\b|\bguess\s+what\b"
            r"|\bwho\s+(?:knows|knew|cares|wants|needs|doesn't|wouldn't|would|hasn't)\b(?!.*\byou)"
            r"|\bwhat's\s+not\s+to\b|^\W*(?:is|are|was|were|do|does)n't\s+(?:it|that|this|they|he|she)\b"
            r"|^\W*(?:\w+,?\s+)?(?:is|are|does)n't\s+(?:it|that)\b|^\W*(?:agreed?|interested|curious|ready|right|deal"
            r"|ok(?:ay)?)\W*$",
            invites=r"\b(?:if|in\s+case|should)\s+(?:you|there|anything|that|this|it|I)\b(?:\s+\w+){0,4}?\s+(?:need"
            r"|questions?|problems?|issues?|want|like|else|unclear|help\w*|works?|wish|prefer)\b|\bif\s+anything\b"
            r"|\b(?:feel\s+free|don't\s+hesitate|what\s+you\s+think|how\s+(?:it|you|that|this|things)\s+(?:go\w*|get"
            r"|went|work\w*|feel))\b",
            delivers=r"\bhere(?:'s|\s+is|\s+are)\b|\b(?:I|we)(?:'d|\s+would|\s+can)?\s+(?:highly\s+)?(?:recommend"
            r"|suggest)\b(?!\s+(?:a\s+|some\s+|you\s+)?(?:something|suitable|the\s+right|one|better))"
            r"|\byou\s+(?:should|could|can|might|may|must|have\s+to)\s+(?!choose|tell|pick|select|provide|give"
            r"|also\s+tell)\w+|^\W*(?:try|check|restart|hold|press|click|open|go\s+to|turn|reset|unplug|watch)\b"
            r"|\bthe\s+answer\s+is\b|\bI\s+(?:think|believe|guess)\s+(?:it|that|this|you)(?:'s|'ll|'d|\s+(?:is|will"
            r"|would))\b|\bI(?:'ve|\s+have)?\s+found\s+(?!several|many|multiple|more|a\s+few|two|no\b)",
            talk=r"\b(?:I|I'm|I'd|I'll|I've|me|you|we|us|sure|thanks?|certainly|absolutely|gladly|happy|glad|great"
            r"|okay|ok|alright|hello|hi|sorry|apologies|got\s+it|understood|problem|perfect|interesting|depends?"
            r"|several|multiple|various|many|more\s+than\s+one|a\s+few|a\s+couple|questions?|message|request|details"
            r"|let's|of\s+course|please|different|both)\b|^\W*(?:oh|ah|hm+|wow|aha|right|fine)\b|\bthere\s+(?:are"
            r"|were)\s+(?:two|three|four|five)\b|^\W*to\s+\w+",
            choice=r"\bor\b|\brather\b",
        ),
        "de": _Words(
            requests=r"\b(?:können|könnten|würden|kannst|könntest|würdest|magst|mögen)\s+(?:Sie|du"
            r"|ihr)\s+(?:\w+\s+){0,4}?(?:sagen|nennen|geben|mitteilen|verraten|beschreiben|erklären|schildern|angeben"
            r"|erläutern|präzisieren|(?:genauer|konkreter)\s+(?:sein|werden))\b|\b(?:können|könnten|kannst"
            r"|könntest)\s+(?:Sie|du)\s+(?:mir|uns|das|es|bitte)\b|(?:^\W*|\bbitte\s+)(?:(?:sagen|nennen|geben|teilen"
            r"|beschreiben|schildern|erklären|verraten|wählen|schicken)\s+Sie|(?:sag|nenn|gib|beschreib|schreib"
            r"|verrat|erklär|wähl)e?)\b|\b(?:brauche|bräuchte|benötige)\s+(?:ich\s+)?(?:\w+\s+){0,2}?(?:Ihre?n?|deine?n?|die"
            r"|den|das|mehr|weitere|ein|einige)\b|\bdarf\s+ich\s+(?:\w+\s+)?(?:fragen|wissen|erfahren)\b|\b(?:müsste"
            r"|muss|möchte)\s+(?:ich\s+)?(?:\w+\s+)?(?:wissen|erfahren)\b|\b(?:nicht|un)\s*(?:sicher"
            r"|klar)\W+(?:welche|was|wen|wo|wann|ob)\w*",
            meant=r"\b(?:meinst|meinen)\s+(?:du|Sie|ihr)\b|\b(?:du|Sie)\s+(?:meinst|meinen)\b",
            offers=r"\bsonst\s+noch\b|\b(?:kann|darf|können|könnte)\s+(?:ich|wir)\s+(?:\w+\s+){0,4}(?:helfen"
            r"|behilflich|tun|unterstützen|dienen|zeigen|empfehlen)\b|\b(?:möchte\w*|wollen|willst|brauch\w*|haben"
            r"|hast|wünschen|gibt)\s+(?:Sie|du|ihr|es)\s+(?:noch|(?:\w+\s+){0,2}(?:mehr|weitere\w*|dass\s+ich"
            r"|andere\w*))\b|\bsoll\s+ich\s+(?:\w+\s+){0,4}(?:mehr|erzählen|erklären|zeigen|helfen)\b"
            r"|\bweitere\s+(?:Fragen|Hilfe|Wünsche)\b|\bnoch\s+(?:etwas|was|Fragen|eine\s+Frage)\b|\b(?:hat|ist"
            r"|war)\s+(?:\w+\s+)?das\s+(?:\w+\s+)?(?:geholfen|hilfreich)\b|^\W*soll(?:en|te)?\s+(?:ich|wir)\b"
            r"|\bwas\s+will\s+man\b|^\W*interessiert\W*$|\bwer\s+(?:kennt|weiß|will|braucht|möchte|hätte)\b"
            r"|\bwie\s+wär|\bwarum\s+nicht\b|\bwie\s+geht",
            invites=r"\b(?:wenn|falls|sollten)\s+(?:Sie|du|noch|etwas)\b(?:\s+\w+){0,4}?\s+(?:Fragen|Hilfe|brauch\w*"
            r"|benötig\w*|wünsch\w*|haben|hast|unklar)\b|\bmelden\s+Sie\s+sich\b|\bzögern\s+Sie\s+nicht\b"
            r"|\bjederzeit\b",
            delivers=r"\bhier\s+(?:ist|sind|finden)\b|\b(?:empfehle|empfehlen)\b|\b(?:Sie|du)\s+(?:sollte|könnte|kann"
            r"|können)\w*\s+(?!mir)|^\W*\w+en\s+Sie\b(?!.*\?)",
            talk=r"\b(?:ich|mir|mich|wir|uns|Sie|du|dir|Ihnen|gerne?|danke|natürlich|klar|selbstverständlich|verstehe"
            r"|verstanden|okay|hallo|entschuldigung|leider|hängt|kommt\s+darauf|mehrere|verschiedene|um\s+(?:Ihnen"
            r"|dir|das|die|den|zu))\b",
            choice=r"\boder\b",
        ),
        "fr": _Words(
            requests=r"\b(?:pouvez|pourriez|peux|pourrais|voulez|voudriez)-(?:vous|tu)\s+(?:\S+\s+){0,3}?(?:dire"
            r"|préciser|indiquer|donner|décrire|expliquer|fournir|communiquer|détailler|confirmer"
            r"|être\s+plus\s+précise?)\b|\b(?:dites|dis|précisez|précise|indiquez|donnez|donne|décrivez)(?:-(?:moi"
            r"|nous))?\b|\bmerci\s+de\s+(?:bien\s+vouloir\s+)?(?:m'|me\s+|nous\s+)?(?:indiquer|préciser|dire|donner"
            r"|fournir|communiquer)\b|\b(?:j'ai|j'aurais|j'aurai|nous\s+avons)\s+(?:\S+\s+)?besoin\s+(?:de|d')"
            r"|\bveuillez\s+(?:me\s+|m'|nous\s+)?(?:indiquer|préciser|dire|donner|fournir|choisir)\b"
            r"|\bpuis-je\s+(?:savoir|vous\s+demander|connaître)\b|\b(?:je\s+dois"
            r"|il\s+me\s+fau(?:t|drait))\s+(?:\S+\s+)?(?:savoir|votre|connaître)",
            meant=r"\b(?:voulez-vous|veux-tu|vous\s+voulez|tu\s+veux)\s+dire\b|\bparlez-vous\b|\bvous\s+parlez\b"
            r"|\btu\s+parles\b|\bfaites-vous\s+référence\b|\bentendez-vous\b",
            offers=r"\bautre\s+chose\b|\bd'autres\b|\b(?:comment\s+)?(?:puis-je|pouvons-nous"
            r"|je\s+peux)\s+(?:\S+\s+){0,2}(?:aider|être\s+utile|faire)\b|\bsavoir\s+(?:plus|davantage)\b"
            r"|\b(?:souhait|voul|dési|aimer)\w*-(?:vous|tu)\s+(?:\S+\s+){0,2}(?:plus|davantage|que\s+je"
            r"|en\s+savoir)\b|\bbesoin\s+d'(?:aide|autre)|\b(?:cela|ça)\s+(?:vous|t')\s*a\b|^\W*(?:ça|cela)\s+(?:vous"
            r"|t)|^\W*(?:dois-je|intéressé\w*)\b|\bpourquoi\s+(?:pas|ne\s+pas)\b|\bque\s+diriez-vous\b"
            r"|\bqu'en\s+(?:pensez|dites)\b",
            invites=r"\bn'hésite[zs]?\b|\bsi\s+(?:vous|tu)\s+(?:avez|as|souhait\w*|voul\w*|désir\w*)\b"
            r"|\bsi\s+besoin\b",
            delivers=r"\bvoi(?:ci|là)\b|\bje\s+(?:vous\s+|te\s+)?(?:recommande|conseille|suggère|propose)\b"
            r"|\bvous\s+(?:pouvez|pourriez|devriez|devez)\s+(?!me\b|m')",
            talk=r"\b(?:je|j|me|moi|nous|vous|tu|te|bien\s+sûr|merci|avec\s+plaisir|volontiers|d'accord|entendu"
            r"|bonjour|désolée?|parfait|certainement|dépend|plusieurs|différente?s|pour\s+(?:vous|t|pouvoir))\b|\bj'",
            choice=r"\bou\b|\bplutôt\b",
        ),
        "es": _Words(
            requests=r"\b(?:puedes?|podr[ií]as?|podría|podéis|quieres?|me)\s+(?:\w+\s+){0,2}?(?:dec[ií]r|indicar|dar"
            r"|precisar|especificar|explicar|describir|facilitar|proporcionar|confirmar|aclarar|contar"
            r"|reformular|ser\s+más\s+\w+|dices?|dice|das?|indicas?)(?:me|nos|lo|melo)?\b|\b(?:d[ií]game|dime|d[ií]ganos"
            r"|ind[ií]que(?:me|nos)|ind[ií]came|dame|deme|cuéntame|cuénteme|especifi(?:que|ca)|facilíteme|proporcione"
            r"|precise|describa)\b|\b(?:necesito|necesitamos|necesitaría|me\s+falta)\s+(?:saber|su|tu|el|la|más"
            r"|conocer|que|un)\b|\bpuedo\s+saber\b|\bme\s+gustaría\s+saber\b|\bpor\s+favor,?\s+(?:elija|escoja|elige"
            r"|introduzca)\b",
            meant=r"\b(?:se|te)\s+refier\w*\b|\bquier\w*\s+decir\b",
            offers=r"\b(?:algo|alguna\s+cosa|nada)\s+más\b|\botr[ao]\s+(?:cosa|pregunta)\b|\botras\s+(?:preguntas"
            r"|dudas)\b|\bpued[oe]\w*\s+(?:\w+\s+){0,2}ayud\w*|\b(?:necesit|quier|dese"
            r"|gustar[ií]a)\w*\s+(?:\w+\s+){0,2}(?:más|otr[ao]s?|que\s+(?:te|le|yo))\b|\bsaber\s+más\b|\b(?:te|le"
            r"|les)\s+(?:ha\s+)?(?:ayud\w+|servid\w+|sirv\w+)|^\W*interesad[oa]\W*$|\bpor\s+qué\s+no\b|\bqué\s+(?:tal"
            r"|te\s+parece|le\s+parece)\b",
            invites=r"\bno\s+dud\w+|\bsi\s+(?:tien\w*|necesit\w*|quier\w*|dese\w*)\b",
            delivers=r"\baquí\s+(?:tien\w*|está\w*|van?|hay)\b|\b(?:recomiendo|sugiero|recomendamos)\b|\b(?:puedes?"
            r"|podrías?|deberías?|debes?)\s+\w+(?:r|rlo|rla)\b|^\W*(?:pruebe|prueba|reinicie|reinicia|pulse|pulsa)\b",
            talk=r"\b(?:yo|me|te|usted|ustedes|claro|por\s+supuesto|gracias|con\s+(?:mucho\s+)?gusto|encantad[oa]"
            r"|perfecto|vale|entiendo|entendido|hola|siento|puedo|depende|varias|varios|diferentes|distint[oa]s"
            r"|de\s+acuerdo|para\s+\w+r(?:le|te|lo)?)\b",
            choice=rf"{_OR_IN_SPANISH}|\bmás\s+bien\b",
        ),
        "it": _Words(
            requests=r"\b(?:puoi|può|potresti|potrebbe|potete|potreste|mi\s+(?:puoi|può))\s+(?:\w+\s+){0,2}?(?:dir"
            r"|indicar|dar|precisar|specificar|spiegar|descriver|fornir|confermar|chiarir|riformular|essere\s+più)\w*\b"
            r"|\b(?:mi\s+(?:dica|dici|indichi|indica|dia|fornisca|descriva|specifichi)|dimmi|dammi|indicami|ci\s+dica"
            r"|specificami|precisami|descrivimi)\b|\b(?:ho|avrei|abbiamo)\s+bisogno\s+(?:di|del|della|che|d')"
            r"|\b(?:devo|dovrei|vorrei)\s+(?:\w+\s+)?sapere\b|\bmi\s+serv\w+\b|\bposso\s+(?:sapere|chieder\w+)\b"
            r"|\bper\s+favore,?\s+(?:scelga|scegli|inserisca)\b",
            meant=r"\b(?:intendi|intende|intendete)\b|\b(?:ti|si)\s+riferi\w+\b|\bvuol\w*\s+dire\b",
            offers=r"\bqualcos'?\s?altro\b|\b(?:di|d')\s?altro\b|\baltr[eai]\s+(?:domand[ae]|cosa|richieste)\b"
            r"|\bposso\s+(?:\w+\s+){0,2}(?:aiut\w*|esser\w*|fare)\b|\bsaper(?:ne|e)\s+di\s+più\b|\b(?:vuoi|vuole"
            r"|volete|desider\w*|vorrest\w*|ne\s+vuoi)\s+(?:\w+\s+){0,2}(?:altr[oaei]|più|che\s+(?:ti|le|io))\b"
            r"|\bperché\s+non\b|\bche\s+ne\s+(?:dici|dice|pensi|pensa)\b|\bè\s+stato\s+utile\b",
            invites=r"\bnon\s+esit\w+|\bse\s+(?:hai|ha|avete|vuoi|vuole|ti\s+serve|dovess\w+)\b",
            delivers=r"\becco\b|\b(?:consiglio|suggerisco|raccomando)\b|\b(?:puoi|può|potresti|dovresti"
            r"|dovrebbe)\s+\w+re\b|^\W*(?:provi|prova|riavvii|riavvia|prema)\b",
            talk=r"\b(?:io|mi|ti|tu|lei|certo|certamente|grazie|volentieri|capisco|ciao|salve|perfetto|va\s+bene"
            r"|d'accordo|mi\s+dispiace|posso|dipende|diversi|diverse|parecchi|più\s+di|vari|varie|per\s+\w+re)\b",
            choice=r"\boppure\b|\bpiuttosto\b",
        ),
        "pt": _Words(
            requests=r"\b(?:pode|podes|poderia|poderias|podia|consegue)\s+(?:\w+\s+){0,2}?(?:me\s+|nos\s+)?(?:dizer"
            r"|indicar|dar|precisar|especificar|explicar|descrever|fornecer|informar|confirmar|esclarecer|contar"
            r"|reformular|ser\s+mais)(?:-me|-nos)?\b|\b(?:diga(?:-me)?|diz-me|me\s+diga|informe(?:-me)?|indique(?:-me)?|dê-me"
            r"|me\s+dê|especifique|descreva|forneça|conte-me)\b|\b(?:preciso|precisamos|precisaria"
            r"|necessito)\s+(?:saber|de|do|da|que|conhecer)\b|\bgostaria\s+de\s+saber\s+(?!mais)|\bposso\s+saber\b"
            r"|\bpor\s+favor,?\s+(?:escolha|selecione|digite)\b",
            meant=r"\b(?:você\s+)?se\s+refer\w+\b|\brefere-se\b|\bquer(?:es|em)?\s+dizer\b|\bestá\s+(?:falando"
            r"|a\s+falar)\b",
            offers=r"\bmais\s+(?:alguma|algo|perguntas)\b|\balgo\s+mais\b|\balguma\s+(?:outra|dúvida)\b"
            r"|\boutr[ao]s?\s+(?:coisa|perguntas?|dúvidas?)\b|\bposso\s+(?:\w+\s+|\w+-\w+\s+){0,2}(?:ajud\w*"
            r"|ser\s+útil|fazer)|\bsaber\s+mais\b|\b(?:quer|queres|gostaria|deseja"
            r"|precisa)\w*\s+(?:\w+\s+){0,2}(?:mais|outr[ao]s?|que\s+eu)\b|\bpor\s+que\s+não\b|\bque\s+tal\b"
            r"|\bo\s+que\s+acha\b|\b(?:isso|isto)\s+(?:\w+\s+)?ajud\w+",
            invites=r"\bnão\s+hesite\b|\bse\s+(?:tiver|precisar|quiser|desejar|houver)\b|\bfique\s+à\s+vontade\b",
            delivers=r"\baqui\s+(?:está|estão|vai|vão|tem)\b|\b(?:recomendo|sugiro|aconselho)\b|\b(?:você\s+)?(?:pode"
            r"|poderia|deve|deveria)\s+\w+r\b|^\W*(?:tente|reinicie|pressione|clique)\b",
            talk=r"\b(?:eu|me|mim|você|vocês|te|lhe|claro|com\s+certeza|obrigad[oa]|com\s+prazer|entendo|entendi|olá"
            r"|oi|desculpe|perfeito|posso|depende|vários|várias|diferentes|tudo\s+bem|certo|mais\s+de\s+um"
            r"|para\s+\w+r)\b",
            choice=r"\bou\b",
        ),
        "nl": _Words(
            requests=r"\b(?:kunt|kun|kan|zou|zoudt|wilt|wil)\s+(?:u|je|jij)\s+(?:\w+\s+){0,4}?(?:vertellen|zeggen"
            r"|geven|noemen|aangeven|beschrijven|laten\s+weten|specifieker\s+zijn|preciezer\s+zijn|toelichten"
            r"|uitleggen|bevestigen|doorgeven)\b|\b(?:kunt|kun)\s+(?:u|je)\s+(?:mij|me|ons)\b|\b(?:vertel|zeg|geef"
            r"|noem|beschrijf|vermeld|kies)\s+(?:me|mij|ons|alstublieft|alsjeblieft|uw|je|het|een|aan)\b|\b(?:heb"
            r"|hebben)\s+(?:ik\s+|wij\s+)?(?:\w+\s+){0,4}nodig\b|\b(?:moet|wil)\s+ik\s+(?:\w+\s+)?weten\b"
            r"|\blaat\s+(?:me|mij|ons)\s+weten\s+(?:welke?|wat|wanneer|waar|hoe)\b|\bmag\s+ik\s+(?:vragen|weten)\b",
            meant=r"\bbedoel(?:t|en)?\s+(?:je|jij|u)\b|\b(?:je|u)\s+bedoelt\b|\bheeft\s+u\s+het\s+over\b",
            offers=r"\bnog\s+(?:iets|ergens|andere|meer|vragen|een\s+vraag)\b|\banders\s+nog\b"
            r"|\bkan\s+ik\s+(?:\w+\s+){0,4}(?:helpen|doen|betekenen)\b|\b(?:wilt|wil|heeft|heb|hebt|zoekt)\s+(?:u|je"
            r"|jij)\s+(?:\w+\s+){0,2}(?:meer|nog|andere|dat\s+ik)\b|\bwaarom\s+niet\b|\bwat\s+dacht\b|\bhoe\s+gaat\b"
            r"|\b(?:heeft|was)\s+(?:dit|dat)\s+(?:\w+\s+)?(?:geholpen|nuttig|handig)\b|^\W*(?:zal|moet)\s+ik\b",
            invites=r"\b(?:als|indien|mocht)\s+(?:u|je|er)\s+(?:\w+\s+){0,3}(?:vragen|hulp|nog|iets|wilt|wil)\b"
            r"|\baarzel\s+niet\b|\bgerust\b",
            delivers=r"\bhier\s+(?:is|zijn|heeft|heb|vindt)\b|\bik\s+(?:raad|beveel)\b|\b(?:u|je)\s+(?:kunt|kan|zou"
            r"|moet)\s+(?!me\b|mij\b)|^\W*(?:probeer|herstart|druk|klik)\b",
            talk=r"\b(?:ik|mij|me|wij|ons|u|je|jij|graag|bedankt|dank|natuurlijk|zeker|begrepen|prima|hallo|sorry"
            r"|helaas|hangt|verschillende|meerdere|om\s+(?:u|je|jou)|oké|oke)\b",
            choice=r"\bof\s+(?:liever|juist|toch|een)\b",
        ),
        "ja": _Words(
            requests=r"(?:教え|お教え|聞か|お聞かせ|お知らせ|知らせ|ご指定|指定し|お伝え|伝え|ご記入|入力し|ご入力|お選び|選ん|お書き|説明し|ご説明|明記し"
            r"|具体的に)[^。？?]{0,8}(?:ください|下さい|頂け|いただけ|くださ|もらえ|いただき|お願い|ませ)|(?:伺っ|お伺いし|お聞きし)[^。？?]{0,4}(?:も|ても)?(?:よろしい"
            r"|いい|良い)|(?:情報|番号|名|詳細)[^。？?]{0,6}(?:必要です(?!か)|必要となります|が必要(?!ですか))",
            meant=r"おっしゃ|仰っ|(?:という|と言う)意味|のことです(?:か|よね)|を指し",
            offers=r"(?:他|ほか|その他|それ以外)に(?:も)?[^。?？]{0,20}(?:ますか|ませんか|でしょうか|ですか|は\W*$)|何か(?:お手伝い|ご質問|ご不明|お困り|お役に立)"
            r"|(?:お手伝い|お役に立て|お力に)[^。?？]{0,15}か|いかが(?:ですか|でしょうか)|もっと[^。?？]{0,10}(?:ますか|たいですか)|(?:他|ほか"
            r"|別)の[^。?？]{0,15}(?:ますか|ませんか|ですか)|ましょうか|^\W*(?:なるほど\W*)?そう(?:です|でした)か|(?:役に立ち|解決し)ました(?:か|でしょうか)"
            r"|ではない(?:です|でしょう)か",
            invites=r"(?:あれば|ございましたら|ありましたら|場合は|場合には)[^。]{0,15}(?:ください|下さい|どうぞ|ませ)|お気軽に|遠慮なく",
            delivers=r"(?:おすすめ|お勧め|オススメ)(?:は|し|の[^。]{0,10}は)|以下(?:の|に|が)|こちら(?:が|は|です)|てみてください|をご覧ください|答えは",
            talk=r"承知|分かり|わかり|かしこまり|了解|ありがと|もちろん|すみません|申し訳|喜んで|お調べ|お探し|ために|ためには|によって|により|複数|いくつか|同じ|はい|こんにちは|お客様|あなた"
            r"|失礼",
            choice=r"それとも|または|か、|どちら",
        ),
        "zh": _Words(
            requests=r"(?:请|請|麻烦|麻煩)(?:您|你)?(?:先|再)?(?:告诉|告訴|提供|说明|說明|具体|具體|描述|选择|選擇|输入|輸入|填写|填寫|确认|確認|补充|補充|给我|發給|发给|指出|详细"
            r"|詳細|回答)|(?:能否|可否|可以|能不能|可不可以|能)(?:请)?(?:您|你)?(?:再)?(?:告诉|告訴|提供|说|說|描述|具体|具體|详细|補充|补充)|我(?:还)?需要(?:知道|了解"
            r"|您|你|更多)|(?:您|你)(?:能|可以|能否)(?:再)?(?:说|說|告诉|提供|描述)|(?:请问|請問)",
            meant=r"(?:您|你)[^。？]{0,4}(?:指的?|说的|說的|意思)是?[^。？]{0,8}(?:哪|什么|什麼|谁|誰|吗|嗎|还是|還是)|指的是",
            offers=r"(?:还|還)(?:有|需要|想|要)(?:什么|什麼)?[^。？?]{0,6}(?:可以|能|需要|问题|問題|别的|別的|其他|其它|帮|幫)|(?:其他|其它|别的"
            r"|別的)[^。？?]{0,4}(?:问题|問題|需要|帮助|幫助|吗|嗎)|(?:怎么|如何|什么|什麼)(?:可以|能|能够)?(?:帮|幫|为)(?:到|助|您|你)|(?:能|可以)(?:为|為|帮"
            r"|幫)(?:您|你)(?:做|什)|更多|需要我|要不要我|要我|不如|怎么样|怎麼樣|何不|谁知道|(?:有帮助|清楚|明白|解决)(?:了)?(?:吗|嗎)|(?:这样|這樣|这"
            r"|這)(?:就)?(?:可以|行|好)(?:了)?(?:吗|嗎)|你好吗",
            invites=r"(?:如果|若|如|假如)(?:您|你)?(?:还|還)?(?:有|需要|想)[^。]{0,20}(?:告诉|告訴|联系|聯繫|随时|隨時|问我|提出)|(?:随时|隨時)(?:告诉|告訴"
            r"|问|問|联系|聯繫|欢迎)",
            delivers=r"(?:推荐|推薦)[^。]{0,10}[：:《]|以下|这是|這是|建议(?:您|你)?(?!告诉)|(?:您|你)可以(?!告诉|提供|选择|说)|试试|試試|答案是",
            talk=r"好的|当然|當然|没问题|沒問題|谢谢|謝謝|为了|為了|取决|取決|有几|有兩|有两|多个|多個|几种|明白|您好|你好|抱歉|我|[您你](?!的)|不同",
            choice=r"还是|還是|或者|或是",
        ),
        "el": _Words(
            requests=r"(?:μπορείτε|μπορείς|θα\s+μπορούσατε|θα\s+μπορούσες|μπορούσατε)\s+να\s+(?:μου\s+"
            r"|μας\s+)?(?:πείτε|πεις|δώσετε|δώσεις|διευκρινίσετε|διευκρινίσεις|περιγράψετε|εξηγήσετε|αναφέρετε"
            r"|προσδιορίσετε|γίνετε\s+πιο|γίνεις\s+πιο)|\b(?:πείτε|πες|δώστε|δώσε|αναφέρετε|διευκρινίστε|διευκρίνισε"
            r"|περιγράψτε|επιλέξτε)\b|\b(?:χρειάζομαι|χρειαστώ|χρειαζόμαστε)\b|\b(?:πρέπει|θέλω"
            r"|θα\s+ήθελα)\s+να\s+(?:ξέρω|γνωρίζω|μάθω)\b",
            meant=r"\b(?:εννοείτε|εννοείς|αναφέρεστε|αναφέρεσαι)\b",
            offers=r"\b(?:κάτι|τίποτα|τίποτε)\s+άλλο\b|\bάλλ(?:ες|η)\s+(?:ερωτήσεις|ερώτηση|απορίες)\b|\b(?:μπορώ"
            r"|μπορούμε)\s+να\s+(?:\w+\s+){0,2}(?:βοηθήσω|κάνω|εξυπηρετήσω)\b|\bπερισσότερ\w+|\bθέλ(?:ετε"
            r"|εις)\s+να\s+(?:σας|σου|μάθετε|δείτε)\b|\bγιατί\s+όχι\b|\bτι\s+(?:θα\s+)?(?:λέτε|λέγατε|λες)\b"
            r"|\bβοήθησε\b",
            invites=r"\b(?:αν|εάν)\s+(?:έχετε|έχεις|χρειάζεστε|χρειαστείτε|θέλετε|υπάρχει)\b|\bμη\s+διστάσ\w+",
            delivers=r"\bορίστε\b|\bεδώ\s+(?:είναι|έχετε|θα)\b|\b(?:προτείνω|συνιστώ)\b|\bμπορείτε\s+να\s+(?!μου|μας)"
            r"|^\W*(?:δοκιμάστε|πατήστε)\b",
            talk=r"\b(?:(?:να|θα)\s+σ(?:ας|ου)|εγώ|βεβαίως|βέβαια|φυσικά|ευχαριστώ|ευχαρίστως|κατάλαβα|εντάξει|γεια"
            r"|συγγνώμη|λυπάμαι|μπορώ|εξαρτάται|πολλές|πολλά|αρκετές|διάφορ\w+|για\s+να)\b",
            choice=r"\bή\b",
        ),
        "ko": _Words(
            requests=r"(?:알려|말씀해|말해|가르쳐|제공해|설명해|선택해|입력해|확인해)\s?(?:주|줄)|(?:번호|정보|이름)[^.?]{0,6}필요합니다",
            meant=r"말씀하시는|뜻하|의미하",
            offers=r"(?:더|또)\s?(?:필요|도와|궁금|원하|알고)|다른\s?(?:질문|도움|것|필요)|(?:도와|추천해)\s?드릴까요|도움이\s?(?:되|필요)|어떠(?:세요|신가요"
            r"|십니까)",
            invites=r"(?:있으면|있으시면|필요하시면|필요하면|언제든)",
            delivers=r"추천(?:합니다|드립니다)|다음은|여기\s?있",
            talk=r"^\W*(?:네|예)\b|알겠|감사|물론|안녕|여러|따라|죄송|위해",
            choice=r"아니면|또는",
        ),
        "ru": _Words(
            requests=r"\b(?:уточните|подскажите|скажите|укажите|сообщите|назовите|опишите|расскажите|выберите|перефразируйте|скажи"
            r"|уточни|подскажи|укажи)\b|\b(?:могли\s+бы|можете|можешь|не\s+могли\s+бы)\s+(?:\w+\s+){0,2}(?:уточнить"
            r"|сказать|указать|подсказать|описать|назвать|сообщить|рассказать)\b|\bмне\s+(?:нужно|нужен|нужна|нужны"
            r"|необходимо)\b",
            meant=r"\b(?:вы\s+имеете|ты\s+имеешь|имеете\s+ли\s+вы)\s+в\s+виду\b|\bречь\s+идёт\b",
            offers=r"нибудь\s+ещ[её]|ещ[её]\s+(?:чем|что)|\bмогу\s+(?:\w+\s+){0,4}помочь|\bхотите\s+(?:узнать|больше"
            r"|ещ[её]|чтобы)|\bдругие\s+вопросы|\bпочему\s+бы|\bкак\s+насч[её]т",
            invites=r"\bесли\s+(?:у\s+вас|вам|возникнут|что)\b|\bобращайтесь\b",
            delivers=r"^\W*вот\b|\b(?:рекомендую|советую|предлагаю)\b|\b(?:вы\s+)?можете\s+(?!уточнить|сказать"
            r"|указать)",
            talk=r"\b(?:я|мне|меня|вы|вам|ваш\w*|конечно|спасибо|хорошо|понятно|понял|здравствуйте|извините|зависит"
            r"|несколько|разные|чтобы)\b",
            choice=r"\bили\b",
        ),
        "pl": _Words(
            requests=r"\bproszę\s+(?:\w+\s+){0,2}(?:podać|powiedzieć|określić|opisać|wskazać|sprecyzować|wybrać"
            r"|podaj)\b|\b(?:podaj|powiedz|opisz|sprecyzuj)\b|\bczy\s+(?:może\w*|mógł\w*"
            r"|mogł\w*)\s+(?:\w+\s+){0,3}(?:podać|powiedzieć|określić|opisać)\b|\bpotrzebuję\b|\bmuszę\s+wiedzieć\b",
            meant=r"\bna\s+myśli\b|\bchodzi\s+(?:o|ci|panu|pani)\b",
            offers=r"\bjeszcze\s+(?:\w+\s+)?(?:czymś|coś|czegoś|jakieś)\b|\b(?:czegoś|coś)\s+jeszcze\b"
            r"|\bmog\w*\s+(?:\w+\s+){0,4}pomóc\b|\binne\s+pytania\b|\bwiedzieć\s+więcej\b",
            invites=r"\b(?:jeśli|jeżeli|gdyby)\s+(?:masz|ma|mają|potrzebuj\w+|chc\w+)\b",
            delivers=r"^\W*oto\b|\b(?:polecam|proponuję|sugeruję)\b",
            talk=r"\b(?:ja|mnie|mi|pan|pani|pana|panu|twój|ci|oczywiście|dziękuję|dobrze|rozumiem|jasne|zależy|kilka"
            r"|różne|chętnie|aby|żeby)\b",
            choice=r"\bczy\s+(?:raczej|może)\b|\balbo\b|\blub\b",
        ),
        "cs": _Words(
            requests=r"\b(?:prosím,?\s+)?(?:uveďte|řekněte|upřesněte|popište|sdělte|zadejte)\b"
            r"|\bmůžete\s+(?:\w+\s+){0,2}(?:říci|říct|upřesnit|uvést|popsat)\b|\bpotřebuji\b",
            meant=r"\bna\s+mysli\b|\bmyslíte\b",
            offers=r"\bještě\s+(?:\w+\s+)?(?:něco|něčím)\b|\bmohu\s+(?:\w+\s+){0,4}pomoci\b|\bdalší\s+(?:otázky"
            r"|dotazy)\b|\bvědět\s+víc",
            invites=r"\b(?:pokud|kdybyste)\s+(?:máte|měli|potřebuj\w+)\b",
            talk=r"\b(?:já|mi|vy|vám|vás|váš|jistě|samozřejmě|děkuji|rozumím|dobře|záleží|několik|abych)\b",
            choice=r"\bnebo\b",
        ),
        "north": _Words(  # Swedish, Danish, Norwegian
            requests=r"\b(?:kan|kunde|skulle|kunne|vil|vill)\s+(?:du|ni|I|De)\s+(?:\w+\s+){0,3}(?:berätta|säga|ange"
            r"|beskriva|specificera|fortælle|sige|oplyse|fortelle|si|oppgi|beskrive)\b|^\W*(?:berätta|ange|fortæl"
            r"|fortell|oplys|oppgi|angiv|beskriv)\b|\b(?:jag\s+behöver|jeg\s+(?:har\s+)?(?:brug\s+for|trenger))\b",
            meant=r"\b(?:menar|mener)\s+(?:du|ni|De)\b",
            offers=r"\b(?:något|noget|noe|annat)\s+(?:mer|mere|annat|andet|annet|annan)\b|\bandet,?\s+(?:jeg|vi)\b"
            r"|\bkan\s+(?:jag|jeg|vi)\s+(?:\w+\s+){0,4}(?:hjälpa|hjælpe|hjelpe|göra|gøre|gjøre)\b|\b(?:veta|vide"
            r"|vite)\s+mere?\b|\b(?:fler|flere)\s+(?:frågor|spørgsmål|spørsmål)\b",
            invites=r"\b(?:om|hvis)\s+(?:du|ni|De)\s+(?:har|behöver|har\s+brug|trenger|vill|vil)\b",
            delivers=r"\b(?:här|her)\s+(?:är|er|kommer)\b|\b(?:rekommenderar|anbefaler|föreslår|foreslår)\b",
            talk=r"\b(?:jag|jeg|mig|meg|du|dig|deg|din|ditt|självklart|selvfølgelig|gärna|gerne|gjerne|tack|tak|takk"
            r"|visst|okej|förstår|hej|beror|flera|flere|för\s+att|for\s+at|for\s+å)\b",
            choice=r"\beller\b",
        ),
        "fi": _Words(
            requests=r"\b(?:voisit|voit|voisitte|voitte)ko\s+(?:\w+\s+){0,2}(?:kertoa|tarkentaa|sanoa|antaa"
            r"|kuvailla)\b|^\W*(?:kerro|kertokaa|tarkenna|ilmoita)\b|\b(?:tarvitsen|tarvitsisin)\b",
            meant=r"\btarkoita\w*\b",
            offers=r"\bmuuta\b|\btarvitse(?:t|tte)ko\b|\bvoi\w*ko\s+(?:\w+\s+)?auttaa\b|\bmiten\s+voin\b|\bapua\b"
            r"|\blisää\b|\bmuita\s+kysymyksiä\b",
            invites=r"\bjos\s+(?:sinulla|teillä|tarvitse\w*|haluat)\b",
            talk=r"\b(?:minä|sinä|sinun|kiitos|toki|selvä|tietysti|hei|riippuu|useita|jotta)\b",
            choice=r"\bvai\b|\btai\b",
        ),
        "tr": _Words(
            requests=r"\blütfen\b.{0,60}\b\w*(?:belirtin|söyleyin|girin|verin|yazın|açıklayın|paylaşın)\w*"
            r"|\b(?:söyler|belirtir|verir|açıklar|paylaşır)\s+mis\w+|\bihtiyacım\s+var\b",
            meant=r"\bkaste\w+\b|\bdemek\s+isti\w+\b",
            offers=r"\bbaşka\s+(?:\w+\s+){0,2}(?:soru\w*|şey|nasıl|yardım\w*|var)\b|\byardımcı\s+ol\w+"
            r"|\bdaha\s+fazla\b|\bne\s+dersin\w*",
            invites=r"\b(?:olursa|varsa|isterseniz)\b",
            delivers=r"^\W*işte\b|\bönerir\w+",
            talk=r"\b(?:ben|siz|sizin|size|tabii|elbette|teşekkür\w*|anladım|merhaba|bağlı|birkaç|için)\b",
            choice=r"\byoksa\b|\bveya\b",
        ),
        "further": _Words(  # Arabic, Hindi, Indonesian, Vietnamese, Thai, Romanian, Hungarian, Ukrainian, Hebrew
            requests=r"أحتاج\s+إلى|(?:هل\s+يمكنك|يرجى|من\s+فضلك)\s+(?:\w+\s+)?(?:أن\s+)?\w*(?:تخبرني|إخباري|إخبارنا|تحديد|توضيح"
            r"|تزويدي|ذكر|تحدد|أخبرني)|कृपया[^।?]{0,40}(?:बताएं|बताइए|बताएँ|दें|दीजिए)|\b(?:tolong|mohon"
            r"|bisakah\s+anda)\s+(?:\w+\s+)?(?:sebutkan|jelaskan|beri\w*|berikan|menyebutkan|menjelaskan)\b"
            r"|\bvui\s+lòng\s+(?:cho|cung\s+cấp|nói)|กรุณา(?:ระบุ|บอก|แจ้ง)|\b(?:îmi\s+(?:puteți|poți)\s+spune"
            r"|vă\s+rog\s+să(?:-mi)?\s+(?:spuneți|indicați))|\bkérem,?\s+(?:adja|mondja|írja)|\b(?:уточніть|вкажіть"
            r"|скажіть)\b|אנא\s+ציין|תוכל\s+(?:לומר|לציין)",
            meant=r"تقصد|تعني|मतलब|\bmaksud\b|\bý\s+(?:bạn|anh|chị)\b|หมายถึง|\bvă\s+referiți\b|\bgondol\w*"
            r"|\bмаєте\s+на\s+увазі\b|מתכוון",
            offers=r"شيء\s+آخر|أسئلة\s+أخرى|مساعدة\s+أخرى|(?:كيف|هل)\s+(?:يمكنني|أستطيع)\s+(?:\w+\s+){0,2}\w*مساعد"
            r"|المزيد|और\s+कोई|कुछ\s+और|(?:मदद|सहायता)\s+कर\s+सकत|\bada\s+lagi\b|\b(?:bisa|dapat)\s+saya\s+bantu"
            r"|\blebih\s+(?:lanjut|banyak)\b|\bcòn\s+gì\b|\bgiúp\s+gì\b|\bthêm\s+gì\b|ช่วยอะไร|อีกไหม|เพิ่มเติมไหม"
            r"|\baltceva\b|\bpot\s+ajuta\b|\b(?:más|egyéb)\s+kérdés|\bsegíthetek\b|\bmég\s+valami|\bще\s+(?:щось"
            r"|чимось)|\bдопомогти\b|משהו\s+נוסף|עוד\s+משהו|לעזור",
            talk=r"بالتأكيد|شكرا|حسنا|ज़रूर|जरूर|धन्यवाद|\b(?:tentu|baik|saya|anda|terima\s+kasih)\b|\b(?:bạn|tôi"
            r"|vâng|cảm\s+ơn)\b|แน่นอน|ขอบคุณ|\b(?:sigur|desigur|mulțumesc|persze|köszönöm|звісно|дякую)\b|בטח|תודה",
            choice=r"\bأم\b|\batau\b|\bhay\b|หรือ|\bsau\b|\bvagy\b|\bчи\b|\sया\s",
        ),
    }
)


def _join_languages(part: str) -> re.Pattern[str]:
    found = (getattr(words, part) for words in _LANGUAGES.values())
    return lazy_pattern("|".join(filter(None, found)), re.IGNORECASE)


REQUESTS = _join_languages("requests")
MEANT = _join_languages("meant")
OFFERS = _join_languages("offers")
INVITES = _join_languages("invites")
DELIVERS = _join_languages("delivers")
TALK = _join_languages("talk")
CHOICE = _join_languages("choice")
