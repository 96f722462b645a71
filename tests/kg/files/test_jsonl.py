import json

import pytest

from jaxkg.errors import JaxkgError
from jaxkg.kg import read_graph


@pytest.fixture
def read(tmp_path):
    def run(records, **options):
        path = tmp_path / "kb.jsonl"
        path.write_text(
            "\n".join(r if isinstance(r, str) else json.dumps(r) for r in records), encoding="utf-8"
        )
        return read_graph(path, **options)

    return run


def facts(graph):
    return {graph.triple(row) for row in range(graph.num_triples)}


def fact(head="a", relation="r", tail="b", **more):
    return {"head": head, "relation": relation, "tail": tail, **more}


def test_strings_and_objects(read):
    graph = read(
        [
            fact({"id": "m.1", "name": "Alien", "aliases": ["Alien 1", "Le huitième passager"]}),
            fact({"id": "m.1"}, "r", {"id": "m.2", "name": " Ridley Scott "}, year=1979),
            "",
            fact({"id": "m.1", "name": "Alien (1979)"}, "s", "x"),
        ]
    )
    assert facts(graph) == {
        ("m.1", "r", "b"),
        ("m.1", "r", "m.2"),
        ("m.1", "s", "x"),
    }
    alien = graph.entity("m.1")
    assert graph.name(alien) == "Alien"
    assert graph.aliases[alien] == ("Alien 1", "Le huitième passager", "Alien (1979)")
    assert graph.name(graph.entity("m.2")) == "Ridley Scott"
    assert graph.provenance is None


def test_a_side_files_name_wins_and_the_files_own_becomes_an_alias(read):
    graph = read([fact({"id": "m.1", "name": "Alien"})], names={"m.1": "Alien (1979)"})
    assert graph.name(graph.entity("m.1")) == "Alien (1979)"
    assert graph.aliases[graph.entity("m.1")] == ("Alien",)


def test_sources(read):
    records = [fact(source="doc 7", page="p 1"), fact("c")]
    assert [read(records).source(row) for row in (0, 1)] == ["doc 7", None]
    assert [read(records, provenance=True).source(row) for row in (0, 1)] == ["doc 7", "kb.jsonl:2"]
    assert read(records, provenance="page").source(0) == "p 1"
    assert read(records, provenance=False).provenance is None


def test_other_keys(read):
    graph = read([{"s": "a", "p": "r", "o": "b"}], columns=("s", "p", "o"))
    assert graph.triple(0) == ("a", "r", "b")
    for options in ({"columns": (0, 1, 2)}, {"provenance": 3}):
        with pytest.raises(JaxkgError, match="JSON lines have no column"):
            read([fact()], **options)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('{"head": "a", ', "not JSON"),
        ("[" * 100_000, "brackets are nested deeper"),
        ('["a", "r", "b"]', "not a JSON object"),
        ('{"head": "a", "relation": "r"}', "no 'tail'"),
        (fact(tail=[1979]), "'tail' is not a non-blank string"),
        (fact(tail=" "), "'tail' is not a non-blank string"),
        (fact(relation={"id": "r"}), "'relation' is not a non-blank string"),
        (fact({"name": "Alien"}), "'head.id' is not a non-blank string"),
        (fact({"id": "a", "name": ""}), "'head.name' is not a non-blank string"),
        (fact({"id": "a", "aliases": "x"}), "the aliases of 'head' are not a list"),
        (fact({"id": "a", "aliases": [None]}), "'head.aliases' is not a non-blank string"),
        (fact({"id": "a", "label": "x"}), "'head' has an unknown field 'label'"),
        (fact(source=3), "'source' is not a string"),
    ],
)
def test_malformed_lines_are_told_or_skipped(read, line, told):
    with pytest.raises(JaxkgError, match=rf'kb.jsonl:2: {told}.*expected {{"head": ...,'):
        read([fact(), line])
    graph = read([fact(), line, fact("c")], skip_bad=1, provenance=True)
    assert graph.num_triples == 2
    assert graph.source(1) == "kb.jsonl:3"
    assert told in graph.skipped[0]


def test_a_lone_surrogate_is_refused(read):
    with pytest.raises(JaxkgError, match="half of a surrogate pair"):
        read(['{"head": "\\ud800", "relation": "r", "tail": "b"}'])


@pytest.mark.parametrize("keys", [("subject", "predicate", "object"), ("source", "type", "target")])
def test_other_keys_arrays_numbers_and_booleans(tmp_path, keys):
    rows = [("Alien", "year", 1979), ("Alien", "classic", True), ("Alien", "rating", 8.5)]
    records = [dict(zip(keys, row)) for row in rows]
    (tmp_path / "a.json").write_text(json.dumps(records, indent=1))
    (tmp_path / "b.jsonl").write_text("\n".join(map(json.dumps, records)))
    for name in ("a.json", "b.jsonl"):
        graph = read_graph(tmp_path / name, lines=True)
        assert facts(graph) == {
            ("Alien", "year", "1979"),
            ("Alien", "classic", "true"),
            ("Alien", "rating", "8.5"),
        }
        assert sorted(graph.provenance) == [f"{name}:{line}" for line in (1, 2, 3)]


