"""The words of questions and of graphs."""
