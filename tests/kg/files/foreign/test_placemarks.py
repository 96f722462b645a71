"""Data of placemarks, and nodes that codes call."""

import json

import pytest
from named_facts import named_facts

from jaxkg.kg import read_graph


@pytest.fixture
def told(tmp_path):
    def run(name, text):
        (tmp_path / name).write_text(text)
        return read_graph(tmp_path / name)

    return run


KML = """<?xml version="1.0"?><kml xmlns="http://www.opengis.net/kml/2.2"><Document>
<Placemark><name>Skein</name><ExtendedData><SchemaData schemaUrl="#Art">
<SimpleData name="HT_CM">910</SimpleData><SimpleData name="ARTIST">Ann</SimpleData></SchemaData>
</ExtendedData></Placemark><Placemark><name>Bells</name><ExtendedData><SchemaData schemaUrl="#Art">
<SimpleData name="HT_CM">120</SimpleData><SimpleData name="ARTIST">Bo</SimpleData></SchemaData>
</ExtendedData></Placemark></Document></kml>"""


def test_what_data_of_a_placemark_names_is_said_of_it(told):
    facts = named_facts(told("art.kml", KML))
    assert {("Skein", "HT_CM", "910"), ("Bells", "ARTIST", "Bo")} <= facts


def test_nodes_are_called_by_their_codes(told):
    nodes = [
        {"type": "node", "id": str(170 + n), "labels": ["Production"],
         "properties": {"code": f"PR-20{n}-03", "cost": n}}
        for n in range(10, 13)
    ]  # fmt: skip
    facts = named_facts(told("a.jsonl", "\n".join(map(json.dumps, nodes))))
    assert ("PR-2010-03", "cost", "10") in facts
