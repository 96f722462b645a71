"""JSON of any depth: lists of objects wherever they lie, relation objects, Wikidata."""
