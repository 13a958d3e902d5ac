"""Memory of Hugging Face training steps on one GPU, grown until out of memory: writes h200_memory.csv.

usage: hf_memory.py OUT.csv [--check TRUTH.csv OUT_CHECK.csv] [--seconds N] [--skip N] [--also NAME,SEQ,MB,PRECISION,RECOMPUTE,ATTENTION]...
A try builds the model and AdamW (fused) anew in one process, takes two whole steps and reads the allocator in the
second. What was allocated before a try is checked to be back to the base after the one before it.
"""

import argparse
import csv
import gc
import time

import torch

from common import GIB, SHAPES, clean, forward, hf_config, hf_model, warm_up

HEADER = (
    "name,family,layers,hidden,ffn,heads,kv_heads,vocab,seq,micro_batch,precision,recompute,attention,params,"
    "base_gib,state_gib,after_forward_gib,peak_gib,reserved_gib,outcome"
).split(",")

# shape, seq, first micro-batch, precision, recompute, attention
PLAN = [
    ("llama-160m", 1024, 64, "bf16", "none", "sdpa"),
    ("llama-1.3b", 2048, 4, "amp", "none", "sdpa"),
    ("llama-1.3b", 2048, 3, "fp32", "none", "sdpa"),
    ("llama-1.3b", 2048, 3, "bf16", "none", "eager"),
    ("llama3.2-1b", 8192, 1, "bf16", "none", "sdpa"),
    ("llama3.2-1b", 4096, 4, "bf16", "full", "sdpa"),
    ("llama3.2-3b", 2048, 4, "bf16", "none", "sdpa"),
    ("llama3.2-3b", 4096, 2, "amp", "full", "sdpa"),
    ("llama2-7b", 4096, 1, "bf16", "none", "sdpa"),
    ("llama3-8b", 8192, 1, "bf16", "full", "sdpa"),
    ("llama3-70b-2L", 4096, 3, "bf16", "none", "sdpa"),
    ("llama-wide-3L", 2048, 4, "bf16", "none", "sdpa"),
    ("qwen3-0.6b", 4096, 2, "bf16", "none", "sdpa"),
    ("gpt2-124m", 1024, 32, "bf16", "none", "sdpa"),
    ("llama-350m", 32768, 1, "bf16", "none", "sdpa"),
    ("llama3-8b", 2048, 1, "bf16", "none", "sdpa"),
    ("llama3-8b", 1024, 1, "amp", "none", "sdpa"),
    ("qwen3-4b", 4096, 2, "bf16", "full", "sdpa"),
    ("llama-160m-128k", 2048, 8, "amp", "none", "sdpa"),
    ("gpt2-355m", 1024, 8, "amp", "none", "eager"),
    ("llama-350m-gqa", 4096, 1, "bf16", "none", "eager"),
    ("llama2-13b", 4096, 1, "bf16", "full", "sdpa"),
    ("llama-1.3b", 32768, 1, "bf16", "full", "sdpa"),
    ("llama-1.3b", 4096, 4, "fp32", "full", "sdpa"),
    ("gpt2-1.5b", 1024, 4, "bf16", "none", "sdpa"),
    ("llama-350m", 4096, 4, "bf16", "none", "sdpa"),
    ("llama3.2-3b", 16384, 1, "bf16", "full", "sdpa"),
]


def gib(n):
    return f"{n / GIB:.3f}"


def steps(shape, seq, mb, precision, recompute, attention):
    family, layers, hidden, ffn, heads, kv, vocab = shape
    seen = {"step": 0}
    base = torch.cuda.memory_allocated()
    seen["base"] = base
    try:
        config = hf_config(family, layers, hidden, ffn, heads, kv, vocab, seq)
        model = hf_model(config, precision, attention, recompute)
        seen["params"] = sum(p.numel() for p in model.parameters())
        opt = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
        ids = torch.randint(0, vocab, (mb, seq), device="cuda")
        for i in (1, 2):
            seen["step"] = i
            torch.cuda.reset_peak_memory_stats()
            loss = forward(model, ids, precision).loss
            after = torch.cuda.memory_allocated()
            loss.backward()
            opt.step()
            opt.zero_grad(set_to_none=True)
            del loss
            torch.cuda.synchronize()
            seen["state"] = torch.cuda.memory_allocated()
        seen.update(after=after, peak=torch.cuda.max_memory_allocated(), reserved=torch.cuda.max_memory_reserved())
        return True, seen
    except torch.OutOfMemoryError:
        return False, seen


