"""Files of kinds that have no format of their own: read by the general ways, or refused with a word
on what would do."""

import json

import pytest
from named_facts import named_facts

from jaxkg.errors import JaxkgError
from jaxkg.kg import read_graph


@pytest.fixture
def read(tmp_path):
    def run(name, text, **options):
        if not isinstance(text, str | bytes):
            text = json.dumps(text)
        (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_graph(tmp_path / name, **options)

    return run


def rows_of(facts):
    rows = {}
    for head, relation, tail in sorted(facts):
        rows.setdefault(head, {})[relation] = tail
    return list(rows.values())


BOOKS = """<?xml version="1.0"?><catalog xmlns="http://x.org/c">
<book id="b1"><title>Gulls</title><authors><author>Ann</author><author>Bo</author></authors>
<tag k="genre" v="nature"/><year when="1999"/><subject id="S1">birds</subject></book>
<book id="b2"><title>Tides</title><authors><author>Ann</author></authors></book></catalog>"""


def test_elements_are_things_and_what_is_said_of_them(read):
    facts = named_facts(read("books.xml", BOOKS))
    assert facts >= {
        ("Gulls", "authors", "Ann"), ("Gulls", "authors", "Bo"), ("Gulls", "genre", "nature"),
        ("Gulls", "year", "1999"), ("Gulls", "subject", "birds"), ("Tides", "authors", "Ann"),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', "defines the entity 'b'"),
        ("<?xml version='1.0'?><a><b>", "not XML"),
        ("<?xml version='1.0'?><a/>", "no things in it"),
        ("<?xml version='1.0'?>" + "<a>" * 100 + "</a>" * 100, "nested deeper than"),
    ],
)
def test_xml_that_holds_nothing_or_too_much_is_refused(read, text, told):
    with pytest.raises(JaxkgError, match=told):
        read("a.xml", text)


def test_packages_of_a_lock_file(read):
    text = '[[package]]\nname = "web"\nversion = "1"\n\n[package.dependencies]\nnet = ">=2,<3"\n'
    facts = named_facts(read("poetry.lock", text + '\n[[package]]\nname = "net"\nversion = "2"\n'))
    assert facts >= {("web", "dependencies", "net"), ("web dependencies net", "value", ">=2,<3")}


