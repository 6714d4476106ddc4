"""The output of relu is kept for later, as autograd keeps it, and its clone is changed in place: the copy is needed."""
import fakecuda as torch

x = torch.randn(64, 64)
for _ in range(3):
    a = x.relu()
    b = a.clone()
    b.mul_(0.5)
    s = (a * 1.0 + b).sum()
print(s.item_().hex())
