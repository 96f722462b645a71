"""XML, an element at a time, without entities by which a small file becomes a huge one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from xml.parsers import expat

from jaxkg.errors import JaxkgError
from jaxkg.kg.files.textfile import Progress, open_bytes

_BLOCK = 1 << 16
_LONGEST = 1000
_MOST = 1000


def walk(
    path: Path,
    start: Callable[[str, dict[str, str], int], object] | None = None,
    end: Callable[[str], object] | None = None,
    text: Callable[[str], object] | None = None,
    on_progress: Progress | None = None,
) -> None:
    """Go through the elements of an XML file: `start` is told the line, too.

    Without `start` only what stands above the first element is looked at. Entities may be defined
    there, as `<!ENTITY owl "http://www.w3.org/2002/07/owl#">` in ontologies, that stand for a short
    text each; who reads the file on tells whether it is XML.

    Raises:
        JaxkgError: it is no XML, defines (other) entities, or is in an encoding that is not known.
    """
    # ElementTree cannot tell that entities are defined, nor the line of an element.
    parser = expat.ParserCreate()
    begun, count = False, 0

    def first(name: str, said: dict[str, str]) -> None:
        nonlocal begun
        begun = True
        if start:
            start(name, said, parser.CurrentLineNumber)

    def refuse(name: str, parameter: bool, value: str | None, *elsewhere: str | None) -> None:
        nonlocal count
        count += 1
        why = ""
        if value is None or parameter or any(elsewhere):
            why = " that lies elsewhere, and nothing is fetched"
        elif "&" in value:
            why = " by others"
        elif len(value) > _LONGEST:
            why = f" of more than {_LONGEST:,} characters"
        elif count > _MOST:
            why = f", one of more than {_MOST:,}"
        why = "" if start else why
        if why or start:
            raise JaxkgError(
                f"{path}:{parser.CurrentLineNumber}: defines the entity {name[:80]!r}{why}; write "
                "out what it stands for"
            )

    parser.buffer_text = True
    parser.StartElementHandler, parser.EntityDeclHandler = first, refuse
    parser.EndElementHandler, parser.CharacterDataHandler = end, text
    with open_bytes(path, on_progress) as file:
        try:
            while (start or not begun) and (chunk := file.read(_BLOCK)):
                parser.Parse(chunk, False)
            parser.Parse(b"", start is not None)
        except expat.ExpatError as error:
            why = expat.ErrorString(error.code)
            if start:
                raise JaxkgError(f"{path}:{error.lineno}: not XML ({why})") from error
        except JaxkgError:
            raise
        except (LookupError, ValueError) as error:
            if begun:
                raise
            if start:
                raise JaxkgError(
                    f"{path}: its encoding is not read ({error}); use UTF-8"
                ) from error
