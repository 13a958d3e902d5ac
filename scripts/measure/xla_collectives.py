"""Which collectives XLA's partitioner puts into a JAX training step: compiled for mocked GPUs, nothing is executed.

usage: xla_collectives.py compile RAW.jsonl [--jobs N] [--seconds N] [--only PART_OF_NAME]   (needs JAX and one GPU)
       xla_collectives.py table RAW.jsonl OUT.csv                       (plain Python)

Model: decoder of RMSNorm (fp32 inside), rotary, grouped-query attention by einsum, SwiGLU, untied embedding (lookup) and
head, cross entropy by one-hot on fp32 logits, unrolled layers, update p - lr * g with outputs sharded like the parameters.
Parameters and activations bf16 unless the case ends in -f32 (fp32 parameters, cast to bf16 where used).
Combiners are off, so that each tensor shows by itself. The residual stream is constrained between blocks, projections
(query, key, value, ffn) inside them where a tensor axis exists.
"""

import json
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

FLAGS = [
    "--xla_gpu_autotune_level=0",
    "--xla_gpu_shard_autotuning=false",
    "--xla_gpu_all_reduce_combine_threshold_bytes=0",
    "--xla_gpu_all_gather_combine_threshold_bytes=0",
    "--xla_gpu_reduce_scatter_combine_threshold_bytes=0",
    "--xla_gpu_enable_triton_gemm=false",
]

# layers, hidden, ffn, heads, kv, head_dim, vocab, seq, experts
SIZES = {
    "S": (2, 2048, 5632, 16, 8, 128, 32000, 2048, 0),
    "S4": (4, 2048, 5632, 16, 8, 128, 32000, 2048, 0),
    "L": (3, 4096, 14336, 32, 8, 128, 128256, 4096, 0),
    "M": (2, 2048, 1536, 16, 8, 128, 32000, 2048, 16),
    "N": (2, 4096, 2048, 32, 8, 128, 32000, 4096, 64),
}

