"""Causal attention as it is often written; used by variants.py."""
import math

import torch


class Attention(torch.nn.Module):
    def __init__(self, width, heads, in_place):
        super().__init__()
        self.heads, self.in_place = heads, in_place
        self.q, self.k, self.v = (torch.nn.Linear(width, width) for _ in range(3))

    def split(self, x):
        batch, length, width = x.shape
        return x.view(batch, length, self.heads, width // self.heads).transpose(1, 2)

    def forward(self, x):
        q, k, v = self.split(self.q(x)), self.split(self.k(x)), self.split(self.v(x))
        mask = torch.ones(x.shape[1], x.shape[1], device=x.device, dtype=torch.bool).triu(1)
        scores = (q @ k.transpose(-2, -1)) * (1 / math.sqrt(q.shape[-1]))
        if self.in_place:
            scores.masked_fill_(mask, float("-inf"))
        else:
            scores = scores.masked_fill(mask, float("-inf"))
        return torch.softmax(scores, -1) @ v
