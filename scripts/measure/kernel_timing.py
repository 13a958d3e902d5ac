"""Times calls and writes them as rows of a kernel table (kernel_table.py)."""

import csv
import statistics
import time

import torch

BF16, FP32 = torch.bfloat16, torch.float32
NAMES = {BF16: "bf16", FP32: "fp32"}


class Skip(Exception):
    """Something this machine does not offer."""


def randn(*shape, dtype=BF16, grad=False):
    return torch.randn(*shape, device="cuda", dtype=dtype, requires_grad=grad)


class Table:
    """Times what it is given and writes it at once, so that an interrupted run keeps its rows."""

    def __init__(self, path, milliseconds, seconds):
        self.file = open(path, "w", newline="")
        self.csv = csv.writer(self.file, lineterminator="\n")
        self.csv.writerow(["kind", "variant", "dtype", *"abcdef", "time_us"])
        self.budget = milliseconds / 1e3
        self.end = time.monotonic() + seconds
        self.rows, self.failed = 0, set()

    def out_of_time(self):
        return time.monotonic() > self.end

    def loop(self, call, times):
        start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        for _ in range(times):
            call()
        stop.record()
        stop.synchronize()
        return start.elapsed_time(stop) / 1e3 / times

    def median(self, call):
        for _ in range(2):
            call()
        torch.cuda.synchronize()
        once = max(self.loop(call, 1), 1e-6)
        once = max(self.loop(call, max(1, min(10, int(self.budget / 5 / once)))), 1e-6)
        loops = 5 if once < self.budget else 3
        times = max(1, min(1000, int(self.budget / loops / once)))
        return statistics.median(self.loop(call, times) for _ in range(loops))

    def add(self, kind, variant, dtype, sizes, make, graph_of=0):
        """`make` builds the operands and returns the call to time; `graph_of` > 0: so many of them in a CUDA graph."""
        if self.out_of_time() or (kind, variant, dtype) in self.failed:
            return
        try:
            call = make()
            seconds = self.median(graphed(call, graph_of)) / graph_of if graph_of else self.median(call)
            self.write(kind, variant, dtype, sizes, seconds)
        except torch.OutOfMemoryError:
            print(f"skipped {kind} {variant} {dtype} {sizes}: out of memory", flush=True)
        except Exception as e:  # a library refuses what it does not support in many ways
            self.failed.add((kind, variant, dtype))
            why = (str(e) or type(e).__name__).strip().splitlines()[0][:150]
            print(f"skipped {kind} {variant} {dtype} from {sizes} on: {why}", flush=True)

    def write(self, kind, variant, dtype, sizes, seconds):
        padded = [*sizes, *[""] * (6 - len(sizes))]
        self.csv.writerow([kind, variant, dtype, *padded, f"{seconds * 1e6:.2f}"])
        self.file.flush()
        self.rows += 1


def graphed(call, calls):
    """So many of the same call as one CUDA graph."""
    torch.cuda.synchronize()
    with torch.cuda.stream(torch.cuda.Stream()):
        for _ in range(3):
            call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(calls):
            call()
    return graph.replay


def gradient(out, inputs):
    """The backward pass of `out`, again and again."""
    seed = torch.randn_like(out)
    return lambda: torch.autograd.grad(out, inputs, seed, retain_graph=True)