# case, mesh, size, remat, options: f32, seq (sequence-sharded residual), a2a (explicit all-to-all in shard_map),
# iota (embedding as a product with one-hot rows), scan (one loop over stacked layers)
CASES = [
    ("data", {"data": 8}, "S", 0, ""),
    ("data", {"data": 8}, "L", 0, ""),
    ("data", {"data": 64}, "S", 0, ""),
    ("data-f32", {"data": 8}, "S", 0, "f32"),
    ("fsdp", {"fsdp": 8}, "S", 0, ""),
    ("fsdp", {"fsdp": 8}, "S4", 0, ""),
    ("fsdp", {"fsdp": 8}, "L", 0, ""),
    ("fsdp", {"fsdp": 64}, "L", 0, ""),
    ("fsdp", {"fsdp": 8}, "S", 1, ""),
    ("fsdp", {"fsdp": 8}, "L", 1, ""),
    ("fsdp-f32", {"fsdp": 8}, "S", 0, "f32"),
    ("fsdp-f32", {"fsdp": 8}, "S", 1, "f32"),
    ("fsdp-f32", {"fsdp": 8}, "L", 1, "f32"),
    ("tensor", {"tensor": 8}, "S", 0, ""),
    ("tensor", {"tensor": 8}, "L", 0, ""),
    ("tensor", {"tensor": 4}, "S4", 0, ""),
    ("tensor", {"tensor": 8}, "S", 1, ""),
    ("tensor-seq", {"tensor": 8}, "S", 0, "seq"),
    ("tensor-seq", {"tensor": 8}, "L", 0, "seq"),
    ("tensor-seq", {"tensor": 4}, "S4", 0, "seq"),
    ("tensor-seq", {"tensor": 8}, "S", 1, "seq"),
    ("tensor-seq", {"tensor": 8}, "L", 1, "seq"),
    ("fsdp-tensor", {"fsdp": 8, "tensor": 4}, "S", 0, ""),
    ("fsdp-tensor", {"fsdp": 8, "tensor": 8}, "L", 0, ""),
    ("fsdp-tensor", {"fsdp": 8, "tensor": 4}, "L", 1, ""),
    ("fsdp-tensor-seq", {"fsdp": 8, "tensor": 4}, "S", 0, "seq"),
    ("fsdp-tensor-seq", {"fsdp": 8, "tensor": 4}, "L", 1, "seq"),
    ("data-fsdp", {"data": 4, "fsdp": 8}, "S", 0, ""),
    ("data-fsdp", {"data": 8, "fsdp": 8}, "L", 0, ""),
    ("data-fsdp", {"data": 4, "fsdp": 8}, "S", 1, ""),
    ("data-tensor", {"data": 4, "tensor": 8}, "S", 0, ""),
    ("expert-einsum", {"expert": 8}, "M", 0, ""),
    ("expert-einsum", {"expert": 8}, "N", 0, ""),
    ("expert-a2a", {"expert": 8}, "M", 0, "a2a"),
    ("expert-a2a", {"expert": 8}, "N", 0, "a2a"),
    ("fsdp-expert-einsum", {"fsdp": 4, "expert": 8}, "M", 0, ""),
    ("fsdp-expert-a2a", {"fsdp": 4, "expert": 8}, "M", 0, "a2a"),
    ("fsdp-iota", {"fsdp": 8}, "S", 0, "iota"),
    ("fsdp-tensor-iota", {"fsdp": 8, "tensor": 4}, "S", 0, "iota"),
    ("fsdp-tensor-iota", {"fsdp": 8, "tensor": 4}, "L", 1, "iota"),
    ("fsdp-tensor-seq-iota", {"fsdp": 8, "tensor": 4}, "S", 0, "seq iota"),
    ("fsdp-scan", {"fsdp": 8}, "S4", 0, "scan"),
    ("fsdp-scan", {"fsdp": 8}, "S4", 1, "scan"),
    ("tensor-seq-scan", {"tensor": 8}, "S4", 1, "seq scan"),
    ("fsdp-tensor-scan", {"fsdp": 8, "tensor": 4}, "S4", 1, "scan iota"),
    ("data-scan", {"data": 8}, "S4", 0, "scan"),
    ("context", {"context": 8}, "S", 0, ""),
    ("fsdp-context", {"fsdp": 4, "context": 8}, "S", 0, ""),
]


def layout(axes, options):
    """Which mesh axes shard what."""
    has = lambda a: a if a in axes else None
    batch = tuple(a for a in ("data", "fsdp", "expert") if a in axes) or None
    return dict(
        batch=batch,
        fsdp=has("fsdp"),
        tensor=has("tensor"),
        expert=has("expert"),
        seq="tensor" if "seq" in options.split() else has("context"),
        context=has("context"),
    )


