"""Attention kernels of ring context parallelism on one GPU: writes h200_ring_kernels.csv.

usage: ring_kernels.py OUT.csv
A sequence of s on a ring of r ranks, dealt in two halves to balance the causal triangle: a causal kernel on s/r queries
and keys, then rectangles of s/r queries and s/2r keys, and of s/2r queries and s/r keys. Each is timed alone, back to
back: median of five loops of twenty calls forward, ten backward (gradients alone, issued by autograd).
"""

import sys

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

HEAD_DIM = 128


def microseconds(call, times):
    for _ in range(3):
        call()
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    loops = []
    for _ in range(5):
        begin.record()
        for _ in range(times):
            call()
        end.record()
        torch.cuda.synchronize()
        loops.append(begin.elapsed_time(end) / times * 1e3)
    return sorted(loops)[2]


def timed(backend, heads, kv_heads, queries, keys, causal):
    def tensor(length, of):
        shape = (1, length, of, HEAD_DIM)
        return torch.randn(shape, device="cuda", dtype=torch.bfloat16).transpose(1, 2).requires_grad_()

    q, k, v = tensor(queries, heads), tensor(keys, kv_heads), tensor(keys, kv_heads)
    with sdpa_kernel(backend):

        def forward():
            return F.scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=heads != kv_heads)

        with torch.no_grad():
            forth = microseconds(forward, 20)
        out = forward()
        grad = torch.randn_like(out)
        return forth, microseconds(lambda: torch.autograd.grad(out, (q, k, v), grad, retain_graph=True), 10)


def main():
    with open(sys.argv[1], "w") as out:
        print("kernel,batch,heads,kv_heads,queries,keys,head_dim,causal,fwd_us,bwd_us", file=out)
        for name, backend in (("flash", SDPBackend.FLASH_ATTENTION), ("cudnn", SDPBackend.CUDNN_ATTENTION)):
            for heads, kv_heads in ((32, 8), (8, 1)):
                for length in (4096, 8192, 32768):
                    for ranks in (1, 2, 4, 8, 16):
                        part = length // ranks
                        shapes = [(part, part, 1)]
                        if ranks > 1:
                            shapes += [(part, part // 2, 0), (part // 2, part, 0)]
                        for queries, keys, causal in shapes:
                            forth, back = timed(backend, heads, kv_heads, queries, keys, bool(causal))
                            row = f"{name},1,{heads},{kv_heads},{queries},{keys},{HEAD_DIM},{causal},{forth:.2f},{back:.2f}"
                            print(row, file=out, flush=True)


if __name__ == "__main__":
    main()