PATIENT = {
    "resourceType": "Patient",
    "id": "p1",
    "name": [{"family": "Berg", "given": ["Ann", "B"]}],
}
ASTHMA = {
    "resourceType": "Condition", "id": "c1", "code": {"text": "Asthma"},
    "subject": {"reference": "Patient/p1"},
}  # fmt: skip
REPLIES = {
    "fhir": (
        {"resourceType": "Bundle",
         "entry": [{"fullUrl": "u:1", "resource": PATIENT}, {"resource": ASTHMA}]},
        {("Condition/c1", "subject", "Ann B Berg")},
    ),
    "hal": (
        {"_embedded": {"orders": [
            {"_links": {"self": {"href": "/o/1"}, "customer": {"href": "/c/7"}}, "total": 3}]}},
        {("/o/1", "customer", "/c/7"), ("/o/1", "total", "3")},
    ),
    "json_api": (
        {"data": [{"type": "articles", "id": "1", "attributes": {"title": "Nets"},
          "relationships": {
            "author": {"links": {"self": "x"}, "data": {"type": "people", "id": "9"}}}}],
         "included": [{"type": "people", "id": "9",
                       "attributes": {"firstName": "Ann", "lastName": "Berg"}}]},
        {("Nets", "author", "Ann Berg")},
    ),
    "sparql": (
        {"head": {"vars": ["film"]}, "results": {"bindings": [
            {"film": {"type": "uri", "value": "http://x/1"},
             "filmLabel": {"type": "literal", "xml:lang": "en", "value": "Gull"},
             "by": {"type": "uri", "value": "http://x/2"},
             "byLabel": {"type": "literal", "value": "Ann"}}]}},
        {("Gull", "by", "Ann")},
    ),
    "issues": (
        [{"id": 7, "title": "Crash", "user": {"login": "ann", "id": 1, "type": "User"},
          "assignee": {"login": "ann", "id": 1, "type": "User"},
          "labels": [{"id": 3, "name": "bug"}]}],
        {("Crash", "user", "ann"), ("Crash", "assignee", "ann"), ("Crash", "labels", "bug")},
    ),
    "life": (
        {"artists": [{"id": "a1", "name": "Ann", "life-span": {"begin": "1968-10-07"}}]},
        {("Ann", "life span begin", "1968-10-07")},
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", REPLIES)
def test_replies_of_web_services(read, kind):
    document, facts = REPLIES[kind]
    found = {(head, relation.replace("_", " "), tail) for head, relation, tail in
             named_facts(read(f"{kind}.txt", document))}  # fmt: skip
    assert found >= facts


def test_two_references_to_one_thing_are_one(read):
    graph = read("issues.json", REPLIES["issues"][0])
    assert sum(graph.name(at) == "ann" for at in range(graph.num_entities)) == 1


def test_records_called_by_what_comes_again_are_several(read):
    records = [{"rule": f"r{at % 2}", "file": f"f{at}", "line": at} for at in range(8)]
    graph = read("hits.json", records)
    assert sum(relation == "file" for _, relation, _ in named_facts(graph)) == 8


PEOPLE = {("Ann", "city", "Ely"), ("Bo", "city", "Ayr")}
SHAPES = {
    "split.json": '{"columns": ["name", "city"], "data": [["Ann", "Ely"], ["Bo", "Ayr"]]}',
    "rows.json": '[["name", "city"], ["Ann", "Ely"], ["Bo", "Ayr"]]',
    "mongo.json": '{"_id": {"$oid": "1"}, "name": "Ann", "city": "Ely"}\n'
                  '{"_id": {"$oid": "2"}, "name": "Bo", "city": "Ayr"}\n',
    "dynamo.json": '{"Items": [{"id": {"N": "1"}, "name": {"S": "Ann"}, "city": {"S": "Ely"}},'
                   ' {"id": {"N": "2"}, "name": {"S": "Bo"}, "city": {"S": "Ayr"}}], "Count": 2}',
    "notes.jsonl": '{"_meta": {"version": 1}}\n{"id": 1, "name": "Ann", "city": "Ely"}\n'
                   '{"id": 2, "name": "Bo", "city": "Ayr"}\n',
    "pages.jsonl": '{"meta": {"page": 1}, "results": [{"id": "a", "name": "Ann", "city": "Ely"}]}\n'
                   '{"meta": {"page": 2}, "results": [{"id": "b", "name": "Bo", "city": "Ayr"}]}\n',
    "hits.json": '{"hits": {"hits": [{"_id": "1", "_source": {"name": "Ann", "city": "Ely"}},'
                 ' {"_id": "2", "_source": {"name": "Bo", "city": "Ayr"}}]}}',
    "lone.json": '{"men": [{"id": "b", "name": "Bo", "city": "Ayr"}],'
                 ' "woman": {"id": "a", "name": "Ann", "city": "Ely"}}',
    "p.psv": "id|name|city\n1|Ann|Ely\n2|Bo|Ayr\n",
    "people.txt": "id;name;city\n1;Ann;Ely\n2;Bo;Ayr\n",
    "comments.csv": "# by Cy\nname,city\n# a note\nAnn,Ely\nBo,Ayr\n",
}  # fmt: skip


@pytest.mark.parametrize("name", SHAPES)
def test_shapes_of_one_table(read, name):
    assert named_facts(read(name, SHAPES[name])) >= PEOPLE


def test_years_beside_codes_below_notes(read):
    text = '"Source","Bank",\n\n"Updated","2024",\n\n"Country","Code","2019","2020",\n'
    facts = named_facts(
        read("p.csv", text + '"Norway","NOR","5.3","5.4",\n"Aruba","ABW","1","2",\n')
    )
    assert {"Country": "Norway", "year": "2020", "p": "5.4"} in rows_of(facts)
    assert "Source" not in {head for head, _, _ in facts}
    text = "unit,geo\\TIME\t2019 \t2020 \nEUR,DE\t1.5 b\t: \nEUR,FR\t2.5 \t3.0 e\n"
    told = [("DE", "2019", "1.5"), ("FR", "2019", "2.5"), ("FR", "2020", "3.0")]
    heard = []
    rows = rows_of(named_facts(read("e.tsv", text, on_reading=heard.append)))
    keys = ("unit", "geo", "year", "e")
    assert [row for row in rows if "year" in row] == [dict(zip(keys, ("EUR", *r))) for r in told]
    assert "2 notes beside numbers left out" in heard[0]


@pytest.mark.parametrize(("key", "kind"), [("package", "package"), ("node", None)])
def test_the_key_of_a_list_says_what_its_records_are(read, key, kind):
    records = [{"name": name, "version": "1", "size": str(len(name))} for name in ("serde", "syn")]
    facts = named_facts(read("lock.json", {"version": 3, key: records, "other": [{"name": "x"}]}))
    assert ("serde", "size", "5") in facts
    assert {tail for head, relation, tail in facts if relation == "is a" and head == "syn"} == (
        {kind} - {None}
    )


def test_lists_of_results_are_not_what_holds_them(read):
    run = {"tool": {"driver": {"name": "Scan", "rules": [{"id": "r1"}]}}}
    found = [{"ruleId": "r1", "line": at} for at in range(3)]
    facts = named_facts(read("scan.sarif", {"runs": [run | {"results": found}]}))
    assert "runs" not in {tail for _, relation, tail in facts if relation == "is a"}


def test_objects_in_columns_of_parquet(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = pyarrow.Table.from_pylist([{"id": "w1", "title": "Soil", "year": 2020, "by": [
        {"name": "Ann", "city": "Ely"}], "in": {"name": "J. Soil", "issn": "1"}}])  # fmt: skip
    parquet.write_table(table, tmp_path / "works.parquet")
    facts = named_facts(read_graph(tmp_path / "works.parquet"))
    assert facts >= {("Soil", "by", "Ann"), ("Ann", "city", "Ely"), ("Soil", "in", "J. Soil")}


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("go.mod", "module a.org/b\n\ngo 1.21\n", "go mod graph"),
        ("d.mmd", "graph TD\n  A[x] --> B{y}\n", "Graphviz's DOT"),
        ("b.jsonl", '{"index": {"_id": "1"}}\n{"title": "x"}\n', "bulk import"),
        ("m.csv", ",Ann,Bo\nAnn,0,1\nBo,1,0\n", "the first line names every column"),
        ("two.csv", b"name,city\n\xc3\x85se,x\nZo\xeb,y\n", "is it of two encodings"),
        ("p.fasta", ">sp|P1|TIDE x\nMKTAYIAKQRQISFV\n", "take the same entry as JSON"),
        ("chat.txt", "12/03/2024, 09:15 - Ada Quill: Who brings it?\n", "when, who, what"),
        ("m.prom", "# HELP up Is it up.\nup 1\n", "a column a label"),
        ("a.properties", "app.name=Tide\n", "as TOML"),
        ("page.html", "<!DOCTYPE html><html><body></body></html>", "save the table in it as CSV"),
        ("story.txt", "Once upon a time there was a queen. She lived.\n", "running text"),
        ("works.txt", '/type/work\t/works/1\t3\t2020-01-01\t{"a": 1}\n', "without a header"),
        ("d.tsv", "".join(f"{at:05}\t_w{at}\ta thing\n" for at in range(40)), "none is a relation"),
        ("a.avro", "Obj\x01\x04avro.codec", "write it as Parquet"),
        ("m.xtm", "<?xml version='1.0'?><topicMap><topic id='a'/></topicMap>", "turn it into RDF"),
        ("u.tsv", "1\t2\t3\t881250949\n2\t5\t1\t881250950\n", "without a header"),
    ],
)
def test_what_is_not_read_is_refused_with_what_to_do(read, name, text, told):
    with pytest.raises(JaxkgError, match=told):
        read(name, text)


def test_headers_of_two_rows_totals_and_what_stands_above(read):
    heard = []
    text = (
        "# by Ann\n,Sales,,Costs\nRegion,2022,2023,2022\nA,1,2,3\nB,4,5,6\nC,7,8,9\nAll,12,15,18\n"
    )
    facts = named_facts(read("t.csv", text, on_reading=heard.append))
    assert {("A", "Sales 2022", "1"), ("C", "Costs 2022", "9")} <= facts
    assert "All" not in {head for head, _, _ in facts}
    assert "1 rows of totals left out" in heard[0]


def test_years_may_be_columns(read):
    facts = named_facts(read("p.csv", "Country,2019,2020\nNorway,5.3,5.4\nSweden,10.3,10.4\n"))
    assert {"Country": "Norway", "year": "2020", "p": "5.4"} in rows_of(facts)


def test_names_beside_codes_and_labels_beside_iris(read):
    header = "tconst\ttitleType\tprimaryTitle\tyear\n"
    text = header + "tt01\tmovie\tGull\t1999\ntt02\tmovie\tTide\t2001\n"
    assert ("Gull", "titleType", "movie") in named_facts(read("t.tsv", text))
    rows = "http://x/1,Gull,http://x/2,Ann\nhttp://x/3,Tide,http://x/2,Ann\n"
    text = f"film,filmLabel,by,byLabel\n{rows}"
    assert ("Gull", "by", "Ann") in named_facts(read("q.csv", text))


def test_utf_16_and_splits_of_a_benchmark(tmp_path, read):
    text = "name\tcity\tnote\nBo\tBergen\tgrå\nÅse\tTromsø\trød\n"
    assert ("Åse", "city", "Tromsø") in named_facts(read("u.csv", text.encode("utf-16")))
    folder = tmp_path / "bench"
    folder.mkdir()
    (folder / "train.txt").write_text("/m/1\t/a/b\t/m/2\n/m/3\t/a/b\t/m/4\n")
    (folder / "valid.txt").write_text("/m/1\t/a/c\t/m/4\n")
    assert read_graph(folder).num_triples == 3


ENTITIES = "id,title,type,description\ne1,ANN,PERSON,A sailor\ne2,GULL,BOAT,Fast\n"


def test_relationships_in_csv_are_edges_though_numbered_and_described(tmp_path):
    (tmp_path / "entities.csv").write_text(ENTITIES)
    for header, row in (("id,source,target", "r1,ANN,GULL"), ("source,target", "ANN,GULL")):
        (tmp_path / "relationships.csv").write_text(f"{header},description\n{row},she sails\n")
        graph = read_graph(tmp_path)
        facts = named_facts(graph)
        assert ("ANN", "linked to", "GULL") in facts
        assert {said for _, relation, said in facts if relation == "description"} >= {"she sails"}
        assert "r1" not in {head for head, _, _ in facts}
        assert "ANN" not in graph.entity_ids  # but e1, who is called so


def test_files_that_columns_are_called_after_say_what_their_rows_are(tmp_path):
    (tmp_path / "Account.csv").write_text("Id,Name,City\nA1,Rovers,Ely\nA2,United,Ayr\n")
    (tmp_path / "Deal.csv").write_text("Id,Name,AccountId,Sum\nD1,Nets,A1,7\nD2,Ropes,A2,9\n")
    facts = named_facts(read_graph(tmp_path))
    assert {("Rovers", "is a", "account"), ("Nets", "is a", "deal")} <= facts
    (tmp_path / "Deal.csv").write_text("Id,Name,Club,Sum\nD1,Nets,A1,7\nD2,Ropes,A2,9\n")
    assert "is a" not in {relation for _, relation, _ in named_facts(read_graph(tmp_path))}


@pytest.mark.parametrize("header", ["source,target", "source,target,city"])
def test_ends_alone_are_edges_beside_tables_too(tmp_path, header):
    (tmp_path / "people.csv").write_text("id,name,city\np1,Ann,Ely\np2,Bo,Ayr\n")
    row = "p1,p2,Ely" if "city" in header else "p1,p2"
    (tmp_path / "meetings.csv").write_text(f"{header}\n{row}\n")
    assert ("Ann", "linked to", "Bo") in named_facts(read_graph(tmp_path))


def test_a_voyage_between_ports_stays_a_thing(read):
    text = "id,source,target,ship\nv1,Ely,Ayr,Gull\nv2,Ayr,Ely,Tern\n"
    assert ("v1", "ship", "Gull") in named_facts(read("voyages.csv", text))


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("Report\n\nStation,City,Opened\nHub,Oslo,1854\nPier,Bergen,1913\n",
         ("Hub", "City", "Oslo")),
        ("person,works in,born in\nAnn,Oslo,Bergen\nBo,Ely,Ayr\n", ("Bo", "born in", "Ayr")),
    ],
)  # fmt: skip
def test_two_rows_of_three_columns_below_plain_words_are_a_table(read, text, fact):
    assert fact in named_facts(read("t.csv", text))


