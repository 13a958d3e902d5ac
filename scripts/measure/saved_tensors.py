"""Which tensors autograd keeps for the backward pass, and what lives at the peak of the loss.

usage: saved_tensors.py OUT_SAVED.csv OUT_LOSS.csv
Every saved tensor is listed once (by storage); parameters are left out. Two layers are run; section `layer` is the
second one, so its input counts once; what the first layer saves beyond the second (rotary tables) is `shared`.
"""

import csv
import sys
import traceback

import torch
import torch._dynamo
from torch.overrides import TorchFunctionMode

import titan_llama
from common import PeakTrace, clean, forward, hf_config, hf_model, warm_up

BATCH, SEQ = 3, 640
MANY = 24  # batch for the allocated sizes, so that the allocator's rounding is small beside them
HIDDEN, FFN, HEADS, KV, HEAD_DIM, VOCAB = 1024, 2816, 8, 4, 96, 32000
# case: family, precision, attention, then options: cache (use_cache and the output kept), dropout, full (recompute)
CASES = {
    "llama-bf16-sdpa": ("llama", "bf16", "sdpa"),
    "llama-bf16-eager": ("llama", "bf16", "eager"),
    "llama-amp-sdpa": ("llama", "amp", "sdpa"),
    "llama-amp-eager": ("llama", "amp", "eager"),
    "llama-fp32-sdpa": ("llama", "fp32", "sdpa"),
    "llama-fp32-eager": ("llama", "fp32", "eager"),
    "llama-mha-bf16-sdpa": ("llama-mha", "bf16", "sdpa"),
    "llama-mha-fp32-sdpa": ("llama-mha", "fp32", "sdpa"),
    "qwen3-bf16-sdpa": ("qwen3", "bf16", "sdpa"),
    "qwen3-amp-sdpa": ("qwen3", "amp", "sdpa"),
    "qwen3-fp32-sdpa": ("qwen3", "fp32", "sdpa"),
    "gpt2-bf16-sdpa": ("gpt2", "bf16", "sdpa"),
    "gpt2-amp-sdpa": ("gpt2", "amp", "sdpa"),
    "gpt2-fp32-sdpa": ("gpt2", "fp32", "sdpa"),
    "gpt2-bf16-eager": ("gpt2", "bf16", "eager"),
    "gpt2-amp-eager": ("gpt2", "amp", "eager"),
    "llama-bf16-sdpa-cache": ("llama", "bf16", "sdpa", "cache"),
    "llama-amp-sdpa-cache": ("llama", "amp", "sdpa", "cache"),
    "gpt2-bf16-sdpa-cache-dropout": ("gpt2", "bf16", "sdpa", "cache", "dropout"),
    "llama-bf16-sdpa-full": ("llama", "bf16", "sdpa", "full"),
    "llama-amp-sdpa-full": ("llama", "amp", "sdpa", "full"),
    "gpt2-bf16-sdpa-full": ("gpt2", "bf16", "sdpa", "full"),
    "titan-llama-bf16": ("titan", "bf16", "sdpa"),
    "titan-llama-bf16-compile": ("titan-compile", "bf16", "sdpa"),
}


class FunctionName(TorchFunctionMode):
    """Remembers the outermost torch function that is running."""

    def __init__(self):
        super().__init__()
        self.now = ""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        before, self.now = self.now, getattr(func, "__name__", str(func))
        try:
            return func(*args, **(kwargs or {}))
        finally:
            self.now = before


