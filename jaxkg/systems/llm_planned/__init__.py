"""One call plans, the plan is checked against the schema, then executed."""
