"""Full stops that do not end a sentence, by language: in list numbers, ordinals, dates and abbreviations.

The differences between languages are data: the words in `_ORDERED` and `_ABBREVIATED`. Neither contains a word that
ends sentences in another language (`ill.`, `max.`, `no.`, `ok.`), because a sentence that was split too often can be
judged, but two joined sentences cannot.
"""

import re
from collections.abc import Callable, Iterator
from typing import Literal

from topics.late_pattern import lazy_pattern

# Words that follow an ordinal, with a capital letter if the language writes one; if the next word is small, the
# full stop does not end a sentence in any language.
_ORDERED = {
    "German": "Januar Jänner Februar Feber März April Mai Juni Juli August September Oktober November Dezember Jan Feb "
    "Mär Apr Jun Jul Aug Sep Sept Okt Nov Dez Jahrhundert Jahrhunderts Jh Jahrtausend Weltkrieg Weltkriegs Platz Rang "
    "Kapitel Auflage Ausgabe Band Teil Etage Stock Stockwerk Obergeschoss Untergeschoss OG UG Klasse Liga Bundesliga "
    "Runde Quartal Halbjahr Semester Woche Monat Jahr Tag Mal Lebensjahr Lebensmonat Geburtstag Advent Person Staffel "
    "Folge Generation Grad Grades Stelle Reihe Spieltag Stufe Absatz Zeile Spalte Akt Satz Bezirk Gang Lehrjahr",
    "Danish and Norwegian": "Januar Februar Marts Mars Maj Juni Juli Oktober Desember December Etage Kapitel Plads "
    "Plass Klasse Verdenskrig Juledag",
    "Swedish": "Januari Februari Mars Maj Juni Juli Augusti Oktober December Kapitlet Plats Klass",
    "Finnish": "Tammikuuta Helmikuuta Maaliskuuta Huhtikuuta Toukokuuta Kesäkuuta Heinäkuuta Elokuuta Syyskuuta "
    "Lokakuuta Marraskuuta Joulukuuta Luku Kerros Luokka",
    "Czech and Slovak": "Ledna Února Března Dubna Května Června Července Srpna Září Října Listopadu Prosince Kapitola "
    "Patro Třída Století Januára Februára Marca Apríla Mája Júna Júla Augusta Septembra Októbra Novembra Decembra",
    "Polish": "Stycznia Lutego Marca Kwietnia Maja Czerwca Lipca Sierpnia Września Października Listopada Grudnia "
    "Rozdział Piętro Klasa Wiek",
    "Croatian and Slovene": "Siječnja Veljače Ožujka Travnja Svibnja Lipnja Srpnja Kolovoza Rujna Listopada Studenoga "
    "Prosinca Januarja Februarja Aprila Avgusta Oktobra Poglavlje Kat Razred Stoljeće",
    "Hungarian": "Január Február Március Április Május Június Július Augusztus Szeptember Október November Fejezet "
    "Emelet Osztály Század Kerület",
    "Turkish": "Bölüm Kat Cadde Sokak Yüzyıl Dünya Sınıf Sayfa Hafta Gün",
    "Estonian and Latvian": "Jaanuar Veebruar Märts Aprill Juuni Juuli Oktoober Detsember Peatükk Korrus Janvāris "
    "Februāris Marts Aprīlis Maijs Jūnijs Jūlijs Augusts Septembris Oktobris Novembris Decembris Nodaļa Stāvs",
}
# German and Danish articles and prepositions: a number with a full stop after them does not end a sentence.
_BEFORE_ORDINALS = "der die das dem den des vom zum zur im beim am bis ab seit jeder jede jedes jeden den det"

