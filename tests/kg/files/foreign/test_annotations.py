"""Annotations of the Gene Ontology."""

import pytest
from named_facts import named_facts

from jaxkg.errors import JaxkgError
from jaxkg.kg import read_graph

GAF = """!gaf-version: 2.2
!a comment
UP\tA1\tSOD\tlocated_in\tGO:5\tPMID:1|PMID:2\tIDA\t\tC\tDismutase\tMSD1|M1\tprotein\ttaxon:3\t20200318\tTAIR
UP\tA2\tMTD\tNOT|enables\tGO:6\tPMID:3\tIPI\tUP:A1\tF\tDehydrogenase\t\tprotein\ttaxon:3\t20210607\tUP
"""


def test_annotations_of_gene_products(tmp_path):
    def read(name, text):
        (tmp_path / name).write_text(text)
        return read_graph(tmp_path / name)

    graph = read("moss.gaf", GAF)
    found = named_facts(graph)
    assert found >= {
        ("SOD", "located in", "GO:5"), ("MTD", "not enables", "GO:6"), ("SOD", "type", "protein"),
        ("SOD located in GO:5", "evidence", "inferred from direct assay (IDA)"),
        ("SOD located in GO:5", "reference", "PMID:2"), ("MTD", "accession", "A2"),
        ("SOD located in GO:5", "date", "2020-03-18"), ("MTD", "is a", "gene product"),
        ("MTD not enables GO:6", "aspect", "molecular function"),
        ("MTD not enables GO:6", "with or from", "SOD"),
    }  # fmt: skip
    assert {"M1", "A1", "Dismutase"} <= {*graph.aliases[graph.entity("UP:A1")]}
    old = GAF.replace("located_in", "").replace("NOT|enables", "")
    assert ("SOD", "located in", "GO:5") in named_facts(read("old.gaf", old))
    with pytest.raises(JaxkgError, match="3 columns, where an annotation has 15 or more"):
        read("bad.gaf", "!gaf-version: 2.2\na\tb\tc\n")
