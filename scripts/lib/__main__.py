"""Pages, pictures, notebooks: `cd scripts; python -m lib`, then `drawings` or `notebooks FILE...`.

Without a word after it, the command prints the page of all records.
"""

import sys
from pathlib import Path

from lib import drawings, notebook
from lib.record import page

match sys.argv[1:]:
    case []:
        print(page(Path(__file__).parents[1]), end="")
    case ["drawings"]:
        drawings.write()
    case ["notebooks", *names] if names:
        for name in names:
            notebook.run(Path(name))
    case _:
        sys.exit("python -m lib [drawings | notebooks FILE...]")
