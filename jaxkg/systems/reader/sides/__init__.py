"""The sides that a reading of a question is seen from, each as named numbers."""
