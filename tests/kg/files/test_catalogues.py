"""Files of registries, libraries and statistics: what each kind says is a few facts."""

import json

import pytest
from named_facts import named_facts

from jaxkg.errors import JaxkgError
from jaxkg.kg import read_graph

XML = '<?xml version="1.0"?>'
BOOKS = (
    XML + "<booksCollection><book version='3'><titleInfo><title>Moby</title><subTitle>a "
    "whale</subTitle></titleInfo><name><namePart>Melville</namePart><namePart type='date'>1819"
    "</namePart></name><subject authority='lc'><topic>Whales</topic></subject>"
    "<subject authority='lc'><topic>Sea</topic></subject><identifier type='isbn'>97-1</identifier>"
    "<note kind='own'>Seen <i>in situ</i> twice.</note></book><book version='3'>"
    "<titleInfo><title>Emma</title></titleInfo>"
    "<identifier type='lccn'>400</identifier><issued><Year>1815</Year><Month>Dec</Month></issued>"
    "</book></booksCollection>"
)
PROTEINS = (
    XML + "<u><entry><name>P53_HUMAN</name><protein><recommendedName><fullName>p53</fullName>"
    "</recommendedName><alternativeName><fullName>NY-CO-13</fullName></alternativeName>"
    "<alternativeName><fullName>TP</fullName></alternativeName></protein><comment type='function'>"
    "<text evidence='1'>Acts</text></comment><comment type='site'><text>Nucleus</text></comment>"
    "<ref type='GO' id='GO:1'><property type='term' value='binding'/></ref></entry>"
    "<entry><name>INS_HUMAN</name><comment type='site'><text>Blood</text></comment></entry></u>"
)
LINES = [
    {"id": "p1", "caption": "Ann Berg", "schema": "Person", "properties": {"name": ["Ann Berg"]}},
    {"id": "v1", "caption": "Gull", "schema": "Vessel", "properties": {
        "name": ["Gull"], "type": ["Tanker"], "owner": ["p1"]}},
]  # fmt: skip
DATASETS = [
    {"id": f"u{at}", "name": name, "title": title, "extras": [
        {"key": "frequency", "value": "daily"}, {"key": "area", "value": "Ely"}]}
    for at, (name, title) in enumerate({"bus-stops": "Bus stops", "trees": "Tree register"}.items())
]  # fmt: skip
NODES = [
    {"kind": "Gene", "identifier": 7157, "name": "TP53"},
    {"kind": "Drug", "identifier": "DB1", "name": "Aspirin"},
]
EDGES = [
    {"source_id": ["Drug", "DB1"], "target_id": ["Gene", 7157], "kind": "binds", "data": {"nm": 3}}
]
KINDS = {
    "books.xml": (
        BOOKS,
        {
            ("Moby", "is a", "book"), ("Moby", "title info sub title", "a whale"),
            ("Moby", "name part", "Melville"), ("Moby", "name namePart date", "1819"),
            ("Moby", "subject topic", "Whales"), ("Moby", "subject topic", "Sea"),
            ("Moby", "identifier isbn", "97-1"), ("Emma", "identifier lccn", "400"),
            ("Moby", "note", "Seen in situ twice."), ("Emma", "issued", "1815-12"),
        },
    ),
    "proteins.xml": (
        PROTEINS,
        {
            ("P53_HUMAN", "protein recommended name", "p53"),
            ("P53_HUMAN", "protein alternative name", "NY-CO-13"),
            ("P53_HUMAN", "comment function", "Acts"), ("P53_HUMAN", "comment site", "Nucleus"),
            ("INS_HUMAN", "comment site", "Blood"), ("GO:1", "term", "binding"),
        },
    ),
    "entities.json": (
        LINES,
        {("Ann Berg", "type", "Person"), ("Gull", "type", "Vessel"), ("Gull", "own type", "Tanker"),
         ("Gull", "owner", "Ann Berg")},
    ),
    "packages.json": (
        {"success": True, "result": {"count": 2, "results": DATASETS}},
        {("Bus stops", "name", "bus-stops"), ("Tree register", "extras frequency", "daily")},
    ),
    "hetero.json": (
        {"nodes": NODES, "edges": EDGES},
        {("Aspirin", "binds", "TP53"), ("Aspirin binds TP53", "nm", "3"),
         ("TP53", "type", "Gene")},
    ),
    "notes.hpoa": (
        "#description: of diseases [2: OMIM; 3: ORPHA]\n#version: 2024\n"
        "id\tname\tterm\taspect\nOMIM:1\tMarfan\tHP:1\tP\nOMIM:2\tGout\tHP:2\tP\nOMIM:3\tFlu\t\tC\n",
        {("Marfan", "term", "HP:1"), ("Flu", "aspect", "C")},
    ),
    "far.txt": (
        "#\n" * 40 + "#ISO\tISO3\tCountry\tCapital\n"
        "NO\tNOR\tNorway\tOslo\nSE\tSWE\tSweden\tVisby\n",
        {("NO", "ISO3", "NOR"), ("SE", "Capital", "Visby")},
    ),
    "countries.csv": (
        "ISO,Country,Capital,Area\nNO,Norway,Oslo,3\nSE,Sweden,Visby,4\n",
        {("Norway", "Capital", "Oslo")},
    ),
    "lei.csv": (
        "LEI,Entity.LegalName,Entity.Legal.City,State\n5493001KJTIIGC8Y1R12,Ann plc,Ely,A\n"
        "5493001KJTIIGC8Y1R13,Bo AG,Ulm,B\n",
        {("Bo AG", "Entity.Legal.City", "Ulm")},
    ),
    "customers.csv": (
        "customerid,name,city\n7,Ann,Ely\n8,Bo,Ulm\n",
        {("Ann", "is a", "customer")},
    ),
    "pairs.txt": (
        "#Interaction ID\tGene ID A\tGene ID B\tAlias A\tAlias B\tSymbol A\tSymbol B\tTaxon Name A"
        "\tTaxon Name B\tSystem\n1\t10\t20\t-\tx|y\tTP53\tMDM2\tman\tman\tFRET\n"
        "2\t20\t30\tx|y\t-\tMDM2\tATM\tman\tman\tPCA\n",
        {("TP53", "interaction", "MDM2"), ("MDM2", "alias", "y"), ("ATM", "taxon name", "man"),
         ("MDM2 interaction ATM", "System", "PCA")},
    ),
    "map.xml": (
        "<?xml version='1.0'?><osm><node id='7' lat='1' lon='2'><tag k='name' v='Uno'/></node>"
        "<node id='8' lat='3' lon='4'/><way id='9'><nd ref='7'/><nd ref='8'/><tag k='name' "
        "v='Mall'/></way><relation id='5'><member type='way' ref='9' role='main'/><member "
        "type='node' ref='7' role='stop'/><tag k='name' v='Bus 1'/><tag k='from' v='A'/>"
        "<tag k='to' v='B'/></relation></osm>",
        {("Mall", "nd", "Uno"), ("Bus 1", "member", "Mall"), ("Bus 1", "to", "B")},
    ),
    "people.xml": (
        "<?xml version='1.0'?><text><listPerson><person xml:id='p1'><persName><forename>Ann"
        "</forename><surname>Lee</surname></persName><birth when='1822'><placeName ref='#e'>Ely"
        "</placeName></birth></person><person xml:id='p2'><persName><forename>Bo</forename>"
        "<surname>Ray</surname></persName></person><listRelation><relation name='teacherOf' "
        "active='#p1' passive='#p2'/></listRelation></listPerson><listPlace><place xml:id='e'>"
        "<placeName>Ely</placeName><size>3</size></place><place xml:id='f'><placeName>Ayr"
        "</placeName><size>4</size></place></listPlace></text>",
        {
            ("Ann Lee", "birth when", "1822"),
            ("Ann Lee", "birth place name", "Ely"),
            ("Ann Lee", "teacherOf", "Bo Ray"),
            ("Ayr", "size", "4"),
            ("Bo Ray", "is a", "person"),
        },
    ),
    "scan.xml": (
        "<?xml version='1.0'?><scan><host start='1'><address addr='10.1' addrtype='ipv4'/><address "
        "addr='A:1' addrtype='mac'/><hostnames><hostname name='web.x'/></hostnames><ports><port "
        "portid='80'><service name='http'/></port><port portid='22'><service name='ssh'/></port>"
        "</ports></host><host start='1'><address addr='10.2' addrtype='ipv4'/><hostnames><hostname "
        "name='db.x'/></hostnames></host><host start='1'><address addr='10.3' addrtype='ipv4'/>"
        "<hostnames><hostname name='gw.x'/></hostnames></host></scan>",
        {
            ("web.x", "address ipv4", "10.1"),
            ("web.x", "address mac", "A:1"),
            ("gw.x", "address ipv4", "10.3"),
            ("_:port_1", "portid", "80"),
            ("_:port_1", "service", "http"),
            ("web.x", "is a", "host"),
        },
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", KINDS)
def test_kinds(tmp_path, name):
    text, facts = KINDS[name]
    path = tmp_path / name
    path.write_text(text if isinstance(text, str) else json.dumps(text))
    found = named_facts(read_graph(path))
    pairs = {(relation, tail) for _, relation, tail in found}
    assert all(fact in (found if len(fact) == 3 else pairs) for fact in facts), facts - found
    assert not any(head == tail for head, _, tail in found)


def test_a_cube_is_rows_of_what_its_dimensions_say(read):
    def axis(*codes, **labels):
        return {"category": {"index": {code: at for at, code in enumerate(codes)}, "label": labels}}

    cube = {
        "version": "2.0", "id": ["sex", "what"], "size": [2, 2], "value": [7, 0.5, None, 0.25],
        "role": {"metric": ["what"]}, "status": {"3": "p"},
        "dimension": {"sex": axis("F", "M", F="women"), "what": axis("j", "r", j="jobs", r="rate")},
    }  # fmt: skip
    facts = named_facts(read(json.dumps(cube), "jobs.json"))
    assert {fact for fact in facts if fact[0] == "women"} >= {
        ("women", "jobs", "7"), ("women", "rate", "0.5"),
    }  # fmt: skip
    assert {("M", "rate", "0.25"), ("M", "status of rate", "p")} <= facts
    assert ("M", "jobs") not in {fact[:2] for fact in facts}
    # One measure alone is called as the cube is, and the values may be told by their places.
    lone = cube | {"label": "jobs held", "role": {}, "value": {"2": 9}, "status": None}
    facts = named_facts(read(json.dumps({"dataset": lone}), "held.json"))
    assert {("M", "what", "jobs"), ("M", "jobs held", "9")} <= facts
    with pytest.raises(JaxkgError, match="parts do not fit together"):
        read(json.dumps(cube | {"size": [2, 3]}), "jobs.json")


TAXA = {
    "nodes.dmp": "1\t|\t1\t|\tno rank\t|\t\t|\n9604\t|\t1\t|\tfamily\t|\tPR\t|\n"
    "9606\t|\t9604\t|\tspecies\t|\tPR\t|\n9605\t|\t9604\t|\tspecies\t|\tPR\t|\n",
    "names.dmp": "1\t|\troot\t|\tscientific name\t|\n9606\t|\thuman\t|\tcommon name\t|\n"
    "9606\t|\tHomo\t|\tscientific name\t|\n9604\t|\tHominidae\t|\tscientific name\t|\n"
    "9605\t|\tape\t|\tcommon name\t|\n9605\t|\tPan\t|\tscientific name\t|\n",
    "readme.txt": "nodes.dmp file consists of nodes with these fields:\n\ttax_id\t-- node id\n"
    " \tparent tax_id\t-- parent node id\n \trank\t-- (species, ...)\n\tcode\t-- prefix\n\n"
    "Names (names.dmp):\n\ttax_id\t-- the id\n\tname_txt\t-- name itself\n\tname class\n",
}


def test_a_readme_names_columns_and_a_table_names_the_rows_of_another(folder):
    graph = folder(TAXA)
    facts = named_facts(graph)
    assert facts >= {("Homo", "parent tax id", "Hominidae"), ("Pan", "rank", "species"),
                     ("Homo", "is a", "tax")}  # fmt: skip
    assert set(graph.aliases[graph.entity("tax 9606")]) == {"human", "9606"}


def test_a_text_of_columns_is_read_where_a_readme_names_them(folder):
    cities = "7\tOslo\tNO\t580000\n8\tVisby\tSE\t24000\n9\tUlm\tDE\t126000\n"
    about = "Files :\n-----\ncities.txt   : all of them\n\nThe table has these fields :\n------\n"
    about += "cityid : number of it\nname   : of it (utf8) varchar(200)\ncountry code : ISO\n"
    countries = "ISO\tCountry\tArea\tSize\nNO\tNorway\t3\t1\nSE\tSweden\t4\t2\nDE\tGermany\t5\t3\n"
    files = {"cities.txt": cities, "countries.txt": countries}
    facts = named_facts(folder(files | {"readme.txt": f"{about}population : how many\n"}))
    assert facts >= {("Oslo", "country code", "Norway"), ("Ulm", "population", "126000")}


ARCHIVE = {
    "occurrence.txt": "id\toccurrenceID\tspecies\tday\nu:1\tu:1\tLutra\t2020-01-02\n"
    "u:2\tu:2\tVulpes\t2020-01-03\nu:3\tu:3\tLutra\t2020-01-04\n",
    "meta.xml": f"{XML}<archive metadata='eml.xml'><core><files><location>occurrence.txt</location>"
    "</files><field index='1'/><field index='2'/></core></archive>",
    "eml.xml": f"{XML}<eml><dataset><title>Otters</title><person><name>Ann</name></person>"
    "</dataset></eml>",
}


def test_what_describes_tables_is_told_and_no_thing(tmp_path):
    for name, text in ARCHIVE.items():
        (tmp_path / name).write_text(text)
    heard = []
    facts = named_facts(read_graph(tmp_path, on_reading=heard.append))
    assert ("u:2", "species", "Vulpes") in facts
    assert ("u:2", "is a", "occurrence") in facts
    assert {head for head, _, _ in facts} == {"u:1", "u:2", "u:3"}
    assert "left out: eml.xml, meta.xml" in heard[0]


@pytest.mark.parametrize(
    "header",
    [
        "node_id_start,node_id_end,rel_type,link",
        "Rel.StartNode.NodeID,Rel.EndNode.NodeID,Rel.RelationshipType,Rel.Period.startDate",
    ],
)
def test_edges_between_ids_that_say_which_way(folder, header):
    facts = named_facts(
        folder(
            {
                "nodes-officers.csv": "node_id,name,land\n12,Ann Berg,NO\n13,Bo Dahl,SE\n",
                "nodes-firms.csv": "node_id,name,land\n21,Gull Ltd,NO\n22,Tern AG,SE\n",
                "rels.csv": f"{header}\n12,21,officer_of,sole\n13,22,officer_of,joint\n",
            }
        )
    )
    assert ("Ann Berg", "officer_of", "Gull Ltd") in facts
    assert ("Bo Dahl", "is a", "officers") in facts
    assert ("Ann Berg officer of Gull Ltd", header.split(",")[3], "sole") in facts
