#!/usr/bin/env python3
"""Profiles of one training step with one known fault each, and of the same step with the fault mended.

  fault_traces.py OUT [NAME…]      on one GPU, faults whose names start so; writes OUT/<name>.<fault|fixed>.json.gz and appends OUT/steps.csv
  fault_traces.py OUT --gloo       eight gloo ranks on the CPU; writes OUT/<name>/rank<k>.json.gz

A small decoder (three blocks, 2048 wide) of plain PyTorch, so that a trace is small. Step times in steps.csv are medians
of 20 steps without a profiler: what a mend saves is measured, not read from a profile. Four steps are recorded, with
shapes and memory, and with stacks where the fault is the host's.
"""
import argparse
import gc
import os
import pathlib
import statistics
import subprocess
import sys
import time

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch._inductor.config
from torch.profiler import ProfilerActivity, profile, schedule

STEPS = 4
torch._dynamo.config.recompile_limit = 64  # a shape a step must be compiled, not run without the compiler
torch._inductor.config.force_disable_caches = True  # and not be found where an earlier run left it


class Config:
    layers, hidden, heads, vocab, seq, batch = 3, 2048, 16, 32000, 2048, 8
    dtype = torch.bfloat16
    tf32 = False
    attention = "flash"  # flash, math, eager
    recompute = False
    fused_adam, foreach = True, None
    data_ms = 0.0
    pageable = False
    item_each_block = False
    item_each_step = True
    collect = False
    empty_cache = False
    random_lengths = False
    small_products = False
    chain = False  # a long chain of small elementwise kernels
    norm_parts = False
    compile = False
    graph = False
    fp32_logits = True
    host_ms = 0.0  # Python between the blocks
    save = False
    fraction = 0.0
    stacks = False
    shapes = True
    memory = True
    gc_info = False
    relayout = False
    recompile = False  # a shape that the compiler has not seen, every step
    small_copies = 0  # from pageable memory, each of some kilobytes
    offload = False  # the optimizer's states and update on the host
    item_each_grad = False
    qkv_apart = False  # queries, keys and values of three products, in the order that attention takes
    compile_loss = False
    compile_blocks = False
    together = False  # timed without a wait of the clock's own after each step
    warm, timed = 5, 20

    def __init__(self, **kwargs):
        for key, value in kwargs.items():
            assert hasattr(self, key), key
            setattr(self, key, value)


class Norm(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(config.hidden))
        self.parts = config.norm_parts

    def forward(self, x):
        if self.parts:
            y = x.float()
            y = y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-5)
            return (y * self.weight.float()).to(x.dtype)
        return F.rms_norm(x, (x.shape[-1],), self.weight, 1e-5)


