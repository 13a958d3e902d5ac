"""Attention of a kernel table: by implementation, with and without a mask, windows, flex_attention."""

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from kernel_timing import gradient, randn

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
