"""Cubes of statistics (JSON-stat) as rows. Source: https://json-stat.org/full/."""

from __future__ import annotations

import math
from typing import Any

from jaxkg.errors import JaxkgError


def cube_rows(document: Any, where: str) -> Any:
    """A document, or the observations of the cube that it is: a row for what its dimensions say
    together, a key for what is measured; without a dimension of measures that is the cube's label.

    Raises:
        JaxkgError: the cube's parts do not fit together.

    >>> sex = {"category": {"index": ["F", "M"], "label": {"F": "women"}}}
    >>> cube_rows({"label": "pay", "id": ["sex"], "size": [2], "value": [7, 9],
    ...            "dimension": {"sex": sex}}, "")
    {'observations': [{'sex': 'women', 'pay': 7}, {'sex': 'M', 'pay': 9}]}
    """
    cube = document.get("dataset", document) if isinstance(document, dict) else None
    about = cube.get("dimension") if isinstance(cube, dict) and "value" in cube else None
    if not isinstance(about, dict) or not isinstance(cube, dict):
        return document
    sized = cube if "size" in cube else about
    try:
        measures = (sized.get("role") or {}).get("metric", ())
        said = [
            (id in measures, about[id].get("label") or id, _labels(about[id]["category"]))
            for id in sized["id"]
        ]
        sizes = [len(labels) for *_, labels in said]
        values, flags = (_by_place(cube.get(key)) for key in ("value", "status"))
        if sizes != sized["size"] or any(not 0 <= place < math.prod(sizes) for place in values):
            raise ValueError("values beside its dimensions")
        rows = dict[tuple[int, ...], dict[str, Any]]()
        for place, value in values.items():
            rest, of, measured, key = place, dict[str, Any](), "", tuple[int, ...]()
            for is_measure, word, labels in reversed(said):
                rest, own = divmod(rest, len(labels))
                if is_measure:
                    measured = labels[own]
                else:
                    of, key = {word: labels[own], **of}, (*key, own)
            word = measured or cube.get("label") or "value"
            status = {f"status of {word}": flags[place]} if flags.get(place) else {}
            if value is not None:
                rows.setdefault(key, of).update({word: value, **status})
    except (KeyError, ValueError, TypeError, AttributeError, IndexError) as error:
        raise JaxkgError(f"{where}: a cube whose parts do not fit together ({error!r})") from error
    return {"observations": [*rows.values()]}


def _labels(category: dict[str, Any]) -> list[str]:
    labels = category.get("label") or {}
    codes = category.get("index") or labels
    if codes is not labels and isinstance(codes, dict):
        codes = [code for code, _ in sorted(codes.items(), key=lambda pair: pair[1])]
    return [str(labels.get(code, code)) for code in codes]


def _by_place(values: Any) -> dict[int, Any]:
    pairs = values.items() if isinstance(values, dict) else enumerate(values or ())
    return {int(place): value for place, value in pairs}
