"""Print the page of all records: `cd scripts; python -m lib`."""

from pathlib import Path

from lib.record import page

print(page(Path(__file__).parents[1]), end="")
