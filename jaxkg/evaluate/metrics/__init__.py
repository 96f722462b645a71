"""Published metrics by their true names."""
