"""Wide tables: files, sheets and records with a row a thing; keys that join them."""
