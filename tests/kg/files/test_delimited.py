import csv
import gzip

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jaxkg.errors import JaxkgError
from jaxkg.kg import read_graph
from jaxkg.kg.files import textfile


def facts(graph):
    return [graph.triple(row) for row in range(graph.num_triples)]


EXPECTED = [("Alien", "directed_by", "Ridley Scott"), ("Alien", "release_year", "1979")]


@pytest.mark.parametrize(
    ("text", "name", "options"),
    [
        ("Alien|release_year|1979\nAlien|directed_by|Ridley Scott\n", "kb.txt", {}),
        ("Alien|release_year|1979\r\nAlien|directed_by|Ridley Scott\r\n", "kb.txt", {}),
        ("\ufeffAlien|release_year|1979\n\n  \nAlien|directed_by|Ridley Scott", "kb", {}),
        ("Alien\trelease_year\t1979\n Alien\tdirected_by\tRidley Scott \n", "kb.txt", {}),
        ("Alien\trelease_year\t1979\nAlien\tdirected_by\tRidley Scott", "kb.TSV", {}),
        ("x\tAlien\trelease_year\t1979\nx\tAlien\tdirected_by\tRidley Scott", "kb.tsv",
         {"columns": (1, 2, 3)}),
        ("1979|release_year|Alien\nRidley Scott|directed_by|Alien", "kb.dat",
         {"columns": (2, 1, 0), "format": "metaqa"}),
        ("Alien,release_year,1979\nAlien,directed_by,Ridley Scott", "kb.csv", {}),
        ('"Alien","release_year","1979"\n\nAlien,directed_by,"Ridley Scott"\n', "kb.csv", {}),
        ("head,relation,tail\nAlien,release_year,1979\nAlien,directed_by,Ridley Scott", "kb.csv",
         {}),
        ("Object\tSubject\tPredicate\n1979\tAlien\trelease_year\nRidley Scott\tAlien\tdirected_by",
         "kb.tsv", {}),
        ("a,b,c\nAlien,release_year,1979\nAlien,directed_by,Ridley Scott", "kb.csv",
         {"columns": ("a", "b", "c")}),
        ("\n\nc,b,a\n1979,release_year,Alien\nRidley Scott,directed_by,Alien", "kb.csv",
         {"columns": ("a", "b", "c")}),
        ("Alïen,release_year,1979\nAlïen,directed_by,Ridley Scott".encode("cp1252"), "kb.csv",
         {"encoding": "cp1252"}),
    ],
)  # fmt: skip
def test_the_same_facts_from_every_shape(read, text, name, options):
    graph = read(text, name, **options)
    assert [(h.replace("ï", "i"), r, t) for h, r, t in facts(graph)] == EXPECTED
    assert graph.skipped == ()
    assert graph.provenance is None


def test_gzip_of_each(read):
    for name, separator in (("kb.tsv.gz", "\t"), ("kb.csv.gz", ","), ("kb.txt.gz", "|")):
        data = "\n".join(separator.join(fact) for fact in EXPECTED)
        assert facts(read(gzip.compress(data.encode()), name)) == EXPECTED


def test_quotes_are_plain_outside_csv(read):
    graph = read('"Weird Al" Yankovic\tplays\t"x\n#Thatpower\tby\ty\n', "kb.tsv")
    assert facts(graph) == [('"Weird Al" Yankovic', "plays", '"x'), ("#Thatpower", "by", "y")]


def test_csv_names_may_hold_separators_quotes_and_line_ends(read):
    graph = read('"a, b",r,"say ""hi"""\r\n"two\nlines",r,x\n', "kb.csv", provenance=True)
    assert facts(graph) == [("a, b", "r", 'say "hi"'), ("two\nlines", "r", "x")]
    assert [graph.source(row) for row in (0, 1)] == ["kb.csv:1", "kb.csv:2"]


