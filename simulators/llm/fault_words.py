"""Phrases with which `simulators.llm.faults` finds turns that no longer sound like the person.

Each language adds alternatives to each pattern. Phrases that no person says are searched in all languages at once,
but wishes and denials only in the turn's language, because a word of one language may be common in another. The
patterns are wider than those in `simulators.llm.voices`, because a match here is only counted and refuses no sample.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType

from topics.late_pattern import lazy_pattern


@dataclass(frozen=True, slots=True)
class _Words:
    """Regular expressions for the phrases of one language. An empty expression adds nothing.

    - `serves`: offers, recommends or delivers, as an assistant does.
    - `leaks`: mentions instructions, a test or a role.
    - `ends`: takes leave.
    - `denies`: negates a wish.
    - `harmless`: contains a negation but denies no wish ("I don't know").
    - `wishes`: asks for or wants something, without a question mark.
    - `states`: says how something is, or answers yes or no.
    """

    serves: str = ""
    leaks: str = ""
    ends: str = ""
    denies: str = ""
    harmless: str = ""
    wishes: str = ""
    states: str = ""


_LANGUAGES: Mapping[str, _Words] = MappingProxyType(
    {
        "en": _Words(
            serves=r"\bwhat\s+(?:else\s+|more\s+)?would\s+you\s+(?:like|prefer)\b|\bwould\s+you\s+(?:like"
            r"|prefer)\s+(?:to\s+(?:know|see|hear|learn|explore|continue)|more|me\s+to|another|some|any|help)\b"
            r"|\b(?:based\s+on|according\s+to|as\s+per|regarding)\s+your\s+(?:request|question|needs?|preferences?"
            r"|criteria|query|interests?|description)\b|\b(?:here\s+(?:are|is)|below\s+(?:are|is)|here's)\s+(?:\w+\s+){0,3}?(?:movies|films|list|options?|suggestions?|results?|recommendations?"
            r"|examples?|titles?|summary|overview|information|details|answer)\b|\bI(?:'d|\s+can|\s+could"
            r"|\s+would)\s+(?:\w+\s+)?(?:recommend|suggest|offer|provide|assist)\b(?![^.!?\n]*\?)|\b(?:fits?"
            r"|match(?:es)?|meets?|suits?)\s+(?:your|you)\b|\bI(?:'ve|\s+have)?\s+(?:found|selected|picked|gathered"
            r"|compiled|listed)\b[^.!?\n]{0,60}\bfor\s+you\b|(?<!I )\benjoy\s+(?:your\s+(?:movie|film|show|trip|stay)"
            r"|watching|the\s+(?:movie|film|show|trip|read))\b|\b(?:do|if)\s+you\s+have\s+any\s+(?:other|more"
            r"|further)\s+questions\b|\bhope\s+(?:you|this|that|these)\b[^.!?\n]{0,20}\b(?:enjoys?|helps?|like"
            r"|useful)\b|\byou\s+(?:might|may)\s+(?:also\s+)?(?:like|enjoy|want\s+to|find|consider)\b(?![^.!?\n]*\?)"
            r"|\bhow\s+(?:can|may)\s+I\s+(?:help|assist)\b|\bglad\s+you\s+(?:asked|liked)\b"
            r"|\bthanks?\s+(?:you\s+)?for\s+(?:reaching\s+out|your\s+(?:question|interest|request))\b",
            leaks=r"\bI\s*(?:was|am|'m|have\s+been|'ve\s+been)\s+(?:told|instructed|asked|supposed|programmed|prompted"
            r"|directed|required)\s+to\s+(?:ask|say|repeat|insist|act|play|pretend|write|reply|respond|rephrase|be|end"
            r"|keep|test|check|stop)\b|\bmy\s+(?:instructions?|prompt|persona|assigned\s+\w+|act|role(?:\s+is)?)\b"
            r"|\bsimulat\w+\s+(?:\w+\s+)?(?:user|customer|person|client|visitor|conversation|dialog\w*)\b"
            r"|\brole-?\s?play|\bthe\s+(?:\w+\s+)?act\s+(?:is|to\s+do)\b|\bthe\s+(?:other|second|first"
            r"|next)\s+(?:system|chatbot|bot)\b|\b(?:system|developer)\s+prompt\b|\btesting\s+(?:you|(?:this"
            r"|your)\s+(?:bot|chatbot|system|service|assistant))\b|\bthe\s+person\s+(?:wants|says|asks|now|is|would"
            r"|needs)\b|\bas\s+instructed\b|\bthis\s+is\s+(?:just\s+|only\s+|(?:a\s+)?part\s+of\s+)?(?:an?|the|my)\s+(?:test|audit"
            r"|simulation|evaluation|experiment|benchmark)\b|\b(?:according\s+to|following|per|in)\s+my\s+(?:script|role|profile"
            r"|scenario|character)\b|\bI(?:'m|\s+am)\s+(?:playing|pretending|acting)\s+(?:a\b|the\b|as\b|to\s+be\b)",
            ends=r"\b(?:good)?bye\b|\bsee\s+(?:you|ya)\b|\bfarewell\b|\bhave\s+a\s+(?:\w+\s+)?(?:nice|good|great"
            r"|lovely)\s+(?:day|one|evening|weekend|night|time)\b|\bthat(?:'s|\s+is|\s+will\s+be"
            r"|'ll\s+be)\s+all(?:\s+(?:I|for)\b[^.!?\n]{0,30})?\W*(?:thanks?|thank\s+you)?\W*$|\btake\s+care\W*$"
            r"|\bI(?:'m|\s+am)\s+(?:done|finished|leaving)\b|\bI\s+(?:have\s+to|must|gotta|got\s+to|need\s+to"
            r"|should)\s+(?:go|leave)\b(?!\s+(?:to|for)\b)|\bno\s+(?:more|further)\s+questions\b|\bI\s+give\s+up\b"
            r"|^\W*(?:(?:ok(?:ay)?|great|perfect|alright)\W+)?(?:many\s+)?thank(?:s|\s+you)(?:\s+(?:so|very)\s+much"
            r"|\s+a\s+lot|\s+for\s+(?:your|the|all|everything)[^.?!\n]{0,40})?\W*$",
            denies=r"\b(?:do|does|did|must|should|shall|will|would|need|are|is|may)\s+not\b|\b(?:do|does|did|must"
            r"|should|wo|would|need|are|is)n't\b|\bnever\b|\bstop\b|\bavoid\b|\bwithout\b|\bno\s+longer\b|\bexcept\b"
            r"|\banything\s+but\b|\bnothing\b|\bno\s+(?=[a-z]{3})|\bnot\b|\brather\s+than\b|\bexclud\w+"
            r"|\bother\s+than\b",
            harmless=r"\b(?:do\s+not|don't|did\s+not|didn't|does\s+not|doesn't|can\s?not|can't|could\s+not|couldn't"
            r"|have\s+not|haven't|has\s+not|hasn't|would\s+not|wouldn't)\s+(?:\w+\s+)?(?:know|remember|recall|mind"
            r"|understand|see|find|get|seen|found|got|been|answer\w*|think|decide|help\w*|say|tell|mention\w*|give"
            r"|given|respond\w*|address\w*)\b|\bnot\s+(?:sure|only|yet|really|quite|just|an?\s+answer|what\s+I"
            r"|my\s+question)\b|\b(?:isn't|is\s+not|wasn't|was\s+not)\s+(?:\w+\s+)?(?:what|an?\s+answer|helpful|it"
            r"|clear)\b|\bno\s+(?:idea|problem|matter|worries|answer|doubt|luck)\b|\bwhy\s+(?:not|don't)\b"
            r"|\bif\s+not\b|\bstill\s+(?:no|not|haven't)\b|\bnothing\s+(?:else|more|about)\b|\bcan't\s+you\b"
            r"|\bwithout\s+(?:a\s+)?(?:doubt|success|luck)\b|\bor\s+not\b",
            wishes=r"\b(?:I|we)(?:'m|\s+am|\s+are|'re|'d|\s+would)?\s+(?:\w+\s+)?(?:want|need|wish|look(?:ing)?\s+for"
            r"|search(?:ing)?\s+for|like|love|after|curious|interested|wonder(?:ing)?|hop(?:e|ing)|try(?:ing)?|care"
            r"|prefer|ask(?:ing|ed)?|meant?)\b|\blook(?:ing)?\s+for\b|\b(?:tell|give|name|list|show|find|suggest"
            r"|recommend|explain|describe|provide|help|let|answer|repeat|try|keep|go|look|check|add|make|stick|follow"
            r"|adhere|include|use|compare|send|get|share|bring|skip|pick|choose|start)\b|\bplease\b|\b(?:what|which"
            r"|who|whom|whose|when|where|why|how)\b|\b(?:any|some|more|another|again)\b|\b(?:can|could|would"
            r"|will)\s+you\b",
            states=r"^\W*(?:yes|yeah|yep|no|nope|correct|exactly|right|true)\b|\b(?:is|are|was|were|has|have|had)\b"
            r"|\w+'s\b",
        ),
        "de": _Words(
            serves=r"\b(?:natürlich|gerne?|selbstverständlich|klar|sicher)\b\W{0,3}\s*(?:hier|ich\s+(?:kann|helfe"
            r"|empfehle|zeige|nenne))\b|\bhier\s+(?:sind|ist|finden|findest|kommen|kommt|habe\s+ich|eine?)\b"
            r"|\bkann\s+ich\s+(?:Ihnen|dir|euch|sonst|noch)\b|\bich\s+(?:empfehle|helfe|zeige|nenne"
            r"|schlage)\b(?!\W*wor)|\b(?:möchten|wünschen|suchen|interessieren)\s+Sie\b|\b(?:möchtest|willst|suchst"
            r"|interessierst)\s+du\b|\bviel\s+(?:Spaß|Vergnügen|Freude)\b|\b(?:Ihre?[rsnm]?"
            r"|deine?[rsnm]?)\s+(?:Anfrage|Wünschen?|Kriterien|Vorlieben)\b|\bich\s+hoffe,?\s+(?:das|dass|die|es)\b"
            r"|\bwas\s+(?:möchten|wünschen|darf\s+ich)\b",
            leaks=r"\bmir\s+wurde\s+(?:\w+\s+)?(?:gesagt|aufgetragen|befohlen)"
            r"|\bman\s+hat\s+mir\s+(?:\w+\s+)?(?:gesagt|aufgetragen)|\bmeine[rnms]?\s+(?:\w+\s+)?(?:Anweisung|Rolle"
            r"|Instruktion|Vorgabe|Aufgabe)|\b(?:laut|gemäß|nach)\s+(?:meine[rm]|der|dem)\s+(?:Anweisung|Drehbuch|Skript|Profil|Rolle|Plan|Szenario)"
            r"|\bich\s+soll(?:te)?\s+(?:\w+\s+){0,5}(?:fragen|nachfragen|wiederholen|spielen|nachhaken|testen|sagen)\b"
            r"|\bsimulierte[rnms]?\b|\bich\s+teste\b|\bdas\s+ist\s+(?:nur\s+)?ein\s+Test\b|\bRollenspiel\b"
            r"|\b(?:das\s+andere|ein\s+anderes)\s+System\b|\bdie\s+Person\s+(?:möchte|will|fragt|sagt)\b",
            ends=r"\b(?:auf\s+Wiedersehen|tschüs+|tschau|ciao|bis\s+(?:bald|dann|später)|leb\w*\s+wohl"
            r"|mach'?s\s+gut)\b|\bdas\s+(?:war|ist|wäre)(?:'s|\s+es)?\s+(?:dann\s+)?alles\b|\bdas\s+war's\b"
            r"|\bschönen\s+(?:Tag|Abend)\b|^\W*(?:vielen\s+|herzlichen\s+)?dank(?:e)?(?:\s+(?:schön|sehr"
            r"|für\s+[^.!?\n]{0,40}))?\W*$|\bich\s+(?:gebe\s+auf|muss\s+(?:jetzt\s+)?(?:gehen|los)|bin\s+fertig)\b",
            denies=r"\b(?:nicht|nie|niemals|ohne|außer|ausgenommen|nichts|keine?[rnms]?|keinesfalls|statt)\b",
            harmless=r"\b(?:weiß|verstehe|finde|kenne|erinnere|sehe|habe)\s+(?:\w+\s+){0,3}?(?:nicht|keine?n?)\b"
            r"|\bnicht\s+(?:sicher|nur|wahr|genau|ganz|beantwortet|meine\s+Frage|das,?\s+was|die\s+Antwort)\b"
            r"|\b(?:keine|gar\s+keine)\s+(?:Ahnung|Antwort|Sorge)|\bwarum\s+nicht\b|\bob\b[^.!?]{0,40}\boder\s+nicht\b"
            r"|\bnoch\s+(?:immer\s+)?nicht\b|\b(?:beantwortet|hilft|ist)\s+(?:\w+\s+){0,3}nicht\b",
            wishes=r"\b(?:suche|möchte|will|brauche|hätte|würde|interessier\w*|bitte|wünsche|nenn\w*|zeig\w*|gib|geben"
            r"|sag\w*|erzähl\w*|list\w*|empfiehl|empfehl\w*|welche\w*|was|wer|wen|wem|wann|wo|wie|warum|wieviele?|noch"
            r"|mehr|weitere\w*|kannst|können|könnten|könntest|hilf|helfen|gibt\s+es|erklär\w*|beantwort\w*)\b",
            states=r"^\W*(?:ja|nein|genau|richtig|doch|stimmt)\b|\b(?:ist|sind|war|waren|hat|haben|heißt)\b",
        ),
        "es": _Words(
            serves=r"\b(?:claro|por\s+supuesto|con\s+(?:mucho\s+)?gusto"
            r"|desde\s+luego)\b\W{0,3}\s*(?:que\s+sí\W{0,3}\s*)?(?:aquí|te|le|puedo)\b|\baquí\s+(?:tienes|tiene|están?"
            r"|van?|hay|te|le)\b|\bpuedo\s+(?:ayud\w+|recomend\w+|ofrec\w+|suger\w+)|\b(?:te|le|os"
            r"|les)\s+(?:recomiendo|sugiero|propongo|ayudo)\b|\b(?:quieres|quiere|deseas?|(?:te"
            r"|le)\s+gustaría)\s+(?:saber|ver|que\s+(?:te|le)|algo|más|alguna)|\bqué\s+(?:más\s+)?(?:deseas?|(?:te"
            r"|le)\s+gustaría)|\bespero\s+que\s+(?:te|le|les|esto|disfrut\w+)|\b(?:según|de\s+acuerdo\s+con)\s+(?:tu"
            r"|su)\s+(?:solicitud|petición|consulta)|\bestas\s+son\s+(?:algunas|las)\b",
            leaks=r"\bme\s+(?:han\s+|habían\s+)?(?:dijeron|dicho|pidieron|pedido|indicado|ordenado|ordenaron"
            r"|indicaron)\s+(?:que|insistir|repetir)\b|\bmis\s+(?:instrucciones|órdenes)\b|\b(?:usuari[oa]|clienta?e?"
            r"|persona)\s+simulad[oa]\b|\bsimulación\b|\b(?:te|le|lo)?\s*estoy\s+(?:probando|simulando"
            r"|poniendo\s+a\s+prueba)|\bmi\s+(?:papel|rol)\b|\besto\s+es\s+(?:solo\s+)?una\s+prueba\b"
            r"|\bel\s+otro\s+sistema\b|\bla\s+persona\s+(?:quiere|pregunta|dice)\b",
            ends=r"\b(?:adiós|hasta\s+(?:luego|pronto|mañana|la\s+vista)|chao|nos\s+vemos|que\s+(?:tenga|tengas|pase"
            r"|pases)\s+(?:un\s+)?buen)\b|\b(?:eso|esto)\s+(?:es|sería|era)\s+todo\b|^\W*(?:muchas\s+"
            r"|mil\s+)?gracias(?:\s+por\s+[^.!?\n]{0,40})?\W*$|\bme\s+(?:rindo|despido|voy)\b",
            denies=r"\b(?:no|nunca|jamás|sin|excepto|salvo|nada|ningun[oa]?s?|ningún|tampoco|menos)\b",
            harmless=r"\bno\s+(?:\w+\s+)?(?:sé|recuerdo|entiendo|importa|encuentro|responde\w*|contest\w*|has|ha|era"
            r"|es\s+lo|es\s+una\s+respuesta|estoy\s+segur[oa]|solo|sólo)\b|¿no\b|,\s*¿?no\W*$|\bpor\s+qué\s+no\b"
            r"|^\W*no,|\bo\s+no\b|\btodavía\s+no\b|\baún\s+no\b|\bsin\s+(?:duda|respuesta)\b",
            wishes=r"\b(?:busco|quiero|quisiera|quería|necesito|me\s+(?:gustaría|interesa\w*)|dime|dígame|dame|deme"
            r"|muéstr\w+|muestr\w+|enseñ\w+|por\s+favor|nombra\w*|nómbr\w+|recom[ié]\w+|recomiend\w+|explic\w+"
            r"|cuént\w+|list\w+|pued[eo]s?|podrías?|qué|cuál\w*|quién\w*|cuándo|dónde|cómo|cuánt\w+|por\s+qué|hay"
            r"|otr[oa]s?|más|algun[oa]s?|respond\w+|contest\w+|que\s+sea\w*)\b",
            states=r"^\W*(?:sí|no|correcto|exacto|claro|cierto)\b|\b(?:es|son|era|eran|fue|fueron|está|están|tiene"
            r"|tienen|trata\w*|se\s+llama\w*)\b",
        ),
        "fr": _Words(
            serves=r"\bbien\s+sûr\b\W{0,3}\s*(?:voici|je)\b|\bvoici\b|\bje\s+(?:vous|te)\s+(?:recommande|conseille"
            r"|propose|suggère|aide)|\bpuis-je\s+(?:vous|t')|\b(?:souhaitez|désirez|aimeriez|cherchez)-vous\b"
            r"|\bvoulez-vous\s+(?:que|en\s+savoir|savoir|plus|voir|d'autres)|\b(?:souhaites|désires|veux)-tu\s+(?:que"
            r"|savoir|en\s+savoir|voir)|\bbon\s+visionnage\b|\b(?:selon|d'après)\s+(?:votre|ta)\s+(?:demande|requête)",
            leaks=r"\bon\s+m'a\s+(?:\w+\s+)?(?:dit|demandé|ordonné)\s+(?:de|d')|\bmes\s+(?:instructions|consignes)\b"
            r"|\b(?:utilisateur|client|personne)\w*\s+simulé\w*|\bje\s+(?:vous|te)\s+teste\b|\bjeu\s+de\s+rôle\b"
            r"|\bmon\s+rôle\b|\bc'est\s+(?:juste\s+)?un\s+test\b|\bl'autre\s+système\b",
            ends=r"\b(?:au\s+revoir|à\s+(?:bientôt|plus\s+tard|la\s+prochaine)|adieu|bonne\s+(?:journée|soirée))\b"
            r"|\b(?:c'est|ce\s+sera)\s+tout\b|^\W*merci(?:\s+(?:beaucoup|bien|pour\s+[^.!?\n]{0,40}))?\W*$"
            r"|\bj'abandonne\b",
            denies=r"\b(?:ne|pas|jamais|sans|sauf|aucun\w*|rien|excepté|plutôt\s+que)\b|\bn'",
            harmless=r"\b(?:ne\s+)?(?:sais|comprends|trouve|souviens|vois)\s+pas\b|\bpas\s+(?:sûre?|seulement|encore"
            r"|répondu|ce\s+que|ma\s+question|une\s+réponse)\b|\bpourquoi\s+pas\b|\bne\s+répond\s+pas\b"
            r"|\bn'est-ce\s+pas\b|\bsans\s+doute\b|\bn'(?:avez|as|est)\s+pas\b|\bne\s+pourriez-vous\b|\b(?:pourr|pouv"
            r"|peux)\w*-(?:vous|tu)\s+pas\b",
            wishes=r"\b(?:je\s+(?:cherche|voudrais|veux|souhaite|voulais)|j'aimerais|il\s+me\s+faut|dites|dis|donn\w+"
            r"|montr\w+|cit\w+|expliqu\w+|list\w+|recommand\w+|s'il\s+(?:vous|te)\s+plaît|quel\w*|qui|quand|où|comment"
            r"|pourquoi|combien|que|qu'\w+|encore|d'autres|plus|peux|pouvez|pourriez|pourrais|y\s+a-t-il|répond\w+)\b",
            states=r"^\W*(?:oui|non|exact\w*|si)\b|\b(?:est|sont|était|étaient|fut|a|ont|s'appelle\w*)\b|\bc'est\b",
        ),
        "it": _Words(
            serves=r"\b(?:certo|certamente|volentieri|naturalmente|ovviamente)\b\W{0,3}\s*(?:ecco|posso|ti|le|vi)\b"
            r"|\becco\s+(?:alcun\w+|la|le|i|gli|un\w*|qui|qualche|a)\b|\b(?:ti|le|vi)\s+(?:consiglio|suggerisco"
            r"|propongo|raccomando)\b|\bposso\s+(?:aiutar\w+|esser\w+|consigliar\w+)|\b(?:vuoi|vuole|desider[aio]\w*"
            r"|(?:ti|le)\s+piacerebbe)\s+(?:sapere|vedere|altr\w+|che\s+(?:ti|le))"
            r"|\bcos[a']\s?(?:altro\s+)?(?:desider\w+|vorrest\w*|(?:ti|le)\s+piacerebbe)|\bin\s+base\s+alla\s+(?:tua"
            r"|sua)\s+richiesta\b|\bbuona\s+visione\b",
            leaks=r"\bmi\s+(?:è\s+stato|hanno)\s+(?:detto|chiesto|ordinato)\s+di\b|\ble\s+mie\s+istruzioni\b"
            r"|\b(?:utente|cliente)\s+simulat[oa]\b|\bt[ie]\s+sto\s+(?:testando|mettendo\s+alla\s+prova)"
            r"|\bgioco\s+di\s+ruolo\b|\bil\s+mio\s+ruolo\b|\bquesto\s+è\s+(?:solo\s+)?un\s+test\b"
            r"|\bl'altro\s+sistema\b",
            ends=r"\b(?:arrivederci|addio|ciao\s+ciao|a\s+presto|buona\s+(?:giornata|serata))\b|\bè\s+tutto\b"
            r"|^\W*(?:molte\s+|tante\s+)?grazie(?:\s+(?:mille|tante|per\s+[^.!?\n]{0,40}))?\W*$|\bmi\s+arrendo\b",
            denies=r"\b(?:non|mai|senza|tranne|eccetto|niente|nulla|nessun\w*|piuttosto\s+che)\b",
            harmless=r"\bnon\s+(?:\w+\s+)?(?:so|ricordo|capisco|trovo|solo|risponde\w*|hai|ha|è\s+(?:quello"
            r"|una\s+risposta|quanto)|sono\s+sicur[oa])\b|\bperché\s+no\b|\bo\s+no\b|\bnon\s+ancora\b",
            wishes=r"\b(?:cerco|vorrei|voglio|mi\s+serv\w+|mi\s+(?:dica|dici|piacerebbe|interessa\w*)|dimmi|dammi"
            r"|mostra\w*|elenca\w*|consiglia\w*|spiega\w*|per\s+favore|quali?|chi|quando|dove|come|perché|quant\w+"
            r"|cosa|altr[iae]|ancora|puoi|può|potresti|potrebbe|ci\s+sono|rispond\w+)\b",
            states=r"^\W*(?:sì|si|no|esatto|giusto)\b|\b(?:è|sono|era|erano|fu|furono|ha|hanno|si\s+chiama\w*)\b",
        ),
        "pt": _Words(
            serves=r"\b(?:claro|com\s+certeza|certamente)\b\W{0,3}\s*(?:aqui|posso|vou)\b|\baqui\s+(?:est[áã]o?|tem"
            r"|vão?|vai)\b|\b(?:te|lhe)\s+(?:recomendo|sugiro)\b|\b(?:eu\s+)?(?:recomendo|sugiro)\s+(?:que|o|a|os"
            r"|as)\b|\bposso\s+(?:ajud\w+|te\s+ajud\w+|recomend\w+)|\bdeseja\s+(?:saber|ver|mais|que)"
            r"|\bmais\s+alguma\s+coisa\b|\bespero\s+que\s+(?:goste|isso|ajude)",
            leaks=r"\bme\s+(?:disseram|pediram|mandaram)\s+(?:para|que)\b|\bminhas\s+instruções\b|\b(?:usuári[oa]"
            r"|cliente)\s+simulad[oa]\b|\bestou\s+(?:te\s+)?testando\b|\bmeu\s+papel\b|\bisto?\s+é\s+(?:só\s+"
            r"|apenas\s+)?um\s+teste\b",
            ends=r"\b(?:adeus|tchau|até\s+(?:logo|breve|mais))\b|\b(?:é|era)\s+(?:só|tudo)\s+isso\b"
            r"|\bisso\s+é\s+tudo\b|^\W*(?:muito\s+)?obrigad[oa](?:\s+por\s+[^.!?\n]{0,40})?\W*$",
            denies=r"\b(?:não|nunca|jamais|sem|exceto|menos|nada|nenhum\w*)\b",
            harmless=r"\bnão\s+(?:\w+\s+)?(?:sei|lembro|entendo|encontro|respond\w+|só|é\s+(?:isso|o\s+que"
            r"|uma\s+resposta))\b|\bpor\s+que\s+não\b|\bou\s+não\b|\bainda\s+não\b|,\s*não\W*$",
            wishes=r"\b(?:procuro|quero|queria|gostaria|preciso|diga|me\s+d[iê]\w*|mostr\w+|list\w+|recomend\w+"
            r"|expli\w+|por\s+favor|quais?|que|quem|quando|onde|como|quant\w+|outr[oa]s?|mais|pode\w*|há|existe\w*"
            r"|respond\w+)\b",
            states=r"^\W*(?:sim|não|exato|certo)\b|\b(?:é|são|era|eram|foi|foram|tem|têm|está|estão|chama\w*)\b",
        ),
        "nl": _Words(
            serves=r"\b(?:natuurlijk|zeker|graag)\b\W{0,3}\s*(?:hier|ik\s+(?:kan|help))\b|\bhier\s+(?:zijn|vindt?"
            r"|heeft|heb\s+je|volgen)\b|\bkan\s+ik\s+(?:je|u)\b|\bik\s+(?:raad|beveel)\b|\bwil(?:t)?\s+(?:je"
            r"|u)\s+(?:nog|meer|weten|dat\s+ik)|\bop\s+basis\s+van\s+(?:je|uw)\b|\bveel\s+plezier\b",
            leaks=r"\b(?:mij|me)\s+(?:is|werd)\s+(?:gezegd|opgedragen|gevraagd)\b|\bmijn\s+(?:instructies?|opdracht"
            r"|rol)\b|\bgesimuleerde\b|\brollenspel\b|\bik\s+test\s+(?:je|u)\b|\bhet\s+andere\s+systeem\b",
            ends=r"\b(?:tot\s+ziens|dag\W*$|doei|tot\s+later)\b|\bdat\s+(?:is|was)\s+alles\b|^\W*(?:dank\s+(?:je"
            r"|u)(?:\s+wel)?|bedankt)(?:\s+voor\s+[^.!?\n]{0,40})?\W*$",
            denies=r"\b(?:niet|nooit|zonder|behalve|geen|niets)\b",
            harmless=r"\b(?:weet|begrijp|vind|zie)\s+(?:\w+\s+){0,2}?(?:niet|geen)\b|\bniet\s+(?:zeker|alleen|wat\s+ik"
            r"|beantwoord|mijn\s+vraag)\b|\bwaarom\s+niet\b|\bgeen\s+(?:idee|antwoord)\b|\bnog\s+niet\b",
            wishes=r"\b(?:zoek|wil|zou|nodig|graag|vertel|geef|noem|toon|laat|welke?|wat|wie|wanneer|waar|hoe|waarom"
            r"|hoeveel|meer|nog|andere|kun|kunt|kan|alstublieft|alsjeblieft|beantwoord)\b",
            states=r"^\W*(?:ja|nee|klopt|precies)\b|\b(?:is|zijn|was|waren|heeft|heet)\b",
        ),
        "ja": _Words(
            serves=r"お手伝い|お役に立|ご(?:案内|紹介|提案|用意|希望|質問|要望|覧)(?:いた|し|は|に|を|が|ござ|くだ)|(?:こちら|以下)(?:が|は)[^。？?]*(?:です|ます"
            r"|なり)(?!か)|おすすめ(?:します|いたします)|(?:を|は)おすすめ|いかが(?:でしょう|ですか)|お探しですか|お好みですか|(?:知り|見|観|聞き)たいですか|承知(?:しま|いた)"
            r"|かしこまり|もちろん(?:です)?[、。！!]",
            leaks=r"(?:ように|と|を)(?:指示|命令)(?:され|を受)|ように言われ|指示(?:に従|では|によ|どおり)|シミュレー(?:ション|ト)|模擬(?:ユーザー|客|利用者)|テスト(?:して|中"
            r"|です|をして)|ロールプレイ|役(?:割)?を演じ|プロンプト|(?:別|他|もう一つ)の(?:システム|ボット)",
            ends=r"さようなら|さよなら|失礼(?:し|いた)|また(?:ね|今度|後で)[。！!]*$|それでは(?:また|、また)|以上です|もう(?:結構|大丈夫|いい)です|バイバイ"
            r"|^\W*(?:どうも)?ありがとう(?:ございま(?:す|した))?\W*$",
            denies=r"ないで|なくて(?:も)?(?:いい|よい|良い|結構|構)|以外|いりません|要りません|不要|結構です|やめて|除い|ではなく|じゃなく",
            harmless=r"(?:わから|分から|知ら|思い出せ|見つから)(?:ない|ず|ません)|答えになって(?:い)?(?:ない|ません)|(?:ない|ません)(?:でしょう)?か",
            wishes=r"教え|ください|下さい|くれ|欲しい|ほしい|たい|探し|何|なに|どの|どれ|誰|だれ|いつ|どこ|なぜ|どう|いくつ|お願い|頼|もっと|ほか|他に|もう一度|挙げ|か[。？?]*$"
            r"|は[？?]*$",
            states=r"^\W*(?:はい|いいえ|ええ|そうです)|(?:です|でした|である|ます|ました|だ|だった)[。！!]*$",
        ),
        "zh": _Words(
            serves=r"(?:好的|当然|當然|没问题)[，,。！!]*\s*(?:以下|这里|這裡|我|为|為)|以下(?:是|为|為)|(?:为|為|给|給)(?:您|你)(?:推荐|推薦|找到|提供|列)"
            r"|推荐(?:您|你)|我(?:可以|能)(?:帮|幫|为|為)|(?:您|你)(?:还|還)?(?:想|希望)(?:了解|知道|看|要)|(?:还|還)有什么(?:可以|能)|希望(?:这|這|对|對|您)"
            r"|根据(?:您|你)的",
            leaks=r"我(?:被|被要求|被告知)|我的(?:指令|任务|任務|角色|提示)|(?:模拟|模擬)(?:的)?(?:用户|用戶|顾客|顧客|客户)|我(?:正)?在测试|这(?:只)?是(?:一个"
            r"|个)?测试|提示词|角色扮演|(?:另一个|其他|别的)系统",
            ends=r"再见|再見|拜拜|就这些|就這些|没有其他问题|祝(?:您|你)|^\W*(?:非常)?(?:谢谢|謝謝|感谢|感謝)(?:您|你)?(?:的[^。]{0,10})?\W*$",
            denies=r"不要|别(?!的)|別(?!的)|不想|不需要|不用|除了|无需|不是|没有|不含",
            harmless=r"(?:不知道|不清楚|不记得|找不到|没有回答|沒有回答|不是我(?:要|问|想))|是不是|有没有|能不能|可不可以|要不要",
            wishes=r"请|請|想|要|找|告诉|告訴|推荐|推薦|给我|給我|哪|什么|什麼|谁|誰|几|幾|多少|怎么|怎麼|为什么|吗|嗎|呢|列|介绍|还有|更多|再",
            states=r"^\W*(?:是的|对|對|不是|没错)|是|有|叫",
        ),
        "ko": _Words(
            serves=r"도와\s?드릴|추천(?:해\s?드|드립|드리|합니다)|(?:다음은|여기(?:에|는)?)[^.?]{0,25}(?:입니다|있습니다|영화|목록)|알고\s?싶으(?:세요|신가요"
            r"|십니까)|원하시(?:나요|는|면)|필요하(?:신가요|십니까|세요)|궁금하(?:신|세요)|찾으시(?:나요|는)|물론(?:입니다|이죠|이에요)|즐거운\s?(?:감상|시간)",
            leaks=r"지시(?:를|받|대로|에\s?따)|시키는\s?대로|하라고\s?(?:들었|했|지시)|(?:모의|가상)\s?(?:사용자|고객)|시뮬레이션|테스트\s?(?:중|하고|입니다)|역할극"
            r"|제\s?역할|프롬프트|다른\s?시스템",
            ends=r"안녕히|잘\s?(?:가|있어)요?|다음에\s?(?:봐|뵙)|이상입니다|그만\s?할게|수고하세요|^\W*(?:정말\s?)?(?:감사합니다|고마워요?|고맙습니다)\W*$",
            denies=r"마세요|말아|않|빼고|제외|필요\s?없|없이|말고|아닌",
            harmless=r"모르|기억이?\s?안|찾을\s?수\s?없|대답이\s?(?:아니|안)|않나요|없나요|아닌가요",
            wishes=r"알려|말해|주세요|줘|싶|원해|원합니다|찾|추천|어떤|무슨|무엇|뭐|누가|누구|언제|어디|왜|어떻게|몇|얼마|더|다른|또|까요?\W*$|나요\W*$|가요\W*$|부탁",
            states=r"^\W*(?:네|예|아니요|맞아요)|(?:입니다|이에요|예요|이다|있습니다|습니다)\W*$",
        ),
        "ru": _Words(
            serves=r"\bвот\s+(?:список|некоторые|несколько|фильмы|подборка|варианты|что|ваш\w*)|\b(?:рекомендую"
            r"|советую|предлагаю)\b|\b(?:чем|могу)\s+(?:\w+\s+){0,3}помочь|\b(?:хотите|желаете)\b|\bхотели\s+бы\s+вы\b"
            r"|\bчто\s+(?:ещ[её]\s+)?(?:вас|вы\s+хот\w+|бы\s+вы)|\bпо\s+вашему\s+запросу|\bприятного\s+просмотра"
            r"|\bконечно\W{0,3}\s*(?:вот|я\s+(?:могу|помогу))",
            leaks=r"\bмне\s+(?:сказали|велели|поручили|было\s+(?:сказано|велено|поручено)|приказали)|\bмо(?:и|я|ей"
            r"|им)\s+(?:инструкц\w+|рол\w+|задани\w+)|симулированн\w+|симуляци\w+|\bя\s+(?:\w+\s+)?тестирую"
            r"|\bролев\w+\s+игр|\bэто\s+(?:просто\s+)?тест\b|\bдругая\s+система\b",
            ends=r"\b(?:до\s+свидания|пока\W*$|прощайте|всего\s+(?:доброго|хорошего)|до\s+встречи)|\bэто\s+вс[её]\b"
            r"|^\W*(?:большое\s+)?(?:спасибо|благодарю)(?:\s+(?:большое|за\s+[^.!?\n]{0,40}))?\W*$|\bя\s+сдаюсь\b",
            denies=r"\b(?:не|без|никогда|кроме|ничего|никак\w+|вместо|нельзя)\b",
            harmless=r"\bне\s+(?:знаю|помню|понимаю|нашл?[аоё]?\w*|только|могли|уверен\w*|ответ\w*|отвечает\w*"
            r"|то,?\s+что|на\s+мой)\b|\bпочему\s+(?:бы\s+)?не\b|\bили\s+не\w?\b|\bещ[её]\s+не\b",
            wishes=r"\b(?:ищу|хочу|хотел\w*|нужн\w+|назови\w*|подскажи\w*|скажи\w*|покажи\w*|расскаж\w+|посоветуй\w*"
            r"|порекоменду\w+|дай\w*|объясни\w*|перечисли\w*|пожалуйста|как\w*|что|кто|когда|где|почему|сколько|ещ[её]"
            r"|други\w+|можете|можешь|есть\s+ли|интересу\w+|ответь\w*)\b",
            states=r"^\W*(?:да|нет|верно|именно)\b|\b(?:это|является|являются|был|была|было|были)\b|\s[—–-]\s",
        ),
        "el": _Words(
            serves=r"\b(?:ορίστε|ακολουθ(?:ούν|εί))\b|\b(?:εδώ|αυτές|αυτά)\s+(?:είναι\s+(?:μερικ\w+|οι|τα|η|κάποι\w+)"
            r"|έχετε|έχεις)\b|\b(?:σας|σου)\s+(?:προτείνω|συνιστώ|βρήκα|παραθέτω|συστήνω)|\bμπορώ\s+να\s+(?:σας"
            r"|σε)\s+(?:βοηθήσω|εξυπηρετήσω)|\b(?:θέλετε|θέλεις|θα\s+(?:θέλατε|ήθελες)|επιθυμείτε)\s+(?:να|κάτι"
            r"|περισσότερ\w+)|\bτι\s+(?:άλλο\s+)?θα\s+(?:θέλατε|ήθελες)|\b(?:βεβαίως|φυσικά|βέβαια)\b\W{0,3}\s*(?:εδώ"
            r"|ορίστε|μπορώ|σας)|\bσύμφωνα\s+με\s+το\s+αίτημά",
            leaks=r"\bμου\s+(?:είπαν|ζήτησαν|ζητήθηκε|δόθηκε|δόθηκαν)\b|\bοι\s+οδηγίες\s+μου\b"
            r"|\bοδηγίες\s+που\s+(?:μου|έχω|έλαβα)|προσομοιωμέν\w+|προσομοίωση\w*|\b(?:σε|σας)\s+δοκιμάζω\b"
            r"|\bο\s+ρόλος\s+μου\b|\bείναι\s+(?:απλώς\s+)?(?:ένα\s+)?τεστ\b|\bτο\s+άλλο\s+σύστημα\b|\bυποδύομαι\b",
            ends=r"\b(?:αντίο|γεια\s+(?:σας|σου)\W*$|τα\s+λέμε|καλή\s+(?:συνέχεια|μέρα|σας\s+μέρα))|\b(?:αυτά"
            r"|αυτό)\s+(?:ήταν\s+(?:όλα|όλο)|είναι\s+όλα)|\bαυτά\s+μόνο\b|^\W*(?:ευχαριστώ"
            r"|σας\s+ευχαριστώ)(?:\s+(?:πολύ|για\s+[^.!;\n]{0,40}))?\W*$|\bτα\s+παρατάω\b",
            denies=r"\b(?:μη|μην|δεν|χωρίς|εκτός|όχι|ποτέ|τίποτα|καμία|κανένα\w*|αντί)\b",
            harmless=r"\bδεν\s+(?:\w+\s+)?(?:ξέρω|θυμάμαι|καταλαβαίνω|βρίσκω|βρήκα|απαντ\w+|είναι\s+(?:αυτό|απάντηση)"
            r"|είμαι\s+σίγουρ\w+)|\bγιατί\s+όχι\b|\bή\s+όχι\b|\bόχι\s+μόνο\b|\bακόμα\s+δεν\b",
            wishes=r"\b(?:θέλω|θα\s+ήθελα|ψάχνω|χρειάζομαι|πες|πείτε|δώσε|δώστε|δείξε|δείξτε|πρότειν\w+|προτείν\w+"
            r"|ανάφερε|αναφέρετε|εξήγησε|παρακαλώ|ποι\w+|τι|πότε|πού|πώς|γιατί|πόσ\w+|κι\s+άλλ\w+|άλλ\w+|περισσότερ\w+"
            r"|μπορείς|μπορείτε|υπάρχουν|απάντησ\w+|με\s+ενδιαφέρ\w+)",
            states=r"^\W*(?:ναι|όχι|σωστά|ακριβώς)\b|\b(?:είναι|ήταν|έχει|έχουν|λέγεται)\b",
        ),
        "fi": _Words(
            serves=r"\btässä\s+(?:on|ovat|muutam\w+|lista\w*|joitakin|pari|sinulle|teille)\b|\bsuosittelen\b|\bvoi(?:n"
            r"|nko|sinko)\s+(?:\w+\s+){0,2}auttaa|\b(?:haluat|haluaisit|haluatte|haluaisitte)ko\b"
            r"|\bmitä\s+(?:muuta\s+)?(?:haluat|haluaisit|haluatte)|\b(?:tarvitset|tarvitsette|etsit|etsitte)k[oö]\b"
            r"|\b(?:toki|totta\s+kai|ilman\s+muuta|tietenkin)\b\W{0,3}\s*(?:tässä|voin|autan)|\b(?:pyyntösi|pyyntönne"
            r"|toiveidesi)\b|\bmukavia\s+katselu\w+",
            leaks=r"\bmin(?:ua|ut|un)\s+(?:on\s+)?(?:käskettiin|pyydettiin|ohjeistettu|määrätty|käsketty)|\b(?:ohjeeni"
            r"|ohjeideni|ohjeissani|tehtäväni|roolini)\b|simuloit\w+|\btestaan\s+(?:sinua|teitä|tätä)"
            r"|\btämä\s+on\s+(?:vain\s+)?testi\b|roolipeli\w*|\btoinen\s+järjestelmä\b|\besitän\s+(?:asiakasta"
            r"|käyttäjää)",
            ends=r"\b(?:näkemiin|hei\s+hei|heippa|moikka|nähdään|hyvää\s+(?:päivänjatkoa|päivää|iltaa))|\b(?:siinä"
            r"|tässä)\s+(?:oli|on)\s+kaikki\b|\bse\s+oli\s+siinä\b|^\W*(?:paljon\s+)?kiitos(?:\s+(?:paljon|avusta"
            r"|kaikesta))?\W*$|\bluovutan\b",
            denies=r"\b(?:älä|älkää|ei|en|et|emme|ette|eivät|ilman|paitsi|eikä|mitään|koskaan|sijaan)\b",
            harmless=r"\ben\s+(?:tiedä|muista|ymmärrä|löydä|löytänyt|ole\s+varma)|\bei\s+(?:vastaa\w*|vastannut"
            r"|ole\s+(?:se|vastaus)|vain)\b|\bmiksi\s+ei\b|\bvai\s+ei\b|\betkö\b|\beikö\b|\bei\s+vielä\b"
            r"|\bet\s+(?:vastannut|vastaa)",
            wishes=r"\b(?:haluan|haluaisin|etsin|tarvitsen|kerro\w*|anna|antakaa|näytä|luettele|mainitse|suosittele"
            r"|selitä|mitkä|mikä|mitä|minkä|kuka|ketkä|milloin|missä|miten|miksi|kuinka|lisää|muita|muuta|voit\w*"
            r"|voisit\w*|onko|entä|vielä|vastaa|saisinko|kiinnost\w+)\b",
            states=r"^\W*(?:kyllä|joo|ei|juu|aivan|oikein)\b|\b(?:on|ovat|oli|olivat|onpa)\b",
        ),
        "pl": _Words(
            serves=r"^\W*oto\b|\b(?:polecam|proponuję|sugeruję)\b|\bmog\w*\s+(?:\w+\s+){0,3}(?:pomóc|polecić)"
            r"|\bczy\s+(?:chc\w+|chciał\w*)\s+(?:\w+\s+){0,2}(?:wiedzieć|zobaczyć|żebym|więcej)",
            leaks=r"\bkazano\s+mi\b|\bpowiedziano\s+mi\b|\bmoj[ae]\s+(?:instrukcj\w+|rola|zadanie)|\bsymulowan\w+"
            r"|\btestuję\b|\bto\s+(?:tylko\s+)?test\b",
            ends=r"\b(?:do\s+widzenia|żegnaj|na\s+razie|do\s+zobaczenia)\b|\bto\s+wszystko\b"
            r"|^\W*(?:bardzo\s+)?dzięk(?:uję|i)\W*$",
            denies=r"\b(?:nie|bez|nigdy|oprócz|zamiast|żadn\w+)\b",
            harmless=r"\bnie\s+(?:wiem|pamiętam|rozumiem|tylko|odpowied\w+|jest\s+to|o\s+to)\b|\bdlaczego\s+nie\b"
            r"|\bczy\s+nie\b|\bjeszcze\s+nie\b",
            wishes=r"\b(?:szukam|chc\w+|chciał\w*|potrzebuję|podaj|powiedz|pokaż|wymień|poleć|wyjaśnij|proszę|jak\w*"
            r"|co|kto|kiedy|gdzie|dlaczego|ile|inne|więcej|czy|jeszcze|odpowiedz)\b",
            states=r"^\W*(?:tak|nie|dokładnie)\b|\b(?:jest|są|był\w*|to)\b",
        ),
        "north": _Words(  # Swedish, Danish, Norwegian
            serves=r"\b(?:här|her)\s+(?:är|er|kommer)\b|\b(?:rekommenderar|anbefaler|föreslår|foreslår)\b"
            r"|\bkan\s+(?:jag|jeg)\s+(?:\w+\s+){0,3}(?:hjälpa|hjælpe|hjelpe)\b|\b(?:vill|vil)\s+(?:du|ni)\s+(?:veta"
            r"|vide|vite|ha|have|se)\b",
            leaks=r"\bj(?:ag|eg)\s+(?:blev|har\s+blivit|fick|ble|har\s+fået)\s+(?:\w+\s+)?(?:tillsagd|ombedd|besked"
            r"|bedt|beskjed)|\bmin[ae]?\s+(?:instruktion\w*|instruks\w*|roll\w*)|\bsimulera[dt]\w*|\bsimulere[dt]\w*"
            r"|\bj(?:ag|eg)\s+teste[r]?\b",
            ends=r"\b(?:hej\s?då|adjö|farvel|ha\s+det|vi\s+ses)\b|\bdet\s+(?:var|er|är)\s+(?:allt|alt)\b"
            r"|^\W*(?:tusen\s+|mange\s+)?(?:tack|tak|takk)\W*$",
            denies=r"\b(?:inte|ikke|ej|aldrig|aldri|utan|uden|uten|ingen|inga|inget|ingenting|förutom|undtagen)\b",
            harmless=r"\b(?:vet|ved|minns|husker|förstår|forstår|hittar|finder|svarar|svarer)\s+(?:\w+\s+){0,2}(?:inte"
            r"|ikke)\b|\b(?:inte|ikke)\s+(?:säker|sikker|bara|kun|det\s+jag|det\s+jeg)\b|\b(?:varför"
            r"|hvorfor)\s+(?:inte|ikke)\b",
            wishes=r"\b(?:söker|leter|leder|vill|vil|behöver|berätta|fortæl\w*|fortell|nämn|nævn|nevn|visa|vis|ge|giv"
            r"|gi|vilka|hvilke\w*|vad|hva\w*|vem|hvem|när|hvornår|var|hvor\w*|hur|fler|flere|mer\w*|andra|andre|kan"
            r"|kunne|snälla)\b",
            states=r"^\W*(?:ja|nej|nei|precis|nemlig)\b|\b(?:är|er|var|heter|hedder)\b",
        ),
        "tr": _Words(
            serves=r"^\W*işte\b|\böner(?:irim|iyorum)\b|\byardımcı\s+olabilir\b|\b(?:ister|bilmek\s+ister)\s+mis\w+",
            leaks=r"\bbana\s+(?:\w+\s+){0,3}(?:söylendi|istendi|emredildi)|\btalimat\w*ım\b|\bsimüle\b"
            r"|\btest\s+ediyorum\b|\brolüm\b",
            ends=r"\b(?:hoşça\s?kal\w*|güle\s+güle|görüşürüz|bu\s+kadar)\b"
            r"|^\W*(?:çok\s+)?teşekkür\w*(?:\s+eder\w+)?\W*$",
            denies=r"\b(?:değil|hariç|olmasın|istemiyorum|olmadan|\w+m[ae]yin)\b",
            harmless=r"\b(?:bilmiyorum|hatırlamıyorum|anlamadım|bulamadım)\b|\bdeğil\s+mi\b|\bcevap\s+değil\b",
            wishes=r"\b(?:istiyorum|arıyorum|lazım|lütfen|söyle\w*|göster\w*|öner\w*|listele\w*|hangi\w*|ne|kim|nerede"
            r"|nasıl|neden|kaç|başka|daha|m[ıiuü]\w*)\b",
            states=r"^\W*(?:evet|hayır|doğru)\b|\b\w+d[ıiuü]r\b",
        ),
    }
)


def _join_languages(part: str) -> re.Pattern[str]:
    found = (getattr(words, part) for words in _LANGUAGES.values())
    return lazy_pattern("|".join(filter(None, found)), re.IGNORECASE)


SERVES = _join_languages("serves")
LEAKS = _join_languages("leaks")
ENDS = _join_languages("ends")


@dataclass(frozen=True, slots=True)
class Speech:
    """Patterns for denials and wishes in one language."""

    denies: re.Pattern[str]
    harmless: re.Pattern[str]
    wishes: re.Pattern[str]
    states: re.Pattern[str]


_PARTS = tuple(field.name for field in fields(Speech))
_NORTH = ("sv", "da", "no", "nb", "nn")
_ALL = Speech(*map(_join_languages, _PARTS))
_SPEECH = {
    code: Speech(*(lazy_pattern(getattr(words, part), re.IGNORECASE) for part in _PARTS))
    for name, words in _LANGUAGES.items()
    for code in (_NORTH if name == "north" else (name,))
}


def speech_patterns(language: str) -> Speech:
    """Return the patterns of a language by its ISO 639-1 code, or the patterns of all languages for an unknown code."""
    return _SPEECH.get(language, _ALL)