class Recorder:
    def __init__(self, model, function):
        self.function, self.stack, self.rows, self.handles = function, [], {}, []
        self.parameters = {p.untyped_storage().data_ptr() for p in model.parameters()}
        self.parameter_shapes = {tuple(p.shape) for p in model.parameters() if p.dim() > 1}
        compiled = [n for n, m in model.named_modules() if m._compiled_call_impl is not None]
        self.parameter_shapes |= {s[::-1] for s in self.parameter_shapes}
        for name, module in model.named_modules():
            if module._compiled_call_impl is not None:  # hooks would be compiled in: wrap the compiled call instead
                module._compiled_call_impl = self.named_call(name, module._compiled_call_impl)
            elif not any(name.startswith(m + ".") for m in compiled):
                self.handles.append(module.register_forward_pre_hook(lambda m, a, name=name: self.stack.append(name)))
                self.handles.append(module.register_forward_hook(self.leave))

    def leave(self, module, args, output):
        self.stack.pop()

    def named_call(self, name, call):
        def wrapped(*args, **kwargs):
            self.stack.append(name)
            try:
                return call(*args, **kwargs)
            finally:
                self.stack.pop()

        return wrapped

    def pack(self, t):
        if not isinstance(t, torch.Tensor) or not t.is_cuda:
            return t
        p = t.untyped_storage().data_ptr()
        if p and p not in self.parameters and p not in self.rows:
            self.rows[p] = dict(
                module=self.stack[-1] if self.stack else "",
                function=self.function.now,
                tensor=t,
                bytes=t.untyped_storage().nbytes(),
                node="",
            )
        return t

    def name_nodes(self, root):
        todo, seen = [root], set()
        while todo:
            node = todo.pop()
            if node is None or node in seen:
                continue
            seen.add(node)
            todo += [n for n, _ in node.next_functions]
            for attr in dir(node):
                if not attr.startswith("_saved_") and attr != "saved_tensors":
                    continue
                try:
                    value = getattr(node, attr)
                except Exception:
                    continue
                for v in value if isinstance(value, (tuple, list)) else (value,):
                    if isinstance(v, torch.Tensor) and v.is_cuda:
                        row = self.rows.get(v.untyped_storage().data_ptr())
                        if row is not None:
                            label = f"{type(node).__name__}.{attr.removeprefix('_saved_')}"
                            if label not in row["node"].split("+"):
                                row["node"] = (row["node"] + "+" + label).lstrip("+")


def build(family, precision, attention, options, layers):
    if family.startswith("titan"):
        torch.set_default_dtype(torch.bfloat16)
        with torch.device("cuda"):
            model = titan_llama.Llama(layers, HIDDEN, FFN, HEADS, KV, VOCAB, SEQ, HEAD_DIM)
        torch.set_default_dtype(torch.float32)
        model.set_table()
        if family == "titan-compile":
            for layer in model.layers:
                layer.compile(fullgraph=True)
        return model
    if family == "gpt2":
        drop = 0.1 if "dropout" in options else 0.0
        config = hf_config("gpt2", layers, HIDDEN, 4096, HEADS, HEADS, VOCAB, SEQ, dropout=drop)
    else:
        kv = HEADS if family == "llama-mha" else KV
        config = hf_config(family.split("-")[0], layers, HIDDEN, FFN, HEADS, kv, VOCAB, SEQ, HEAD_DIM)
    return hf_model(config, precision, attention, "full" if "full" in options else "none")


def run(model, family, precision, ids, options=()):
    """The loss, and the output where the case keeps it."""
    if family.startswith("titan"):
        return titan_llama.loss_of(model(ids), ids), None
    out = forward(model, ids, precision, use_cache="cache" in options)
    return out.loss, out if "cache" in options else None


def section_of(module):
    parts = module.split(".")
    if module in ("model", "transformer"):
        return "layer_inputs"  # what full recompute keeps
    for key in ("layers", "h"):
        if key in parts and parts.index(key) + 1 < len(parts):
            return "shared" if parts[parts.index(key) + 1] == "0" else "layer"
    return "embed" if "embed" in module or "wte" in module or "wpe" in module or "drop" in module else "head_and_loss"


def measure(case, family, precision, attention, *options):
    many = torch.randint(0, VOCAB, (MANY, SEQ), device="cuda")
    ids = many[:BATCH].clone()
    allocated = {}
    for layers in (2, 3):
        clean()
        model = build(family, precision, attention, options, layers)
        for _ in range(2):  # the first steps compile and load; their gradients are dropped
            loss, keep = run(model, family, precision, many, options)
            loss.backward()
            del loss, keep
            model.zero_grad(set_to_none=True)
        before = torch.cuda.memory_allocated()
        loss, keep = run(model, family, precision, many, options)
        allocated[layers] = torch.cuda.memory_allocated() - before
        del loss, keep, model
    clean()
    torch._dynamo.reset()  # or another batch size would be compiled with unknown sizes
    model = build(family, precision, attention, options, 2)
    if family == "titan-compile":
        run(model, family, precision, ids, options)[0].backward()
        model.zero_grad(set_to_none=True)
    function = FunctionName()
    rec = Recorder(model, function)
    with torch.autograd.graph.saved_tensors_hooks(rec.pack, lambda t: t):
        if family == "titan-compile":
            loss, keep = run(model, family, precision, ids, options)
        else:
            with function:
                loss, keep = run(model, family, precision, ids, options)
    if "full" not in options:  # reading them would recompute
        rec.name_nodes(loss.grad_fn)
    rows, totals = [], {}
    layer_shapes = {(r["function"], tuple(r["tensor"].shape)) for r in rec.rows.values() if section_of(r["module"]) == "layer"}
    for r in rec.rows.values():
        t, section = r["tensor"], section_of(r["module"])
        if section == "shared" and (r["function"], tuple(t.shape)) in layer_shapes:
            continue  # layer 0's copy of what layer 1 saves too
        if tuple(t.shape) in rec.parameter_shapes or (t.dim() > 1 and tuple(t.squeeze().shape) in rec.parameter_shapes):
            section += ":weight_copy"
        totals[section] = totals.get(section, 0) + r["bytes"]
        rows.append(
            [case, section, r["module"], r["node"] or r["function"], r["function"], "x".join(map(str, t.shape)),
             str(t.dtype).removeprefix("torch."), r["bytes"], f"{r['bytes'] / (BATCH * SEQ * HIDDEN):.4f}"]
        )
    for row in rows:
        row.append(totals[row[1]])
    print(f"\n{case}: totals {totals}; allocated per layer {allocated[3] - allocated[2]}, two layers {allocated[2]}")
    for row in rows:
        print("  ", *row[1:9], sep=" | ")
    unit = MANY * SEQ * HIDDEN
    per_layer = allocated[3] - allocated[2]
    for section, value in (("allocated_per_layer", per_layer), ("allocated_without_layers", allocated[3] - 3 * per_layer)):
        rows.append([case, section, "", "memory_allocated after forward", f"batch {MANY}", "", "", value,
                     f"{value / unit:.4f}", value])
    for h in rec.handles:
        h.remove()
    return rows


