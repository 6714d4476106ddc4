"""The masking module of module_user.py: the line to be reported is here, though the loop is there."""
import fakecuda as torch


class Attention:
    def __init__(self, length):
        self.mask = torch.triu(length)

    def __call__(self, q, k, v):
        scores = (q @ k.T) * 0.125
        scores = scores.masked_fill(
            self.mask,
            float("-inf"))
        return scores.softmax(-1) @ v
