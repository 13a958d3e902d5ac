"""Which collectives rank 0 of FSDP2 and tensor parallelism issues in a step: writes pytorch_collectives_awkward.csv.

usage: pytorch_collectives.py OUT.csv [--only PART_OF_CASE]
A fake process group, so no partner is needed: collectives move nothing, their tensors are real. One forward and
backward of a small Llama, no optimizer; every c10d and functional collective is counted by name, group, bytes, format.
Parameters bf16, gradients reduced in fp32 (bf16reduce: bf16), one FSDP group per layer and one for the root.
"""

import argparse
import csv
import multiprocessing
import re
import traceback
from collections import Counter
from concurrent.futures import ProcessPoolExecutor

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import checkpoint_wrapper
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.distributed.tensor import DTensor, Replicate, Shard
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    PrepareModuleInput,
    RowwiseParallel,
    SequenceParallel,
    parallelize_module,
)
from torch.testing._internal.distributed.fake_pg import FakeStore
from torch.utils._python_dispatch import TorchDispatchMode

from titan_llama import FeedForward

HEADER = "case,world,dp,tp,layers,hidden,ffn,heads,kv,vocab,seq,mb,op,group_size,in_bytes,out_bytes,dtype,count".split(",")

# layers, hidden, ffn, heads, kv, vocab, seq, micro-batch. T divides by most things; U by few (520 = 8 x 65, a prime
# vocabulary); V by three. A tensor-parallel group larger than kv makes kv as large.
SHAPES = {
    "T": (3, 512, 1536, 8, 4, 1000, 256, 2),
    "U": (5, 520, 1352, 8, 2, 1009, 256, 1),
    "V": (2, 384, 1152, 6, 3, 1000, 192, 2),
}

# Case and data-parallel ranks. A case is its shape and then what is on:
#   tpN, tpNsp     tensor parallel, with sequence parallelism
#   zero2, zero3   FSDP2 without or with resharding after forward; hsdpRxS: zero3 in S shards, R replicas
#   ckpt           every layer checkpointed; bf16reduce: gradients reduced in bf16; wN: the world, for the reader
PLAN = [
    ("T-hsdp8x1", 8),
    ("T-tp2-hsdp2x3-ckpt", 6),
    ("T-tp2sp-hsdp2x3-ckpt-bf16reduce", 6),
    ("T-tp2sp-zero2", 6),
    ("T-tp4sp-hsdp2x4", 8),
    ("T-tp4sp-zero3-bf16reduce", 8),
    ("T-tp4sp-zero3-ckpt", 8),
    ("T-tp8-zero3-ckpt", 4),
    ("T-tp8sp-hsdp2x2-w32", 4),
    ("U-tp2-zero2", 7),
    ("U-tp2sp-zero2-ckpt", 7),
    ("U-tp2sp-zero3", 7),
    ("U-zero2-ckpt", 7),
    ("U-zero3", 7),
    ("U-zero3-w600", 600),
    ("V-tp3sp-zero2", 4),
]


def tensors_in(value):
    if isinstance(value, torch.Tensor):
        return [value]
    return [t for v in value for t in tensors_in(v)] if isinstance(value, (list, tuple)) else []


def bytes_in(value):
    return sum(t.numel() * t.element_size() for t in tensors_in(value))


class CollectiveLog(TorchDispatchMode):
    """Counts (name, group size, bytes in, bytes out, format) of every collective. FSDP calls c10d, DTensor functional ones."""

    def __init__(self):
        super().__init__()
        self.counts = Counter()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if DTensor in types:
            return NotImplemented  # let it turn into plain tensors first
        out = func(*args, **(kwargs or {}))
        if "wait" not in str(func) and "wrap" not in str(func):  # both only hand a result on
            if func.namespace == "c10d":
                self.note_c10d(func, args)
            elif func.namespace in ("_c10d_functional", "_c10d_functional_autograd"):
                self.note_functional(func, args, out)
        return out

    def note_c10d(self, func, args):
        name = func._schema.name.split("::")[1]
        buffers = [a for a in args if tensors_in(a)]  # output first where there are two
        group = next(a for a in args if isinstance(a, torch.ScriptObject))
        size = dist.ProcessGroup.unbox(group).size()
        both = "allgather" in name or "reduce_scatter" in name
        dtype = tensors_in(buffers[0])[0].dtype
        self.counts[("c10d." + name, size, bytes_in(buffers[1 if both else 0]), bytes_in(buffers[0]), dtype)] += 1

    def note_functional(self, func, args, out):
        name = func._schema.name.split("::")[1]
        group = [a for a in args if isinstance(a, str)][-1]
        size = dist.distributed_c10d._resolve_process_group(group).size()
        self.counts[("f." + name, size, bytes_in(args), bytes_in(out), tensors_in(args)[0].dtype)] += 1


class Attention(nn.Module):
    """Heads are what the local projections give, so that tensor parallelism may split them."""

    def __init__(self, hidden, heads, kv):
        super().__init__()
        self.head_dim = hidden // heads
        self.wq = nn.Linear(hidden, hidden, bias=False)
        self.wk = nn.Linear(hidden, kv * self.head_dim, bias=False)
        self.wv = nn.Linear(hidden, kv * self.head_dim, bias=False)
        self.wo = nn.Linear(hidden, hidden, bias=False)

    def forward(self, x):
        b, s, _ = x.shape
        q, k, v = (w(x).view(b, s, -1, self.head_dim).transpose(1, 2) for w in (self.wq, self.wk, self.wv))
        repeat = q.shape[1] // k.shape[1]
        k, v = k.repeat_interleave(repeat, 1), v.repeat_interleave(repeat, 1)
        o = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.wo(o.transpose(1, 2).reshape(b, s, -1))