def loss_peaks():
    """One narrow layer under a wide vocabulary: what of the head and loss lives at the peak, in fp32 logits copies."""
    rows = []
    vocab, tokens = 128256, 4096
    unit = tokens * vocab * 4
    cases = (("llama", "bf16"), ("llama", "amp"), ("llama", "fp32"), ("llama", "bf16", "cache"), ("llama", "fp32", "cache"),
             ("gpt2", "bf16"), ("titan", "bf16"), ("titan-loss-compile", "bf16"))
    for family, precision, *options in cases:
        clean()
        if family.startswith("titan"):
            torch.set_default_dtype(torch.bfloat16)
            with torch.device("cuda"):
                model = titan_llama.Llama(1, 256, 512, 4, 4, vocab, 2048)
            torch.set_default_dtype(torch.float32)
            model.set_table()
            loss_of = torch.compile(titan_llama.loss_of) if "compile" in family else titan_llama.loss_of
            go = lambda: (loss_of(model(ids), ids), None)
        else:
            model = hf_model(hf_config(family, 1, 256, 512, 4, 4, vocab, 2048), precision, "sdpa")
            go = lambda: run(model, family, precision, ids, options)
        ids = torch.randint(0, vocab, (2, 2048), device="cuda")
        for _ in range(2):
            loss, keep = go()
            loss.backward()
            del loss, keep
            model.zero_grad(set_to_none=True)
        clean()
        before = torch.cuda.memory_allocated()
        with PeakTrace() as fwd:
            loss, keep = go()
        after = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        with PeakTrace() as bwd:
            loss.backward()
        bwd_peak = torch.cuda.max_memory_allocated()
        phases = (
            ("forward_peak", fwd.composition(unit // 16)),
            ("after_forward", (after - before, [])),
            ("backward_peak_above_after_forward", bwd.composition(unit // 16)),
            ("backward_peak", (bwd_peak - before, [])),
        )
        for phase, (peak, blocks) in phases:
            live = "; ".join(f"{n}x{s / unit:.3f} {label.split(' < ')[0]}".strip() for s, n, label in blocks)
            name = "-".join((family, precision, *(["output-kept"] if options else [])))
            rows.append([name, phase, tokens, vocab, peak, f"{peak / unit:.4f}", live])
            print("  ", *rows[-1], sep=" | ")
        del model, loss, keep
    return rows


def main():
    warm_up()
    saved = []
    for case, spec in CASES.items():
        try:
            saved += measure(case, *spec)
        except Exception:
            traceback.print_exc()
        with open(sys.argv[1], "w", newline="") as f:
            w = csv.writer(f, lineterminator="\n")
            w.writerow("case,section,module,grad_fn_or_op,op,shape,dtype,bytes,bytes_per_token_over_hidden,section_bytes".split(","))
            w.writerows(saved)
        sys.stdout.flush()
    try:
        rows = loss_peaks()
    except Exception:
        traceback.print_exc()
        rows = []
    with open(sys.argv[2], "w", newline="") as f:
        w = csv.writer(f, lineterminator="\n")
        w.writerow("case,phase,tokens,vocab,bytes,fp32_logits_copies,live_blocks".split(","))
        w.writerows(rows)


if __name__ == "__main__":
    main()
