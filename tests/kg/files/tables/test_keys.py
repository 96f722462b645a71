import json

import pytest
from named_facts import named_facts

from jaxkg.errors import JaxkgError
from jaxkg.kg import read_graph

CUSTOMERS = "id,name,city,account_manager_id\n1,Oak Ltd,Leeds,2\n2,Elm Ltd,York,1\n"
STAFF = "id,name,manager_id,floor\n1,Ann,,3\n2,Bob,1.0,1\n3,Cy,1.0,2\n"
ORDERS = "id,customer_id,amount\n1,1,3\n2,1,2\n17,2,1\n"


def test_a_number_is_a_row_only_where_its_column_means_rows(read):
    heard = []
    graph = read(STAFF, "staff.csv", on_reading=heard.append)
    assert named_facts(graph) == {
        ("Ann", "is a", "staff"), ("Bob", "is a", "staff"), ("Cy", "is a", "staff"),
        ("Bob", "manager_id", "Ann"), ("Cy", "manager_id", "Ann"),
        ("Ann", "floor", "3"), ("Bob", "floor", "1"), ("Cy", "floor", "2"),
    }  # fmt: skip
    assert "manager_id means rows called staff and a number" in heard[0]
    rooms = read("Room,Seats\n12,20\n20,8\n30,12\n", "kb.csv", format="table")
    assert ("Room 12".lower(), "Seats", "20") in named_facts(rooms)
    years = read("year,champion,venue\n1987,Ann,Ayr\n1988,Bo,Ely\n", "kb.csv", format="table")
    assert ("1987", "champion", "Ann") in named_facts(years)
    weeks = read("week,theme,host\n1,Moss,Ann\n2,Fern,Bo\n", "kb.csv", format="table")
    assert ("2", "theme", "Fern") in named_facts(weeks)


def test_the_tables_of_a_folder_are_joined_by_their_numbers(folder):
    heard = []
    files = {"customers.csv": CUSTOMERS, "staff.csv": STAFF, "orders.csv": ORDERS, "notes.md": "x"}
    graph = folder(files, on_reading=heard.append, lines=True)
    found = named_facts(graph)
    assert graph.entity_ids[graph.entity("order 1")] == "order 1"
    assert ("Oak Ltd", "account_manager_id", "Bob") in found
    assert ("order 1", "customer_id", "Oak Ltd") in found
    assert ("order 17", "amount", "1") in found
    assert ("order 17", "customer_id", "Elm Ltd") in found
    assert "left out: notes.md" in heard[0]
    row = next(r for r in range(graph.num_triples) if graph.triple(r)[1] == "amount")
    assert graph.source(row).startswith("orders.csv:")
    assert list(graph.aliases[graph.entity("order 17")]) == ["17"]
    assert graph.entity("order 1") not in graph.aliases  # 1 is a floor, too


def test_what_a_number_may_mean_in_several_tables_is_told_and_left(folder):
    heard = []
    plots = "id,name,owner_id\n1,North,2\n2,South,1\n"
    graph = folder({"plots.csv": plots, "sheds.csv": "id,name\n1,Oak\n2,Elm\n"},
                   on_reading=heard.append)  # fmt: skip
    assert ("North", "owner_id", "2") in named_facts(graph)
    assert "owner_id left as numbers: may mean rows called plot" in heard[0]
    parent = folder({"plots.csv": "id,name,parent_id\n1,North,2\n2,South,\n"})
    assert ("North", "parent_id", "South") in named_facts(parent)


