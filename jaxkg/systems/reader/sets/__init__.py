"""Query graphs around the topics of a question, and what they denote."""
