"""GraphML and GEXF as tools write them."""

import gzip

import pytest
from named_facts import named_facts, plain_facts

from jaxkg.errors import JaxkgError
from jaxkg.kg import read_graph
from jaxkg.systems.reader import Reader
from jaxkg.text import HashingEncoder

NETWORKX = """<?xml version='1.0' encoding='utf-8'?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="d3" for="edge" attr.name="weight" attr.type="double"/>
  <key id="d2" for="edge" attr.name="relation" attr.type="string"/>
  <key id="d1" for="node" attr.name="rich" attr.type="boolean"><default>False</default></key>
  <key id="d0" for="node" attr.name="age" attr.type="long"/>
  <graph edgedefault="directed">
    <data key="d0">of the whole graph</data>
    <node id="Ann"><data key="d0">031</data><data key="d1">True</data></node>
    <node id="Bo &amp; Co"/>
    <edge source="Ann" target="Bo &amp; Co"><data key="d2">knows</data></edge>
    <edge source="Cy" target="Ann"><data key="d3">2.5</data></edge>
    <hyperedge><endpoint node="Ann"/><endpoint node="Cy"/></hyperedge>
  </graph>
</graphml>
"""
YED = """<?xml version="1.0" encoding="UTF-8" standalone="no"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:y="http://www.yworks.com/xml/graphml">
  <key attr.name="description" attr.type="string" for="node" id="d5"/>
  <key for="node" id="d6" yfiles.type="nodegraphics"/>
  <key for="edge" id="d10" yfiles.type="edgegraphics"/>
  <graph edgedefault="directed" id="G">
    <node id="n0">
      <data key="d5"><![CDATA[keeps the books]]></data>
      <data key="d6"><y:ShapeNode><y:Geometry x="1.0"/><y:NodeLabel>Ann
Lee<y:LabelModel/></y:NodeLabel></y:ShapeNode></data>
      <port name="north"><data key="d5">of a port</data></port>
    </node>
    <node id="n1" yfiles.foldertype="group">
      <data key="d6"><y:GroupNode><y:NodeLabel>Office</y:NodeLabel></y:GroupNode>
        <y:GroupNode><y:NodeLabel>Folder 1</y:NodeLabel></y:GroupNode></data>
      <graph id="n1:"><data key="d5">of the graph within</data>
        <node id="n1::n0"><data key="d6"><y:NodeLabel>Bo</y:NodeLabel></data></node>
      </graph>
    </node>
    <edge source="n0" target="n1::n0"><data key="d10"><y:EdgeLabel>helps</y:EdgeLabel></data></edge>
  </graph>
</graphml>
"""
APOC = """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="name" for="node" attr.name="name"/>
<key id="title" for="node" attr.name="title"/>
<key id="tags" for="node" attr.name="tags" attr.type="string" attr.list="string"/>
<key id="name" for="edge" attr.name="called" attr.type="string"/>
<graph id="G" edgedefault="directed">
<node id="n0" labels=":Person:Actor"><data key="labels">:Person:Actor</data>
<data key="name">Ann</data><data key="born">1970</data></node>
<node id="n1" labels=":Film"><data key="labels">:Film</data><data key="title">Gull</data>
<data key="tags">["sea, wild", "birds"]</data></node>
<edge id="e0" source="n0" target="n1" label="ACTED_IN"><data key="label">ACTED_IN</data>
<data key="name">x</data></edge>
</graph></graphml>
"""
GEXF = """<?xml version='1.0' encoding='UTF-8'?>
<gexf xmlns="http://gexf.net/1.3" xmlns:viz="http://gexf.net/1.3/viz" version="1.3">
  <graph defaultedgetype="undirected" mode="static">
    <attributes class="node">
      <attribute id="0" title="job" type="string"><default>smith</default></attribute>
      <attribute id="1" title="towns" type="liststring"/>
    </attributes>
    <attributes class="edge"><attribute id="0" title="since" type="integer"/></attributes>
    <nodes>
      <node id="a" label="Ann"><viz:size value="10"/><attvalues>
        <attvalue for="0" value="baker"/><attvalue for="1" value="[Leeds, York]"/>
      </attvalues></node>
      <node id="b" label="Bo"><nodes><node id="d" label="d"/></nodes></node>
    </nodes>
    <edges>
      <edge id="0" source="a" target="b" label="knows" type="undirected" weight="2.0">
        <attvalues><attvalue for="0" value="1999"/></attvalues></edge>
      <edge id="1" source="b" target="c" type="directed"/>
      <edge id="2" source="b" target="a" kind="likes"/>
    </edges>
  </graph>
</gexf>
"""


def heard_of(read, text, name):
    """The facts of a file by names, and what is told of it."""
    heard = []
    return plain_facts(read(text, name, on_reading=heard.append)), heard[0]


