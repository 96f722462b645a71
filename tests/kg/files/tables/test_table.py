import re

import pytest

from jaxkg.errors import JaxkgError
from jaxkg.kg.files.tables.shape import rows_are_entities


def facts(graph):
    return [graph.triple(row) for row in range(graph.num_triples)]


def test_a_wide_table_is_an_entity_a_row(read):
    text = 'id;name;department;boss\nE1;Ann;Sales;\nE2;"Bob; Jr";Sales;E1\n\nE3;Cy;IT\n'
    graph = read(text, "staff.csv", skip_bad=1, lines=True)
    assert facts(graph) == [
        ("E1", "department", "Sales"),
        ("E1", "is a", "staff"),
        ("E2", "boss", "E1"),
        ("E2", "department", "Sales"),
        ("E2", "is a", "staff"),
    ]
    assert [graph.name(graph.entity(id)) for id in ("E1", "E2")] == ["Ann", "Bob; Jr"]
    assert graph.source(2) == "staff.csv:3"
    assert "3 cells for 4 columns" in graph.skipped[0]
    assert facts(read("person,boss\nAnn,Bob\n", "kb.csv", format="table")) == [
        ("Ann", "boss", "Bob"),
        ("Ann", "is a", "person"),
    ]
    twice = read("a,a,b\nc,d,e\n", "kb.csv", format="table")
    assert facts(twice) == [("c", "a 2", "d"), ("c", "b", "e"), ("c", "is a", "a")]


def test_beside_names_a_label_is_a_relation(read):
    rows = (
        "Nightbus,Leeds,Tidewater\nHarlequin Row,Bristol,Northway\nAsh & Ember,Cardiff,Tidewater\n"
    )
    bands = read(f"name,town,label\n{rows}", "bands.csv", format="table")
    assert ("Ash & Ember", "label", "Tidewater") in facts(bands)
    assert bands.name(bands.entity("Nightbus")) == "Nightbus"


@pytest.mark.parametrize("city", [False, True])
def test_columns_called_alike_are_one_relation(read, city):
    heard = []
    rows = ["name,city,phone,phone", "Ann,Rome,12,34", "Bob,Bonn,56,", "Cid,Rome,78,78"]
    text = "\n".join(row if city else re.sub(",[^,]*", "", row, count=1) for row in rows)
    graph = read(text + "\n", "people.csv", on_reading=heard.append)
    phones = [(head, tail) for head, relation, tail in facts(graph) if relation == "phone"]
    assert phones == [("Ann", "12"), ("Ann", "34"), ("Bob", "56"), ("Cid", "78")]
    assert "2 columns 'phone' one relation" in heard[0]
    assert ("Bob", "city", "Bonn") in facts(graph) or not city


def test_what_a_row_is_stands_beside_what_columns_say(read):
    graph = read("employee_id,name,is a\nE1,Ann,baker\n", "t.csv", lines=True, format="table")
    assert facts(graph) == [("E1", "is a", "baker"), ("E1", "type", "employee")]
    assert graph.source(1) == "t.csv:2"
    both = read("dog,type,is_a,age\nRex,pet,friend,4\n", "t.csv", format="table")
    assert {relation for _, relation, _ in facts(both)} == {"type", "is_a", "age"}
    rows = "".join(f"P{n},pond,{n}\n" for n in range(9))
    twice = read(f"park,has,age\nA,pond,4\nA,swing,4\n{rows}", "t.csv", format="table")
    assert facts(twice).count(("A", "is a", "park")) == 1
    plain = read("id,has,age\nA,pond,4\nB,pond,5\n", "old-parks.2023.csv")
    assert ("B", "is a", "old parks") in facts(plain)
    assert len(facts(read("id,has,age\nA,pond,4\nB,pond,5\n", "kb.csv"))) == 4


def test_a_cell_with_the_name_of_a_row_is_that_row(read):
    told = []
    table = (
        "id,name,boss,desk,friend\nE1,Ann,Bob,7,Cy\nE2,Bob,,7,\nE3,Cy,Bob,8,Ann\nE4,Cy,E2,7,Bob\n"
    )
    graph = read(table, "desk.csv", lines=True, on_reading=told.append)
    assert facts(graph) == [
        ("E1", "boss", "E2"), ("E1", "desk", "7"), ("E1", "friend", "Cy"), ("E2", "desk", "7"),
        ("E3", "boss", "E2"), ("E3", "desk", "8"), ("E3", "friend", "E1"), ("E4", "boss", "E2"),
        ("E4", "desk", "7"), ("E4", "friend", "E2"),
    ]  # fmt: skip
    assert "2 names in cells taken for the rows called so" in told[0]
    assert "'Cy' left as they are: several rows are called so" in told[0]
    assert graph.source(0) == "desk.csv:2"
    # A number is no name of a row, and an id stays what it is.
    graph = read("id,name,next\nA,7,B\nB,A,7\n", "kb.csv")
    assert facts(graph) == [("A", "next", "B"), ("B", "next", "7")]


