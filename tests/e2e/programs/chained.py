"""Two masks one after the other, both out of place: two lines, each with a copy that nobody needs."""
import fakecuda as torch

x, mask, other = torch.randn(64, 64), torch.triu(64), torch.triu(64)
for _ in range(5):
    s = x * 2.0
    s = s.masked_fill(mask, -1e9)
    s = s.masked_fill(other, 0.0)
    out = s.softmax(-1)
print(out.sum().item_().hex())
