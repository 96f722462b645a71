"""The one error for bad input."""


class JaxkgError(ValueError):
    """Bad input, told in one line: what is wrong, where, and what would work."""
