"""Words that tell persons and places: what they are to others, and what they alone have."""

from __future__ import annotations

from jaxkg.systems.reader.language.stems import singular

_PERSONS = """
person people man woman boy girl human lead leader head manager boss director chief ceo president
chairman chair captain coach author writer editor painter sculptor artist composer singer actor
actress player scorer teacher instructor professor lecturer mentor tutor doctor nurse physician
surgeon patient owner founder inventor architect engineer designer maintainer developer builder
employee staff worker member student pupil friend spouse wife husband father mother parent child son
daughter brother sister sibling cousin uncle aunt grandfather grandmother contact customer buyer
driver pilot curator keeper donor judge referee king queen mayor minister supervisor winner chef
cook baker librarian translator borrower partner fiance ancestor descendant heir conductor
leiter leiterin chef chefin autor autorin dozent dozentin lehrer lehrerin arzt ärztin mitglied
besitzer besitzerin eigentümer gründer gründerin vater mutter kind sohn tochter bruder schwester
ehemann ehefrau freund freundin mensch mann frau kunde kundin trainer trainerin spieler spielerin
studentin professorin
"""
_PERSONAL = """
born birth birthday birthdate birthplace died death age gender sex salary nationality citizenship
occupation profession spouse married wife husband mother father parent sibling brother sister child
daughter son lives resides residence hometown studied trained employed employer job hired hobby
joined reports speaks surname lastname firstname email skill buried emigrated friend works
geboren geburt geburtstag geburtsort gestorben alter beruf verheiratet mutter vater wohnt gehalt
studiert promoviert arbeitet
"""
_PLACES = """
place city town village country state county region province continent district street address
location building room hall office station stop port harbour airport island mountain river lake
hometown birthplace headquarters capital venue stadium ground site area zone neighbourhood
ort stadt land dorf raum gebäude straße insel hauptstadt sitz heimat
"""
_LOCAL = """
population elevation altitude inhabitants capital mayor einwohner bürgermeister
"""
_SITUATED_WORDS = """
born died buried lives live living resides located situated based headquartered lies hometown lebt
wohnt liegt geboren gestorben gelegen
"""
SITUATED = frozenset(_SITUATED_WORDS.split())
"""Words before an "in" that a place follows."""

ROLES = {
    singular(word): kind
    for kind, words in (("place", _PLACES), ("person", _PERSONS))
    for word in words.split()
}
"""Nouns that say what someone or something is: "person" or "place"."""

FEATURES = {
    word: kind
    for kind, words in (("place", _LOCAL), ("person", _PERSONAL))
    for word in words.split()
}
"""Words of relations that persons, or places, have."""
