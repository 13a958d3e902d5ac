"""Library of xla_collectives.py: turns the raw collective lines it keeps into the table, one row per kind of collective of a case."""

import csv
import json
import math
import re
from collections import Counter

import xla_collectives

HEADER = (
    "case,mesh,layers,hidden,ffn,heads,kv,vocab,seq,batch,remat,op,group_size,in_bytes,out_bytes,dtype,count,note,axis,"
    "shape,source,head_dim,experts"
).split(",")
WIDTH = {"bf16": 2, "f16": 2, "f32": 4, "s32": 4, "u32": 4, "pred": 1, "s8": 1, "u8": 1, "f64": 8, "s64": 8}
SHAPE = re.compile(r"\b([a-z]+[0-9]*)\[([0-9,]*)\](?:\{[^}]*\})?")


def bytes_of(dtype, dims):
    return WIDTH[dtype] * math.prod(int(d) for d in dims.split(",") if d)


def split_result(text):
    """The result type: [(dtype, dims)], inner tuple (operands of a start op) apart."""
    shapes = [(m[1], m[2]) for m in SHAPE.finditer(text)]
    m = re.match(r"\(\((.*?)\), (.*)\)$", text)
    if m:
        return [(x[1], x[2]) for x in SHAPE.finditer(m[1])], [(x[1], x[2]) for x in SHAPE.finditer(m[2])]
    return None, shapes


def group_of(line, axes):
    """(group size, mesh axes) from either spelling of replica_groups."""
    m = re.search(r"replica_groups=mesh\[([^\]]*)\] \{([^}]*)\}", line)
    if m:
        sizes = [int(x) for x in re.findall(r"=(\d+)", m[1])]
        names = re.findall(r"'([^']+)'=", m[1])
        used = re.findall(r"'([^']+)'", m[2])
        size = math.prod(sizes[names.index(u)] for u in used if u in names)
        if size == math.prod(axes.values()):
            return size, "+".join(axes)
        real = list(axes) if sizes == list(axes.values()) else names
        return size, "+".join(real[names.index(u)] for u in used if u in names)
    m = re.search(r"replica_groups=\[(\d+),(\d+)\]<=\[([\d,]+)\](?:T\(([\d,]+)\))?", line)
    if m:
        dims = [int(x) for x in m[3].split(",")]
        ids = list(range(math.prod(dims)))
        if m[4]:
            order = [int(x) for x in m[4].split(",")]
            stride = [math.prod(dims[i + 1 :]) for i in range(len(dims))]
            ids = [0]
            for o in order:
                ids = [i + j * stride[o] for i in ids for j in range(dims[o])]
        first = ids[: int(m[2])]
        return int(m[2]), axes_of(first, axes)
    m = re.search(r"replica_groups=\{\{([\d,]+)\}", line)
    if m:
        first = [int(x) for x in m[1].split(",")]
        return len(first), axes_of(first, axes)
    return 2, "pairs"  # collective-permute


def axes_of(ids, axes):
    """Mesh axes along which the ids of one group differ."""
    varied, names = set(), list(axes)
    for i in ids:
        for name in reversed(names):
            i, c = divmod(i, axes[name])
            if c:
                varied.add(name)
    return "+".join(n for n in names if n in varied)


def source_of(line):
    m = re.search(r'op_name="((?:[^"\\]|\\.)*)"', line)
    name = m[1].replace("\\'", "") if m else ""
    name = re.sub(r"params\[layers\]\[\d+\]\[(\w+)\]", r"param \1", name)
    name = re.sub(r"params\[(\w+)\]", r"param \1", name)
    way = "bwd" if "transpose(" in name else "fwd" if "jvp" in name else ""
    if "rematted" in name or "remat2" in name:
        way = "recompute"
    name = re.sub(r"^jit\(step\)/", "", name)
    name = re.sub(r"(?:transpose\()?jvp\(([^()]*)\)\)?", r"\1", name)
    name = re.sub(r"layer\d+", "layer", name)
    name = re.sub(r"layer/layer|checkpoint/|rematted_computation/|while/body/closed_call/|while/body/", "", name)
    name = re.sub(r"/+", "/", name).strip("/")
    return f"{way} {name}".strip()


def rows_of(result):
    layers, h, f, heads, kv, d, vocab, seq, experts = xla_collectives.SIZES[result["size"]]
    axes, counts = result["mesh"], Counter()
    for line in result["lines"]:
        m = re.match(r"(?:ROOT )?%?[\w.-]+ = (.*?) (all-reduce|all-gather|reduce-scatter|all-to-all|ragged-all-to-all|"
                     r"collective-permute|collective-broadcast)(-start)?\(", line)
        if not m:
            continue
        inner, outer = split_result(m[1])
        if m[2] == "collective-permute" and m[3]:
            outer = outer[-1:] if inner else outer[1:2]
        group, which = group_of(line, axes)
        out = sum(bytes_of(*x) for x in outer)
        if inner is not None:
            into = sum(bytes_of(*x) for x in inner)
        else:
            into = {"all-gather": out // group, "reduce-scatter": out * group}.get(m[2], out)
        dtype = "+".join(sorted({x[0] for x in outer}))
        shape = "+".join(f"{t}[{dims}]" for t, dims in outer)
        loop = " IN " in line[-120:]  # the only other computations are the bodies of the scan over layers
        counts[(m[2], group, into, out, dtype, which, shape, source_of(line), loop)] += layers if loop else 1
    mesh = ",".join(f"{k}={v}" for k, v in axes.items())
    for (op, group, into, out, dtype, which, shape, source, loop), n in sorted(counts.items()):
        note = " ".join(["fallback"] * bool(result["fallback"]) + ["in loop"] * loop)
        yield [result["case"], mesh, layers, h, f, heads, kv, vocab, seq, result["batch"], result["remat"],
               op, group, into, out, dtype, n, note, which, shape, source, d, experts]


def table(raw, out):
    with open(out, "w", newline="") as f:
        w = csv.writer(f, lineterminator="\n")
        w.writerow(HEADER)
        for line in open(raw):
            w.writerows(rows_of(json.loads(line)))
