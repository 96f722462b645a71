"""Kinds of files that are not read, and what to do with each instead."""

from __future__ import annotations

import re

from jaxkg.kg.files.protocol import Head

_CITED = "save it as CSL JSON (`pandoc FILE -t csljson`, or Zotero's export)"
_TABLE = "save it as CSV with a line of column names"
_KINDS = (
    (r"BEGIN:VCALENDAR", "", "an iCalendar", "save it as CSV, an event a line"),
    (r"BEGIN:VCARD", "", "a file of vCards", "save the contacts as CSV"),
    (r"(?m:^\s*@\w+\s*\{)", ".bib .bibtex", "a BibTeX file", _CITED),
    (r"(?:%0 |TY  - )", ".ris .enw", "a file of references (RIS)", _CITED),
    (r"##gff|#!genome|(?:\S+\t){2}gene\t", ".gff .gff3 .gtf .bed .vcf .sam",
     "a table of sequence features", "save it as CSV with a line of column names, its last column "
     "parted into columns"),
    (r"!gaf-version|!gpa-version", ".gaf .gpad", "GO annotations", "add a line of column names "
     "and leave the lines with '!' out, or take them from Gene Ontology as GO-CAM in Turtle"),
    (r"HEADER    \S|ID   \w+ ", ".pdb .ent .cif .fasta .embl",
     "a flat file of a sequence or structure", "take the same entry as JSON, XML or RDF"),
    (r"(?:.|\n)*MARC21/slim", ".mrc .marc", "a MARC catalogue", "turn it into Dublin Core or MODS "
     "(MarcEdit, `yaz-marcdump`), or into CSV"),
    (r"(?:.|\n){0,300}<osm ", ".pbf", "an OpenStreetMap extract", "save it as GeoJSON "
     "(`osmium export FILE -o map.geojson`)"),
    (r"(?:.|\n){0,300}2005/sparql-results", "", "the XML of a query's result",
     "ask for the result as JSON or CSV"),
    (r"(?:.|\n){0,300}maven\.apache\.org/POM", "", "a Maven project", "write what it depends on "
     "as a graph (`mvn dependency:tree -DoutputType=graphml`)"),
    (r"(?:.|\n){0,300}<topicMap", ".xtm", "a topic map", "turn it into RDF (Turtle), or write its "
     "associations as CSV of head, relation, tail"),
    (r"MSH\|", ".hl7", "a message of HL7 version 2", "take the same as FHIR's JSON, or as CSV"),
    (r"(?:GIT|PATH|GEM)\n  remote: ", "", "a lock file of Bundler", "write its gems and what each "
     "needs as CSV of from, to"),
    (r'\{"id":\s*\{"@type":\s*"g:', "", "GraphSON of TinkerPop", "write the graph as GraphML "
     "(`g.io('graph.graphml').write()`)"),
    (r"\[INFO\] |\+--- |\\--- ", "", "the text of a build's dependency tree", "write it as a graph "
     "(`mvn dependency:tree -DoutputType=graphml`), or as a CSV of from, to"),
    (r"(?:#.*\n|\s)*[\w.-]+(?:\[[\w,-]+\])?==\S+\n", "", "a list of packages",
     "write it as JSON with what each requires (`pipdeptree --json`)"),
    (r"module \S+\n\s*go \d", "", "a Go module", "write `go mod graph` into FILE.edgelist"),
    (r"#[^\n]*yarn lockfile", "", "a lock file of Yarn", "take package-lock.json, or write it as "
     "JSON (`npx synp`, `yarn info --all --json`)"),
    (r"@startuml|(?:graph|flowchart) (?:TD|TB|BT|RL|LR)\b|(?:class|state|er)Diagram",
     ".puml .mmd", "a diagram", "write its arrows as Graphviz's DOT, or as CSV of from, relation, "
     "to"),
    (r"(?:%[^\n]*\n|\s|:-[^\n]*\n)*[a-z]\w*\([^()\n]+\)\.\s", "", "facts of Prolog", "write "
     "those of two arguments as CSV of head, relation, tail"),
    (r"#[^\n]*::snt|\(\w+ / \S", "", "meaning representations (AMR)", "write their edges as CSV of "
     "head, relation, tail (`penman --triples`)"),
    (r'(?=(?:.|\n)*"dimension")(?=(?:.|\n)*"size")\s*\{"(?:version|dataset|class|label|id)"', "",
     "a cube of statistics (JSON-stat)", "ask the same service for CSV, a row a value"),
    (r'\{"(?:index|create|update)":\s*\{"_', "", "lines of Elasticsearch's bulk import", "leave "
     "out those of actions (`grep -v '^{\"index\"'`)"),
    (r"-DOCSTART-|# sent_id", ".conll .conllu", "annotated text", "write the relations in it as "
     "CSV of head, relation, tail"),
    (r"\s+1 This software and database", "", "a WordNet database file", "take WordNet as RDF "
     "(Turtle)"),
    (r"#\+\w+:|\* (?:TODO|DONE) ", ".org", "an Org file", "a folder of Markdown notes is read "
     "(`pandoc FILE -o notes/FILE.md`)"),
    (r"(?i:\s*<!doctype html|\s*<html)", ".html .htm", "a web page without JSON-LD",
     "save the table in it as CSV"),
    (r"From \S+@|(?:From|Received|Return-Path): ", ".eml .mbox", "mail",
     "write who wrote to whom as CSV of from, to"),
    (r"", ".md", "one note", "give the folder that it lies in, whose notes link to one another; "
     "of a table in it, save it as CSV"),
    (r"", ".pdf .doc .docx .ppt .pptx .odt .rtf .tex .epub", "a text for people", "write the "
     "facts in it as CSV of head, relation, tail (GraphRAG and LightRAG make such graphs)"),
    (r"Obj\x01|ARROW1|FEA1|ORC", ".avro .feather .arrow .orc", "a table of another program",
     "write it as Parquet, or as CSV"),
    (r"\$HDT", ".hdt", "packed RDF (HDT)", "unpack it into N-Triples (`hdt2rdf`)"),
    (r"", ".mdb .accdb .ods .numbers .dbf", "a file of another program", "save each table as CSV "
     "into one folder, or all as .xlsx"),
    (r"", ".rds .rdata .pkl .pickle .npz .npy .h5 .hdf5 .mat .sav .dta", "data of a program",
     "write it as CSV or Parquet there"),
    (r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d|<\d+>|\[\w{3} \w{3} ", ".log", "a log", _TABLE),
    (r"(?:\S+(?: \S+)* {2,}){2,}\S.*\n.* {2,}\S", ".fwf", "a table of fixed columns", _TABLE),
    (r"[^\t|,;{}<>]{20,}[.!?](?:\s|$)", "", "running text", "write the facts in it as CSV of head, "
     "relation, tail"),
)  # fmt: skip
"""What a file begins with or its name ends in, what it is, and what to do with it."""


def how_to_bring(head: Head) -> str:
    """What a file is that is not read, and what would work; "" where that is not known.

    >>> how_to_bring(Head("team.ics", b"BEGIN:VCALENDAR\\n"))
    'an iCalendar is not read as it is; save it as CSV, an event a line'
    """
    for begins, ends, kind, instead in _KINDS:
        if head.end in ends.split() or (begins and re.match(begins, head.text[:4096])):
            return f"{kind} is not read as it is; {instead}"
    return ""