def training_step(size, mesh, remat, options):
    import jax
    import jax.numpy as jnp
    from jax.sharding import NamedSharding
    from jax.sharding import PartitionSpec as P

    layers, h, f, heads, kv, d, vocab, seq, experts = SIZES[size]
    group = heads // kv
    at = layout(mesh.axis_names, options)
    bf16, f32 = jnp.bfloat16, jnp.float32
    B, F, T, E = at["batch"], at["fsdp"], at["tensor"], at["expert"]

    def hold(x, *spec):
        return jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P(*spec)))

    shapes = {
        "embed": ((vocab, h), P(T, F)),
        "final_norm": ((h,), P()),
        "head": ((h, vocab), P(F, T)),
    }
    layer = {
        "attn_norm": ((h,), P()),
        "wq": ((h, kv, group, d), P(F, T, None, None)),
        "wk": ((h, kv, d), P(F, T, None)),
        "wv": ((h, kv, d), P(F, T, None)),
        "wo": ((kv, group, d, h), P(T, None, None, F)),
        "mlp_norm": ((h,), P()),
    }
    if experts:
        layer |= {
            "router": ((h, experts), P()),
            "w1": ((experts, h, f), P(E, F, None)),
            "w3": ((experts, h, f), P(E, F, None)),
            "w2": ((experts, f, h), P(E, None, F)),
        }
    else:
        layer |= {"w1": ((h, f), P(F, T)), "w3": ((h, f), P(F, T)), "w2": ((f, h), P(T, F))}
    scan = "scan" in options.split()
    if scan:
        shapes["layers"] = {k: ((layers, *shape), P(None, *spec)) for k, (shape, spec) in layer.items()}
    else:
        shapes["layers"] = [dict(layer) for _ in range(layers)]

    is_leaf = lambda x: isinstance(x, tuple) and len(x) == 2 and isinstance(x[1], P)
    shardings = jax.tree.map(lambda x: NamedSharding(mesh, x[1]), shapes, is_leaf=is_leaf)
    dtype = f32 if "f32" in options.split() else bf16
    params = jax.tree.map(
        lambda x: jax.ShapeDtypeStruct(x[0], dtype, sharding=NamedSharding(mesh, x[1])), shapes, is_leaf=is_leaf
    )

    def norm(x, g):
        y = x.astype(f32)
        return (y * jax.lax.rsqrt(jnp.mean(y * y, -1, keepdims=True) + 1e-5)).astype(bf16) * g.astype(bf16)

    def rotary(x):
        s = x.shape[1]
        angle = jnp.arange(s, dtype=f32)[:, None] * (10000.0 ** (-jnp.arange(0, d, 2, dtype=f32) / d))[None]
        angle = jnp.concatenate([angle, angle], -1).reshape((1, s) + (1,) * (x.ndim - 3) + (d,))
        a, b = jnp.split(x, 2, -1)
        return x * jnp.cos(angle).astype(bf16) + jnp.concatenate([-b, a], -1) * jnp.sin(angle).astype(bf16)

    def attention(p, x):
        q = jnp.einsum("bsh,hkgd->bskgd", x, p["wq"].astype(bf16))
        k = jnp.einsum("bsh,hkd->bskd", x, p["wk"].astype(bf16))
        v = jnp.einsum("bsh,hkd->bskd", x, p["wv"].astype(bf16))
        q, k = rotary(q), rotary(k)
        C = at["context"]
        q = hold(q, B, C, T, None, None)
        k, v = hold(k, B, None, T, None), hold(v, B, None, T, None)
        score = jnp.einsum("bskgd,btkd->bkgst", q, k).astype(f32) * d**-0.5
        s = score.shape[-1]
        score = jnp.where(jnp.arange(s)[:, None] >= jnp.arange(s)[None], score, -1e9)
        o = jnp.einsum("bkgst,btkd->bskgd", jax.nn.softmax(score, -1).astype(bf16), v)
        o = hold(o, B, C, T, None, None)
        return jnp.einsum("bskgd,kgdh->bsh", o, p["wo"].astype(bf16))

    def mlp(p, x):
        up = hold(jnp.einsum("bsh,hf->bsf", x, p["w3"].astype(bf16)), B, at["context"], T)
        gate = hold(jnp.einsum("bsh,hf->bsf", x, p["w1"].astype(bf16)), B, at["context"], T)
        return jnp.einsum("bsf,fh->bsh", jax.nn.silu(gate) * up, p["w2"].astype(bf16))

    capacity = 2 * 2 * seq // max(experts, 1)  # top 2, capacity factor 2, per sequence

    def ffn_of_experts(p, rows):  # [experts, batch, capacity, h]
        gate = jnp.einsum("ebch,ehf->ebcf", rows, p["w1"].astype(bf16))
        up = jnp.einsum("ebch,ehf->ebcf", rows, p["w3"].astype(bf16))
        return jnp.einsum("ebcf,efh->ebch", jax.nn.silu(gate) * up, p["w2"].astype(bf16))

    def moe(p, x):
        prob = jax.nn.softmax(jnp.einsum("bsh,he->bse", x, p["router"].astype(bf16)).astype(f32), -1)
        weight, index = jax.lax.top_k(prob, 2)
        chosen = jax.nn.one_hot(index, experts, dtype=f32)  # [b, s, 2, e]
        place = (jnp.cumsum(chosen.sum(2), 1) - 1)[:, :, None, :] * chosen
        slot = jax.nn.one_hot((place * chosen).sum(-1).astype(jnp.int32), capacity, dtype=bf16)  # [b, s, 2, c]
        dispatch = jnp.einsum("bsje,bsjc->bsec", chosen.astype(bf16), slot)
        combine = jnp.einsum("bsj,bsje,bsjc->bsec", weight.astype(bf16), chosen.astype(bf16), slot)
        dispatch, combine = hold(dispatch, B, None, None, None), hold(combine, B, None, None, None)
        rows = hold(jnp.einsum("bsec,bsh->ebch", dispatch, x), None, B, None, None)
        rest = tuple(a for a in B if a != "expert") or None
        if "a2a" in options.split():
            weights = {k: p[k] for k in ("w1", "w2", "w3")}
            if F:  # the shards of each expert are gathered outside; the all-to-all is explicit
                weights = {k: hold(w, E, None, None) for k, w in weights.items()}

            def exchange(w, r):
                r = jax.lax.all_to_all(r, "expert", 0, 1, tiled=True)
                return jax.lax.all_to_all(ffn_of_experts(w, r), "expert", 1, 0, tiled=True)

            out = jax.shard_map(
                exchange, mesh=mesh, in_specs=({k: P(E) for k in weights}, P(None, B)), out_specs=P(None, B)
            )(weights, rows)
        else:
            rows = hold(rows, E, rest, None, None)
            out = hold(ffn_of_experts(p, rows), E, rest, None, None)
            out = hold(out, None, B, None, None)
        return jnp.einsum("ebch,bsec->bsh", out, combine)

    def block(p, x):
        with jax.named_scope("attn"):
            x = hold(x + attention(p, norm(x, p["attn_norm"])), B, at["seq"], None)
        with jax.named_scope("moe" if experts else "mlp"):
            inner = moe if experts else mlp
            return hold(x + inner(p, norm(x, p["mlp_norm"])), B, at["seq"], None)

    def loss_of(params, tokens, labels):
        with jax.named_scope("embed"):
            if "iota" in options.split():
                x = jnp.einsum("bsv,vh->bsh", jax.nn.one_hot(tokens, vocab, dtype=bf16), params["embed"].astype(bf16))
            else:
                x = params["embed"].astype(bf16)[tokens]
            x = hold(x, B, at["seq"], None)
        one = jax.checkpoint(block) if remat else block
        if scan:
            with jax.named_scope("layer"):
                x, _ = jax.lax.scan(lambda x, p: (one(p, x), None), x, params["layers"])
        for i, p in enumerate([] if scan else params["layers"]):
            with jax.named_scope(f"layer{i}"):
                x = one(p, x)
        with jax.named_scope("head"):
            x = norm(x, params["final_norm"])
            logits = hold(jnp.einsum("bsh,hv->bsv", x, params["head"].astype(bf16)), B, at["context"], T).astype(f32)
        with jax.named_scope("loss"):
            picked = (logits * jax.nn.one_hot(labels, vocab, dtype=f32)).sum(-1)
            return (jax.nn.logsumexp(logits, -1) - picked).mean()

    def step(params, tokens, labels):
        loss, grads = jax.value_and_grad(loss_of)(params, tokens, labels)
        with jax.named_scope("update"):
            return jax.tree.map(lambda p, g: p - (1e-3 * g).astype(p.dtype), params, grads), loss

    shards = 1
    for a in B or ():
        shards *= mesh.shape[a]
    batch = (1 if B else 2) * shards
    ids = jax.ShapeDtypeStruct((batch, seq), jnp.int32, sharding=NamedSharding(mesh, P(B, at["context"])))
    fn = jax.jit(step, out_shardings=(shardings, NamedSharding(mesh, P())))
    return fn, (params, ids, ids), batch // shards


