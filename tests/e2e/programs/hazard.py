"""One kernel reads the clone while it writes the original: the copy is needed."""
import fakecuda as torch

x = torch.randn(64, 64)
for _ in range(4):
    y = x.clone()
    torch._call["transpose"](x.data_ptr(), y.data_ptr(), 64, 64, None)
print(x.sum().item_().hex())
