"""The hidden copy in other clothes: variants.py DTYPE MODE [train]. The mask is applied in a module of another file."""
import sys

import torch

from masking import Attention

dtype = {"fp32": torch.float32, "bf16": torch.bfloat16}[sys.argv[1]]
in_place = sys.argv[2] == "in"
train = "train" in sys.argv
torch.manual_seed(0)
model = Attention(width=256, heads=4, in_place=in_place).to("cuda", dtype)
x = torch.randn(4, 512, 256, device="cuda", dtype=dtype)
for _ in range(5):
    if train:
        model(x).float().square().mean().backward()
        model.zero_grad()
    else:
        with torch.no_grad():
            y = model(x)
torch.cuda.synchronize()
