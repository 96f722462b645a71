"""Entities of XML, by which a small file can become a huge one."""

from __future__ import annotations

from pathlib import Path
from xml.parsers import expat

from jaxkg.errors import JaxkgError
from jaxkg.kg.files.textfile import open_bytes

_BLOCK = 1 << 16
_LONGEST = 1000
_MOST = 1000


def refuse_entities(path: Path) -> None:
    """Refuse an RDF/XML file whose entities stand for more than a namespace each.

    Ontologies define a few, as `<!ENTITY owl "http://www.w3.org/2002/07/owl#">`.

    Raises:
        JaxkgError: one stands for others, lies elsewhere, or stands for a long text; or there are
            very many.
    """
    parser = expat.ParserCreate()
    found = 0
    is_begun = False

    def declared(name: str, parameter: bool, value: str | None, *elsewhere: str | None) -> None:
        nonlocal found
        found += 1
        why = ""
        if value is None or parameter or any(elsewhere):
            why = "that lies elsewhere, and nothing is fetched"
        elif "&" in value:
            why = "by others"
        elif len(value) > _LONGEST:
            why = f"of more than {_LONGEST:,} characters"
        elif found > _MOST:
            why = f", one of more than {_MOST:,}"
        if why:
            raise JaxkgError(
                f"{path}:{parser.CurrentLineNumber}: defines the entity {name[:80]!r} {why}; write "
                "out what it stands for"
            )

    def begun(*_: object) -> None:
        nonlocal is_begun
        is_begun = True

    parser.EntityDeclHandler = declared
    parser.StartElementHandler = begun
    with open_bytes(path) as file:
        try:
            while not is_begun and (chunk := file.read(_BLOCK)):
                parser.Parse(chunk, False)
        except JaxkgError:
            raise
        except (expat.ExpatError, LookupError, ValueError):
            return  # who reads the file tells it
