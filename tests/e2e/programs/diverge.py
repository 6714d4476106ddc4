"""Original and clone go different ways: the copy is needed."""
import fakecuda as torch

a, one = torch.zeros(64, 64), torch.full((64, 64), 1.0)
for _ in range(4):
    b = a.clone()
    a.add_(one)
    b.mul_(2.0)
    s = a.sum() + b.sum()
print(s.item_().hex())
