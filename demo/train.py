#!/usr/bin/env python3
"""A small training loop with a hidden copy, for machines that have PyTorch and a GPU.

A two-layer transformer learns to predict the bytes of this very file. Its attention masks out of place, so PyTorch
copies the whole score matrix before it writes the mask, though nothing reads the unmasked scores again:

    LD_PRELOAD=build/lib/libcopyspy.so python demo/train.py            reports the line
    LD_PRELOAD=build/lib/libcopyspy.so python demo/train.py --fixed    masks in place and is clean

Settings are deterministic: two runs print the same losses, bit for bit.
"""
import argparse
import math
import os

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # read when cuBLAS starts; needed to be deterministic

import torch
from torch import nn

DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16}


class Attention(nn.Module):
    def __init__(self, width, heads, fixed):
        super().__init__()
        self.heads, self.fixed = heads, fixed
        self.project = nn.Linear(width, 3 * width)
        self.merge = nn.Linear(width, width)

    def forward(self, x, mask):
        batch, length, width = x.shape
        q, k, v = self.project(x).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        scores = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(width // self.heads))
        if self.fixed:
            scores.masked_fill_(mask, float("-inf"))
        else:
            scores = scores.masked_fill(mask, float("-inf"))
        y = torch.softmax(scores, dim=-1) @ v
        return self.merge(y.transpose(1, 2).reshape(batch, length, width))


class Block(nn.Module):
    def __init__(self, width, heads, fixed):
        super().__init__()
        self.attention = Attention(width, heads, fixed)
        self.before, self.between = nn.LayerNorm(width), nn.LayerNorm(width)
        self.feed = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x, mask):
        x = x + self.attention(self.before(x), mask)
        return x + self.feed(self.between(x))


class Model(nn.Module):
    def __init__(self, length, width, heads, layers, fixed):
        super().__init__()
        self.token, self.place = nn.Embedding(256, width), nn.Embedding(length, width)
        self.blocks = nn.ModuleList(Block(width, heads, fixed) for _ in range(layers))
        self.head = nn.Linear(width, 256)
        self.register_buffer("mask", torch.ones(length, length, dtype=torch.bool).triu(1), persistent=False)

    def forward(self, tokens):
        x = self.token(tokens) + self.place.weight
        for block in self.blocks:
            x = block(x, self.mask)
        return self.head(x)


def batch_of(text, step, batch, length):
    """Windows of the text, at places that follow from the step's number alone."""
    starts = [(step * batch + i) * 97 % (len(text) - length - 1) for i in range(batch)]
    windows = torch.stack([text[s : s + length + 1] for s in starts])
    return windows[:, :-1], windows[:, 1:]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fixed", action="store_true", help="mask in place: no copy")
    parser.add_argument("--dtype", choices=DTYPES, default="fp32")
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--length", type=int, default=256)
    options = parser.parse_args()

    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(0)
    torch.use_deterministic_algorithms(True)
    torch.utils.deterministic.fill_uninitialized_memory = False  # it would write every new tensor once more
    torch.backends.cuda.matmul.allow_tf32 = False

    with open(__file__, "rb") as source:
        text = torch.tensor(list(source.read()), dtype=torch.long, device=device)
    model = Model(options.length, width=128, heads=4, layers=2, fixed=options.fixed)
    model.to(device, DTYPES[options.dtype])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(options.steps):
        tokens, targets = batch_of(text, step, options.batch, options.length)
        logits = model(tokens)
        loss = nn.functional.cross_entropy(logits.float().flatten(0, 1), targets.flatten())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        value = loss.item()
        print(f"step {step}: loss {value!r} {value.hex()}")


if __name__ == "__main__":
    main()
