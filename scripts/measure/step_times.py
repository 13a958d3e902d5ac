"""Whole training steps on one GPU: wall times, and every kernel of a step with the call that issued it.

usage: step_times.py WALL.csv KERNELS.csv [--seconds N]
WALL.csv: medians of several steps (forward, backward, optimizer, step; ms), what the host takes when the device has
nearly nothing to do (the same model on 16 tokens; ms) and how many kernels a step launches.
KERNELS.csv: kernels of one step of shallow models in order of first use: phase, issuing operator and its input sizes,
how often, median microseconds. Kernels under 2 us together are left out.
"""

import argparse
import csv
import json
import os
import statistics
import tempfile
import time

import torch
from torch.profiler import ProfilerActivity, profile

from common import SHAPES, clean, forward, hf_config, hf_model, warm_up

WALL = (
    "name,family,layers,hidden,ffn,heads,kv_heads,vocab,seq,micro_batch,precision,recompute,compile,attention,optimizer,"
    "params,step_ms_median,step_ms_min,step_ms_max,fwd_ms,bwd_ms,opt_ms,"
    "host_fwd_ms,host_bwd_ms,host_opt_ms,fwd_kernels,bwd_kernels,opt_kernels"
).split(",")

# shape, seq, micro-batch, precision, recompute, compile, attention, optimizer, layers (None: all)
PLAN = [
    ("llama-350m", 2048, 2, "bf16", "none", 0, "sdpa", "fused", None),
    ("llama-350m", 2048, 32, "bf16", "none", 0, "sdpa", "fused", None),
    ("llama-1.3b", 2048, 8, "bf16", "none", 0, "sdpa", "fused", None),
    ("llama3.2-1b", 4096, 4, "bf16", "none", 0, "sdpa", "fused", None),
    ("llama-wide-3L", 4096, 2, "bf16", "none", 0, "sdpa", "fused", None),
    ("qwen3-0.6b", 4096, 4, "bf16", "none", 0, "sdpa", "fused", None),
    ("gpt2-355m", 1024, 16, "bf16", "none", 0, "sdpa", "fused", None),
    ("gpt2-355m", 1024, 16, "amp", "none", 0, "sdpa", "fused", None),
    ("llama-350m", 2048, 8, "amp", "none", 0, "sdpa", "fused", None),
    ("llama-350m", 2048, 8, "fp32", "none", 0, "sdpa", "fused", None),
    ("llama3.2-1b", 2048, 2, "fp32", "none", 0, "sdpa", "fused", None),
    ("llama3.2-1b", 4096, 1, "bf16", "none", 0, "eager", "fused", None),
    ("qwen3-0.6b", 2048, 8, "bf16", "full", 0, "sdpa", "fused", None),
    ("llama-1.3b", 2048, 4, "bf16", "none", 0, "sdpa", "foreach", 6),
    ("llama-1.3b", 2048, 4, "bf16", "none", 0, "sdpa", "loop", 6),
    ("llama-1.3b", 2048, 8, "bf16", "none", 1, "sdpa", "fused", 8),
    ("llama3.2-1b", 4096, 2, "bf16", "none", 1, "sdpa", "fused", 6),
    ("llama3.2-3b", 4096, 1, "amp", "none", 1, "sdpa", "fused", 6),
    ("gpt2-124m", 1024, 32, "bf16", "none", 1, "sdpa", "fused", 6),
    ("qwen3-0.6b", 2048, 8, "bf16", "none", 1, "sdpa", "fused", 6),
]

# Listed kernel by kernel: shape, seq, micro-batch, precision, recompute, compile, attention, optimizer, layers
LISTED = [
    ("llama-1.3b", 2048, 4, "bf16", "none", 0, "sdpa", "fused", 2),
    ("llama3.2-1b", 4096, 2, "bf16", "none", 0, "sdpa", "fused", 2),
    ("llama-1.3b", 2048, 4, "bf16", "none", 0, "eager", "fused", 2),
    ("llama-1.3b", 2048, 4, "amp", "none", 0, "sdpa", "fused", 2),
    ("llama-1.3b", 2048, 2, "fp32", "none", 0, "sdpa", "fused", 2),
    ("llama3.2-1b", 2048, 2, "fp32", "none", 0, "sdpa", "fused", 2),
    ("qwen3-4b", 2048, 2, "bf16", "none", 0, "sdpa", "fused", 2),
    ("gpt2-124m", 1024, 32, "bf16", "none", 0, "sdpa", "fused", 2),
    ("gpt2-124m", 1024, 32, "amp", "none", 0, "sdpa", "fused", 2),
    ("llama-1.3b", 2048, 4, "bf16", "none", 1, "sdpa", "fused", 2),
    ("llama3.2-1b", 4096, 2, "amp", "none", 1, "sdpa", "fused", 2),
    ("gpt2-124m", 1024, 32, "bf16", "none", 1, "sdpa", "fused", 2),
]