def test_plain_records_are_entities(tmp_path, read):
    records = [
        {"name": "Bracken", "sire": "Northwind", "foaled": 2019, "wins": ["Ayr", "York"]},
        {"name": "Northwind", "sire": None, "foaled": "", "sold": False},
    ]
    expected = {
        ("Bracken", "sire", "Northwind"),
        ("Bracken", "foaled", "2019"),
        ("Bracken", "wins", "Ayr"),
        ("Bracken", "wins", "York"),
        ("Northwind", "sold", "false"),
    }
    heard = []
    graph = read(records, on_reading=heard.append, lines=True)
    assert facts(graph) == expected
    assert (
        "read as a table: each record is a thing, name is its id, the other keys are relations"
        in heard[0]
    )
    assert {graph.source(row) for row in range(4)} == {"kb.jsonl:1"}
    (tmp_path / "a.json").write_text(json.dumps(records))
    graph = read_graph(tmp_path / "a.json")
    assert facts(graph) == expected


def test_records_with_an_id_are_joined_by_name(read):
    graph = read([{"id": 1, "name": "Ann", "boss": "Bob"}, {"id": 2, "name": "Bob", "at": "n/a"}])
    assert [graph.triple(row) for row in range(graph.num_triples)] == [("kb 1", "boss", "kb 2")]
    assert graph.name(graph.entity("kb 2")) == "Bob"
    graph = read([{"horse": "Bracken", "sire": "Northwind"}])
    assert graph.triple(0) == ("Bracken", "is a", "horse")
    assert graph.triple(1) == ("Bracken", "sire", "Northwind")


def test_records_that_are_no_entities_are_told(read):
    records = [{"name": "Bracken", "sire": "Northwind"}, ["Ada"]]
    with pytest.raises(JaxkgError, match=r"kb.jsonl:2: not a JSON object.*an object with 'name'"):
        read(records)
    assert read(records, skip_bad=1).num_triples == 1


@pytest.mark.parametrize("record", [{"sire": "Ben"}, {"name": None, "sire": "Ben"}])
def test_records_without_a_name_have_none(read, record):
    heard = []
    graph = read([{"name": "Bracken", "sire": "Northwind"}, record], on_reading=heard.append)
    assert ("_:kb_1", "sire", "Ben") in facts(graph)
    assert "name is its id (1 have none)" in heard[0]


def test_what_nothing_calls_is_said_of_what_it_is_within(read):
    launch = {"vehicleId": "V1", "launchDate": "2021-03-04", "site": {"name": "Kourou", "sea": "A"}}
    graph = read([{"name": "Petrel", "launch": launch, "dish": {"size": {"widthM": 3}}}])
    assert facts(graph) == {
        ("Petrel", "launch vehicle id", "V1"), ("Petrel", "launch date", "2021-03-04"),
        ("Petrel", "launch site", "Kourou"), ("Kourou", "sea", "A"),
        ("Petrel", "dish size width m", "3"),
    }  # fmt: skip
    with pytest.raises(JaxkgError, match="a key is blank"):
        read([{"name": "Ann", "home": {"": "Ely"}}])


SAID = {
    "what lies within is called by its names": (
        [{"name": "Vale", "species": {"commonName": "tomato", "latinName": "Solanum"},
          "donor": {"vorname": "Bo", "nachname": "Ash", "town": "Ulm"}},
         {"name": "Dale", "species": {"commonName": "tomato", "family": "nightshades"},
          "donor": {"firstName": "Ann", "lastName": "Lee", "town": "Ely"}, "box": {"depth": 3}}],
        {("Vale", "species", "tomato"), ("Dale", "species", "tomato"), ("Ann Lee", "town", "Ely"),
         ("tomato", "latinName", "Solanum"), ("tomato", "family", "nightshades"),
         ("Bo Ash", "town", "Ulm"), ("Dale", "box depth", "3")}),
    "a name in several forms is the common one": (
        [{"name": {"official": "Republic of Malta", "common": "Malta"}, "area": 316},
         {"name": {"common": "Oman"}, "area": 9}],
        {("Malta", "area", "316"), ("Malta", "official name", "Republic of Malta")}),
    "what calls a record says what it is beside its type": (
        [{"breed": "Manx", "type": "Natural"}, {"breed": "Ocicat", "type": "Cross"}],
        {("Manx", "is a", "breed"), ("Manx", "type", "Natural")}),
    "a number with decimals calls no record": (
        [{"lon": 1.25, "state": "Alaska"}, {"lon": 2, "state": "Ohio"}],
        {("Alaska", "is a", "state")}),
    "an object of codes lists what they stand for": (
        [{"name": f"Land {n}", "spoken": {f"c{at}": f"Language {at}" for at in (n, n + 1)}}
         for n in range(11)],
        {("Land 3", "spoken", "Language 3"), ("Land 3", "spoken", "Language 4")}),
}  # fmt: skip


