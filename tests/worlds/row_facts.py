"""Facts of the rows of a table."""


def facts_of(rows, *columns, head="_:r"):
    """A fact a cell; the row's number is behind its head."""
    return [
        (f"{head}{at}", column, cell)
        for at, cells in enumerate(rows)
        for column, cell in zip(columns, cells)
    ]
