"""masking.py out|in: attention with the mask applied out of place, or in place. Ten forwards."""
import sys

import fakecuda as torch

HEADS, LENGTH, WIDTH = 4, 32, 16
q, k, v = (torch.randn(HEADS, LENGTH, WIDTH) for _ in range(3))
mask = torch.triu(LENGTH)


def attend(mode):
    scores = (q @ k.T) * 0.25
    if mode == "out":
        scores = scores.masked_fill(mask, float("-inf"))
    else:
        scores.masked_fill_(mask, float("-inf"))
    return scores.softmax(-1) @ v


for _ in range(10):
    y = attend(sys.argv[1])
print(y.sum().item_().hex())