def test_as_networkx_writes_it(read):
    facts, heard = heard_of(read, NETWORKX, "net.graphml")
    assert facts == {
        ("Ann", "age", "031"), ("Ann", "rich", "true"), ("Bo & Co", "rich", "false"),
        ("Ann", "knows", "Bo & Co"), ("Cy", "linked to", "Ann"),
    }  # fmt: skip
    assert "1 hyperedges left out" in heard


def test_nodes_called_by_numbers(read):
    text = (
        '<graphml><key id="d0" for="all" attr.name="Name"/><graph edgedefault="undirected">'
        '<node id="1"><data key="d0">Ann</data></node><node id="2"><data key="d0">Bo</data></node>'
        '<edge source="2" target="1"/></graph></graphml>'
    )
    facts, heard = heard_of(read, text, "net.graphml")
    assert facts == {("Bo", "linked to", "Ann")}
    assert "'edges' taken as relations" in heard


def test_as_yed_writes_it(read):
    facts, _ = heard_of(read, YED, "net.graphml")
    assert facts == {
        ("Ann Lee", "description", "keeps the books"), ("Ann Lee", "helps", "Bo"),
        ("Bo", "part of", "Office"),
    }  # fmt: skip


def test_as_apoc_writes_it(read):
    facts, _ = heard_of(read, APOC, "net.graphml")
    assert facts == {
        ("Ann", "type", "Person"), ("Ann", "type", "Actor"), ("Ann", "born", "1970"),
        ("Gull", "type", "Film"), ("Gull", "tags", "sea, wild"), ("Gull", "tags", "birds"),
        ("Ann", "ACTED_IN", "Gull"),
    }  # fmt: skip


def test_as_gephi_writes_gexf(read):
    facts, _ = heard_of(read, GEXF, "net.gexf")
    assert facts == {
        ("Ann", "job", "baker"), ("Ann", "towns", "Leeds"), ("Ann", "towns", "York"),
        ("Bo", "job", "smith"), ("d", "job", "smith"), ("d", "part of", "Bo"),
        ("Ann", "knows", "Bo"), ("Bo", "linked to", "c"), ("Bo", "likes", "Ann"),
    }  # fmt: skip


def test_as_gephi_writes_graphml(read):
    looks = "".join(f'<data key="{key}">1</data>' for key in ("r", "g", "b", "x", "y", "size"))
    text = (
        '<g:graphml xmlns:g="http://graphml.graphdrawing.org/xmlns"><g:key id="edgelabel" '
        'for="edge" attr.name="Edge Label"/><g:graph>'
        f'<g:node id="n0"><data key="label">Ann</data>{looks}</g:node><g:edge source="n0" '
        'target="Bo"><data key="edgelabel">knows</data></g:edge></g:graph></g:graphml>'
    )
    text = text.replace("<data", "<g:data").replace("</data", "</g:data")
    facts, heard = heard_of(read, text, "net.graphml")
    assert facts == {("Ann", "knows", "Bo")}
    assert "place and colour of nodes left out" in heard


def test_an_id_of_ones_own_is_a_name_where_there_is_no_other(read):
    """As igraph writes graphs whose nodes have an attribute `id`."""
    text = (
        '<graphml><key id="v_id" for="node" attr.name="id"/><key id="v_name" for="node" '
        'attr.name="name"/><graph><node id="n0"><data key="v_id">Ann</data></node><node id="n1">'
        '<data key="v_id">7</data><data key="v_name">Bo</data></node>'
        '<edge source="n0" target="n1"/></graph></graphml>'
    )
    facts, _ = heard_of(read, text, "net.graphml")
    assert facts == {("Ann", "linked to", "Bo"), ("Bo", "own id", "7")}


def test_a_label_that_says_no_more_is_no_fact(read):
    """As NetworkX writes GEXF: the label is the id where nothing else is told."""
    text = (
        '<gexf><graph><attributes class="node"><attribute id="0" title="name"/></attributes>'
        '<node id="0" label="0"/><node id="1" label="Bo"><attvalue for="0" value="Bo"/></node>'
        '<edge source="1" target="0"/></graph></gexf>'
    )
    assert heard_of(read, text, "net.gexf")[0] == {("Bo", "linked to", "node 0")}


def test_ends_of_edges_are_no_lists(read):
    text = (
        '<graphml><node id="{0}"><data key="age">3</data></node><edge source="{0}" target="{1}"/>'
    )
    facts, _ = heard_of(read, text.format("a", "b; c") + "</graphml>", "net.graphml")
    assert facts == {("a", "age", "3"), ("a", "linked to", "b; c")}


def test_only_edges_and_only_nodes(read):
    edges = '<graphml><graph><edge source="a" target="b"/></graph></graphml>'
    assert named_facts(read(edges, "net.graphml")) == {("a", "linked to", "b")}
    nodes = '<graphml><graph><node id="a"><data key="job">vet</data></node></graph></graphml>'
    assert named_facts(read(nodes, "net.graphml")) == {("a", "job", "vet")}


