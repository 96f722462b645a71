"""German words in English ones, for sentence vectors that know no German."""

from __future__ import annotations

import functools

from jaxkg.limits import LIMITS
from jaxkg.systems.reader.language.lexicon.stems import stem

# English: the German words for it. What is a word of both languages is left out.
_GLOSSARY = """
lead: leiten leiter leitung führen führt dekan vorstand vorsitzende vorsitz
teach: unterrichten lehren dozent dozentin lehrer lehrerin lehrt
hold teach: gehalten hält halten
give: geben gibt gegeben
professor: professur professorin
student: studierende studenten studentin schüler schülerin
study: studieren studium studiert
course: lehrveranstaltung veranstaltung kurs vorlesung
subject: fach thema
degree programme: studiengang
degree: abschluss
faculty: fakultät
university: universität hochschule
exam: prüfung klausur
tests: prüft
attend: besuchen besucht teilnehmen
require: voraus setzt voraussetzen voraussetzt voraussetzung
need: benötigen benötigt brauchen braucht erfordern
research: forschen forscht forschung
doctorate: promovieren promovierte promoviert doktor
cooperate: kooperieren kooperiert zusammenarbeiten zusammenarbeit
appointed: berufen ernannt
enrolled: immatrikuliert eingeschrieben
semester: semester
credits: leistungspunkte
write: schreiben schrieb geschrieben verfassen verfasst
author: autorin verfasser verfasserin schriftsteller
book: buch bücher
publish: veröffentlichen veröffentlicht erscheinen erschienen
publisher: verlag
translate: übersetzen übersetzt übersetzer
paint: malen gemalt maler malerin
painting: gemälde bild
film: kinofilm
director: regisseur regie regisseurin
actor: schauspieler schauspielerin darsteller
play: spielen spielt gespielt
song: lied
singer: sänger sängerin
found: gründen gegründet gründer gründung
build: bauen gebaut erbaut errichtet
open: eröffnen eröffnet geöffnet
close: schließen geschlossen
begin: beginnen beginnt begann anfangen
end: enden endet
take place: stattfinden statt
building: gebäude bauwerk
room: raum zimmer saal
hall: hörsaal halle
office: büro
seat: sitz
seats: sitzplätze plätze
floor: stockwerk etage geschoss
house: haus
street: straße
city: stadt
village: dorf
country: staat
lie: liegen liegt gelegen befinden befindet
located: ansässig beheimatet
river: fluss
mountain: gebirge
lake: gewässer
island: insel
capital: hauptstadt
population: einwohner bevölkerung
come from: stammen stammt herkunft
born: geboren geburt
die: sterben starb gestorben
death: todes
live: wohnen wohnt leben lebt
married: verheiratet ehe
wife: ehefrau
husband: ehemann
mother: mutter
father: vater
parents: eltern
daughter: tochter
brother: bruder
sister: schwester
job: beruf
work: arbeiten arbeitet
employee: mitarbeiter mitarbeiterin angestellte
employer: arbeitgeber
company: firma unternehmen betrieb
owner: besitzer besitzerin eigentümer
own: besitzen besitzt
belong to: gehören gehört
part: teil
member: mitglied
make: herstellen hergestellt
maker: hersteller
sell: verkaufen verkauft
buy: kaufen gekauft
deliver: liefern liefert geliefert
supplier: lieferant
offer: anbieten angeboten bietet
price: preis
cost: kosten kostet
fee: gebühr beitrag
money: geld
pay: bezahlen bezahlt zahlen
salary: gehalt lohn verdienst verdienen verdient
number: anzahl zahl nummer
year: jahr
month: monat
weekday: wochentag
date: datum termin
hour: stunde
duration: dauer dauert
time: zeit uhrzeit
age: alter
language: sprache
speak: sprechen spricht
color: farbe
weight: gewicht wiegen wiegt
height: höhe
length: länge
width: breite
size: größe
distance: entfernung
patient: patientin
doctor: arzt ärztin
illness: krankheit
treat: behandeln behandelt behandlung
medicine: medikament arznei
department: abteilung
food: essen speise
dish: gericht
recipe: rezept
ingredient: zutat
cook: kochen koch köchin
contain: enthalten enthält
drink: getränk trinken
animal: tiere
plant: pflanze
garden: garten
tree: baum
flower: blume
bloom: blühen blüht blüte
grow: wachsen wächst
habitat: lebensraum
species: gattung
eat: fressen frisst
court: gericht
judge: richter richterin
lawyer: anwalt anwältin
case: verfahren rechtsfall
verdict: urteil
plaintiff: kläger klägerin
guest: gäste
hotel: gasthaus
book a room: buchen gebucht buchung
stay: übernachten übernachtung aufenthalt
ship: schiff
train: zug
station: bahnhof haltestelle
drive: fahren fährt
school: schule
club: verein
team: mannschaft
player: spieler spielerin
coach: trainerin
win: gewinnen gewann gewonnen
award: auszeichnung
prize: preisträger
keep: aufbewahren aufbewahrt
show: zeigen zeigt gezeigt ausstellen ausgestellt
exhibition: ausstellung
donate: spenden gespendet stiften gestiftet
invent: erfinden erfunden erfinder
discover: entdecken entdeckt
use: benutzen benutzt verwenden verwendet nutzen
connect: verbinden verbunden verbindung
border: grenzen grenzt
neighbor: nachbar benachbart
responsible: zuständig verantwortlich betreut betreuen
supervise: betreuer betreuerin
borrow: ausleihen ausgeliehen
offspring: enkel
called: heißen heißt genannt
know: kennen kennt
"""
_FUNCTION = {
    "von": "of", "vom": "of the", "des": "of the", "der": "the", "die": "the", "das": "the",
    "dem": "the", "den": "the", "im": "in the", "zum": "to the", "zur": "to the", "aus": "from",
    "bei": "at", "mit": "with", "für": "for", "über": "about", "und": "and", "oder": "or",
    "nicht": "not", "wer": "who", "wen": "whom", "wem": "whom", "wo": "where", "wann": "when",
    "welche": "which", "welcher": "which", "welches": "which", "welchem": "which",
    "welchen": "which", "wie": "how", "viele": "many", "ist": "is", "sind": "are", "hat": "has",
    "haben": "have", "wird": "is", "werden": "are", "wurde": "was", "wurden": "were",
    "ein": "a", "eine": "a", "einer": "a", "einem": "a", "einen": "a", "zu": "to", "wohin": "where",
    "woher": "from where", "worüber": "about what", "auf": "on", "an": "at", "am": "at",
}  # fmt: skip
_LINKS = ("", "s", "n", "en", "es", "er", "e")


