"""The CUDA groups of the fourth blind set: macros, launches, data."""
import math
from triton_set import pick, cdiv

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


def fp8_bytes(c):
    return (64 * c["WGS"] * c["MT"] + c["BN"]) * c["BK"] * c["STAGES"] + (c["WGS"] * 64 * c["BN"] * 2 if c["TMAST"] else 0) + 1024


class Fp8Ws(CudaGroup):
    name = "fp8_ws_gemm"
    size = [3840, 3072, 4608]
    problem = "3840x3072x4608 e4m3 bias silu to bf16"
    data = {"A": ("float8_e4m3fn", [3840, 4608]), "B": ("float8_e4m3fn", [3072, 4608]), "C": ("bfloat16", [3840, 3072]), "scales": ("float32", [2]), "bias": ("float32", [3072])}

    def ok(c):
        return (fp8_bytes(c) <= SMEM - 256 and c["WGS"] * c["MT"] <= 4 and c["MT"] * c["BN"] <= (128 if c["WGS"] == 3 else 256) and (c["REGS"] == 0 or c["WGS"] == 2)
                and (c["PER_SM"] != 2 or c["WGS"] == 1) and c["WGS"] * c["MT"] * c["BN"] >= 128 and not (c["WGS"] == 3 and c["MT"] > 1))

    configs = pick(dict(WGS=[1, 2, 3], MT=[1, 2], BN=[64, 128, 192, 256], BK=[64, 128], STAGES=[2, 3, 4, 6], BAND=[1, 4, 16], REGS=[0, 1], TMAST=[0, 1], PER_SM=[0, 1, 2]), 16, ok,
                   [dict(WGS=2, MT=1, BN=256, BK=128, STAGES=3, BAND=4, REGS=1, TMAST=1, PER_SM=1), dict(WGS=2, MT=1, BN=192, BK=128, STAGES=4, BAND=16, REGS=1, TMAST=1, PER_SM=1),
                    dict(WGS=2, MT=2, BN=128, BK=128, STAGES=4, BAND=4, REGS=0, TMAST=0, PER_SM=0), dict(WGS=1, MT=2, BN=128, BK=128, STAGES=3, BAND=1, REGS=0, TMAST=0, PER_SM=2)], 431)

    def defines(self, c):
        return {k: v for k, v in c.items() if k != "PER_SM"}

    def smem(self, c):
        return fp8_bytes(c)

    def block(self, c):
        return (128 * (c["WGS"] + 1), 1, 1)

    def grid(self, c):
        tiles = 3840 // (64 * c["WGS"] * c["MT"]) * (3072 // c["BN"])
        return (min(tiles, 132 * c["PER_SM"]) if c["PER_SM"] else tiles, 1, 1)

    def args(self, c):
        sw = "128B" if c["BK"] == 128 else "64B"
        return [("map", "map_a", "A", [c["BK"], 64], sw), ("map", "map_b", "B", [c["BK"], 64], sw), ("map", "map_c", "C", [64, 64], "128B"), ("buf", "scales", "scales"), ("buf", "bias", "bias"), ("buf", "C", "C"),
                ("int", "M", 3840), ("int", "N", 3072), ("int", "K", 4608)]

    def fill(self, torch, t):
        for n in "AB":
            t[n].copy_(torch.randn(t[n].shape, device="cuda"))
        t["scales"].copy_(torch.tensor([0.125, 0.25]))
        t["bias"].copy_(torch.randn_like(t["bias"]))

    def reference(self, torch, t):
        return {"C": torch.nn.functional.silu(t["A"].float() @ t["B"].float().T / 32 + t["bias"])}


def attn_bytes(c):
    return 64 * c["WGS"] * 256 + c["STAGES"] * 2 * c["BN"] * 256 + 1024


