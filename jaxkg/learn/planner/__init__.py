"""The planner: what is saved, its training, and its teachers."""