class Block(nn.Module):
    def __init__(self, config):
        super().__init__()
        h = config.hidden
        self.config = config
        self.norm1, self.norm2 = Norm(config), Norm(config)
        self.qkv = nn.ModuleList(nn.Linear(h, h, bias=False) for _ in range(3)) if config.qkv_apart else nn.Linear(h, 3 * h, bias=False)
        self.out = nn.Linear(h, h, bias=False)
        self.up = nn.Linear(h, 4 * h, bias=False)
        self.down = nn.Linear(4 * h, h, bias=False)

    def attend(self, q, k, v):
        kind = self.config.attention
        if kind == "eager":
            scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
            mask = torch.ones(q.shape[-2], q.shape[-2], device=q.device, dtype=torch.bool).tril()
            return torch.softmax(scores.masked_fill(~mask, float("-inf")).float(), -1).to(q.dtype) @ v
        backend = {"flash": torch.nn.attention.SDPBackend.FLASH_ATTENTION,
                   "math": torch.nn.attention.SDPBackend.MATH,
                   "any": torch.nn.attention.SDPBackend.EFFICIENT_ATTENTION}[kind]
        with torch.nn.attention.sdpa_kernel(backend):
            return F.scaled_dot_product_attention(q, k, v, is_causal=True)

    def forward(self, x):
        c = self.config
        b, s, h = x.shape
        y = self.norm1(x)
        if c.qkv_apart:
            q, k, v = (one(y).view(b, s, c.heads, h // c.heads).transpose(1, 2) for one in self.qkv)
        else:
            q, k, v = self.qkv(y).view(b, s, 3, c.heads, h // c.heads).permute(2, 0, 3, 1, 4)
        y = self.attend(q, k, v)
        if c.relayout:  # copies that change only the order of elements
            for _ in range(4):
                y = y.transpose(1, 2).contiguous().transpose(1, 2).contiguous()
        x = x + self.out(y.transpose(1, 2).reshape(b, s, h))
        y = self.norm2(x)
        if c.small_products:  # 64 narrow products in place of one
            parts = [F.linear(y, w) for w in self.up.weight.chunk(64, 0)]
            y = torch.cat(parts, -1)
        else:
            y = self.up(y)
        if c.chain:  # GELU by its formula, one kernel a step of it
            y = 0.5 * y * (1.0 + torch.tanh(0.7978845608 * (y + 0.044715 * y * y * y)))
            y = y * 1.0001 + 0.0001 * y - 0.00005 * torch.abs(y) + torch.relu(y) * 0.0001
        else:
            y = F.gelu(y, approximate="tanh")
        x = x + self.down(y)
        if c.item_each_block:
            if not torch.isfinite(x.float().sum()).item():
                raise ValueError("not finite")
        if c.host_ms:
            until = time.perf_counter() + c.host_ms / 1e3
            while time.perf_counter() < until:
                sum(range(50))
        return x


class Model(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.embed = nn.Embedding(config.vocab, config.hidden)
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.layers))
        self.norm = Norm(config)
        self.head = nn.Linear(config.hidden, config.vocab, bias=False)
        self.compiled_loss = torch.compile(
            lambda x, w, y: F.cross_entropy(F.linear(x, w).float().flatten(0, 1), y.flatten()))
        if config.compile_blocks:
            for block in self.blocks:
                block.compile()

    def forward(self, tokens, targets):
        x = self.embed(tokens)
        for block in self.blocks:
            x = (torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False)
                 if self.config.recompute else block(x))
        x = self.norm(x)
        if self.config.compile_loss:
            return self.compiled_loss(x, self.head.weight, targets)
        if not self.config.fp32_logits:  # the loss a piece at a time
            pieces = 8
            losses = [F.cross_entropy(self.head(piece).flatten(0, 1), target.flatten())
                      for piece, target in zip(x.chunk(pieces, 1), targets.chunk(pieces, 1))]
            return sum(losses) / pieces
        return F.cross_entropy(self.head(x).float().flatten(0, 1), targets.flatten())


class Slow(torch.utils.data.IterableDataset):
    def __init__(self, config):
        self.config = config

    def __iter__(self):
        generator = torch.Generator().manual_seed(1)
        while True:
            if self.config.data_ms:
                time.sleep(self.config.data_ms / 1e3)
            yield torch.randint(0, self.config.vocab, (self.config.batch, self.config.seq + 1), generator=generator)


class Training:
    def __init__(self, config):
        self.config = config
        torch.manual_seed(0)
        torch.backends.cuda.matmul.allow_tf32 = config.tf32
        self.model = Model(config).to("cuda", config.dtype)
        self.run = torch.compile(self.model, dynamic=False if config.recompile else None) if config.compile else self.model
        self.optimizer = (torch.optim.AdamW(self.model.parameters(), lr=1e-4, fused=True, capturable=config.graph)
                          if config.fused_adam else
                          torch.optim.AdamW(self.model.parameters(), lr=1e-4, fused=False, foreach=bool(config.foreach)))
        self.data = iter(torch.utils.data.DataLoader(Slow(config), batch_size=None, num_workers=0))
        if not config.data_ms:  # ready before it is asked for
            ready = [next(self.data) for _ in range(4)]
            if not config.pageable:
                ready = [one.pin_memory() for one in ready]
            self.data = (ready[i % 4] for i in range(10 ** 9))
        self.extra = torch.empty(1 << 28) if config.pageable else None  # 1 GiB of features a step
        self.garbage = [[{"a": i}] for i in range(400_000)] if config.collect else None
        if config.offload:
            self.host = [nn.Parameter(one.detach().float().cpu()) for one in self.model.parameters()]
            self.host_optimizer = torch.optim.AdamW(self.host, lr=1e-4, fused=True)
        self.count = 0
        self.graph = None

    def step(self):
        c = self.config
        batch = next(self.data)
        batch = batch.to("cuda", non_blocking=not c.pageable)
        if self.extra is not None:
            self.extra.to("cuda")
        if c.small_copies:
            self.metrics = [torch.full((64,), float(i)).to("cuda") for i in range(c.small_copies)]
        if c.recompile:
            self.count += 1
            batch = batch[:, :c.seq - 8 * self.count]
        if c.random_lengths:
            batch = batch[:, :c.seq - 64 * ((7 * self.count) % 17)]
            self.count += 1
        if c.graph:
            return self.replay(batch)
        loss = self.run(batch[:, :-1], batch[:, 1:])
        loss.backward()
        if c.item_each_grad:
            self.norms = [one.grad.norm().item() for one in self.model.parameters()]
        self.update()
        if c.item_each_step:
            loss.item()
        if c.collect:
            gc.collect()
        if c.empty_cache:
            torch.cuda.empty_cache()
        if c.save:
            torch.save(self.model.state_dict(), "/dev/shm/checkpoint.pt")
        return loss

    def update(self):
        if not self.config.offload:
            self.optimizer.step()
            self.optimizer.zero_grad(set_to_none=True)
            return
        parameters = list(self.model.parameters())
        for here, there in zip(self.host, parameters):
            here.grad = there.grad.to("cpu", torch.float32)
            there.grad = None
        self.host_optimizer.step()
        with torch.no_grad():
            for here, there in zip(self.host, parameters):
                there.copy_(here)

    def replay(self, batch):
        if self.graph is None:
            self.batch = batch.clone()
            side = torch.cuda.Stream()
            with torch.cuda.stream(side):
                for _ in range(3):
                    self.plain(self.batch)
            torch.cuda.current_stream().wait_stream(side)
            self.graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.graph):
                self.plain(self.batch)
        self.batch.copy_(batch, non_blocking=True)
        self.graph.replay()

    def plain(self, batch):
        loss = self.run(batch[:, :-1], batch[:, 1:])
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=False)