def compile_one(index, platform):
    """Child process: compiles one case and prints one line of JSON."""
    case, axes, size, remat, options = CASES[index]
    devices = 1
    for n in axes.values():
        devices *= n
    import jax

    if platform == "gpu":
        jax.config.update("jax_mock_gpu_topology", f"1x{devices}x1")
    import numpy as np
    from jax.sharding import AxisType, Mesh

    grid = np.array(jax.devices()[:devices]).reshape(tuple(axes.values()))
    mesh = Mesh(grid, tuple(axes), axis_types=(AxisType.Auto,) * len(axes))
    fn, args, batch = training_step(size, mesh, remat, options)
    begin = time.time()
    compiled = fn.lower(*args).compile()
    text = compiled.as_text()
    keep, computation = [], ""
    for line in text.splitlines():
        if line.endswith("{") and not line.startswith(" "):
            computation = line.split()[0] if not line.startswith("ENTRY") else ""
        if re.search(COLLECTIVE, line):
            keep.append(line.strip() + (f" IN {computation}" if computation else ""))
    memory = {}
    try:
        m = compiled.memory_analysis()
        memory = {k: getattr(m, k) for k in ("argument_size_in_bytes", "output_size_in_bytes", "temp_size_in_bytes")}
    except Exception:
        pass
    print(
        "RESULT "
        + json.dumps(
            dict(case=case, mesh=axes, size=size, remat=remat, batch=batch, platform=platform, jax=jax.__version__,
                 device=str(jax.devices()[0].device_kind), seconds=round(time.time() - begin, 1), memory=memory,
                 lines=keep)
        )
    )


