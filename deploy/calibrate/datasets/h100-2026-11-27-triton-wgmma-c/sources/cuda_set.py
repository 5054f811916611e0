"""The CUDA groups of this set: macros, launches, data."""
import math
from triton_set import pick, cdiv

SMEM = 227 * 1024
GROUPS = []


class CudaGroup:
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


def wgrad_bytes(c):
    return (64 * c["WGS"] * c["MT"] + c["BN"]) * c["BK"] * 2 * c["STAGES"] + 1024


def decode_static(c):
    return c["WARPS"] * 4 * 130 * 4 + 4 * 130 * 4 + 16 * c["STAGES"]


class WgradTN(CudaGroup):
    """args: ('map', name, buffer, box innermost first, swizzle) | ('buf', name, buffer) | ('int', name, value) | ('float', name, value)"""
    name = "wgrad_tn"
    size = [1280, 2304, 5120]
    problem = "1280x2304 of 5120 tokens bf16 to fp32"
    zero = ["C"]
    data = {"A": ("bfloat16", [5120, 1280]), "B": ("bfloat16", [5120, 2304]), "C": ("float32", [1280, 2304])}

    configs = pick(dict(WGS=[1, 2, 4], MT=[1, 2], BN=[64, 128, 192, 256], BK=[32, 64, 128], STAGES=[2, 3, 4, 6], SPLITK=[1, 2, 4], SPECIAL=[0, 1], VEC2=[0, 1], NFAST=[0, 1]), 17,
                   lambda c: wgrad_bytes(c) <= SMEM - 256 and c["MT"] * c["BN"] <= 384 and c["WGS"] * c["MT"] <= 4 and (c["WGS"] < 4 or c["BN"] <= 128) and (c["SPLITK"] > 1 or not c["VEC2"])
                   and c["WGS"] * c["MT"] * c["BN"] >= 128,
                   [dict(WGS=2, MT=1, BN=128, BK=64, STAGES=4, SPLITK=1, SPECIAL=1, VEC2=0, NFAST=1), dict(WGS=2, MT=1, BN=256, BK=64, STAGES=4, SPLITK=2, SPECIAL=1, VEC2=1, NFAST=0),
                    dict(WGS=2, MT=2, BN=128, BK=64, STAGES=3, SPLITK=1, SPECIAL=0, VEC2=0, NFAST=1)], 401)

    def smem(self, c):
        return wgrad_bytes(c)

    def block(self, c):
        return (128 * c["WGS"] + 32 * c["SPECIAL"], 1, 1)

    def grid(self, c):
        m, n = 1280 // (64 * c["WGS"] * c["MT"]), 2304 // c["BN"]
        return ((n, m) if c["NFAST"] else (m, n)) + (c["SPLITK"],)

    def args(self, c):
        return [("map", "map_a", "A", [64, c["BK"]], "128B"), ("map", "map_b", "B", [64, c["BK"]], "128B"), ("buf", "C", "C"), ("int", "N", 2304), ("int", "T", 5120)]

    def fill(self, torch, t):
        for n in "AB":
            t[n].copy_(torch.randn_like(t[n]) / 4)

    def reference(self, torch, t):
        return {"C": t["A"].float().T @ t["B"].float()}


