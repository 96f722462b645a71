"""What headings of tables and names of columns are clipped to, spelt out: `cust_no`, `dob`."""

from __future__ import annotations

import re

_TABLE = """
abt:abteilung acct:account addr:address adr:address amt:amount anz:anzahl appr:apprentice
approx:approximate appt:appointment assoc:association asst:assistant attn:attention auth:author
avail:available avg:average bal:balance bday:birthday bez:bezeichnung bldg:building
cnt:count col:colour colr:colour cond:condition cpty:capacity ctr:centre ctry:country
cust:customer dept:department desc:description descr:description dest:destination dir:director
dist:distance div:division dob:date-of-birth dod:date-of-death dur:duration edu:education
emp:employee empl:employee equip:equipment est:established eta:expected-arrival
etd:expected-departure eval:evaluation fac:faculty fname:first-name freq:frequency fwd:forward
geb:geburtsdatum gew:gewicht gov:government govt:government grp:group hgt:height hosp:hospital
hq:headquarters hrs:hours ht:height incl:including ing:ingredient ingr:ingredient inst:institution
instr:instructor inv:invoice jrny:journey kat:kategorie kg:weight
lang:language len:length lic:licence
lief:lieferant lname:last-name loc:location lvl:level max:maximum memb:member mfg:manufacturer
mfr:manufacturer mgmt:management mgr:manager min:minimum mitarb:mitarbeiter mtg:meeting
nat:nationality nbr:number nr:nummer num:number occ:occupation oper:operator opp:opponent ord:order
org:organisation pct:percent perf:performance ph:phone phys:physician plz:postleitzahl
pred:predecessor pref:preferred prev:previous princ:principal prod:product prof:professor
proj:project prov:province pub:publisher publ:publisher qty:quantity recd:received reg:registration
rel:related rep:representative req:required res:residence resp:responsible rev:revenue rm:room
sal:salary sched:scheduled sci:scientific sect:section sem:semester seq:sequence sess:session
specs:specifications spkr:speaker spons:sponsor sq:square stat:status stn:station strasse:straße
subj:subject subs:substitute succ:successor sup:supervisor supp:supplier suppl:supplier
supv:supervisor surn:surname svc:service tech:technician tel:telephone temp:temperature
terr:territory tot:total trans:transport transp:transport treas:treasurer tx:transaction
txn:transaction typ:type uni:university univ:university vac:vacancy val:value veh:vehicle
vol:volume vp:vice-president wgt:weight whse:warehouse wk:week wkly:weekly wt:weight yr:year
yrs:years
"""
_SPELT = {short: long.replace("-", " ") for short, _, long in
          (pair.partition(":") for pair in _TABLE.split())}  # fmt: skip


_AREA = re.compile(r"\b(?:sq ?m|sq ?ft|m2|m²)\b", re.IGNORECASE)


def spelt_out(label: str) -> str:
    """A label with what is clipped in it spelt out; a number's "no" where something stands before.

    >>> spelt_out("cust dob"), spelt_out("order no"), spelt_out("directed by")
    ('customer date of birth', 'order number', 'directed by')
    """
    words = _AREA.sub("area", label).split()
    told = [_SPELT.get(word.lower().rstrip("."), word) for word in words]
    if len(words) > 1 and words[-1].lower().rstrip(".") == "no":
        told[-1] = "number"
    return " ".join(told)
