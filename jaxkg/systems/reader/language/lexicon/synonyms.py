"""Everyday words that mean nearly the same, in English and German."""

from __future__ import annotations

import functools

from jaxkg.systems.reader.language.lexicon.stems import alike, stem

# One group a line; a line that is indented goes on with the one before.
_GROUPS = """
lead head manage run boss chief director manager mgr leader command supervise oversee mayor captain
  leitung leiten chef führen
teach teacher instruct instructor train trainer tutor mentor coach lecture lecturer unterrichten
  lehrer dozent
learn study student pupil apprentice trainee attend attendee studieren schüler
make maker mfr create creator produce producer build builder construct manufacture craft herstellen
  bauen schaffen
write writer author compose composer pen schreiben verfasser autor
paint painter draw artist maler malen
invent inventor devise found founder establish set-up gründen gründer
begin start open launch inaugurate commence beginnen anfangen eröffnen
end finish close conclude complete expire enden schließen
buy purchase acquire buyer customer client kaufen kunde
sell sale seller vendor retail offer verkaufen anbieten
supply supplier provide deliver provider liefern lieferant
cost price fee charge fare expensive cheap kosten preis teuer
pay salary wage earn income paid gehalt verdienen lohn
money budget funds funding finance geld
own owner possess belong property besitzen besitzer gehören
keep store hold preserve house aufbewahren
give donate donor gift donation grant present spenden
live reside residence home dwell inhabit resident wohnen leben wohnort wohnsitz
come origin native hail born birthplace stammen herkunft
die death dead deceased died sterben tod gestorben
marry married spouse wife husband partner wed verheiratet heiraten ehepartner ehefrau ehemann
job role occupation profession position post career trade beruf rolle stelle
work employ employer employee staff company hire arbeiten angestellt arbeitgeber
place location loc site venue position situated located ort lage
big large size area extent
tall high height elevation altitude höhe
heavy weigh weight mass gewicht wiegen
long length distance länge
old age born birth dob alter
wide broad width breite
language speak tongue spoken sprache sprechen
borrow lend loan borrower ausleihen leihen
treat treatment therapy cure behandeln behandlung
doctor physician medic practitioner arzt
illness disease condition ailment diagnosis krankheit
drug medicine medication meds prescription remedy medikament
ingredient component contain consist made zutat enthalten
serve stop call halt visit halten
drive driver operate operator run fahren betreiben
connect link join adjacent border neighbour verbinden
fix repair mend patch solve reparieren
maintain maintainer care look-after upkeep responsible betreuen
need require depend dependency rely brauchen benötigen
visitor spectator attendance audience crowd guest besucher zuschauer
score goal points tor
play player compete match game spielen spieler
win winner victory champion gewinnen sieger
move transfer relocate emigrate migrate umziehen wechseln
name called title known heißen genannt
team squad department dept group crew club abteilung gruppe
room hall chamber raum zimmer saal
floor storey level stockwerk etage
deadline due until fällig frist
movement style school genre stil
exhibit show display exhibition ausstellen ausstellung
publish publisher release issue veröffentlichen verlag
capital seat hauptstadt
inhabitant population people resident einwohner
subject topic theme thema
ship boat vessel schiff boot
road street way straße
picture painting canvas image bild gemälde
lawyer attorney solicitor counsel advocate barrister represent anwalt vertreten
judge justice magistrate richter
court tribunal
case lawsuit trial proceeding
law act statute regulation gesetz
outcome verdict ruling result decision judgment end urteil
fine penalty strafe
accuse sue charge prosecute defendant
film movie picture
cinema theatre theater picture-house kino
star actor actress act cast feature appear
direct director regisseur
agent agency represent
ticket admission
hotel inn guesthouse lodging accommodation
book reserve reservation booking
stay overnight night
hike walk trail path
sing singer vocal vocalist vocals
drum drummer drums
guitar guitarist
record recording album
band group act
tour concert gig show perform play
habitat environment home live inhabit
eat feed diet prey food fressen
plant grow garden
endangered threatened status
discover discovery describe find
nickname alias
member belong
study educate school university college graduate
factory plant works site
machine equipment device
quantity qty amount amt
telephone phone tel
temperature temp
language lang
category cat
description desc
version ver
responsible resp
duration dur
year yr
hour hr hrs minute min mins
kilometre km metre
kilo kilogram kg gram
moor dock berth anchor
rent tenant lease let
night nocturnal
day diurnal
teach professor
boss superior supervisor manager report gaffer
work employ colleague coworker workmate kollege arbeiten
team teammate play
class classmate course attend school
live home flat flatmate roommate housemate mitbewohner wohnen
hire join recruit employ
mother mum mom
father dad
kid child
apartment flat
landlord landlady owner
backer sponsor fund finance bankroll
depart leave departure
country nation homeland
worth cost price value
vet veterinarian
pub bar tavern
shop store
car vehicle automobile
lorry truck
firm company business enterprise
worker employee staff personnel
garage workshop
borough district quarter neighbourhood
sign enrol enroll register book sign-up
postpone postponed delay delayed
bar barred ban banned exclude excluded
left-handed southpaw
state condition shape status repair zustand
toilet loo restroom lavatory washroom wc toilette
injure injured injury hurt wounded verletzt
girth circumference round trunk
colour tint shade hue farbe
mechanic repair service tune fettle overhaul maintenance
vaccinate vaccinated vaccination jab jabs inoculate shot geimpft impfung
fault defect problem trouble flaw mangel
return returned back
minder keeper carer handler sitter
sire father dad
dam mother mum
fail failed failure flunk unsuccessful
pass passed success
allergic allergy intolerance
venue ground stadium arena pitch
kit gear equipment
brand make manufacturer
harvest pick yield crop ernte
invoice bill rechnung
rota roster shift schicht
wheelchair accessible accessibility step-free barrierefrei
certificate licence license qualification permit
insured insurance insurer cover covered
broken faulty damaged defective kaputt
retired retire pension
cancel cancelled called-off scrap
reserve spare backup
gelding stallion mare
vegetarian veggie
pool swimming
wifi internet
surname lastname
warranty guarantee garantie
discount rebate reduction
wingspan span
frequency often interval
caterer catering
fitter installer technician
electric electricity power mains
piste slope ski-run
legible readable
pager call
surgery practice clinic
leaflet brochure pamphlet flyer handout
incident outage
town city village hamlet
host present presenter
"""


