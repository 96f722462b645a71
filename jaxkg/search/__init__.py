"""SEARCH: FIND, SCORE and SELECT composed into one jit-compiled program each."""
