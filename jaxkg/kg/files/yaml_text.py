"""YAML as the values that JSON has, held to the same bounds.

Plain words stay as they are written: `NO` is no truth value, `1.10` no 1.1, `012` no octal number,
and `12:30` no count of seconds. Anchors stand for what they name as often as they are called, up to
a bound. Tags of programs (`!Ref`) are passed over, and none makes an object.
"""

from __future__ import annotations

import re
from typing import Any

from jaxkg.errors import JaxkgError
from jaxkg.foreign_json import DEEPEST, whole
from jaxkg.kg.files.textfile import extra

_CONSTANTS = {"true": True, "True": True, "false": False, "False": False}
_NOTHING = ("", "~", "null", "Null", "NULL")
_WHOLE_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,17})")
_LARGEST = 1 << 26
_TEMPLATE = re.compile(r"\{\{[^{}]*\}\}|<%|\{%")
_GROWTH, _FREE = 10, 10_000
"""Values that anchors may make of a text, by its characters, and beside them."""


def read_yaml(text: str, where: str = "") -> list[Any]:
    """The documents of a text, of the file `where`.

    Raises:
        JaxkgError: it is no YAML, is too large, is nested deeper than 64 levels, has a key twice in
            one place, or anchors that make much of little.

    Example:
        >>> read_yaml("a: &x [NO, 1.10, 7]\\nb: *x")
        [{'a': ['NO', '1.10', 7], 'b': ['NO', '1.10', 7]}]
    """
    with extra(where, "YAML", "yaml"):
        import yaml
    if len(text) > _LARGEST:
        raise JaxkgError(
            f"{where}: YAML of more than {_LARGEST:,} characters; turn it into JSON (`yq -o=json`)"
        )
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    values = _Values(where, text)
    try:
        return [values.of(node, 0) for node in yaml.compose_all(text, Loader=loader)]
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        line = f":{mark.line + 1}" if mark else ""
        why = getattr(error, "problem", None) or str(error).partition("\n")[0]
        raise JaxkgError(f"{where}{line}: not YAML ({why[:80]}){values.hint}") from error
    except RecursionError as error:
        raise JaxkgError(f"{where}: nested deeper than {DEEPEST}") from error


class _Values:
    """Makes values of what was parsed, and counts them."""

    def __init__(self, where: str, text: str) -> None:
        self._where, self._left = where, _GROWTH * len(text) + _FREE
        self.hint = "; a template has to be filled in first" if _TEMPLATE.search(text) else ""

    def of(self, node: Any, depth: int) -> Any:
        self._left -= 1
        if self._left < 0:
            raise self._fault(node, "anchors stand for too much; write out what they name")
        if depth > DEEPEST:
            raise self._fault(node, f"nested deeper than {DEEPEST}")
        if node.id == "sequence":
            return [self.of(inner, depth + 1) for inner in node.value]
        if node.id == "mapping":
            return self._object(node, depth)
        text = whole(node.value)
        if node.style:  # quoted, or a block
            return text
        if text in _NOTHING:
            return None
        return int(text) if _WHOLE_NUMBER.fullmatch(text) else _CONSTANTS.get(text, text)

    def _object(self, node: Any, depth: int) -> dict[str, Any]:
        merged, own = dict[str, Any](), dict[str, Any]()
        for key, inner in node.value:
            if key.id != "scalar":
                raise self._fault(key, f"a key is no text{self.hint}")
            name, said = whole(key.value), self.of(inner, depth + 1)
            if name in own:
                raise self._fault(key, f"the key {name[:80]!r} comes twice in one object")
            if name != "<<":
                own[name] = said
            for base in (said if isinstance(said, list) else [said]) if name == "<<" else ():
                merged = (base if isinstance(base, dict) else {}) | merged
        return merged | own

    def _fault(self, node: Any, why: str) -> JaxkgError:
        return JaxkgError(f"{self._where}:{node.start_mark.line + 1}: {why}")