FIRMS = "Firm,City,Founded\nAcme GmbH,Köln,1999\nBeta AG,Bonn,2004\nGamma KG,Köln,2010\n"
PEOPLE = "person,department,boss\n" + "\n".join(f"p{i},d{i},b{i}" for i in range(30))
TURBINES = (
    "Turbine,Site,Maker,Model,Commissioned\nT1,Hill,Vestas,V90,2004-05-01\n"
    "T2,Hill,Enercon,E82,2009-07-12\n"
)


@pytest.mark.parametrize(
    ("text", "fact", "count"),
    [
        (FIRMS, ("Beta AG", "City", "Bonn"), 9),
        (FIRMS.replace(",", ";"), ("Beta AG", "City", "Bonn"), 9),
        (PEOPLE, ("p7", "boss", "b7"), 90),
        (TURBINES, ("T1", "Maker", "Vestas"), 10),
        ("machine,maker,weight,bought\nLathe,Hobart,1200,2011-03-04\n",
         ("Lathe", "weight", "1200"), 4),
        ("Firm,Founded,City\nAcme,1999,Köln\nBeta,2004,Bonn\n", ("Acme", "Founded", "1999"), 6),
        ("Firm;Sales\nAcme;32,50 €\nBeta;7 €\n", ("Acme", "Sales", "32,50 €"), 4),
        ("Firm,Price,Place\nA,CHF 1'200,Ayr\nB,CHF 900,Ely\n", ("B", "Price", "CHF 900"), 6),
        ("Runner,100 m,200 m,Club\nAnn,12.1,25.0,Hare\nBea,12.4,26.1,Hare\n",
         ("Ann", "100 m", "12.1"), 8),
    ],
)  # fmt: skip
def test_rows_that_are_entities_are_known_without_a_word(read, text, fact, count):
    heard = []
    graph = read(text, "kb.csv", on_reading=heard.append)
    assert fact in facts(graph)
    of = {tail for _, relation, tail in facts(graph) if relation == "is a"}
    assert of == {text.replace(";", ",").split(",")[0].lower()}
    assert graph.num_triples == count
    assert "read as a table: each row is a thing" in heard[0]
    assert f"its class is {of.pop()!r}" in heard[0]
    assert "if each row is a triple, name the format 'csv'" in heard[0]
    assert ("person", "department", "boss") in facts(read(PEOPLE, "kb.csv", format="csv"))
    tabs = read(FIRMS.replace(",", "\t"), "kb.txt")
    assert facts(tabs) == facts(read(FIRMS, "kb.csv"))


@pytest.mark.parametrize(
    "text",
    [
        "Alien,directed_by,Scott\nHeat,year,1995\nUp,released,2009\n",
        "Alien,year,1979\nHeat,released,1995\nUp,made,2009\n",
        "Alien,directed by,Scott\nHeat,year,1995\n",
        "Alien,Likes,Heat\nHeat,Knows,Up\nUp,Sees,Jaws\nJaws,Eats,Them\n",
        "Alien,directed_by,Scott\n" + "".join(f"f{i},year,{1990 + i}\n" for i in range(30)),
        "Alien,directed_by,Scott,imdb\nHeat,year,1995,imdb\n",
        "Alien,directed_by,Scott,0.9\nHeat,year,1995,0.7\n",
        "a,r,b\n" + "".join(f"n{i},r{i % 7},n{i + 1}\n" for i in range(40)),
    ],
)
def test_triples_without_a_header_stay_triples(read, text):
    first = tuple(text.split("\n")[0].split(",")[:3])
    assert first in facts(read(text, "kb.csv"))


def test_triples_that_may_be_a_table_are_told(read):
    heard = []
    text = "Wreck,Sea,Found by\nAda,North,Ann\nBea,Baltic,Ben\nCid,North,Cy\n"
    graph = read(text, "kb.csv", on_reading=heard.append)
    assert ("Wreck", "Sea", "Found by") in facts(graph)
    assert "where it names columns, the format is 'table'" in heard[0]
    assert facts(read(text, "kb.csv", format="table"))[0] == ("Ada", "Found by", "Ann")
    few = "a,r,b,1\nc,r,d,2\n"
    read(few, "kb.csv", on_reading=heard.append)
    assert "columns 1 to 3 of 4 taken as head, relation, tail, the others left out" in heard[1]
    rows = "".join(f"p{i},d{i},b{i}\n" for i in range(30))
    read(rows, "kb.csv", on_reading=heard.append, format="csv")
    assert "30 relations for 30 facts; if each row is a thing" in heard[2]


def test_two_columns_by_a_semicolon_or_none(read):
    text = "Name;Budget\nAda;32,50 €\n"
    for options in ({}, {"format": "table"}):
        assert facts(read(text, "kb.csv", **options)) == [("Ada", "Budget", "32,50 €")]
    with pytest.raises(JaxkgError, match=r"2 fields: .*each column a relation, add --format table"):
        read("m.1\tAlien\nm.2\tHeat\n", "kb.tsv")
    with pytest.raises(JaxkgError, match="'Name' is no header of a table: it has but one column"):
        read("Name\nAda\n", "kb.csv", format="table")


