"""Which relations a question asks for: told by an encoder tuned on what people ask."""
