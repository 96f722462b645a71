"""What headings of tables and names of columns are clipped to, spelt out: `cust_no`, `dob`."""

from __future__ import annotations

import re

from jaxkg.systems.reader.words import pairs

_SPELT = {short: long.replace("-", " ") for short, long in pairs("abbreviations.spelt").items()}
_AREA = re.compile(r"\b(?:sq ?m|sq ?ft|m2|m²)\b", re.IGNORECASE)


def spelt_out(label: str) -> str:
    """A label with what is clipped in it spelt out; a number's "no" where something stands before.

    >>> spelt_out("cust dob"), spelt_out("order no"), spelt_out("directed by")
    ('customer date of birth', 'order number', 'directed by')
    """
    words = _AREA.sub("area", label).split()
    told = [_SPELT.get(word.lower().rstrip("."), word) for word in words]
    if len(words) > 1 and words[-1].lower().rstrip(".") == "no":
        told[-1] = "number"
    return " ".join(told)
