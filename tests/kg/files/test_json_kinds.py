"""JSON of many kinds, written by hand in the manner of each: what it says is a few facts."""

import json

import pytest
from named_facts import named_facts

from jaxkg.errors import JaxkgError
from jaxkg.kg import read_graph


def spdx():
    return {
        "spdxVersion": "SPDX-2.3",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": "shop",
        "packages": [
            {"SPDXID": "SPDXRef-a", "name": "apple", "versionInfo": "1.0",
             "licenseConcluded": "MIT",
             "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                               "referenceLocator": "pkg:npm/apple@1.0"}]},
            {"SPDXID": "SPDXRef-b", "name": "berry", "versionInfo": "2.0",
             "licenseConcluded": "ISC"},
        ],
        "relationships": [
            {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES",
             "relatedSpdxElement": "SPDXRef-a"},
            {"spdxElementId": "SPDXRef-a", "relatedSpdxElement": "SPDXRef-b",
             "relationshipType": "DEPENDS_ON", "comment": "for juice"},
        ],
    }  # fmt: skip


def openalex():
    def work(n, position):
        ann = {
            "id": "https://openalex.org/A1",
            "display_name": "Ann Lee",
            "orcid": "https://orcid.org/0000",
        }
        return {
            "id": f"https://openalex.org/W{n}",
            "doi": f"https://doi.org/10.1/{n}",
            "display_name": f"Nets {n}",
            "publication_year": 2019 + n,
            "authorships": [{
                "author_position": position,
                "author": ann,
                "institutions": [{"id": "https://openalex.org/I1", "display_name": "Ely College"}],
            }],
            "primary_location": {"is_oa": True, "source": {"id": "https://openalex.org/S1",
                                                          "display_name": "Net Letters"}},
            "concepts": [{"id": "https://openalex.org/C1", "display_name": "Fishing",
                          "score": 0.5 + n / 10}],
            "referenced_works": ["https://openalex.org/W1"] if n == 2 else [],
        }  # fmt: skip

    return {"meta": {"count": 2}, "results": [work(1, "first"), work(2, "last")], "group_by": []}


def crossref():
    return {
        "status": "ok", "message-type": "work-list", "message-version": "1.0.0",
        "message": {"total-results": 1, "items": [{
            "DOI": "10.1/x", "title": ["On Nets"], "publisher": "Net Press",
            "issued": {"date-parts": [[2020, 3, 1]]},
            "author": [{"given": "Ann", "family": "Lee", "sequence": "first", "affiliation": []}],
        }]},
    }  # fmt: skip


def orcid():
    return {
        "orcid-identifier": {"uri": "https://orcid.org/0000-1", "path": "0000-1"},
        "person": {"name": {"given-names": {"value": "Ann"}, "family-name": {"value": "Lee"}}},
        "activities-summary": {"employments": {"affiliation-group": [
            {"summaries": [{"employment-summary": {
                "put-code": 1, "role-title": "Reader",
                "start-date": {"year": {"value": "2010"}},
                "organization": {"name": "Ely College", "address": {"city": "Ely"}},
            }}]},
        ]}},
    }  # fmt: skip


def musicbrainz():
    return {
        "created": "2024-01-01", "count": 1, "offset": 0,
        "artists": [{
            "id": "a-1", "name": "The Nets", "type": "Group", "country": "GB",
            "area": {"id": "ar-1", "name": "Ely", "type": "City"},
            "life-span": {"begin": "1999", "ended": None},
            "tags": [{"count": 3, "name": "folk"}, {"count": 1, "name": "sea"}],
        }],
    }  # fmt: skip


def fixtures():
    return [
        {"model": "zoo.keeper", "pk": 1, "fields": {"name": "Ann", "boss": 2}},
        {"model": "zoo.keeper", "pk": 2, "fields": {"name": "Bo", "boss": None}},
        {"model": "zoo.animal", "pk": 1, "fields": {"name": "Leo", "keeper": 2, "model": "lion"}},
    ]


def geojson():
    return {
        "type": "FeatureCollection", "name": "towns",
        "features": [
            {"type": "Feature", "properties": {"NAME": "Ely", "population": 20000},
             "geometry": {"type": "Point", "coordinates": [0.26, 52.4]}},
            {"type": "Feature", "properties": {"NAME": "Ulm", "population": 126000},
             "geometry": {"type": "Point", "coordinates": [9.99, 48.4, 478]}},
        ],
    }  # fmt: skip


def npm_lock():
    return {
        "name": "shop", "version": "1.0.0", "lockfileVersion": 3,
        "packages": {
            "": {"name": "shop", "version": "1.0.0", "dependencies": {"apple": "^1.0.0"}},
            "node_modules/apple": {"version": "1.2.0", "license": "MIT",
                                   "dependencies": {"berry": "~2.0.0", "@sea/net": "1.x"}},
            "node_modules/berry": {"version": "2.0.1", "license": "ISC"},
        },
    }  # fmt: skip


def npm_list():
    return {
        "version": "1.0.0", "name": "shop",
        "dependencies": {
            "apple": {"version": "1.2.0", "dependencies": {"berry": {"version": "2.0.1"}}},
            "cherry": {"version": "3.0.0"},
        },
    }  # fmt: skip


def apoc_document():
    return {
        "nodes": [
            {"type": "node", "id": "0", "labels": ["Movie"], "properties": {"title": "Gull"}},
            {"type": "node", "id": "1", "labels": ["Person"], "properties": {"name": "Ann"}},
        ],
        "rels": [{"id": "0", "type": "relationship", "label": "ACTED_IN",
                  "properties": {"roles": ["Captain"]},
                  "start": {"id": "1", "labels": ["Person"]},
                  "end": {"id": "0", "labels": ["Movie"]}}],
    }  # fmt: skip


def apoc_lines():
    document = apoc_document()
    return [*document["nodes"], *document["rels"]]


def cytoscape():
    return {"data": {"name": "net"}, "elements": {
        "nodes": [{"data": {"id": "n1", "name": "Ann"}}, {"data": {"id": "n2", "name": "Bo"}}],
        "edges": [{"data": {"id": "e1", "source": "n1", "target": "n2", "interaction": "knows",
                            "weight": 2}}],
    }}  # fmt: skip


def node_link():
    return {"directed": True, "multigraph": False, "graph": {},
            "nodes": [{"id": "Ann", "club": "Rovers"}, {"id": "Bo", "club": "United"}],
            "links": [{"source": "Ann", "target": "Bo", "relation": "knows",
                       "since": 1999}]}  # fmt: skip


def graphql():
    return {"data": {"allFilms": {"pageInfo": {"hasNextPage": False}, "totalCount": 1, "edges": [
        {"node": {"id": "f1", "title": "Gull", "director": {"name": "Ann"},
                  "characterConnection": {"edges": [{"node": {"id": "c1", "name": "Captain"}}]}}},
    ]}}}  # fmt: skip


def json_api():
    return {"data": [
        {"type": "articles", "id": "a1", "attributes": {"title": "Nets"},
         "relationships": {"author": {"data": {"type": "people", "id": "p9"}}}},
    ], "included": [{"type": "people", "id": "p9", "attributes": {"name": "Ann"}}]}  # fmt: skip


KINDS = {
    spdx: {
        ("apple", "DEPENDS_ON", "berry"), ("shop", "DESCRIBES", "apple"),
        ("apple depends on berry", "comment", "for juice"), ("berry", "versionInfo", "2.0"),
        ("berry", "licenseConcluded", "ISC"),
        ("apple", "external refs reference locator", "pkg:npm/apple@1.0"),
    },
    openalex: {
        ("Nets 1", "author", "Ann Lee"), ("Nets 1 author Ann Lee", "author_position", "first"),
        ("Nets 2 author Ann Lee", "author_position", "last"),
        ("Nets 1 author Ann Lee", "institutions", "Ely College"),
        ("Nets 2", "concepts", "Fishing"), ("Nets 2 concepts Fishing", "score", "0.7"),
        ("Nets 2", "referenced_works", "Nets 1"), ("Nets 1", "publication_year", "2020"),
        ("Nets 1", "primary location source", "Net Letters"),
    },
    crossref: {
        ("On Nets", "publisher", "Net Press"), ("On Nets", "issued", "2020-03-01"),
        ("On Nets", "author", "Ann Lee"),
    },
    orcid: {("Ely College", "address city", "Ely")},
    musicbrainz: {
        ("The Nets", "area", "Ely"), ("The Nets", "country", "GB"), ("The Nets", "tags", "folk"),
        ("The Nets", "life span begin", "1999"), ("The Nets", "type", "Group"),
    },
    fixtures: {
        ("Ann", "boss", "Bo"), ("Leo", "keeper", "Bo"), ("Leo", "model", "lion"),
        ("Leo", "type", "animal"), ("Ann", "type", "keeper"),
    },
    geojson: {
        ("Ely", "population", "20000"), ("Ulm", "geometry coordinates", "9.99 48.4 478"),
        ("Ulm", "geometry altitude or depth", "478"),
    },
    npm_lock: {
        ("apple", "version", "1.2.0"), ("shop", "dependencies", "apple"),
        ("apple", "dependencies", "berry"), ("apple", "dependencies", "@sea/net"),
        ("apple dependencies berry", "value", "~2.0.0"), ("berry", "license", "ISC"),
    },
    npm_list: {
        ("shop", "dependencies", "apple"), ("apple", "dependencies", "berry"),
        ("berry", "version", "2.0.1"), ("shop", "dependencies", "cherry"),
    },
    apoc_document: {
        ("Ann", "ACTED_IN", "Gull"), ("Ann acted in Gull", "roles", "Captain"),
        ("Ann", "type", "Person"), ("Gull", "type", "Movie"),
    },
    cytoscape: {("Ann", "knows", "Bo"), ("Ann knows Bo", "weight", "2")},
    node_link: {
        ("Ann", "knows", "Bo"), ("Ann knows Bo", "since", "1999"), ("Bo", "club", "United"),
    },
    graphql: {
        ("Gull", "director", "Ann"), ("Gull", "characterConnection", "Captain"),
    },
    json_api: {("Nets", "author", "Ann"), ("Nets", "type", "articles")},
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("indent", [None, 1])
def test_what_a_kind_says(tmp_path, kind, indent):
    path = tmp_path / "kb.json"
    path.write_text(json.dumps(kind(), indent=indent))
    found = named_facts(read_graph(path))
    assert found >= KINDS[kind]
    assert not {(h, r, t) for h, r, t in found if r in ("source", "target", "start", "end")}


def test_lines_of_nodes_and_relations(tmp_path):
    path = tmp_path / "all.json"
    path.write_text("\n".join(map(json.dumps, apoc_lines())))
    assert named_facts(read_graph(path)) >= KINDS[apoc_document]


def test_records_are_called_by_their_titles_where_numbers_or_years_stand_first(tmp_path):
    films = [("2013", "Rush"), ("2013", "Gone"), ("2014", "Fury")]
    twice = [*films, ("2013", "Ida"), ("2014", "Her"), ("2013", "Oz"), ("1960", "Oz")]
    for some in (films, twice):
        records = [{"year": int(year), "title": title} for year, title in some]
        path = tmp_path / f"films{len(some)}.json"
        path.write_text(json.dumps(records))
        kg = read_graph(path)
        said = sorted((kg.name(t), kg.name(h)) for h, _, t in kg.triples.tolist())
        assert said == sorted(some)
    path = tmp_path / "show.json"
    episodes = [{"number": n, "title": title} for n, title in enumerate(("Salt", "Bees"), 1)]
    path.write_text(json.dumps({"show": "Notes", "episodes": episodes}))
    kg = read_graph(path)
    assert {kg.name(kg.entity(f"episode {n}")) for n in (1, 2)} == {"Salt", "Bees"}


def test_records_of_several_types_are_what_their_list_is_of_too(read):
    servers = [{"name": f"s{n}", "type": ("vm", "metal")[n % 2], "ram": n} for n in range(4)]
    graph = read(json.dumps({"site": "Ely", "servers": servers}), "cmdb.json")
    facts = {graph.triple(row) for row in range(graph.num_triples)}
    assert {("s1", "is a", "servers"), ("s1", "type", "metal"), ("s2", "type", "vm")} <= facts


def test_many_records_in_parts_are_things_called_by_the_title_of_a_part(read):
    def trial(n):
        contacts = [{"id": f"c{n}", "name": f"Dr {n}"}, {"id": f"d{n}", "name": f"Mr {n}"}]
        about = {"about": {"title": f"Trial of {n}", "ok": True}, "seen": f"2020-01-{n:02d}"}
        sponsor = {"id": f"s{n % 2}", "organisation": f"Org {n % 2}"}
        return {"study": about, "contact": contacts, "sponsor": sponsor}

    heard = []
    trials = {"total": 9, "trials": [trial(n) for n in range(1, 10)]}
    facts = named_facts(read(json.dumps(trials), "all.json", on_reading=heard.append))
    assert facts >= {
        ("Trial of 3", "contact", "Dr 3"), ("Trial of 3", "contact", "Mr 3"),
        ("Trial of 3", "seen", "2020-01-03"), ("Trial of 3", "sponsor", "s1"),
    }  # fmt: skip
    assert sum(relation == "contact" for _, relation, _ in facts) == 18
    assert heard[0].count("'trials' read as a table") == 1


def test_runs_that_hold_results_are_no_things(read):
    runs = [
        {"tool": {"kind": "lint"}, "results": [{"id": f"{n}{at}", "rule": "E1"} for at in "ab"]}
        for n in range(3)
    ]
    facts = named_facts(read(json.dumps({"runs": runs}), "log.json"))
    assert {head for head, relation, _ in facts if relation == "rule"} == {
        f"{n}{at}" for n in range(3) for at in "ab"
    }


def test_a_title_that_feeds_give_twice_is_one(read):
    episode = "<item><title>Eels</title><p:title>Eels</p:title><n>{}</n></item>"
    text = f"<rss><channel><name>Hedge</name>{episode.format(1)}{episode.format(2)}</channel></rss>"
    text = text.replace("Eels", "Owls", 2).replace("<rss>", '<rss xmlns:p="http://x.org/p">')
    facts = named_facts(read(text, "feed.xml"))
    assert {("Owls", "n", "1"), ("Eels", "n", "2")} <= facts


def test_a_user_within_a_record_is_called_by_the_display_name(read):
    def user(name):
        return {"self": f"https://x.org/{name}", "pictures": {"48": "p"}, "displayName": name}

    issues = [
        {"id": str(n), "key": f"K-{n}", "assignee": user(who), "reporter": user("Cy")}
        for n, who in enumerate(("Ann", "Bo", "Ann"))
    ]
    facts = named_facts(read(json.dumps({"issues": issues}), "issues.json"))
    assert ("Ann", "self", "https://x.org/Ann") in facts
    assert sum(fact[1:] == ("assignee", "Ann") for fact in facts) == 2
    assert sum(fact[1:] == ("reporter", "Cy") for fact in facts) == 3


def test_operations_of_a_web_service(read):
    cat = {"name": "cat", "in": "path", "required": True}
    get = {"summary": "Show a cat", "parameters": [{"name": "lang", "in": "query"}]}
    get |= {"operationId": "showCat", "responses": {"404": {"$ref": "#/components/responses/Gone"}}}
    delete = {"summary": "Let a cat go", "security": [{"oauth": ["cats:write"]}], "tags": ["cats"]}
    service = {
        "openapi": "3.0.3",
        "info": {"title": "Cattery"},
        "security": [{"key": []}],
        "paths": {"/cats/{cat}": {"parameters": [cat], "get": get, "delete": delete}},
        "components": {"responses": {"Gone": {"description": "No such cat"}}},
    }
    facts = named_facts(read(json.dumps(service), "service.json"))
    assert facts >= {
        ("Show a cat", "method", "GET"), ("Show a cat", "path", "/cats/{cat}"),
        ("Show a cat", "parameters", "cat"), ("Show a cat", "parameters", "lang"),
        ("Show a cat", "security", "key"), ("Let a cat go", "security", "oauth"),
        ("Let a cat go", "scopes", "cats:write"), ("Let a cat go", "parameters", "cat"),
        ("Let a cat go", "tags", "cats"), ("Show a cat", "responses description", "No such cat"),
    }  # fmt: skip
    assert ("Let a cat go", "security", "key") not in facts


def test_versions_of_many_packages_are_said_of_what_is_needed(read):
    packages = [
        {"name": f"p{n}", "dependencies": {f"p{n + 1}": ">=1.0", f"p{n + 2}": "*"}}
        for n in range(12)
    ]
    facts = named_facts(read(json.dumps({"packages": packages}), "lock.json"))
    assert {("p3", "dependencies", "p4"), ("p3", "dependencies", "p5")} <= facts


def test_an_empty_key_is_refused_and_no_summary(read):
    records = [{"id": f"t{n}", "": "new", "n": n} for n in range(3)]
    with pytest.raises(JaxkgError, match="a key is blank"):
        read(json.dumps(records), "t.json")
