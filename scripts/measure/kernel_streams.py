"""What is no product and no attention in a kernel table: memory kernels, losses, optimizers, host copies."""

import gc

import torch
import torch.nn.functional as F

from kernel_attention import heads_first
from kernel_timing import BF16, FP32, NAMES, gradient, randn

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
