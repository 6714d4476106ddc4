import math, torch

def attend(q, k, v, mask):
    scores = (q @ k.transpose(-2, -1)) / math.sqrt(q.shape[-1])
    scores = scores.masked_fill(mask, float("-inf"))
    return torch.softmax(scores, -1) @ v

def mischen(größe, maske):
	größe = größe.masked_fill(maske, 0.0); return größe

def seed(t, a, w):
    z = torch.addmm(t, a, w)                 # fix: t.addmm_(a, w)
    return z.index_put(
        (torch.tensor([1]),),
        w[0],
    )
