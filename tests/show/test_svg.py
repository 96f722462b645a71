import dataclasses
import itertools
import re
from xml.etree import ElementTree

import pytest
from cited_answers import answer_along

from jaxkg.answer import Answer
from jaxkg.cite import cite_path
from jaxkg.errors import JaxkgError
from jaxkg.kg import KnowledgeGraph
from jaxkg.kg.builtin import demo_graph
from jaxkg.records import Link
from jaxkg.show import cited_triples, svg

SVG = "{http://www.w3.org/2000/svg}"
EVIL = '<script>alert("x")</script> & ]]>\x1b[31m\n[bold]'


class Drawing:
    """What a reader sees: boxes by their first line, arrows by their tooltip."""

    def __init__(self, source: str):
        self.root = ElementTree.fromstring(source)
        self.width, self.height = (float(self.root.attrib[key]) for key in ("width", "height"))
        self.boxes, self.arrows, self.ways, self.labels, self.titles = {}, {}, {}, [], []
        for group in self.root.iter(f"{SVG}g"):
            title = group.findtext(f"{SVG}title")
            words = [text.text for text in group.findall(f"{SVG}text")]
            self.titles.append(title)
            if (rect := group.find(f"{SVG}rect")) is not None:
                numbers = {k: float(rect.attrib[k]) for k in ("x", "y", "width", "height")}
                self.boxes["|".join(words)] = numbers | {"fill": rect.attrib["fill"]}
            elif (path := group.find(f"{SVG}path")) is not None:
                tip = group.find(f"{SVG}polygon").attrib["points"].split()[0]
                self.ways[title] = path.attrib["d"]
                start = re.match(r"M([\d.-]+),([\d.-]+)", path.attrib["d"]).groups()
                self.arrows[title] = tuple(map(float, start)), tuple(map(float, tip.split(",")))
            else:
                self.labels.append(words[-1])
        self.loose = [text.text for text in self.root.findall(f"{SVG}text")]

    def at(self, point):
        """The box a point lies on the border of."""
        x, y = point
        [box] = [
            name
            for name, b in self.boxes.items()
            if min(abs(x - b["x"]), abs(x - b["x"] - b["width"])) < 0.2
            and b["y"] <= y <= b["y"] + b["height"]
        ]
        return box


@pytest.fixture(scope="module")
def answer():
    return answer_along(demo_graph(), ["Alien"], ("directed_by", "^directed_by", "starred"))


def test_every_triple_is_an_arrow_from_its_head_to_its_tail(answer):
    drawing = Drawing(svg(answer))
    cited = cited_triples(answer)
    assert len(drawing.arrows) == len(cited)
    for c in cited:
        start, tip = drawing.arrows[f"triple {c.triple}: {c.head}, {c.relation}: {c.tail}"]
        assert (drawing.at(start), drawing.at(tip)) == (c.head, c.tail)
        # It leaves and comes in on the sides that face one another.
        ends = drawing.boxes[c.head], drawing.boxes[c.tail]
        one, other = sorted(ends, key=lambda box: box["x"])
        assert min(start[0], tip[0]) == pytest.approx(one["x"] + one["width"], abs=0.2)
        assert max(start[0], tip[0]) == pytest.approx(other["x"], abs=0.2)
    assert sorted(drawing.labels) == sorted(c.relation.replace("_", " ") for c in cited)


def test_every_hop_is_one_column_further_to_the_right(answer):
    boxes = Drawing(svg(answer)).boxes
    for path in answer.paths:
        first, second, third = path.citations
        nodes = [first.head, first.tail, second.head, third.tail]
        for a, b in itertools.pairwise(nodes):
            assert boxes[a]["x"] + boxes[a]["width"] < boxes[b]["x"]


def test_topics_answers_and_others_look_different_and_all_lie_on_the_sheet(answer):
    drawing = Drawing(svg(answer))
    fills = {role: {drawing.boxes[name]["fill"] for name in names} for role, names in {
        "topic": ["Alien"],
        "answer": [entity.name for entity in answer.entities],
        "other": ["Ridley Scott", "Gladiator"],
    }.items()}  # fmt: skip
    assert all(len(fill) == 1 for fill in fills.values())
    assert len(set.union(*fills.values())) == 3
    for box in drawing.boxes.values():
        assert box["x"] > 0 < box["y"]
        assert box["x"] + box["width"] < drawing.width
        assert box["y"] + box["height"] < drawing.height


def test_tooltips_have_ids_and_scores(answer):
    titles = Drawing(svg(answer)).titles
    assert "Alien [Alien], topic, score 1" in titles
    assert "Harrison Ford [Harrison Ford], answer 1, score 0.99" in titles
    assert "Ridley Scott [Ridley Scott]" in titles
    runner_up = Link("Ridley Scott", "Ridley Scott", 0, 6, 0.5, "fuzzy", chosen=False)
    more = dataclasses.replace(answer, topics=(*answer.topics, runner_up))
    assert Drawing(svg(more)).titles == titles


def test_labels_do_not_cover_one_another_or_a_box(answer):
    root = Drawing(svg(answer)).root
    boxes = list(Drawing(svg(answer)).boxes.values())
    places = []
    for group in root.iter(f"{SVG}g"):
        words = group.findall(f"{SVG}text")
        if group.find(f"{SVG}rect") is None and words:
            x, y = float(words[-1].attrib["x"]), float(words[-1].attrib["y"])
            assert not any(
                b["x"] <= x <= b["x"] + b["width"] and b["y"] <= y <= b["y"] + b["height"]
                for b in boxes
            )
            places.append((x, y))
    assert len(places) == 10
    for (ax, ay), (bx, by) in itertools.combinations(places, 2):
        assert abs(ax - bx) > 40 or abs(ay - by) > 10


