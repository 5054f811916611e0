#!/usr/bin/env python3
"""How many instructions before their first use ptxas has loads of spilled registers and of fragments.

    unzip -d ptx ../datasets/NAME/ptx.zip
    leads.py ptx/*.ptx

Needs ptxas and nvdisasm, and no GPU. Prints a line for each of LDL and of LDSM that an MMA of a warp reads: how many
there are, and the 5th, 10th, 25th, 50th, 75th and 90th percentile of the instructions between. What ends in a branch or
at a label before its use is left out. simengine/timing/cost/lead.go has the medians as code.
"""
import os
import re
import subprocess
import sys
import tempfile

FARTHEST = 400  # instructions that are looked at
SHARES = (5, 10, 25, 50, 75, 90)


def listing(ptx):
    """The instructions of a kernel as (operation, operands); labels that are branched to are ("LABEL", "")."""
    with tempfile.TemporaryDirectory() as d:
        cubin = os.path.join(d, "x.cubin")
        if subprocess.run(["ptxas", "-arch=sm_90a", ptx, "-o", cubin], capture_output=True).returncode:
            return []
        text = subprocess.run(["nvdisasm", "-c", cubin], capture_output=True, text=True).stdout
    targets, out = set(re.findall(r"\((\.L_x_\d+)\)", text)), []
    for line in text.split("\n"):
        line = re.sub(r"/\*[0-9a-f]*\*/", "", line).strip()
        label = re.match(r"(\.L_x_\d+):$", line)
        if label and label[1] in targets:
            out.append(("LABEL", ""))
        found = re.match(r"(?:@!?U?P\w+ +)?([A-Z][A-Z0-9_.]*) ?(.*?);", line)
        if found:
            out.append(found.groups())
    return out


def width(op, place):
    """The registers of an operand."""
    if "GMMA" in op:
        return 64
    if "MMA" in op:
        return 4 if place in (0, 1, 3) else 2
    if ".128" in op or "SM." in op:
        return 4
    return 2 if ".64" in op or "WIDE" in op else 1


def registers(op, operands):
    named = set()
    for place, operand in enumerate(operands.split(",")):
        found = re.search(r"\bR(\d+)", operand)
        if found:
            named |= set(range(int(found[1]), int(found[1]) + width(op, place)))
    return named


def distance(code, named, load):
    """The instructions between a load and its first use, and that use's operation; None: there is none before a branch."""
    op, operands = code[load]
    first = re.match(r"R(\d+)", operands)
    if not first:
        return None
    words = 4 if ".128" in op or op.endswith(".4") else 2 if ".64" in op or op.endswith(".2") else 1
    loaded = set(range(int(first[1]), int(first[1]) + words))
    for i in range(load + 1, min(load + FARTHEST, len(code))):
        if code[i][0].startswith(("LABEL", "BRA", "EXIT")):
            return None
        if named[i] & loaded:
            return i - load - 1, code[i][0]
    return None


def main(files):
    found = {"LDL": [], "LDSM": []}
    for ptx in files:
        code = listing(ptx)
        named = [registers(*c) for c in code]
        for i, (op, _) in enumerate(code):
            kind = op.split(".")[0]
            use = distance(code, named, i) if kind in found else None
            if use and (kind == "LDL" or use[1].startswith(("HMMA", "IMMA", "QMMA"))):
                found[kind].append(use[0])
    for kind, all_ in found.items():
        all_.sort()
        print(kind, len(all_), *(f"{s} %: {all_[s * (len(all_) - 1) // 100]}" for s in SHARES if all_))


if __name__ == "__main__":
    main(sys.argv[1:])