def test_three_columns_that_may_have_a_header_are_never_silently_triples(read):
    heard = []
    read("t.csv", "Wreck,Sea,Found by\nAda,North,Ann\nBea,Baltic,Ben\n", on_reading=heard.append)
    read("u.csv", "Station,City,Opened\nHub,Oslo,1854\n", on_reading=heard.append)
    assert all("where it names columns, the format is 'table'" in told for told in heard)
    assert len(heard) == 2


def test_what_a_rule_found_is_not_the_rule(read):
    rules = [{"id": "js/xss", "name": "Xss"}, {"id": "js/sql", "name": "Sql"}]
    results = [{"ruleId": rule["id"], "level": "error"} for rule in rules]
    document = {"runs": [{"tool": {"driver": {"rules": rules}}, "results": results}]}
    facts = named_facts(read("a.sarif", document))
    found = {head for head, relation, tail in facts if (relation, tail) == ("level", "error")}
    assert len(found) == 2
    assert not found & {"Xss", "Sql"}
    assert {(relation, tail) for head, relation, tail in facts if head in found} >= {
        ("ruleId", "Xss"), ("ruleId", "Sql"),
    }  # fmt: skip


def test_an_article_is_called_by_its_title(read):
    one = "<Item><Citation><PMID>{}</PMID><Article><Journal><Title>Clay</Title></Journal>"
    one += "<ArticleTitle>On {}.</ArticleTitle></Article></Citation></Item>"
    text = f"<?xml version='1.0'?><Set>{one.format(71, 'soil')}{one.format(82, 'peat')}</Set>"
    facts = named_facts(read("pubmed.xml", text))
    assert {("On soil.", "article journal title", "Clay"),
            ("On peat.", "article journal title", "Clay")} <= facts  # fmt: skip
    assert not any(head == tail for head, _, tail in facts)


