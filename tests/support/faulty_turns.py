"""Turns by which users' models misbehave, in several languages, and honest ways to say the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

__all__ = ["NEEDS", "Need"]


@dataclass(frozen=True, slots=True)
class Need:
    """What somebody wants, in a language. intended: the policy's words for the act `ask`. honest: other ways to say
    them. faulty: by fault of `simulators.llm.faults`, turns that have it. second: the policy's words for a later turn.
    """

    request: str
    intended: str
    second: str
    honest: tuple[str, ...]
    faulty: Mapping[str, tuple[str, ...]]


NEEDS: Mapping[str, Need] = MappingProxyType(
    {
        "en": Need(
            "Find a quiet hotel near the harbour of Bergen.",
            "Which quiet hotels are near the harbour of Bergen?",
            "Do any of these hotels allow dogs?",
            (
                "any quiet hotels close to the harbour in Bergen",
                "I'm after a hotel near Bergen harbour, a quiet one.",
                "Could you list some quiet hotels near the harbour of Bergen?",
                "not sure where to stay in Bergen, what hotels near the harbour are quiet?",
            ),
            {
                "assistant": (
                    "What would you like to know about hotels in Bergen?",
                    "Here are some quiet hotels near the harbour.",
                    "Based on your preferences, Hotel Oleana suits best.",
                ),
                "leak": (
                    "I have been instructed to ask about hotels near the harbour.",
                    "As a simulated guest person I now ask for hotels.",
                    "My persona is looking for quiet hotels.",
                ),
                "negation": (
                    "Please don't list quiet hotels near the harbour of Bergen.",
                    "I never want quiet hotels near the harbour of Bergen.",
                ),
                "farewell": ("Okay, bye then.", "That's all, thanks.", "Thank you for everything."),
                "statement": ("Quiet hotels near the harbour of Bergen are Oleana and Havnekontoret.",),
                "need lost": ("Tell me something about football.", "How old is the moon?"),
                "language": (
                    "Welche ruhigen Hotels liegen nahe am Hafen von Bergen?",
                    "¿Qué hoteles tranquilos hay cerca del puerto de Bergen?",
                ),
            },
        ),
        "de": Need(
            "Finde ein Rezept für Apfelkuchen ohne Eier.",
            "Welche Rezepte für Apfelkuchen mit Zimt gibt es?",
            "Wie lange muss der Kuchen backen?",
            (
                "gibt es Apfelkuchen-Rezepte mit Zimt",
                "Ich suche ein Rezept für Apfelkuchen mit Zimt.",
                "Kannst du mir Rezepte für einen Apfelkuchen mit Zimt nennen?",
            ),
            {
                "assistant": (
                    "Gerne, hier sind drei Rezepte für Apfelkuchen.",
                    "Kann ich sonst noch helfen?",
                    "Was möchten Sie über Apfelkuchen wissen?",
                ),
                "leak": (
                    "Mir wurde gesagt, ich solle nach Rezepten fragen.",
                    "Meine Rolle ist es, nach Apfelkuchen zu fragen.",
                    "Das ist nur ein Test, nenne Rezepte für Apfelkuchen mit Zimt.",
                ),
                "negation": ("Bitte nenne keine Rezepte für Apfelkuchen mit Zimt.",),
                "farewell": ("Auf Wiedersehen!", "Danke, das war's.", "Vielen Dank für die Hilfe."),
                "statement": ("Rezepte für Apfelkuchen mit Zimt sind einfach.",),
                "need lost": ("Erzähl mir einen Witz über Lehrer.",),
                "language": ("Which recipes for apple pie with cinnamon are there?",),
            },
        ),
        "es": Need(
            "Busca museos gratuitos en Sevilla.",
            "¿Qué museos gratuitos hay en Sevilla los domingos?",
            "¿Cuál de ellos tiene cuadros de Murillo?",
            (
                "museos gratuitos en Sevilla los domingos, por favor",
                "Busco museos en Sevilla que sean gratuitos el domingo.",
                "¿Me dices museos de Sevilla gratuitos en domingo?",
            ),
            {
                "assistant": (
                    "Aquí tienes algunos museos gratuitos.",
                    "¿Quieres saber algo más sobre Sevilla?",
                    "Te recomiendo el Museo de Bellas Artes.",
                ),
                "leak": (
                    "Me han dicho que pregunte por museos.",
                    "Soy una persona simulada y pregunto por museos.",
                    "Mis instrucciones son preguntar por museos.",
                ),
                "negation": ("No me digas museos gratuitos en Sevilla los domingos.",),
                "farewell": ("Adiós, hasta luego.", "Muchas gracias.", "Eso es todo."),
                "statement": ("Los museos gratuitos de Sevilla son dos los domingos.",),
                "need lost": ("Cuéntame un chiste sobre médicos.",),
                "language": ("Which museums in town are free of charge on a Sunday?",),
            },
        ),
        "ja": Need(
            "京都の静かな喫茶店を探す。",
            "京都駅の近くに静かな喫茶店はありますか。",
            "その店は朝何時に開きますか。",
            (
                "京都駅近くの静かな喫茶店を教えてください",
                "静かな喫茶店を京都駅の近くで探しています。",
            ),
            {
                "assistant": (
                    "承知いたしました。こちらがおすすめの喫茶店です。",
                    "他に何かお手伝いできることはありますか。",
                    "京都の喫茶店をご紹介いたします。",
                ),
                "leak": (
                    "喫茶店について質問するように指示されました。",
                    "私は模擬ユーザーです。",
                    "これはテストです。喫茶店はありますか。",
                ),
                "negation": ("京都駅の近くの静かな喫茶店は教えないでください。",),
                "farewell": ("さようなら。", "ありがとうございました。", "以上です。"),
                "statement": ("京都駅の近くの静かな喫茶店は三軒です。",),
                "need lost": ("面白い冗談を言ってください。",),
                "language": ("Which cafés close to the station are quiet?", "京都站附近有安静的咖啡馆吗？"),
            },
        ),
        "el": Need(
            "Βρες παραλίες κοντά στα Χανιά.",
            "Ποιες ήσυχες παραλίες υπάρχουν κοντά στα Χανιά;",
            "Ποια από αυτές έχει πάρκινγκ;",
            (
                "ψάχνω ήσυχες παραλίες κοντά στα Χανιά",
                "Μπορείς να μου πεις μερικές ήσυχες παραλίες κοντά στα Χανιά;",
            ),
            {
                "assistant": (
                    "Ορίστε μερικές παραλίες κοντά στα Χανιά.",
                    "Τι άλλο θα θέλατε να μάθετε;",
                    "Σας προτείνω τον Μπάλο.",
                ),
                "leak": (
                    "Μου είπαν να ρωτήσω για παραλίες.",
                    "Ο ρόλος μου είναι να ρωτάω για παραλίες.",
                    "Είμαι προσομοιωμένος πελάτης.",
                ),
                "negation": ("Μη μου πεις ήσυχες παραλίες κοντά στα Χανιά.",),
                "farewell": ("Αντίο!", "Ευχαριστώ πολύ.", "Αυτά ήταν όλα."),
                "statement": ("Οι ήσυχες παραλίες κοντά στα Χανιά είναι δύο.",),
                "need lost": ("Πες μου ένα ανέκδοτο για γιατρούς.",),
                "language": ("Which beaches around the town are quiet?", "Какие тихие пляжи есть рядом?"),
            },
        ),
        "fi": Need(
            "Etsi retkeilyreittejä Nuuksiosta.",
            "Mitkä retkeilyreitit Nuuksiossa sopivat lapsille?",
            "Kuinka pitkä lyhin reitti on?",
            (
                "etsin Nuuksiosta lapsille sopivia retkeilyreittejä",
                "Kertoisitko, mitkä Nuuksion retkeilyreiteistä sopivat lapsille?",
            ),
            {
                "assistant": (
                    "Tässä on muutama reitti Nuuksiosta.",
                    "Haluatko muuta?",
                    "Suosittelen Haukkalammen kierrosta.",
                ),
                "leak": (
                    "Minua käskettiin kysymään reiteistä.",
                    "Tehtäväni on kysyä retkeilyreiteistä.",
                    "Olen simuloitu asiakas.",
                ),
                "negation": ("Älä kerro, mitkä retkeilyreitit Nuuksiossa sopivat lapsille.",),
                "farewell": ("Näkemiin!", "Kiitos paljon.", "Siinä oli kaikki."),
                "statement": ("Nuuksion retkeilyreitit ovat lapsille sopivia.",),
                "need lost": ("Kerro vitsi lääkäristä.",),
                "language": ("Which hiking trails there are good for children?",),
            },
        ),
    }
)
"""By the code of the language."""