def median_step(training, steps=20):
    for _ in range(training.config.warm):
        training.step()
    torch.cuda.synchronize()
    times = []
    at_once = 20 if training.config.together else 1
    for _ in range(max(1, steps // 4) if training.config.together else min(steps, training.config.timed)):
        start = time.perf_counter()
        for _ in range(at_once):
            training.step()
        torch.cuda.synchronize()
        times.append(1e3 * (time.perf_counter() - start) / at_once)
    return statistics.median(times), min(times), max(times)


def record(training, file):
    c = training.config
    experimental = {}
    if c.gc_info:
        try:
            experimental["experimental_config"] = torch._C._profiler._ExperimentalConfig(record_python_gc_info=True)
        except TypeError:
            pass
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA],
                 schedule=schedule(wait=0, warmup=1, active=STEPS, repeat=1), record_shapes=c.shapes,
                 profile_memory=c.memory, with_stack=c.stacks, **experimental) as profiler:
        for _ in range(1 + STEPS):
            training.step()
            profiler.step()
        torch.cuda.synchronize()
    profiler.export_chrome_trace(str(file))


# name: (what is wrong, and the mend), each as settings of Config.
SMALL = dict(layers=6, hidden=512, heads=8, seq=256, batch=2)
TINY = dict(layers=12, hidden=256, heads=4, seq=128, batch=4)
TALL = dict(layers=12, hidden=1024, heads=8, batch=2)
FLAT = dict(layers=12, hidden=1024, heads=8, batch=8, vocab=8000)
FAULTS = {
    "plain": ({}, {}),
    "input_bound": (dict(data_ms=60.0), {}),
    "launch_bound": (dict(**SMALL, item_each_step=False), dict(**SMALL, graph=True, item_each_step=False)),
    "sync_each_block": (dict(item_each_block=True, layers=12, hidden=1024, heads=8, seq=512, batch=4, item_each_step=False),
                        dict(layers=12, hidden=1024, heads=8, seq=512, batch=4, item_each_step=False)),
    "python_gc": (dict(collect=True, gc_info=True, stacks=True), dict(gc_info=True, stacks=True)),
    "gc_frames": (dict(collect=True, stacks=True, batch=4), dict(batch=4, stacks=True)),
    "gc_unseen": (dict(collect=True), {}),
    "allocator_churn": (dict(empty_cache=True), {}),
    "pageable_copy": (dict(pageable=True), {}),
    "unfused_optimizer": (dict(fused_adam=False, foreach=False, layers=12, hidden=1024, heads=8, batch=2),
                          dict(layers=12, hidden=1024, heads=8, batch=2)),
    "foreach_optimizer": (dict(fused_adam=False, foreach=True, batch=1), dict(batch=1)),
    "math_attention": (dict(attention="math", batch=4), dict(batch=4)),
    "eager_attention": (dict(attention="eager", batch=4), dict(batch=4)),
    "fp32_no_tf32": (dict(dtype=torch.float32, attention="any", batch=2), dict(dtype=torch.float32, tf32=True, attention="any", batch=2)),
    "needless_recompute": (dict(recompute=True), {}),
    "small_products": (dict(small_products=True, batch=2), dict(batch=2)),
    "elementwise_chain": (dict(chain=True), {}),
    "norm_parts": (dict(norm_parts=True), {}),
    "vocabulary": (dict(vocab=152064, layers=2, batch=4), dict(vocab=152064, layers=2, batch=4, compile_loss=True)),
    "loss": ({}, dict(compile_loss=True)),
    "memory_limit": (dict(random_lengths=True, fraction=-1.0), dict(random_lengths=True)),
    "host_work": (dict(host_ms=12.0, batch=4, stacks=True), dict(batch=4, stacks=True)),
    "checkpoint_save": (dict(save=True), {}),
    "profiler_stacks": (dict(layers=12, hidden=512, heads=8, batch=2, seq=512, stacks=True),
                        dict(layers=12, hidden=512, heads=8, batch=2, seq=512, stacks=False, shapes=False, memory=False)),
    "relayout": (dict(relayout=True), {}),
    "recompile": (dict(compile=True, recompile=True, layers=1, warm=1, timed=6), dict(compile=True, layers=1)),
    "small_copies": (dict(small_copies=400, batch=2), dict(batch=2)),
    "offload": (dict(offload=True, batch=4), dict(batch=4)),
    "compiled": (dict(chain=True, norm_parts=True), dict(chain=True, norm_parts=True, compile=True)),
    "blocks_compiled": (dict(chain=True, norm_parts=True), dict(chain=True, norm_parts=True, compile_blocks=True)),
    "item_each_grad": (dict(**FLAT, item_each_grad=True), dict(**FLAT)),
    # A loop that reads its loss in each step, and one that does not.
    "wait": (dict(together=True), dict(together=True, item_each_step=False)),
    "wait_b4": (dict(batch=4, together=True), dict(batch=4, together=True, item_each_step=False)),
    "wait_b2": (dict(batch=2, together=True), dict(batch=2, together=True, item_each_step=False)),
    "wait_b1": (dict(batch=1, together=True), dict(batch=1, together=True, item_each_step=False)),
    "wait_tall": (dict(**TALL, together=True), dict(**TALL, together=True, item_each_step=False)),
    # What confirms what is found in runs without a fault.
    "wait_math": (dict(batch=2, seq=1024, together=True), dict(batch=2, seq=1024, together=True, item_each_step=False)),
    "wait_products": (dict(batch=1, layers=2, together=True), dict(batch=1, layers=2, together=True, item_each_step=False)),
    "wait_foreach": (dict(batch=1, layers=6, vocab=8000, together=True),
                     dict(batch=1, layers=6, vocab=8000, together=True, item_each_step=False)),
    "sixteen_bits": (dict(dtype=torch.float32, attention="any", batch=4, layers=2, seq=1024, tf32=True),
                     dict(attention="any", batch=4, layers=2, seq=1024)),
    "qkv_apart": (FLAT, dict(**FLAT, qkv_apart=True)),
    "qkv_apart_norms": (dict(layers=8, hidden=1024, heads=8), dict(layers=8, hidden=1024, heads=8, qkv_apart=True)),
    "qkv_apart_short": (dict(layers=8, hidden=1024, heads=8, batch=16, seq=1024),
                        dict(layers=8, hidden=1024, heads=8, batch=16, seq=1024, qkv_apart=True)),
    # Kept aside from those that the rules were written with.
    "aside_input": (dict(data_ms=15.0, batch=2), dict(batch=2)),
    "aside_launch": (dict(**TINY, item_each_step=False), dict(**TINY, graph=True, item_each_step=False)),
    "aside_math": (dict(attention="math", batch=2, seq=1024), dict(batch=2, seq=1024)),
    "aside_eager": (dict(attention="eager", batch=2, seq=4096), dict(batch=2, seq=4096)),
    "aside_recompute": (dict(recompute=True, layers=8, hidden=1024, heads=8, batch=16, seq=1024),
                        dict(layers=8, hidden=1024, heads=8, batch=16, seq=1024)),
    "aside_fp32": (dict(dtype=torch.float32, attention="any", batch=4, layers=2, seq=1024),
                   dict(dtype=torch.float32, attention="any", batch=4, layers=2, seq=1024, tf32=True)),
    "aside_norms": (dict(norm_parts=True, layers=8, hidden=1024, heads=8), dict(layers=8, hidden=1024, heads=8)),
    "aside_products": (dict(small_products=True, batch=1, layers=2), dict(batch=1, layers=2)),
    "aside_foreach": (dict(fused_adam=False, foreach=True, batch=1, layers=6, vocab=8000),
                      dict(batch=1, layers=6, vocab=8000)),
    "aside_host": (dict(host_ms=6.0, batch=2), dict(batch=2)),
    "aside_churn": (dict(empty_cache=True, batch=2), dict(batch=2)),
    "aside_copies": (dict(small_copies=1500), {}),
    "aside_save": (dict(save=True, layers=1, vocab=8000, batch=4), dict(layers=1, vocab=8000, batch=4)),
}