@pytest.mark.parametrize("case", SAID)
def test_what_records_say(read, case):
    records, said = SAID[case]
    assert facts(read(records)) >= said


def test_records_of_several_sorts_are_called_by_keys_of_their_own(read):
    graph = read(
        [
            {"type": "person", "name": "Ann", "born": 1950},
            {"type": "interview", "title": "Nets", "people": ["Ann"]},
            {"type": "tape", "tape name": "T7", "of": "Nets"},
        ]
    )
    found = facts(graph)
    assert {("Nets", "people", "Ann"), ("Nets", "type", "interview"), ("T7", "of", "Nets")} <= found
    books = read([{"id": 1, "name": "Ann", "born": 1950}, {"title": "1984", "by": "Ann"}])
    assert {fact[0] for fact in facts(books)} == {"kb 1", "1984"}
    titled = read([{"type": "interview", "title": "Nets", "of": "Ann"}])
    assert titled.triple(0)[0] == "Nets"


def test_a_record_with_a_subject_or_a_head_is_no_triple(read):
    tickets = [{"ticket": f"T{n}", "subject": "No tone", "opened": 1, "by": "Ann", "tag": "x"}
               for n in range(2)]  # fmt: skip
    assert read(tickets).triple(0)[0] == "T0"
    units = read([{"name": "Sales", "head": "Ann"}, {"name": "Stock", "head": "Bo"}])
    assert ("Stock", "head", "Bo") in facts(units)
    with pytest.raises(JaxkgError, match="no 'tail'"):
        read([{"head": "Ann", "relation": "owns", "note": "?"}])
    with pytest.raises(JaxkgError, match="no 'relation'"):
        read([{"head": "Ann", "note": "?"}])


def test_few_records_without_a_name_are_kept(read):
    records = [{"Title": f"Film {n}", "gross": n} for n in range(30)]
    heard = []
    graph = read([*records, {"Title": None, "gross": 99}], on_reading=heard.append)
    heads = {fact[0] for fact in facts(graph)}
    assert len(heads) == 31
    assert any("Title is its id (1 have none)" in said for said in heard)


def test_an_id_of_several_rows_calls_none(read):
    records = [
        {"id": 1 + n % 2, "name": ("Ohio", "Iowa")[n % 2], "group": f"g{n}", "share": n / 8}
        for n in range(8)
    ]
    graph = read(records)
    found = [graph.triple(row) for row in range(graph.num_triples)]
    rows = {fact[0] for fact in found if fact[1:] == ("name", "Ohio")}
    assert len(rows) == 4


def test_relations_refer_to_the_places_of_nodes(read):
    nodes = [{"name": "Myriel"}, {"name": "Napoleon"}, {"name": "Valjean"}]
    text = json.dumps({"nodes": nodes, "links": [{"source": 1, "target": 0, "value": 8}]})
    graph = read([text])
    found = facts(graph)
    assert ("Napoleon", "linked to", "Myriel") in found
    numbered = [{"id": 7, "name": "Ann"}, {"id": 8, "name": "Bo"}]
    graph = read([json.dumps({"nodes": numbered, "links": [{"source": 7, "target": 1}]})])
    assert not any(graph.name(tail) == "Bo" for tail in graph.triples[:, 2].tolist())


def test_codes_that_records_refer_to_call_them(read):
    pairs = (("ESP", "PRT"), ("PRT", "FRA"), ("FRA", "ESP"))
    graph = read([{"name": f"Land of {a}", "cca3": a, "borders": [b]} for a, b in pairs])
    named = {(graph.name(h), graph.name(t)) for h, r, t in graph.triples.tolist()}
    assert ("Land of PRT", "Land of FRA") in named
    twice = read([{"name": f"Land of {a}", "cca3": a, "ioc": a, "area": 9} for a, _ in pairs])
    assert graph.entity_ids[0] == "ESP"
    assert "ESP" not in {fact[0] for fact in facts(twice)}


def test_a_list_of_texts_is_refused_plainly(read):
    with pytest.raises(JaxkgError, match="a list of texts, '3-D Man' first, says nothing"):
        read(['["3-D Man", "Abomination"]'])


def test_a_first_line_that_is_no_object_spoils_no_other(read):
    graph = read(["3", {"name": "Ann", "age": 4}, {"name": "Bo", "age": 5}], skip_bad=1)
    assert facts(graph) == {("Ann", "age", "4"), ("Bo", "age", "5")}
    assert "not a JSON object" in graph.skipped[0]
