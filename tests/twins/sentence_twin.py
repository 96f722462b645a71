"""The grammar of the sentences that `say` makes: reads one back as the query graph it says."""

import dataclasses
import re

from jaxkg import query as q
from jaxkg.readings.labels import graph_words, plural

IT = q.Entities(("\x00it",))
CLASS = re.compile(r"[^\W_]+(?:[ -][^\W_]+)*?(?= whose | that | linked | with the | of all|$)")
END_OF_NAME = re.compile(
    r"\]|\?$|$| (?:or|except|whose|that|where|over|is|are|linked|and (?:whose|that|with|where)|"
    r"with (?:the (?:largest|smallest|latest|earliest|most|fewest)|at|exactly|more|fewer|other)|"
    r"(?:more|less|other|no \w+) than|at (?:least|most)|before|after|within|the same as)(?= |$)"
)
NO_CLASS = {"of", "is", "or", "the", "other", "whose", "that", "to", "by", "it", "and", "except"}
ADJECTIVES = {"same, direct or indirect ": "*", "direct or indirect ": "+", "": ""}
ADVERBS = {"itself, directly or indirectly ": "*", "directly or indirectly ": "+", "": ""}
ORDERS = {
    "largest": (True, "value"),
    "latest": (True, "value"),
    "smallest": (False, "value"),
    "earliest": (False, "value"),
    "most": (True, "count"),
    "fewest": (False, "count"),
}
ORDER = "|".join(ORDERS)
COMPARED = {
    "the same as": "=",
    "other than": "!=",
    "less than": "<",
    "before": "<",
    "at most": "<=",
    "no later than": "<=",
    "more than": ">",
    "after": ">",
    "at least": ">=",
    "no earlier than": ">=",
    "within": "in",
}
COUNTED = {
    "exactly": "=",
    "other than": "!=",
    "fewer than": "<",
    "at most": "<=",
    "more than": ">",
    "at least": ">=",
}
VALUED = {
    "exactly": ("number", "="),
    "not exactly": ("number", "!="),
    "less than": ("number", "<"),
    "at most": ("number", "<="),
    "more than": ("number", ">"),
    "at least": ("number", ">="),
    "just": ("date", "="),
    "not in": ("date", "!="),
    "in": ("date", "in"),
    "before": ("date", "<"),
    "no later than": ("date", "<="),
    "after": ("date", ">"),
    "no earlier than": ("date", ">="),
}


