import gzip

import pytest

from jaxkg.errors import JaxkgError

pytest.importorskip("pyoxigraph")

FILMS = """{"@context": {"@vocab": "http://x.org/", "label": "http://www.w3.org/2000/01/rdf-schema#label",
 "by": {"@type": "@id"}},
 "@graph": [{"@id": "alien", "label": "Alien", "by": "http://y.org/scott", "year": 1979},
            {"@id": "http://y.org/scott", "label": {"@value": "Ridley Scott", "@language": "en"},
             "lives": {"label": "London"}}]}"""  # fmt: skip
EXPECTED = {("Alien", "by", "Ridley Scott"), ("Alien", "year", "1979"),
            ("Ridley Scott", "lives", "London")}  # fmt: skip


def named(graph):
    rows = graph.triples.tolist()
    return {(graph.name(h), graph.relations[r], graph.name(t)) for h, r, t in rows}


@pytest.mark.parametrize("name", ["kb.jsonld", "kb.json", "kb.json.gz"])
def test_json_ld_by_its_name_or_by_its_keys(read, name):
    data = FILMS.encode()
    graph = read(gzip.compress(data) if name.endswith("gz") else data, name)
    assert named(graph) == EXPECTED
    assert graph.name(graph.entity("_:#1")) == "London"


def test_other_json_stays_json_lines(read):
    graph = read('[{"head": "a", "relation": "r", "tail": "@graph"}]', "kb.json")
    assert graph.triple(0) == ("a", "r", "@graph")


def test_names_of_schema_org_are_display_names(read):
    text = """{"@context": {"@vocab": "https://schema.org/"},
    "@type": "Person", "name": "Anna", "alternateName": "A",
    "worksFor": {"@type": "Organization", "name": "Acme"}}"""
    assert ("Anna", "worksFor", "Acme") in named(read(text, "kb.jsonld"))
    text = """@prefix f: <http://xmlns.com/foaf/0.1/> .
    @prefix r: <http://www.w3.org/2000/01/rdf-schema#> .
    <a> f:name "Anna", "Ann"@en ; f:knows <b> . <b> f:name "B"@en ; r:label "Bob"@de ."""
    graph = read(text)
    assert named(graph) == {("Ann", "knows", "Bob")}
    assert dict(graph.aliases) == {0: ("Anna",), 1: ("B",)}


@pytest.mark.parametrize(
    "context", ['"https://example.org/c"', '["https://example.org/c", {"a": "http://x/a"}]',
                '{"@import": "https://example.org/c"}'],
)  # fmt: skip
def test_a_context_that_lies_elsewhere(read, context):
    heard = []
    text = f"""{{"@context": {context}, "@graph": [
        {{"id": "http://x/1", "_label": "A", "type": "Work", "madeBy": "http://x/2"}},
        {{"id": "http://x/2", "_label": "Bo"}}]}}"""
    graph = read(text, "kb.jsonld", on_reading=heard.append)
    assert {("A", "madeBy", "Bo"), ("A", "type", "Work")} <= named(graph)
    assert "its @context is https://example.org/c, which is not known, and nothing is" in heard[0]


@pytest.mark.parametrize(
    ("context", "said", "facts"),
    [
        ("https://schema.org", '"name": "A", "knows": {"name": "Bo"}', {("A", "knows", "Bo")}),
        ("http://schema.org/", '"name": "A", "jobTitle": "cook"', {("A", "jobTitle", "cook")}),
        (
            "https://www.w3.org/ns/activitystreams",
            '"type": "Note", "actor": "http://x/ann", "content": "hi"',
            {("1", "type", "Note"), ("1", "actor", "ann"), ("1", "content", "hi")},
        ),
        (
            "http://www.w3.org/2004/02/skos/core",
            '"prefLabel": "red", "broader": "http://x/color"',
            {("red", "broader", "color")},
        ),
        (
            "http://xmlns.com/foaf/0.1/",
            '"name": "Anna", "knows": "http://x/bo"',
            {("Anna", "knows", "bo")},
        ),
        (
            "https://www.w3.org/ns/dcat.jsonld",
            '"title": "Trees", "distribution": {"downloadURL": "http://x/t.csv"}',
            {("Trees", "distribution", "_:#1"), ("_:#1", "downloadURL", "t.csv")},
        ),
    ],
)  # fmt: skip
def test_contexts_that_are_known_are_not_fetched(read, context, said, facts):
    text = f'{{"@context": "{context}", "@id": "http://x/1", {said}}}'
    assert named(read(text, "kb.jsonld")) == facts


def test_a_web_page(read):
    page = """<!doctype html><html><head>
    <script type="application/ld+json">
    {"@context": "https://schema.org", "@type": "Recipe", "name": "Soup",
     "author": {"@type": "Person", "name": "Ann"}}
    </script><script>alert("no JSON")</script>
    <script type='application/ld+json'>{"@context": {"@vocab": "http://schema.org/"},
     "name": "Bread", "author": {"name": "Bo"}}</script></head></html>"""
    facts = named(read(page, "page.html"))
    assert {("Soup", "author", "Ann"), ("Bread", "author", "Bo")} <= facts
    with pytest.raises(JaxkgError, match="script 1: not JSON"):
        read(page.replace('"name": "Soup",', '"name": "Soup'), "page.html")


def test_keys_that_no_context_maps_are_told(read):
    text = """{"@context": {"r": "http://x/r",
    "l": {"@id": "http://x/l", "@container": "@language"}},
    "@id": "http://x/1", "r": {"@id": "http://x/2", "x": 1}, "l": {"en": "L"}, "y": [{"z": 0}]}"""
    heard = []
    assert read(text, "kb.jsonld", on_reading=heard.append).num_triples == 2
    assert "keys that its @context does not map left out ('x', 'y', 'z'); 2 facts" in heard[0]
    with pytest.raises(JaxkgError, match=r"no triples in it \(read as jsonld; keys that its @cont"):
        read('{"@id": "http://x/1", "x": 1}', "kb.jsonld")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"@context": ', "kb.jsonld: not JSON"),
        (FILMS * 2, "kb.jsonld: not JSON"),
        ('{"@id": ' + "[" * 90 + "]" * 90 + "}", "nested deeper than 64"),
        ('{"@context": {"@vocab": "http://x/"}, "@id": 5, "a": 1}', "kb.jsonld: not jsonld"),
        (b'{"@id": "\xff"}', "not UTF-8"),
    ],
)
def test_malformed_json_ld(read, text, told):
    with pytest.raises(JaxkgError, match=told):
        read(text, "kb.jsonld")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("kb.nq", "<http://a/x> <http://a/p> <http://a/y> <http://g/1> .\n"
                  "<http://a/x> <http://a/p> <http://a/y> <http://g/2> .\n"
                  '<http://a/x> <http://a/q> "v" .\n'),
        ("kb.trig", "@prefix : <http://a/> .\n<http://g/1> { :x :p :y }\n"
                    '<http://g/2> { :x :p :y }\n:x :q "v" .\n'),
    ],
)  # fmt: skip
def test_named_graphs_are_read_as_one(read, name, text):
    heard = []
    graph = read(text, name, on_reading=heard.append, provenance=True)
    assert named(graph) == {("x", "p", "y"), ("x", "q", "v")}
    assert (graph.duplicates, graph.source(0)) == (1, name)
    assert heard[0].endswith("its 2 named graphs read as one; 2 facts")
