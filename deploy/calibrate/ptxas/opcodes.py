#!/usr/bin/env python3
"""What ptxas makes of PTX files: registers, spilled bytes, and how often each operation stands in the machine code.

    opcodes.py DIR > ptxas.jsonl
    ASSEMBLE_PTXAS=$PWD/ptxas.jsonl ASSEMBLE_PTX=$PWD/DIR go test -v -run AgainstPtxas ./simengine/assemble

DIR holds PTX files of one kernel each, for sm_90a. Needs ptxas and nvdisasm, and no GPU. A JSON line a file: name,
registers, spill (bytes stored and loaded), ops. The test compares the assembler model with them.
"""
import collections
import json
import os
import re
import subprocess
import sys
import tempfile


def compiled(ptx):
    """The registers, spilled bytes and operations of a PTX file, None where ptxas refuses it."""
    with tempfile.TemporaryDirectory() as d:
        cubin = os.path.join(d, "x.cubin")
        p = subprocess.run(["ptxas", "-v", "-arch=sm_90a", ptx, "-o", cubin], capture_output=True, text=True)
        if p.returncode:
            return None
        text = subprocess.run(["nvdisasm", "-c", cubin], capture_output=True, text=True).stdout
    ops = collections.Counter(re.findall(r"/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z][A-Z0-9_.]*).*;", text))
    spill = re.search(r"(\d+) bytes spill stores, (\d+) bytes spill loads", p.stderr)
    return {
        "name": os.path.basename(ptx)[: -len(".ptx")],
        "registers": int(re.search(r"Used (\d+) registers", p.stderr)[1]),
        "spill": int(spill[1]) + int(spill[2]) if spill else 0,
        "ops": ops,
    }


def main():
    for name in sorted(os.listdir(sys.argv[1])):
        if name.endswith(".ptx"):
            found = compiled(os.path.join(sys.argv[1], name))
            if found:
                print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