class Step:
    """One training step in three phases, for a model that is built once."""

    def __init__(self, name, precision, recompute, compiled, attention, optimizer, layers, seq):
        family, depth, hidden, ffn, heads, kv, vocab = SHAPES[name]
        self.shape = (family, layers or depth, hidden, ffn, heads, kv, vocab)
        self.precision, self.vocab = precision, vocab
        self.model = hf_model(hf_config(*self.shape, seq), precision, attention, recompute)
        self.params = sum(p.numel() for p in self.model.parameters())
        how = {"fused": dict(fused=True), "foreach": dict(foreach=True), "loop": dict(foreach=False)}[optimizer]
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-4, **how)
        self.call = torch.compile(self.model) if compiled else self.model

    def phases(self, ids):
        loss = None

        def run_forward():
            nonlocal loss
            loss = forward(self.call, ids, self.precision).loss

        def run_backward():
            loss.backward()

        def run_update():
            self.optimizer.step()
            self.optimizer.zero_grad(set_to_none=True)

        return [("fwd", run_forward), ("bwd", run_backward), ("opt", run_update)]

    def tokens(self, batch, seq):
        return torch.randint(0, self.vocab, (batch, seq), device="cuda")


def phase_times(step, ids, repeats):
    """Medians by phase, the device idle between phases; and whole steps without such pauses."""
    apart = {"fwd": [], "bwd": [], "opt": []}
    for _ in range(repeats):
        for phase, work in step.phases(ids):
            torch.cuda.synchronize()
            start = time.perf_counter()
            work()
            torch.cuda.synchronize()
            apart[phase].append(1e3 * (time.perf_counter() - start))
    whole = []
    for _ in range(repeats):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _, work in step.phases(ids):
            work()
        torch.cuda.synchronize()
        whole.append(1e3 * (time.perf_counter() - start))
    return {k: statistics.median(v) for k, v in apart.items()}, whole


def kernels_of(work):
    """The kernels of a phase in order: issuing operator, its input sizes, kernel name, microseconds."""
    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], record_shapes=True) as seen:
        work()
        torch.cuda.synchronize()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trace.json")
        seen.export_chrome_trace(path)
        with open(path) as file:
            events = json.load(file)["traceEvents"]
    calls = {}
    for e in events:
        if e.get("cat") == "cpu_op" and "External id" in e.get("args", {}):
            calls[e["args"]["External id"]] = e
    found = []
    for e in events:
        if e.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset"):
            call = calls.get(e["args"].get("External id"), {})
            dims = str(call.get("args", {}).get("Input Dims", "")).replace(" ", "")
            found.append((e["ts"], call.get("name", ""), dims[:80], e["name"][:90], e["dur"]))
    return [k[1:] for k in sorted(found)]


def build(case):
    name, seq, batch, precision, recompute, compiled, attention, optimizer, layers = case
    clean()
    torch._dynamo.reset()
    return Step(name, precision, recompute, compiled, attention, optimizer, layers, seq)


def warm(step, ids, times=4):
    for _ in range(times):
        for _, work in step.phases(ids):
            work()
    torch.cuda.synchronize()


LISTING = ["case", "phase", "call", "dims", "kernel", "count", "us_median"]


def short_name(kernel):
    for noise in ("void ", "at::native::", "(anonymous namespace)::", "at_cuda_detail::cub::detail::", "c10::"):
        kernel = kernel.replace(noise, "")
    return kernel[:40].rstrip()


def write_kernels(case, phase, kernels, out):
    """One line for all kernels alike."""
    alike = {}
    for call, dims, kernel, us in kernels:
        key = (call.replace("aten::", "")[:48], dims.replace("[]", "")[:60], short_name(kernel))
        alike.setdefault(key, []).append(us)
    for key, times in alike.items():
        if sum(times) >= 2:
            out.writerow([case, phase, *key, len(times), f"{statistics.median(times):.1f}"])


def list_kernels(case, out):
    step = build(case)
    ids = step.tokens(case[2], case[1])
    warm(step, ids)
    for phase, work in step.phases(ids):
        write_kernels("-".join(str(c) for c in case), phase, kernels_of(work), out)


def wall(case, out):
    name, seq, batch, precision, recompute, compiled, attention, optimizer, layers = case
    step = build(case)
    host = {}
    if not compiled:  # a compiled model would compile again for the other size
        few = step.tokens(1, 16)
        warm(step, few)
        host, _ = phase_times(step, few, 5)
    ids = step.tokens(batch, seq)
    warm(step, ids)
    apart, whole = phase_times(step, ids, 5)
    counts = {phase: len(kernels_of(work)) for phase, work in step.phases(ids)}
    row = [name, *step.shape, seq, batch, precision, recompute, compiled, attention, optimizer, step.params]
    row += [f"{x:.3f}" for x in (statistics.median(whole), min(whole), max(whole))]
    row += [f"{apart[p]:.3f}" for p in apart]
    row += [f"{host[p]:.3f}" if p in host else "" for p in apart]
    row += [counts[p] for p in apart]
    out.writerow(row)
    print(row, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("wall")
    parser.add_argument("kernels")
    parser.add_argument("--seconds", type=float, default=520)
    args = parser.parse_args()
    warm_up()
    start = time.monotonic()
    with open(args.kernels, "w", newline="") as file:
        out = csv.writer(file)
        out.writerow(LISTING)
        for case in LISTED:
            if time.monotonic() - start < args.seconds:
                list_kernels(case, out)
                print("listed", case, f"{time.monotonic() - start:.0f} s", flush=True)
    with open(args.wall, "w", newline="") as file:
        out = csv.writer(file)
        out.writerow(WALL)
        for case in PLAN:
            if time.monotonic() - start < args.seconds:
                wall(case, out)
                file.flush()
                print(f"{time.monotonic() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()
