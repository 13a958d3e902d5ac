"""Memory of one rank of FSDP2 training (fake process group, so no partner is needed): writes h200_fsdp_memory.csv.

usage: fsdp_memory.py OUT.csv OUT_PARTS.csv [--seconds N] [--skip N]
Collectives move nothing but their buffers are real. fp32 shards, MixedPrecisionPolicy(bf16, reduce fp32), fused AdamW,
one group per layer and one for the root (embedding, final norm, head), loss on fp32 logits, logits dropped before the
backward pass. Read in the third step.
"""

import argparse
import csv
import gc
import time
import traceback

import torch
import torch.distributed as dist
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import checkpoint_wrapper
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.testing._internal.distributed.fake_pg import FakeStore

import titan_llama
from common import GIB, SHAPES, PeakTrace, clean, warm_up

HEADER = (
    "case,world,layers,hidden,ffn,heads,kv,vocab,seq,mb,reshard,recompute,compile,params,state_gib,peak_gib,"
    "reserved_gib,base_gib,after_forward_gib"
).split(",")

PARTS = "case,peak_above_state_gib,kind,block_bytes,blocks,allocated_in".split(",")

# shape, world, seq, micro-batch, reshard after forward, recompute, compile, trace the peak
PLAN = [
    ("llama3-8b", 8, 8192, 1, True, "none", 0, True),
    ("llama3-8b", 8, 8192, 1, True, "full", 0, True),
    ("llama3-8b", 8, 8192, 1, False, "full", 0, True),
    ("llama3-8b", 64, 8192, 1, True, "full", 0, True),
    ("llama3-8b", 64, 4096, 1, False, "none", 0, False),
    ("llama3.2-1b", 8, 8192, 2, True, "none", 0, False),
    ("llama3.2-1b", 64, 8192, 2, False, "none", 0, False),
    ("llama3.2-3b", 8, 8192, 1, True, "none", 0, False),
    ("llama3.2-3b", 8, 4096, 2, False, "full", 0, False),
    ("llama2-7b", 8, 4096, 2, True, "full", 0, False),
    ("llama2-7b", 8, 4096, 1, True, "none", 0, False),
    ("llama3.2-3b", 8, 8192, 1, True, "none", 1, True),
    ("llama3-8b", 8, 8192, 1, True, "none", 1, False),
    ("llama3-8b", 8, 8192, 1, True, "full", 1, False),
    ("llama3.2-1b", 64, 4096, 2, False, "none", 1, False),
    ("llama2-7b", 8, 4096, 4, True, "full", 0, True),
    ("llama2-7b", 8, 2048, 1, True, "full", 0, True),
    ("llama2-7b", 8, 2048, 1, True, "none", 0, True),
    ("llama2-7b", 8, 2048, 1, False, "none", 0, True),
    ("llama2-13b", 8, 4096, 1, True, "full", 0, True),
    ("llama3-70b-2L", 64, 4096, 1, True, "full", 0, True),
    ("llama2-13b", 8, 4096, 2, True, "none", 1, False),
    ("llama2-7b", 8, 4096, 2, True, "full", 1, True),
]


def build(shape, seq, world, reshard, recompute, compiled):
    _, layers, hidden, ffn, heads, kv, vocab = shape
    mesh = init_device_mesh("cuda", (world,))
    with torch.device("meta"):
        model = titan_llama.Llama(layers, hidden, ffn, heads, kv, vocab, seq)
    for i, block in enumerate(model.layers):
        if recompute == "full":
            block = checkpoint_wrapper(block, preserve_rng_state=False)
        if compiled:
            block.compile(fullgraph=True)
        model.layers[i] = block
    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    for block in model.layers:
        fully_shard(block, mesh=mesh, mp_policy=policy, reshard_after_forward=reshard)
    fully_shard(model, mesh=mesh, mp_policy=policy)
    model.to_empty(device="cuda")
    with torch.no_grad():
        for p in model.parameters():
            local = p.to_local()
            local.fill_(1.0) if p.dim() == 1 else local.normal_(0, 0.02)
    model.set_table()
    return model


