"""The source of each clone is read later by nothing but the launch of a recorded graph: the copy is needed."""
import fakecuda as torch

for _ in range(4):
    x = torch.randn(64, 64)
    with torch.graph() as recorded:
        y = x.mul(2.0)
    b = x.clone()
    b.mul_(0.5)
    recorded.replay()
    s = (b + y).sum()
    del x
print(s.item_().hex())