def test_two_columns_below_a_header_in_small_letters_are_a_table(read):
    text = "country,capital\nPeru,Lima\nGhana,Accra\n"
    assert ("Peru", "capital", "Lima") in facts(read(text, "kb.csv"))
    for unsure in "Oslo,Norway\nLima,Peru\n", "country,capital\nperu,lima\nghana,accra\n":
        with pytest.raises(JaxkgError, match="add --format table"):
            read(unsure, "kb.csv")


def test_a_comma_in_a_header_parted_by_semicolons(read):
    text = "Name;Price, net;Place\nAda;32,50;Ayr\n"
    graph = read(text, "kb.csv")
    assert facts(graph) == [("Ada", "Place", "Ayr"), ("Ada", "Price, net", "32,50")]
    graph = read("Ada,knows,B;C;D;E\nBen,knows,Ada\n", "kb.csv")
    assert facts(graph)[0] == ("Ada", "knows", "B;C;D;E")


def test_rows_of_one_id_are_told(read):
    heard = []
    days = "".join(f"D{n},Hill,{n},Cy\n" for n in range(6))
    text = f"Day,Site,Output,Crew\nMon,Hill,7,Ann\nMon,Dale,9,Ben\n{days}"
    read(text, "kb.csv", on_reading=heard.append)
    assert "1 rows are of an id that is above them, too" in heard[0]


def test_cells_that_say_nothing_are_no_facts(read):
    heard = []
    text = "name,height,boss\nAda,1.70,-\nBen,n/a,Null\nCy,null,k.A.\n"
    graph = read(text, "kb.csv", on_reading=heard.append, lines=True)
    assert facts(graph) == [("Ada", "height", "1.70"), ("Ben", "boss", "Null")]
    assert "4 cells that say nothing ('-', 'k.A.', 'n/a') left out" in heard[0]
    assert graph.source(1) == "kb.csv:3"
    with pytest.raises(JaxkgError, match="no triples in it"):
        read("name,height\nAda,n/a\n", "kb.csv")


def test_numbers_and_dates_that_could_be_others_are_told(read):
    heard = []
    text = "name,born,high\nAda,3/4/1990,1.200 m\nBen,5/6/1991,900 m\n"
    read(text, "kb.csv", on_reading=heard.append)
    assert "born: '3/4/1990' and the like taken as day, month, year" in heard[0]
    assert "high: '1.200 m' taken as 1200" in heard[0]
    read("Ada\tborn\t3/4/1990\nBen\tborn\t5/6/1991\n", "kb.tsv", on_reading=heard.append)
    assert "born: '3/4/1990' and the like taken as day, month, year" in heard[1]


def test_cells_that_list_several_things(read):
    told = []
    table = (
        'title,runs on,seen in,tags,size\nA,PC; Mac,"Rome, Italy","red, old","1,200"\n'
        'B,Mac,"Oslo, Norway","old","1,300"\nC,PC|Mac,Rome,"red","5"\n'
    )
    graph = read(table, "kb.csv", lines=True, on_reading=told.append)
    assert facts(graph) == [
        ("A", "runs on", "Mac"), ("A", "runs on", "PC"), ("A", "seen in", "Rome, Italy"),
        ("A", "size", "1,200"), ("A", "tags", "old"), ("A", "tags", "red"), ("B", "runs on", "Mac"),
        ("B", "seen in", "Oslo, Norway"), ("B", "size", "1,300"), ("B", "tags", "old"),
        ("C", "runs on", "PC|Mac"), ("C", "seen in", "Rome"), ("C", "size", "5"),
        ("C", "tags", "red"),
    ]  # fmt: skip
    assert "runs on: several in a cell, told apart at ';'" in told[0]
    assert "tags: several in a cell, told apart at ','" in told[0]
    assert "seen in" not in told[0]
    assert {graph.source(row) for row in range(4)} == {"kb.csv:2"}
    long = "title,note\nA,it was late; nobody had thought of that at all\n"
    assert len(facts(read(long, "kb.csv"))) == 1


def test_a_cell_that_lists_rows_by_name_joins_them(read):
    graph = read("id,name,friends\n1,Ann,Bob|Cy\n2,Bob,\n3,Cy,Ann\n", "kb.csv")
    ends = [(graph.name(head), graph.name(tail)) for head, _, tail in graph.triples.tolist()]
    assert ends == [("Ann", "Bob"), ("Ann", "Cy"), ("Cy", "Ann")]