COLLECTIVE = r" (all-reduce|all-gather|reduce-scatter|all-to-all|ragged-all-to-all|collective-permute|collective-broadcast)(-start)?\("


def run_child(index, platform, flags, limit):
    env = dict(os.environ, XLA_FLAGS=" ".join(flags), XLA_PYTHON_CLIENT_PREALLOCATE="false", TF_CPP_MIN_LOG_LEVEL="0")
    if platform == "cpu":
        devices = 1
        for n in CASES[index][1].values():
            devices *= n
        env.update(JAX_PLATFORMS="cpu", XLA_FLAGS=f"--xla_force_host_platform_device_count={devices}")
    try:
        p = subprocess.run([sys.executable, __file__, "one", str(index), platform], env=env, capture_output=True,
                           text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return None, "timeout"
    for line in p.stdout.splitlines():
        if line.startswith("RESULT "):
            result = json.loads(line[7:])
            result["fallback"] = [w[:600] for w in p.stderr.splitlines() if re.search("(?i)involuntary full remat", w)]
            return result, p.stderr
    return None, p.stderr


def compile_all(out, jobs, seconds, only):
    begin, platform, flags = time.time(), "gpu", list(FLAGS)
    first = err = None
    for _ in range(len(FLAGS) + 1):
        first, err = run_child(0, platform, flags, 200)
        unknown = [f for f in flags if "nknown flag" in err and f.split("=")[0] in err]
        if first or not unknown:
            break
        flags = [f for f in flags if f not in unknown]
    if not first:
        print("mocked GPU failed:\n", err[-3000:], flush=True)
        platform = "cpu"
    print("platform", platform, "flags", flags, f"{time.time() - begin:.0f}s", flush=True)

    def work(i):
        if time.time() - begin > seconds:
            return i, None, "deadline"
        result, err = (first, "") if i == 0 and first else run_child(i, platform, flags, 240)
        return i, result, err

    wanted = [i for i, c in enumerate(CASES) if only in " ".join((c[0], c[4]))]
    with open(out, "w") as f, ThreadPoolExecutor(jobs) as pool:
        for i, result, err in pool.map(work, wanted):
            if result is None:
                print("FAILED", CASES[i], err[-1500:], flush=True)
                continue
            f.write(json.dumps(result) + "\n")
            f.flush()
            print(f"{CASES[i]} {len(result['lines'])} lines, {result['seconds']}s, fallback {len(result['fallback'])} "
                  f"at {time.time() - begin:.0f}s", flush=True)


def main():
    if sys.argv[1] == "one":
        compile_one(int(sys.argv[2]), sys.argv[3])
    elif sys.argv[1] == "compile":
        options = dict(zip(sys.argv[3::2], sys.argv[4::2]))
        compile_all(sys.argv[2], int(options.get("--jobs", 6)), float(options.get("--seconds", 400)), options.get("--only", ""))
    else:
        from xla_table import table

        table(sys.argv[2], sys.argv[3])


if __name__ == "__main__":
    main()
