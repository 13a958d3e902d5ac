"""Times single kernels of this GPU and writes them as a table that `sextant validate` and `sextant calibrate` read.

usage: kernel_table.py OUT.csv [--quick] [--families gemm,attention,...] [--milliseconds 50] [--seconds 420]

Needs PyTorch alone, and the kernel_*.py files beside it. What this GPU or this PyTorch cannot do is skipped with one printed line. Name the file or its
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
import gc
import time

import torch

from kernel_attention import attention, attention_flex, attention_full, attention_window
from kernel_products import bmm, gemm, gemm_accumulate, gemm_fp32, gemm_fp8, gemm_graph, grouped
from kernel_streams import compiled, host, loss, memory, memory_graph, moves, optimizer
from kernel_timing import Skip, Table

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