def test_what_has_several_rows_is_no_table_of_three_columns():
    header, names = ["Sensor", "Reading", "Size"], ["A", "A", "B", "B", "C"]
    rows = [[name, told, size] for name, told, size in zip(names, ["temp", "hum"] * 3, "23456")]
    assert rows_are_entities([header, *rows]) is False
    alone = [[f"{row[0]}{at}", *row[1:]] for at, row in enumerate(rows)]
    assert rows_are_entities([header, *alone]) is True


def test_three_columns_are_a_table_where_the_middle_ones_differ_or_the_header_is_written_so(read):
    films = "year,title,director\n2013,Rush,Ann\n2013,Gone,Bo\n2014,Fury,Cy\n2014,Ida,Di\n"
    assert ("Fury", "year", "2014") in facts(read(films, "films.csv"))
    titled = films.replace("year,title,director", "Year,Title,Director")
    assert ("Fury", "Year", "2014") in facts(read(titled, "films.csv"))
    marks = "pupil,course,mark\nAnn,Math,A\nAnn,Art,B\nBo,Math,B\n"
    assert ("pupil", "Ann") in {(r, t) for _, r, t in facts(read(marks, "marks.csv"))}
    # Facts of one thing, a header that may be one of them, and codes of relations.
    for text in ("Ann,knows,Bo\nAnn,likes,Cy\nBo,knows,Cy\n", "A,P31,B\nA,P279,C\nB,P31,C\n"):
        assert len(facts(read(text, "facts.csv"))) == 3
    coded = "item,what,whom\nQ1,P31,Q2\nQ1,P279,Q3\nQ2,P31,Q3\n"
    assert ("Q1", "P31", "Q2") in facts(read(coded, "coded.csv"))


def test_a_blank_above_the_names_of_rows_heads_them(read):
    found = facts(read(",Rooms,Stars\nBellevue,42,4\nPost,20,3\n", "hotels.csv"))
    assert {("Post", "Stars", "3"), ("Bellevue", "Rooms", "42")} <= set(found)
    # An index says nothing, and is left out.
    found = facts(read(",name,city\n0,Ann,Oslo\n1,Bo,Ely\n", "kb.csv"))
    assert set(found) == {("Ann", "city", "Oslo"), ("Bo", "city", "Ely")}
    with pytest.raises(JaxkgError, match="blank name"):
        read("Ann,,Oslo\nBo,knows,Ann\n", "blank.csv")


def test_a_day_is_no_name_of_what_happened_on_it(read):
    firings = "Date,Kiln,By,Peak\n2024-01-11,Old,Ann,1222\n2024-01-18,New,Bo,1276\n"
    told = []
    found = read(firings, "firings.csv", on_reading=told.append)
    rows = {head for head, _, _ in facts(found)}
    assert len(rows) == 2
    assert all(row.startswith("_:firing_") for row in rows)
    assert {(r, t) for _, r, t in facts(found) if r == "Date"} == {
        ("Date", "2024-01-11"), ("Date", "2024-01-18"),
    }  # fmt: skip
    assert "Date tells when, so a row has no name" in told[0]
    weather = "Day,Rain,Sun,Remark\n2024-01-11,3,2,wet\n2024-01-12,0,7,dry\n"
    assert ("2024-01-11", "Remark", "wet") in facts(read(weather, "weather.csv"))
    years = "Year,Winner,Second,Held at\n1990,Ann,Bo,Ayr\n1991,Cy,Di,Ely\n"
    assert ("1990", "Winner", "Ann") in facts(read(years, "cups.csv"))


def test_a_column_called_as_rows_are_has_their_names(read):
    pools = "pool_id,pool_name,manager name,lanes\n1,Lido,Ann,4\n2,Tank,Bo,6\n"
    found = read(pools, "pools.csv")
    assert found.name(found.entity("pool 1")) == "Lido"
    assert ("pool 2", "manager name", "Bo") in facts(found)
    staff = read("staff_no,full name,floor\n7,Ann Lee,1\n8,Bo Ash,2\n", "staff.csv")
    assert {staff.name(staff.entity(f"staff {n}")) for n in (7, 8)} == {"Ann Lee", "Bo Ash"}
    firms = read("buyer_id,town,buyer,cap\n1,Ayr,Oak Ltd,3\n2,Ely,Elm Ltd,4\n", "buyers.csv")
    assert firms.name(firms.entity("buyer 2")) == "Elm Ltd"
    numbers = read("order_id,town,order,cap\n1,Ayr,7,3\n2,Ely,9,4\n", "orders.csv")
    assert ("order 2", "order", "9") in facts(numbers)
    other = read(
        "Piece,Full name,Price\nVase,Blue Vase,4\nJar,Red Jar,5\n", "t.csv", format="table"
    )
    assert ("Vase", "Full name", "Blue Vase") in facts(other)