cell = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1).filter(
    lambda text: text == text.strip() and not text.startswith(("^", "\ufeff"))
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sets(st.tuples(cell, cell, cell), min_size=1))
def test_whatever_the_csv_module_writes_is_read_back(tmp_path, rows):
    path = tmp_path / "any.csv"
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("head", "relation", "tail"), *rows])
    assert facts(read_graph(path)) == sorted(rows)


def test_a_header_is_one_only_where_all_three_words_are_there(read):
    graph = read("head,relation,x\na,r,b\n", "kb.csv")
    assert facts(graph) == [("a", "r", "b"), ("head", "relation", "x")]
    assert facts(read("head|relation|tail\n", "kb.txt")) == [("head", "relation", "tail")]


def test_sources(read):
    text = "a\tr\tb\t0\tsite one\nc\tr\td\t1\t\n\na\tr\tb\t1\tsite two"
    by_column = read(text, "kb.tsv", provenance=4)
    assert [by_column.source(row) for row in (0, 1)] == ["site one; site two", None]
    by_line = read(text, "kb.tsv", provenance=True)
    assert [by_line.source(row) for row in (0, 1)] == ["kb.tsv:1; kb.tsv:4", "kb.tsv:2"]
    header = "head,relation,tail,Source,why\na,r,b,here,there\n"
    assert read(header, "kb.csv").source(0) == "here"
    assert read(header, "kb.csv", provenance="why").source(0) == "there"
    assert read(header, "kb.csv", provenance=True).source(0) == "kb.csv:2"
    assert read(header, "kb.csv", provenance=False).provenance is None


def test_line_numbers_hold_across_blocks(read, monkeypatch):
    monkeypatch.setattr(textfile, "_BLOCK", 7)
    graph = read("a|r|b\n\nc|r|d\nbad\ne|r|f", "kb.txt", provenance=True, skip_bad=1)
    assert [graph.source(row) for row in range(3)] == ["kb.txt:1", "kb.txt:3", "kb.txt:5"]
    assert "kb.txt:4: 1 field " in graph.skipped[0]


@pytest.mark.parametrize(
    ("text", "name", "told"),
    [
        ("a|r|b\na|r|b|c\n", "kb.txt",
         r"kb.txt:2: 4 fields where the first line has 3: 'a\|r\|b\|c'; expected .*; "
         "names that hold the separator need CSV"),
        ("a|r|b\n\nx\ty\tz\r\n", "kb.txt", r"kb.txt:3: 1 field .*: 'x\\ty\\tz'; .*format 'tsv'"),
        ("a|r|b\na| |b\n", "kb.txt", r"kb.txt:2: a blank name: 'a\| \|b'"),
        ("a|r|b|c\n", "kb.txt", r"kb.txt:1: 4 fields: .*expected head\|relation\|tail"),
        ("a\tb\n", "kb.tsv", r"kb.tsv:1: 2 fields: 'a\\tb'; expected head<TAB>relation<TAB>tail"),
        ("a,b,c\n", "kb.tsv", r"kb.tsv:1: 1 field: 'a,b,c'.*looks like the format 'csv'"),
        ("a\tr\tb\t1\na\tr\tb\n", "kb.tsv", "kb.tsv:2: 3 fields where the first line has 4"),
        ("a\tr\tb\n\t\t\n", "kb.tsv", "kb.tsv:2: a blank name"),
        ('a,r,b\nc,r,"d"x\n', "kb.csv", r"""kb.csv:2: not CSV \(.*: 'c,r,"d"x'; expected"""),
        ('a,r,b\nc,r,"d\ne,r,f\n', "kb.csv", r"kb.csv:2: not CSV \(unexpected end"),
        ("a,r,b\nc,r\n", "kb.csv", "kb.csv:2: 2 fields where the first line has 3"),
        ("", "kb.tsv", "no triples in it"),
        ("\n \n", "kb.txt", "the file is blank"),
        ("head,relation,tail\n", "kb.csv", "no triples in it"),
        ("just words\n", "kb.txt", "kb.txt:1: neither its name nor its first line 'just words'"),
        (b"a|r|b\nc|r|\xc3\xa9\xe9\n", "kb.txt", r"kb.txt:2: byte 12 \(0xe9\) is not utf-8"),
        (b"a|r|b\nc|r|\xe9\0\n", "kb.txt", r"kb.txt:2: byte 10 \(0xe9\) is not utf-8"),
    ],
)  # fmt: skip
def test_malformed_files_are_told_in_one_line(read, text, name, told):
    with pytest.raises(JaxkgError, match=told) as raised:
        read(text, name)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"columns": (0, 1)}, "columns must name three different columns"),
        ({"columns": (0, 1, 1)}, "columns must name three different columns"),
        ({"columns": (0, 1, -1)}, "counted from 0"),
        ({"columns": (0, 1, 7)}, r"kb.csv:1: 3 fields: 'a,r,b'; .* in columns \(0, 1, 7\)"),
        ({"columns": ("a", "r", "z")}, r"no column 'z'; the header line has \['a', 'r', 'b'\]"),
        ({"provenance": 3}, "kb.csv:1: 3 fields"),
        ({"provenance": "z"}, "no column 'z'"),
        ({"format": "cvs"}, "no format 'cvs'; there are metaqa, tsv, csv"),
    ],
)  # fmt: skip
def test_wrong_options_are_told(read, options, told):
    with pytest.raises(JaxkgError, match=told):
        read("a,r,b\nc,r,d\n", "kb.csv", **options)


