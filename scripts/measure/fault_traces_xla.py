#!/usr/bin/env python3
"""XLA profiles of one training step with a known fault, and with the fault mended, on one GPU.

  fault_traces_xla.py OUT        writes OUT/xla_<name>.<fault|fixed>.xplane.pb and appends OUT/steps.csv
"""
import pathlib
import shutil
import statistics
import sys
import time

import jax
import jax.numpy as jnp

LAYERS, HIDDEN, SEQ, BATCH, VOCAB, HEADS = 2, 2048, 1024, 4, 16000, 16


def parameters(dtype):
    keys = jax.random.split(jax.random.PRNGKey(0), 4 * LAYERS + 2)
    new = lambda key, *shape: (jax.random.normal(key, shape) * 0.02).astype(dtype)
    return {"embed": new(keys[-1], VOCAB, HIDDEN), "head": new(keys[-2], HIDDEN, VOCAB),
            "layers": [{"qkv": new(keys[4 * i], HIDDEN, 3 * HIDDEN), "out": new(keys[4 * i + 1], HIDDEN, HIDDEN),
                        "up": new(keys[4 * i + 2], HIDDEN, 4 * HIDDEN), "down": new(keys[4 * i + 3], 4 * HIDDEN, HIDDEN)}
                       for i in range(LAYERS)]}


def norm(x):
    y = x.astype(jnp.float32)
    return (y * jax.lax.rsqrt(jnp.mean(y * y, -1, keepdims=True) + 1e-5)).astype(x.dtype)


def block(p, x, fault):
    b, s, h = x.shape
    q, k, v = jnp.split((norm(x) @ p["qkv"]).reshape(b, s, 3, HEADS, h // HEADS), 3, 2)
    q, k, v = q[:, :, 0], k[:, :, 0], v[:, :, 0]
    if fault == "relayout":  # the order of elements changes back and forth, and no fusion may remove it
        for _ in range(3):
            q, k, v = (jax.lax.optimization_barrier(jnp.transpose(one, (2, 0, 3, 1))) for one in (q, k, v))
            q, k, v = (jax.lax.optimization_barrier(jnp.transpose(one, (1, 3, 0, 2))) for one in (q, k, v))
    if fault == "eager_attention":
        scores = jnp.einsum("bqnd,bknd->bnqk", q, k).astype(jnp.float32) / q.shape[-1] ** 0.5
        mask = jnp.tril(jnp.ones((s, s), bool))
        y = jnp.einsum("bnqk,bknd->bqnd", jax.nn.softmax(jnp.where(mask, scores, -1e9), -1).astype(x.dtype), v)
    else:
        y = jax.nn.dot_product_attention(q, k, v, is_causal=True, implementation="cudnn" if x.dtype != jnp.float32 else None)
    x = x + y.reshape(b, s, h) @ p["out"]
    y = norm(x) @ p["up"]
    if fault == "apart":  # memory-bound operators kept apart
        for _ in range(6):
            y = jax.lax.optimization_barrier(y * 1.0001 + 0.0001)
    return x + jax.nn.gelu(y) @ p["down"]


def loss_of(p, tokens, fault):
    x = p["embed"][tokens[:, :-1]]
    for layer in p["layers"]:
        x = (jax.checkpoint(block, static_argnums=2) if fault == "recompute" else block)(layer, x, fault)
    logits = (norm(x) @ p["head"]).astype(jnp.float32)
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), tokens[:, 1:, None], -1))


def run(name, fault, dtype, wait_ms, out, which, waits=True):
    p = parameters(dtype)

    @jax.jit
    def step(p, tokens):
        loss, grads = jax.value_and_grad(loss_of)(p, tokens, fault)
        return jax.tree.map(lambda one, g: one - 1e-4 * g, p, grads), loss

    tokens = jax.random.randint(jax.random.PRNGKey(1), (BATCH, SEQ + 1), 0, VOCAB)

    def once(p):
        if wait_ms:
            time.sleep(wait_ms / 1e3)
        p, loss = step(p, tokens)
        if waits:
            loss.block_until_ready()
        return p

    for _ in range(4):
        p = once(p)
    times = []
    jax.block_until_ready(p)
    for _ in range(20):  # one that does not wait is timed by twenty steps
        start = time.perf_counter()
        for _ in range(1 if waits else 20):
            p = once(p)
        if not waits:
            jax.block_until_ready(p)
        times.append(1e3 * (time.perf_counter() - start) / (1 if waits else 20))
    folder = out / "xla"
    with jax.profiler.trace(str(folder)):
        for number in range(4):
            with jax.profiler.StepTraceAnnotation("train", step_num=number):
                p = once(p)
    [file] = folder.rglob("*.xplane.pb")
    shutil.move(file, out / f"xla_{name}.{which}.xplane.pb")
    shutil.rmtree(folder)
    with open(out / "steps.csv", "a") as table:
        table.write(f"xla_{name},{which},{statistics.median(times):.3f},{min(times):.3f},{max(times):.3f},,,,\n")
    print(f"{name} {which}: {statistics.median(times):.2f} ms", flush=True)


def main():
    out = pathlib.Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    bf16 = jnp.bfloat16
    run("plain", "", bf16, 0, out, "fixed")
    run("wait", "", bf16, 0, out, "fault")
    run("wait", "", bf16, 0, out, "fixed", waits=False)
    for name, fault, dtype, wait in (("relayout", "relayout", bf16, 0), ("apart", "apart", bf16, 0),
                                     ("eager_attention", "eager_attention", bf16, 0), ("recompute", "recompute", bf16, 0),
                                     ("fp32", "", jnp.float32, 0), ("input_bound", "", bf16, 30)):
        try:
            run(name, fault, dtype, wait, out, "fault")
        except Exception as error:  # one that fails costs none of the others
            print(f"{name}: {type(error).__name__}: {str(error)[:300]}", flush=True)


if __name__ == "__main__":
    main()