def test_rows_are_called_in_full_where_a_header_shortens_the_title(read):
    told = []
    text = "cust_no,customer,town\n1,Oak Ltd,Leeds\n2,Elm Ltd,York\n3,Ash Ltd,Ely\n"
    found = read(text, "customers.csv", format="table", on_reading=told.append)
    assert ("customer 1", "is a", "customer") in facts(found)
    assert "called customer and its number" in told[0]
    other = read(text, "book.csv", format="table")
    assert ("cust 1", "is a", "cust") in facts(other)
    of_a_year = read(text, "customers_2024.csv", format="table")
    assert ("customer 1", "is a", "customer") in facts(of_a_year)
    items = read("item_no,kind,sold\n1,pen,3\n2,ink,4\n3,nib,5\n", "items_sold.csv", format="table")
    assert ("item 1", "is a", "item") in facts(items)


def test_commas_part_lists_of_what_stands_anywhere_in_them(read):
    people = 'Volunteer,Town,Languages\nA,x,English\nB,y,"English, Welsh"\n'
    people += 'C,z,"Irish, English"\nD,x,"Twi, English"\n'
    found = facts(read(people, "people.csv", format="table"))
    assert {tail for _, relation, tail in found if relation == "Languages"} == {
        "English", "Welsh", "Irish", "Twi",
    }  # fmt: skip
    places = 'Volunteer,Age,Home\nA,1,England\nB,2,"Leeds, England"\nC,3,"York, England"\n'
    places += 'D,4,"Ely, England"\n'
    found = facts(read(places, "places.csv", format="table"))
    assert ("B", "Home", "Leeds, England") in found


def test_rows_with_codes_are_called_by_the_column_of_names_beside_them(read):
    makers = "id,company,city\nM1,Lumen GmbH,Ayr\nM2,Sedia SpA,Udine\nM3,Workline BV,Ayr\n"
    graph = read(makers, "makers.csv")
    assert [graph.name(graph.entity(key)) for key in ("M1", "M3")] == ["Lumen GmbH", "Workline BV"]
    # Not by what repeats, is dated, or refers to others.
    orders = "id,customer,ordered\nO1,Ann,2024-02-01\nO2,Bo,2024-02-03\nO3,Cy,2024-02-09\n"
    rooms = "id,floor,wing\nR1,Upper,A\nR2,Upper,B\nR3,Lower,A\n"
    cars = "plate,make,type\nAB1,Volvo,truck\nAB2,Ford,van\nAB3,Saab,van\n"
    refers = "id,maker,city\nP1,M1,Ayr\nP2,M2,Ayr\nP3,M3,Ely\n"
    for text in (orders, rooms, cars, refers):
        graph, key = read(text, "rows.csv"), text.split("\n")[1].split(",")[0]
        assert graph.name(graph.entity(key)) == key


def test_three_columns_of_which_two_are_keys_are_a_table(read):
    text = "student_id,course_id,grade\ns1,c1,A\ns1,c4,B\ns2,c1,A\n"
    grades = facts(read(text, "enrollments.csv"))
    assert [fact[1] for fact in grades].count("course_id") == 3
    assert rows_are_entities([["head_id", "relation_id", "x"], ["a", "b", "c"]]) is not True
    named = [["film_id", "by", "who"], ["f1", "is by", "Ann"], ["f2", "is by", "Bo"]]
    assert rows_are_entities(named) is not True


def test_columns_called_as_the_rows_of_another_file_head_a_table(folder):
    files = {
        "students.csv": "id,name,year\ns1,Nora,2\ns2,Ravi,3\n",
        "grades.csv": "student,course,grade\ns1,Cell,A\ns1,Gene,B\ns2,Cell,A\n",
    }
    graph = folder(files)
    assert {fact[1] for fact in facts(graph)} >= {"student", "course", "grade"}


def test_of_nodes_with_a_name_the_label_is_the_class(read):
    text = "id,label,name,country\nn1,Supplier,Alpine,Austria\nn2,Factory,Plant Ost,Germany\n"
    assert ("n2", "is a", "Factory") in facts(read(text, "nodes.csv"))
    assert ("n2", "label", "Factory") in facts(read(text, "plants.csv"))


def test_two_columns_of_a_key_and_its_name(folder):
    files = {
        "categories.csv": "category_id,category_name\n1,Lighting\n2,Furniture\n",
        "products.csv": "product_id,product_name,category_id\n11,Lamp,1\n12,Chair,2\n",
    }
    graph = folder(files)
    row = graph.triples[[fact[1] == "category_id" for fact in facts(graph)]][1]
    assert (graph.name(row[0]), graph.name(row[2])) == ("Chair", "Furniture")


def test_rows_are_of_the_class_that_the_title_says_where_codes_call_them(read):
    text = "plate,make,owner\nKX-204,Volvo,Ruth\nLM-778,Toyota,Karl\n"
    assert ("KX-204", "is a", "cars") in facts(read(text, "cars.csv"))
    assert ("Lavender", "is a", "plants") in facts(
        read("common_name,height,light\nLavender,60,sun\nFern,100,shade\n", "plants.csv")
    )


