"""Compute of one rank of FSDP2 and tensor parallelism on one GPU, collectives moving nothing (fake process group).

usage: rank_times.py WALL.csv KERNELS.csv [--seconds N]
The Llama of titan_llama.py; bf16 parameters, gradients reduced in fp32, loss on the gathered logits, no optimizer. A gather
of the fake group copies each rank's part on the same device. Columns as in rank_compute tables, and what the host takes (the
same rank on 64 tokens; ms) and kernels launched. KERNELS.csv as in step_times.py.
"""

import argparse
import csv
import statistics
import time

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.distributed._composable.fsdp import MixedPrecisionPolicy, fully_shard
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import checkpoint_wrapper
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Replicate, Shard
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    PrepareModuleInput,
    RowwiseParallel,
    SequenceParallel,
    parallelize_module,
)
from torch.testing._internal.distributed.fake_pg import FakeStore

from common import clean, warm_up
from step_times import LISTING, kernels_of, write_kernels
from titan_llama import Llama

# layers, hidden, ffn, heads, kv, vocab, seq, micro-batch
MODELS = {
    "A": (4, 4096, 14336, 32, 8, 128256, 4096, 1),
    "C": (4, 2048, 5504, 16, 16, 32000, 2048, 4),
    "E": (6, 3072, 8192, 24, 8, 128256, 8192, 1),
}
# model, dp, tp, sp, zero, recompute
PLAN = [
    ("A", 64, 1, 0, 3, 0),
    ("A", 64, 1, 0, 2, 0),
    ("A", 1, 4, 0, 0, 0),
    ("A", 1, 8, 1, 0, 0),
    ("A", 8, 8, 1, 3, 0),
    ("A", 1, 4, 1, 0, 1),
    ("A", 32, 1, 0, 3, 1),
    ("C", 64, 1, 0, 3, 0),
    ("C", 1, 4, 0, 0, 0),
    ("C", 32, 4, 0, 2, 0),
    ("E", 1, 4, 1, 0, 0),
    ("E", 1, 4, 0, 0, 1),
    ("E", 256, 1, 0, 3, 0),
    ("E", 32, 1, 0, 3, 1),
]
HEADER = (
    "case,world,dp,tp,layers,hidden,ffn,heads,kv,vocab,seq,mb,fwd_ms,bwd_ms,step_ms,"
    "host_fwd_ms,host_bwd_ms,fwd_kernels,bwd_kernels"
).split(",")


def case_name(model, dp, tp, sp, zero, recompute):
    name = model
    if tp > 1:
        name += f"-tp{tp}" + ("sp" if sp else "")
    return name + (f"-zero{zero}" if zero else "") + ("-ckpt" if recompute else "")


def layer_plan(sequence):
    into, out = (Shard(1), Shard(1)) if sequence else (Replicate(), Replicate())
    split = ("attention.wq", "attention.wk", "attention.wv", "feed_forward.w1", "feed_forward.w3")
    plan = {name: ColwiseParallel() for name in split}
    plan.update({name: RowwiseParallel(output_layouts=out) for name in ("attention.wo", "feed_forward.w2")})
    if sequence:
        plan["attention_norm"] = plan["ffn_norm"] = SequenceParallel()
        plan["attention"] = PrepareModuleInput(input_layouts=(into, None), desired_input_layouts=(Replicate(), None))
        plan["feed_forward"] = PrepareModuleInput(input_layouts=(into,), desired_input_layouts=(Replicate(),))
    return plan


def build(case):
    model_name, dp, tp, sp, zero, recompute = case
    layers, hidden, ffn, heads, kv, vocab, seq, _ = MODELS[model_name]
    clean()
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=dp * tp)
    mesh = init_device_mesh("cuda", (dp, tp), mesh_dim_names=("dp", "tp"))
    with torch.device("cuda"):
        model = Llama(layers, hidden, ffn, heads, kv, vocab, seq).to(torch.bfloat16)
    model.set_table()
    blocks = model.layers
    if tp > 1:
        into = Shard(1) if sp else Replicate()
        whole = {"tok_embeddings": RowwiseParallel(input_layouts=Replicate(), output_layouts=into)}
        whole["output"] = ColwiseParallel(input_layouts=into, output_layouts=Replicate())
        if sp:
            whole["norm"] = SequenceParallel()
        parallelize_module(model, mesh["tp"], whole)
        for block in blocks:
            block.attention.heads //= tp
            block.attention.kv //= tp
            parallelize_module(block, mesh["tp"], layer_plan(sp))
    if recompute:
        for index, block in enumerate(blocks):
            blocks[index] = checkpoint_wrapper(block)
    if zero:
        policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
        for block in blocks:
            fully_shard(block, mesh=mesh["dp"], mp_policy=policy, reshard_after_forward=zero == 3)
        fully_shard(model, mesh=mesh["dp"], mp_policy=policy, reshard_after_forward=zero == 3)
    return model


def phases(model, ids):
    loss = None

    def run_forward():
        nonlocal loss
        logits = model(ids)
        if isinstance(logits, DTensor):
            logits = logits.full_tensor()
        loss = F.cross_entropy(logits.flatten(0, 1).float(), ids.flatten())

    def run_backward():
        loss.backward()
        for p in model.parameters():
            p.grad = None

    return [("fwd", run_forward), ("bwd", run_backward)]


def times(model, ids, repeats=6):
    apart, whole = {"fwd": [], "bwd": []}, []
    for _ in range(repeats):
        for phase, work in phases(model, ids):
            torch.cuda.synchronize()
            start = time.perf_counter()
            work()
            torch.cuda.synchronize()
            apart[phase].append(1e3 * (time.perf_counter() - start))
    for _ in range(repeats):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _, work in phases(model, ids):
            work()
        torch.cuda.synchronize()
        whole.append(1e3 * (time.perf_counter() - start))
    return [statistics.median(apart["fwd"]), statistics.median(apart["bwd"]), statistics.median(whole)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("wall")
    parser.add_argument("kernels")
    parser.add_argument("--seconds", type=float, default=300)
    args = parser.parse_args()
    torch.cuda.set_device(0)
    warm_up()
    start = time.monotonic()
    with open(args.wall, "w", newline="") as wall_file, open(args.kernels, "w", newline="") as kernel_file:
        wall, listing = csv.writer(wall_file), csv.writer(kernel_file)
        wall.writerow(HEADER)
        listing.writerow(LISTING)
        for case in PLAN:
            if time.monotonic() - start > args.seconds:
                break
            try:
                model = build(case)
                *shape, seq, batch = MODELS[case[0]]
                few = torch.randint(0, shape[5], (1, 64), device="cuda")
                table = model.table
                model.table = table[:64]
                times(model, few, 2)
                host = times(model, few)
                model.table = table
                ids = torch.randint(0, shape[5], (batch, seq), device="cuda")
                times(model, ids, 2)
                real = times(model, ids)
                counts = []
                for phase, work in phases(model, ids):
                    kernels = kernels_of(work)
                    counts.append(len(kernels))
                    write_kernels(case_name(*case), phase, kernels, listing)
                row = [case_name(*case), case[1] * case[2], case[1], case[2], *shape, seq, batch]
                row += [f"{x:.3f}" for x in real + host[:2]] + counts
                wall.writerow(row)
                print(row, f"{time.monotonic() - start:.0f} s", flush=True)
                del model, work, ids, few
            except Exception as error:  # the other cases are worth having
                print("failed", case, repr(error)[:600], flush=True)
            finally:
                if dist.is_initialized():
                    dist.destroy_process_group()


if __name__ == "__main__":
    main()