class Block(nn.Module):
    def __init__(self, hidden, ffn, heads, kv):
        super().__init__()
        self.attention_norm = nn.RMSNorm(hidden)
        self.attention = Attention(hidden, heads, kv)
        self.ffn_norm = nn.RMSNorm(hidden)
        self.feed_forward = FeedForward(hidden, ffn)

    def forward(self, x):
        h = x + self.attention(self.attention_norm(x))
        return h + self.feed_forward(self.ffn_norm(h))


class Llama(nn.Module):
    def __init__(self, layers, hidden, ffn, heads, kv, vocab):
        super().__init__()
        self.tok_embeddings = nn.Embedding(vocab, hidden)
        self.layers = nn.ModuleList(Block(hidden, ffn, heads, kv) for _ in range(layers))
        self.norm = nn.RMSNorm(hidden)
        self.output = nn.Linear(hidden, vocab, bias=False)

    def forward(self, tokens):
        x = self.tok_embeddings(tokens)
        for layer in self.layers:
            x = layer(x)
        return self.output(self.norm(x))


def layer_plan(between, sp):
    columns = ("attention.wq", "attention.wk", "attention.wv", "feed_forward.w1", "feed_forward.w3")
    plan = {name: ColwiseParallel() for name in columns}
    plan |= {name: RowwiseParallel(output_layouts=between) for name in ("attention.wo", "feed_forward.w2")}
    if sp:
        gather = dict(input_layouts=(Shard(1),), desired_input_layouts=(Replicate(),))
        plan |= {name: SequenceParallel() for name in ("attention_norm", "ffn_norm")}
        plan |= {name: PrepareModuleInput(**gather) for name in ("attention", "feed_forward")}
    return plan


def split_tensors(model, mesh, sp):
    """torchtitan's plan: between blocks whole tokens, or with sp tokens split over the group; logits gathered."""
    between = Shard(1) if sp else Replicate()
    root = {
        "tok_embeddings": RowwiseParallel(input_layouts=Replicate(), output_layouts=between),
        "output": ColwiseParallel(input_layouts=between, output_layouts=Replicate()),
    }
    if sp:
        root["norm"] = SequenceParallel()
    parallelize_module(model, mesh, root)
    for block in model.layers:
        parallelize_module(block, mesh, layer_plan(between, sp))


def meshes_of(dp, tp, hsdp):
    """The mesh that FSDP shards over, and the tensor-parallel one or None."""
    sizes, names = (hsdp, ("replicate", "shard")) if hsdp else ((dp,), ("dp",))
    if tp == 1:
        return init_device_mesh("cuda", sizes, mesh_dim_names=names), None
    mesh = init_device_mesh("cuda", (*sizes, tp), mesh_dim_names=(*names, "tp"))
    return mesh[names if hsdp else "dp"], mesh["tp"]


def run_case(case, dp):
    """The rows of one case. In a process of its own: DTensor remembers groups of the case before."""
    parts = case.split("-")
    layers, hidden, ffn, heads, kv, vocab, seq, mb = SHAPES[parts[0]]
    split = re.search(r"-tp(\d+)(sp)?", case)
    tp, sp = (int(split[1]), bool(split[2])) if split else (1, False)
    hsdp = re.search(r"-hsdp(\d+)x(\d+)", case)
    hsdp = (int(hsdp[1]), int(hsdp[2])) if hsdp else None
    kv = max(kv, tp)
    torch.cuda.set_device(0)
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=dp * tp)
    try:
        model = Llama(layers, hidden, ffn, heads, kv, vocab).to("cuda", torch.bfloat16)
        data_mesh, tensor_mesh = meshes_of(dp, tp, hsdp)
        if tensor_mesh:
            split_tensors(model, tensor_mesh, sp)
        if "ckpt" in parts:
            for i, block in enumerate(model.layers):
                model.layers[i] = checkpoint_wrapper(block, preserve_rng_state=False)
        reduce = torch.bfloat16 if "bf16reduce" in parts else torch.float32
        policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=reduce)
        for block in model.layers:
            fully_shard(block, mesh=data_mesh, mp_policy=policy, reshard_after_forward="zero2" not in parts)
        fully_shard(model, mesh=data_mesh, mp_policy=policy)  # the root is not resharded, as by default
        tokens = torch.randint(0, vocab, (mb, seq), device="cuda")
        with CollectiveLog() as log:
            model(tokens).float().mean().backward()
        shape = [layers, hidden, ffn, heads, kv, vocab, seq, mb]
        rows = [[case, dp * tp, dp, tp, *shape, *key[:4], str(key[4]).removeprefix("torch."), count]
                for key, count in log.counts.items()]
        return sorted(rows, key=lambda row: [str(cell) for cell in row])
    finally:
        dist.destroy_process_group()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("out")
    ap.add_argument("--only", default="")
    a = ap.parse_args()
    spawned = multiprocessing.get_context("spawn")
    with open(a.out, "w", newline="") as f, ProcessPoolExecutor(4, spawned, max_tasks_per_child=1) as pool:
        w = csv.writer(f, lineterminator="\n")
        w.writerow(HEADER)
        tries = {case: pool.submit(run_case, case, dp) for case, dp in PLAN if a.only in case}
        for case, rows in tries.items():
            try:
                w.writerows(rows.result())
                print(case, len(rows.result()), "kinds of message", flush=True)
            except Exception as e:
                print("FAILED", case, repr(e)[:300], flush=True)
                traceback.print_exc()


if __name__ == "__main__":
    main()