def test_a_measure_calls_no_row(read):
    capitals = "lon,lat,state,city\n-86.3,32.37,Alabama,Montgomery\n-134.4,58.3,Alaska,Juneau\n"
    assert ("Alaska", "city", "Juneau") in facts(read(capitals, "capitals.csv"))
    yields = "yield,variety,year\n27.433,Glabron,1931\n48.866,Glabron,1932\n"
    graph = read(yields, "barley.csv")
    assert ("Glabron", "variety") not in {fact[:2] for fact in facts(graph)}
    assert {fact[1] for fact in facts(graph)} >= {"yield", "variety", "year"}


def test_numbers_that_come_again_have_no_names(read):
    rows = "".join(f"{1 + at // 3},{name}\n" for at, name in enumerate("ABCDEFGHI"))
    graph = read(f"group,person\n{rows}", "groups.csv")
    assert [fact[2] for fact in facts(graph) if fact[:2] == ("group 1", "person")] == [*"ABC"]


def test_few_cells_that_are_called_as_a_row_are_no_rows(read):
    rows = "".join(f"A{n},Port {n},{'Port 7' if n == 3 else f'Town {n}'}\n" for n in range(9))
    graph = read(f"iata,name,city\n{rows}", "airports.csv")
    assert ("A3", "city", "Port 7") in facts(graph)
    rows = "".join(f"A{n},Port {n},Port {n // 2}\n" for n in range(1, 9))
    graph = read(f"iata,name,hub\n{rows}", "airports.csv")
    assert ("A4", "hub", "A2") in facts(graph)
    rows = "".join(f"A{n},Port {n},Port {n // 2},Town {n % 7}\n" for n in range(1, 9))
    graph = read(f"iata,name,hub,city\n{rows}A9,Port 9,Port 1,Port 1\n", "airports.csv")
    assert {("A9", "hub", "A1"), ("A9", "city", "A1")} <= set(facts(graph))


def test_rows_that_refer_to_another_table_are_not_its_rows(folder):
    files = {
        "elements.csv": "atomic_number,name\n1,Hydrogen\n2,Helium\n3,Lithium\n5,Boron\n",
        "phases.csv": "id,atomic_number,boils_at\n1,5,4200\n3,1,20\n",
    }
    found = facts(folder(files))
    assert not any(fact[0] == "atomic 1" and fact[1] == "boils_at" for fact in found)
    assert any(fact[1] == "boils_at" for fact in found)


def test_rows_of_two_others_are_neither(folder):
    files = {
        "films.csv": "film_id,title\n1,Gulls\n2,Tides\n",
        "tags.csv": "user_id,film_id,tag,at\n1,2,old,9\n2,2,odd,8\n",
        "links.csv": "film_id,imdb_id,tmdb_id\n1,71,91\n2,72,92\n",
    }
    found = facts(folder(files))
    assert {fact[2] for fact in found if fact[1] == "tag"} == {"old", "odd"}
    assert not any(fact[0] == "user 1" and fact[1] == "tag" for fact in found)
    assert ("film 1", "imdb_id", "71") in found
    own = "film_id,maker_id,size,at\n1,7,3,9\n2,7,4,8\n"
    assert ("film 1", "size", "3") in facts(folder({"films.csv": own}))


@pytest.mark.parametrize(
    ("column", "cells", "wanted"),
    [
        ("genres", ("Drama,War", "Comedy,Crime"), {"Drama", "War", "Comedy", "Crime"}),
        ("genre", ("Drama,War", "Comedy,Crime"), {"Drama,War", "Comedy,Crime"}),
        ("places", ("Leeds, UK", "York, UK 2"), {"Leeds, UK", "York, UK 2"}),
        ("sizes", ("a1,b2", "c3,d4"), {"a1,b2", "c3,d4"}),
        ("genres", ("Drama,War", "Comedy"), {"Drama,War", "Comedy"}),
    ],
)
def test_lists_without_blanks_in_a_column_in_the_plural(read, column, cells, wanted):
    rows = "".join(f'F{at},"{cell}",{at}\n' for at, cell in enumerate(cells))
    found = facts(read(f"film,{column},size\n{rows}", "films.csv"))
    assert {fact[2] for fact in found if fact[1] == column} == wanted


def test_names_in_two_columns_whichever_word_is_first(read):
    graph = read("playerID,nameFirst,nameLast\nha01,Walt,Hart\nso02,Juan,Soto\n", "players.csv")
    assert graph.name(graph.entity("ha01")) == "Walt Hart"


