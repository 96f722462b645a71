"""Relation paths around the topics of a question, all of one length at once."""