def attempt(name, seq, mb, precision, recompute, attention):
    shape = SHAPES[name]
    gc.collect()
    clean()
    t = time.time()
    ran, seen = steps(shape, seq, mb, precision, recompute, attention)
    row = dict(zip(HEADER, [name, *shape, seq, mb, precision, recompute, attention]))
    row.update(params=seen.get("params", ""), base_gib=gib(seen["base"]), outcome="ran" if ran else "oom")
    if "state" in seen:
        row["state_gib"] = gib(seen["state"])
    if ran:
        row.update(
            after_forward_gib=gib(seen["after"]), peak_gib=gib(seen["peak"]), reserved_gib=gib(seen["reserved"])
        )
    print(
        f"{name} seq {seq} mb {mb} {precision} {recompute} {attention}: {row['outcome']} step {seen['step']} "
        f"base {row['base_gib']} state {row.get('state_gib')} fwd {row.get('after_forward_gib')} "
        f"peak {row.get('peak_gib')} reserved {row.get('reserved_gib')} {time.time() - t:.1f}s",
        flush=True,
    )
    return row


def grow(name, seq, first, precision, recompute, attention, capacity, deadline):
    """Micro-batch first, its double, then where the line through both meets the card; then inwards, six tries in all."""
    rows, ran, oom = [], {}, set()
    mb = first
    for _ in range(6):
        if time.time() > deadline:
            break
        row = attempt(name, seq, mb, precision, recompute, attention)
        rows.append(row)
        if row["outcome"] == "ran":
            ran[mb] = float(row["peak_gib"])
        else:
            oom.add(mb)
            if mb == 1:
                break
        low, high = max(ran, default=0), min(oom, default=0)
        if high and high - low <= max(1, 0.04 * high):
            break
        if not ran:
            mb = max(1, mb // 2)
        elif not high:
            if len(ran) == 1:
                state = float(row["state_gib"])
                meet = low * (capacity - state) / (ran[low] - state)
                mb = 2 * low if 2 * low < 1.05 * meet else int(meet)
            else:
                (m0, p0), (m1, p1) = min(ran.items()), max(ran.items())
                mb = int(m1 + (capacity - p1) * (m1 - m0) / (p1 - p0))
            mb = max(mb, low + max(1, round(0.02 * low)))
        else:
            mb = high - max(1, round(0.02 * 2 ** (len(oom) - 1) * high))
            if mb <= low:
                mb = (low + high) // 2
    state = next((r["state_gib"] for r in rows if r["outcome"] == "ran"), "")
    params = next((r["params"] for r in rows if r["params"]), "")
    for r in rows:
        if r["outcome"] == "oom":
            r["state_gib"] = state or r.get("state_gib", "")
            r["params"] = r["params"] or params
    return rows


def write(path, rows):
    with open(path, "w", newline="") as f:
        w = csv.DictWriter(f, HEADER, restval="", lineterminator="\n")
        w.writeheader()
        w.writerows(rows)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("out")
    ap.add_argument("--check", nargs=2)
    ap.add_argument("--seconds", type=float, default=500)
    ap.add_argument("--skip", type=int, default=0)
    ap.add_argument("--also", action="append", default=[], help="one more try: name,seq,mb,precision,recompute,attention")
    a = ap.parse_args()
    deadline = time.time() + a.seconds
    warm_up()
    free, total = torch.cuda.mem_get_info()
    print(f"free {free / GIB:.3f} of {total / GIB:.3f} GiB", flush=True)
    if a.check:
        rows = []
        for t in csv.DictReader(open(a.check[0])):
            key = (int(t["seq"]), int(t["micro_batch"]), t["precision"], t["recompute"], t["attention"])
            rows.append(attempt(t["name"], *key))
            print(f"   truth: {t['state_gib']} {t['after_forward_gib']} {t['peak_gib']} {t['reserved_gib']}", flush=True)
            write(a.check[1], rows)
    rows = []
    for one in a.also:
        name, seq, mb, *rest = one.split(",")
        rows.append(attempt(name, int(seq), int(mb), *rest))
        write(a.out, rows)
    for name, seq, mb, precision, recompute, attention in PLAN[a.skip :] if a.out != "-" else []:
        if time.time() > deadline:
            print("deadline before", name, seq, flush=True)
            break
        try:
            rows += grow(name, seq, mb, precision, recompute, attention, free / GIB - 0.3, deadline)
        except Exception as e:  # keep what was measured
            print("FAILED", name, repr(e), flush=True)
        write(a.out, rows)


if __name__ == "__main__":
    main()