@functools.cache
def _groups() -> dict[str, frozenset[int]]:
    found: dict[str, set[int]] = {}
    for number, line in enumerate(_GROUPS.strip().replace("\n  ", " ").splitlines()):
        for word in line.split():
            found.setdefault(stem(word), set()).add(number)
    return {word: frozenset(numbers) for word, numbers in found.items()}


@functools.lru_cache(65_536)
def meanings(word: str) -> frozenset[str | int]:
    """The stem of a folded word and the groups of synonyms that it is of.

    >>> len(meanings("price") & meanings("cost")) > 0, meanings("written") >= {stem("wrote")}
    (True, True)
    """
    own = stem(word)
    return frozenset({own, *_groups().get(own, ())})


_SLIP = 5
"""Letters of a word from which on two of them may stand in the wrong order."""
SYNONYM = 0.75
"""How alike two synonyms are."""


@functools.lru_cache(262_144)
def meant(one: str, other: str) -> float:
    """How alike two folded words are, in [0, 1]: by their letters, or as synonyms.

    >>> meant("writes", "written"), meant("cost", "price"), meant("cost", "height")
    (1.0, 0.75, 0.0)
    """
    close = alike(one, other)
    if close >= SYNONYM:
        return close
    return SYNONYM if groups_of(one) & groups_of(other) else close


@functools.lru_cache(65_536)
def groups_of(word: str) -> frozenset[int]:
    """Groups of a word, else of the one that two of its letters changed about make: "wroet"."""
    groups = _groups()
    if (own := stem(word)) in groups or len(word) < _SLIP:
        return groups.get(own, frozenset())
    turned = (
        word[:at] + word[at + 1] + word[at] + word[at + 2 :] for at in range(1, len(word) - 1)
    )
    return frozenset().union(*(groups.get(stem(other), ()) for other in turned))
