"""Light stems: enough for two forms of a word to meet, in English and German."""

from __future__ import annotations

import functools
import unicodedata

_SUFFIXES = (
    "ations", "ation", "ements", "ement", "ings", "ing", "ions", "ion", "ers", "ors", "er", "or",
    "ies", "ied", "ed", "es", "ungen", "ung", "en", "est", "st", "et", "te", "em", "e", "s", "n",
    "t", "y",
)  # fmt: skip

_IRREGULAR_FORMS = """
wrote:write written:write born:birth bore:birth made:make makes:make maker:make led:lead
leader:lead ran:run bought:buy sold:sell sells:sell seller:sell taught:teach spoke:speak
spoken:speak lent:lend loan:lend built:build drew:draw drawn:draw gave:give given:give took:take
taken:take won:win winner:win winners:win held:hold known:know children:child wives:wife
people:person men:man women:woman countries:country cities:city died:death die:death dies:death
dead:death dying:death weigh:weight weighs:weight heavy:weight heavier:weight heaviest:weight
costs:cost priced:price cheapest:price cheaper:price cheap:price flew:fly grew:grow grown:grow
paid:pay chose:choose chosen:choose founded:found founder:found founders:found hält:halten
hällt:halten gehalten:halten hielt:halten leitet:leiten geleitet:leiten geboren:geburt
erbaut:bauen gebaut:bauen promoviert:promovieren promovierte:promovieren liegt:liegen
stammen:stammt studiert:studieren besuchen:besuch besucht:besuch besuche:besuch
kooperiert:kooperieren making:make taking:take giving:give hiring:hire racing:race moving:move
"""
_SHORT_VERBS = """
own:owned,owner,owners,owning use:used,user,users,using pay:payer,paying run:running,runner,runners
buy:buyer,buyers,buying fly:flies,flying,flown,flight,flights eat:ate,eaten,eating win:winning
ask:asked,asking aid:aided,aiding act:acted,acting see:saw,seen,seeing sit:sat,sitting add:added
lie:lay,lain,lying tie:tied,tying age:aged row:rowed,rower tow:towed,towing fix:fixed,fixes,fixing
mix:mixed,mixes,mixing end:ended,ending air:aired dig:dug,digging sew:sewn,sewed sue:sued,suing
ban:banned fit:fitted bid:bidder aim:aimed set:setting meet:met,meets,meeting feed:fed,feeds
come:came,comes,coming say:said,says sing:sang,sung swim:swam,swum throw:threw,thrown
begin:began,begun wear:wore,worn fight:fought catch:caught send:sent
spend:spent keep:kept lose:lost stand:stood
ride:rode,ridden,rider,riders,riding drive:drove,driven sink:sank,sunk shoot:shot fall:fell,fallen
breed:bred break:broke,broken steal:stole,stolen ring:rang,rung deal:dealt leave:left
rise:rose,risen
"""
"""Verbs of which a suffix leaves too little to be told from others, and their forms."""
_IRREGULAR: dict[str, str] = {
    form: word for form, _, word in (pair.partition(":") for pair in _IRREGULAR_FORMS.split())
}
_IRREGULAR |= {
    form: word
    for word, _, forms in (pair.partition(":") for pair in _SHORT_VERBS.split())
    for form in forms.split(",")
}
_PAST_FORMS = """
wrote written bore made led ran bought sold taught spoke spoken lent built drew drawn gave given
took taken won held flew flown grew grown paid chose chosen ate eaten met saw seen sat came said
sang sung swam threw began wore fought caught sent spent kept lost stood rode drove sank shot
fell bred broke stole rang dealt left rose knew known spun wound hid found brought thought beat
beaten lay swore
"""
_PAST = frozenset(_PAST_FORMS.split())
_NO_PLURAL = ("ss", "us", "is", "as", "os", "news", "lens")


def is_past(word: str) -> bool:
    """Whether a folded word looks like what was done: "bought", "directed".

    >>> is_past("bought"), is_past("directed"), is_past("seed")
    (True, True, False)
    """
    return word in _PAST or (len(word) > 4 and word.endswith("ed") and not word.endswith("eed"))


@functools.lru_cache(65_536)
def stem(word: str) -> str:
    """What the forms of a folded word share.

    >>> stem("translated"), stem("translator"), stem("wrote") == stem("writer")
    ('transla', 'transla', True)
    """
    word = _IRREGULAR.get(word, word)
    if not word.isascii():
        word = word.replace("ß", "ss")
        word = "".join(c for c in unicodedata.normalize("NFKD", word) if c.isascii()) or word
    if len(word) == 4 and word.endswith("s") and not word.endswith(_NO_PLURAL):
        word = word[:-1]  # "buys", "cars"
    elif len(word) == 5 and word.endswith("ed") and not word.endswith("eed"):
        word = word[:-1]  # "hired", "based"
    shorter = ""
    while word != shorter:  # to the end, so that "represented" meets "represent"
        shorter = word
        for suffix in _SUFFIXES:
            if word.endswith(suffix) and len(word) - len(suffix) >= 4:
                word = word[: -len(suffix)]
                break
    if word.endswith(("at", "it")) and len(word) > 5:
        word = word[:-2]
    if len(word) > 4 and word[-1] == word[-2]:
        word = word[:-1]
    return word


BEGINS, BEGINS_FROM = 0.85, 4
"""How alike two stems are of which one begins with the other, and letters of that from which on."""
WITHIN, WITHIN_FROM = 0.7, 5
"""The same where one is anywhere within the other."""
NEAR, NEAR_FROM, NEAR_LESS = 0.8, 6, 0.1
"""Share of letters from which on words of so many are alike, a little less than that share."""


@functools.lru_cache(262_144)
def alike(one: str, other: str) -> float:
    """How alike two folded words are, in [0, 1]: the same stem, one within the other, letters.

    >>> alike("writes", "written"), alike("headquartered", "headquarters") > 0.8
    (1.0, True)
    """
    if one == other or stem(one) == stem(other):
        return 1.0
    short, long = sorted((stem(one), stem(other)), key=len)
    if len(short) >= BEGINS_FROM and long.startswith(short):
        return BEGINS
    if len(short) >= WITHIN_FROM and short in long:
        return WITHIN
    if min(len(one), len(other)) >= NEAR_FROM:
        from rapidfuzz import fuzz

        close = fuzz.ratio(one, other) / 100
        if close >= NEAR:
            return close - NEAR_LESS
    return 0.0