MAKERS = "id,maker,town\nM1,Zipfel,Ely\nM2,Klippo,Ulm\n"
FOLDERS = {
    "a cell may list numbers, and a row that is not there": (
        {"staff.csv": "id,name\n1,Ann\n2,Bob\n", "shifts.csv": "id,staff_ids\n7,1;2\n8,2;9\n"},
        {("7", "staff_ids", "Ann"), ("7", "staff_ids", "Bob"), ("8", "staff_ids", "staff 9")}),
    "commas part what rows are called": (
        {"members.csv": "Member,Voice\nAnn Oak,alto\nBo Elm,bass\nCy Ash,alto\n",
         "plays.csv": 'Play,Crew,Nights,By\nLear,"Ann Oak, Bo Elm",3,X\n'
                      'Emma,"Bo Elm, Cy Ash",4,Y\n'},
        {("Lear", "Crew", "Ann Oak"), ("Emma", "Crew", "Cy Ash")}),
    "commas part what is listed again": (
        {"kb.csv": 'Name,Role,Skills\nAnn,Lead,"Tig, Saw"\nBo,Dev,"Tin, Saw"\nCy,Dev,"Tig, Tin"\n'},
        {("Bo", "Skills", "Tin")}),
    "commas part no town from its country": (
        {"kb.csv": 'Name,Role,Town\nAnn,Lead,"Ayr, UK"\nBo,Dev,"Ely, UK"\nCy,Dev,"Hay, UK"\n'},
        {("Bo", "Town", "Ely, UK")}),
    "first and last names are one": (
        {"people.csv": "first_name,Surname,team\nAnn,Oak,Red\nAnn,Ash,Blue\nBo,Elm,Red\n"},
        {("Ann Oak", "team", "Red"), ("Ann Ash", "is a", "people")}),
    "first and last names beside an id": (
        {"staff.csv": "id,Vorname,Nachname,boss\n1,Ann,Oak,2\n2,Bo,Elm,\n"},
        {("Ann Oak", "boss", "Bo Elm"), ("Bo Elm", "Nachname", "Elm")}),
    "records of one first name are two": (
        {"people.json": [{"first_name": "Ann", "last_name": "Oak", "team": "Red"},
                         {"first_name": "Ann", "last_name": "Ash", "team": "Blue"}]},
        {("Ann Oak", "team", "Red"), ("Ann Ash", "team", "Blue")}),
    "who a row reports to is a row of the one table that has the number": (
        {"instructors.csv": "instructor_id,full_name,reports_to,seats_up_to\n1,Ann Lee,,2\n"
                            "2,Bo Ash,1,1\n",
         "tasks.csv": "id,title,assigned_to,paid_by\n11,Sweep,2,40\n12,Mow,1,50\n"},
        {("Bo Ash", "reports_to", "Ann Lee"), ("Sweep", "assigned_to", "Bo Ash"),
         ("Mow", "paid_by", "50")}),
    "who taught whom is a row of a table of people, and `boat` has the boats' names": (
        {"craftspeople.csv": "id,name,taught_by_id\n1,Ann,\n2,Bo,1\n",
         "boats.csv": "id,boat,owner_id\n1,Gull,2\n2,Tern,1\n"},
        {("Bo", "taught_by_id", "Ann"), ("Gull", "owner_id", "Bo")}),
    "people are managed by those of their own table": (
        {"members.csv": "id,name\n1,Eve\n2,Flo\n",
         "staff.csv": "id,name,manager_id\n1,Ann,\n2,Bo,1\n"},
        {("Bo", "manager_id", "Ann")}),
    "rows called by codes have the names that a column is called for": (
        {"toys.csv": "toy_no,toy,maker_no,kind\nT01,Marble Run,M1,building\n"
                     "T02,Tin Drum,M2,music\n", "makers.csv": MAKERS},
        {("Tin Drum", "kind", "music"), ("Tin Drum", "maker_no", "Klippo"),
         ("Zipfel", "town", "Ely")}),
    "plain names stay ids, and a column that repeats is no name": (
        {"parks.csv": "park,kind,area\nAsh,wood,3\nElm,green,4\n", "makers.csv": MAKERS,
         "teams.csv": "team_no,team,size\nA1,Reds,3\nA2,Reds,4\nA3,Blues,4\n",
         "greens.csv": "site,green,area\nNorth,Mill,3\nSouth,Hill,4\n"},
        {("Ash", "kind", "wood"), ("A1", "team", "Reds"), ("North", "green", "Mill")}),
    "what codes call is what the table is called": (
        {"books.csv": "isbn,title,shelf\n111,Roots,2\n112,Salt,4\n",
         "loans.csv": "loan,isbn,day\n1,112,2024-01-02\n2,112,2024-02-02\n"},
        {("Salt", "is a", "books"), ("loan 1", "isbn", "Salt")}),
    "numbers without names are what their column is called": (
        {"books.csv": "isbn,shelf,row\n1119,A,2\n1120,B,4\n"},
        {("1119", "is a", "isbn")}),
}  # fmt: skip


