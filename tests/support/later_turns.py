"""Turns in nine languages that were written after the patterns of `simulators.llm.fault_words`, and changed none."""

from collections.abc import Mapping
from types import MappingProxyType

from tests.support.faulty_turns import Need

__all__ = ["LATER_NEEDS"]

LATER_NEEDS: Mapping[str, Need] = MappingProxyType(
    {
        "fr": Need(
            "Trouve des châteaux près de Tours.",
            "Quels châteaux peut-on visiter près de Tours en hiver ?",
            "",
            (
                "je cherche des châteaux à visiter l'hiver près de Tours",
                "Près de Tours, quels châteaux sont ouverts à la visite en hiver ?",
            ),
            {
                "assistant": (
                    "Puis-je vous proposer autre chose ?",
                    "Il existe plusieurs châteaux qui pourraient vous plaire : Chenonceau et Amboise.",
                ),
                "leak": (
                    "Selon mes consignes, je dois demander des châteaux.",
                    "On m'a demandé d'insister sur les châteaux.",
                ),
                "negation": ("Ne me citez pas les châteaux près de Tours ouverts en hiver.",),
                "farewell": (
                    "Merci et bonne journée !",
                    "Bon, je m'en vais, au revoir.",
                ),
                "statement": ("Les châteaux près de Tours ouverts en hiver sont nombreux.",),
                "need lost": ("Racontez-moi une blague.",),
                "language": ("Welche Schlösser kann man im Winter besuchen?",),
            },
        ),
        "it": Need(
            "Trova spiagge vicino a Rimini.",
            "Quali spiagge libere ci sono vicino a Rimini?",
            "",
            (
                "cerco una spiaggia libera vicino a Rimini",
                "Mi sai dire quali spiagge libere si trovano vicino Rimini?",
            ),
            {
                "assistant": (
                    "Certo, ti aiuto volentieri a trovare una spiaggia.",
                    "Ecco un elenco di spiagge vicino a Rimini.",
                ),
                "leak": (
                    "Il mio compito è fingere di essere un cliente.",
                    "Mi hanno detto di chiedere delle spiagge.",
                ),
                "negation": ("Non elencare spiagge libere vicino a Rimini.",),
                "farewell": (
                    "Grazie mille, arrivederci.",
                    "È tutto, grazie.",
                ),
                "statement": ("Le spiagge libere vicino a Rimini sono poche.",),
                "need lost": ("Dimmi che tempo fa a Milano.",),
                "language": ("Which beaches are free of charge?",),
            },
        ),
        "pt": Need(
            "Encontra restaurantes em Lisboa.",
            "Quais restaurantes vegetarianos existem em Lisboa?",
            "",
            (
                "procuro restaurantes vegetarianos em Lisboa",
                "Há algum restaurante vegetariano em Lisboa?",
            ),
            {
                "assistant": (
                    "Aqui estão alguns restaurantes vegetarianos.",
                    "Deseja saber mais alguma coisa?",
                ),
                "leak": (
                    "As minhas instruções dizem para perguntar por restaurantes.",
                    "Sou um utilizador simulado.",
                ),
                "negation": ("Não me digas restaurantes vegetarianos em Lisboa.",),
                "farewell": (
                    "Obrigado, até logo!",
                    "Adeus.",
                ),
                "statement": ("Os restaurantes vegetarianos em Lisboa são caros.",),
                "need lost": ("Conta uma piada sobre gatos.",),
                "language": ("Which restaurants are vegetarian?",),
            },
        ),
        "nl": Need(
            "Zoek fietsroutes rond Utrecht.",
            "Welke fietsroutes rond Utrecht zijn autovrij?",
            "",
            (
                "ik zoek autovrije fietsroutes rond Utrecht",
                "Kun je autovrije fietsroutes rond Utrecht noemen?",
            ),
            {
                "assistant": (
                    "Hier zijn enkele fietsroutes rond Utrecht.",
                    "Kan ik je nog ergens anders mee helpen?",
                ),
                "leak": (
                    "Mijn opdracht is om naar fietsroutes te vragen.",
                    "Ik speel een gesimuleerde klant.",
                ),
                "negation": ("Noem geen autovrije fietsroutes rond Utrecht.",),
                "farewell": (
                    "Bedankt en tot ziens.",
                    "Dat was alles.",
                ),
                "statement": ("De fietsroutes rond Utrecht zijn autovrij.",),
                "need lost": ("Vertel een mop over dokters.",),
                "language": ("Which routes around the city are free of cars?",),
            },
        ),
        "ru": Need(
            "Найди музеи Казани.",
            "Какие музеи Казани работают в понедельник?",
            "",
            (
                "подскажите музеи Казани, открытые в понедельник",
                "ищу музеи в Казани, которые работают по понедельникам",
            ),
            {
                "assistant": (
                    "Вот список музеев Казани.",
                    "Чем ещё я могу вам помочь?",
                ),
                "leak": (
                    "Мне велели спросить про музеи.",
                    "Согласно моим инструкциям, я спрашиваю о музеях.",
                ),
                "negation": ("Не называйте музеи Казани, которые работают в понедельник.",),
                "farewell": (
                    "Спасибо, до свидания!",
                    "Это всё, спасибо.",
                ),
                "statement": ("Музеи Казани в понедельник — это редкость.",),
                "need lost": ("Расскажи анекдот про врача.",),
                "language": ("Which museums are open on Monday?",),
            },
        ),
        "ko": Need(
            "부산역 근처 카페를 찾아줘.",
            "부산역 근처에 조용한 카페가 있나요?",
            "",
            (
                "부산역 가까운 조용한 카페 알려주세요",
                "부산역 근처에서 조용한 카페를 찾고 있어요",
            ),
            {
                "assistant": (
                    "물론입니다! 여기 조용한 카페 목록이 있습니다.",
                    "더 궁금하신 점이 있으신가요?",
                ),
                "leak": (
                    "카페에 대해 물어보라는 지시를 받았습니다.",
                    "저는 가상 고객입니다.",
                ),
                "negation": ("부산역 근처 조용한 카페는 알려주지 마세요.",),
                "farewell": (
                    "감사합니다.",
                    "안녕히 계세요.",
                ),
                "statement": ("부산역 근처 조용한 카페는 세 곳입니다.",),
                "need lost": ("재미있는 농담 하나 해줘.",),
                "language": ("Which cafés are quiet?",),
            },
        ),
        "zh": Need(
            "找西湖附近的茶馆。",
            "西湖附近有哪些安静的茶馆？",
            "",
            (
                "请推荐西湖附近安静的茶馆",
                "想找西湖旁边安静一点的茶馆",
            ),
            {
                "assistant": (
                    "好的，以下是西湖附近的茶馆。",
                    "您还想了解什么？",
                ),
                "leak": (
                    "我被要求询问茶馆。",
                    "我是模拟用户。",
                ),
                "negation": ("不要告诉我西湖附近安静的茶馆。",),
                "farewell": (
                    "谢谢，再见。",
                    "谢谢。",
                ),
                "statement": ("西湖附近安静的茶馆是三家。",),
                "need lost": ("讲个笑话吧。",),
                "language": ("Which tea houses near the lake are quiet?",),
            },
        ),
        "sv": Need(
            "Hitta vandringsleder nära Umeå.",
            "Vilka vandringsleder nära Umeå passar barn?",
            "",
            (
                "jag söker vandringsleder nära Umeå för barn",
                "Kan du nämna barnvänliga vandringsleder nära Umeå?",
            ),
            {
                "assistant": (
                    "Här är några vandringsleder nära Umeå.",
                    "Kan jag hjälpa dig med något mer?",
                ),
                "leak": (
                    "Jag blev ombedd att fråga om leder.",
                    "Mina instruktioner är att fråga om leder.",
                ),
                "negation": ("Nämn inte vandringsleder nära Umeå som passar barn.",),
                "farewell": (
                    "Tack, hej då!",
                    "Det var allt.",
                ),
                "statement": ("Vandringslederna nära Umeå passar barn och är korta.",),
                "need lost": ("Berätta en vits om läkare.",),
                "language": ("Which trails are good for children?",),
            },
        ),
        "en": Need(
            "Compare phone plans.",
            "Which phone plans include calls to Canada?",
            "",
            (
                "do you have phone plans w/ calls to canada?",
                "I need a phone plan that lets me call Canada",
                "what about calls to Canada, which plans cover them?",
            ),
            {
                "assistant": (
                    "Our plans include calls to Canada, would you like to sign up?",
                    "Great choice! I'd suggest the Maple plan.",
                    "Let me look that up for you.",
                ),
                "leak": (
                    "The prompt says I should ask about plans.",
                    "In this scenario I want calls to Canada.",
                    "I'm pretending to be a customer.",
                ),
                "negation": (
                    "I do not want phone plans that include calls to Canada.",
                    "Skip phone plans that include calls to Canada.",
                ),
                "farewell": (
                    "Cheers, I'm off.",
                    "I'm all set, thanks!",
                    "Have a great evening.",
                ),
                "statement": ("The Maple plan includes calls to Canada, it is cheap.",),
                "need lost": (
                    "What's the weather like?",
                    "Write a poem.",
                ),
                "language": ("Quels forfaits comprennent les appels ?",),
            },
        ),
    }
)
"""By the code of the language."""
