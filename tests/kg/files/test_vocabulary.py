"""What statements of OWL, SKOS, RDF and Wikibase mean."""

import pytest
from named_facts import named_facts

from jaxkg.errors import JaxkgError
from jaxkg.kg import read_graph

pytest.importorskip("pyoxigraph")

START = """@prefix : <http://x.org/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix wikibase: <http://wikiba.se/ontology#> .
"""
XML = """<?xml version="1.0"?>
<!DOCTYPE rdf:RDF [{}]>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:x="http://x.org/">
<rdf:Description rdf:about="http://x.org/a"><x:r>{}</x:r></rdf:Description></rdf:RDF>
"""


def test_restrictions_are_edges(read):
    heard = []
    text = """:Margherita rdfs:subClassOf :Pizza ,
        [ a owl:Restriction ; owl:onProperty :hasTopping ; owl:someValuesFrom :Tomato ] ,
        [ a owl:Restriction ; owl:onProperty :from ; owl:hasValue :Italy ] ,
        [ a owl:Restriction ; owl:onProperty :hasTopping ; owl:allValuesFrom [
            a owl:Class ; owl:unionOf ( :Tomato :Cheese ) ] ] .
    :Spicy owl:equivalentClass [ a owl:Class ; owl:intersectionOf ( :Pizza
        [ a owl:Restriction ; owl:onProperty :hasTopping ; owl:someValuesFrom :Chili ] ) ] ."""
    graph = read(START + text, on_reading=heard.append)
    assert named_facts(graph) == {
        ("Margherita", "subClassOf", "Pizza"), ("Margherita", "hasTopping", "Tomato"),
        ("Margherita", "from", "Italy"), ("Spicy", "subClassOf", "Pizza"),
        ("Spicy", "hasTopping", "Chili"),
    }  # fmt: skip
    assert not [entity for entity in graph.entity_ids if entity.startswith("_:")]
    assert "1 restrictions and classes that no fact says left out" in heard[0]


def test_lists_are_their_members_and_circles_end(read):
    text = ":crew :holds ( :ann :bo ) . :odd :holds _:l . _:l rdf:first :cy ; rdf:rest _:l ."
    assert named_facts(read(START + text)) == {
        ("crew", "holds", "ann"), ("crew", "holds", "bo"), ("odd", "holds", "cy"),
    }  # fmt: skip


def test_what_is_the_same_is_one_thing(read):
    heard = []
    text = """:a1 owl:sameAs :a2 . :a3 skos:exactMatch :a2 . :a2 rdfs:label "Ann" .
    :a1 :sails :gull . :a2 :sails :tern . :a3 :sails :gull ."""
    graph = read(START + text, on_reading=heard.append)
    assert named_facts(graph) == {("Ann", "sails", "gull"), ("Ann", "sails", "tern")}
    assert graph.num_triples == 2
    assert set(graph.aliases[graph.entity("http://x.org/a2")]) == {"a1", "a3"}
    assert "2 terms taken for others that are the same" in heard[0]


def test_reified_statements_are_statements(read):
    text = """:ann :worksAt :acme . :ann rdfs:label "Ann" .
    :s a rdf:Statement ; rdf:subject :ann ; rdf:predicate :worksAt ; rdf:object :acme ;
        :since 2019 ."""
    graph = read(START + text)
    assert ("Ann works at acme", "since", "2019") in named_facts(graph)
    assert ("Ann works at acme", "subject", "Ann") in named_facts(graph)


def test_labels_of_direct_claims(read):
    text = ':P36 wikibase:directClaim :p36 ; rdfs:label "capital"@en . :Q183 :p36 :Q64 .'
    graph = read(START + text)
    assert graph.relation_labels[graph.relation_code("p36")] == "capital"


def test_names_are_in_the_language_that_is_asked_for(read):
    text = ':p1 skos:prefLabel "Iron Age"@en, "rautakausi"@fi . :p1 :r :Four .'
    text += ':Four rdfs:label "Quatro"@pt .'
    graph = read(START + text)
    assert graph.name(graph.entity("http://x.org/p1")) == "Iron Age"
    assert graph.name(graph.entity("http://x.org/Four")) == "Four"
    finnish = read(START + text, language="fi")
    assert finnish.name(finnish.entity("http://x.org/p1")) == "rautakausi"
    assert "Iron Age" in finnish.aliases[finnish.entity("http://x.org/p1")]


def test_deprecated_terms_are_told(read):
    heard = []
    read(START + ":a owl:deprecated true ; :r :b .", on_reading=heard.append)
    assert "1 deprecated terms are among the things" in heard[0]


def test_a_folder_of_files_is_one_graph(folder):
    files = {
        "words.ttl": START + ':sails rdfs:label "sails on" . :gull rdfs:label "Gull" .',
        "facts.ttl": START + ":ann :sails :gull ; :home [ :in :ely ] .",
        "more.nt": "_:b0 <http://x.org/in> <http://x.org/ulm> .\n",
        "ages.csv": "name,age\nBo,31\nCy,29\n",
    }
    graph = folder(files)
    facts = named_facts(graph)
    assert {("ann", "sails", "Gull"), ("Bo", "age", "31")} <= facts
    assert graph.relation_labels[graph.relation_code("sails")] == "sails on"
    assert len({head for head, relation, _ in graph.triples.tolist()
                if graph.relations[relation] == "in"}) == 2  # fmt: skip