@functools.cache
def _known() -> dict[str, str]:
    found: dict[str, str] = {}
    for line in _GLOSSARY.strip().splitlines():
        english, _, words = line.partition(":")
        for word in words.split():
            found.setdefault(stem(word), english)
    return found


def _plain(word: str) -> str:
    for ending in ("innen", "in"):
        if word.endswith(ending) and len(word) - len(ending) >= 5:
            return word.removesuffix(ending)
    return word


@functools.lru_cache(65_536)
def _word(word: str) -> str:
    """A German word in English, "" for one that is not known; compounds by their parts."""
    if len(word) > LIMITS.word:
        return ""
    known = _known()
    for form in (word, _plain(word)):
        if stem(form) in known and len(form) > 3:
            return known[stem(form)]
    for cut in range(len(word) - 4, 3, -1):
        if last := known.get(stem(word[cut:])):
            first = word[:cut]
            told = [known[stem(first.removesuffix(s))] for s in _LINKS
                    if first.endswith(s) and stem(first.removesuffix(s)) in known]  # fmt: skip
            return f"{told[0]} {last}" if told else f"{first} {last}" if len(word) > 8 else ""
    return ""


def in_english(text: str) -> str:
    """A text with the German words of it in English, where there are any.

    >>> in_english("geleitet von"), in_english("prüfungstermin"), in_english("led by")
    ('lead of', 'exam date', 'led by')
    """
    words = text.lower().split()
    told = [_word(word) for word in words]
    if not any(told):
        return text
    return " ".join(new or _FUNCTION.get(old, old) for old, new in zip(words, told))