def test_a_triple_from_a_node_to_itself_is_a_loop():
    kg = KnowledgeGraph.from_triples([("a", "r", "a")])
    path = cite_path(kg, [0], [False], id="p1", score=1.0)
    drawing = Drawing(svg(Answer("?", paths=(path,), abstained="-")))
    start, tip = drawing.arrows["triple 0: a, r: a"]
    assert drawing.at(start) == drawing.at(tip) == "a"
    assert start[1] != tip[1]


def test_homonyms_carry_their_ids():
    kg = KnowledgeGraph.from_triples(
        [("m.1", "by", "x"), ("m.2", "by", "x"), ("m.3", "by", "x")],
        names={"m.1": "Kismet", "m.2": "Kismet", "m.3": "Faust"},
    )
    boxes = Drawing(svg(answer_along(kg, ["m.1"], ("by", "^by")))).boxes
    assert set(boxes) == {"Kismet|[m.1]", "Kismet|[m.2]", "Faust", "x"}


def test_names_are_data():
    kg = KnowledgeGraph.from_triples([(EVIL, f"is {EVIL}", "b")])
    drawn = svg(answer_along(kg, [EVIL], (f"is {EVIL}",)))
    drawing = Drawing(drawn)
    assert {child.tag.removeprefix(SVG) for child in drawing.root.iter()} == {
        "svg", "g", "rect", "text", "title", "path", "polygon",
    }  # fmt: skip
    assert "<script" not in drawn
    assert "\x1b" not in drawn
    assert any("alert" in title for title in drawing.titles)


def test_long_names_are_cut_in_the_box_and_whole_in_the_tooltip():
    name = "The Assassination of Jesse James by the Coward Robert Ford"
    drawing = Drawing(
        svg(answer_along(KnowledgeGraph.from_triples([(name, "r", "b")]), [name], "r"))
    )
    assert "The Assassination of Jesse Jame…" in drawing.boxes
    assert f"{name} [{name}], topic, score 1" in drawing.titles


def fan(leaves, *, middles=1):
    """One topic, some middle nodes, and leaves spread over them."""
    facts = [("top", "has", f"mid{m}") for m in range(middles)]
    facts += [(f"mid{n % middles}", "of", f"leaf{n:03}") for n in range(leaves)]
    return answer_along(KnowledgeGraph.from_triples(facts), ["top"], ("has", "of"))


def test_up_to_the_limit_every_node_has_its_box():
    drawing = Drawing(svg(fan(38)))
    assert len(drawing.boxes) == 40
    assert drawing.loose == []


def test_above_it_nodes_with_the_same_neighbours_share_a_box_and_it_is_said():
    drawing = Drawing(svg(fan(39)))
    assert set(drawing.boxes) == {
        "top", "mid0", "leaf000|leaf001|leaf002|leaf003|… and 35 more",
    }  # fmt: skip
    assert drawing.loose == ["41 nodes; those with the same neighbours share a box"]
    assert "of ×39" in drawing.labels
    [title] = [title for title in drawing.arrows if title.startswith("triple 0:")]
    assert title.splitlines()[0] == "triple 0: mid0, of: leaf000"
    assert len(title.splitlines()) == 13
    assert title.endswith("… and 27 more")


def test_nodes_of_other_neighbours_roles_or_relations_do_not_share():
    drawing = Drawing(svg(fan(40, middles=2)))
    assert len(drawing.boxes) == 5
    assert sorted(b.count("|") for b in drawing.boxes) == [0, 0, 0, 4, 4]
    # Here every leaf leads to one node more; only half of them are answers as well.
    facts = [(f"{m}{n}", "of", "end") for n in range(20) for m in "ab"]
    kg = KnowledgeGraph.from_triples([("top", "has", head) for head, _, _ in facts] + facts)
    both = answer_along(kg, ["top"], ("has", "of"))
    half = tuple(e for e in answer_along(kg, ["top"], ("has",)).entities if e.entity < "b")
    half = tuple(dataclasses.replace(entity, paths=()) for entity in half)
    drawing = Drawing(svg(dataclasses.replace(both, entities=(*both.entities, *half))))
    assert set(drawing.boxes) == {
        "top", "end", "a0|a1|a10|a11|… and 16 more", "b0|b1|b10|b11|… and 16 more",
    }  # fmt: skip
    topics = answer_along(kg, [head for head, _, _ in facts], ("of",))
    assert len(Drawing(svg(topics, max_nodes=4)).boxes) == 4
    assert "a0" in Drawing(svg(topics, max_nodes=4)).boxes


def test_where_that_is_too_much_the_first_paths_are_drawn_and_it_is_said():
    alone = fan(30, middles=30)
    drawing = Drawing(svg(alone, max_nodes=21))
    assert len(drawing.boxes) == 21
    assert drawing.loose == ["the first 10 of 30 paths are drawn"]
    assert {entity.name for entity in alone.entities[:10]} < set(drawing.boxes)
    assert drawing.height > max(b["y"] + b["height"] for b in drawing.boxes.values()) + 30


def test_a_limit_too_small_for_one_path_is_refused():
    with pytest.raises(JaxkgError, match=r"max_nodes = 2 is too few for path 'p1' alone.* needs 3"):
        svg(fan(5, middles=5), max_nodes=2)


def test_nothing_to_draw_is_said():
    assert Drawing(svg(Answer("?", abstained="none"))).loose == [
        "Nothing to draw: no path is cited."
    ]