@pytest.mark.parametrize("case", FOLDERS)
def test_what_tables_say_of_one_another(folder, case):
    files, facts = FOLDERS[case]
    texts = {name: said if isinstance(said, str) else json.dumps(said)
             for name, said in files.items()}  # fmt: skip
    assert named_facts(folder(texts)) >= facts


def test_numbers_that_count_no_rows_are_their_names(folder):
    graph = folder({"orders.csv": "id,customer,units\n10347,Elm Ltd,3\n10348,Oak Ltd,9\n"})
    row = graph.entity("order 10347")
    assert graph.name(row) == "10347"
    assert list(graph.aliases[row]) == ["order 10347"]
    # A value of that number, or rows of two tables, keep them apart.
    graph = folder({"orders.csv": "id,customer,units\n10347,Elm Ltd,10348\n10348,Oak Ltd,9\n"})
    assert graph.name(graph.entity("order 10347")) == "order 10347"
    bills = "id,payer,due\n10347,Elm Ltd,3\n10399,Oak Ltd,9\n"
    orders = "id,customer,units\n10347,Elm Ltd,3\n10348,Oak Ltd,9\n"
    graph = folder({"orders.csv": orders, "bills.csv": bills})
    assert graph.name(graph.entity("order 10347")) == "order 10347"
    assert graph.name(graph.entity("bill 10347")) == "bill 10347"


def test_records_are_joined_by_their_numbers_too(folder):
    people = [{"id": 1, "name": "Ann", "boss": None, "age": 2}, {"id": 2, "name": "Bo", "boss": 1}]
    found = named_facts(folder({"people.json": json.dumps(people)}))
    assert found == {
        ("Ann", "is a", "people"), ("Bo", "is a", "people"),
        ("Ann", "age", "2"), ("Bo", "boss", "Ann"),
    }  # fmt: skip


def test_rows_whose_first_column_comes_again_have_no_name(folder):
    heard = []
    cast = "Play,Member,Lines\nLear,Ann,90\nLear,Bo,40\nHamlet,Ann,30\nHamlet,Cy,7\nEmma,Cy,5\n"
    members = "Member,Voice\nAnn,alto\nBo,bass\n"
    graph = folder({"cast.csv": cast, "members.csv": members}, on_reading=heard.append)
    assert "Play comes again and again, so a row has no name" in heard[0]
    (ann,) = graph.entity_names.rows("Ann")
    rows = [head for head, _, tail in graph.triples.tolist() if tail == ann]
    assert len(rows) == 2
    assert not any(map(graph.has_name, rows))
    # In two columns a thing has several values.
    two = folder({"spoken.csv": "Member,language\nAnn,Welsh\nAnn,Manx\nBo,Manx\n"})
    assert ("Ann", "language", "Welsh") in named_facts(two)


def test_a_folder_of_nothing_to_read_says_so(tmp_path):
    (tmp_path / "a.pdf").write_text("x")
    with pytest.raises(JaxkgError, match="not a saved graph"):
        read_graph(tmp_path)
    (tmp_path / "a.csv").write_text("id,name,x\n1,A,2\n")
    with pytest.raises(JaxkgError, match="columns has no meaning for format 'folder'"):
        read_graph(tmp_path, columns=("a", "b", "c"))


def test_a_row_without_a_name_that_refers_to_several_is_a_blank_node(folder):
    orders = "id,customer_id,staff_id,amount\n1,1,3,3\n2,1,2,2\n17,2,1,1\n"
    graph = folder({"customers.csv": CUSTOMERS, "staff.csv": STAFF, "orders.csv": orders})
    (seventeen,) = graph.entity_names.rows("order 17")
    assert graph.entity_ids[seventeen] == "_:order_17"
    assert list(graph.aliases[seventeen]) == ["17"]
    assert ("order 17", "customer_id", "Elm Ltd") in named_facts(graph)
    # By names as well.
    sold = "id,client,seller,amount\n11,Oak Ltd,Ann,3\n12,Oak Ltd,Bob,2\n"
    graph = folder({"orders.csv": sold})
    assert "_:order_11" in graph.entity_ids