def needed_fraction(settings):
    """The least share of the device's memory with which the allocator can live at all, by trying: it then frees what
    it keeps and asks again."""
    total = torch.cuda.get_device_properties(0).total_memory
    torch.cuda.reset_peak_memory_stats()
    training = Training(Config(**{**settings, "fraction": 0.0}))
    for _ in range(18):
        training.step()
    torch.cuda.synchronize()
    return 1.01 * torch.cuda.max_memory_allocated() / total


def clean():
    gc.collect()
    torch.cuda.empty_cache()
    torch._dynamo.reset()


def attempts(settings):
    """Shares of the device's memory to try, least first; the whole where none is asked for."""
    if not settings.get("fraction"):
        return [1.0]
    least = needed_fraction(settings)
    clean()
    return [min(1.0, least * more) for more in (1.0, 1.02, 1.04, 1.06, 1.08, 1.1, 1.12, 1.14, 1.16, 1.18, 1.2)]


def one(name, which, settings, out, is_timed):
    """Times the step, or records it: times come first for all, since a profiler leaves traces of its own."""
    for share in attempts(settings):
        try:
            torch.cuda.set_per_process_memory_fraction(share)
            config = Config(**settings)
            retries = torch.cuda.memory_stats().get("num_alloc_retries", 0)
            torch.cuda.reset_peak_memory_stats()
            training = Training(config)
            timed = median_step(training) if is_timed else median_step(training, 2)
            if not is_timed:
                record(training, out / f"{name}.{which}.json")
            break
        except torch.cuda.OutOfMemoryError:
            training = None
            clean()
    else:
        print(f"{name}: out of memory", flush=True)
        return
    stats = torch.cuda.memory_stats()
    if is_timed:
        with open(out / "steps.csv", "a") as table:
            table.write(f"{name},{which},{timed[0]:.3f},{timed[1]:.3f},{timed[2]:.3f},"
                        f"{stats['num_alloc_retries'] - retries},{stats['allocated_bytes.all.peak']},"
                        f"{stats['reserved_bytes.all.peak']},{share:.4f}\n")
    print(f"{name} {which} {'timed' if is_timed else 'recorded'}: {timed[0]:.2f} ms", flush=True)
    training = None

    torch.cuda.set_per_process_memory_fraction(1.0)
    clean()


