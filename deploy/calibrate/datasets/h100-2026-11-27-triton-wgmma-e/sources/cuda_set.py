"""The CUDA groups of the fifth blind set (e): macros, launches, data."""
from triton_set import pick, cdiv, randn

SMEM = 227 * 1024
GROUPS = []


class CudaGroup:
    """args: ('map', name, buffer, box innermost first, swizzle) | ('buf', name, buffer[, declared]) | ('int', name, value) | ('float', name, value)"""
    tol = 0.02

    def __init_subclass__(cls):
        GROUPS.append(cls())

    @property
    def source(self):
        return self.name + ".cu"

    def defines(self, c):
        return dict(c)

    def cluster(self, c):
        return (1, 1, 1)


def nn_bytes(c):
    return (64 * c["WGS"] * c["MT"] + c["BN"]) * c["BK"] * 2 * c["STAGES"] + (c["WGS"] * 64 * c["BN"] * 2 if c["RTMA"] else 0) + 1024


class NnResid(CudaGroup):
    name = "nn_resid_gemm"
    size = [2304, 5376, 2816]
    problem = "2304x5376x2816 bf16 row-major residual"
    data = {"A": ("bfloat16", [2304, 2816]), "B": ("bfloat16", [2816, 5376]), "R": ("bfloat16", [2304, 5376]), "C": ("bfloat16", [2304, 5376])}

    def ok(c):
        return (nn_bytes(c) <= SMEM - 256 and c["WGS"] * c["MT"] <= 4 and c["MT"] * c["BN"] <= (192 if c["WGS"] == 3 else 256) and not (c["WGS"] == 3 and c["MT"] > 1) and not (c["WGS"] == 3 and c["BN"] > 128 and not c["REGS"])
                and not (c["WGS"] == 3 and c["BN"] > 192) and (not c["REGS"] or c["WGS"] > 1) and (c["PER_SM"] != 2 or c["WGS"] == 1 and nn_bytes(c) <= 112000) and c["WGS"] * c["MT"] * c["BN"] >= 128)

    configs = pick(dict(WGS=[1, 2, 3], MT=[1, 2], BN=[64, 128, 192, 256], BK=[64, 128], STAGES=[2, 3, 4, 6], BAND=[1, 4, 12], REGS=[0, 1], RTMA=[0, 1], LAG=[0, 1], PER_SM=[0, 1, 2]), 14, ok,
                   [dict(WGS=2, MT=1, BN=256, BK=64, STAGES=3, BAND=4, REGS=1, RTMA=1, LAG=1, PER_SM=1), dict(WGS=2, MT=1, BN=192, BK=64, STAGES=4, BAND=12, REGS=1, RTMA=0, LAG=1, PER_SM=1),
                    dict(WGS=2, MT=2, BN=128, BK=64, STAGES=4, BAND=4, REGS=0, RTMA=0, LAG=1, PER_SM=0), dict(WGS=1, MT=2, BN=128, BK=64, STAGES=3, BAND=4, REGS=0, RTMA=0, LAG=1, PER_SM=2)], 531)

    def defines(self, c):
        return {k: v for k, v in c.items() if k != "PER_SM"}

    def smem(self, c):
        return nn_bytes(c)

    def block(self, c):
        return (128 * c["WGS"] + (128 if c["REGS"] else 32), 1, 1)

    def grid(self, c):
        tiles = 2304 // (64 * c["WGS"] * c["MT"]) * (5376 // c["BN"])
        return (min(tiles, 132 * c["PER_SM"]) if c["PER_SM"] else tiles, 1, 1)

    def args(self, c):
        return [("map", "map_a", "A", [64, 64], "128B"), ("map", "map_b", "B", [64, c["BK"]], "128B"), ("map", "map_r", "R", [64, 64], "128B"), ("map", "map_c", "C", [64, 64], "128B"),
                ("buf", "R", "R"), ("buf", "C", "C"), ("int", "M", 2304), ("int", "N", 5376), ("int", "K", 2816)]

    def fill(self, torch, t):
        randn(torch, t, "AR")
        randn(torch, t, "B", 1 / 53)

    def reference(self, torch, t):
        return {"C": t["A"].float() @ t["B"].float() + t["R"].float()}


