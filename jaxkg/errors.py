"""The one error for bad input."""


class JaxkgError(ValueError):
    """Bad input, in one line: what is wrong, where, and what would work."""


def how_to_install(extra: str) -> str:
    """What brings an extra, from the package index or from a check-out.

    >>> how_to_install("rdf")
    "pip install 'jaxkg[rdf]', or from a check-out: pip install '.[rdf]'"
    """
    return f"pip install 'jaxkg[{extra}]', or from a check-out: pip install '.[{extra}]'"
