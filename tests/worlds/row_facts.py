"""Facts of the rows of a table."""


def facts_of(rows, *columns, head="_:r"):
    """A fact a cell; the row's number is behind its head."""
    return [
        (f"{head}{at}", column, cell)
        for at, cells in enumerate(rows)
        for column, cell in zip(columns, cells)
    ]


def table_facts(text, *columns, kind="", cut="|"):
    """Facts of lines of cells, of which the first is the row's name; an empty one says nothing."""
    facts = []
    for line in text.strip().splitlines():
        name, *cells = line.split(cut)
        facts += [(name, "type", kind)] if kind else []
        facts += [(name, column, cell) for column, cell in zip(columns, cells) if cell]
    return facts
