"""Triton kernels of this set: ten groups. Each group says its kernel, its data, its arguments and the space it is tuned over."""
import math, random
import triton
import triton.language as tl


# ---------------------------------------------------------------- 1. gate and up projections that share their input, SwiGLU
@triton.jit
def swiglu_gate_up(X, Wg, Wu, H, M, N, K, sx, sw, sh, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, BAND: tl.constexpr):
    pid = tl.program_id(0)
    tiles_m = tl.cdiv(M, BLOCK_M)
    tiles_n = tl.cdiv(N, BLOCK_N)
    band = pid // (BAND * tiles_n)
    first = band * BAND
    width = tl.minimum(tiles_m - first, BAND)
    left = pid - band * BAND * tiles_n
    ms = (first + left % width) * BLOCK_M + tl.arange(0, BLOCK_M)
    ns = (left // width) * BLOCK_N + tl.arange(0, BLOCK_N)
    ks = tl.arange(0, BLOCK_K)
    xp = X + ms[:, None] * sx + ks[None, :]
    off = ns[None, :] * sw + ks[:, None]
    gp = Wg + off
    up = Wu + off
    gate = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    lift = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for k in range(0, K, BLOCK_K):
        x = tl.load(xp)
        g = tl.load(gp)
        u = tl.load(up)
        gate = tl.dot(x, g, gate)
        lift = tl.dot(x, u, lift)
        xp += BLOCK_K
        gp += BLOCK_K
        up += BLOCK_K
    h = gate / (1.0 + tl.exp(-gate)) * lift
    tl.store(H + ms[:, None] * sh + ns[None, :], h.to(tl.bfloat16))


# ---------------------------------------------------------------- 2. stream-K: every program does the same number of steps along K
@triton.jit
def span(A, B, C, tile, k0, k1, whole, tiles_m, lda, ldb, ldc, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    ms = (tile % tiles_m) * BLOCK_M + tl.arange(0, BLOCK_M)
    ns = (tile // tiles_m) * BLOCK_N + tl.arange(0, BLOCK_N)
    ks = k0 * BLOCK_K + tl.arange(0, BLOCK_K)
    ap = A + ms[:, None] * lda + ks[None, :]
    bp = B + ks[:, None] * ldb + ns[None, :]
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for _ in range(k0, k1):
        acc = tl.dot(tl.load(ap), tl.load(bp), acc)
        ap += BLOCK_K
        bp += BLOCK_K * ldb
    cp = C + ms[:, None] * ldc + ns[None, :]
    if whole:
        tl.store(cp, acc)
    else:
        tl.atomic_add(cp, acc, sem="relaxed")


@triton.jit
def streamk_mm(A, B, C, M, N, K, lda, ldb, ldc, ahead, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    pid = tl.program_id(0)
    programs = tl.num_programs(0)
    tiles_m = tl.cdiv(M, BLOCK_M)
    tiles = tiles_m * tl.cdiv(N, BLOCK_N)
    steps = tl.cdiv(K, BLOCK_K)
    shared = (tiles - ahead) * steps
    each = shared // programs
    more = shared % programs
    at = pid * each + tl.minimum(pid, more)
    end = at + each + (pid < more).to(tl.int32)
    while at < end:
        tile = at // steps
        k0 = at % steps
        k1 = tl.minimum(steps, k0 + end - at)
        span(A, B, C, tile, k0, k1, k1 - k0 == steps, tiles_m, lda, ldb, ldc, BLOCK_M, BLOCK_N, BLOCK_K)
        at += k1 - k0
    for tile in range(tiles - ahead + pid, tiles, programs):
        span(A, B, C, tile, 0, steps, True, tiles_m, lda, ldb, ldc, BLOCK_M, BLOCK_N, BLOCK_K)


# ---------------------------------------------------------------- 3. attention backward: the gradients of keys and values, causal
@triton.jit
def attn_back_dkv(Q, K, V, DO, Lse, Delta, DK, DV, scale2, scale, S, D: tl.constexpr, BLOCK_KV: tl.constexpr, BLOCK_Q: tl.constexpr, PEEL: tl.constexpr):
    kv0 = tl.program_id(0) * BLOCK_KV
    bh = tl.program_id(1)
    base = bh.to(tl.int64) * S * D
    js = kv0 + tl.arange(0, BLOCK_KV)
    ds = tl.arange(0, D)
    tile = js[:, None] * D + ds[None, :]
    k = tl.load(K + base + tile)
    v = tl.load(V + base + tile)
    dk = tl.zeros((BLOCK_KV, D), tl.float32)
    dv = tl.zeros((BLOCK_KV, D), tl.float32)
    start = kv0 // BLOCK_Q * BLOCK_Q
    for q0 in range(start, S, BLOCK_Q):
        qs = q0 + tl.arange(0, BLOCK_Q)
        q = tl.load(Q + base + qs[:, None] * D + ds[None, :])
        lse = tl.load(Lse + bh * S + qs)
        p = tl.exp2(tl.dot(k, tl.trans(q)) * scale2 - lse[None, :])
        if PEEL:
            if q0 < kv0 + BLOCK_KV:
                p = tl.where(qs[None, :] >= js[:, None], p, 0.0)
        else:
            p = tl.where(qs[None, :] >= js[:, None], p, 0.0)
        do = tl.load(DO + base + qs[:, None] * D + ds[None, :])
        dv = tl.dot(p.to(tl.bfloat16), do, dv)
        delta = tl.load(Delta + bh * S + qs)
        dp = tl.dot(v, tl.trans(do))
        g = p * (dp - delta[None, :])
        dk = tl.dot(g.to(tl.bfloat16), q, dk)
    tl.store(DV + base + tile, dv.to(tl.bfloat16))
    tl.store(DK + base + tile, (dk * scale).to(tl.bfloat16))


# ---------------------------------------------------------------- 4. decoding over pages of keys and values, one pass
@triton.jit
def paged_decode(Q, Kp, Vp, Table, Lens, O, scale2, st, heads, PAGE: tl.constexpr, G: tl.constexpr, D: tl.constexpr, BLOCK_N: tl.constexpr, HEAD_FIRST: tl.constexpr):
    if HEAD_FIRST:
        kvh = tl.program_id(0)
        b = tl.program_id(1)
    else:
        b = tl.program_id(0)
        kvh = tl.program_id(1)
    length = tl.load(Lens + b)
    gs = tl.arange(0, 16)
    ds = tl.arange(0, D)
    at = (b * heads + kvh) * G * D + gs[:, None] * D + ds[None, :]
    live = (gs < G)[:, None] & (ds >= 0)[None, :]
    q = tl.load(Q + at, mask=live, other=0.0)
    top = tl.full((16,), -1.0e30, tl.float32)
    l = tl.zeros((16,), tl.float32)
    acc = tl.zeros((16, D), tl.float32)
    for j in range(0, length, BLOCK_N):
        js = j + tl.arange(0, BLOCK_N)
        inside = js < length
        page = tl.load(Table + b * st + js // PAGE, mask=inside, other=0).to(tl.int64)
        row = ((page * PAGE + js % PAGE) * heads + kvh) * D
        k = tl.load(Kp + row[None, :] + ds[:, None], mask=inside[None, :], other=0.0)
        s = tl.where(inside[None, :], tl.dot(q, k) * scale2, -1.0e30)
        m = tl.maximum(top, tl.max(s, 1))
        p = tl.exp2(s - m[:, None])
        a = tl.exp2(top - m)
        l = l * a + tl.sum(p, 1)
        v = tl.load(Vp + row[:, None] + ds[None, :], mask=inside[:, None], other=0.0)
        acc = tl.dot(p.to(tl.float16), v, acc * a[:, None])
        top = m
    tl.store(O + at, (acc / l[:, None]).to(tl.float16), mask=live)


# ---------------------------------------------------------------- 5. group normalisation and SiLU, channels before pixels
@triton.jit
def groupnorm_silu(X, W, B, Y, eps, groups, PIX: tl.constexpr, CG: tl.constexpr, CHUNK: tl.constexpr):
    g = tl.program_id(0)
    n = tl.program_id(1).to(tl.int64)
    SIZE: tl.constexpr = PIX * CG
    base = (n * groups + g) * SIZE
    total = tl.zeros((CHUNK,), tl.float32)
    square = tl.zeros((CHUNK,), tl.float32)
    for c in range(0, SIZE, CHUNK):
        i = c + tl.arange(0, CHUNK)
        x = tl.load(X + base + i, mask=i < SIZE, other=0.0).to(tl.float32)
        total += x
        square += x * x
    mean = tl.sum(total, 0) / SIZE
    inv = tl.rsqrt(tl.maximum(tl.sum(square, 0) / SIZE - mean * mean, 0.0) + eps)
    for c in range(0, SIZE, CHUNK):
        i = c + tl.arange(0, CHUNK)
        ok = i < SIZE
        x = tl.load(X + base + i, mask=ok, other=0.0, eviction_policy="evict_first").to(tl.float32)
        ch = g * CG + i // PIX
        y = (x - mean) * inv * tl.load(W + ch, mask=ok, other=0.0) + tl.load(B + ch, mask=ok, other=0.0)
        tl.store(Y + base + i, (y * tl.sigmoid(y)).to(tl.float16), mask=ok)


# ---------------------------------------------------------------- 6. retention: linear attention with decay, chunk after chunk
@triton.jit
def retention_chunks(Q, K, V, O, Decay, scale, S, heads, D: tl.constexpr, CHUNK: tl.constexpr, BLOCK_V: tl.constexpr):
    tv = tl.program_id(0)
    bh = tl.program_id(1)
    b = (bh // heads).to(tl.int64)
    h = bh % heads
    st = heads * D
    base = b * S * st + h * D
    log = tl.load(Decay + h)
    i = tl.arange(0, CHUNK)
    ds = tl.arange(0, D)
    vs = tv * BLOCK_V + tl.arange(0, BLOCK_V)
    gap = i[:, None] - i[None, :]
    inner = tl.where(gap >= 0, tl.exp2(log * tl.maximum(gap, 0).to(tl.float32)), 0.0) * scale
    enter = tl.exp2(log * (i + 1).to(tl.float32)) * scale
    leave = tl.exp2(log * (CHUNK - 1 - i).to(tl.float32))
    fade = tl.exp2(log * CHUNK)
    state = tl.zeros((D, BLOCK_V), tl.float32)
    for c in range(0, S, CHUNK):
        rows = c + i
        q = tl.load(Q + base + rows[:, None] * st + ds[None, :])
        k = tl.load(K + base + rows[None, :] * st + ds[:, None])
        v = tl.load(V + base + rows[:, None] * st + vs[None, :])
        o = tl.dot(q, state.to(tl.bfloat16)) * enter[:, None]
        p = tl.dot(q, k) * inner
        o = tl.dot(p.to(tl.bfloat16), v, o)
        tl.store(O + base + rows[:, None] * st + vs[None, :], o.to(tl.bfloat16))
        state = tl.dot((k.to(tl.float32) * leave[None, :]).to(tl.bfloat16), v, state * fade)


# ---------------------------------------------------------------- 7. rows to fp8 with a scale for every 128 columns
@triton.jit
def quant_groups_e4m3(X, Y, Scale, N, BLOCK_R: tl.constexpr, GROUPS: tl.constexpr, LOOPS: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_R + tl.arange(0, BLOCK_R)
    for t in range(LOOPS):
        g = (tl.program_id(1) * LOOPS + t) * GROUPS + tl.arange(0, GROUPS)
        off = rows[:, None, None] * N + g[None, :, None] * 128 + tl.arange(0, 128)[None, None, :]
        x = tl.load(X + off).to(tl.float32)
        scale = tl.maximum(tl.max(tl.abs(x), 2), 1.0e-6) * (1.0 / 448.0)
        y = x * (1.0 / scale)[:, :, None]
        y = tl.minimum(tl.maximum(y, -448.0), 448.0)
        tl.store(Y + off, y.to(tl.float8e4nv))
        tl.store(Scale + rows[:, None] * (N // 128) + g[None, :], scale)


# ---------------------------------------------------------------- 8. routing: softmax over the experts, the eight largest
@triton.jit
def router_top8(Logits, Weights, Ids, rows, E: tl.constexpr, BLOCK_T: tl.constexpr, SORT: tl.constexpr):
    ts = tl.program_id(0) * BLOCK_T + tl.arange(0, BLOCK_T)
    es = tl.arange(0, E)
    x = tl.load(Logits + ts[:, None] * E + es[None, :])
    slot = tl.arange(0, 8)
    if SORT:
        bits = x.to(tl.int32, bitcast=True)
        order = bits ^ ((bits >> 31) & 0x7FFFFFFF)
        both = (order.to(tl.int64) << 32) | (E - 1 - es)[None, :].to(tl.int64)
        best = tl.topk(both, 8, 1)
        ids = E - 1 - (best & 0xFFFFFFFF).to(tl.int32)
        order = (best >> 32).to(tl.int32)
        vals = (order ^ ((order >> 31) & 0x7FFFFFFF)).to(tl.float32, bitcast=True)
    else:
        vals = tl.zeros((BLOCK_T, 8), tl.float32)
        ids = tl.zeros((BLOCK_T, 8), tl.int32)
        for j in tl.static_range(8):
            v, i = tl.max(x, 1, return_indices=True)
            vals = tl.where(slot[None, :] == j, v[:, None], vals)
            ids = tl.where(slot[None, :] == j, i[:, None], ids)
            x = tl.where(es[None, :] == i[:, None], float("-inf"), x)
    w = tl.exp(vals - tl.max(vals, 1)[:, None])
    w = w / tl.sum(w, 1)[:, None]
    at = ts[:, None] * 8 + slot[None, :]
    tl.store(Weights + at, w)
    tl.store(Ids + at, ids)


# ---------------------------------------------------------------- 9. depthwise 7x7, channels last
@triton.jit
def dwconv7_nhwc(X, W, Bias, Y, HH, WW, C, BLOCK_W: tl.constexpr, BLOCK_C: tl.constexpr, ROWS: tl.constexpr, C_FIRST: tl.constexpr):
    if C_FIRST:
        tc = tl.program_id(0)
        tw = tl.program_id(1)
    else:
        tw = tl.program_id(0)
        tc = tl.program_id(1)
    strips = HH // ROWS
    n = (tl.program_id(2) // strips).to(tl.int64)
    h0 = (tl.program_id(2) % strips) * ROWS
    cs = tc * BLOCK_C + tl.arange(0, BLOCK_C)
    ws = tw * BLOCK_W + tl.arange(0, BLOCK_W)
    base = n * HH * WW * C
    bias = tl.load(Bias + cs)
    for h in range(h0, h0 + ROWS):
        acc = tl.zeros((BLOCK_W, BLOCK_C), tl.float32) + bias[None, :]
        for r in range(7):
            y = h + r - 3
            for s in tl.static_range(7):
                x = ws + (s - 3)
                ok = (x >= 0) & (x < WW) & (y >= 0) & (y < HH)
                v = tl.load(X + base + (y * WW + x)[:, None] * C + cs[None, :], mask=ok[:, None], other=0.0)
                acc += v.to(tl.float32) * tl.load(W + (r * 7 + s) * C + cs)[None, :]
        tl.store(Y + base + (h * WW + ws)[:, None] * C + cs[None, :], acc.to(tl.float16))


# ---------------------------------------------------------------- 10. [b, s, h, d] to [b, h, d, s]
@triton.jit
def permute_bshd_bhds(X, Y, S, heads, D: tl.constexpr, BLOCK_S: tl.constexpr, BLOCK_D: tl.constexpr, TURN: tl.constexpr, S_FIRST: tl.constexpr):
    parts: tl.constexpr = D // BLOCK_D
    if S_FIRST:
        ts = tl.program_id(0)
        hd = tl.program_id(1)
    else:
        hd = tl.program_id(0)
        ts = tl.program_id(1)
    b = tl.program_id(2).to(tl.int64)
    h = hd // parts
    ss = ts * BLOCK_S + tl.arange(0, BLOCK_S)
    ds = (hd % parts) * BLOCK_D + tl.arange(0, BLOCK_D)
    xb = X + (b * S * heads + h) * D
    yb = Y + (b * heads + h) * D * S
    if TURN:
        x = tl.trans(tl.load(xb + ss[:, None] * (heads * D) + ds[None, :]))
        tl.store(yb + ds[:, None] * S + ss[None, :], x)
    else:
        x = tl.load(xb + ss[None, :] * (heads * D) + ds[:, None])
        tl.store(yb + ds[:, None] * S + ss[None, :], x)


# ================================================================ the groups
def pick(space, n, ok=lambda c: True, first=(), seed=1):
    """n configurations of a product of lists, drawn with a fixed seed, those of `first` among them"""
    keys = list(space)
    every = [{}]
    for k in keys:
        every = [dict(c, **{k: v}) for c in every for v in space[k]]
    every = [c for c in every if ok(c)]
    for f in first:
        assert f in every, f
    rest = [c for c in every if c not in first]
    random.Random(seed).shuffle(rest)
    return list(first) + rest[:max(0, n - len(first))]


def cdiv(a, b):
    return -(-a // b)


GROUPS = []


class Group:
    scratch = False
    tol = 0.02

    def __init_subclass__(cls):
        g = cls()
        g.name = g.kernel.__name__
        GROUPS.append(g)

    def meta(self, c):
        return dict(c)


class SwiGlu(Group):
    kernel = swiglu_gate_up
    size = [1536, 3584, 2048]
    problem = "1536x3584x2048 bf16"
    data = {"X": ("bfloat16", [1536, 2048]), "Wg": ("bfloat16", [3584, 2048]), "Wu": ("bfloat16", [3584, 2048]), "H": ("bfloat16", [1536, 3584])}
    configs = pick(dict(BLOCK_M=[64, 128, 256], BLOCK_N=[32, 64, 128], BLOCK_K=[32, 64, 128], BAND=[1, 4, 12], num_warps=[4, 8], num_stages=[2, 3, 4, 5]), 15,
                   lambda c: (c["BLOCK_M"] + 2 * c["BLOCK_N"]) * c["BLOCK_K"] * 2 * c["num_stages"] <= 222000 and 16 <= c["BLOCK_M"] * c["BLOCK_N"] // (32 * c["num_warps"]) <= 64,
                   [dict(BLOCK_M=128, BLOCK_N=128, BLOCK_K=64, BAND=4, num_warps=8, num_stages=3), dict(BLOCK_M=128, BLOCK_N=64, BLOCK_K=64, BAND=12, num_warps=4, num_stages=4)], 31)

    def args(self, t, c):
        M, N, K = self.size
        return [t("X"), t("Wg"), t("Wu"), t("H"), M, N, K, K, K, N]

    def grid(self, c):
        return (cdiv(self.size[0], c["BLOCK_M"]) * cdiv(self.size[1], c["BLOCK_N"]), 1, 1)

    def fill(self, torch, t):
        t["X"].copy_(torch.randn_like(t["X"]))
        for n in ("Wg", "Wu"):
            t[n].copy_(torch.randn_like(t[n]) / math.sqrt(self.size[2]))

    def reference(self, torch, t):
        x = t["X"].float()
        return {"H": torch.nn.functional.silu(x @ t["Wg"].float().T) * (x @ t["Wu"].float().T)}


class StreamK(Group):
    kernel = streamk_mm
    size = [1792, 2304, 3072]
    problem = "1792x2304x3072 fp16 to fp32"
    data = {"A": ("float16", [1792, 3072]), "B": ("float16", [3072, 2304]), "C": ("float32", [1792, 2304])}
    zero = ["C"]
    configs = pick(dict(BLOCK_M=[64, 128, 256], BLOCK_N=[64, 128, 256], BLOCK_K=[32, 64, 128], PROGRAMS=[132, 264], MIXED=[0, 1], num_warps=[4, 8], num_stages=[3, 4, 5]), 15,
                   lambda c: (c["BLOCK_M"] + c["BLOCK_N"]) * c["BLOCK_K"] * 2 * c["num_stages"] <= 222000 // (c["PROGRAMS"] // 132) and 32 <= c["BLOCK_M"] * c["BLOCK_N"] // (32 * c["num_warps"]) <= 128,
                   [dict(BLOCK_M=128, BLOCK_N=128, BLOCK_K=64, PROGRAMS=132, MIXED=1, num_warps=8, num_stages=4), dict(BLOCK_M=128, BLOCK_N=256, BLOCK_K=64, PROGRAMS=132, MIXED=0, num_warps=8, num_stages=3)], 32)

    def args(self, t, c):
        M, N, K = self.size
        tiles = cdiv(M, c["BLOCK_M"]) * cdiv(N, c["BLOCK_N"])
        ahead = max(0, tiles // c["PROGRAMS"] - 1) * c["PROGRAMS"] if c["MIXED"] else 0
        return [t("A"), t("B"), t("C"), M, N, K, K, N, N, ahead]

    def meta(self, c):
        return {k: v for k, v in c.items() if k not in ("PROGRAMS", "MIXED")}

    def grid(self, c):
        return (c["PROGRAMS"], 1, 1)

    def fill(self, torch, t):
        for n in "AB":
            t[n].copy_(torch.randn_like(t[n]) / 8)

    def reference(self, torch, t):
        return {"C": t["A"].float() @ t["B"].float()}


class Dkv(Group):
    kernel = attn_back_dkv
    size = [2, 9, 2048, 128]
    problem = "2x9x2048x128 causal bf16"
    data = dict({n: ("bfloat16", [2, 9, 2048, 128]) for n in ("Q", "K", "V", "DO", "DK", "DV")}, Lse=("float32", [2, 9, 2048]), Delta=("float32", [2, 9, 2048]))
    configs = pick(dict(BLOCK_KV=[32, 64, 128], BLOCK_Q=[16, 32, 64, 128], PEEL=[0, 1], num_warps=[4, 8], num_stages=[1, 2, 3, 4]), 14,
                   lambda c: 32 <= c["BLOCK_KV"] * 128 // (32 * c["num_warps"]) <= 64 and c["BLOCK_KV"] * c["BLOCK_Q"] // (32 * c["num_warps"]) <= 64 and (c["BLOCK_Q"] * c["num_stages"] <= 256)
                   and c["BLOCK_KV"] * c["BLOCK_Q"] >= 1024,
                   [dict(BLOCK_KV=128, BLOCK_Q=64, PEEL=0, num_warps=8, num_stages=2), dict(BLOCK_KV=64, BLOCK_Q=64, PEEL=1, num_warps=4, num_stages=2)], 33)

    def args(self, t, c):
        B, H, S, D = self.size
        return [t(n) for n in ("Q", "K", "V", "DO", "Lse", "Delta", "DK", "DV")] + [1.4426950408889634 / math.sqrt(D), 1.0 / math.sqrt(D), S]

    def meta(self, c):
        return dict(c, D=128)

    def grid(self, c):
        return (self.size[2] // c["BLOCK_KV"], self.size[0] * self.size[1], 1)

    def heads(self, torch, t):
        B, H, S, D = self.size
        late = torch.ones(S, S, device="cuda", dtype=torch.bool).triu(1)
        for b in range(B):
            for h in range(H):
                q, k, v, do = (t[n][b, h].float() for n in ("Q", "K", "V", "DO"))
                s = ((q @ k.T) / math.sqrt(D)).masked_fill(late, float("-inf"))
                yield b, h, q, k, v, do, s

    def fill(self, torch, t):
        for n in ("Q", "K", "V", "DO"):
            t[n].copy_(torch.randn_like(t[n]))
        for b, h, q, k, v, do, s in self.heads(torch, t):
            t["Lse"][b, h] = torch.logsumexp(s, -1) * 1.4426950408889634
            t["Delta"][b, h] = ((torch.softmax(s, -1) @ v) * do).sum(-1)

    def reference(self, torch, t):
        B, H, S, D = self.size
        dk, dv = torch.empty(B, H, S, D, device="cuda"), torch.empty(B, H, S, D, device="cuda")
        for b, h, q, k, v, do, s in self.heads(torch, t):
            p = torch.softmax(s, -1)
            dv[b, h] = p.T @ do
            dk[b, h] = (p * (do @ v.T - t["Delta"][b, h][:, None])).T @ q / math.sqrt(D)
        return {"DK": dk, "DV": dv}


class Paged(Group):
    kernel = paged_decode
    B, KVH, G, D, PAGE, MOST = 44, 6, 8, 128, 16, 4096
    size = [44, 6, 8, 128, 16, 4096]           # sequences, heads of keys, queries a head, width, tokens a page, tokens at most
    problem = "44 sequences to 4096 6x8x128 pages of 16 fp16"
    data = {"Q": ("float16", [44, 48, 128]), "Kp": ("float16", [7000, 16, 6, 128]), "Vp": ("float16", [7000, 16, 6, 128]), "Table": ("int32", [44, 256]), "Lens": ("int32", [44]), "O": ("float16", [44, 48, 128])}
    configs = pick(dict(BLOCK_N=[16, 32, 64, 128, 256], HEAD_FIRST=[0, 1], num_warps=[1, 2, 4, 8], num_stages=[1, 2, 3, 4, 6]), 15,
                   lambda c: c["BLOCK_N"] * 512 * c["num_stages"] <= 210000 and 16 <= c["BLOCK_N"] * 128 // (32 * c["num_warps"]) <= 256 and c["BLOCK_N"] >= 8 * c["num_warps"],
                   [dict(BLOCK_N=64, HEAD_FIRST=1, num_warps=4, num_stages=3)], 34)

    def plan(self):
        r = random.Random(4711)
        lens = [r.randint(300, self.MOST) for _ in range(self.B)]
        pages = list(range(7000))
        r.shuffle(pages)
        table = []
        for n in lens:
            need = cdiv(n, self.PAGE)
            table.append([pages.pop() for _ in range(need)] + [0] * (256 - need))
        return lens, table

    def args(self, t, c):
        return [t("Q"), t("Kp"), t("Vp"), t("Table"), t("Lens"), t("O"), 1.4426950408889634 / math.sqrt(self.D), 256, self.KVH]

    def meta(self, c):
        return dict(c, PAGE=self.PAGE, G=self.G, D=self.D)

    def grid(self, c):
        return (self.KVH, self.B, 1) if c["HEAD_FIRST"] else (self.B, self.KVH, 1)

    def fill(self, torch, t):
        for n in ("Q", "Kp", "Vp"):
            t[n].copy_(torch.randn_like(t[n]))
        lens, table = self.plan()
        t["Lens"].copy_(torch.tensor(lens, dtype=torch.int32))
        t["Table"].copy_(torch.tensor(table, dtype=torch.int32))

    def reference(self, torch, t):
        out = torch.empty(self.B, self.KVH, self.G, self.D, device="cuda")
        lens, _ = self.plan()
        for b, n in enumerate(lens):
            pages = t["Table"][b, :cdiv(n, self.PAGE)].long()
            k, v = (t[x][pages].reshape(-1, self.KVH, self.D)[:n].float().transpose(0, 1) for x in ("Kp", "Vp"))
            q = t["Q"][b].float().reshape(self.KVH, self.G, self.D)
            out[b] = torch.softmax(q @ k.transpose(1, 2) / math.sqrt(self.D), -1) @ v
        return {"O": out.reshape(self.B, -1, self.D)}


class GroupNorm(Group):
    kernel = groupnorm_silu
    size = [24, 512, 2304, 32]                 # pictures, channels, pixels, groups
    problem = "24x512x48x48 32 groups fp16"
    data = {"X": ("float16", [24, 512, 2304]), "W": ("float32", [512]), "B": ("float32", [512]), "Y": ("float16", [24, 512, 2304])}
    configs = pick(dict(CHUNK=[512, 1024, 2048, 4096, 8192, 16384, 65536], num_warps=[2, 4, 8, 16, 32], num_stages=[1, 2, 4]), 14,
                   lambda c: 4 <= c["CHUNK"] // (32 * c["num_warps"]) <= 64, [dict(CHUNK=4096, num_warps=8, num_stages=1), dict(CHUNK=65536, num_warps=32, num_stages=1)], 35)

    def args(self, t, c):
        return [t("X"), t("W"), t("B"), t("Y"), 1e-5, 32]

    def meta(self, c):
        return dict(c, PIX=2304, CG=16)

    def grid(self, c):
        return (32, self.size[0], 1)

    def fill(self, torch, t):
        t["X"].copy_(torch.randn_like(t["X"]) + 0.5)
        for n in "WB":
            t[n].copy_(torch.randn_like(t[n]))

    def reference(self, torch, t):
        return {"Y": torch.nn.functional.silu(torch.nn.functional.group_norm(t["X"].float(), 32, t["W"], t["B"], 1e-5))}


class Retention(Group):
    kernel = retention_chunks
    size = [2, 4096, 20, 128]
    problem = "2x4096x20x128 bf16"
    tol = 0.03
    data = dict({n: ("bfloat16", [2, 4096, 20, 128]) for n in "QKVO"}, Decay=("float32", [20]))
    configs = pick(dict(CHUNK=[16, 32, 64, 128], BLOCK_V=[32, 64, 128], num_warps=[2, 4, 8], num_stages=[1, 2, 3, 4]), 14,
                   lambda c: c["CHUNK"] * (256 + c["BLOCK_V"]) * 2 * c["num_stages"] <= 160000 and 16 <= 128 * c["BLOCK_V"] // (32 * c["num_warps"]) <= 128 and c["CHUNK"] * c["CHUNK"] // (32 * c["num_warps"]) <= 64
                   and (c["CHUNK"], c["num_warps"]) not in ((16, 8), (16, 4), (32, 8)),
                   [dict(CHUNK=64, BLOCK_V=64, num_warps=4, num_stages=2)], 36)

    def args(self, t, c):
        return [t("Q"), t("K"), t("V"), t("O"), t("Decay"), 1.0 / math.sqrt(128), self.size[1], self.size[2]]

    def meta(self, c):
        return dict(c, D=128)

    def grid(self, c):
        return (128 // c["BLOCK_V"], self.size[0] * self.size[2], 1)

    def fill(self, torch, t):
        for n in "QKV":
            t[n].copy_(torch.randn_like(t[n]))
        t["Decay"].copy_(torch.log2(1.0 - 2.0 ** (-4.0 - 0.2 * torch.arange(20, device="cuda"))))

    def reference(self, torch, t):
        B, S, H, D = self.size
        out = torch.empty(B, S, H, D, device="cuda")
        i = torch.arange(S, device="cuda")
        gap = (i[:, None] - i[None, :]).float()
        for h in range(H):
            w = torch.where(gap >= 0, torch.exp2(t["Decay"][h] * gap.clamp(min=0)), torch.zeros_like(gap)) / math.sqrt(D)
            for b in range(B):
                q, k, v = (t[n][b, :, h].float() for n in "QKV")
                out[b, :, h] = ((q @ k.T) * w) @ v
        return {"O": out}


class Quant(Group):
    kernel = quant_groups_e4m3
    size = [6144, 7168, 128]
    problem = "6144x7168 groups of 128 bf16 to e4m3"
    tol = 0.075                                # one step of e4m3 at the top of its range is 32 of 448
    data = {"X": ("bfloat16", [6144, 7168]), "Y": ("float8_e4m3fn", [6144, 7168]), "Scale": ("float32", [6144, 56])}
    configs = pick(dict(BLOCK_R=[1, 2, 4, 8, 16, 32], GROUPS=[1, 2, 4, 8], LOOPS=[1, 7], num_warps=[1, 2, 4, 8], num_stages=[1, 3]), 15,
                   lambda c: 4 <= c["BLOCK_R"] * c["GROUPS"] * 4 // c["num_warps"] <= 64 and (c["LOOPS"] > 1 or c["num_stages"] == 1), [dict(BLOCK_R=1, GROUPS=8, LOOPS=7, num_warps=4, num_stages=1)], 37)

    def args(self, t, c):
        return [t("X"), t("Y"), t("Scale"), self.size[1]]

    def grid(self, c):
        return (self.size[0] // c["BLOCK_R"], 56 // (c["GROUPS"] * c["LOOPS"]), 1)

    def fill(self, torch, t):
        t["X"].copy_(torch.randn_like(t["X"]))

    def reference(self, torch, t):
        x = t["X"].float().reshape(6144, 56, 128)
        s = x.abs().amax(-1).clamp(min=1e-6) / 448
        return {"Y": (x / s[..., None]).clamp(-448, 448).to(torch.float8_e4m3fn).float().reshape(6144, 7168), "Scale": s}


class Router(Group):
    kernel = router_top8
    size = [65536, 128, 8]
    problem = "65536 tokens 8 of 128 experts"
    tol = 1e-4
    data = {"Logits": ("float32", [65536, 128]), "Weights": ("float32", [65536, 8]), "Ids": ("int32", [65536, 8])}
    configs = pick(dict(BLOCK_T=[1, 2, 4, 8, 16, 32, 64], SORT=[0, 1], num_warps=[1, 2, 4, 8]), 15,
                   lambda c: 4 <= c["BLOCK_T"] * 4 // c["num_warps"] <= 64, [dict(BLOCK_T=16, SORT=0, num_warps=4), dict(BLOCK_T=8, SORT=1, num_warps=4)], 38)

    def args(self, t, c):
        return [t("Logits"), t("Weights"), t("Ids"), self.size[0]]

    def meta(self, c):
        return dict(c, E=128)

    def grid(self, c):
        return (self.size[0] // c["BLOCK_T"], 1, 1)

    def fill(self, torch, t):
        order = torch.rand(t["Logits"].shape, device="cuda").argsort(-1)           # no two of a row are alike
        t["Logits"].copy_((order.float() - 90.0) * 0.0625)

    def reference(self, torch, t):
        v, i = torch.topk(t["Logits"], 8, -1)
        return {"Weights": torch.softmax(v, -1), "Ids": i.to(torch.int32)}


class DwConv(Group):
    kernel = dwconv7_nhwc
    size = [16, 64, 64, 512, 7]
    problem = "16x64x64x512 7x7 fp16"
    data = {"X": ("float16", [16, 64, 64, 512]), "W": ("float32", [49, 512]), "Bias": ("float32", [512]), "Y": ("float16", [16, 64, 64, 512])}
    configs = pick(dict(BLOCK_W=[1, 2, 4, 8, 16, 32, 64], BLOCK_C=[32, 64, 128, 256, 512], ROWS=[1, 4, 8], C_FIRST=[0, 1], num_warps=[1, 2, 4, 8]), 15,
                   lambda c: 4 <= c["BLOCK_W"] * c["BLOCK_C"] // (32 * c["num_warps"]) <= 32, [dict(BLOCK_W=8, BLOCK_C=128, ROWS=1, C_FIRST=1, num_warps=4)], 39)

    def args(self, t, c):
        return [t("X"), t("W"), t("Bias"), t("Y"), 64, 64, 512]

    def grid(self, c):
        a, b = 512 // c["BLOCK_C"], 64 // c["BLOCK_W"]
        return ((a, b) if c["C_FIRST"] else (b, a)) + (16 * 64 // c["ROWS"],)

    def fill(self, torch, t):
        t["X"].copy_(torch.randn_like(t["X"]))
        t["W"].copy_(torch.randn_like(t["W"]) / 7)
        t["Bias"].copy_(torch.randn_like(t["Bias"]))

    def reference(self, torch, t):
        p = torch.nn.functional.pad(t["X"].float(), (0, 0, 3, 3, 3, 3))
        y = t["Bias"].expand(16, 64, 64, 512).clone()
        for r in range(7):
            for s in range(7):
                y += p[:, r:r + 64, s:s + 64] * t["W"][r * 7 + s]
        return {"Y": y}


class Permute(Group):
    kernel = permute_bshd_bhds
    size = [6, 3072, 12, 128]
    problem = "6x3072x12x128 bf16"
    data = {"X": ("bfloat16", [6, 3072, 12, 128]), "Y": ("bfloat16", [6, 12, 128, 3072])}
    configs = pick(dict(BLOCK_S=[16, 32, 64, 128, 256], BLOCK_D=[16, 32, 64, 128], TURN=[0, 1], S_FIRST=[0, 1], num_warps=[1, 2, 4, 8]), 15,
                   lambda c: 4 <= c["BLOCK_S"] * c["BLOCK_D"] // (32 * c["num_warps"]) <= 64, [dict(BLOCK_S=64, BLOCK_D=64, TURN=1, S_FIRST=1, num_warps=4)], 40)

    def args(self, t, c):
        return [t("X"), t("Y"), self.size[1], self.size[2]]

    def meta(self, c):
        return dict(c, D=128)

    def grid(self, c):
        a, b = 3072 // c["BLOCK_S"], 12 * 128 // c["BLOCK_D"]
        return ((a, b) if c["S_FIRST"] else (b, a)) + (6,)

    def fill(self, torch, t):
        t["X"].copy_(torch.randn_like(t["X"]))

    def reference(self, torch, t):
        return {"Y": t["X"].float().permute(0, 2, 3, 1)}
