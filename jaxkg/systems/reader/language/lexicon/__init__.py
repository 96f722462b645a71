"""Tables of words: cues, synonyms, units, German, word stems."""
