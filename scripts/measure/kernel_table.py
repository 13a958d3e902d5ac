"""Times single kernels of this GPU and writes them as a table that `sextant validate` and `sextant calibrate` read.

usage: kernel_table.py OUT.csv [--quick] [--families gemm,attention,...] [--milliseconds 50] [--seconds 420]

Needs PyTorch alone. What this GPU or this PyTorch cannot do is skipped with one printed line. Name the file or its
folder after the device ("h100-sxm/kernels.csv"): the readers take the device from there.

Method: random data; a kernel is called back to back between two CUDA events until about --milliseconds have passed,
in five such loops; the median loop is written. Caches stay as the call before left them. Backward passes go through
autograd, so the shortest times are the host's. Rows named *_graph are replayed from a CUDA graph: the device alone.

Columns: kind, variant, dtype, a..f, time_us. Unused sizes are empty.
  gemm       a=M b=N c=K; fprop x(M,K) w(N,K)', dgrad dy(M,N) w, wgrad dy' x(M,K). fp8: operands already transposed, as
             8-bit products need them. wgrad_out_fp32 writes fp32, wgrad_acc_fp32 adds to fp32. fprop_graph.
  bmm        a=batch b=rows c=N d=K
  grouped    a=experts b=tokens an expert c=N d=K; fprop, dgrad, wgrad as gemm; fprop_skewed: the same tokens in all,
             shared out unevenly (the most loaded expert has four times the mean)
  attention  a=batch b=heads c=kv heads d=sequence e=head size f=head size of values where it differs; causal.
             flash-, cudnn-, efficient_, math-. *_full_*: without a mask. *_window_*: f=window, in keys. flex_*: compiled
             flex_attention
  memory     a=rows b=columns: copy add silu_mul gelu (tanh) gelu_erf layer_norm rms_norm dropout and their *_bwd, for norms
             of the input alone; *_bwd_weights: of the weights too. cast_to_fp32 and cast_from_fp32; fp8_cast (largest
             value, scale, cast). embedding(_bwd): c=vocabulary. permute: a=rows out, c=rows in (index_select);
             unpermute: a=rows in, c=rows out (index_add). router: a=tokens b=experts c=chosen (softmax, topk).
             rotary(_bwd): a=tokens b=heads c=kv heads d=head size, as Hugging Face writes it. *_compiled,
             *_compiled_bwd: through torch.compile, norms with the gradients of their weights
  loss       a=tokens b=vocabulary; dtype of the logits. ce_*_fp32cast: cast to fp32 first; ce_fwd, ce_bwd: without a
             cast; ce_compiled_fwd, ce_compiled_bwd: cast and loss compiled
  optimizer  a=parameters b=tensors; adamw_fused adamw_foreach; norm: norm of all gradients and clipping
  launch     empty_kernel, empty_kernel_graph
  pcie       a=MiB; h2d or d2h, pinned or pageable
"""

import argparse
import csv
import gc
import statistics
import time

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

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


# ---- products

# Weights (N, K): square, wide and deep ones of common models and their tensor-parallel shards, some of no round size.
WEIGHTS = [
    (512, 2048),
    (1280, 1280),
    (1000, 1000),
    (2560, 4096),
    (2880, 2880),
    (3072, 8192),
    (4096, 2048),
    (4864, 896),
    (5120, 5120),
    (6144, 4096),
    (8192, 7168),
    (9728, 2560),
    (14336, 4096),
    (28672, 8192),
    (50304, 1024),
]
ROWS = [64, 256, 1000, 1536, 3072, 6144, 12288, 24576, 65536]


def product_shapes(quick, rows=ROWS, weights=WEIGHTS, most=6e12):
    for m in rows[2::3] if quick else rows:
        for n, k in weights[1::2] if quick else weights:
            if 2.0 * m * n * k <= most:
                yield m, n, k


def product(variant, m, n, k, dtype):
    if variant == "fprop":
        x, w = randn(m, k, dtype=dtype), randn(n, k, dtype=dtype)
        return lambda: torch.matmul(x, w.t())
    if variant == "dgrad":
        dy, w = randn(m, n, dtype=dtype), randn(n, k, dtype=dtype)
        return lambda: torch.matmul(dy, w)
    dy, x = randn(m, n, dtype=dtype), randn(m, k, dtype=dtype)
    if variant == "wgrad":
        return lambda: torch.matmul(dy.t(), x)
    if variant == "wgrad_out_fp32":
        return lambda: torch.mm(dy.t(), x, out_dtype=FP32)
    total = randn(n, k, dtype=FP32)
    return lambda: torch.addmm(total, dy.t(), x, out_dtype=FP32, out=total)


