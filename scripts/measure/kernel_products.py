"""Matrix products of a kernel table: plain, fp8, fp32, batched, grouped, from CUDA graphs."""

import torch

from kernel_timing import BF16, FP32, Skip, randn

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