@pytest.mark.parametrize(
    ("header", "rows", "name"),
    [
        ("SKU,Description,Qty,Counted", ("A-1,Hex bolt,4,2026-01-14", "A-2,Nut,9,2026-01-15"),
         "Hex bolt"),
        ("CustomerID,Company,City", ("1,Bright Ltd,Ely", "2,Kestrel Ltd,Rye", "3,Sea Foods,Ely"),
         "Bright Ltd"),
        ("OrderID,Buyer,Day", ("1,Ann Lee,3 May 2026", "2,Bo Ek,4 May 2026", "3,Al Or,5 May 2026"),
         "order 1"),
        ("CustomerID,Company,City", ("1,Bright Ltd,Ely", "2,Bright Ltd,Rye", "3,Sea Foods,Deal"),
         "customer 1"),
        ("Acc. No.,Object,Height", ("1931.4,Tall clock,2", "1931.5,Pewter dish,3",
         "1958.1,Wig stand,4"), "Tall clock"),
        ("Acc. No.,Place,Height", ("1931.4,North hall,2", "1931.5,North hall,3",
         "1958.1,West hall,4"), "1931.4"),
        ("Bed,Common name,Cost", ("N1,Bear foot,2", "N1,Sea holly,3", "N1,Catmint,4",
         "S1,Iris,4"), "Sea holly"),
    ],
)  # fmt: skip
def test_what_numbers_and_codes_are_called_beside_them(read, header, rows, name):
    graph = read(f"{header}\n" + "\n".join(rows) + "\n", "data.csv")
    heads = {fact[0] for fact in facts(graph)}
    assert name in {graph.name(graph.entity(head)) for head in heads}


def test_codes_of_several_parts_are_called_as_the_column_of_what_rows_are(read):
    rows = "TEA-AS1,Assam 100g,7.95\nTEA-DJ2,Darjeeling 50g,12.50\nACC-KY1,Pot,38\n"
    graph = read(f"SKU,Product,Price\n{rows}", "products.csv")
    assert graph.name(graph.entity("TEA-AS1")) == "Assam 100g"


def test_many_numbers_are_called_by_what_stands_beside_them_and_days_do_not_matter(read):
    rows = "".join(f"{at},Bo {'ABCDEFGHI'[at]},{at + 1} May 2026\n" for at in range(9))
    graph = read(f"StaffID,Person,Hired\n{rows}", "data.csv")
    assert "Bo C" in {graph.name(graph.entity(fact[0])) for fact in facts(graph)}


def test_hosts_are_no_hostnames(read):
    graph = read("hostname,ip,os,cpus\nweb01,10.0.0.1,BSD,4\ndb01,10.0.0.2,BSD,8\n", "servers.csv")
    assert ("web01", "is a", "servers") in facts(graph)


def test_quotes_behind_blanks_and_quotes_within_quotes(read):
    text = 'Name,      Country, Time\n"Bo Ek",  "NOR",   9.8\n"A. \\"Bar\\" Lee", "USA", 9.7\n'
    text += '"Cy Or",  "NOR", 9.9\n'
    found = facts(read(text, "sprint.csv"))
    assert {("Bo Ek", "Country", "NOR"), ('A. "Bar" Lee', "Time", "9.7")} <= set(found)


@pytest.mark.parametrize(("years", "named"), [("2008 2012 2008", False), ("2008 2008 2008", True)])
def test_rows_of_a_name_of_several_years_have_none(read, years, named):
    first, second, third = years.split()
    rows = [f"Bolt,{first},9.6", f"Bolt,{second},9.7", f"Lee,{third},9.8"]
    rows += [f"N{at},20{at:02},9.{at}" for at in range(3, 9)]
    found = facts(read("Name,Year,Time\n" + "\n".join(rows) + "\n", "results.csv"))
    assert (("Bolt", "Time", "9.6") in found) == named
    rows += [f"M{at},2010,9.{at}" for at in range(3, 9)]
    more = facts(read("Name,Year,Time\n" + "\n".join(rows) + "\n", "results.csv"))
    assert ("Bolt", "Time", "9.6") in more


def test_na_says_nothing_where_it_stands_among_numbers(read):
    rows = "Cow,NA,5\nOwl,lc,NA\nBat,lc,7\nElk,NA,8\n"
    found = facts(read(f"name,status,sleep\n{rows}", "sleep.csv"))
    assert not [fact for fact in found if fact[2] == "NA"]
    rows = "Peru,SA,5\nCuba,NA,6\nOman,AS,7\nHaiti,NA,8\n"
    assert ("Cuba", "continent", "NA") in facts(read(f"name,continent,size\n{rows}", "c.csv"))


def test_the_key_of_what_a_table_is_of_calls_its_rows(read):
    rows = "".join(f"R{n // 4},WKD,R{n // 4}-{n},End {n % 2}\n" for n in range(12))
    graph = read(f"route_id,service_id,trip_id,trip_headsign\n{rows}", "trips.csv", format="table")
    assert ("R1-5", "route_id", "R1") in facts(graph)
    assert ("R1-5", "trip_headsign", "End 1") in facts(graph)


@pytest.mark.parametrize(("size", "name"), [(12, "Oak House"), (11, "P-100")])
def test_what_differs_in_each_of_many_rows_names_their_codes(read, size, name):
    texts = ["Oak House", *(f"{n} Mill Lane" for n in range(1, size))]
    rows = "".join(f"P-{100 + n},{text},2024-01-{n + 1:02d}\n" for n, text in enumerate(texts))
    graph = read(f"Ref,Address,Listed\n{rows}", "lettings.csv", format="table")
    assert graph.name(graph.entity("P-100")) == name