def gemm(table, quick):
    for m, n, k in product_shapes(quick):
        for variant in ("fprop", "dgrad", "wgrad"):
            table.add("gemm", variant, "bf16", (m, n, k), lambda: product(variant, m, n, k, BF16))


def gemm_fp32(table, quick):
    some = [(1280, 1280), (2560, 4096), (1000, 1000), (4096, 2048), (8192, 7168), (4864, 896)]
    for dtype in ("tf32", "fp32"):
        torch.backends.cuda.matmul.allow_tf32 = dtype == "tf32"
        most = 2e12 if dtype == "tf32" else 4e11
        for m, n, k in product_shapes(quick, [256, 1000, 3072, 12288], some, most):
            for variant in ("fprop", "dgrad", "wgrad"):
                table.add("gemm", variant, dtype, (m, n, k), lambda: product(variant, m, n, k, FP32))
    torch.backends.cuda.matmul.allow_tf32 = False


def gemm_accumulate(table, quick):
    some = [(1280, 1280), (2560, 4096), (4096, 2048), (6144, 4096), (8192, 7168), (14336, 4096), (28672, 8192)]
    for m, n, k in product_shapes(quick, [1000, 3072, 12288, 24576], some):
        for variant in ("wgrad_out_fp32", "wgrad_acc_fp32"):
            table.add("gemm", variant, "bf16", (m, n, k), lambda: product(variant, m, n, k, BF16))


def gemm_graph(table, quick):
    some = [(512, 512), (1000, 1000), (512, 2048), (1280, 1280), (2560, 4096), (4864, 896), (6144, 4096)]
    for m, n, k in product_shapes(quick, [16, 64, 128, 256, 512, 1000, 1536], some, 2e10):
        for variant in ("fprop", "dgrad", "wgrad"):
            make = lambda: product(variant, m, n, k, BF16)  # noqa: E731
            table.add("gemm", variant + "_graph", "bf16", (m, n, k), make, graph_of=20)


def scaled_product(rows, columns, depth):
    a = randn(rows, depth).to(torch.float8_e4m3fn)
    b = randn(columns, depth).to(torch.float8_e4m3fn).t()
    one = torch.ones((), device="cuda")
    return lambda: torch._scaled_mm(a, b, scale_a=one, scale_b=one, out_dtype=BF16, use_fast_accum=True)


def gemm_fp8(table, quick):
    if torch.cuda.get_device_capability() < (8, 9):
        raise Skip("no 8-bit matrix units")
    weights = [(n, k) for n, k in WEIGHTS if n % 16 == 0 and k % 16 == 0]
    for m, n, k in product_shapes(quick, [256, 1536, 3072, 6144, 12288, 24576, 65536], weights):
        table.add("gemm", "fprop", "fp8", (m, n, k), lambda: scaled_product(m, n, k))
        table.add("gemm", "dgrad", "fp8", (m, n, k), lambda: scaled_product(m, k, n))
        table.add("gemm", "wgrad", "fp8", (m, n, k), lambda: scaled_product(n, k, m))


def bmm(table, quick):
    shapes = [(b, r, n, k) for b in (4, 64) for r in (128, 512, 2048) for n, k in ((1536, 4096), (2048, 768), (512, 128))]
    for b, r, n, k in shapes[::3] if quick else shapes:

        def make():
            x, w = randn(b, r, k), randn(b, n, k)
            return lambda: torch.bmm(x, w.transpose(1, 2))

        table.add("bmm", "fprop", "bf16", (b, r, n, k), make)