class Grammar:
    """Reads sentences over one graph.

    Args:
        kg: the graph.
    """

    def __init__(self, kg):
        words = graph_words(kg)
        self.names = {}
        for entity in kg.entity_ids:
            self.names.setdefault(words.name(entity), []).append(entity)
        assert all(len(ids) == 1 for ids in self.names.values()), "two entities are called alike"
        self.entries = sorted((n for n in self.names if n.startswith("an entry (")), key=len)
        labels = {name: words.label(name) for name in kg.relations}
        self.labels = self._table({label.text: name for name, label in labels.items()})
        assert len(self.labels) == len(labels), "two relations are called alike"
        self.verb = self._table({x.verb: name for name, x in labels.items() if x.verb})
        verbs = {x.verbs: name for name, x in labels.items() if x.verb}
        self.verbs = self._table(verbs | dict(self.verb))
        self.classes = {}
        for entity in kg.entity_ids:
            for code in words.type_codes:
                relation = "^" + kg.relations[code]
                if noun := words.class_told(relation, entity):
                    node = q.Step(q.Entities((entity,)), (relation,))
                    self.classes[noun] = self.classes[plural(noun)] = node

    @staticmethod
    def _table(found):
        return sorted(found.items(), key=lambda pair: -len(pair[0]))

    def read(self, text):
        """The query graph that a sentence says."""
        self.text, self.at = text, 0
        found = self._query()
        assert self.at == len(self.text), f"left over: {self.text[self.at :]!r} of {text!r}"
        return found

    # Tokens

    def _rest(self):
        return self.text[self.at :]

    def _see(self, *words):
        return self.text.startswith(words, self.at)

    def _take(self, *words):
        for word in words:
            if self.text.startswith(word, self.at):
                self.at += len(word)
                return word
        return ""

    def _need(self, *words):
        taken = self._take(*words)
        assert taken, f"wanted one of {words} at {self._rest()!r} of {self.text!r}"
        return taken

    def _match(self, pattern):
        if found := re.compile(pattern).match(self.text, self.at):
            self.at = found.end()
        return found

    def _try(self, rule, *given):
        start = self.at
        try:
            return rule(*given)
        except AssertionError:
            self.at = start
            return None

    def _one_of(self, table):
        for text, relation in table:
            if self._see(text) and re.match(r" |'s |[]?]|$", self.text[self.at + len(text) :]):
                self.at += len(text)
                return relation
        raise AssertionError(f"no label at {self._rest()!r}")

    # Whole sentences

    def _query(self):
        if self._take("a table of "):
            return self._rows()
        for start, middle, by in (
            ("how much [", "] and [", "sum"),
            ("how much more [", "] is than [", "difference"),
            ("how many times as much [", "] is as [", "ratio"),
            *((f"how many {by} it is from [", "] to [", by) for by in ("days", "years")),
        ):
            if self._take(start):
                first = self._side()
                self._need(middle)
                second = self._side()
                self._need("] are together" if by == "sum" else "]")
                sides = (second, first) if by in ("days", "years") else (first, second)
                return q.Calculation(sides[0], by, sides[1])
        if self._take("how many "):
            return q.Count(self._counted())
        if self._take("are there any "):
            found = q.Exists(self._counted())
            self._need("?")
            return found
        if self.text.endswith("?") and self._take("is "):
            left = self._side()
            comparison = COMPARED[self._need(*(f" {words}" for words in COMPARED)).strip()]
            self._need(" ")
            found = q.Compared(left, comparison, self._side())
            self._need("?")
            return found
        if total := self._try(self._total):
            return total
        return self._sets()

    def _side(self):
        return q.Count(self._unit()) if self._take("the number of ") else self._unit()

    def _total(self):
        by = {"sum": "sum", "average": "mean"}[self._need("the sum of ", "the average of ")[4:-4]]
        if self._take("the "):
            path = self._nouns()
            self._need(" of ")
            start = self.at
            if self._every() and self.at == len(self.text):
                return q.Total(q.Domain(path[:1]), path, by)
            self.at = start
            return q.Total(self._unit(), path, by)
        self._need("[")
        inside = self._sets()
        self._need("]")
        if self._take(" over "):
            return q.Total(self._unit(), path_of(inside), by)
        return q.Total(inside, (), by)

    def _counted(self):
        if self._take("of "):
            return self._sets()
        if found := self._try(self._direct) or self._try(self._having):
            return found
        for noun, node in self.classes.items():
            if self._rest().rstrip("?") == noun:
                self._take(noun)
                return node
        return self._sets()

    def _rows(self):
        source, *rest = re.split(r'; (?=(?:[^"]*"[^"]*")*[^"]*$)', self._rest())
        given, columns, words = {}, [], []
        for part in rest:
            if part.startswith("a row for each "):
                per = part.removeprefix("a row for each ")
                given["per"] = self._all_of(per, self._way)
            elif part.startswith("with "):
                words.append(part.removeprefix("with "))
                columns.append(self._column(words[-1]))
            elif part.startswith("where "):
                place, end = self._place(words, part, "where ", " is ")
                comparison, value = self._all_of(part[end:], self._value)
                given["having"] = (*given.get("having", ()), q.Having(place, comparison, value))
            elif part.startswith("ordered by "):
                given["order"], end = self._place(words, part, "ordered by ", " from the ")
                given["largest"] = {"largest": True, "smallest": False}[part[end:]]
            elif part.startswith("the first "):
                given["top"] = int(part.split()[2])
            else:
                first, last = re.fullmatch(r"rows (\d+) to (\d+|the end)", part).groups()
                given |= {"first": int(first), "last": 0 if last == "the end" else int(last)}
        found = q.Rows(self._all_of(source, self._sets), tuple(columns), **given)
        self.text, self.at = self.text[: self.at], self.at
        return found

    def _all_of(self, text, rule):
        self.text, self.at = text, 0
        found = rule()
        assert self.at == len(text), text
        return found

    def _way(self):
        """A path, as nouns or as a phrase about it."""
        path = self._try(self._nouns)
        return path if path and self.at == len(self.text) else self._path_anew()

    def _path_anew(self):
        self.at = 0
        return path_of(self._unit())

    def _column(self, text):
        if text in ("the number", "which"):
            return q.Column((), "count" if text == "the number" else "value")
        if found := re.fullmatch(r"the (number|sum|average) of (.*)", text):
            by = {"number": "count", "sum": "sum", "average": "mean"}[found[1]]
            return q.Column(self._all_of(found[2], self._way), by)
        if found := re.fullmatch(rf"the ({ORDER}) (.*)", text):
            by = "max" if ORDERS[found[1]][0] else "min"
            return q.Column(self._all_of(found[2], self._way), by)
        return q.Column(self._all_of(text, self._way))

    def _place(self, words, part, before, after):
        told = max((w for w in words if part.startswith(f"{before}{w}{after}")), key=len)
        return words.index(told) + 1, len(f"{before}{told}{after}")

    # Sets

    def _sets(self):
        for alone, made in (("all of [", q.Intersection), ("any of [", q.Union)):
            if self._take(alone):
                found = made((self._sets(),))
                self._need("]")
                return found
        parts = [self._unit()]
        for joint, made in ((" or ", q.Union), (" that are also ", q.Intersection)):
            while self._take(joint):
                parts.append(self._unit())
            if len(parts) > 1:
                return made(tuple(parts))
        return q.Difference(parts[0], self._unit()) if self._take(" except ") else parts[0]

    def _unit(self):
        if not self._take("["):
            return self._phrase()
        found = self._sets()
        self._need("]")
        if self._take(" for which ["):
            path = path_of(self._sets())
            self._need("] is ")
            comparison = COMPARED[self._need(*COMPARED)]
            self._need(" [")
            found = q.Match(found, path, comparison, path_of(self._sets()))
            self._need("]")
            return found
        if self._take(" for which "):
            return self._quantifier(found)
        return self._conditions(found, True)

    def _quantifier(self, source):
        comparison, n = "=", 0
        if every := self._take("all", "none"):
            self._need(" of ")
        else:
            comparison = COUNTED[self._need(*COUNTED)]
            n = int(self._match(r" (\d+) of ")[1])
        first = self._unit_alone()
        by = {"among": "inside", "outside": "outside", "missing from": "missing"}[
            self._need(" are among ", " are outside ", " are missing from ")[5:-1]
        ]
        by = "outside" if every == "all" else by
        second = self._unit_alone()
        path, within = (second, first) if by == "missing" else (first, second)
        return q.Quantifier(source, path_of(path), within, comparison, n, by)

    def _phrase(self):
        if self._take("either "):
            names = [self._name()]
            while self._take(" or "):
                names.append(self._name())
            return q.Entities(tuple(names))
        if self._match(r"nothing(?= |$|\]|\?)"):
            return q.Entities(())
        if self._take("during "):
            date = self._quoted() if self._see('"') else self._match(r"[^ ]+")[0]
            self._need(" ")
            return dataclasses.replace(self._unit_alone(), during=q.Value("date", date))
        if self._take("what "):
            return self._what()
        for rule in (self._domain, self._all, self._the, self._stepped):
            if (found := self._try(rule)) is not None:
                return found
        return self._entity()

    def _entity(self):
        return IT if self._match(r"it(?= |$|\])") else q.Entities((self._name(),))

    def _name(self):
        if self._see('"'):
            name = self._match(r'"(?:[^"]|"")*"')[0]
        elif self._see("an entry ("):
            name = next(n for n in reversed(self.entries) if self._see(n))
            self.at += len(name)
        else:
            end = END_OF_NAME.search(self.text, self.at).start()
            name, self.at = self.text[self.at : end], end
        assert name in self.names, f"no name {name!r} in {self.text!r}"
        return self.names[name][0]

    def _what(self):
        returns = not self._take("else ")
        if self._see("[") or self._see("either ", "nothing "):
            source = self._unit_alone()
            self._need(" ")
            closure = ADVERBS[self._take(*ADVERBS)]
            return q.Step(source, (self._one_of(self.verb),), returns, closure)
        start, found = self.at, []
        for adverb, closure in ADVERBS.items():
            for verb, relation in self.verb:
                for at in re.finditer(re.escape(f" {adverb}{verb}"), self.text):
                    name = self.text[start : at.start()]
                    follows = re.match(r" |\]|\?|$", self.text[at.end() :])
                    if (name == "it" or name in self.names) and follows:
                        found.append((at.end(), name, relation, closure))
        assert len({end for end, *_ in found}) == 1, f"{found} in {self.text!r}"
        self.at, name, relation, closure = found[0]
        source = IT if name == "it" else q.Entities((self.names[name][0],))
        return q.Step(source, (relation,), returns, closure)

    def _unit_alone(self):
        if not self._take("["):
            return self._phrase()
        found = self._sets()
        self._need("]")
        return found

    def _domain(self):
        assert self._every()
        if self._see(" whose "):
            self.at += len(" whose ")
            path = self._nouns()
            self._need(" is ")
            return self._conditions(self._compared(q.Domain(path[:1]), path), False)
        self._need(" that ")
        relations = [self._has()]
        while self._see(" or ") and (more := self._try(self._another_has)):
            relations.append(more)
        return self._conditions(q.Domain(tuple(relations)), False)

    def _every(self):
        return self._match(rf"(?:everything|anything|(?:every|any) {CLASS.pattern})")

    def _having(self):
        self._class()
        self._need(" that ")
        relations = [self._has()]
        while self._take(" or "):
            relations.append(self._has())
        assert re.match(r"[]?]|$", self._rest())
        return q.Domain(tuple(relations))

    def _another_has(self):
        self._need(" or ")
        return self._has()

    def _has(self):
        if self._match(r"(?:has|have) an? "):
            return self._one_of(self.labels)
        if self._take("something "):
            return "^" + self._one_of(self.verb)
        if noun := self._try(self._is_noun):
            return noun
        relation = self._one_of(self.verbs)
        self._need(" something")
        return relation

    def _is_noun(self):
        assert self._match(r"(?:is|are) an? ")
        relation = self._one_of(self.labels)
        self._need(" of something")
        return "^" + relation

    def _class(self):
        found = self._match(CLASS.pattern)
        assert found
        assert not NO_CLASS.intersection(found[0].split())
        return found[0]

    def _all(self):
        assert self._match(r"(?:all|some) ")
        nouns = [noun for noun in self.classes if self._see(noun)]
        assert nouns
        noun = max(nouns, key=len)
        self._take(noun)
        return self._conditions(self.classes[noun], True)

    def _the(self):
        self._need("the ")
        for rule in (self._ordered, self._direct, self._first):
            if (found := self._try(rule)) is not None:
                return found
        raise AssertionError(self.text)

    def _ordered(self):
        found = self._match(rf"(?:(\d+) )?({ORDER}) of ")
        assert found
        largest, by = ORDERS[found[2]]
        return q.Extreme(self._unit(), (), largest, int(found[1] or 1), by)

    def _direct(self):
        returns = not self._take("other ")
        closure = ADJECTIVES[self._take(*ADJECTIVES)]
        relations = [self._one_of(self.labels)]
        while self._take(" or "):
            relations.append(self._one_of(self.labels))
        self._need(" of ")
        return self._chained(self._unit, tuple(relations), returns, closure)

    def _chained(self, rule, relations, returns, closure):
        """A step; what it starts from does not return either where it stands without brackets."""
        bracketed = self._see("[", "during ")
        source = rule()
        if not returns and not bracketed:
            source = unreturning(source)
        return q.Step(source, relations, returns, closure)

    def _first(self):
        number = self._match(r"(?:(\d+)|one) of ")
        if number:
            return self._ordering(self._unit(), int(number[1] or 1))
        found = self._match(r"(?:(\d+) )?(?=\S)")
        n = int(found[1] or 1)
        whole = self._try(self._whole)
        if whole is None:
            return self._ordering(self._stepped(), n)
        noun, largest, by, path = whole
        if self._take(" of all"):
            return q.Extreme(q.Domain(path[:1]), path, largest, n, by)
        return q.Extreme(self.classes[noun], path, largest, n, by)

    def _whole(self):
        return self._class(), *self._order()

    def _order(self):
        found = self._match(rf" with the ({ORDER}) ")
        assert found
        path = path_of(self._unit()) if self._take("of ") else self._nouns()
        return *ORDERS[found[1]], path

    def _ordering(self, source, n):
        largest, by, path = self._order()
        return q.Extreme(source, path, largest, n, by)

    def _stepped(self):
        other = self._match(r"(?:(other|another) |an? )?")[1]
        self._class()
        if self._take(" whose "):
            closure = ADJECTIVES[self._take(*ADJECTIVES)]
            relations = [self._one_of(self.labels)]
            while self._take(" or "):
                relations.append(self._one_of(self.labels))
            relations = tuple("^" + relation for relation in relations)
            self._need(" is ")
        elif self._take(" that "):
            closure = ADVERBS[self._take(*ADVERBS)]
            relations = ("^" + self._one_of(self.verbs),)
            self._need(" ")
        else:
            self._need(" linked ")
            closure = ADVERBS[self._take(*ADVERBS)]
            relations = []
            if self._take("either way by "):
                relation = self._one_of(self.labels)
                relations = [relation, f"^{relation}"]
            while not relations or self._take(" or "):
                back = self._take("backwards ")
                self._need("by ")
                relations.append("^" * bool(back) + self._one_of(self.labels))
            relations = tuple(relations)
            self._need(" to ")
        step = self._chained(self._unit, relations, not other, closure)
        return self._conditions(step, False)

    # Conditions

    def _conditions(self, source, first):
        while True:
            found = self._try(self._condition, source, first)
            if found is None:
                return source
            source, first = found, False

    def _condition(self, source, first):
        self._need(" " if first else " and ")
        if self._take("with "):
            comparison = COUNTED[self._need(*COUNTED)]
            self._need(" ")
            value = self._number()
            self._need(" ")
            path = path_of(self._unit()) if self._take("of ") else self._nouns()
            return q.Where(source, path, comparison, value, "count")
        if self._take("that "):
            assert not self._see("are also ")
            if found := self._try(self._joined):
                return q.Where(source, *found)
            self._need("are ", "is ")
            return q.Where(source, (), *self._value())
        if self._take("where "):
            path = path_of(self._unit_alone())
            self._need(" is ")
            return q.Where(source, path, *self._value())
        self._need("whose ")
        path = self._nouns()
        self._need(" is ")
        return self._compared(source, path)

    def _compared(self, source, path):
        """What is compared with a value, or with what else each has."""
        order = "|".join(COMPARED)
        if found := self._match(rf"({order}) (?:its|their) "):
            return q.Match(source, path, COMPARED[found[1]], self._nouns())
        return q.Where(source, path, *self._value())

    def _joined(self):
        if self._take("are the ", "is the "):
            path = ("^" + self._one_of(self.labels),)
            self._need(" of ")
        else:
            path = (self._one_of(self.verbs),)
            self._need(" ")
        return path, "=", self._name()

    def _nouns(self):
        path = [self._one_of(self.labels)]
        while self._take("'s "):
            path.append(self._one_of(self.labels))
        return tuple(path)

    def _quoted(self):
        return self._match(r'"(?:[^"]|"")*"')[0][1:-1].replace('""', '"')

    def _number(self):
        text = (
            self._quoted() if self._see('"') else self._match(r"[+-]?[\d.,]*\d(?:[eE][+-]?\d+)?")[0]
        )
        return q.Value("number", text)

    def _value(self):
        for words in sorted(VALUED, key=len, reverse=True):
            if self._see(f"{words} "):
                self._take(f"{words} ")
                kind, comparison = VALUED[words]
                if truth := self._match(r"(true|false)(?= |$|\]|\?)"):
                    return comparison, q.Value("boolean", truth[1])
                if self._see('"'):
                    text = self._quoted()
                elif kind == "number":
                    text = self._match(r"[+-]?[\d.,]*\d(?:[eE][+-]?\d+)?")[0]
                else:
                    end = END_OF_NAME.search(self.text, self.at).start()
                    text, self.at = self.text[self.at : end], end
                unit = ""
                if (
                    kind == "number"
                    and self._see(" ")
                    and not END_OF_NAME.match(self.text, self.at)
                ):
                    self._take(" ")
                    end = END_OF_NAME.search(self.text, self.at).start()
                    unit, quoted = self.text[self.at : end], self._see('"')
                    unit, self.at = (self._quoted(), self.at) if quoted else (unit, end)
                return comparison, q.Value(kind, text, unit)
        comparison = "!=" if self._take("not ") else "="
        if found := self._match(r"(true|false)(?= |$|\]|\?)"):
            return comparison, q.Value("boolean", found[1])
        if found := self._match(r"the (text|boolean) (?=\")"):
            text = self._quoted()
            language = self._quoted() if self._take(" in the language ") else ""
            return comparison, q.Value(found[1], text, "", language)
        return comparison, self._name()


def path_of(node):
    """The relations of a chain of steps from it."""
    path = []
    while isinstance(node, q.Step):
        assert len(node.relations) == 1
        assert node.returns
        path.append(node.relations[0])
        node = node.source
    assert node == IT
    return tuple(reversed(path))


def unreturning(node):
    """A chain of steps of which none returns; one of a time says itself whether it does."""
    if not isinstance(node, q.Step) or node.during:
        return node
    return dataclasses.replace(node, source=unreturning(node.source), returns=False)
