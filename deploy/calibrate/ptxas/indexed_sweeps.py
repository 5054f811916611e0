"""The pieces of code that indexed.py makes: see PARAMETERS in indexed_pieces.py."""
import itertools

from indexed_pieces import OPS

HEAVY = ("rsqrt", "divrn", "sqrtrn", "dfma", "mul64", "rems", "rcprn")
STEPS = ((1, 0), (0, 1), (1, 1), (2, 0), (2, 1), (2, 2), (3, 3), (4, 0), (4, 4), (8, 0), (0, 8), (8, 8), (16, 0), (16, 16))
PLACES = (2, 4, 8, 16, 32)
SIZES = (32, 48, 56, 60, 62, 63, 64, 65, 66, 68, 72, 80, 88, 96, 100, 104, 112, 120, 124, 127, 128, 129, 130, 136, 144, 160, 192, 256)


def pieces():
    return [
        {"tag": tag, **p}
        for tag, sweep in (
            ("D", straight()), ("L", looped()), ("C", walked()), ("Cs", steps()), ("Cl", loads()), ("Cst", stores()), ("I", indices()), ("E", sizes()),
            ("O", operations()), ("cA", shapes("condA", 6, 0)), ("cT", shapes("condT", 8, 0)), ("cA1", shapes("condA", 6, 1)), ("o2", shapes("setup", 4, 2)),
            ("al", alignments()), ("st", strides()), ("bp", among()), ("run", unrolled()), ("big", large()), ("E2", widths()),
        )
        for p in sweep
    ]


def straight():
    for w, places, (lds, sts), init, final in itertools.product((1, 2, 4), PLACES, STEPS, ("zero", "global"), ("const", "one")):
        yield dict(n=places * w, w=w, vec=w, lds=lds, sts=sts, init=init, final=final)


def looped():
    for w, places, (lds, sts), init in itertools.product((1, 2, 4), PLACES, ((1, 0), (0, 1), (1, 1), (2, 2), (4, 4)), ("zero", "global")):
        yield dict(n=places * w, w=w, vec=w, lds=lds, sts=sts, init=init, loop="loop")


def walked():
    many = (2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 17, 20, 24, 32, 64)
    for places, w, scalar, nounroll, outer, extra in itertools.product(many, (1, 2, 4, 8, 16), (0, 1), (1, 0), (1, 0), (0, 10)):
        if not (w == 1 and scalar or places * w > 256 or extra and not nounroll):
            yield dict(n=places * w, w=w, vec=1 if scalar else min(w, 4), idx="iv", nounroll=nounroll, outer=outer, extra=extra)


def steps():
    for places, w, s, trips, cap in itertools.product(PLACES, (1, 2, 4), (1, 2, 4), ("const", "run"), (0, 32)):
        yield dict(n=places * w, w=w, vec=w, idx="iv", lds=s, sts=s, trips=trips, maxnreg=cap)


def loads():
    for places, w, s in itertools.product(PLACES, (1, 2, 4), (1, 2, 4)):
        yield dict(n=places * w, w=w, vec=w, idx="iv", lds=s, sts=0)


def stores():
    for places, w, s in itertools.product(PLACES, (1, 2, 4), (1, 2, 4)):
        yield dict(n=places * w, w=w, vec=w, idx="iv", lds=0, sts=s)


def indices():
    some = ((1, 0), (1, 1), (2, 2))
    for places, w, (lds, sts), idx in itertools.product((2, 4, 8), (1, 2), some, ("min", "raw", "uniform", "same")):
        yield dict(n=places * w, w=w, vec=w, lds=lds, sts=sts, idx=idx)
    for places, (lds, sts), idx in itertools.product((3, 5, 6, 7), some, ("min", "raw")):
        yield dict(n=places, w=1, lds=lds, sts=sts, idx=idx)


def sizes():
    for esz, places, w, idx in itertools.product((8, 2, 1), PLACES, (1, 2), ("iv", "mask")):
        yield dict(esz=esz, n=places * w, w=w, vec=w if esz == 8 else 1, idx=idx, init="zero")


def operations():
    for op in OPS:
        for places in range(3, 100 if op in HEAVY else 41):
            yield dict(op=op, extra=4, n=places, w=1, idx="iv", outer=0, lds=0, sts=1, setup=1)


def shapes(key, extra, outer):
    for places in range(2, 33):
        yield {**dict(n=places, w=1, idx="iv", outer=outer, lds=0, sts=1, extra=extra, setup=1), key: 1}


def alignments():
    for places, (al, w, vec) in itertools.product(range(2, 33), ((4, 1, 1), (4, 2, 1), (8, 4, 1), (4, 4, 1), (32, 8, 4), (64, 8, 1))):
        yield dict(n=w * places, w=w, vec=vec, idx="iv", outer=0, lds=1, sts=1, extra=8, al=al)


def strides():
    for places in range(2, 33):
        for w in (3, 5, 6, 12):
            yield dict(n=w * places, w=w, vec=1, idx="iv", outer=0, lds=1, sts=1, extra=8)
        for w in (3, 6, 12):
            yield dict(n=w * places, w=w, vec=1, idx="raw", loop="loop", lds=1, sts=1, extra=8)


def among():
    for places, (base, pad) in itertools.product(range(2, 33), ((4, 0), (16, 0), (0, 4), (0, 16), (16, 16))):
        yield dict(n=places, w=1, idx="iv", outer=0, lds=1, sts=1, extra=8, base=base, pad=pad)
        yield dict(n=places, w=1, idx="raw", loop="loop", lds=1, sts=1, extra=8, base=base, pad=pad)


def unrolled():
    for places, w in itertools.product(range(2, 33), (1, 2, 3, 4, 8)):
        p = dict(n=places * w, w=w, vec=1 if w == 3 else min(w, 4), nounroll=0)
        yield dict(p, idx="iv", outer=1, trips="run")
        yield dict(p, idx="raw", loop="loop")
        yield dict(p, idx="raw", loop="loop", lds=2, sts=2)


def large():
    for n, extra in itertools.product(SIZES, (0, 200, 400)):
        for lds, sts, final in ((1, 0, "const"), (0, 1, "one"), (2, 2, "const")):
            yield dict(n=n, w=1, lds=lds, sts=sts, init="global", final=final, extra=extra)
        if n % 4 == 0:
            yield dict(n=n, w=4, vec=4, lds=1, sts=1, init="global", final="const", extra=extra)


def widths():
    for esz, places in itertools.product((1, 2, 8), (2, 3, 4, 6, 8)):
        yield dict(esz=esz, n=places, w=1, idx="raw", init="global", final="const", extra=60)