class ConvIgemm(CudaGroup):
    name = "conv_igemm"
    size = [24, 56, 56, 128, 256]
    problem = "24x56x56x128 to 256 3x3 stride 2 fp16"
    data = {"x": ("float16", [24, 56, 56, 128]), "w": ("float16", [256, 3, 3, 128]), "bias": ("float32", [256]), "y": ("float16", [24, 28, 28, 256])}

    def ok(c):
        th = 32 * c["WM"] * c["WN"]
        mi, ni = c["BM"] / (16 * c["WM"]), c["BN"] / (8 * c["WN"])
        acc = mi * ni * 4
        return (mi >= 1 and mi == int(mi) and ni >= 2 and ni % 2 == 0 and 64 <= th <= 512 and (c["BM"] + c["BN"]) * c["BK"] * 2 * c["STAGES"] * c["MINB"] <= SMEM - 2048 * c["MINB"] and 16 <= acc <= 256
                and c["BM"] * c["BK"] // 8 % th == 0 and c["BN"] * c["BK"] // 8 % th == 0 and (c["MINB"] == 1 or c["MINB"] * th >= 512))

    configs = pick(dict(BM=[32, 64, 128, 256], BN=[64, 128, 256], BK=[32, 64, 128], WM=[1, 2, 4], WN=[1, 2, 4], STAGES=[2, 3, 4, 5], MINB=[1, 2, 3], FFAST=[0, 1]), 16, ok,
                   [dict(BM=128, BN=128, BK=32, WM=2, WN=2, STAGES=4, MINB=1, FFAST=1), dict(BM=128, BN=128, BK=64, WM=2, WN=4, STAGES=3, MINB=2, FFAST=1), dict(BM=64, BN=128, BK=64, WM=2, WN=2, STAGES=3, MINB=1, FFAST=0)], 402)

    def smem(self, c):
        return (c["BM"] + c["BN"]) * c["BK"] * 2 * c["STAGES"]

    def block(self, c):
        return (32 * c["WM"] * c["WN"], 1, 1)

    def grid(self, c):
        m, n = cdiv(24 * 784, c["BM"]), 256 // c["BN"]
        return (n, m, 1) if c["FFAST"] else (m, n, 1)

    def args(self, c):
        return [("buf", n, n) for n in ("x", "w", "bias", "y")] + [("int", n, v) for n, v in (("H", 56), ("W", 56), ("C", 128), ("OH", 28), ("OW", 28), ("F", 256), ("pixels", 24 * 784))]

    def fill(self, torch, t):
        t["x"].copy_(torch.randn_like(t["x"]))
        t["w"].copy_(torch.randn_like(t["w"]) / math.sqrt(1152))
        t["bias"].copy_(torch.randn_like(t["bias"]))

    def reference(self, torch, t):
        x = torch.nn.functional.pad(t["x"].float(), (0, 0, 1, 1, 1, 1))
        y = t["bias"].expand(24, 28, 28, 256).clone()
        for r in range(3):
            for s in range(3):
                y += x[:, r:r + 56:2, s:s + 56:2] @ t["w"][:, r, s].float().T
        return {"y": torch.relu(y)}


class Fft(CudaGroup):
    name = "fft4k"
    size = [2816, 4096]
    problem = "2816 rows of 4096 complex fp32"
    tol = 1e-4
    data = {"in": ("float32", [2816, 4096, 2]), "out": ("float32", [2816, 4096, 2]), "table": ("float32", [4096, 2])}
    configs = pick(dict(R=[2, 4, 8, 16], REP=[1, 2, 4, 8, 16], TW=[0, 1, 2, 3], PAD=[0, 1], MINB=[1, 2, 4, 8]), 16,
                   lambda c: 8 <= c["R"] * c["REP"] and c["R"] * c["REP"] <= 64 and 4096 // (c["R"] * c["REP"]) * c["MINB"] <= 2048
                   and (c["MINB"] == 1 or 4096 // (c["R"] * c["REP"]) * c["MINB"] >= 512),
                   [dict(R=8, REP=1, TW=3, PAD=1, MINB=1), dict(R=16, REP=1, TW=0, PAD=1, MINB=4), dict(R=4, REP=2, TW=0, PAD=0, MINB=1)], 403)

    def smem(self, c):
        return 8 * ((4096 + 256 if c["PAD"] else 4096) + (4096 if c["TW"] == 2 else 0))

    def block(self, c):
        return (4096 // (c["R"] * c["REP"]), 1, 1)

    def grid(self, c):
        return (2816, 1, 1)

    def args(self, c):
        return [("buf", n, n, "float2") for n in ("in", "out", "table")]

    def fill(self, torch, t):
        t["in"].copy_(torch.randn_like(t["in"]))
        a = torch.arange(4096, device="cuda", dtype=torch.float64) * (-2 * math.pi / 4096)
        t["table"].copy_(torch.stack([a.cos(), a.sin()], -1))

    def reference(self, torch, t):
        return {"out": torch.view_as_real(torch.fft.fft(torch.view_as_complex(t["in"])))}


class ClusterDecode(CudaGroup):
    name = "cluster_decode"
    B, KVH, S = 9, 8, 3072
    size = [9, 8, 4, 3072, 128]
    problem = "9 sequences of 3072 8x4x128 fp16"
    data = {"q": ("float16", [9, 8, 4, 128]), "keys": ("float16", [9, 8, 3072, 128]), "values": ("float16", [9, 8, 3072, 128]), "o": ("float16", [9, 8, 4, 128])}

    def ok(c):
        return (c["BN"] % (c["WARPS"] * 32 // c["LPK"] * c["KU"]) == 0 and 3072 // c["CL"] % c["BN"] == 0 and c["BN"] * 512 * c["STAGES"] + decode_static(c) <= SMEM - 1024
                and c["KU"] * 4 + 2 * 512 // c["LPK"] < 300 and decode_static(c) < 48000)

    configs = pick(dict(CL=[1, 2, 4, 8], WARPS=[2, 4, 8, 16], LPK=[4, 8, 16, 32], KU=[1, 2, 4, 8], BN=[32, 64, 128], STAGES=[2, 3, 4]), 16, ok,
                   [dict(CL=4, WARPS=4, LPK=16, KU=4, BN=64, STAGES=3), dict(CL=8, WARPS=8, LPK=8, KU=1, BN=64, STAGES=2), dict(CL=2, WARPS=4, LPK=4, KU=2, BN=64, STAGES=4)], 404)

    def smem(self, c):
        return c["BN"] * 512 * c["STAGES"]

    def block(self, c):
        return (32 * c["WARPS"], 1, 1)

    def cluster(self, c):
        return (c["CL"], 1, 1)

    def grid(self, c):
        return (c["CL"], 72, 1)

    def args(self, c):
        return [("buf", n, n) for n in ("q", "keys", "values", "o")] + [("float", "scale_log2", 1.4426950408889634 / math.sqrt(128)), ("int", "S", 3072)]

    def fill(self, torch, t):
        for n in ("q", "keys", "values"):
            t[n].copy_(torch.randn_like(t[n]))

    def reference(self, torch, t):
        s = t["q"].float() @ t["keys"].float().transpose(-1, -2) / math.sqrt(128)
        return {"o": torch.softmax(s, -1) @ t["values"].float()}


class Bgemm(CudaGroup):
    name = "bgemm64"
    size = [4608, 64]
    problem = "4608 of 64x64x64 fp32"
    tol = 1e-4
    data = {n: ("float32", [4608, 64, 64]) for n in ("A", "B", "C0", "C")}

    def ok(c):
        th = 4096 // (c["TM"] * c["TN"]) * c["MATS"]
        return (32 <= th <= 1024 and c["MATS"] * c["STAGES"] * 2 * 64 * 68 * 4 * c["MINB"] <= SMEM - 1024 * c["MINB"] and (c["ITER"] > 1 or c["STAGES"] == 1) and c["UNR"] * c["KV"] <= 64 and th * c["MINB"] <= 2048
                and 4 <= c["TM"] * c["TN"] <= 128 and (c["MINB"] == 1 or th * c["MINB"] >= 256) and 65536 // (th * c["MINB"]) >= 32)

    configs = pick(dict(TM=[2, 4, 8, 16], TN=[2, 4, 8], MATS=[1, 2, 4], ITER=[1, 4, 8], STAGES=[1, 2], KV=[1, 4], SPREAD=[0, 1], UNR=[1, 4, 16], MINB=[1, 2, 3]), 16, ok,
                   [dict(TM=4, TN=4, MATS=1, ITER=1, STAGES=1, KV=4, SPREAD=0, UNR=4, MINB=1), dict(TM=8, TN=4, MATS=1, ITER=4, STAGES=2, KV=4, SPREAD=0, UNR=4, MINB=2),
                    dict(TM=8, TN=8, MATS=2, ITER=4, STAGES=1, KV=1, SPREAD=1, UNR=16, MINB=2)], 405)

    def smem(self, c):
        return c["MATS"] * c["STAGES"] * 2 * 64 * 68 * 4

    def block(self, c):
        return (4096 // (c["TM"] * c["TN"]) * c["MATS"], 1, 1)

    def grid(self, c):
        return (4608 // (c["MATS"] * c["ITER"]), 1, 1)

    def args(self, c):
        return [("buf", n, n) for n in ("A", "B", "C0", "C")]

    def fill(self, torch, t):
        for n in ("A", "B", "C0"):
            t[n].copy_(torch.randn_like(t[n]))

    def reference(self, torch, t):
        return {"C": (t["A"].double() @ t["B"].double() + t["C0"].double()).float()}
