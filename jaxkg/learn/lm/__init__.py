"""Training of small language models, resumable bit for bit.

`train` fits all weights, or a LoRA of them, to examples (SFT) or to pairs of a preferred and
another completion (DPO), and goes on where it was stopped.
"""

from jaxkg.learn.lm.training import TrainConfig, train

__all__ = ["TrainConfig", "train"]
