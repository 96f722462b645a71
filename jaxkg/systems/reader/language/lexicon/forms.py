"""How what a question names is written: a phone number has digits, an address of mail an @."""

from __future__ import annotations

import re

_DIGIT, _AT, _DOT = re.compile(r"\d"), re.compile("@"), re.compile(r"\w\.\w")
_WORDS = {
    _DIGIT: "phone telephone mobile fax telefon telefonnummer handynummer faxnummer postcode zip "
    "plz postleitzahl date birthday datum geburtstag geburtsdatum price preis iban isbn",
    _AT: "email mail mailadresse",
    _DOT: "website homepage url webseite",
}
_TIME = (["time"], ["uhrzeit"])
"""What is asked for alone where a time of day is, not that of a year."""
_FORMS = {word: form for form, words in _WORDS.items() for word in words.split()}


def written_otherwise(noun: list[str], names: list[str]) -> bool:
    """Whether none of some names is written as what is asked for is.

    >>> written_otherwise(["phone", "number"], ["Bern"])
    True
    >>> written_otherwise(["phone", "number"], ["031 555"]), written_otherwise(["city"], ["Bern"])
    (False, False)
    """
    forms = [_FORMS[word] for word in noun if word in _FORMS]
    forms += [_DIGIT] if noun in _TIME else []
    return bool(forms and names) and not any(form.search(n) for form in forms for n in names)
