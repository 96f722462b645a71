"""TRAIN: supervision mined from answers, losses, train steps, checkpoints."""
