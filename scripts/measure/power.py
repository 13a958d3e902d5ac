"""What a device draws: idle, waiting as a collective does, products, streams, a layer of a model.

    python3 scripts/measure/power.py OUT.csv

Joules are those of NVML's energy counter over some seconds after the clocks have settled.
"""
import csv
import ctypes
import sys
import time

import torch
import torch.nn.functional as F

SETTLE_S = 6.0
MEASURE_S = 10.0
WAITING_BLOCKS = 24  # about as many as NCCL keeps on a device


class Energy:
    """NVML's counter, in millijoules."""

    def __init__(self):
        self.nvml = ctypes.CDLL("libnvidia-ml.so.1")
        self.nvml.nvmlInit_v2()
        self.device = ctypes.c_void_p()
        self.nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(self.device))

    def joules(self):
        counter = ctypes.c_ulonglong()
        status = self.nvml.nvmlDeviceGetTotalEnergyConsumption(self.device, ctypes.byref(counter))
        if status != 0:
            raise RuntimeError(f"NVML has no energy counter here: status {status}")
        return counter.value / 1000.0

    def limit(self):
        limit = ctypes.c_uint()
        self.nvml.nvmlDeviceGetPowerManagementLimit(self.device, ctypes.byref(limit))
        return limit.value / 1000.0

    def megahertz(self):
        clock = ctypes.c_uint()
        self.nvml.nvmlDeviceGetClockInfo(self.device, 1, ctypes.byref(clock))
        return clock.value


def repeat(work, seconds):
    """Keeps the device at it for so long; returns how often it ran."""
    end = time.monotonic() + seconds
    count = 0
    while time.monotonic() < end:
        work()
        torch.cuda.synchronize()
        count += 1
    return count


def measured(energy, name, work):
    repeat(work, SETTLE_S)
    begin, joules = time.monotonic(), energy.joules()
    count = repeat(work, MEASURE_S)
    clock = energy.megahertz()
    seconds, used = time.monotonic() - begin, energy.joules() - joules
    row = {"case": name, "watts": round(used / seconds, 1), "seconds": round(seconds, 2),
           "repeats": count, "sm_mhz": clock, "limit_w": energy.limit()}
    print(row, flush=True)
    return row


def idle():
    time.sleep(0.1)


def waiting(milliseconds):
    """Blocks that spin, each on its own stream."""
    streams = [torch.cuda.Stream() for _ in range(WAITING_BLOCKS)]
    cycles = int(milliseconds * 1.9e6)

    def work():
        for stream in streams:
            with torch.cuda.stream(stream):
                torch.cuda._sleep(cycles)

    return work


def products(dtype, size=8192, times=20):
    a = torch.randn(size, size, device="cuda", dtype=dtype)
    b = torch.randn(size, size, device="cuda", dtype=dtype)

    def work():
        for _ in range(times):
            torch.mm(a, b)

    return work


def streams(gib=4, times=40):
    a = torch.empty(gib << 28, device="cuda")
    b = torch.empty_like(a)

    def work():
        for _ in range(times):
            a.copy_(b)

    return work


def layer(tokens=8192, hidden=4096, ffn=14336, heads=32, kv=8, times=4):
    """A Llama layer, forward and backward."""
    def weight(rows, columns):
        values = torch.randn(rows, columns, device="cuda", dtype=torch.bfloat16) * rows ** -0.5
        return values.requires_grad_()

    size = hidden // heads
    q, k, v = weight(hidden, hidden), weight(hidden, kv * size), weight(hidden, kv * size)
    out, up, gate, down = (weight(hidden, hidden), weight(hidden, ffn), weight(hidden, ffn),
                           weight(ffn, hidden))
    norm = torch.ones(hidden, device="cuda", dtype=torch.bfloat16, requires_grad=True)
    x = torch.randn(1, tokens, hidden, device="cuda", dtype=torch.bfloat16, requires_grad=True)

    def work():
        for _ in range(times):
            h = F.rms_norm(x, (hidden,), norm)
            heads_of = lambda t, n: (h @ t).view(1, tokens, n, size).transpose(1, 2)
            a = F.scaled_dot_product_attention(heads_of(q, heads), heads_of(k, kv), heads_of(v, kv),
                                               is_causal=True, enable_gqa=True)
            y = x + a.transpose(1, 2).reshape(1, tokens, hidden) @ out
            z = F.rms_norm(y, (hidden,), norm)
            y = y + (F.silu(z @ gate) * (z @ up)) @ down
            y.backward(torch.ones_like(y))

    return work


def half(work, wait):
    """As long at work as waiting."""
    repeat(work, 2.0)
    begin = time.monotonic()
    for _ in range(20):
        work()
    torch.cuda.synchronize()
    pause = wait((time.monotonic() - begin) / 20 * 1000.0)

    def both():
        work()
        torch.cuda.synchronize()
        pause()

    return both


def main():
    energy = Energy()
    torch.zeros(1, device="cuda")
    rows = [measured(energy, name, work) for name, work in [
        ("idle", idle),
        ("waiting", waiting(50.0)),
        ("stream", streams()),
        ("product_bf16", products(torch.bfloat16)),
        ("product_fp32", products(torch.float32, times=2)),
        ("layer_bf16", layer()),
        ("layer_bf16_short", layer(tokens=2048, times=8)),
        ("layer_bf16_half_waiting", half(layer(), waiting)),
    ]]
    with open(sys.argv[1], "w", newline="", encoding="utf-8") as out:
        writer = csv.DictWriter(out, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