def test_names_of_rows_are_found_where_no_column_is_called_so(read):
    rows = "".join(f"{n},Firm {'ABCDEFGHI'[n]},Ayr\n" for n in range(9))
    graph = read("no,company,town\n" + rows, "customers.csv", format="table")
    assert ("Firm A", "town", "Ayr") in named_facts(graph)
    same = read("no,buyer,town\n" + rows + "9,Firm A,Ely\n", "sales.csv", format="table")
    assert ("sale 0", "buyer", "Firm A") in named_facts(same)
    dates = "".join(f"{n},2021-03-0{n + 1},Ayr\n" for n in range(9))
    assert ("sale 3", "day", "2021-03-04") in named_facts(
        read("no,day,town\n" + dates, "sales.csv", format="table")
    )


def test_lines_of_lists_are_records_and_a_blank_key_is_told(read):
    lines = '{"owners": [{"name": "Ann"}]}\n{"owners": [{"name": "Bo"}]}\n{"": 1, "owners": 2}\n'
    with pytest.raises(JaxkgError, match="'owners' is not a non-blank string"):
        read(lines, "kb.jsonl")
    with pytest.raises(JaxkgError, match=r"kb\.jsonl:2: a key is blank"):
        read('{"name": "Ann", "x": 1}\n{"name": "Bo", "": 1}\n', "kb.jsonl")


def test_columns_that_say_nothing_are_left_out(read):
    pandas = ",name,city,age,,\n0,Ann,Leeds,31,,\n1,Bob,York,45,,\n2,Cy,Leeds,29,,\n"
    assert named_facts(read(pandas, "kb.csv")) == {
        ("Ann", "city", "Leeds"), ("Ann", "age", "31"), ("Bob", "city", "York"),
        ("Bob", "age", "45"), ("Cy", "city", "Leeds"), ("Cy", "age", "29"),
    }  # fmt: skip


def test_what_lies_within_a_record_is_an_entity(folder):
    team = {
        "team": "Red",
        "lead": {"id": 7, "name": "Ann", "role": "cook"},
        "members": [{"name": "Bo", "role": "vet"}, {"name": "Cy"}],
        "matches": [{"day": "2021-03-04", "goals": 2}, {"day": "2022-03-04", "goals": 1}],
    }
    graph = folder({"teams.jsonl": json.dumps(team)})
    found = named_facts(graph)
    assert {("Red", "lead", "Ann"), ("Ann", "role", "cook"), ("Red", "members", "Bo")} <= found
    assert {("Bo", "role", "vet"), ("Red", "members", "Cy")} <= found
    assert "lead 7" in graph.entity_ids
    matches = {tail for head, relation, tail in found if relation == "matches"}
    assert len(matches) == 2
    assert all(match.startswith("_:match") for match in matches)
    assert {tail for head, _, tail in found if head in matches} == {
        "2021-03-04", "2022-03-04", "1", "2", "matches"
    }  # fmt: skip
    assert ("Bo", "is a", "members") in found
    assert not [r for h, r, _ in found if h == "Ann" and r == "is a"]


def test_records_of_a_list_within_are_called_by_their_titles(folder):
    book = {"title": "Herons", "author": "Ann"}
    maps = {"title": "Maps", "type": "atlas"}
    shelves = [{"name": "Maps", "books": [book, maps]}, {"name": "Low", "books": [book]}]
    graph = folder({"shelves.json": json.dumps({"topShelves": shelves})})
    found = named_facts(graph)
    assert {("Low", "books", "Herons"), ("Herons", "author", "Ann")} <= found
    assert {("Low", "is a", "top shelves"), ("Herons", "is a", "books")} <= found
    assert {t for h, r, t in found if h == "Maps" and r in ("is a", "type")} == {
        "top shelves", "atlas"
    }  # fmt: skip
    titled = [e for e in graph.entity_ids if graph.name(graph.entity(e)) == "Herons"]
    assert len(titled) == 2
    assert not [e for e in titled if e.startswith("_:")]


