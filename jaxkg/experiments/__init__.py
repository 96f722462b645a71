"""What the command and the scripts share: systems by name, question sets, runs side by side.

| to | use |
|---|---|
| ask a system and report on its answers | `measure.measure` |
| read the benchmarks that tables are of | `sets.sets` |
| write the rows of a table | `rows.row`, `rows.Table` |
| time a call | `seconds.best_seconds` |
| keep what a script measured | `record.arguments`, `record.Record` |
"""