def test_a_document_that_but_wraps_a_text_is_refused(read):
    with pytest.raises(JaxkgError, match="not a JSON object"):
        read("a.json", {"value": "x", "type": "y"})


_TYPED = {"M": {"name": {"S": "Gull Records"}, "tags": {"SS": ["sea", "air"]}}}
_DOCUMENT = {
    "name": "db/cities/AYR",
    "fields": {
        "name": {"stringValue": "Ayr"},
        "county": {"referenceValue": "db/counties/S"},
        "zones": {"arrayValue": {"values": [{"stringValue": "port"}, {"stringValue": "old"}]}},
    },
}
_TEAMS = {1: "Rovers", 2: "United"}


def _match(number, home, away):
    ends = {"home": home, "away": away}
    return {"match_id": number} | {
        f"{end}_team": {f"{end}_team_id": team, f"{end}_team_name": _TEAMS[team]}
        for end, team in ends.items()
    }


def _instances(number, *tags):
    pairs = [{"Key": key, "Value": said} for key, said in tags]
    return {"Groups": [], "OwnerId": "7", "ReservationId": f"r{number}",
            "Instances": [{"InstanceId": f"i{number}", "Tags": pairs}]}  # fmt: skip


def _pod(name):
    containers = [{"name": "web", "image": "web:1"}]
    owner = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "u1"}
    return {"kind": "Pod", "metadata": {"name": name, "ownerReferences": [owner]},
            "spec": {"nodeName": "n1", "containers": containers}}  # fmt: skip