@pytest.mark.parametrize("indent", [None, 2])
def test_an_object_of_lists_is_a_table_a_key(read, indent):
    heard = []
    tables = {
        "people": [{"name": "Ann", "city": "Ely"}],
        "cities": [{"name": "Ely", "county": "X"}],
    }
    found = named_facts(
        read(json.dumps(tables, indent=indent), "all.json", on_reading=heard.append)
    )
    assert found == {
        ("Ann", "is a", "people"), ("Ann", "city", "Ely"),
        ("Ely", "is a", "cities"), ("Ely", "county", "X"),
    }  # fmt: skip
    assert "'people' read as a table" in heard[0]
    one = read(json.dumps({"name": "Ann", "city": "Ely"}, indent=2), "one.json")
    assert named_facts(one) == {("Ann", "city", "Ely")}


def test_a_column_means_rows_of_its_own_table_alone(folder):
    plots = "id,name,parent_id\n1,North,2;3\n2,South,\n3,West,2\n"
    sheds = "id,name,parent_id\n1,Oak,2\n2,Elm,1;3\n3,Ash,\n"
    found = named_facts(folder({"plots.csv": plots, "sheds.csv": sheds}))
    assert {(h, t) for h, r, t in found if r == "parent_id"} == {
        ("North", "South"), ("North", "West"), ("West", "South"),
        ("Oak", "Elm"), ("Elm", "Oak"), ("Elm", "Ash"),
    }  # fmt: skip


def test_records_are_called_by_keys_of_their_own(read):
    document = {
        "customers": [
            {"customerId": "K1", "name": "Ann", "town": "Ely",
             "roofs": [{"roofId": "D1", "covering": "slate",
                        "installation": {"installationId": "A1", "fitterIds": ["F1"]}}]},
        ],
        "fitters": [{"fitterId": "F1", "name": "Bo", "town": "Ulm"}],
        "members": [{"name": "Cy", "customerId": "K1"}],
        "visits": [{"customerId": "K1", "name": "Spring check"}],
        "staff": [{"id": "E1", "firstName": "Di", "lastName": "Ash", "title": "Dr"}],
        "vans": [{"name": "Gull", "engine": {"code": "X12", "power": 90}}],
    }  # fmt: skip
    found = named_facts(read(json.dumps(document), "all.json"))
    assert {
        ("Ann", "roofs", "D1"), ("D1", "covering", "slate"), ("D1", "installation", "A1"),
        ("A1", "fitterIds", "Bo"), ("Bo", "town", "Ulm"), ("Cy", "customerId", "Ann"),
        ("Spring check", "customerId", "Ann"), ("Di Ash", "title", "Dr"),
    } <= found  # fmt: skip
    assert ("X12", "power", "90") not in found


def test_records_within_a_list_are_called_by_titles_and_codes(read):
    lots = [{"id": "LOT1", "title": "Elm Settle", "seller": {"id": "S1", "name": "Ann"}}]
    copies = [{"disc": "D01", "shelf": "A1"}, {"disc": "D02", "shelf": "A1"}]
    loans = [{"loan": "L501", "disc": "D01"}]
    films = [{"title": "Dust", "copies": copies}]
    document = {
        "house": "Fenn", "currency": "EUR", "sales": [{"id": "SALE1", "lots": lots}],
        "films": films, "customers": [{"name": "Cy", "loans": loans}], "old": [],
    }  # fmt: skip
    found = named_facts(read(json.dumps(document), "all.json"))
    assert {
        ("Fenn", "currency", "EUR"), ("SALE1", "lots", "Elm Settle"),
        ("Elm Settle", "seller", "Ann"),
        ("Dust", "copies", "D01"), ("D02", "shelf", "A1"), ("Cy", "loans", "L501"),
        ("L501", "disc", "D01"),
    } <= found  # fmt: skip
    one = {"name": "Ann", "children": [{"name": "Bo", "born": 2001}]}
    assert ("Ann", "children", "Bo") in named_facts(read(json.dumps(one, indent=1), "one.json"))


