"""Write the page of results anew: `cd scripts; python -m lib .`."""

import sys
from pathlib import Path

from lib.record import write_page

write_page(Path(sys.argv[1]))
