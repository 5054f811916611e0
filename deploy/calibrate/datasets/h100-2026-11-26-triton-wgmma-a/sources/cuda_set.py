"""The CUDA groups of this set: macros, launches, data."""
from triton_set import pick

SMEM = 227 * 1024
GROUPS = []


class CudaGroup:
    tol = 0.02
    static_smem = 0

    def __init_subclass__(cls):
        if cls.__dict__.get("group"):
            GROUPS.append(cls())

    def defines(self, c):
        return dict(c)


class Gemm(CudaGroup):
    name = "mc_gemm"
    source = "mc_gemm.cu"
    elt = 0

    def stage(c):
        return (64 * c["WGS"] + c["BN"]) * 128 * c["KCH"]

    def ok(c):
        if c["PG"] and c["WGS"] == 1:
            return False
        if c["WGS"] == 3 and c["BN"] > (192 if c["PG"] else 96):
            return False
        return Gemm.stage(c) * c["STAGES"] + 2048 <= SMEM

    space = dict(WGS=[1, 2, 3], BN=[64, 96, 128, 192, 256], KCH=[1, 2], STAGES=[2, 3, 4, 6], CL=[1, 2, 4], PG=[0, 1], LAG=[0, 1])

    def defines(self, c):
        return dict(c, ELT=self.elt)

    def smem(self, c):
        return Gemm.stage(c) * c["STAGES"] + 16 * c["STAGES"] + 1024

    def block(self, c):
        return (128 * c["WGS"] + (128 if c["PG"] else 32), 1, 1)

    def grid(self, c):
        return (self.size[0] // (64 * c["WGS"]), self.size[1] // c["BN"], 1)

    def cluster(self, c):
        return (c["CL"], 1, 1)

    def args(self, c):
        """('map', name, buffer, box outermost last, swizzle) | ('buf', name, buffer) | ('int', name, value) | ('float', name, value)"""
        M, N, K = self.size
        chunk = 64 if self.elt == 0 else 32
        return [("map", "ta", "A", [chunk, 64 * c["WGS"]], "128B"), ("map", "tb", "B", [chunk, c["BN"] // c["CL"]], "128B"),
                ("buf", "C", "C"), ("int", "M", M), ("int", "N", N), ("int", "K", K)]

    def fill(self, torch, t):
        t["A"].copy_(torch.randn_like(t["A"]))
        t["B"].copy_(torch.randn_like(t["B"]) / 16)

    def reference(self, torch, t):
        return {"C": t["A"].float() @ t["B"].float().T}


class GemmBf16(Gemm):
    group = True
    size = [3072, 4608, 2560]
    problem = "3072x4608x2560 bf16"
    data = {"A": ("bfloat16", [3072, 2560]), "B": ("bfloat16", [4608, 2560]), "C": ("bfloat16", [3072, 4608])}
    configs = pick(Gemm.space, 20, Gemm.ok, [dict(WGS=2, BN=256, KCH=1, STAGES=4, CL=2, PG=1, LAG=1), dict(WGS=2, BN=128, KCH=1, STAGES=6, CL=1, PG=1, LAG=0)], 21)


class GemmTf32(Gemm):
    group = True
    elt = 1
    size = [1536, 2304, 1920]
    problem = "1536x2304x1920 tf32"
    data = {"A": ("float32", [1536, 1920]), "B": ("float32", [2304, 1920]), "C": ("float32", [1536, 2304])}
    configs = pick(Gemm.space, 14, Gemm.ok, [dict(WGS=2, BN=128, KCH=1, STAGES=4, CL=2, PG=1, LAG=1)], 22)


class Stencil(CudaGroup):
    group = True
    name = "bulk_stencil"
    source = "bulk_stencil.cu"
    size = [6144, 8192]
    problem = "6144x8192 radius 2 fp32"
    tol = 1e-4
    data = {"in": ("float32", [6148, 8200]), "out": ("float32", [6144, 8192])}
    configs = pick(dict(TW=[128, 256, 512, 1024], VEC=[1, 2, 4], RPC=[1, 2, 4, 8], STAGES=[2, 3, 4, 8], RH=[32, 96, 256], PRODW=[0, 1]), 20,
                   lambda c: 32 <= c["TW"] // c["VEC"] <= 512 and c["STAGES"] * c["RPC"] * (c["TW"] + 8) * 4 <= 110000 and c["STAGES"] * c["RPC"] >= 4,
                   [dict(TW=512, VEC=4, RPC=4, STAGES=4, RH=96, PRODW=0)], 23)

    def smem(self, c):
        return c["STAGES"] * c["RPC"] * (c["TW"] + 8) * 4

    def block(self, c):
        return (c["TW"] // c["VEC"] + 32 * c["PRODW"], 1, 1)

    def grid(self, c):
        return (8192 // c["TW"], 6144 // c["RH"], 1)

    def cluster(self, c):
        return (1, 1, 1)

    def args(self, c):
        return [("buf", "in", "in"), ("buf", "out", "out"), ("float", "c0", 0.5), ("float", "c1", 0.0875), ("float", "c2", 0.0375), ("int", "W", 8192)]

    def fill(self, torch, t):
        t["in"].copy_(torch.randn_like(t["in"]))

    def reference(self, torch, t):
        x = t["in"]
        H, W = self.size
        at = lambda dy, dx: x[2 + dy:2 + dy + H, 4 + dx:4 + dx + W]
        return {"out": 0.5 * at(0, 0) + 0.0875 * (at(1, 0) + at(-1, 0) + at(0, 1) + at(0, -1)) + 0.0375 * (at(2, 0) + at(-2, 0) + at(0, 2) + at(0, -2))}


class Hist(CudaGroup):
    group = True
    name = "cluster_hist"
    source = "cluster_hist.cu"
    size = [25165824, 16384]
    problem = "24M keys 16384 bins"
    tol = 0.0
    data = {"keys": ("int32", [25165824]), "counts": ("int32", [16384])}
    zero = ["counts"]
    configs = pick(dict(CL=[1, 2, 4, 8], THREADS=[128, 256, 512, 1024], UNROLL=[1, 2, 4], BLOCKS=[1, 2, 4]), 18,
                   lambda c: c["BLOCKS"] * 65536 // c["CL"] <= 200000 and c["BLOCKS"] * c["THREADS"] <= 2048, [dict(CL=2, THREADS=512, UNROLL=2, BLOCKS=2)], 24)

    def defines(self, c):
        return dict(CL=c["CL"], THREADS=c["THREADS"], UNROLL=c["UNROLL"], BINS=16384)

    def smem(self, c):
        return 65536 // c["CL"]

    def block(self, c):
        return (c["THREADS"], 1, 1)

    def grid(self, c):
        return (132 * c["BLOCKS"] // c["CL"] * c["CL"], 1, 1)

    def cluster(self, c):
        return (c["CL"], 1, 1)

    def args(self, c):
        return [("buf", "keys", "keys", "int4"), ("buf", "counts", "counts"), ("int", "quads", self.size[0] // 4)]

    def fill(self, torch, t):
        u = torch.rand(t["keys"].shape, device="cuda")
        t["keys"].copy_((u * u.sqrt() * 16384).to(torch.int32).clamp_(0, 16383))

    def reference(self, torch, t):
        return {"counts": torch.bincount(t["keys"], minlength=16384).to(torch.int32)}