def test_packed_and_in_a_folder_and_by_the_name_of_the_format(read, tmp_path):
    expected = named_facts(read(NETWORKX, "net.xml", format="graphml"))
    (tmp_path / "net.xml").unlink()
    assert len(expected) == 9
    assert ("Cy linked to Ann", "weight", "2.5") in expected
    assert named_facts(read(gzip.compress(NETWORKX.encode()), "net.graphml.gz")) == expected
    (tmp_path / "more.csv").write_text("head,relation,tail\nCy,likes,Di\n")
    assert named_facts(read_graph(tmp_path)) == {*expected, ("Cy", "likes", "Di")}


@pytest.mark.parametrize("before", ["", "<!-- 1 -->\n" * 9000])
def test_documents_that_define_entities_are_refused(read, before):
    text = '<!DOCTYPE graphml [\n<!ENTITY a "aaaa">\n]>\n' + NETWORKX.partition("\n")[2]
    line = 2 + before.count("\n")
    with pytest.raises(JaxkgError, match=rf"net\.graphml:{line}: defines the entity 'a'; write"):
        read(before + text, "net.graphml")
    with pytest.raises(JaxkgError, match="defines the entity 'a'"):
        read((before + text).encode("utf-16"), "net.graphml")
    outside = text.replace('"aaaa"', 'SYSTEM "file:///etc/hostname"')
    with pytest.raises(JaxkgError, match="defines the entity 'a'"):
        read(before + outside, "net.graphml")


def test_a_doctype_alone_is_no_entity(read):
    text = '<!DOCTYPE graphml SYSTEM "graphml.dtd">\n' + NETWORKX.partition("\n")[2]
    assert len(plain_facts(read(text, "net.graphml"))) == 5


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("<graphml>\n<graph>\n</graphml>", r"net\.graphml:3: not XML \(mismatched tag\)"),
        ("<graphml>\n<graph>", r"net\.graphml:2: not XML \(no element found\)"),
        ("<graphml>&b;</graphml>", r"net\.graphml:1: not XML \(undefined entity\)"),
        ("", r"net\.graphml:1: not XML \(no element found\)"),
        ("<html><node id='a'/></html>", "neither GraphML nor GEXF: it starts with <html>"),
        ("<?xml version='1.0' encoding='gbk'?><graphml/>", "its encoding is not read .*use UTF-8"),
        ("<?xml version='1.0' encoding='x'?><graphml/>", "its encoding is not read .*use UTF-8"),
        ("<graphml><graph/></graphml>", r"net\.graphml: no nodes and no edges in it$"),
        ("<gexf><hyperedge/></gexf>", "no nodes and no edges in it; 1 hyperedges left out"),
        ("<graphml><graph>\n<node label='x'/></graph></graphml>",
         r"net\.graphml:2: no id: \"<node label='x'>\"; expected node with id"),
        ("<graphml><graph>\n\n<edge target='x'/></graph></graphml>",
         r"net\.graphml:3: no source and target: \"<edge target='x'>\"; expected edge with"),
    ],
)  # fmt: skip
def test_what_is_malformed_is_told(read, text, told):
    with pytest.raises(JaxkgError, match=told):
        read(text, "net.graphml")


def test_a_fault_of_ours_is_not_told_as_one_of_the_file(read, monkeypatch):
    monkeypatch.setattr("jaxkg.kg.files.graphml._several", lambda text: {}["missing"])
    with pytest.raises(KeyError):
        read(APOC, "net.graphml")


def test_some_malformed_elements_may_be_skipped(read):
    graph = read(NETWORKX.replace('<edge source="Cy"', "<edge"), "net.graphml", skip_bad=1)
    assert len(graph.skipped) == 1
    assert ("Cy", "linked to", "Ann") not in named_facts(graph)
    assert len(named_facts(graph)) == 4


def test_options_that_have_no_meaning_are_refused(read):
    for options in ({"columns": ("a", "b", "c")}, {"provenance": "d0"}):
        with pytest.raises(JaxkgError, match="has no meaning for format 'graphml'"):
            read(NETWORKX, "net.graphml", **options)
    graph = read(NETWORKX, "net.graphml", provenance=True)
    assert {graph.source(row) for row in range(graph.num_triples)} >= {"net.graphml:1"}


def test_nothing_of_an_element_is_kept_once_it_is_read(read, tmp_path):
    """Texts that are read and left out take no memory: a drawing, say."""
    import tracemalloc

    drawing = "<data><y:Image>" + "x" * 100_000 + "</y:Image></data>"
    nodes = "".join(f'<node id="n{at}">{drawing}</node>' for at in range(200))
    text = f'<graphml><graph>{nodes}<edge source="n0" target="n1"/></graph></graphml>'
    (tmp_path / "net.graphml").write_text(text)
    tracemalloc.start()
    read_graph(tmp_path / "net.graphml")
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < len(text) / 4


def test_a_question_is_answered(read):
    kg = read(YED.replace("helps", "knows"), "net.graphml")
    reader = Reader.build(kg, HashingEncoder())
    answer = reader.ask("Who does Ann Lee know?")
    assert [one.name for one in answer.entities] == ["Bo"]