def test_skipping_reports_every_skipped_line(read):
    text = "junk\na|r|b\na|r\nc| |d\ne|r|f\n"
    graph = read(text, "kb.txt", skip_bad=3, format="metaqa")
    assert facts(graph) == [("a", "r", "b"), ("e", "r", "f")]
    assert [message.split(":")[1] for message in graph.skipped] == ["1", "3", "4"]
    with pytest.raises(JaxkgError, match=r"more than skip_bad=2 bad lines; the last: .*:4: .*:1: "):
        read(text, "kb.txt", skip_bad=2, format="metaqa")


def test_csv_goes_on_after_a_bad_quote(read):
    graph = read('a,r,b\nc,r,"d"x\ne,r,f\n', "kb.csv", skip_bad=1)
    assert facts(graph) == [("a", "r", "b"), ("e", "r", "f")]


def test_names_from_a_side_file(read, tmp_path):
    side = tmp_path / "names.tsv"
    side.write_text("m.1\tAlien\r\nm.2\tRidley Scott\n\nm.2\tSir Ridley\nm.9\tNobody\n")
    graph = read("m.1|directed_by|m.2\n", "kb.txt", names=side)
    assert graph.entity_names.tolist() == ["Alien", "Ridley Scott"]
    assert dict(graph.aliases) == {1: ("Sir Ridley",)}
    mapped = read("m.1|directed_by|m.2\n", "kb.txt", names={"m.2": "R. S."})
    assert mapped.entity_names.tolist() == ["m.1", "R. S."]


def test_the_side_file_names_relations_too(read, tmp_path):
    side = tmp_path / "names.tsv"
    side.write_text("P57\tdirector\nP57\tRegie\nm.1\tAlien\n")
    graph = read("m.1|P57|m.2\nm.1|P58|m.2\n", "kb.txt", names=side)
    assert (graph.relations, graph.relation_labels) == (("P57", "P58"), ("director", "p58"))
    assert dict(graph.relation_aliases) == {0: ("Regie",)}
    assert graph.entity_names.tolist() == ["Alien", "m.2"]


