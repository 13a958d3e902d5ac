"""Shared by the measurement scripts: model shapes, Hugging Face model construction, memory bookkeeping."""

import gc
from collections import defaultdict

GIB = 2.0**30

# name: family, layers, hidden, ffn, heads, kv_heads, vocab
SHAPES = {
    "llama-160m": ("llama", 12, 768, 2048, 12, 12, 32000),
    "llama-160m-128k": ("llama", 12, 768, 2048, 12, 4, 128256),
    "llama-350m": ("llama", 24, 1024, 2816, 16, 16, 32000),
    "llama-350m-gqa": ("llama", 24, 1024, 2816, 16, 4, 32000),
    "llama-1.3b": ("llama", 24, 2048, 5504, 16, 16, 32000),
    "llama3.2-1b": ("llama", 16, 2048, 8192, 32, 8, 128256),
    "llama3.2-3b": ("llama", 28, 3072, 8192, 24, 8, 128256),
    "llama2-7b": ("llama", 32, 4096, 11008, 32, 32, 32000),
    "llama3-8b": ("llama", 32, 4096, 14336, 32, 8, 128256),
    "llama2-13b": ("llama", 40, 5120, 13824, 40, 40, 32000),
    "llama3-70b-2L": ("llama", 2, 8192, 28672, 64, 8, 32000),
    "gpt3-175b-1L": ("llama", 1, 12288, 32768, 96, 96, 32000),
    "llama-wide-3L": ("llama", 3, 6144, 16384, 48, 8, 128256),
    "gpt2-124m": ("gpt2", 12, 768, 3072, 12, 12, 50304),
    "gpt2-355m": ("gpt2", 24, 1024, 4096, 16, 16, 50304),
    "gpt2-1.5b": ("gpt2", 48, 1600, 6400, 25, 25, 50304),
    "qwen3-0.6b": ("qwen3", 28, 1024, 3072, 16, 8, 151936),
    "qwen3-4b": ("qwen3", 36, 2560, 9728, 32, 8, 151936),
}


def hf_config(family, layers, hidden, ffn, heads, kv, vocab, seq, head_dim=None, dropout=0.0):
    """A Hugging Face configuration. Heads are untied except for GPT-2 (tied, as by default). Dropout concerns GPT-2."""
    if family == "gpt2":
        from transformers import GPT2Config

        drop = dict(resid_pdrop=dropout, embd_pdrop=dropout, attn_pdrop=dropout)
        size = dict(vocab_size=vocab, n_positions=seq, n_embd=hidden, n_layer=layers, n_head=heads, n_inner=ffn)
        return GPT2Config(**size, **drop)
    common = dict(
        vocab_size=vocab,
        hidden_size=hidden,
        intermediate_size=ffn,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=kv,
        max_position_embeddings=seq,
        tie_word_embeddings=False,
    )
    if family == "qwen3":
        from transformers import Qwen3Config

        return Qwen3Config(head_dim=head_dim or 128, **common)
    from transformers import LlamaConfig

    if head_dim:
        common["head_dim"] = head_dim
    return LlamaConfig(**common)


def hf_model(config, precision, attention, recompute="none"):
    """The causal LM on the GPU in training mode: bf16 = every weight bf16; amp and fp32 = fp32 weights."""
    import torch
    from transformers import AutoModelForCausalLM

    dtype = torch.bfloat16 if precision == "bf16" else torch.float32
    torch.set_default_dtype(dtype)
    try:
        with torch.device("cuda"):
            model = AutoModelForCausalLM.from_config(config, attn_implementation=attention)
    finally:
        torch.set_default_dtype(torch.float32)
    model = model.to("cuda", dtype).train()
    if recompute == "full":
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    return model


def forward(model, ids, precision, use_cache=False):
    """The model's output with its own loss. Keep only .loss to let go of the logits, as the tables do."""
    import torch

    with torch.autocast("cuda", dtype=torch.bfloat16, enabled=precision == "amp"):
        return model(input_ids=ids, labels=ids, use_cache=use_cache)


def clean():
    import torch

    gc.collect()
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()


def warm_up():
    """Loads the matrix libraries, so that their workspaces are part of the base."""
    import torch

    for dtype in (torch.bfloat16, torch.float32):
        a = torch.randn(256, 256, device="cuda", dtype=dtype, requires_grad=True)
        (a @ a).sum().backward()
        torch.nn.functional.linear(a, a, a[0]).sum().backward()
    del a
    clean()


class PeakTrace:
    """Records allocator events in a block and says which allocations made during it lived at its peak."""

    def __enter__(self):
        import torch

        torch.cuda.memory._record_memory_history(max_entries=2000000, context="alloc", stacks="python")
        return self

    def __exit__(self, *exc):
        import torch

        torch.cuda.synchronize()
        self.events = torch.cuda.memory._snapshot()["device_traces"][0]
        torch.cuda.memory._record_memory_history(enabled=None)
        return False

    @staticmethod
    def _label(event):
        names = []
        for f in event.get("frames", []):
            file = f["filename"].rsplit("/", 1)[-1]
            if file.endswith(".py") and f["name"] not in ("_call_impl", "_wrapped_call_impl", "inner"):
                names.append(f"{f['name']}@{file}:{f['line']}")
            if len(names) == 3:
                break
        return " < ".join(names)

    def composition(self, least_bytes=1 << 20):
        """(peak bytes above the block's start, [(bytes, how many, label)] of what lived then, largest first)."""
        size, now, peak, peak_at = {}, 0, 0, -1
        for i, e in enumerate(self.events):
            if e["action"] == "alloc":
                size[e["addr"]] = e["size"]
                now += e["size"]
            elif e["action"] == "free_requested":
                now -= size.pop(e["addr"], 0)
            if now > peak:
                peak, peak_at = now, i
        live = {}
        for e in self.events[: peak_at + 1]:
            if e["action"] == "alloc":
                live[e["addr"]] = e
            elif e["action"] == "free_requested":
                live.pop(e["addr"], None)
        groups = defaultdict(int)
        for e in live.values():
            groups[(e["size"], self._label(e))] += 1
        rows = [(s, n, label) for (s, label), n in groups.items() if s >= least_bytes]
        return peak, sorted(rows, key=lambda r: -r[0] * r[1])