_DEPLOYMENT = {"kind": "Deployment", "metadata": {"name": "web"}, "spec": {"replicas": 3}}
_STUDY = {"sections": {"ident": {"trialId": "T1", "briefTitle": "Rest"}, "status": {"now": "done"}}}
_TENDER = {"id": "t1", "title": "Road", "cost": {"amount": 7}}
WEB = {
    "typed.jsonl": (
        [
            {"id": "1", "title": {"S": "Net"}, "by": _TYPED},
            {"id": "2", "title": {"S": "Tide"}, "at": {"$date": {"$numberLong": "86400000"}}},
        ],
        {
            ("Net", "by", "Gull Records"),
            ("Gull Records", "tags", "air"),
            ("Tide", "at", "1970-01-02"),
        },
    ),
    "fields.json": (
        {"documents": [_DOCUMENT]},
        {("Ayr", "zones", "old"), ("Ayr", "zones", "port")},
    ),
    "codes.json": (
        [{"entryType": "reviewed", "accession": f"P{at}", "length": at} for at in (5, 6)],
        {("P5", "length", "5"), ("P6", "entryType", "reviewed")},
    ),
    "sorts.json": (
        [{"statementID": "s1", "name": "Acme"}, {"statementID": "s2", "owner": {"by": "s1"}}],
        {("s2", "owner by", "Acme")},
    ),
    "sections.json": (
        {"studies": [_STUDY | {"hasResults": True}]},
        {("Rest", "status now", "done")},
    ),
    "versions.json": (
        {
            "package": [
                {"name": "syn", "version": "1"},
                {"name": "syn", "version": "2"},
                {"name": "app", "version": "3", "needs": ["syn 1"]},
            ]
        },
        {("syn 1", "version", "1"), ("app", "needs", "syn 1")},
    ),
    "related.json": (
        {
            "id": "b1",
            "name": "Nets",
            "relations": [
                {
                    "type": "member of",
                    "direction": "backward",
                    "artist": {"id": "a1", "name": "Ann"},
                }
            ],
        },
        {("Ann", "member of", "Nets")},
    ),
    "names.json": (
        [
            {
                "id": "r1",
                "names": [
                    {"value": "EC", "types": ["acronym"]},
                    {"value": "Ely College", "types": ["display"]},
                ],
                "year": 1900,
            },
            {"id": "r2", "names": ["Ayr College"], "year": 1950},
        ],
        {("Ely College", "year", "1900"), ("Ayr College", "year", "1950")},
    ),
    "profile.json": (
        [
            {
                "id": "U1",
                "name": "ann",
                "real_name": "Ann Lee",
                "profile": {"real_name": "Ann Lee", "title": "Sailor"},
            }
        ],
        {("Ann Lee", "profile title", "Sailor")},
    ),
    "parts.json": (
        {
            "id": 603,
            "title": "Gull",
            "genres": [{"id": 28, "name": "Sea"}],
            "crew": [{"id": 6, "name": "Ann"}, {"id": 7, "name": "Bo"}],
        },
        {("Gull", "genres", "Sea"), ("Gull", "crew", "Bo")},
    ),
    "releases.json": (
        {
            "releases": [
                {"id": "a", "tender": _TENDER},
                {"id": "b", "tender": _TENDER | {"title": "Quay", "cost": {"amount": 9}}},
            ]
        },
        {("a", "tender", "Road"), ("b", "tender", "Quay"), ("Quay", "cost amount", "9")},
    ),
    "instances.json": (
        {
            "Reservations": [
                _instances(1, ("Name", "web"), ("Team", "sea")),
                _instances(2, ("Name", "db")),
            ]
        },
        {("r1", "Instances", "web"), ("web", "Team", "sea"), ("r2", "is a", "reservation")},
    ),
    "cluster.json": (
        {"kind": "List", "items": [_DEPLOYMENT, _pod("web-1"), _pod("web-2")]},
        {
            ("web-1", "spec node name", "n1"),
            ("web", "spec replicas", "3"),
            ("web-2", "ownerReferences", "web"),
            ("web-2", "spec containers", "web"),
        },
    ),
    "matches.json": (
        [_match(11, 1, 2), _match(12, 2, 1)],
        {("11", "home_team", "Rovers"), ("12", "away_team", "Rovers")},
    ),
    "lineups.json": (
        [
            {
                "team_id": 1,
                "team_name": "Rovers",
                "lineup": [
                    {
                        "player_id": 9,
                        "player_name": "Ann",
                        "positions": [{"position_id": 4, "position": "Keeper"}],
                    }
                ],
            }
        ],
        {("Rovers", "lineup", "Ann"), ("Ann", "is a", "player"), ("Ann", "positions", "Keeper")},
    ),
    "manifest.json": (
        {
            "nodes": {
                "model.a": {"name": "a", "unique_id": "model.a", "needs": ["model.b"], "size": 1},
                "model.b": {"name": "b", "unique_id": "model.b", "needs": [], "size": 2},
                "model.c": {"name": "c", "unique_id": "model.c", "needs": [], "size": 3},
            }
        },
        {("a", "needs", "b")},
    ),
    "games.xml": (
        "<?xml version='1.0'?><items><item type='game' id='1'><name type='alternate' value='Netz'/>"
        "<name type='primary' value='Nets'/><link type='maker' id='7' value='Ann'/>"
        "<link type='theme' id='8' value='Sea'/></item><item type='game' id='2'>"
        "<name type='primary' value='Tide'/><link type='maker' id='7' value='Ann'/></item></items>",
        {("Nets", "maker", "Ann"), ("Tide", "maker", "Ann"), ("Nets", "theme", "Sea")},
    ),
    "report.xml": (
        "<?xml version='1.0'?><testsuites name='all'><testsuite name='s'><testcase name='a' "
        "time='1'/><testcase name='b' time='2'/></testsuite></testsuites>",
        {("a", "is a", "testcase"), ("b", "time", "2")},
    ),
    "schemas.yaml": (
        "openapi: 3.0.3\ncomponents:\n  schemas:\n    Pet: {type: object, owner: {$ref: "
        "'#/components/schemas/Owner'}}\n    Owner: {type: object, size: 3}\n    "
        "Shop: {type: object, size: 4}\n",
        {("Pet", "owner", "Owner"), ("Owner", "size", "3")},
    ),
    "hosts.yaml": (
        "all:\n  children:\n    web: {hosts: {w1: {port: 80}}}\n    db: {hosts: {d1: {port: 90}}}\n"
        "    ely: {children: {web: null, db: null}}\n",
        {("ely", "children", "web"), ("web", "hosts", "w1")},
    ),
    "plays.json": (
        [
            {"at": f"2023-01-1{at}T10:00:00Z", "by": by, "what": what, "seconds": 7}
            for at, (by, what) in enumerate([("Ann", "Sea"), ("Bo", "Net"), ("Ann", "Tide")])
        ],
        {("_:play_1", "what", "Sea"), ("_:play_1", "at", "2023-01-10T10:00:00Z")},
    ),
    "model.xml": (
        "<?xml version='1.0'?><model xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance'>"
        "<part><element id='a' xsi:type='Process'><name xml:lang='en'>Sell</name></element>"
        "<element id='b' xsi:type='x:Component'><name xml:lang='en'>Shop</name>"
        "<price unit='EUR'>5</price><price unit='USD'>6</price></element></part>"
        "<relationships><relationship source='b' target='a' xsi:type='Serving'><name>helps</name>"
        "</relationship></relationships></model>",
        {
            ("Sell", "type", "Process"),
            ("Shop", "type", "Component"),
            ("Shop", "Serving", "Sell"),
            ("Shop serving Sell", "name", "helps"),
            ("Shop", "price unit", "EUR"),
        },
    ),
    "body.xml": (
        "<?xml version='1.0'?><list><body><outline text='Sea'><outline text='Nets' size='3'/>"
        "<outline text='Boats' size='4'/></outline><outline text='Land' size='5'/></body></list>",
        {("Sea", "is a", "outline"), ("Land", "size", "5")},
    ),
    "state.json": (
        {
            "resources": [
                {"type": "vpc", "name": "main", "instances": [{"attributes": {"id": "v-1"}}]},
                {
                    "type": "net",
                    "name": "main",
                    "instances": [{"attributes": {"id": "n-1"}, "dependencies": ["vpc.main"]}],
                },
            ]
        },
        {("n-1", "dependencies", "main"), ("main", "type", "net")},
    ),
    "issues.csv": (
        "Summary,Issue key,Points,Blocks\nShop,T-1,3,T-2\nApp,T-2,5,\nNet,T-3,1,\n",
        {("Shop", "Blocks", "App"), ("App", "is a", "issue")},
    ),
    "orders_export_1.csv": (
        "Name,Total,City,Item,Price\n#1,9,Ely,Cup,4\n#1,,,Pot,5\n#2,11,Ayr,Cup,4\n#2,,,Pan,7\n",
        {("#1", "Total", "9"), ("#2", "City", "Ayr"), ("#1", "is a", "orders")},
    ),
    "work.csv": (
        "id,task,note\n7,Shop,1 May 9:00;ann;Begun\n8,App,2 May 8:30;bo;Done\n",
        {("7", "note", "1 May 9:00;ann;Begun")},
    ),
    "page.json": (
        [
            {"page": 1},
            [{"country": {"id": "NO", "value": "Norway"}, "year": 2020 + at} for at in range(3)],
        ],
        {("2021", "country", "Norway")},
    ),
    "kinds.json": (
        {
            "members": [
                {"Building": {"id": "h", "name": "Hall"}},
                {"Road": {"id": "m", "name": "Mall"}},
            ]
        },
        {("Hall", "type", "Building"), ("Mall", "type", "Road")},
    ),
    "maps.json": (
        {
            "prefix": {"ex": "http://x"},
            "agent": {"ex:ann": {"label": "Ann"}},
            "used": {"_:u1": {"agent": "ex:ann"}},
        },
        {("_:u1", "agent", "Ann")},
    ),
    "places.json": (
        {"elements": [{"type": "node", "id": 7, "tags": {"name": "Uno", "amenity": "cafe"}}]},
        {("Uno", "amenity", "cafe")},
    ),
    "feed.xml": (
        "<?xml version='1.0'?><feed><request verb='List' set='a' from='b'/><list><record><header>"
        "<identifier>o:1</identifier></header><meta><dc><title>On nets</title><creator>Ann"
        "</creator></dc></meta></record><record><header><identifier>o:2</identifier></header><meta><dc>"
        "<title>On boats</title><creator>Bo</creator></dc></meta></record></list></feed>",
        {("On nets", "creator", "Ann"), ("On boats", "creator", "Bo")},
    ),
    "outline.xml": (
        "<?xml version='1.0'?><body><part title='Sea'><part title='Nets'/><part title='Boats'/>"
        "</part><part title='Land'><part title='Carts' url='#c'/></part>"
        "<made id='c' name='Cartwright'/></body>",
        {("Land", "part", "Carts"), ("Carts", "url", "Cartwright")},
    ),
    "noted.tsv": (
        "#gene id\tname\tchromosome\n1\tA1BG\t19\n2\tA2M\t12\n",
        {("A2M", "chromosome", "12")},
    ),
    "tabs.csv": (
        "id\tname\tsize, m\n7\tNets, Ltd\t3\n8\tBoats\t4\n",
        {("Nets, Ltd", "size, m", "3")},
    ),
    "links.csv": (
        'Name,Tasks\nWeb,"Plan (https://x.org/1), Draw (https://x.org/2)"\nApp,<b><c>\n',
        {("Web", "Tasks", "Draw"), ("App", "Tasks", "c")},
    ),
    "values.csv": (
        "entity,attribute,value\nOslo,size,7\nOslo,land,Norway\n",
        {("Oslo", "land", "Norway")},
    ),
    "ends.csv": (
        "relation,shown,x_index,x_id,x_name,x_type,y_index,y_id,y_name,y_type\n"
        "treats,treat,0,D1,Lepirudin,drug,7,M1,thrombosis,disease\n"
        "treats,treat,0,D1,Lepirudin,drug,8,M2,gout,disease\n",
        {
            ("Lepirudin", "treats", "gout"),
            ("gout", "is a", "disease"),
            ("Lepirudin", "id", "D1"),
            ("Lepirudin treats gout", "shown", "treat"),
        },
    ),
    "sep.csv": ("sep=;\nname;city\nAnn;Ely\nBo;Ayr\n", {("Bo", "city", "Ayr")}),
    "together.json": (
        '{\n "id": 1,\n "name": "Ann", "city": "Ely"\n}\n{\n "id": 2,\n "name": "Bo"\n}\n',
        {("Ann", "city", "Ely")},
    ),
    "bundle.json": (
        {
            "entry": [
                {"fullUrl": "urn:uuid:1", "resource": PATIENT},
                {
                    "fullUrl": "urn:uuid:2",
                    "resource": ASTHMA | {"subject": {"reference": "urn:uuid:1"}},
                },
            ]
        },
        {("urn:uuid:2", "subject", "Ann B Berg")},
    ),
    "dated.tsv": (
        "Ann\tmet\tBo\t2014-01-01\nBo\tmet\tCy\t2014-01-02\n",
        {("Bo met Cy", "time", "2014-01-02")},
    ),
}