class WgmmaAttn(CudaGroup):
    name = "wgmma_attn"
    size = [2, 3072, 12, 4, 128]
    problem = "2x3072 12x4x128 full fp16"
    data = {"Q": ("float16", [6144, 1536]), "K": ("float16", [6144, 512]), "V": ("float16", [6144, 512]), "O": ("float16", [6144, 1536])}

    def ok(c):
        return attn_bytes(c) <= SMEM - 256 and (c["BN"] < 192 or c["WGS"] == 1 or c["WGS"] == 2 and c["REGS"]) and (not c["REGS"] or c["WGS"] > 1) and (c["WGS"] < 3 or c["REGS"] or c["BN"] < 128)

    configs = pick(dict(WGS=[1, 2, 3], BN=[64, 128, 192], STAGES=[1, 2, 3], OVERLAP=[0, 1], REGS=[0, 1], HEADFAST=[0, 1]), 16, ok,
                   [dict(WGS=2, BN=128, STAGES=2, OVERLAP=1, REGS=1, HEADFAST=0), dict(WGS=3, BN=128, STAGES=2, OVERLAP=1, REGS=1, HEADFAST=0), dict(WGS=2, BN=128, STAGES=2, OVERLAP=0, REGS=0, HEADFAST=1)], 432)

    def smem(self, c):
        return attn_bytes(c)

    def block(self, c):
        return (128 * c["WGS"] + (128 if c["REGS"] else 32), 1, 1)

    def grid(self, c):
        n = 3072 // (64 * c["WGS"])
        return (12, n, 2) if c["HEADFAST"] else (n, 12, 2)

    def args(self, c):
        return [("map", "map_q", "Q", [64, 64], "128B"), ("map", "map_k", "K", [64, c["BN"]], "128B"), ("map", "map_v", "V", [64, c["BN"]], "128B"), ("buf", "O", "O", "uint32"),
                ("int", "S", 3072), ("int", "H", 12), ("int", "ratio", 3), ("float", "scale", 1.4426950408889634 / math.sqrt(128))]

    def fill(self, torch, t):
        for n in "QKV":
            t[n].copy_(torch.randn_like(t[n]))

    def reference(self, torch, t):
        out = torch.empty(2, 3072, 12, 128, device="cuda")
        q, k, v = (t[n].float().reshape(2, 3072, -1, 128) for n in "QKV")
        for b in range(2):
            for h in range(12):
                out[b, :, h] = torch.softmax(q[b, :, h] @ k[b, :, h // 3].T / math.sqrt(128), -1) @ v[b, :, h // 3]
        return {"O": out.reshape(6144, 1536)}


class Bitonic(CudaGroup):
    name = "bitonic_rows"
    size = [4100, 2048]
    problem = "4100 rows of 2048 keys with indices fp32"
    tol = 1e-6
    data = {"in": ("float32", [4100, 2048]), "keys": ("float32", [4100, 2048]), "vals": ("int32", [4100, 2048])}

    def ok(c):
        th = 2048 // c["E"] * c["ROWS"]
        return th <= 1024 and c["VEC"] <= c["E"] and th * c["MINB"] <= 2048 and 65536 // (th * c["MINB"]) >= 2 * c["E"] + 14 and c["ROWS"] * c["MINB"] <= 13 and th >= 64 and (c["MINB"] == 1 or th * c["MINB"] >= 512)

    configs = pick(dict(E=[2, 4, 8, 16, 32], ROWS=[1, 2, 4], PACK=[0, 1], SHFL=[0, 1], VEC=[1, 2, 4], MINB=[1, 2, 4, 8]), 16, ok,
                   [dict(E=8, ROWS=1, PACK=0, SHFL=1, VEC=4, MINB=4), dict(E=16, ROWS=2, PACK=1, SHFL=1, VEC=4, MINB=1), dict(E=2, ROWS=1, PACK=0, SHFL=0, VEC=2, MINB=1)], 444)

    def smem(self, c):
        return c["ROWS"] * 2048 * 8

    def block(self, c):
        return (2048 // c["E"] * c["ROWS"], 1, 1)

    def grid(self, c):
        return (4100 // c["ROWS"], 1, 1)

    def args(self, c):
        return [("buf", n, n) for n in ("in", "keys", "vals")]

    def fill(self, torch, t):
        t["in"].copy_(torch.randn_like(t["in"]))

    def finish(self, torch, mine, c):
        return {"keys": mine["keys"], "vals": mine["in"].gather(1, mine["vals"].long().clamp(0, 2047))}

    def reference(self, torch, t):
        s = t["in"].sort(-1).values
        return {"keys": s, "vals": s}


class Lookback(CudaGroup):
    name = "lookback_scan"
    N = 30000001
    size = [30000001]
    problem = "30000001 int32"
    tol = 0.0
    data = {"in": ("int32", [30000001]), "out": ("int32", [30000001]), "states": ("int32", [2 * 60000]), "counters": ("int32", [2])}
    configs = pick(dict(THREADS=[64, 128, 256, 512, 1024], ITEMS=[4, 8, 12, 16, 20, 24], TRANS=[0, 1], WIDE=[0, 1], NAP=[0, 20, 200], STREAM=[0, 1]), 16,
                   lambda c: 1024 <= c["THREADS"] * c["ITEMS"] <= 16384 and (c["THREADS"] < 1024 or c["ITEMS"] <= 16),
                   [dict(THREADS=256, ITEMS=16, TRANS=1, WIDE=1, NAP=0, STREAM=0), dict(THREADS=512, ITEMS=8, TRANS=0, WIDE=1, NAP=20, STREAM=1), dict(THREADS=128, ITEMS=12, TRANS=0, WIDE=0, NAP=0, STREAM=0)], 434)

    def smem(self, c):
        n = c["THREADS"] * c["ITEMS"]
        return 4 * (n + n // 32) if c["TRANS"] else 0

    def block(self, c):
        return (c["THREADS"], 1, 1)

    def grid(self, c):
        return (cdiv(self.N, c["THREADS"] * c["ITEMS"]), 1, 1)

    def args(self, c):
        return [("buf", "in", "in"), ("buf", "out", "out"), ("buf", "states", "states", "uint64"), ("buf", "counters", "counters"), ("int", "n", self.N), ("int", "tiles", self.grid(c)[0])]

    def fill(self, torch, t):
        t["in"].copy_(torch.randint(-100, 101, t["in"].shape, device="cuda"))

    def reference(self, torch, t):
        return {"out": t["in"].long().cumsum(0).int()}


class EmbedGrad(CudaGroup):
    name = "embed_grad_bulk"
    size = [12300, 1536, 32000]
    problem = "12300x1536 into 32000 rows fp32"
    tol = 1e-4
    zero = ["dW"]
    data = {"G": ("float32", [12300, 1536]), "ids": ("int32", [12300]), "dW": ("float32", [32000, 1536])}
    configs = pick(dict(WARPS=[1, 2, 4, 8], CHUNK=[128, 256, 512, 768, 1536], STAGES=[2, 3, 4, 6], MODE=[0, 1, 2, 3], PER_SM=[1, 2, 4, 8], PIECEFAST=[0, 1]), 16,
                   lambda c: c["WARPS"] * c["CHUNK"] * c["STAGES"] * 4 <= (SMEM - 1024 * c["PER_SM"]) // c["PER_SM"] - 512 and c["WARPS"] * c["PER_SM"] >= 4 and c["CHUNK"] * c["STAGES"] * c["WARPS"] * c["PER_SM"] >= 6144,
                   [dict(WARPS=4, CHUNK=1536, STAGES=3, MODE=0, PER_SM=2, PIECEFAST=1), dict(WARPS=8, CHUNK=512, STAGES=3, MODE=1, PER_SM=4, PIECEFAST=1), dict(WARPS=4, CHUNK=512, STAGES=4, MODE=3, PER_SM=4, PIECEFAST=0)], 440)

    def defines(self, c):
        return {k: v for k, v in c.items() if k != "PER_SM"}

    def smem(self, c):
        return c["WARPS"] * c["CHUNK"] * c["STAGES"] * 4

    def block(self, c):
        return (32 * c["WARPS"], 1, 1)

    def grid(self, c):
        return (132 * c["PER_SM"], 1, 1)

    def args(self, c):
        return [("buf", n, n) for n in ("G", "ids", "dW")] + [("int", "tokens", 12300), ("int", "D", 1536)]

    def fill(self, torch, t):
        t["G"].copy_(torch.randn_like(t["G"]))
        t["ids"].copy_((torch.rand(12300, device="cuda") ** 4 * 32000).long().clamp(max=31999))

    def reference(self, torch, t):
        return {"dW": torch.zeros(32000, 1536, device="cuda").index_add_(0, t["ids"].long(), t["G"])}


class Tf32x3(CudaGroup):
    name = "tf32x3_gemm"
    size = [1250, 1920, 2048]
    problem = "1250x1920x2048 fp32 by three tf32"
    tol = 1e-4
    data = {"A": ("float32", [1250, 2048]), "B": ("float32", [2048, 1920]), "C": ("float32", [1250, 1920])}

    def ok(c):
        th = 32 * c["WM"] * c["WN"]
        tm, tn = c["BM"] / c["WM"], c["BN"] / c["WN"]
        acc = tm * tn / 32
        return (tm % 16 == 0 and tn % 8 == 0 and 64 <= th <= 512 and 8 <= acc <= 128 and Tf32x3.smem(None, c) * c["MINB"] <= SMEM - 1024 * c["MINB"] and (c["MINB"] == 1 or th * c["MINB"] >= 256)
                and 65536 // (th * c["MINB"]) >= acc + 24 and c["BM"] * c["BK"] // 4 >= th and (c["VEC16"] or c["BN"] <= 128))

    def smem(self, c):
        return (c["BM"] * (c["BK"] + 4) + c["BK"] * (c["BN"] + 8)) * 4 * c["STAGES"]

    def block(self, c):
        return (32 * c["WM"] * c["WN"], 1, 1)

    def grid(self, c):
        m, n = cdiv(1250, c["BM"]), 1920 // c["BN"]
        return (n, m, 1) if c["NFAST"] else (m, n, 1)

    def args(self, c):
        return [("buf", n, n) for n in "ABC"] + [("int", "M", 1250), ("int", "N", 1920), ("int", "K", 2048)]

    def fill(self, torch, t):
        for n in "AB":
            t[n].copy_(torch.randn_like(t[n]))

    def reference(self, torch, t):
        return {"C": (t["A"].double() @ t["B"].double()).float()}


Tf32x3.configs = pick(dict(BM=[32, 64, 128, 256], BN=[64, 96, 128, 192], BK=[8, 16, 32], WM=[1, 2, 4], WN=[1, 2, 4], STAGES=[2, 3, 4, 5], MINB=[1, 2, 3], NFAST=[0, 1], VEC16=[0, 1]), 16, Tf32x3.ok,
                      [dict(BM=128, BN=128, BK=16, WM=2, WN=4, STAGES=3, MINB=1, NFAST=1, VEC16=1), dict(BM=128, BN=64, BK=32, WM=2, WN=2, STAGES=3, MINB=2, NFAST=1, VEC16=1), dict(BM=64, BN=64, BK=16, WM=2, WN=2, STAGES=4, MINB=2, NFAST=0, VEC16=0)], 436)