@pytest.mark.parametrize("line", ["m.1", "m.1\t", "\tAlien", "m.1\tAlien\tfilm"])
def test_malformed_side_files_are_told(read, tmp_path, line):
    side = tmp_path / "names.tsv"
    side.write_text(f"m.2\tRidley\n{line}\n")
    with pytest.raises(JaxkgError, match=r"names.tsv:2: .*expected id<TAB>name"):
        read("m.1|r|m.2", "kb.txt", names=side)
    assert len(read("m.1|r|m.2", "kb.txt", names=side, skip_bad=1).skipped) == 1


def test_a_missing_side_file_is_told(read, tmp_path):
    with pytest.raises(JaxkgError, match="no such file"):
        read("m.1|r|m.2", "kb.txt", names=tmp_path / "nmaes.tsv")


@pytest.mark.parametrize(
    ("text", "name", "told"),
    [
        ("source,relation,target\nAlien,release_year,1979\nAlien,directed_by,Ridley Scott\n",
         "kb.csv", "source, relation, target: taken as head, relation, tail; 2 facts"),
        ("item,relation,value\nAlien,release_year,1979\nAlien,directed_by,Ridley Scott\n",
         "kb.csv", "item, relation, value: taken as head, relation, tail; 2 facts"),
        ("entity,predicate,object\nAlien,release_year,1979\nAlien,directed_by,Ridley Scott\n",
         "kb.csv", "entity, predicate, object: taken as head, relation, tail; 2 facts"),
        ("From;Type;To\nAlien;release_year;1979\nAlien;directed_by;Ridley Scott\n",
         "kb.csv", "From, Type, To: taken as head, relation, tail; 2 facts"),
        ("t\tr\th\n1979\trelease_year\tAlien\nRidley Scott\tdirected_by\tAlien\n",
         "kb.tsv", "h, r, t: taken as head, relation, tail; 2 facts"),
        ("id,release_year,directed_by\nAlien,1979,Ridley Scott\n",
         "kb.csv", "each row is a thing, id is its id, the other columns are relations; 2 facts"),
    ],
)  # fmt: skip
def test_other_headers_are_known_and_told(read, text, name, told):
    heard = []
    assert facts(read(text, name, on_reading=heard.append)) == EXPECTED
    assert len(heard) == 1
    assert heard[0].endswith(told)


def test_a_plain_header_goes_without_a_word(read):
    heard = []
    text = "head,relation,tail,source\nAlien,directed_by,Ridley Scott,here\n"
    graph = read(text, "kb.csv", on_reading=heard.append, lines=True)
    assert (heard, graph.source(0)) == ([], "here")
    text = "source,relation,target\nAlien,directed_by,Ridley Scott\n"
    assert read(text, "kb.csv", lines=True).source(0) == "kb.csv:2"


def test_triples_as_rdf_writes_them_short(read):
    graph = read(
        "subject\tpredicate\tobject\ndbr:Emmy_Noether\trdfs:label\t\"Amalie\"@en\n"
        "dbr:Emmy_Noether\tdbo:born\t\"1882-03-23\"^^xsd:date\ndbr:Emmy_Noether\tdbo:in\tdbr:Ulm\n",
        "d.tsv",
    )  # fmt: skip
    assert graph.triple(0) == ("dbr:Emmy_Noether", "dbo:born", "1882-03-23")
    assert graph.num_triples == 2
    assert graph.name(graph.entity("dbr:Emmy_Noether")) == "Amalie"
    assert graph.name(graph.entity("dbr:Ulm")) == "Ulm"
    plain = read("gene:A\tbinds\tgene:B\n", "g.tsv")
    assert plain.name(plain.entity("gene:A")) == "gene:A"


@pytest.mark.parametrize("size", [1, 40_000])
def test_what_is_no_utf_8_is_read_as_cp1252_and_told(read, size):
    text = "a|r|b\n" * size + "Köln|r|Zoë\n"
    heard = []
    graph = read(text.encode("cp1252"), "kb.txt", on_reading=heard.append)
    assert {"Köln", "Zoë"} <= {*graph.entity_ids}
    assert "kb.txt read as cp1252: no UTF-8" in heard[-1]
