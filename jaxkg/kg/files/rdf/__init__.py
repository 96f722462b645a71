"""RDF in all its syntaxes (extra `rdf`)."""