def kind_of(size, label, logits):
    """What a block that lived at the peak is, by where it was allocated; blocks of the backward pass carry no label."""
    where = {
        "alloc_all_gather_outputs": "unsharded bf16 parameters",
        "foreach_all_gather@": "all-gather buffer bf16",
        "foreach_reduce@_fsdp_collectives.py:522": "reduce-scatter input fp32",
        "foreach_reduce@": "gradient shard fp32",
        "loss_of": "logits",
    }
    for part, kind in where.items():
        if part in label:
            return kind
    if size in (2 * logits, 4 * logits):
        return "logits"
    if not label:
        return "gradients of weights and activations"
    return "activations"


def step(model, opt, loss_fn, tokens, labels):
    pred = model(tokens)
    loss = loss_fn(pred, labels)
    del pred
    torch.cuda.synchronize()
    after = torch.cuda.memory_allocated()
    loss.backward()
    opt.step()
    opt.zero_grad(set_to_none=True)
    return after


def run_case(name, world, seq, mb, reshard, recompute, compiled, trace, peaks):
    shape = SHAPES[name]
    case = f"{name}-w{world}-s{seq}-m{mb}-{'reshard' if reshard else 'keep'}-{recompute}-c{compiled}"
    clean()
    base = torch.cuda.memory_allocated()
    dist.init_process_group("fake", rank=0, world_size=world, store=FakeStore())
    try:
        model = build(shape, seq, world, reshard, recompute, compiled)
        opt = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
        loss_fn = torch.compile(titan_llama.loss_of) if compiled else titan_llama.loss_of
        tokens = torch.randint(0, shape[-1], (mb, seq), device="cuda")
        for _ in range(2):
            step(model, opt, loss_fn, tokens, tokens)
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        after = step(model, opt, loss_fn, tokens, tokens)
        torch.cuda.synchronize()
        state = torch.cuda.memory_allocated()
        peak, reserved = torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved()
        params = sum(p.numel() for p in model.parameters())
        if trace:
            with PeakTrace() as t:
                step(model, opt, loss_fn, tokens, tokens)
            above, blocks = t.composition(1 << 20)
            for s, n, label in blocks:
                peaks.writerow([case, f"{above / GIB:.3f}", kind_of(s, label, mb * seq * shape[-1]), s, n, label.split(" < ")[0]])
        return [case, world, *shape[1:], seq, mb, int(reshard), recompute, compiled, params,
                *(f"{x / GIB:.3f}" for x in (state, peak, reserved, base, after))]
    finally:
        model = opt = None
        dist.destroy_process_group()
        if compiled:
            torch._dynamo.reset()
        gc.collect()
        clean()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("out")
    ap.add_argument("parts")
    ap.add_argument("--seconds", type=float, default=300)
    ap.add_argument("--skip", type=int, default=0)
    a = ap.parse_args()
    deadline = time.time() + a.seconds
    torch.cuda.set_device(0)
    warm_up()
    rows = []
    with open(a.parts, "w", newline="") as f_parts:
        peaks = csv.writer(f_parts, lineterminator="\n")
        peaks.writerow(PARTS)
        for case in PLAN[a.skip :]:
            if time.time() > deadline:
                print("deadline before", case)
                break
            t = time.time()
            try:
                rows.append(run_case(*case, peaks))
                print(*rows[-1], f"{time.time() - t:.1f}s", flush=True)
            except Exception as e:
                print("FAILED", case, repr(e)[:300], flush=True)
                traceback.print_exc()
            with open(a.out, "w", newline="") as f:
                w = csv.writer(f, lineterminator="\n")
                w.writerow(HEADER)
                w.writerows(rows)


if __name__ == "__main__":
    main()
