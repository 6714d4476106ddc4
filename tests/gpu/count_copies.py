"""Runs a program under PyTorch's own profiler and prints its device-to-device copies: count_copies.py PROGRAM [ARGS...]

The last line is a JSON object {"copies": n, "bytes": n}, counted from the profiler's GPU memcpy records.
"""
import json
import os
import runpy
import sys
import tempfile

import torch
from torch.profiler import ProfilerActivity, profile

sys.argv = sys.argv[1:]
torch.zeros(1, device="cuda")
with profile(activities=[ProfilerActivity.CUDA]) as prof:
    runpy.run_path(sys.argv[0], run_name="__main__")
    torch.cuda.synchronize()
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "trace.json")
    prof.export_chrome_trace(path)
    with open(path) as file:
        events = json.load(file)["traceEvents"]
copies = [e for e in events if e.get("cat") == "gpu_memcpy" and "DtoD" in e.get("name", "")]
print(json.dumps({"copies": len(copies), "bytes": sum(int(e["args"]["bytes"]) for e in copies)}))
