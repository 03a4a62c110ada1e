"""The words by which people are asked something, in the languages that `protocols.questions` knows.

Each language adds alternatives to six patterns; all languages are searched at once, so that nobody has to say in which
one a system answers. A gap between two words of a phrase is at most four words: nothing here can take long.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from topics.late_pattern import late_pattern

__all__ = ["CHOICE", "DELIVERS", "INVITES", "MEANT", "OFFERS", "REQUESTS", "TALK"]


@dataclass(frozen=True, slots=True)
class _Words:
    """What one language adds; "" adds nothing.

    requests: asks to be told something, with or without a question mark. meant: asks what was meant. offers: asks
    whether something else is wanted, suggests something, or is said for effect. invites: asks to be told only if there
    is a wish, so it asks nothing. delivers: announces what was asked for. talk: marks a sentence that leads up to a
    question and answers nothing. choice: the word between two alternatives.
    """

    requests: str = ""
    meant: str = ""
    offers: str = ""
    invites: str = ""
    delivers: str = ""
    talk: str = ""
    choice: str = ""


_ENGLISH_ASK = (
    r"(?:tell|give|send|show)\s+(?:me|us)\b|let\s+(?:me|us)\s+know\b|(?:provide|specify|clarify|describe|confirm|share"
    r"|indicate|name|state|elaborate|enter|choose|select|answer|explain|expand|narrow)\b"
    r"|be\s+(?:(?:a\s+)?(?:bit|little)\s+)?(?:more|any)\s+(?:more\s+)?(?:specific|precise)\b|say\s+(?:which|what|more|a\s)"
)
_LANGUAGES: Mapping[str, _Words] = MappingProxyType(
    {
        "en": _Words(
            requests=rf"\b(?:can|could|would|will|might)\s+you\s+(?:\w+\s+){{0,2}}?(?:{_ENGLISH_ASK})"
            rf"|\b(?:please|kindly)\s+(?:\w+\s+)?(?:{_ENGLISH_ASK})|^\W*(?:(?:so|then|first|just|and)\W+)?(?:{_ENGLISH_ASK})"
            r"|\b(?:I|we)(?:'ll|'d|\s+will|\s+would|\s+do)?\s+(?:\w+\s+)?(?:need|have|must)\s+(?:to\s+know|(?:to\s+)?ask)\b|\b(?:I|we)(?:'ll|'d|\s+will|\s+would|\s+do)?\s+(?:\w+\s+)?need\s+(?:your|the|more|some"
            r"|a\s+(?:few|bit|little)|one\s+more|further|additional)\b|\b(?:I'd|I\s+would)\s+like\s+to\s+(?:know|ask)\b"
            r"|\b(?:can|could|may|might)\s+I\s+(?:\w+\s+)?(?:ask|know|have|get|see)\b(?!\s+you\b)|\bit\s+would\s+help\s+(?:me\s+)?(?:to|if|a)\b"
            r"|\b(?:not\s+(?:\w+\s+)?(?:sure|clear|certain)|don't\s+know|unsure|unclear)\s+(?:which|what|who|whether|when"
            r"|where|how)\b(?=.{0,80}\byou)",
            meant=r"\b(?:do|did)\s+you\s+(?:\w+\s+)?(?:mean|refer)\b|\byou(?:'re|\s+are)\s+(?:referring|asking)\b"
            r"|\bare\s+you\s+(?:\w+\s+)?(?:referring|asking)\b|^\W*(?:so\W+)?you\s+mean\b|\bhave\s+in\s+mind\b",
            offers=r"\b(?:anything|something|someone|somewhere)\s+(?:else|more|further)\b|\b(?:that|this)\s+(?:be\s+)?all\b"
            r"|\bwould\s+it\s+help\s+if\s+(?:I|we)\b|\bwhat\s+else\s+(?:can|could|may|would|do\s+you)\b"
            r"|\bwould\s+you\s+like\s+(?:me|us|(?:to\s+\w+\s+)?(?:another\b|(?:\w+\s+)?more(?!\s+about\s+(?!it\b|this\b|that\b|them\b))))\b"
            r"|\b(?:want|need|like|care\s+for|interested\s+in)\s+(?:me\s+to|more\b|another\b|(?:any\s+|some\s+)?(?:further"
            r"|more|other|additional)\b|any\s*(?:thing\s+(?:else|more|other)|help\b|assistance\b))"
            r"|\b(?:can|may|could|should|shall|how\s+(?:can|may|might))\s+(?:I|we)\s+(?:help|assist|be\s+of|tell\s+you\s+more"
            r"|do\b|show|suggest|recommend|list|give|interest|offer|get\s+you|explain|look|search|continue)"
            r"|\bwhat\s+do\s+you\s+say\b"
            r"|\b(?:was|is|did|does|has)\s+(?:this|that|it)\s+(?:help\w*|answer|sound|look|what\s+you|useful|ok|okay|clear|solve\w*|work"
            r"|fix|make\s+sense)\b|\b(?:any|got|have)\s+(?:\w+\s+)?(?:other|more|further)\s+questions\b|\bany\s+other\s+way\b|^\W*(?:shall|should)\s+(?:I|we)\b|\bany\s+questions\b"
            r"|\bwhy\s+(?:not|don't)\b|\b(?:how|what)\s+about\b|\bshall\s+we\b|\bwhat\s+do\s+you\s+think\b"
            r"|\bsounds?\s+(?:good|interesting)\b|\bdid\s+you\s+know\b|\bhow\s+are\s+you\b|\bguess\s+what\b"
            r"|\bwho\s+(?:knows|knew|cares|wants|needs|doesn't|wouldn't|would|hasn't)\b(?!.*\byou)|\bwhat's\s+not\s+to\b|^\W*(?:is|are|was|were|do|does)n't\s+(?:it|that|this|they|he|she)\b"
            r"|^\W*(?:\w+,?\s+)?(?:is|are|does)n't\s+(?:it|that)\b|^\W*(?:agreed?|interested|curious|ready|right|deal|ok(?:ay)?)\W*$",
            invites=r"\b(?:if|in\s+case|should)\s+(?:you|there|anything|that|this|it|I)\b(?:\s+\w+){0,4}?\s+(?:need|questions?"
            r"|problems?|issues?|want|like|else|unclear|help\w*|works?|wish|prefer)\b|\bif\s+anything\b"
            r"|\b(?:feel\s+free|don't\s+hesitate|what\s+you\s+think"
            r"|how\s+(?:it|you|that|this|things)\s+(?:go\w*|get|went|work\w*|feel))\b",
            delivers=r"\bhere(?:'s|\s+is|\s+are)\b|\b(?:I|we)(?:'d|\s+would|\s+can)?\s+(?:highly\s+)?(?:recommend|suggest)\b"
            r"(?!\s+(?:a\s+|some\s+|you\s+)?(?:something|suitable|the\s+right|one|better))"
            r"|\byou\s+(?:should|could|can|might|may|must|have\s+to)\s+(?!choose|tell|pick|select|provide|give|also\s+tell)\w+"
            r"|^\W*(?:try|check|restart|hold|press|click|open|go\s+to|turn|reset|unplug|watch)\b|\bthe\s+answer\s+is\b"
            r"|\bI\s+(?:think|believe|guess)\s+(?:it|that|this|you)(?:'s|'ll|'d|\s+(?:is|will|would))\b|\bI(?:'ve|\s+have)?\s+found\s+(?!several|many|multiple|more|a\s+few|two|no\b)",
            talk=r"\b(?:I|I'm|I'd|I'll|I've|me|my|you|your|we|us|our|sure|thanks?|certainly|absolutely|gladly|happy|glad|great"
            r"|okay|ok|alright|hello|hi|sorry|apologies|got\s+it|understood|problem|perfect|interesting|depends?|several"
            r"|multiple|various|many|more\s+than\s+one|a\s+few|a\s+couple|questions?|details|let's|of\s+course|please|different|both)\b|^\W*(?:oh|ah|hm+|wow|aha|right|fine)\b"
            r"|\bthere\s+(?:are|were)\s+(?:two|three|four|five)\b|^\W*to\s+\w+",
            choice=r"\bor\b|\brather\b",
        ),
        "de": _Words(
            requests=r"\b(?:können|könnten|würden|kannst|könntest|würdest|magst|mögen)\s+(?:Sie|du|ihr)\s+(?:\w+\s+){0,4}?(?:sagen"
            r"|nennen|geben|mitteilen|verraten|beschreiben|erklären|schildern|angeben|erläutern|präzisieren|(?:genauer|konkreter)\s+(?:sein|werden))\b"
            r"|\b(?:können|könnten|kannst|könntest)\s+(?:Sie|du)\s+(?:mir|uns|das|es|bitte)\b"
            r"|(?:^\W*|\bbitte\s+)(?:(?:sagen|nennen|geben|teilen|beschreiben|schildern|erklären|verraten|wählen|schicken)\s+Sie"
            r"|(?:sag|nenn|gib|beschreib|schreib|verrat|erklär|wähl)e?)\b|\b(?:brauche|benötige)\s+(?:ich\s+)?(?:\w+\s+){0,2}?(?:Ihre?n?"
            r"|deine?n?|die|den|das|mehr|weitere|ein|einige)\b|\bdarf\s+ich\s+(?:\w+\s+)?(?:fragen|wissen|erfahren)\b|\b(?:müsste|muss|möchte)\s+(?:ich\s+)?(?:\w+\s+)?(?:wissen|erfahren)\b"
            r"|\b(?:nicht|un)\s*(?:sicher|klar)\W+(?:welche|was|wen|wo|wann|ob)\w*",
            meant=r"\b(?:meinst|meinen)\s+(?:du|Sie|ihr)\b|\b(?:du|Sie)\s+(?:meinst|meinen)\b",
            offers=r"\bsonst\s+noch\b|\b(?:kann|darf|können|könnte)\s+(?:ich|wir)\s+(?:\w+\s+){0,4}(?:helfen|behilflich|tun"
            r"|unterstützen|dienen|zeigen|empfehlen)\b|\b(?:möchte\w*|wollen|willst|brauch\w*|haben|hast|wünschen|gibt)\s+(?:Sie|du|ihr"
            r"|es)\s+(?:noch|(?:\w+\s+){0,2}(?:mehr|weitere\w*|dass\s+ich|andere\w*))\b|\bsoll\s+ich\s+(?:\w+\s+){0,4}(?:mehr|erzählen|erklären|zeigen|helfen)\b|\bweitere\s+(?:Fragen|Hilfe|Wünsche)\b"
            r"|\bnoch\s+(?:etwas|was|Fragen|eine\s+Frage)\b|\b(?:hat|ist|war)\s+(?:\w+\s+)?das\s+(?:\w+\s+)?(?:geholfen|hilfreich)\b"
            r"|^\W*soll(?:en|te)?\s+(?:ich|wir)\b|\bwas\s+will\s+man\b|^\W*interessiert\W*$|\bwer\s+(?:kennt|weiß|will|braucht|möchte|hätte)\b|\bwie\s+wär|\bwarum\s+nicht\b|\bwie\s+geht",
            invites=r"\b(?:wenn|falls|sollten)\s+(?:Sie|du|noch|etwas)\b(?:\s+\w+){0,4}?\s+(?:Fragen|Hilfe|brauch\w*|benötig\w*|wünsch\w*"
            r"|haben|hast|unklar)\b|\bmelden\s+Sie\s+sich\b|\bzögern\s+Sie\s+nicht\b|\bjederzeit\b",
            delivers=r"\bhier\s+(?:ist|sind|finden)\b|\b(?:empfehle|empfehlen)\b|\b(?:Sie|du)\s+(?:sollte|könnte|kann|können)\w*\s+(?!mir)"
            r"|^\W*(?:versuchen|starten|drücken|halten|schalten|öffnen|klicken|probieren)\s+Sie\b",
            talk=r"\b(?:ich|mir|mich|wir|uns|Sie|du|Ihre?n?|dein\w*|dir|Ihnen|gerne?|danke|natürlich|klar|selbstverständlich|verstehe"
            r"|verstanden|okay|hallo|entschuldigung|leider|hängt|kommt\s+darauf|mehrere|verschiedene|um\s+(?:Ihnen|dir|das|die|den|zu))\b",
            choice=r"\boder\b",
        ),
        "fr": _Words(
            requests=r"\b(?:pouvez|pourriez|peux|pourrais|voulez|voudriez)-(?:vous|tu)\s+(?:\S+\s+){0,3}?(?:dire|préciser|indiquer|donner"
            r"|décrire|expliquer|fournir|communiquer|détailler|confirmer|être\s+plus\s+précise?)\b|\b(?:dites|dis|précisez|précise|indiquez|donnez|donne"
            r"|décrivez)(?:-(?:moi|nous))?\b|\bmerci\s+de\s+(?:bien\s+vouloir\s+)?(?:m'|me\s+|nous\s+)?(?:indiquer|préciser|dire"
            r"|donner|fournir|communiquer)\b|\b(?:j'ai|j'aurais|j'aurai|nous\s+avons)\s+(?:\S+\s+)?besoin\s+(?:de|d')"
            r"|\bveuillez\s+(?:me\s+|m'|nous\s+)?(?:indiquer|préciser|dire|donner|fournir|choisir)\b"
            r"|\bpuis-je\s+(?:savoir|vous\s+demander|connaître)\b|\b(?:je\s+dois|il\s+me\s+faut)\s+(?:\S+\s+)?(?:savoir|votre|connaître)",
            meant=r"\b(?:voulez-vous|veux-tu|vous\s+voulez|tu\s+veux)\s+dire\b|\bparlez-vous\b|\bvous\s+parlez\b|\btu\s+parles\b"
            r"|\bfaites-vous\s+référence\b|\bentendez-vous\b",
            offers=r"\bautre\s+chose\b|\bd'autres\b|\b(?:comment\s+)?(?:puis-je|pouvons-nous|je\s+peux)\s+(?:\S+\s+){0,2}(?:aider|être\s+utile"
            r"|faire)\b|\bsavoir\s+(?:plus|davantage)\b|\b(?:souhait|voul|dési|aimer)\w*-(?:vous|tu)\s+(?:\S+\s+){0,2}(?:plus|davantage"
            r"|que\s+je|en\s+savoir)\b|\bbesoin\s+d'(?:aide|autre)|\b(?:cela|ça)\s+(?:vous|t')\s*a\b|^\W*(?:ça|cela)\s+(?:vous|t)|^\W*(?:dois-je|intéressé\w*)\b|\bpourquoi\s+(?:pas|ne\s+pas)\b"
            r"|\bque\s+diriez-vous\b|\bqu'en\s+(?:pensez|dites)\b",
            invites=r"\bn'hésite[zs]?\b|\bsi\s+(?:vous|tu)\s+(?:avez|as|souhait\w*|voul\w*|désir\w*)\b|\bsi\s+besoin\b",
            delivers=r"\bvoi(?:ci|là)\b|\bje\s+(?:vous\s+|te\s+)?(?:recommande|conseille|suggère|propose)\b"
            r"|\bvous\s+(?:pouvez|pourriez|devriez|devez)\s+(?!me\b|m')",
            talk=r"\b(?:je|j|me|moi|nous|vous|votre|vos|tu|te|ton|ta|tes|bien\s+sûr|merci|avec\s+plaisir|volontiers|d'accord|entendu"
            r"|bonjour|désolée?|parfait|certainement|dépend|plusieurs|différente?s|pour\s+(?:vous|t|pouvoir))\b|\bj'",
            choice=r"\bou\b|\bplutôt\b",
        ),
        "es": _Words(
            requests=r"\b(?:puedes?|podr[ií]as?|podría|podéis|quieres?|me)\s+(?:\w+\s+){0,2}?(?:dec[ií]r|indicar|dar|precisar|especificar|explicar"
            r"|describir|proporcionar|confirmar|aclarar|contar|ser\s+más\s+\w+|dices?|dice|das?|indicas?)(?:me|nos|lo|melo)?\b"
            r"|\b(?:d[ií]game|dime|d[ií]ganos|ind[ií]que(?:me|nos)|ind[ií]came|dame|deme|cuéntame|cuénteme|especifi(?:que|ca)"
            r"|facilíteme|proporcione|precise|describa)\b|\b(?:necesito|necesitamos|necesitaría|me\s+falta)\s+(?:saber|su|tu|el|la|más|conocer|que|un)"
            r"\b|\bpuedo\s+saber\b|\bme\s+gustaría\s+saber\b|\bpor\s+favor,?\s+(?:elija|escoja|elige|introduzca)\b",
            meant=r"\b(?:se|te)\s+refier\w*\b|\bquier\w*\s+decir\b",
            offers=r"\b(?:algo|alguna\s+cosa|nada)\s+más\b|\botr[ao]\s+(?:cosa|pregunta)\b|\botras\s+(?:preguntas|dudas)\b"
            r"|\bpued[oe]\w*\s+(?:\w+\s+){0,2}ayud\w*|\b(?:necesit|quier|dese|gustar[ií]a)\w*\s+(?:\w+\s+){0,2}(?:más|otr[ao]s?|que\s+(?:te|le|yo))\b"
            r"|\bsaber\s+más\b|\b(?:te|le|les)\s+(?:ha\s+)?(?:ayud|serv|sirv)\w+|^\W*interesad[oa]\W*$|\bpor\s+qué\s+no\b|\bqué\s+(?:tal|te\s+parece|le\s+parece)\b",
            invites=r"\bno\s+dud\w+|\bsi\s+(?:tien\w*|necesit\w*|quier\w*|dese\w*)\b",
            delivers=r"\baquí\s+(?:tien\w*|está\w*|van?|hay)\b|\b(?:recomiendo|sugiero|recomendamos)\b|\b(?:puedes?|podrías?|deberías?|debes?)\s+\w+(?:r|rlo|rla)\b"
            r"|^\W*(?:pruebe|prueba|reinicie|reinicia|pulse|pulsa)\b",
            talk=r"\b(?:yo|me|mi|te|tu|tus|su|sus|usted|ustedes|claro|por\s+supuesto|gracias|con\s+(?:mucho\s+)?gusto|encantad[oa]|perfecto"
            r"|vale|entiendo|entendido|hola|siento|puedo|depende|varias|varios|diferentes|distint[oa]s|de\s+acuerdo|para\s+\w+r(?:le|te|lo)?)\b",
            choice=r"\bo\b|\bmás\s+bien\b",
        ),
        "it": _Words(
            requests=r"\b(?:puoi|può|potresti|potrebbe|potete|potreste|mi\s+(?:puoi|può))\s+(?:\w+\s+){0,2}?(?:dir|indicar|dar|precisar|specificar|spiegar"
            r"|descriver|fornir|confermar|chiarir|essere\s+più)\w*\b|\b(?:mi\s+(?:dica|dici|indichi|indica|dia|fornisca|descriva|specifichi)|dimmi|dammi|indicami|ci\s+dica"
            r"|specificami|precisami|descrivimi)\b|\b(?:ho|avrei|abbiamo)\s+bisogno\s+(?:di|del|della|che|d')|\b(?:devo|dovrei|vorrei)\s+(?:\w+\s+)?sapere\b"
            r"|\bmi\s+serv\w+\b|\bposso\s+(?:sapere|chieder\w+)\b|\bper\s+favore,?\s+(?:scelga|scegli|inserisca)\b",
            meant=r"\b(?:intendi|intende|intendete)\b|\b(?:ti|si)\s+riferi\w+\b|\bvuol\w*\s+dire\b",
            offers=r"\bqualcos'?\s?altro\b|\b(?:di|d')\s?altro\b|\baltr[eai]\s+(?:domand[ae]|cosa|richieste)\b|\bposso\s+(?:\w+\s+){0,2}(?:aiut\w*|esser\w*|fare)\b"
            r"|\bsaper(?:ne|e)\s+di\s+più\b|\b(?:vuoi|vuole|volete|desider\w*|vorrest\w*|ne\s+vuoi)\s+(?:\w+\s+){0,2}(?:altr[oaei]|più|che\s+(?:ti|le|io))\b"
            r"|\bperché\s+non\b|\bche\s+ne\s+(?:dici|dice|pensi|pensa)\b|\bè\s+stato\s+utile\b",
            invites=r"\bnon\s+esit\w+|\bse\s+(?:hai|ha|avete|vuoi|vuole|ti\s+serve|dovess\w+)\b",
            delivers=r"\becco\b|\b(?:consiglio|suggerisco|raccomando)\b|\b(?:puoi|può|potresti|dovresti|dovrebbe)\s+\w+re\b|^\W*(?:provi|prova|riavvii|riavvia|prema)\b",
            talk=r"\b(?:io|mi|ti|tu|tuo|tua|lei|suo|sua|vostro|certo|certamente|grazie|volentieri|capisco|ciao|salve|perfetto|va\s+bene|d'accordo|mi\s+dispiace"
            r"|posso|dipende|diversi|diverse|parecchi|più\s+di|vari|varie|per\s+\w+re)\b",
            choice=r"\bo\b|\boppure\b|\bpiuttosto\b",
        ),
        "pt": _Words(
            requests=r"\b(?:pode|podes|poderia|poderias|podia|consegue)\s+(?:\w+\s+){0,2}?(?:me\s+|nos\s+)?(?:dizer|indicar|dar|precisar|especificar|explicar|descrever"
            r"|fornecer|informar|confirmar|esclarecer|contar|ser\s+mais)(?:-me|-nos)?\b|\b(?:diga(?:-me)?|diz-me|me\s+diga|informe(?:-me)?|indique(?:-me)?|dê-me|me\s+dê"
            r"|especifique|descreva|forneça|conte-me)\b|\b(?:preciso|precisamos|precisaria|necessito)\s+(?:saber|de|do|da|que|conhecer)\b"
            r"|\bgostaria\s+de\s+saber\s+(?!mais)|\bposso\s+saber\b|\bpor\s+favor,?\s+(?:escolha|selecione|digite)\b",
            meant=r"\b(?:você\s+)?se\s+refer\w+\b|\brefere-se\b|\bquer(?:es|em)?\s+dizer\b|\bestá\s+(?:falando|a\s+falar)\b",
            offers=r"\bmais\s+(?:alguma|algo|perguntas)\b|\balgo\s+mais\b|\balguma\s+(?:outra|dúvida)\b|\boutr[ao]s?\s+(?:coisa|perguntas?|dúvidas?)\b"
            r"|\bposso\s+(?:\w+\s+|\w+-\w+\s+){0,2}(?:ajud\w*|ser\s+útil|fazer)|\bsaber\s+mais\b|\b(?:quer|queres|gostaria|deseja|precisa)\w*\s+(?:\w+\s+){0,2}"
            r"(?:mais|outr[ao]s?|que\s+eu)\b|\bpor\s+que\s+não\b|\bque\s+tal\b|\bo\s+que\s+acha\b|\b(?:isso|isto)\s+(?:\w+\s+)?ajud\w+",
            invites=r"\bnão\s+hesite\b|\bse\s+(?:tiver|precisar|quiser|desejar|houver)\b|\bfique\s+à\s+vontade\b",
            delivers=r"\baqui\s+(?:está|estão|vai|vão|tem)\b|\b(?:recomendo|sugiro|aconselho)\b|\b(?:você\s+)?(?:pode|poderia|deve|deveria)\s+\w+r\b"
            r"|^\W*(?:tente|reinicie|pressione|clique)\b",
            talk=r"\b(?:eu|me|mim|você|vocês|te|seu|sua|seus|lhe|claro|com\s+certeza|obrigad[oa]|com\s+prazer|entendo|entendi|olá|oi|desculpe|perfeito"
            r"|posso|depende|vários|várias|diferentes|tudo\s+bem|certo|mais\s+de\s+um|para\s+\w+r)\b",
            choice=r"\bou\b",
        ),
        "nl": _Words(
            requests=r"\b(?:kunt|kun|kan|zou|zoudt|wilt|wil)\s+(?:u|je|jij)\s+(?:\w+\s+){0,4}?(?:vertellen|zeggen|geven|noemen|aangeven|beschrijven|laten\s+weten|specifieker\s+zijn|preciezer\s+zijn"
            r"|toelichten|uitleggen|bevestigen|doorgeven)\b|\b(?:kunt|kun)\s+(?:u|je)\s+(?:mij|me|ons)\b|\b(?:vertel|zeg|geef|noem|beschrijf|vermeld|kies)"
            r"\s+(?:me|mij|ons|alstublieft|alsjeblieft|uw|je|het|een|aan)\b|\b(?:heb|hebben)\s+(?:ik\s+|wij\s+)?(?:\w+\s+){0,4}nodig\b"
            r"|\b(?:moet|wil)\s+ik\s+(?:\w+\s+)?weten\b|\blaat\s+(?:me|mij|ons)\s+weten\s+(?:welke?|wat|wanneer|waar|hoe)\b|\bmag\s+ik\s+(?:vragen|weten)\b",
            meant=r"\bbedoel(?:t|en)?\s+(?:je|jij|u)\b|\b(?:je|u)\s+bedoelt\b|\bheeft\s+u\s+het\s+over\b",
            offers=r"\bnog\s+(?:iets|ergens|andere|meer|vragen|een\s+vraag)\b|\banders\s+nog\b|\bkan\s+ik\s+(?:\w+\s+){0,4}(?:helpen|doen|betekenen)\b"
            r"|\b(?:wilt|wil|heeft|heb|hebt|zoekt)\s+(?:u|je|jij)\s+(?:\w+\s+){0,2}(?:meer|nog|andere|dat\s+ik)\b|\bwaarom\s+niet\b|\bwat\s+dacht\b|\bhoe\s+gaat\b"
            r"|\b(?:heeft|was)\s+(?:dit|dat)\s+(?:\w+\s+)?(?:geholpen|nuttig|handig)\b|^\W*(?:zal|moet)\s+ik\b",
            invites=r"\b(?:als|indien|mocht)\s+(?:u|je|er)\s+(?:\w+\s+){0,3}(?:vragen|hulp|nog|iets|wilt|wil)\b|\baarzel\s+niet\b|\bgerust\b",
            delivers=r"\bhier\s+(?:is|zijn|heeft|heb|vindt)\b|\bik\s+(?:raad|beveel)\b|\b(?:u|je)\s+(?:kunt|kan|zou|moet)\s+(?!me\b|mij\b)|^\W*(?:probeer|herstart|druk|klik)\b",
            talk=r"\b(?:ik|mij|me|wij|ons|u|uw|je|jij|jouw|graag|bedankt|dank|natuurlijk|zeker|begrepen|prima|hallo|sorry|helaas|hangt|verschillende|meerdere"
            r"|om\s+(?:u|je|jou)|oké|oke)\b",
            choice=r"\bof\s+(?:liever|juist|toch|een)\b",
        ),
        "ja": _Words(
            requests=r"(?:教え|お教え|聞か|お聞かせ|お知らせ|知らせ|ご指定|指定し|お伝え|伝え|ご記入|入力し|ご入力|お選び|選ん|お書き|説明し|ご説明|明記し|具体的に)[^。？?]{0,8}"
            r"(?:ください|下さい|頂け|いただけ|くださ|もらえ|いただき|お願い|ませ)|(?:伺っ|お伺いし|お聞きし)[^。？?]{0,4}(?:も|ても)?(?:よろしい|いい|良い)"
            r"|(?:情報|番号|名|詳細)[^。？?]{0,6}(?:必要です|必要となります|が必要)",
            meant=r"おっしゃ|仰っ|(?:という|と言う)意味|のことです(?:か|よね)|を指し",
            offers=r"(?:他|ほか|その他|それ以外)に(?:も)?[^。?？]{0,20}(?:ますか|ませんか|でしょうか|ですか|は\W*$)|何か(?:お手伝い|ご質問|ご不明|お困り|お役に立)"
            r"|(?:お手伝い|お役に立て|お力に)[^。?？]{0,15}か|いかが(?:ですか|でしょうか)|もっと[^。?？]{0,10}(?:ますか|たいですか)|(?:他|ほか|別)の[^。?？]{0,15}(?:ますか|ませんか|ですか)"
            r"|ましょうか|^\W*(?:なるほど\W*)?そう(?:です|でした)か|(?:役に立ち|解決し)ました(?:か|でしょうか)|ではない(?:です|でしょう)か",
            invites=r"(?:あれば|ございましたら|ありましたら|場合は|場合には)[^。]{0,15}(?:ください|下さい|どうぞ|ませ)|お気軽に|遠慮なく",
            delivers=r"(?:おすすめ|お勧め|オススメ)(?:は|し|の[^。]{0,10}は)|以下(?:の|に|が)|こちら(?:が|は|です)|てみてください|をご覧ください|答えは",
            talk=r"承知|分かり|わかり|かしこまり|了解|ありがと|もちろん|すみません|申し訳|喜んで|お調べ|お探し|ために|ためには|によって|により|複数|いくつか|同じ|はい|こんにちは|お客様|あなた|失礼",
            choice=r"それとも|または|か、|どちら",
        ),
        "zh": _Words(
            requests=r"(?:请|請|麻烦|麻煩)(?:您|你)?(?:先|再)?(?:告诉|告訴|提供|说明|說明|具体|具體|描述|选择|選擇|输入|輸入|确认|確認|补充|補充|给我|發給|发给|指出|详细|詳細|回答)"
            r"|(?:能否|可否|可以|能不能|可不可以|能)(?:请)?(?:您|你)?(?:再)?(?:告诉|告訴|提供|说|說|描述|具体|具體|详细|補充|补充)|我(?:还)?需要(?:知道|了解|您|你|更多)"
            r"|(?:您|你)(?:能|可以|能否)(?:再)?(?:说|說|告诉|提供|描述)|(?:请问|請問)",
            meant=r"(?:您|你)[^。？]{0,4}(?:指的?|说的|說的|意思)是?[^。？]{0,8}(?:哪|什么|什麼|谁|誰|吗|嗎|还是|還是)|指的是",
            offers=r"(?:还|還)(?:有|需要|想|要)(?:什么|什麼)?[^。？?]{0,6}(?:可以|能|需要|问题|問題|别的|別的|其他|其它|帮|幫)|(?:其他|其它|别的|別的)[^。？?]{0,4}(?:问题|問題|需要|帮助|幫助|吗|嗎)"
            r"|(?:怎么|如何|什么|什麼)(?:可以|能|能够)?(?:帮|幫|为)(?:到|助|您|你)|(?:能|可以)(?:为|為|帮|幫)(?:您|你)(?:做|什)|更多|需要我|要不要我|要我|不如|怎么样|怎麼樣|何不|谁知道|(?:有帮助|清楚|明白|解决)(?:了)?(?:吗|嗎)|(?:这样|這樣|这|這)(?:就)?(?:可以|行|好)(?:了)?(?:吗|嗎)|你好吗",
            invites=r"(?:如果|若|如|假如)(?:您|你)?(?:还|還)?(?:有|需要|想)[^。]{0,20}(?:告诉|告訴|联系|聯繫|随时|隨時|问我|提出)|(?:随时|隨時)(?:告诉|告訴|问|問|联系|聯繫|欢迎)",
            delivers=r"(?:推荐|推薦)[^。]{0,10}[：:《]|以下|这是|這是|建议(?:您|你)?(?!告诉)|(?:您|你)可以(?!告诉|提供|选择|说)|试试|試試|答案是",
            talk=r"好的|当然|當然|没问题|沒問題|谢谢|謝謝|为了|為了|取决|取決|有几|有兩|有两|多个|多個|几种|明白|您好|你好|抱歉|我|您|你|不同",
            choice=r"还是|還是|或者|或是",
        ),
        "el": _Words(
            requests=r"(?:μπορείτε|μπορείς|θα\s+μπορούσατε|θα\s+μπορούσες|μπορούσατε)\s+να\s+(?:μου\s+|μας\s+)?(?:πείτε|πεις|δώσετε|δώσεις|διευκρινίσετε|διευκρινίσεις|περιγράψετε"
            r"|εξηγήσετε|αναφέρετε|προσδιορίσετε|γίνετε\s+πιο|γίνεις\s+πιο)|\b(?:πείτε|πες|δώστε|δώσε|αναφέρετε|διευκρινίστε|διευκρίνισε|περιγράψτε|επιλέξτε)\b|\b(?:χρειάζομαι|χρειαστώ|χρειαζόμαστε)\b"
            r"|\b(?:πρέπει|θέλω|θα\s+ήθελα)\s+να\s+(?:ξέρω|γνωρίζω|μάθω)\b",
            meant=r"\b(?:εννοείτε|εννοείς|αναφέρεστε|αναφέρεσαι)\b",
            offers=r"\b(?:κάτι|τίποτα|τίποτε)\s+άλλο\b|\bάλλ(?:ες|η)\s+(?:ερωτήσεις|ερώτηση|απορίες)\b|\b(?:μπορώ|μπορούμε)\s+να\s+(?:\w+\s+){0,2}(?:βοηθήσω|κάνω|εξυπηρετήσω)\b"
            r"|\bπερισσότερ\w+|\bθέλ(?:ετε|εις)\s+να\s+(?:σας|σου|μάθετε|δείτε)\b|\bγιατί\s+όχι\b|\bτι\s+(?:θα\s+)?(?:λέτε|λέγατε|λες)\b|\bβοήθησε\b",
            invites=r"\b(?:αν|εάν)\s+(?:έχετε|έχεις|χρειάζεστε|χρειαστείτε|θέλετε|υπάρχει)\b|\bμη\s+διστάσ\w+",
            delivers=r"\bορίστε\b|\bεδώ\s+(?:είναι|έχετε|θα)\b|\b(?:προτείνω|συνιστώ)\b|\bμπορείτε\s+να\s+(?!μου|μας)|^\W*(?:δοκιμάστε|πατήστε)\b",
            talk=r"\b(?:μου|μας|σας|σου|εγώ|βεβαίως|βέβαια|φυσικά|ευχαριστώ|ευχαρίστως|κατάλαβα|εντάξει|γεια|συγγνώμη|λυπάμαι|μπορώ|εξαρτάται|πολλές|πολλά|αρκετές|διάφορ\w+"
            r"|για\s+να)\b",
            choice=r"\bή\b",
        ),
        "ko": _Words(
            requests=r"(?:알려|말씀해|말해|가르쳐|제공해|설명해|선택해|입력해|확인해)\s?(?:주|줄)|(?:번호|정보|이름)[^.?]{0,6}필요합니다",
            meant=r"말씀하시는|뜻하|의미하",
            offers=r"(?:더|또)\s?(?:필요|도와|궁금|원하|알고)|다른\s?(?:질문|도움|것|필요)|(?:도와|추천해)\s?드릴까요|도움이\s?(?:되|필요)|어떠(?:세요|신가요|십니까)",
            invites=r"(?:있으면|있으시면|필요하시면|필요하면|언제든)",
            delivers=r"추천(?:합니다|드립니다)|다음은|여기\s?있",
            talk=r"^\W*(?:네|예)\b|알겠|감사|물론|안녕|여러|따라|죄송|위해",
            choice=r"아니면|또는",
        ),
        "ru": _Words(
            requests=r"\b(?:уточните|подскажите|скажите|укажите|сообщите|назовите|опишите|расскажите|выберите|скажи|уточни|подскажи|укажи)\b"
            r"|\b(?:могли\s+бы|можете|можешь|не\s+могли\s+бы)\s+(?:\w+\s+){0,2}(?:уточнить|сказать|указать|подсказать|описать|назвать|сообщить|рассказать)\b"
            r"|\bмне\s+(?:нужно|нужен|нужна|нужны|необходимо)\b",
            meant=r"\b(?:вы\s+имеете|ты\s+имеешь|имеете\s+ли\s+вы)\s+в\s+виду\b|\bречь\s+идёт\b",
            offers=r"нибудь\s+ещ[её]|ещ[её]\s+(?:чем|что)|\bмогу\s+(?:\w+\s+){0,4}помочь|\bхотите\s+(?:узнать|больше|ещ[её]|чтобы)|\bдругие\s+вопросы|\bпочему\s+бы|\bкак\s+насч[её]т",
            invites=r"\bесли\s+(?:у\s+вас|вам|возникнут|что)\b|\bобращайтесь\b",
            delivers=r"^\W*вот\b|\b(?:рекомендую|советую|предлагаю)\b|\b(?:вы\s+)?можете\s+(?!уточнить|сказать|указать)",
            talk=r"\b(?:я|мне|меня|вы|вам|ваш\w*|конечно|спасибо|хорошо|понятно|понял|здравствуйте|извините|зависит|несколько|разные|чтобы)\b",
            choice=r"\bили\b",
        ),
        "pl": _Words(
            requests=r"\bproszę\s+(?:\w+\s+){0,2}(?:podać|powiedzieć|określić|opisać|wskazać|sprecyzować|wybrać|podaj)\b|\b(?:podaj|powiedz|opisz|sprecyzuj)\b"
            r"|\bczy\s+(?:może\w*|mógł\w*|mogł\w*)\s+(?:\w+\s+){0,3}(?:podać|powiedzieć|określić|opisać)\b|\bpotrzebuję\b|\bmuszę\s+wiedzieć\b",
            meant=r"\bna\s+myśli\b|\bchodzi\s+(?:o|ci|panu|pani)\b",
            offers=r"\bjeszcze\s+(?:\w+\s+)?(?:czymś|coś|czegoś|jakieś)\b|\b(?:czegoś|coś)\s+jeszcze\b|\bmog\w*\s+(?:\w+\s+){0,4}pomóc\b|\binne\s+pytania\b|\bwiedzieć\s+więcej\b",
            invites=r"\b(?:jeśli|jeżeli|gdyby)\s+(?:masz|ma|mają|potrzebuj\w+|chc\w+)\b",
            delivers=r"^\W*oto\b|\b(?:polecam|proponuję|sugeruję)\b",
            talk=r"\b(?:ja|mnie|mi|pan|pani|pana|panu|twój|ci|oczywiście|dziękuję|dobrze|rozumiem|jasne|zależy|kilka|różne|chętnie|aby|żeby)\b",
            choice=r"\bczy\s+(?:raczej|może)\b|\balbo\b|\blub\b",
        ),
        "cs": _Words(
            requests=r"\b(?:prosím,?\s+)?(?:uveďte|řekněte|upřesněte|popište|sdělte|zadejte)\b|\bmůžete\s+(?:\w+\s+){0,2}(?:říci|říct|upřesnit|uvést|popsat)\b|\bpotřebuji\b",
            meant=r"\bna\s+mysli\b|\bmyslíte\b",
            offers=r"\bještě\s+(?:\w+\s+)?(?:něco|něčím)\b|\bmohu\s+(?:\w+\s+){0,4}pomoci\b|\bdalší\s+(?:otázky|dotazy)\b|\bvědět\s+víc",
            invites=r"\b(?:pokud|kdybyste)\s+(?:máte|měli|potřebuj\w+)\b",
            talk=r"\b(?:já|mi|vy|vám|vás|váš|jistě|samozřejmě|děkuji|rozumím|dobře|záleží|několik|abych)\b",
            choice=r"\bnebo\b",
        ),
        "north": _Words(  # Swedish, Danish, Norwegian
            requests=r"\b(?:kan|kunde|skulle|kunne|vil|vill)\s+(?:du|ni|I|De)\s+(?:\w+\s+){0,3}(?:berätta|säga|ange|beskriva|specificera|fortælle|sige|oplyse|fortelle|si|oppgi|beskrive)\b"
            r"|^\W*(?:berätta|ange|fortæl|fortell|oplys|oppgi|angiv|beskriv)\b|\b(?:jag\s+behöver|jeg\s+(?:har\s+)?(?:brug\s+for|trenger))\b",
            meant=r"\b(?:menar|mener)\s+(?:du|ni|De)\b",
            offers=r"\b(?:något|noget|noe|annat)\s+(?:mer|mere|annat|andet|annet|annan)\b|\bandet,?\s+(?:jeg|vi)\b|\bkan\s+(?:jag|jeg|vi)\s+(?:\w+\s+){0,4}(?:hjälpa|hjælpe|hjelpe|göra|gøre|gjøre)\b"
            r"|\b(?:veta|vide|vite)\s+mere?\b|\b(?:fler|flere)\s+(?:frågor|spørgsmål|spørsmål)\b",
            invites=r"\b(?:om|hvis)\s+(?:du|ni|De)\s+(?:har|behöver|har\s+brug|trenger|vill|vil)\b",
            delivers=r"\b(?:här|her)\s+(?:är|er|kommer)\b|\b(?:rekommenderar|anbefaler|föreslår|foreslår)\b",
            talk=r"\b(?:jag|jeg|mig|meg|du|dig|deg|din|ditt|självklart|selvfølgelig|gärna|gerne|gjerne|tack|tak|takk|visst|okej|förstår|hej|beror|flera|flere|för\s+att|for\s+at|for\s+å)\b",
            choice=r"\beller\b",
        ),
        "fi": _Words(
            requests=r"\b(?:voisit|voit|voisitte|voitte)ko\s+(?:\w+\s+){0,2}(?:kertoa|tarkentaa|sanoa|antaa|kuvailla)\b|^\W*(?:kerro|kertokaa|tarkenna|ilmoita)\b|\b(?:tarvitsen|tarvitsisin)\b",
            meant=r"\btarkoita\w*\b",
            offers=r"\bmuuta\b|\btarvitse(?:t|tte)ko\b|\bvoi\w*ko\s+(?:\w+\s+)?auttaa\b|\bmiten\s+voin\b|\bapua\b|\blisää\b|\bmuita\s+kysymyksiä\b",
            invites=r"\bjos\s+(?:sinulla|teillä|tarvitse\w*|haluat)\b",
            talk=r"\b(?:minä|sinä|sinun|kiitos|toki|selvä|tietysti|hei|riippuu|useita|jotta)\b",
            choice=r"\bvai\b|\btai\b",
        ),
        "tr": _Words(
            requests=r"\blütfen\b.{0,60}\b\w*(?:belirtin|söyleyin|girin|verin|yazın|açıklayın|paylaşın)\w*|\b(?:söyler|belirtir|verir|açıklar|paylaşır)\s+mis\w+|\bihtiyacım\s+var\b",
            meant=r"\bkaste\w+\b|\bdemek\s+isti\w+\b",
            offers=r"\bbaşka\s+(?:\w+\s+){0,2}(?:soru\w*|şey|nasıl|yardım\w*|var)\b|\byardımcı\s+ol\w+|\bdaha\s+fazla\b|\bne\s+dersin\w*",
            invites=r"\b(?:olursa|varsa|isterseniz)\b",
            delivers=r"^\W*işte\b|\bönerir\w+",
            talk=r"\b(?:ben|siz|sizin|size|tabii|elbette|teşekkür\w*|anladım|merhaba|bağlı|birkaç|için)\b",
            choice=r"\byoksa\b|\bveya\b",
        ),
        "further": _Words(  # Arabic, Hindi, Indonesian, Vietnamese, Thai, Romanian, Hungarian, Ukrainian, Hebrew
            requests=r"(?:هل\s+يمكنك|يرجى|من\s+فضلك)\s+(?:\w+\s+)?(?:أن\s+)?\w*(?:تخبرني|إخباري|إخبارنا|تحديد|توضيح|تزويدي|ذكر|تحدد|أخبرني)|कृपया[^।?]{0,40}(?:बताएं|बताइए|बताएँ|दें|दीजिए)"
            r"|\b(?:tolong|mohon|bisakah\s+anda)\s+(?:\w+\s+)?(?:sebutkan|jelaskan|beri\w*|berikan|menyebutkan|menjelaskan)\b|\bvui\s+lòng\s+(?:cho|cung\s+cấp|nói)|กรุณา(?:ระบุ|บอก|แจ้ง)"
            r"|\b(?:îmi\s+(?:puteți|poți)\s+spune|vă\s+rog\s+să(?:-mi)?\s+(?:spuneți|indicați))|\bkérem,?\s+(?:adja|mondja|írja)|\b(?:уточніть|вкажіть|скажіть)\b|אנא\s+ציין|תוכל\s+(?:לומר|לציין)",
            meant=r"تقصد|تعني|मतलब|\bmaksud\b|\bý\s+(?:bạn|anh|chị)\b|หมายถึง|\bvă\s+referiți\b|\bgondol\w*|\bмаєте\s+на\s+увазі\b|מתכוון",
            offers=r"شيء\s+آخر|أسئلة\s+أخرى|مساعدة\s+أخرى|(?:كيف|هل)\s+(?:يمكنني|أستطيع)\s+(?:\w+\s+){0,2}\w*مساعد|المزيد|और\s+कोई|कुछ\s+और|(?:मदद|सहायता)\s+कर\s+सकत"
            r"|\bada\s+lagi\b|\b(?:bisa|dapat)\s+saya\s+bantu|\blebih\s+(?:lanjut|banyak)\b|\bcòn\s+gì\b|\bgiúp\s+gì\b|\bthêm\s+gì\b|ช่วยอะไร|อีกไหม|เพิ่มเติมไหม|\baltceva\b|\bpot\s+ajuta\b"
            r"|\b(?:más|egyéb)\s+kérdés|\bsegíthetek\b|\bmég\s+valami|\bще\s+(?:щось|чимось)|\bдопомогти\b|משהו\s+נוסף|עוד\s+משהו|לעזור",
            talk=r"بالتأكيد|شكرا|حسنا|ज़रूर|जरूर|धन्यवाद|\b(?:tentu|baik|saya|anda|terima\s+kasih)\b|\b(?:bạn|tôi|vâng|cảm\s+ơn)\b|แน่นอน|ขอบคุณ|\b(?:sigur|desigur|mulțumesc|persze|köszönöm|звісно|дякую)\b|בטח|תודה",
            choice=r"\bأم\b|\batau\b|\bhay\b|หรือ|\bsau\b|\bvagy\b|\bчи\b|\sया\s",
        ),
    }
)


def _over_all_languages(part: str) -> re.Pattern[str]:
    found = (getattr(words, part) for words in _LANGUAGES.values())
    return late_pattern("|".join(filter(None, found)), re.IGNORECASE)


REQUESTS = _over_all_languages("requests")
MEANT = _over_all_languages("meant")
OFFERS = _over_all_languages("offers")
INVITES = _over_all_languages("invites")
DELIVERS = _over_all_languages("delivers")
TALK = _over_all_languages("talk")
CHOICE = _over_all_languages("choice")
