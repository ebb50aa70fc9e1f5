# SPDX-License-Identifier: Apache-2.0
"""A training step of PyTorch: its text, how many instructions one takes, and how many of them are
Berth's.

Two processes differ by more than Berth adds: Python's tables lie elsewhere. So what Berth adds is
not their difference, but what its libraries execute, with all that they call but the driver's part
of what the program asked for.
"""
import collections
import pathlib
import re
import subprocess
import sys

# cuDNN is left out, for software GPUs have none of it (bench/vgpu/runtime).
STEP = """
import json, os, sys, time, torch
torch.manual_seed(0)
torch.backends.cuda.enable_cudnn_sdp(False)
model = torch.nn.TransformerEncoder(torch.nn.TransformerEncoderLayer(
    1024, 16, 4096, batch_first=True, dropout=0.0), 8).cuda().bfloat16()
optimizer = torch.optim.AdamW(model.parameters(), 1e-4, foreach=True)
batch = torch.randn(8, 512, 1024, device="cuda", dtype=torch.bfloat16)
def step():
    optimizer.zero_grad(set_to_none=True)
    loss = model(batch).float().square().mean()
    loss.backward()
    optimizer.step()
    return loss.item()
"""
TIMES = STEP + """
for _ in range(20): step()
took = []
for _ in range(80):
    began = time.perf_counter(); last = step(); took.append(time.perf_counter() - began)
took.sort()
print(json.dumps({"step_ms": took[len(took) // 2] * 1000, "loss": last}))
"""
# A call that PyTorch does not make parts one step from the next for who counts.
COUNTED = STEP + """
for _ in range(5): step()
for _ in range(11): os.getppid(); step()
os.getppid()
print("counted", flush=True)
sys.stdin.readline()
"""
ALLOCATORS = {"default": "", "expandable segments": "expandable_segments:True",
              "cudaMallocAsync": "backend:cudaMallocAsync"}
TIMEOUT_S = 900


def with_allocator(env, name):
    more = ALLOCATORS[name]
    return dict(env, PYTORCH_CUDA_ALLOC_CONF=more) if more else dict(env)


def read_part(path):
    """Of a part of callgrind's output: all instructions, those of Berth with what it calls, and
    those of the driver in calls that the program did not make."""
    total, own, called, where, names = 0, 0, None, {}, {}
    asked, passed = collections.Counter(), collections.defaultdict(lambda: [0, 0])
    for line in path.read_text().splitlines():
        name = re.match(r"c?(ob|fn)=(\(\d+\))(?: (.*))?", line)
        if name:
            known = names.setdefault(name[1] + name[2], (name[3] or "").rpartition("/")[2])
            where[line.partition("=")[0]] = known
        elif line.startswith("calls="):
            called = where.pop("cob", where["ob"]), where.pop("cfn")
            calls = int(line[6:].split()[0])
        elif line.startswith("totals:"):
            total = int(line.split()[1])
        elif line[:1] in tuple("+-*0123456789"):
            cost = int(line.split()[1])
            to = called[0] if called else ""
            if not where["ob"].startswith("libberth-"):
                asked[called[1] if to.startswith("libberth-") else None] += calls if called else 0
            elif to.startswith("libcuda.so"):
                passed[called[1]][0] += calls
                passed[called[1]][1] += cost
            elif not to.startswith("libberth-"):
                own += cost
            called = None
    more = sum(cost * max(0, 1 - asked[name] / calls) for name, (calls, cost) in passed.items())
    return total, own, round(more)


def count(python, env, folder, meanwhile):
    """The instructions of the median step, of all threads and outside of the kernel, as read_part()
    tells them. Asks meanwhile() while the program still has its memory."""
    out = pathlib.Path(folder) / "callgrind"
    words = ["valgrind", "--tool=callgrind", "--dump-before=getppid",
             f"--callgrind-out-file={out}", python, "-W", "ignore", "-c", COUNTED]
    program = subprocess.Popen(words, env=dict(env, PYTHONHASHSEED="0"), text=True,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    if program.stdout.readline() != "counted\n":
        sys.exit(f"torch_step: {program.communicate(timeout=TIMEOUT_S)[1][-3000:]}")
    answer = meanwhile()
    program.communicate("go\n", timeout=TIMEOUT_S)
    # The first part is all before the first step; after the last step comes one without a number.
    parts = sorted(out.parent.glob("callgrind.*"), key=lambda part: int(part.suffix[1:]))[1:]
    counts = sorted(read_part(part) for part in parts)
    for part in out.parent.glob("callgrind*"):
        part.unlink()
    return counts[len(counts) // 2], answer