LIGHTENING = []


def lighten_beside(file):
    """While the next is recorded: a file written is a file kept, should the rest be cut short."""
    LIGHTENING.append(subprocess.Popen([sys.executable, pathlib.Path(__file__).with_name("lighten_trace.py"), file]))


# ---- eight ranks on the CPU ----

def gloo_rank(rank, world, fault, out):
    import torch.distributed as dist
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29517")
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=world)
    torch.manual_seed(0)
    slow = 3
    width = 768
    model = nn.Sequential(*[nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))
                            for _ in range(3)])
    model = nn.parallel.DistributedDataParallel(model, bucket_cap_mb=6)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    rows = 384
    if fault == "sequence_imbalance":
        rows = 256 + 40 * rank
    lines = []

    def step():
        if fault == "late_data" and rank == slow:
            time.sleep(0.12)
        x = torch.randn(rows, width)
        with torch.profiler.record_function("forward"):
            y = model(x)
            if fault == "slow_compute" and rank == slow:
                for _ in range(4):
                    torch.mm(torch.ones(768, 768), torch.ones(768, 768)).sum()
                    y = y + 0.0 * torch.mm(y, torch.ones(width, width))
        if fault == "late_host" and rank == slow:
            until = time.perf_counter() + 0.1
            while time.perf_counter() < until:
                sum(range(50))
        if fault == "gc" and rank == slow:
            gc.collect()
        y.square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()

    garbage = [[{"a": i}] for i in range(300_000)] if fault == "gc" and rank == slow else None
    for _ in range(3):
        step()
    with profile(activities=[ProfilerActivity.CPU], schedule=schedule(wait=0, warmup=1, active=STEPS, repeat=1),
                 record_shapes=True) as profiler:
        for number in range(1 + STEPS):
            start = time.perf_counter()
            step()
            lines.append(f"{rank} {number} {time.perf_counter() - start:.6f}\n")
            profiler.step()
    folder = out / f"gloo_{fault}"
    folder.mkdir(parents=True, exist_ok=True)
    profiler.export_chrome_trace(str(folder / f"rank{rank}.json"))
    (folder / f"steps{rank}.txt").write_text("".join(lines))
    lighten_beside(folder / f"rank{rank}.json")
    LIGHTENING[-1].wait()
    dist.barrier()
    dist.destroy_process_group()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--gloo", action="store_true")
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    if asked.gloo:
        for fault in asked.names or ["plain", "late_data", "slow_compute", "late_host", "gc", "sequence_imbalance"]:
            torch.multiprocessing.spawn(gloo_rank, (8, fault, asked.out), nprocs=8)
            print(f"gloo {fault}", flush=True)
        return
    if not (asked.out / "steps.csv").exists():
        (asked.out / "steps.csv").write_text("name,which,median_ms,least_ms,most_ms,retries,peak_allocated_bytes,"
                                             "peak_reserved_bytes,memory_share\n")
    for is_timed in (True, False):
        for name in (one for one in FAULTS if one.startswith(tuple(asked.names) or "")):
            fault, fixed = FAULTS[name]
            for which, settings in [("fault", fault), ("fixed", fixed)][name == "plain":]:
                try:
                    one(name, which, settings, asked.out, is_timed)
                except Exception as error:  # one that fails costs none of the others
                    print(f"{name} {which}: {type(error).__name__}: {str(error)[:300]}", flush=True)
                    clean()
                if not is_timed and (file := asked.out / f"{name}.{which}.json").exists():
                    lighten_beside(file)
    for process in LIGHTENING:
        process.wait()


if __name__ == "__main__":
    main()