def test_rows_of_codes_that_join_others_have_no_name(folder):
    files = {
        "tools.csv": "tool_no,tool,owner,lent_to\nT1,Drill,C1,C2\nT2,Saw,C2,C1\n",
        "customers.csv": "cust_no,customer,town\nC1,Ann,Ely\nC2,Bo,Ulm\n",
        "hires.csv": "hire_no,tool_no,cust_no,out_on\nH1,T1,C1,2024-01-02\nH2,T2,C1,2024-02-03\n",
    }
    graph = folder(files)
    hires = [entity for entity in graph.entity_ids.tolist() if entity.startswith("_:")]
    assert sorted(hires) == ["_:H1", "_:H2"]
    assert {graph.name(graph.entity(entity)) for entity in hires} == {"H1", "H2"}
    assert {("H1", "tool_no", "Drill"), ("H2", "cust_no", "Ann")} <= named_facts(graph)


def test_a_key_in_brackets_refers_to_rows(folder):
    facts = named_facts(folder({
        "members.csv": "ID,Name,Town\n5,Ann Berg,Ely\n8,Bo Lund,Ulm\n",
        "cast.csv": "Production,Part,Played by (ID),Night\nLear,Cordelia,5,1\nLear,Fool,8,1\n"
        "Ion,Fool,5,2\nIon,Xuthus,8,2\n",
    }))  # fmt: skip
    assert {tail for _, relation, tail in facts if relation == "Played by (ID)"} == {
        "Ann Berg", "Bo Lund"
    }  # fmt: skip


def test_codes_of_answers_mean_what_the_codebook_beside_them_says(folder):
    heard = []
    graph = folder({
        "codebook.csv": "Field Name,Field Type,Question,Choices\n"
        'mode,radio,"How do you come?","1, Bus | 2, On foot"\n'
        'km,text,"How far is it?",\nsat,radio,"Are you satisfied?","1=no; 2=yes"\n',
        "responses.csv": "record_id,mode,km,sat\n1001,2,1,1\n1002,1,2,2\n1003,2,3,-99\n",
    }, on_reading=heard.append)  # fmt: skip
    facts = {graph.triple(row) for row in range(graph.num_triples)}
    assert {("1001", "mode", "On foot"), ("1001", "km", "1"), ("1002", "sat", "yes")} <= {
        (head.rpartition(" ")[2], relation, tail) for head, relation, tail in facts
    }
    assert ("1003", "sat", "-99") in {(h.rpartition(" ")[2], r, t) for h, r, t in facts}
    assert graph.relation_aliases[graph.relation_code("km")] == ("How far is it?",)
    assert "codes of mode, sat read by 'codebook'" in heard[0]


def test_codes_mean_what_a_codebook_with_a_line_for_each_says(folder):
    heard = []
    book = "Field,Code,Abbr,Meaning\nSrc,BH,BH,Borehole\nSrc,RV,RV,River\n"
    book += "By,KW,KW,Kay West\nBy,DM,DM,Dee Moor\n"
    samples = "lab_id,point,Src,By\nL1,Mill,RV,KW\nL2,Farm,BH,DM\nL3,Quay,RV,DM\nL4,Barn,XX,KW\n"
    graph = folder({"codes.csv": book, "samples.csv": samples}, on_reading=heard.append)
    found = {fact[1:] for fact in named_facts(graph)}
    assert {("Src", "River"), ("Src", "Borehole"), ("By", "Kay West"), ("Src", "XX")} <= found
    assert ("By", "KW") not in found
    assert "codes of Src, By read by 'codes'" in heard[0]
    twice = f"{book}Src,RV,RV,Well\n"
    found = named_facts(folder({"codes.csv": twice, "samples.csv": samples}))
    assert ("Src", "RV") in {fact[1:] for fact in found}, "two meanings are none"


def test_rows_with_the_names_of_persons_that_come_again_are_no_persons(read):
    rows = "".join(
        f"9{n:03d},{('Lee', 'Ray')[n % 2]},{('Ann', 'Bo')[n % 2]},Book {n % 5}\n" for n in range(12)
    )
    graph = read(
        f"issue_id,surname,firstname,title\n{rows}",
        "loans.tsv".replace("tsv", "csv"),
        format="table",
    )
    facts = {graph.triple(row) for row in range(graph.num_triples)}
    loans = {head for head, relation, tail in facts if (relation, tail) == ("full name", "Ann Lee")}
    assert len(loans) == 6
