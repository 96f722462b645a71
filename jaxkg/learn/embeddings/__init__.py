"""Knowledge-graph embeddings: TransE, DistMult, ComplEx, RotatE."""