@pytest.mark.parametrize(
    ("entities", "why"),
    [
        ('<!ENTITY a "ha"><!ENTITY b "&a;&a;">', "'b' by others"),
        ('<!ENTITY a SYSTEM "file:///etc/passwd">', "'a' that lies elsewhere, and nothing is"),
        (f'<!ENTITY a "{"x" * 1001}">', "'a' of more than 1,000 characters"),
        ("".join(f'<!ENTITY a{at} "x">' for at in range(1001)), "one of more than 1,000"),
    ],
)
def test_entities_that_can_explode_are_refused(read, entities, why):
    with pytest.raises(JaxkgError, match=f"kb.rdf:2: defines the entity .*{why}"):
        read(XML.format(entities, "&a;"), "kb.rdf")


def test_entities_of_namespaces_are_read(read):
    assert named_facts(read(XML.format('<!ENTITY a "Ann">', "&a; Lee"), "kb.owl")) == {
        ("a", "r", "Ann Lee")
    }


def test_codes_of_properties_are_called_as_the_entities_of_the_same_code(read):
    base = "http://w.org"
    text = (
        f"<{base}/entity/Q1> <{base}/prop/direct/P6> <{base}/entity/Q2> .\n"
        f"<{base}/entity/Q1> <{base}/prop/direct/name> <{base}/entity/Q2> .\n"
        + "".join(
            f'<{base}/entity/{code}> <http://www.w3.org/2000/01/rdf-schema#label> "{name}"@en .\n'
            for code, name in (("P6", "found by"), ("Q1", "Io"), ("Q2", "Galileo"), ("name", "X"))
        )
    )
    kg = read(text, "w.nt")
    assert dict(zip(kg.relations, kg.relation_labels)) == {"P6": "found by", "name": "name"}


def test_names_of_any_vocabulary_and_days_at_midnight(read):
    kg = read(
        START + '@prefix gr: <http://purl.org/goodrelations/v1#> .\n'
        ':o gr:legalName "Ormtind" ; :since "2020-05-01T00:00:00Z" ; :of :p . :p rdfs:label "P" ;'
        ' gr:legalName "Q" .'
    )  # fmt: skip
    assert {("Ormtind", "since", "2020-05-01"), ("Ormtind", "of", "P")} <= named_facts(kg)


def test_what_is_said_of_properties_and_vocabularies_is_no_fact(read):
    heard = []
    text = """<http://x.org/> a owl:Ontology ; rdfs:comment "about boats" .
    :sails a owl:ObjectProperty , owl:FunctionalProperty ; rdfs:label "sails on" ;
        rdfs:domain :Boat ; rdfs:range :Sea .
    :Boat a owl:Class ; rdfs:subClassOf :Vehicle . :ann a :Boat ; :sails :north ."""
    graph = read(START + text, on_reading=heard.append)
    assert named_facts(graph) == {
        ("ann", "type", "Boat"), ("ann", "sails", "north"), ("Boat", "type", "Class"),
        ("Boat", "subClassOf", "Vehicle"),
    }  # fmt: skip
    assert sorted(graph.relations) == ["sails", "subClassOf", "type"]
    assert graph.relation_labels[graph.relation_code("sails")] == "sails on"
    assert "6 facts about properties and vocabularies left out" in heard[0]
    alone = text.split(":Boat a")[0]
    assert ("sails on", "domain", "Boat") in named_facts(read(START + alone))


def test_a_property_that_is_a_thing_too_keeps_its_facts(read):
    text = """:worksFor a owl:ObjectProperty , :Concept ; :author :ann .
    <http://x.org/data> a owl:Ontology , :Dataset ; :licence :free .
    :knows a owl:ObjectProperty ; rdfs:domain :Person . :ann a :Person ; :knows :bo ."""
    facts = named_facts(read(START + text))
    assert {("worksFor", "author", "ann"), ("data", "licence", "free")} <= facts
    assert ("knows", "domain", "Person") not in facts
    terms = """:p a owl:ObjectProperty ; rdfs:domain :E . :E a owl:Class . :D a owl:Class ."""
    assert ("p", "domain", "E") in named_facts(read(START + terms)), "a vocabulary alone"


def test_properties_that_are_the_same_are_one_and_no_thing(read):
    heard = []
    text = """:a owl:equivalentProperty :b . :b a owl:ObjectProperty ; rdfs:domain :C ;
        owl:deprecated true . :x :b :y . :y :b :z ."""
    facts = named_facts(read(START + text, on_reading=heard.append))
    assert {relation for _, relation, _ in facts} == {"b"}
    assert "deprecated" not in heard[0]


def test_leaving_properties_out_moves_no_table_beside_them(tmp_path):
    properties = "".join(f":p{n} a owl:ObjectProperty ; rdfs:domain :C .\n" for n in range(6))
    (tmp_path / "a.ttl").write_text(START + ":C a owl:Class .\n" + properties)
    (tmp_path / "plot.csv").write_text("id,crop,area\n1,rye,5\n2,oats,7\n3,rye,9\n")
    (tmp_path / "visit.csv").write_text("id,plot_id,who\n11,1,Ann\n12,2,Bo\n13,3,Ann\n")
    graph = read_graph(tmp_path)
    ends = {tail for _, relation, tail in named_facts(graph) if relation.startswith("plot")}
    assert ends == {"plot 1", "plot 2", "plot 3"}
