"""What the methods ask a model, and how they read its replies."""
