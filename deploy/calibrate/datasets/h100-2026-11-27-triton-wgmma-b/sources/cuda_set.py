"""The CUDA groups of this set: macros, launches, data."""
import math
from triton_set import pick

SMEM = 227 * 1024
GROUPS = []


class CudaGroup:
    tol = 0.02

    def __init_subclass__(cls):
        if cls.__dict__.get("group"):
            GROUPS.append(cls())

    def defines(self, c):
        return dict(c)

    def cluster(self, c):
        return (1, 1, 1)


class Gemm(CudaGroup):
    name = "pp_gemm"
    source = "pp_gemm.cu"
    space = dict(MT=[1, 2], BN=[64, 128, 256], STAGES=[3, 4, 6, 8], ARS=[0, 1], EPI=[0, 1], PG=[0, 1], EARLY=[0, 1], BAND=[1, 4, 16])

    def bytes(c):
        return (64 * c["MT"] + c["BN"]) * 128 * c["STAGES"] + 2 * c["EPI"] * 64 * c["MT"] * c["BN"] * 2 + 16 * c["STAGES"] + 1024

    def ok(c):
        return c["MT"] * c["BN"] <= 256 and Gemm.bytes(c) <= SMEM and not (c["ARS"] and c["EARLY"])

    def defines(self, c):
        return dict(c, ELT=self.elt)

    def smem(self, c):
        return Gemm.bytes(c)

    def block(self, c):
        return (256 + (128 if c["PG"] else 32), 1, 1)

    def grid(self, c):
        return (min(132, self.size[0] // (64 * c["MT"]) * (self.size[1] // c["BN"])), 1, 1)

    def args(self, c):
        """('map', name, buffer, box outermost last, swizzle) | ('buf', name, buffer) | ('int', name, value) | ('float', name, value)"""
        M, N, K = self.size
        chunk = 64 if self.elt == 0 else 128
        return [("map", "ta", "A", [chunk, 64 * c["MT"]], "128B"), ("map", "tb", "B", [chunk, c["BN"]], "128B"), ("map", "tc", "C", [64, 64 * c["MT"]], "128B"),
                ("buf", "C", "C"), ("float", "alpha", self.alpha), ("int", "M", M), ("int", "N", N), ("int", "K", K)]

    def reference(self, torch, t):
        return {"C": (t["A"].float() @ t["B"].float().T) * self.alpha}


class GemmF16(Gemm):
    group = True
    elt, alpha = 0, 0.5
    size = [3584, 2560, 2048]
    problem = "3584x2560x2048 fp16"
    data = {"A": ("float16", [3584, 2048]), "B": ("float16", [2560, 2048]), "C": ("float16", [3584, 2560])}
    configs = pick(Gemm.space, 16, Gemm.ok, [dict(MT=2, BN=128, STAGES=4, ARS=0, EPI=1, PG=1, EARLY=0, BAND=4), dict(MT=1, BN=256, STAGES=3, ARS=1, EPI=0, PG=1, EARLY=0, BAND=16)], 41)

    def fill(self, torch, t):
        for n in "AB":
            t[n].copy_(torch.randn_like(t[n]))


class GemmS8(Gemm):
    group = True
    elt, alpha = 1, 1 / 4096
    size = [4096, 3328, 2304]
    problem = "4096x3328x2304 int8 to fp16"
    data = {"A": ("int8", [4096, 2304]), "B": ("int8", [3328, 2304]), "C": ("float16", [4096, 3328])}
    configs = pick(Gemm.space, 12, Gemm.ok, [dict(MT=2, BN=128, STAGES=4, ARS=0, EPI=1, PG=1, EARLY=1, BAND=4)], 42)

    def fill(self, torch, t):
        for n in "AB":
            t[n].copy_(torch.randint(-127, 128, t[n].shape, device="cuda", dtype=torch.int8))


class Star7(CudaGroup):
    group = True
    name = "star7"
    source = "star7.cu"
    size = [192, 384, 512]
    problem = "192x384x512 fp32"
    tol = 1e-4
    data = {"in": ("float32", [192, 384, 512]), "out": ("float32", [192, 384, 512])}

    def bytes(c):
        slot = -(-(c["TX"] + 8) * (c["TY"] + 2) * 4 // 128) * 128
        return 128 + c["STAGES"] * slot + c["STORE"] * 2 * c["TX"] * c["TY"] * 4

    def smem(self, c):
        return Star7.bytes(c)

    def block(self, c):
        return (c["TX"] // c["VX"] * (c["TY"] // c["RY"]), 1, 1)

    def grid(self, c):
        return (512 // c["TX"], 384 // c["TY"], 192 // c["ZB"])

    def args(self, c):
        return [("map", "tin", "in", [c["TX"] + 8, c["TY"] + 2, 1], "none"), ("map", "tout", "out", [c["TX"], c["TY"], 1], "none"), ("buf", "out", "out"),
                ("float", "c0", 0.4), ("float", "c1", 0.11), ("float", "c2", 0.08), ("int", "X", 512), ("int", "Y", 384)]

    def fill(self, torch, t):
        t["in"].copy_(torch.randn_like(t["in"]))

    def reference(self, torch, t):
        x = t["in"]
        p = torch.nn.functional.pad(x, (1, 1, 1, 1, 1, 1))
        at = lambda dz, dy, dx: p[1 + dz:193 + dz, 1 + dy:385 + dy, 1 + dx:513 + dx]
        return {"out": 0.4 * x + 0.11 * (at(0, 0, -1) + at(0, 0, 1) + at(0, -1, 0) + at(0, 1, 0)) + 0.08 * (at(-1, 0, 0) + at(1, 0, 0))}


Star7.configs = pick(dict(TX=[32, 64, 128], TY=[4, 8, 16, 32], VX=[1, 2, 4], RY=[1, 2, 4], ZB=[12, 24, 48, 96], STAGES=[3, 4, 6], REGZ=[0, 1], STORE=[0, 1]), 16,
                     lambda c: 64 <= c["TX"] // c["VX"] * (c["TY"] // c["RY"]) <= 512 and Star7.bytes(c) <= 110000,
                     [dict(TX=64, TY=16, VX=4, RY=1, ZB=24, STAGES=4, REGZ=1, STORE=0), dict(TX=128, TY=8, VX=4, RY=1, ZB=48, STAGES=4, REGZ=1, STORE=1)], 43)


class MmaAttn(CudaGroup):
    group = True
    name = "mma_attn"
    source = "mma_attn.cu"
    size = [2, 12, 4, 2048, 128]               # batch, heads, heads of keys, length, width
    problem = "2x12x2048x128 4 key heads fp16"
    data = {"Q": ("float16", [2, 12, 2048, 128]), "K": ("float16", [2, 4, 2048, 128]), "V": ("float16", [2, 4, 2048, 128]), "O": ("float16", [2, 12, 2048, 128])}
    configs = pick(dict(WARPS=[2, 4, 8], MW=[1, 2], BN=[16, 32, 64, 128], STAGES=[1, 2, 3], QREG=[0, 1], PACKQ=[0, 1]), 14,
                   lambda c: (16 * c["WARPS"] * c["MW"] + 2 * c["STAGES"] * c["BN"]) * 256 <= SMEM and c["BN"] * 16 >= 32 * c["WARPS"] and c["MW"] * (c["BN"] // 2 + 32 * c["QREG"] + 64) <= 192,
                   [dict(WARPS=4, MW=1, BN=64, STAGES=2, QREG=1, PACKQ=0), dict(WARPS=8, MW=1, BN=64, STAGES=2, QREG=0, PACKQ=1)], 44)

    def smem(self, c):
        return (16 * c["WARPS"] * c["MW"] + 2 * c["STAGES"] * c["BN"]) * 256

    def block(self, c):
        return (32 * c["WARPS"], 1, 1)

    def grid(self, c):
        tiles = 2048 // (16 * c["WARPS"] * c["MW"])
        return (24, tiles, 1) if c["PACKQ"] else (tiles, 24, 1)

    def args(self, c):
        return [("buf", "Q", "Q"), ("buf", "Kk", "K"), ("buf", "V", "V"), ("buf", "O", "O"), ("float", "scale", 1.4426950408889634 / math.sqrt(128)), ("int", "S", 2048), ("int", "heads", 12), ("int", "ratio", 3)]

    def fill(self, torch, t):
        for n in "QKV":
            t[n].copy_(torch.randn_like(t[n]))

    def reference(self, torch, t):
        out = torch.empty(2, 12, 2048, 128, device="cuda")
        for b in range(2):
            for h in range(12):
                q, k, v = t["Q"][b, h].float(), t["K"][b, h // 3].float(), t["V"][b, h // 3].float()
                out[b, h] = torch.softmax(q @ k.T / math.sqrt(128), -1) @ v
        return {"O": out}