def test_rows_that_are_called_records_are_what_their_file_is_of(folder):
    graph = folder({
        "all-companies.csv": 'Record ID,Name\n9001,Acme\n9002,Bolt\n',
        "all-contacts.csv": 'Record ID,Name,Company ID\n77,Ann,9001\n78,Bo,9002\n',
    })  # fmt: skip
    sorts = {tail for _, relation, tail in facts(graph) if relation == "is a"}
    assert sorts == {"companies", "contacts"}


def test_the_same_rows_in_tables_that_say_other_things_of_them(folder):
    rows = {"autumn": (53, 61, 70), "spring": (73, 63, 70)}
    graph = folder({
        f"marks {term}.csv": "id,name,form,mark\n"
        + "".join(f"B{n},Pupil {n},7A,{mark}\n" for n, mark in enumerate(marks))
        for term, marks in rows.items()
    })  # fmt: skip
    said = {(head, relation, tail) for head, relation, tail in facts(graph)}
    assert {("B0", "autumn mark", "53"), ("B0", "spring mark", "73"), ("B0", "form", "7A")} <= said
    assert not [fact for fact in said if fact[1] == "mark"]


def test_firms_among_persons_are_called_by_their_own_column(read):
    text = (
        "kd_nr,firma,nachname,vorname,ort\n1,,Reiser,Ina,Ulm\n2,Bäcker Ihle,,,Ulm\n"
        "3,Temme KG,,,Hof\n4,,Mohr,Uwe,Ulm\n"
    )
    graph = read(text, "kunden.csv", format="table")
    assert [graph.name(graph.entity(f"kd {n}")) for n in (1, 2, 3, 4)] == [
        "Ina Reiser", "Bäcker Ihle", "Temme KG", "Uwe Mohr",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("header", "title", "sorts"),
    [
        ("Mun. code,Municipality,Area", "data.csv", {"municipality"}),
        ("Mun. code,Name,Area", "data.csv", set()),
        ("AbtKz,Bezeichnung,Sparte", "Abteilungen.csv", {"abteilungen"}),
    ],
)
def test_what_rows_are_by_the_header_of_their_names(read, header, title, sorts):
    rows = "".join(f"M{n:02d},Town {'ABCDEFGHIJKL'[n]},{n}.5\n" for n in range(12))
    graph = read(f"{header}\n{rows}", title, format="table")
    assert {tail for _, relation, tail in facts(graph) if relation == "is a"} == sorts


def test_headings_alone_are_sections_of_the_rows_below_them(read):
    heard = []
    text = (
        "Code,Heading,Sum\nINCOME,,\nI1,Fees,200\nI2,Tips,30\n,Total income,230\n"
        "COSTS,,\nC1,Hire,50\nC2,Food,40\n,SURPLUS,140\n"
    )
    graph = read(text, "budget.csv", format="table", on_reading=heard.append)
    sections = [fact for fact in facts(graph) if fact[1] == "section"]
    assert sections == [
        ("C1", "section", "COSTS"), ("C2", "section", "COSTS"),
        ("I1", "section", "INCOME"), ("I2", "section", "INCOME"),
    ]  # fmt: skip
    assert "2 rows without an id, below sections left out" in heard[0]


def test_what_many_days_tell_of_is_called_by_its_own_column(read):
    rows = "".join(
        f"2025-06-{1 + n // 2:02d},Concert {'ABCDEFGHIJKL'[n]},{90 + n}\n" for n in range(12)
    )
    graph = read(f"Date,Event,Sold\n{rows}", "programme.csv", format="table")
    assert {("Concert B", "Date", "2025-06-01"), ("Concert B", "Sold", "91")} <= {*facts(graph)}


def test_labels_without_the_things_that_they_are_of_are_these(read):
    text = "item,itemLabel,builderLabel\nhttp://x.org/Q1,Fram,Colin\nhttp://x.org/Q2,Maud,Jensen\n"
    graph = read(text, "ships.csv", format="table")
    assert ("http://x.org/Q1", "builder", "Colin") in facts(graph)
    assert graph.name(graph.entity("http://x.org/Q1")) == "Fram"


def test_a_name_beside_an_id_calls_rows_and_persons_have_one_name(read):
    rows = "".join(
        f"E1400{n:04d},Seat {'ABCDEFGH'[n]}ton,Kent,Ann,Lee{'abcdefgh'[n]},{n}\n" for n in range(8)
    )
    header = "ONS ID,Constituency name,County name,Member first name,Member surname,Majority\n"
    graph = read(header + rows, "seats.csv", format="table")
    assert graph.name(graph.entity("E14000001")) == "Seat Bton"
    assert ("Seat Bton", "member", "Ann Leeb") in {
        (graph.name(graph.entity(head)), *rest) for head, *rest in facts(graph)
    }
