"""What the command and the scripts share: systems by name, question sets, runs side by side."""
