"""How the weights that the reader ships with are made."""