@pytest.mark.parametrize("name", WEB)
def test_shapes_of_exports(read, name):
    document, facts = WEB[name]
    if name.endswith(".jsonl"):
        document = "".join(json.dumps(record) + "\n" for record in document)
    assert named_facts(read(name, document)) >= facts


def test_what_is_within_others_and_called_as_they_are_is_no_other(read):
    graph = read("cluster.json", WEB["cluster.json"][0])
    of = {graph.entity_ids[head] for head, relation, tail in graph.triples.tolist()
          if (graph.relations[relation], graph.name(tail)) == ("image", "web:1")}  # fmt: skip
    assert len(of) == 2
    assert "Deployment/web" not in of
    teams = read("matches.json", WEB["matches.json"][0])
    assert sum(teams.name(at) == "Rovers" for at in range(teams.num_entities)) == 1
    state = read("state.json", WEB["state.json"][0])
    assert {"vpc.main", "net.main"} <= set(state.entity_ids)


def test_what_says_nothing_and_what_has_no_name_is_told(read):
    heard = []
    text = "<?xml version='1.0'?><all><test name='a'><skipped/></test><test name='b' x='1'/></all>"
    read("tests.xml", text, on_reading=heard.append)
    assert "1 elements that say nothing left out" in heard[0]
    read("plays.json", WEB["plays.json"][0], on_reading=heard.append)
    assert "at tells when, so a record has no name" in heard[1]


def test_benchmarks_name_their_ids_in_files_beside(tmp_path):
    (tmp_path / "train.txt").write_text("/m/1\t/a/b\t/m/2\n/m/3\t/a/b\t/m/1\n")
    (tmp_path / "entity2text.txt").write_text("/m/1\tAnn Lee\n/m/2\tEly\n/m/3\tBo\n")
    (tmp_path / "relation2text.txt").write_text("/a/b\tlives in\n")
    (tmp_path / "read.txt").write_text("Not\tof it\n")
    heard = []
    graph = read_graph(tmp_path, on_reading=heard.append)
    assert ("Ann Lee", "/a/b", "Ely") in named_facts(graph)
    assert graph.relation_names["/a/b"] == ["lives in"]
    assert "left out: read.txt" in heard[0]


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("odd.json", [{"id": "a", "name": "Ann"}, ""], "not JSON"),
        ("odd.jsonld", {"@context": [], "@id": "http://x/1", "name": "Ann"}, "no triples"),
    ],
)
def test_odd_parts_are_told_in_one_line(read, name, text, told):
    with pytest.raises(JaxkgError, match=told) as raised:
        read(name, text)
    assert "\n" not in str(raised.value)
