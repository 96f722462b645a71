"""Standards that wrap each value several times; molecules; texts that are tables."""

import json

import pytest
from named_facts import named_facts

from jaxkg.errors import JaxkgError
from jaxkg.kg import read_graph

WORK = """<work><workID>{id}</workID><about><naming><titleWrap><titleSet>
<textValue pref="yes">{title}</textValue></titleSet></titleWrap><note>{id} seen</note></naming>
<keeping><placeSet><placeName><textValue>{place}</textValue></placeName></placeSet></keeping>
<sizeWrap><sizeSet><sizes><sizeType>height</sizeType><sizeUnit>cm</sizeUnit>
<sizeValue>{size}</sizeValue></sizes></sizeSet></sizeWrap>
<eventWrap><eventSet><event><actor><actorSet><textValue>{maker}</textValue></actorSet></actor>
<made>{year}</made></event></eventSet></eventWrap></about></work>"""
WORKS = (
    ("W1", "Clock", "Hall A", "214", "Ogden", "1740"),
    ("W2", "Quilt", "Store B", "180", "Lumb", "1890"),
)
KEYS = ("id", "title", "place", "size", "maker", "year")


@pytest.fixture
def works(tmp_path):
    rows = "".join(WORK.format(**dict(zip(KEYS, work))) for work in WORKS)
    (tmp_path / "works.xml").write_text(f"<?xml version='1.0'?><works>{rows}</works>")
    return read_graph(tmp_path / "works.xml")


def test_elements_that_wrap_one_other_say_nothing(works):
    facts = named_facts(works)
    assert {(head, tail) for head, _, tail in facts} >= {
        ("Clock", "Hall A"), ("Clock", "214 cm"), ("Quilt", "Store B"), ("Quilt", "180 cm"),
    }  # fmt: skip
    labels = works.relation_labels
    assert {"about keeping place name", "about size height", "about event actor"} & set(labels)
    assert not any("wrap" in label or "value" in label for label in labels)


def test_parts_that_are_called_alike_are_no_part_of_labels(tmp_path):
    studies = [
        {
            "hasResults": False,
            "idModule": {"nctId": f"N{at}", "briefTitle": title},
            "designModule": {"phase": at, "enrollmentInfo": {"count": 10 + at, "type": "real"}},
            "armsModule": {"arms": at, "masked": True},
            "statusModule": {"whyStopped": "funds", "startInfo": {"count": at, "day": "2021"}},
        }
        for at, title in enumerate(("Pain after rest", "Sleep and light"))
    ]
    (tmp_path / "studies.json").write_text(json.dumps({"studies": studies}))
    graph = read_graph(tmp_path / "studies.json")
    labels = {graph.name(t): graph.relation_labels[r] for _, r, t in graph.triples.tolist()}
    assert labels["10"] == "enrollment info count"
    assert labels["funds"] == "why stopped"
    assert labels["2021"] == "start info day"


MOLECULES = """Acetone
  made

M  END
>  <ID>  (1)
S1

>  <GHS>  (1)
H225
H319

$$$$
Water
  made

M  END
>  <ID>  (2)
S2

$$$$
"""


def test_molecules_are_what_is_said_of_them(tmp_path):
    (tmp_path / "store.sdf").write_text(MOLECULES.replace("H319", "H319  "))
    heard = []
    graph = read_graph(tmp_path / "store.sdf", on_reading=heard.append)
    facts = {(h, t) for h, _, t in named_facts(graph)}
    assert {("Acetone", "H225"), ("Acetone", "H319")} <= facts
    assert "2 atoms and bonds of molecules left out" in heard[0]
    (tmp_path / "bare.sdf").write_text("Water\n\n\nM  END\n$$$$\n")
    with pytest.raises(JaxkgError, match="of which nothing is said"):
        read_graph(tmp_path / "bare.sdf")


def test_texts_of_a_folder_may_be_tables(tmp_path):
    for name, place in (("a", "Ely"), ("b", "Rye")):
        rows = "\n".join(f"{place};2024-01-0{day};{day}.5;{day}" for day in range(1, 6))
        (tmp_path / f"{name}.txt").write_text(f"station;day;warmth;wind\n{rows}\n")
    (tmp_path / "about.txt").write_text("Of the stations.\nNothing else.\n")
    heard = []
    graph = read_graph(tmp_path, on_reading=heard.append)
    assert graph.num_triples == 40
    assert "left out: about.txt" in heard[0]


FIXED = """
Stations_id Height Name               State
----------- ------ ------------------ ------------
01358         1213 Fichtelberg        Saxony
03032           26 List on Sylt       Schleswig
"""
PRINTED = """
 station | day        | warmth
---------+------------+--------
 1358    | 2024-01-01 |   -3.3
 1358    | 2024-01-02 |   -3.0
 3032    | 2024-01-01 |    5.4
(3 rows)
"""


def test_columns_may_be_as_wide_as_dashes_below_their_headers(tmp_path):
    (tmp_path / "stations.txt").write_text(FIXED.lstrip())
    facts = named_facts(read_graph(tmp_path / "stations.txt"))
    assert {("Fichtelberg", "Height", "1213"), ("List on Sylt", "State", "Schleswig")} <= facts
    (tmp_path / "days.txt").write_text(PRINTED.lstrip("\n"))
    tails = [tail for _, _, tail in named_facts(read_graph(tmp_path / "days.txt"))]
    assert {"-3.3", "5.4", "2024-01-02"} <= {*tails}
    assert "(3 rows)" not in tails


def test_a_table_that_describes_columns_names_them(tmp_path):
    (tmp_path / "keys.csv").write_text(
        "Parameter,Description,Unit\nTMK,mean temperature,C\nRSK,daily rain,mm\nNM,cloud cover,8\n"
    )
    rows = "".join(f"S{at % 3},2024-01-0{at},{at}.5,{at},{9 - at}\n" for at in range(1, 9))
    (tmp_path / "days.csv").write_text(f"station,day,TMK,RSK,NM\n{rows}")
    heard = []
    graph = read_graph(tmp_path, on_reading=heard.append)
    assert "3 columns described by 'keys'" in heard[0]
    labels = {name: graph.relation_names[name] for name in ("TMK", "RSK")}
    assert labels == {"TMK": ["TMK", "mean temperature"], "RSK": ["RSK", "daily rain"]}


def test_a_field_of_its_own_may_hold_nothing(tmp_path):
    tickets = [
        {"id": at, "subject": text, "custom_fields": [{"id": 360, "value": value}]}
        for at, text, value in ((7, "Late parcel", "ios"), (8, "Wrong size", None))
    ]
    (tmp_path / "tickets.json").write_text(json.dumps({"tickets": tickets, "count": 2}))
    names = {head for head, *_ in named_facts(read_graph(tmp_path / "tickets.json"))}
    assert {"7", "8"} <= names
