"""Replies as typed values, or a reason why not."""