# Without their full stops. Those of the second part may also end a sentence, if a new one clearly begins.
_ABBREVIATED: dict[str, tuple[str, str]] = {
    "English": (
        "mr mrs ms dr prof st vs fig eq vol pp al gen sen gov capt lt sgt rev hon mt approx dept e.g i.e cf viz ca ed "
        "eds",
        "etc inc ltd co corp jr sr a.m p.m u.s u.k u.n ph.d b.a m.a b.c a.d",
    ),
    "German": (
        "bzw ca z.b d.h u.a o.ä i.d.r nr str tel abb kap hrsg jh mio mrd std inkl exkl ggf evtl vgl sog geb bzgl zzgl "
        "insb allg bspw dipl ing abs aufl hbf",
        "usw etc u.a.m",
    ),
    "French": ("mme mlle mm av boul bd env p.ex c.-à-d chap éd réf tél apr", "etc"),
    "Spanish": ("sra srta dra ud uds vd pág págs núm aprox tel avda dpto ee.uu p.ej", "etc"),
    "Portuguese": ("sra dra exmo exma pág págs núm aprox tel p.ex av", "etc"),
    "Italian": ("sig sig.ra sigg dott dott.ssa ing avv pag pagg tel p.es s.p.a", "ecc"),
    "Dutch": ("dhr mevr drs mw bijv ca nr blz tel o.a d.w.z m.b.t t.a.v z.g", "enz"),
    "Swedish": ("t.ex bl.a ca nr s.k d.v.s kl resp tel f.d fr.o.m t.o.m", "osv m.m"),
    "Danish and Norwegian": ("f.eks bl.a ca nr kl hhv ift pga dvs tlf", "osv m.m"),
    "Polish": ("np tzn tzw tj ul nr godz prof inż mgr św", "itd itp"),
    "Czech and Slovak": ("např tzv tzn tj resp č.p ul čl mgr kap obr napr", "atd apod"),
    "Russian": ("т.е т.н ул им руб стр см напр гл рис проф тыс млн млрд", "т.д т.п др пр"),
    "Finnish": ("esim klo puh ks", "jne ym"),
    "Hungarian": ("kb ún özv", "stb"),
    "Turkish": ("örn sn dr prof doç bkz cad apt", "vb"),
}
_INSIDE, _EITHER = (frozenset(word for each in _ABBREVIATED.values() for word in each[part].split()) for part in (0, 1))
_DOTTED = lazy_pattern(r"(?:[^\W\d_]\.)+[^\W\d_]")

_INNER = (
    lazy_pattern(r"(?<![\w.])[0-9]{1,2}\.[ \u00a0]{1,3}[0-9]{1,2}\.[ \u00a0]{1,3}(?=[0-9]{2,4}\b)"),  # 3. 5. 2026
    lazy_pattern(rf"(?<![\w.])[0-9]{{1,3}}\.[ \u00a0]{{1,3}}(?=(?:{'|'.join(' '.join(_ORDERED.values()).split())})\b)"),
    lazy_pattern(
        rf"(?<!\bI )(?<!\w)(?:{'|'.join(_BEFORE_ORDINALS.split())})[ \u00a0]{{1,3}}"
        r"[0-9]{1,3}\.(?=[ \u00a0]{1,3}\S)",
        re.IGNORECASE,
    ),
)
_MARKER = lazy_pattern(r"(?:(?<=[\s(。！？；：、])|\A)(\(?)([0-9]{1,2})([.)])(?=\s)")
_HEADED = lazy_pattern(r"\(?([0-9]{1,3})([.):])[ \t]{0,99}\Z")
_OPENS = ".!?…:;,–—-。！？；：、)\"'”’»"


def abbreviation_frequency(token: str) -> Literal["always", "mostly", "never"]:
    """Return `always`, `mostly` or `never`: whether the full stop after a word belongs to the word. `mostly` means
    unless a new sentence clearly begins."""
    name = token.lower()
    if name in _INSIDE:
        return "always"
    return "mostly" if name in _EITHER or _DOTTED.fullmatch(token) else "never"


def inner_stops(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of dates and ordinals, in which a full stop ends no sentence: `am 3. Mai`, `3. 5. 2026`."""
    for pattern in _INNER:
        for match in pattern.finditer(text):
            yield match.span()


def list_numbers(text: str, start: int, end: int, inside: Callable[[int], bool]) -> list[tuple[int, int]]:
    """Return the spans of the numbers of an enumeration (`1. Menü. 2. Karte.`) within [start, end). A number belongs
    to a list if it is 1 after a colon, or one more than the previous number. The first number of a list is at the
    beginning or after punctuation. `inside` returns True for a position within an address, a date or the like."""
    headed = _HEADED.search(text[max(0, start - 120) : start])
    before = (int(headed[1]), headed[2]) if headed else None
    last = len(text[start:end].rstrip()) + start
    found: list[tuple[int, int]] = []
    waiting: tuple[int, int] | None = None  # a 1 without a 2 after it so far
    for match in _MARKER.finditer(text, start, end):
        number, style = int(match[2]), match[3]
        if inside(match.start(2)) or match.end() >= last:
            continue
        ahead = text[max(start, match.start() - 40) : match.start()].rstrip()
        opens = not ahead or ahead[-1] in _OPENS
        small = text[match.end() : min(end, match.end() + 20)].lstrip()[:1].islower()
        if before == (number - 1, style) and (opens or not small):
            if waiting:
                found.append(waiting)
            found.append(match.span())
            before, waiting = (number, style), None
        elif number == 1 and opens:
            before, waiting = (1, style), match.span()
            if ahead and ahead[-1] in ":：":
                found.append(match.span())
                waiting = None
    return found
