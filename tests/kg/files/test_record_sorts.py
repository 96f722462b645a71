"""What records of JSON and XML are, are called, and say in sections."""

from json import dumps

import pytest
from named_facts import named_facts


@pytest.mark.parametrize(("around", "inner", "kind"), [
    ("users", "row", "users"), ("feed", "entry", "entry"), ("users", "person", "person"),
])  # fmt: skip
def test_rows_are_what_they_lie_in(read, around, inner, kind):
    rows = "".join(f'<{inner} Id="{at}" Name="N{at}" Size="{at + 7}"/>' for at in range(3))
    facts = named_facts(read(f"<?xml version='1.0'?><{around}>{rows}</{around}>", "u.xml"))
    assert {tail for _, relation, tail in facts if relation == "is a"} == {kind}


def test_one_of_several_is_said_once(read):
    issues = [
        {"id": 7, "title": "Leak", "assignee": "Ann", "assignees": ["Ann", "Bo"]},
        {"id": 8, "title": "Rust", "assignee": "Cy", "assignees": ["Bo"]},
    ]
    told = []
    facts = named_facts(read(dumps(issues), "i.json", on_reading=told.append))
    assert {fact[1:] for fact in facts if fact[0] == "Leak"} == {
        ("assignees", "Ann"), ("assignees", "Bo")
    }  # fmt: skip
    assert ("Rust", "assignee", "Cy") in facts
    assert "assignee, which is among assignees" in told[0]


def test_models_and_labels_are_no_sorts(read):
    cars = [{"id": n, "name": f"C{n}", "model": m, "labels": ["used", "red"]}
            for n, m in enumerate(("Civic", "Polo"))]  # fmt: skip
    facts = named_facts(read(dumps({"cars": cars}), "cars.json"))
    assert {("C0", "model", "Civic"), ("C0", "labels", "used"), ("C0", "is a", "cars")} <= facts
    nodes = [{"id": n, "labels": ["Film"], "properties": {"name": f"F{n}"}} for n in range(2)]
    assert ("F0", "type", "Film") in named_facts(read(dumps(nodes), "n.json"))


def test_issues_are_called_by_a_short_summary(read):
    issues = [
        {"id": n, "key": f"OP-{n}", "fields": {"summary": summary, "size": n}}
        for n, summary in ((3, "Disk full"), (4, "One. Two. Three."))
    ]
    facts = named_facts(read(dumps({"issues": issues}), "i.json"))
    assert ("Disk full", "size", "3") in facts
    assert any(fact[1:] == ("summary", "One. Two. Three.") for fact in facts)


def test_what_one_section_alone_says_is_called_without_it(read):
    rows = [{"id": f"r{n}", "main": {"humidity": 80 + n, "level": n}, "top": {"level": n + 1}}
            for n in range(2)]  # fmt: skip
    kg = read(dumps({"rows": rows}), "w.json")
    aliases = {name: kg.relation_aliases.get(code, ()) for code, name in enumerate(kg.relations)}
    assert aliases["main humidity"] == ("humidity",)
    assert not aliases["main level"]
    assert not aliases["top level"]


def test_tables_of_a_database_are_called_by_their_names(read):
    users = [{"id": n, "first_name": f, "last_name": last, "username": f"u{n}"}
             for n, f, last in ((1, "Admin", ""), (2, "Ann", "Berg"))]  # fmt: skip
    tools = [{"id": 1, "name": "", "tag": "T1", "assigned_to": 2},
             {"id": 2, "name": "Saw", "tag": "T2", "assigned_to": 2}]  # fmt: skip
    dump = [{"type": "header", "version": "5"}, {"type": "database", "name": "shed"},
            {"type": "table", "name": "users", "data": users},
            {"type": "table", "name": "tools", "data": tools},
            {"type": "table", "name": "logs", "data": []},
            {"type": "table", "name": "tools", "data": [{"id": 3, "name": "Axe"}]}]  # fmt: skip
    facts = named_facts(read(dumps(dump), "shed.json"))
    assert {("Saw", "is a", "tools"), ("Saw", "assigned_to", "Ann Berg")} <= facts
    assert ("Axe", "is a", "tools") in facts
    assert {("Admin", "is a", "users"), ("Admin", "username", "u1")} <= facts
    assert {head for head, relation, tail in facts if tail == "T1"} == {"tool 1"}


def test_a_title_is_shown_in_place_of_what_its_address_has(read):
    posts = [{"title": f"On {word}", "post_id": n, "post_name": f"on-{word}", "likes": n}
             for n, word in enumerate(("kelp", "iron"), start=7)]  # fmt: skip
    facts = named_facts(read(dumps({"site": {"name": "S", "posts": posts}}), "s.json"))
    assert ("On kelp", "post_id", "7") in facts or ("On kelp", "likes", "7") in facts
    assert not [fact for fact in facts if fact[0] == "on-kelp"]


def test_species_are_called_by_common_names(read):
    taxa = [{"id": 7, "taxon": {"id": 41, "name": "Alcedo atthis",
                                "preferred_common_name": "Kingfisher"}},
            {"id": 8, "taxon": {"id": 42, "name": "Lutra lutra",
                                "preferred_common_name": "Otter"}}]  # fmt: skip
    facts = named_facts(read(dumps({"records": taxa}), "r.json"))
    assert ("Otter", "scientific name", "Lutra lutra") in facts
    rows = "species_code,scientific_name,common_name,mass\nALC,Alcedo atthis,Kingfisher,40\n"
    facts = named_facts(read(rows + "LUT,Lutra lutra,Otter,9000\n", "species.csv"))
    assert ("Kingfisher", "scientific_name", "Alcedo atthis") in facts


def test_values_of_kinds_are_said_by_their_kinds(read):
    people = [
        {
            "id": "p1",
            "name": "Ann",
            "telecom": [
                {"system": "phone", "value": "555"},
                {"system": "email", "value": "a@x.org"},
            ],
        }
    ]
    facts = named_facts(read(dumps({"people": people}), "p.json"))
    assert {("Ann", "telecom phone", "555"), ("Ann", "telecom email", "a@x.org")} <= facts


def test_plates_call_no_row(read):
    rows = "FleetNo,Reg,Seats\n" + "".join(f"{200 + at},DX{at:02} TGP,{at}\n" for at in range(9))
    facts = named_facts(read(rows, "vehicles.csv"))
    assert ("203", "Reg", "DX03 TGP") in facts
    graph = read(rows, "vehicles.csv")
    assert graph.aliases[graph.entity("fleet")] == ("vehicles",)


def test_authors_are_called_by_their_whole_names(read):
    everybody = [("Ann", "Berg"), ("Ann", "Lund")], [("Ann", "Berg")]
    works = [{"DOI": f"10.5/{at}", "title": f"W{at}", "author": [
        {"given": given, "family": family, "sequence": "first" if at else "additional"}
        for given, family in people]} for at, people in enumerate(everybody)]  # fmt: skip
    facts = named_facts(read(dumps({"items": works}), "works.json"))
    assert {("W0", "author", "Ann Berg"), ("W0", "author", "Ann Lund")} <= facts
    assert ("W1", "author", "Ann Berg") in facts
