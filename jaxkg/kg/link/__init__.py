"""From a question's words to the entities it names."""