def group_ends(experts, tokens, skewed):
    """Where each expert's rows end. Skewed: loads fall from four times the mean, in steps of 16."""
    if not skewed:
        return torch.arange(1, experts + 1, device="cuda", dtype=torch.int32) * tokens
    weight = [4.0 * 0.75**i for i in range(experts)]
    left = max(experts - sum(weight), 0.0) / experts
    total = sum(w + left for w in weight)
    rows = [max(16, int((w + left) / total * experts * tokens) // 16 * 16) for w in weight]
    rows[0] += experts * tokens - sum(rows)
    ends = torch.tensor(rows).cumsum(0)
    return ends.to("cuda", torch.int32)


def grouped_product(variant, experts, tokens, n, k):
    ends = group_ends(experts, tokens, variant == "fprop_skewed")
    rows = experts * tokens
    if variant in ("fprop", "fprop_skewed"):
        x, w = randn(rows, k), randn(experts, n, k)
        return lambda: torch._grouped_mm(x, w.transpose(1, 2), offs=ends)
    dy = randn(rows, n)
    if variant == "dgrad":
        w = randn(experts, n, k)
        return lambda: torch._grouped_mm(dy, w, offs=ends)
    x = randn(rows, k)
    return lambda: torch._grouped_mm(dy.t(), x, offs=ends)


def grouped(table, quick):
    if not hasattr(torch, "_grouped_mm"):
        raise Skip("no torch._grouped_mm")
    shapes = [(1408, 2048), (2048, 7168), (7168, 2048), (14336, 4096), (1536, 2048)]
    for experts in (8, 64) if quick else (8, 16, 32, 64):
        for tokens in (256, 2048) if quick else (64, 256, 1024, 4096, 8192):
            for n, k in shapes[::2] if quick else shapes:
                if 2.0 * experts * tokens * n * k > 8e12:
                    continue
                for variant in ("fprop", "dgrad", "wgrad", "fprop_skewed"):
                    if variant == "fprop_skewed" and (experts < 16 or tokens < 256 or n % 2048):
                        continue
                    make = lambda: grouped_product(variant, experts, tokens, n, k)  # noqa: E731
                    table.add("grouped", variant, "bf16", (experts, tokens, n, k), make)


# ---- attention

BACKENDS = {
    "flash": SDPBackend.FLASH_ATTENTION,
    "cudnn": SDPBackend.CUDNN_ATTENTION,
    "efficient": SDPBackend.EFFICIENT_ATTENTION,
    "math": SDPBackend.MATH,
}
# batch, heads, kv heads, sequence, head size, head size of values
ATTENTION = [
    (2, 16, 16, 1024, 64, 64),
    (4, 20, 20, 1536, 64, 64),
    (1, 32, 32, 6144, 64, 64),
    (4, 12, 12, 1024, 128, 128),
    (1, 40, 40, 3000, 128, 128),
    (1, 4, 1, 4096, 128, 128),
    (2, 64, 8, 2048, 128, 128),
    (1, 16, 4, 12288, 128, 128),
    (1, 8, 1, 16384, 128, 128),
    (1, 8, 2, 65536, 128, 128),
    (1, 2, 1, 131072, 128, 128),
    (1, 32, 32, 2048, 80, 80),
    (2, 16, 16, 2048, 96, 96),
    (1, 32, 8, 4096, 96, 96),
    (2, 16, 16, 2048, 192, 192),
    (1, 16, 16, 8192, 192, 192),
    (2, 16, 8, 2048, 256, 256),
    (1, 8, 4, 8192, 256, 256),
    (1, 16, 16, 2048, 192, 128),
    (1, 128, 128, 4096, 192, 128),
    (2, 16, 16, 8192, 192, 128),
]


def heads_first(batch, heads, seq, dim):
    """(batch, heads, sequence, size) over memory that holds the heads of a token together, as projections leave it."""
    return randn(batch, seq, heads, dim).transpose(1, 2).requires_grad_()


def attention_inputs(b, h, kv, s, d, dv):
    return heads_first(b, h, s, d), heads_first(b, kv, s, d), heads_first(b, kv, s, dv)


def attended(inputs, causal=True):
    q, k, v = inputs
    return F.scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=q.shape[1] != k.shape[1])


def attention_pair(table, names, sizes, inputs, forward=attended):
    """Both passes of one attention."""
    table.add("attention", names[0], "bf16", sizes, lambda: lambda: forward(inputs))
    table.add("attention", names[1], "bf16", sizes, lambda: gradient(forward(inputs), inputs))


def attention(table, quick):
    for b, h, kv, s, d, dv in ATTENTION[::4] if quick else ATTENTION:
        sizes = (b, h, kv, s, d) if d == dv else (b, h, kv, s, d, dv)
        inputs = attention_inputs(b, h, kv, s, d, dv)
        for backend in ("flash", "cudnn", "efficient", "math"):
            small = b * h * s * s <= 1 << 30
            if (backend == "math" and not small) or (backend == "efficient" and (kv != h or s > 8192)):
                continue
            if backend == "flash" and d != dv:
                continue  # refuses values of another size
            join = "_" if backend == "efficient" else "-"
            names = [backend + join + "fwd", backend + join + "bwd"]
            with sdpa_kernel(BACKENDS[backend]):
                attention_pair(table, names, sizes, inputs)
            # A shape that one kernel refuses (head sizes above 128, say) need not stop the others.
            table.failed -= {("attention", name, "bf16") for name in names}


def attention_full(table, quick):
    shapes = [(1, 16, 16, 2048, 128), (2, 32, 8, 4096, 128), (1, 16, 4, 8192, 128), (8, 16, 16, 512, 64)]
    for b, h, kv, s, d in shapes[::2] if quick else shapes:
        inputs = attention_inputs(b, h, kv, s, d, d)
        for backend in ("flash", "cudnn"):
            names = [backend + "_full_fwd", backend + "_full_bwd"]
            with sdpa_kernel(BACKENDS[backend]):
                attention_pair(table, names, (b, h, kv, s, d), inputs, lambda i: attended(i, causal=False))


def flash_window(inputs, window):
    """FlashAttention-2 inside PyTorch with its window, which scaled_dot_product_attention does not pass on."""
    q, k, v = (x.transpose(1, 2) for x in inputs)
    s = q.shape[1]
    args = (q, k, v, None, None, s, s, 0.0, True, False)
    return torch.ops.aten._flash_attention_forward(*args, window_size_left=window - 1, window_size_right=0)[0]


WINDOWS = [(1, 32, 8, 4096, 128, 1024), (1, 16, 8, 8192, 128, 4096), (1, 64, 8, 8192, 64, 128), (1, 8, 4, 16384, 256, 1024)]


def attention_window(table, quick):
    for b, h, kv, s, d, window in WINDOWS[::2] if quick else WINDOWS:
        inputs = attention_inputs(b, h, kv, s, d, d)
        names = ["flash_window_fwd", "flash_window_bwd"]
        attention_pair(table, names, (b, h, kv, s, d, window), inputs, lambda i: flash_window(i, window))


def attention_flex(table, quick):
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    compiled = torch.compile(flex_attention, dynamic=False)
    causal = [(1, 32, 8, 4096, 128, None), (1, 16, 4, 12288, 128, None)]
    for b, h, kv, s, d, window in [WINDOWS[0]] if quick else causal + WINDOWS[:3]:

        def seen(_, __, q, k):
            return (q >= k) if window is None else (q >= k) & (q - k < window)

        inputs = attention_inputs(b, h, kv, s, d, d)
        mask = create_block_mask(seen, None, None, s, s, device="cuda")
        names = ["flex_fwd", "flex_bwd"] if window is None else ["flex_window_fwd", "flex_window_bwd"]
        sizes = (b, h, kv, s, d) if window is None else (b, h, kv, s, d, window)
        call = lambda i: compiled(*i, block_mask=mask, enable_gqa=kv != h)  # noqa: E731
        attention_pair(table, names, sizes, inputs, call)


# ---- streams

MATRICES = [
    (2048, 2048),
    (4096, 2880),
    (8192, 4096),
    (3000, 5120),
    (16384, 2048),
    (16384, 6144),
    (8192, 16384),
    (65536, 4096),
]


def matrices(quick):
    return MATRICES[::3] if quick else MATRICES


def silu_mul(gate, up):
    return F.silu(gate) * up


def stream_calls(rows, columns):
    """variant: (inputs that need gradients, function of them)"""
    x, y = randn(rows, columns), randn(rows, columns)
    weight, bias = randn(columns, grad=True), randn(columns, grad=True)
    leaf, other = x.detach().requires_grad_(), y.detach().requires_grad_()
    norm = (columns,)
    return {
        "silu_mul": ((leaf, other), silu_mul),
        "gelu": ((leaf,), lambda a: F.gelu(a, approximate="tanh")),
        "gelu_erf": ((leaf,), F.gelu),
        "layer_norm": ((leaf, weight, bias), lambda a, w, b: F.layer_norm(a, norm, w, b)),
        "rms_norm": ((leaf, weight), lambda a, w: F.rms_norm(a, norm, w)),
        "dropout": ((leaf,), lambda a: F.dropout(a, 0.1)),
    }


def memory(table, quick):
    for rows, columns in matrices(quick):
        sizes = (rows, columns)
        x, y = randn(rows, columns), randn(rows, columns)
        wide, other = x.float(), y.float()
        table.add("memory", "copy", "bf16", sizes, lambda: lambda: y.copy_(x))
        table.add("memory", "add", "bf16", sizes, lambda: lambda: x + y)
        table.add("memory", "cast_to_fp32", "bf16", sizes, lambda: lambda: x.float())
        table.add("memory", "cast_from_fp32", "bf16", sizes, lambda: lambda: wide.to(BF16))
        table.add("memory", "add", "fp32", sizes, lambda: lambda: wide + other)
        for variant, (inputs, function) in stream_calls(rows, columns).items():

            def forward():
                with torch.no_grad():
                    return function(*inputs)

            table.add("memory", variant, "bf16", sizes, lambda: forward)
            wanted = inputs[:1] if variant.endswith("_norm") else inputs
            table.add("memory", variant + "_bwd", "bf16", sizes, lambda: gradient(function(*inputs), wanted))
            if len(wanted) < len(inputs):
                make = lambda: gradient(function(*inputs), inputs)  # noqa: E731
                table.add("memory", variant + "_bwd_weights", "bf16", sizes, make)


def memory_graph(table, quick):
    for rows, columns in ((256, 1024), (1024, 1024), (1024, 4096), (4096, 2048), (8192, 4096)):
        x, y = randn(rows, columns), randn(rows, columns)
        sizes = (rows, columns)
        table.add("memory", "copy_graph", "bf16", sizes, lambda: lambda: y.copy_(x), graph_of=20)
        table.add("memory", "add_graph", "bf16", sizes, lambda: lambda: torch.add(x, y), graph_of=20)
        for variant, (inputs, function) in stream_calls(rows, columns).items():
            if variant != "dropout":
                plain = [i.detach() for i in inputs]
                make = lambda: lambda: function(*plain)  # noqa: E731
                table.add("memory", variant + "_graph", "bf16", sizes, make, graph_of=20)
    one = torch.zeros(1, device="cuda")
    table.add("launch", "empty_kernel_graph", "", (0,), lambda: lambda: one.zero_(), graph_of=100)


def rotate_half(x):
    half = x.shape[-1] // 2
    return torch.cat((-x[..., half:], x[..., :half]), dim=-1)


def rotary_pair(q, k, cos, sin):
    return q * cos + rotate_half(q) * sin, k * cos + rotate_half(k) * sin


def rotary_inputs(tokens, h, kv, d):
    seq = min(tokens, 4096)
    q, k = heads_first(tokens // seq, h, seq, d), heads_first(tokens // seq, kv, seq, d)
    return q, k, randn(seq, d), randn(seq, d)


def pair_gradient(function, q, k, cos, sin):
    out = function(q, k, cos, sin)
    seeds = [torch.randn_like(o) for o in out]
    return lambda: torch.autograd.grad(out, (q, k), seeds, retain_graph=True)


ROTARY = [(4096, 32, 32, 128), (8192, 32, 8, 128), (16384, 16, 4, 128), (8192, 20, 20, 64), (32768, 64, 8, 128)]


def moves(table, quick):
    for tokens, hidden, vocab in ((4096, 2048, 32000), (8192, 4096, 128256), (16384, 4096, 32000), (16384, 7168, 129280)):
        ids = torch.randint(vocab, (tokens,), device="cuda")
        weight = randn(vocab, hidden, grad=True)
        sizes = (tokens, hidden, vocab)
        table.add("memory", "embedding", "bf16", sizes, lambda: lambda: F.embedding(ids, weight))
        table.add("memory", "embedding_bwd", "bf16", sizes, lambda: gradient(F.embedding(ids, weight), (weight,)))
    for tokens, hidden, times in ((4096, 2048, 8), (8192, 4096, 2), (4096, 7168, 8), (16384, 2048, 4)):
        rows = torch.randperm(tokens * times, device="cuda") % tokens
        few, many = randn(tokens, hidden), randn(tokens * times, hidden)
        zero = torch.zeros_like(few)
        sizes = (tokens * times, hidden, tokens)
        table.add("memory", "permute", "bf16", sizes, lambda: lambda: few.index_select(0, rows))
        table.add("memory", "unpermute", "bf16", sizes, lambda: lambda: zero.index_add(0, rows, many))
    for tokens, experts, chosen in ((8192, 8, 2), (8192, 64, 6), (16384, 128, 8), (16384, 256, 8)):
        logits = randn(tokens, experts, dtype=FP32)
        call = lambda: torch.topk(torch.softmax(logits, -1), chosen)  # noqa: E731
        table.add("memory", "router", "fp32", (tokens, experts, chosen), lambda: call)
    for tokens, h, kv, d in ROTARY[::2] if quick else ROTARY:
        inputs = rotary_inputs(tokens, h, kv, d)

        def forward():
            with torch.no_grad():
                return rotary_pair(*inputs)

        table.add("memory", "rotary", "bf16", (tokens, h, kv, d), lambda: forward)
        table.add("memory", "rotary_bwd", "bf16", (tokens, h, kv, d), lambda: pair_gradient(rotary_pair, *inputs))
    if torch.cuda.get_device_capability() >= (8, 9):
        for rows, columns in matrices(quick):
            x = randn(rows, columns)
            table.add("memory", "fp8_cast", "bf16", (rows, columns), lambda: lambda: fp8_cast(x))


def fp8_cast(x):
    scale = 448.0 / x.abs().amax().float().clamp(min=1e-12)
    return (x * scale).to(torch.float8_e4m3fn), scale


# ---- loss, optimizer, host

LOGITS = [(2048, 32000), (8192, 32000), (3000, 50257), (4096, 128256), (8192, 128256), (4096, 256000), (2048, 151936)]


def loss_cast(logits, targets):
    return F.cross_entropy(logits.float(), targets)


def loss_pair(table, names, sizes, dtype, function):
    targets = torch.randint(sizes[1], (sizes[0],), device="cuda")
    logits = randn(*sizes, dtype=dtype, grad=True)
    table.add("loss", names[0], NAMES[dtype], sizes, lambda: lambda: function(logits, targets))
    table.add("loss", names[1], NAMES[dtype], sizes, lambda: gradient(function(logits, targets), (logits,)))


def loss(table, quick):
    for sizes in LOGITS[::3] if quick else LOGITS:
        loss_pair(table, ("ce_fwd_fp32cast", "ce_bwd_fp32cast"), sizes, BF16, loss_cast)
        loss_pair(table, ("ce_fwd", "ce_bwd"), sizes, FP32, F.cross_entropy)
        loss_pair(table, ("ce_fwd", "ce_bwd"), sizes, BF16, F.cross_entropy)


def optimizer(table, quick):
    sizes = [(1_000_000, 10), (30_000_000, 50), (30_000_000, 300), (300_000_000, 100), (1_000_000_000, 200)]
    for dtype in (FP32, BF16):
        word = str(dtype).removeprefix("torch.")
        for total, tensors in sizes[::2] if quick else sizes:
            parameters = [randn(total // tensors, dtype=dtype, grad=True) for _ in range(tensors)]
            for p in parameters:
                p.grad = torch.randn_like(p)
            for name in ("fused", "foreach"):
                make = lambda: torch.optim.AdamW(parameters, **{name: True}).step  # noqa: E731
                table.add("optimizer", "adamw_" + name, word, (total, tensors), make)
            clip = lambda: torch.nn.utils.clip_grad_norm_(parameters, 1.0, foreach=True)  # noqa: E731
            table.add("optimizer", "norm", word, (total, tensors), lambda: clip)
            del parameters, p
            gc.collect()


def host(table, quick):
    one = torch.zeros(1, device="cuda")
    table.add("launch", "empty_kernel", "", (0,), lambda: lambda: one.zero_())
    for mib in (1, 16, 256) if quick else (1, 4, 16, 64, 256, 1024):
        there = torch.empty(mib << 20, dtype=torch.uint8, device="cuda")
        for kind in ("pinned", "pageable"):
            here = torch.ones(mib << 20, dtype=torch.uint8, pin_memory=kind == "pinned")
            later = kind == "pinned"
            table.add("pcie", "h2d_" + kind, "", (mib,), lambda: lambda: there.copy_(here, non_blocking=later))
            table.add("pcie", "d2h_" + kind, "", (mib,), lambda: lambda: here.copy_(there, non_blocking=later))


def compiled(table, quick):
    torch._dynamo.config.cache_size_limit = 64
    activation = torch.compile(silu_mul, dynamic=False)
    rotary = torch.compile(rotary_pair, dynamic=False)
    norm = torch.compile(lambda a, w: F.rms_norm(a, (a.shape[-1],), w), dynamic=False)
    cast = torch.compile(fp8_cast, dynamic=False)
    entropy = torch.compile(loss_cast, dynamic=False)

    def pair(name, sizes, function, inputs):
        table.add("memory", name + "_compiled", "bf16", sizes, lambda: lambda: function(*inputs))
        table.add("memory", name + "_compiled_bwd", "bf16", sizes, lambda: gradient(function(*inputs), inputs))

    for sizes in ((8192, 4096),) if quick else ((4096, 2880), (8192, 4096), (8192, 16384), (65536, 4096)):
        pair("silu_mul", sizes, activation, (randn(*sizes, grad=True), randn(*sizes, grad=True)))
        pair("rms_norm", sizes, norm, (randn(*sizes, grad=True), randn(sizes[1], grad=True)))
        x = randn(*sizes)
        table.add("memory", "fp8_cast_compiled", "bf16", sizes, lambda: lambda: cast(x))
    for sizes in ROTARY[1:2] if quick else ROTARY[:3]:
        inputs = rotary_inputs(*sizes)
        table.add("memory", "rotary_compiled", "bf16", sizes, lambda: lambda: rotary(*inputs))
        table.add("memory", "rotary_compiled_bwd", "bf16", sizes, lambda: pair_gradient(rotary, *inputs))
    for sizes in LOGITS[3:4] if quick else LOGITS[1:6]:
        loss_pair(table, ("ce_compiled_fwd", "ce_compiled_bwd"), sizes, BF16, entropy)


FAMILIES = {
    "host": host,
    "attention": attention,
    "loss": loss,
    "memory": memory,
    "moves": moves,
    "optimizer": optimizer,
    "gemm_graph": gemm_graph,
    "memory_graph": memory_graph,
    "grouped": grouped,
    "gemm_accumulate": gemm_accumulate,
    "gemm_fp8": gemm_fp8,
    "gemm_fp32": gemm_fp32,
    "bmm": bmm,
    "attention_window": attention_window,
    "attention_full": attention_full,
    "gemm": gemm,
    "compiled": compiled,
    "attention_flex": attention_flex,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("--quick", action="store_true", help="about a third of the shapes")
    parser.add_argument("--families", default=",".join(FAMILIES), help="of " + ",".join(FAMILIES))
    parser.add_argument("--milliseconds", type=float, default=50.0, help="of timed calls for each row")
    parser.add_argument("--seconds", type=float, default=1800.0, help="in all; what is left then is not measured")
    args = parser.parse_args()
    names = args.families.split(",")
    for name in names:
        if name not in FAMILIES:
            parser.error(f"no family {name}; there are {', '.join(FAMILIES)}")
    if not torch.cuda.is_available():
        parser.error("PyTorch sees no GPU")
    print(torch.cuda.get_device_name(), torch.__version__, flush=True)
    table = Table(args.out, args.milliseconds, args.seconds)
    for name in names:
        start, before = time.monotonic(), table.rows
        try:
            FAMILIES[name](table, args.quick)
        except Skip as e:
            print(f"skipped {name}: {e}")
        except Exception as e:  # one family's surprise must not cost the others
            print(f"stopped {name}: {type(e).__name__}: {str(e).splitlines()[0] if str(e) else ''}")
        gc.collect()
        torch.cuda.empty_cache()
        print(f"{name}: {table.rows - before} rows in {time.monotonic() - start:.1f} s", flush=True)
        if table.out_of_time():
            print("out of time: the rest is not measured (--seconds)")
            break


if __name__ == "__main__":
    main()
