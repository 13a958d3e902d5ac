#!/usr/bin/env python3
"""lighten_trace.py FILE.json: leaves out what repeats (strides, event numbers, arrows between events) and packs it as
FILE.json.gz: a twentieth of the bytes stays."""
import gzip
import json
import pathlib
import sys

file = pathlib.Path(sys.argv[1])
trace = json.loads(file.read_text())
trace["traceEvents"] = [event for event in trace["traceEvents"] if event.get("cat") not in ("ac2g", "fwdbwd")]
for event in trace["traceEvents"]:
    for key in ("Input Strides", "Ev Idx", "Record function id", "Fwd thread id"):
        event.get("args", {}).pop(key, None)
text = json.dumps(trace, separators=(",", ":")).replace('{"ph"', '\n{"ph"')
with gzip.GzipFile(f"{file}.gz", "wb", 9, mtime=0) as packed:
    packed.write(text.encode())
file.unlink()