class Imma(CudaGroup):
    name = "imma_rowcol_gemm"
    size = [2000, 3840, 4096]
    problem = "2000x3840x4096 int8 to fp16"
    data = {"A": ("int8", [2000, 4096]), "B": ("int8", [3840, 4096]), "sa": ("float32", [2000]), "sb": ("float32", [3840]), "C": ("float16", [2000, 3840])}

    def ok(c):
        th = 32 * c["WM"] * c["WN"]
        tm, tn = c["BM"] / c["WM"], c["BN"] / c["WN"]
        acc = tm * tn / 32
        return (tm % 16 == 0 and tn % 16 == 0 and 64 <= th <= 512 and 16 <= acc <= 128 and Imma.smem(None, c) * c["MINB"] <= SMEM - 1024 * c["MINB"] and (c["MINB"] == 1 or th * c["MINB"] >= 256)
                and 65536 // (th * c["MINB"]) >= acc + (tm + tn) / 4 * (1 + c["DBUF"]) * 0.6 + 24 and c["BM"] * c["BK"] // 16 >= th and c["BN"] * c["BK"] // 16 >= th)

    def smem(self, c):
        return (c["BM"] + c["BN"]) * (c["BK"] if c["SWZ"] else c["BK"] + 16) * c["STAGES"]

    def block(self, c):
        return (32 * c["WM"] * c["WN"], 1, 1)

    def grid(self, c):
        return (cdiv(2000, c["BM"]) * (3840 // c["BN"]), 1, 1)

    def args(self, c):
        return [("buf", n, n) for n in ("A", "B", "sa", "sb", "C")] + [("int", "M", 2000), ("int", "N", 3840), ("int", "K", 4096)]

    def fill(self, torch, t):
        for n in "AB":
            t[n].copy_(torch.randint(-127, 128, t[n].shape, device="cuda"))
        for n in ("sa", "sb"):
            t[n].copy_(torch.rand(t[n].shape, device="cuda") * 0.01 + 0.001)

    def reference(self, torch, t):
        return {"C": (t["A"].double() @ t["B"].double().T).float() * t["sa"][:, None] * t["sb"][None]}


Imma.configs = pick(dict(BM=[64, 128, 256], BN=[64, 128, 192, 256], BK=[64, 128], WM=[1, 2, 4], WN=[1, 2, 4], STAGES=[2, 3, 4, 5], MINB=[1, 2], SWZ=[0, 1], DBUF=[0, 1], GROUP=[1, 8]), 14, Imma.ok,
                    [dict(BM=128, BN=256, BK=128, WM=2, WN=4, STAGES=3, MINB=1, SWZ=1, DBUF=1, GROUP=8), dict(BM=128, BN=128, BK=64, WM=2, WN=2, STAGES=4, MINB=2, SWZ=1, DBUF=0, GROUP=8),
                     dict(BM=128, BN=128, BK=128, WM=2, WN=4, STAGES=3, MINB=2, SWZ=1, DBUF=0, GROUP=8)], 532)


class Skinny(CudaGroup):
    name = "skinny_gemv"
    size = [4, 14003, 5120]
    problem = "4x14003x5120 bf16"
    data = {"X": ("bfloat16", [4, 5120]), "W": ("bfloat16", [14003, 5120]), "Y": ("bfloat16", [4, 14003])}
    configs = pick(dict(WARPS=[1, 2, 4, 8, 16], KW=[1, 2, 4], ROWS=[1, 2, 4, 8], VEC=[2, 4, 8], UNROLL=[1, 2, 4], XS=[0, 1], NOALLOC=[0, 1]), 14,
                   lambda c: c["KW"] <= c["WARPS"] and 5120 % (c["KW"] * 32 * c["VEC"] * c["UNROLL"]) == 0 and c["ROWS"] * c["VEC"] * c["UNROLL"] <= 64 and (not c["XS"] or c["WARPS"] >= 4) and c["ROWS"] * c["UNROLL"] * c["VEC"] >= 8,
                   [dict(WARPS=4, KW=1, ROWS=2, VEC=8, UNROLL=2, XS=0, NOALLOC=1), dict(WARPS=8, KW=2, ROWS=4, VEC=8, UNROLL=1, XS=1, NOALLOC=1), dict(WARPS=8, KW=1, ROWS=1, VEC=8, UNROLL=4, XS=1, NOALLOC=0)], 533)

    def defines(self, c):
        return dict(c, NB=4)

    def smem(self, c):
        return 4 * 5120 * 2 if c["XS"] else 0

    def block(self, c):
        return (32 * c["WARPS"], 1, 1)

    def grid(self, c):
        return (cdiv(14003, c["WARPS"] // c["KW"] * c["ROWS"]), 1, 1)

    def args(self, c):
        return [("buf", n, n) for n in "XWY"] + [("int", "N", 14003), ("int", "K", 5120)]

    def fill(self, torch, t):
        randn(torch, t, "XW")

    def reference(self, torch, t):
        return {"Y": t["X"].float() @ t["W"].float().T}


class Transpose(CudaGroup):
    name = "tma_transpose"
    size = [6600, 5000]
    problem = "6600x5000 fp16"
    tol = 0.0
    data = {"X": ("float16", [6600, 5000]), "Y": ("float16", [5000, 6600])}
    configs = pick(dict(TR=[64, 128, 256], WARPS=[2, 4, 8, 16], STAGES=[1, 2, 3], OUTS=[1, 2], MODE=[0, 1, 2], ALONG=[0, 1], PER_SM=[1, 2, 3, 4, 6]), 14,
                   lambda c: c["TR"] * 128 * (c["STAGES"] + c["OUTS"]) + 2048 <= SMEM // c["PER_SM"] - 1024 and c["WARPS"] * c["PER_SM"] <= 64 and c["WARPS"] * c["PER_SM"] >= 8 and c["TR"] // 32 * 8 >= c["WARPS"],
                   [dict(TR=128, WARPS=4, STAGES=2, OUTS=2, MODE=0, ALONG=0, PER_SM=3), dict(TR=64, WARPS=8, STAGES=2, OUTS=2, MODE=2, ALONG=1, PER_SM=4), dict(TR=256, WARPS=8, STAGES=2, OUTS=1, MODE=0, ALONG=1, PER_SM=2)], 534)

    def defines(self, c):
        return {k: v for k, v in c.items() if k != "PER_SM"}

    def smem(self, c):
        return c["TR"] * 128 * (c["STAGES"] + c["OUTS"]) + 1024

    def block(self, c):
        return (32 * c["WARPS"], 1, 1)

    def grid(self, c):
        return (min(132 * c["PER_SM"], cdiv(6600, c["TR"]) * cdiv(5000, 64)), 1, 1)

    def args(self, c):
        return [("map", "map_x", "X", [64, c["TR"]], "128B"), ("map", "map_y", "Y", [64, 64], "128B"), ("int", "R", 6600), ("int", "C", 5000)]

    def fill(self, torch, t):
        randn(torch, t, "X")

    def reference(self, torch, t):
        return {"Y": t["X"].T.contiguous()}


def split_bytes(c):
    return (64 * c["WGS"] + 64) * c["BK"] * 2 * c["STAGES"] + 1024


class SplitkLinear(CudaGroup):
    name = "cluster_splitk_linear"
    size = [64, 8064, 7168]
    problem = "64x8064x7168 bf16 bias"
    data = {"X": ("bfloat16", [64, 7168]), "W": ("bfloat16", [8064, 7168]), "bias": ("bfloat16", [8064]), "Y": ("bfloat16", [64, 8064])}
    configs = pick(dict(WGS=[1, 2, 3], CS=[1, 2, 4, 8], BK=[64, 128], STAGES=[2, 3, 4, 5, 6, 8], HINT=[0, 1], VR=[1, 2, 4]), 14,
                   lambda c: split_bytes(c) <= SMEM - 512 and split_bytes(c) >= 64 * (64 * c["WGS"] + 4) * 4 + 1024 and c["CS"] * c["WGS"] <= 16 and (c["STAGES"] > 3 or c["BK"] == 128) and (c["CS"] > 1 or c["VR"] == 1),
                   [dict(WGS=2, CS=2, BK=64, STAGES=6, HINT=1, VR=4), dict(WGS=1, CS=4, BK=128, STAGES=4, HINT=0, VR=2), dict(WGS=1, CS=1, BK=64, STAGES=8, HINT=1, VR=1)], 535)

    def smem(self, c):
        return split_bytes(c)

    def block(self, c):
        return (128 * c["WGS"] + 32, 1, 1)

    def cluster(self, c):
        return (c["CS"], 1, 1)

    def grid(self, c):
        return (8064 // (64 * c["WGS"]) * c["CS"], 1, 1)

    def args(self, c):
        return [("map", "map_w", "W", [64, 64 * c["WGS"]], "128B"), ("map", "map_x", "X", [64, 64], "128B"), ("buf", "bias", "bias"), ("buf", "Y", "Y"), ("int", "N", 8064), ("int", "K", 7168)]

    def fill(self, torch, t):
        randn(torch, t, ("X", "bias"))
        randn(torch, t, "W", 1 / 64)

    def reference(self, torch, t):
        return {"Y": t["X"].float() @ t["W"].float().T + t["bias"].float()}
