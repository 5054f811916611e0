#!/usr/bin/env python3
"""How many cycles after a sum ptxas issues the one that reads its carry, and after a comparison what reads its predicate, by
the stall counts of its machine code.

    unzip -d ptx ../datasets/NAME/ptx.zip
    carries.py sm_90a ptx/*.ptx

Needs ptxas and nvdisasm, and no GPU. Prints for each number of cycles how many pairs of instructions there are: an
IADD3, LEA, VIADD or IMAD that writes a predicate, and the .X or .HI that reads it; and ISETP, FSETP or PLOP3 with the first
that selects or compares by its predicate (selects), or that it guards, is a copy's or a vote's (guards).
"""
import collections
import os
import re
import subprocess
import sys
import tempfile


def listing(arch, ptx):
    """The instructions of a program as (stall count, text), None for a label."""
    with tempfile.TemporaryDirectory() as d:
        cubin = os.path.join(d, "x.cubin")
        if subprocess.run(["ptxas", "-arch=" + arch, ptx, "-o", cubin], capture_output=True).returncode:
            return []
        text = subprocess.run(["nvdisasm", "-c", "-hex", cubin], capture_output=True, text=True).stdout
    out, pending = [], None
    for line in text.split("\n"):
        first = re.match(r"\s*/\*[0-9a-f]{4,}\*/\s+(.*?);\s*/\* 0x[0-9a-f]{16} \*/", line)
        second = re.match(r"\s*/\* 0x([0-9a-f]{16}) \*/", line)
        if first:
            pending = first[1]
        elif second and pending:
            out.append((int(second[1], 16) >> 41 & 15, pending))
            pending = None
        elif re.match(r"\.L", line):
            out.append(None)
    return out


def pairs(code):
    """What reads the carry of each sum and the predicate of each comparison, and after how many cycles, within 20 instructions."""
    for i, one in enumerate(code):
        carry = one and re.match(r"(?:@\S+ )?(?:IADD3|LEA|VIADD|IMAD\S*) \S+, (P\d),", one[1])
        test = one and re.match(r"(?:@\S+ )?(?:[IF]SETP|PLOP3)\S* (P\d),", one[1])
        found = carry or test
        if not found:
            continue
        reads = r"[ !@]" + found[1] + r"\b"
        cycles = one[0]
        for other in code[i + 1 : i + 20]:
            if other is None or re.search(r" " + found[1] + ",", other[1]) and not (test and re.search(r"(SEL|LDGSTS)", other[1])):
                break
            if carry and re.search(r"\.X|\.HI", other[1]) and re.search(reads, other[1]):
                yield "carries", cycles
                break
            if test and re.search(reads, other[1]):
                selects = re.match(r"(?:[IF]?SEL|[IF]SETP|PLOP3)\b", other[1])
                yield "selects" if selects else "guards", cycles
                break
            cycles += other[0]


counts = collections.Counter()
for name in sys.argv[2:]:
    counts.update(pairs(listing(sys.argv[1], name)))
for (kind, cycles), n in sorted(counts.items()):
    print(kind, cycles, n)
