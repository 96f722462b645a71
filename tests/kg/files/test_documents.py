"""YAML and INI: what is written is taken as it is written, and within bounds."""

import pytest
from named_facts import named_facts

from jaxkg.errors import JaxkgError
from jaxkg.kg import read_graph
from jaxkg.kg.files.yaml_text import read_yaml

COMPOSE = """
version: "3.8"
services:
  web: {image: "nginx:1.25", depends_on: [api]}
  api: {build: ./api}
"""
CLUSTER = """
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {port: 80}
---
apiVersion: v1
kind: Service
metadata: {name: api}
spec: {port: 90}
"""
SETTINGS = """
replicas: 2
image: {tag: 1.10}
service: {port: 80}
ingress: {hosts: [{host: shop.local}]}
"""
FIXTURES = """
NO: {name: Norway, eu: false, since: 012}
SE: {name: Sweden, eu: true, since: 12:30}
DK: {name: Denmark, eu: true, since: 2020-01-01}
"""
KINDS = {
    "docker-compose.yml": (COMPOSE, {("web", "depends on", "api"), ("api", "is a", "services")}),
    "all.yaml": (CLUSTER, {("web", "spec port", "80"), ("api", "spec port", "90")}),
    "values.yaml": (SETTINGS, {("values", "image tag", "1.10"), ("values", "replicas", "2")}),
    "countries.yml": (FIXTURES, {("Norway", "since", "012"), ("Norway", "eu", "false"),
                                 ("Sweden", "since", "12:30"), ("Denmark", "eu", "true")}),
    "openapi.yaml": ("openapi: 3.0.3\npaths: {/pets: {get: {operationId: list}}}\n",
                     {("list", "is a", "operations"), ("list", "path", "/pets")}),
    "CITATION.cff": ("cff-version: 1.2.0\ntitle: Soil\nauthors:\n- family-names: Lee\n"
                     "  given-names: Ann\n", {("Soil", "authors", "Ann Lee")}),
    "people.yml": ("people:\n- &ann {name: Ann, city: Ely}\n- {name: Bo, boss: *ann}\n",
                   {("Bo", "boss", "Ann"), ("Ann", "city", "Ely")}),
}  # fmt: skip


@pytest.mark.parametrize("name", KINDS)
def test_kinds(read, name):
    text, facts = KINDS[name]
    found = named_facts(read(text, name))
    assert {(head, " ".join(word.replace("_", " ") for word in relation.split()), tail)
            for head, relation, tail in found} >= facts  # fmt: skip


def test_merged_keys_give_way_to_own_ones():
    (found,) = read_yaml("a: &a {x: 1, y: 1}\nb: {<<: *a, y: 2}\nc: !Ref d")
    assert found == {"a": {"x": 1, "y": 1}, "b": {"x": 1, "y": 2}, "c": "d"}


LAUGHS = "a: &a [1, 1, 1, 1, 1, 1, 1, 1]\n" + "".join(
    f"{b}: &{b} [{', '.join([f'*{a}'] * 8)}]\n" for a, b in zip("abcdefgh", "bcdefghi")
)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (LAUGHS, r"kb.yaml:1: anchors stand for too much"),
        ("a: &a [*a]", "nested deeper than 64"),
        ("[" * 100_000, "nesting depth|nested deeper"),
        ("a: {{ .Values.x }}\n", "a template has to be filled in first"),
        ("a: 1\na: 2\n", "kb.yaml:2: the key 'a' comes twice"),
        ("a: b: c\n", "kb.yaml:1: not YAML"),
        ("just words\n", "YAML without keys"),
    ],
)
def test_bad_yaml_is_refused_in_one_line(read, text, told):
    with pytest.raises(JaxkgError, match=told) as error:
        read(text, "kb.yaml")
    assert "\n" not in str(error.value)


def test_a_map_in_a_map_of_its_kind_may_hold_texts(read):
    parts = '{"p1": {"parts": {"p2": ["gear"]}}, "p3": {"weight": 1}}'
    assert ("p3", "weight", "1") in named_facts(read(f'{{"parts": {parts}}}', "kb.json"))


def test_what_is_said_beside_lists_is_told(read):
    heard = []
    read('{"count": 7, "results": [{"id": "a", "x": "b"}]}', "reply.json", on_reading=heard.append)
    assert "1 keys beside lists of objects (count) left out" in heard[0]


PIPELINE = """image: python
stages: [build, test]
cache: {paths: [x]}
web: {stage: build, script: make}
lib: {stage: build, script: cc}
unit: {stage: test, needs: [web, lib], script: run}
"""


def test_the_jobs_among_settings_are_things(read):
    facts = named_facts(read(PIPELINE, ".pipeline.yml"))
    assert facts >= {("unit", "needs", "web"), ("web", "stage", "build"), ("lib", "script", "cc")}
    lone = PIPELINE.replace("needs: [web, lib]", "needs: []")
    assert ("web", "stage", "build") not in named_facts(read(lone, "settings.yml"))


SHOP = """; kept by hand
[machine:lathe]
owner = Ann   ; since May
tools = chisel
tools = gouge
spare

[machine:mill]
owner = Bo
tools = cutter
    vice
"""


def test_sections_of_a_kind_are_things_of_that_kind(tmp_path):
    (tmp_path / "shop.ini").write_text(SHOP)
    assert named_facts(read_graph(tmp_path / "shop.ini")) == {
        ("lathe", "is a", "machine"),
        ("mill", "is a", "machine"),
        ("lathe", "owner", "Ann"),
        ("mill", "owner", "Bo"),
        ("lathe", "tools", "chisel"),
        ("lathe", "tools", "gouge"),
        ("lathe", "spare", "true"),
        ("mill", "tools", "cutter"),
        ("mill", "tools", "vice"),
    }


def test_what_lists_names_of_sections_leads_to_each(tmp_path):
    text = "[program:web]\ncommand = a,b\n[program:worker]\ncommand = c\n"
    (tmp_path / "d.conf").write_text(f"{text}[group:shop]\nprograms = web, worker\n")
    found = named_facts(read_graph(tmp_path / "d.conf"))
    assert {("shop", "programs", "web"), ("shop", "programs", "worker")} <= found
    assert ("web", "command", "a,b") in found


def test_quoted_names_of_sections(tmp_path):
    text = '[remote "origin"]\nurl = git@example.org:a\n[remote "fork"]\nurl = git@example.org:b\n'
    text += "[remote]\nprune = yes\n"
    (tmp_path / "git.cfg").write_text(text)
    found = named_facts(read_graph(tmp_path / "git.cfg"))
    assert ("fork", "url", "git@example.org:b") in found
    assert ("origin", "is a", "remote") in found
    assert ("remote", "prune", "yes") in found


@pytest.mark.parametrize("text", ["speed = 3\n", "[a]\n = 3\n"])
def test_what_is_no_ini_is_told(tmp_path, text):
    path = tmp_path / "shop.ini"
    path.write_text(text)
    with pytest.raises(JaxkgError, match=r"shop\.ini"):
        read_graph(path)
