"""Triton kernels of this set: nine groups. Each group says its kernel, its data, its arguments and the space it is tuned over."""
import math, random
import triton
import triton.language as tl


# ---------------------------------------------------------------- 1. batched product with bias and GELU (block pointers)
@triton.jit
def bmm_bias_gelu(X, W, Bias, Y, M, N, K, sxb, sxm, swb, swk, sbb, syb, sym,
                  BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, COL_FIRST: tl.constexpr):
    tile = tl.program_id(0)
    batch = tl.program_id(1)
    tiles_m = tl.cdiv(M, BLOCK_M)
    tiles_n = tl.cdiv(N, BLOCK_N)
    if COL_FIRST:
        tm = tile % tiles_m
        tn = tile // tiles_m
    else:
        tm = tile // tiles_n
        tn = tile % tiles_n
    xp = tl.make_block_ptr(X + batch * sxb, (M, K), (sxm, 1), (tm * BLOCK_M, 0), (BLOCK_M, BLOCK_K), (1, 0))
    wp = tl.make_block_ptr(W + batch * swb, (K, N), (swk, 1), (0, tn * BLOCK_N), (BLOCK_K, BLOCK_N), (1, 0))
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for _ in range(0, tl.cdiv(K, BLOCK_K)):
        x = tl.load(xp, boundary_check=(0, 1), padding_option="zero")
        w = tl.load(wp, boundary_check=(0, 1), padding_option="zero")
        acc = tl.dot(x, w, acc)
        xp = tl.advance(xp, (0, BLOCK_K))
        wp = tl.advance(wp, (BLOCK_K, 0))
    cols = tn * BLOCK_N + tl.arange(0, BLOCK_N)
    bias = tl.load(Bias + batch * sbb + cols, mask=cols < N, other=0.0).to(tl.float32)
    acc += bias[None, :]
    acc = 0.5 * acc * (1.0 + tl.erf(acc * 0.7071067811865476))
    yp = tl.make_block_ptr(Y + batch * syb, (M, N), (sym, 1), (tm * BLOCK_M, tn * BLOCK_N), (BLOCK_M, BLOCK_N), (1, 0))
    tl.store(yp, acc.to(tl.bfloat16), boundary_check=(0, 1))


# ---------------------------------------------------------------- 2. experts: gathered rows times the weights of the tile's expert
@triton.jit
def moe_experts(X, W, Y, RowIds, TileExpert, N, K, rows, sx, swe, swn, sy,
                TOP_K: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, N_FIRST: tl.constexpr):
    if N_FIRST:
        tn = tl.program_id(0)
        tm = tl.program_id(1)
    else:
        tm = tl.program_id(0)
        tn = tl.program_id(1)
    expert = tl.load(TileExpert + tm).to(tl.int64)
    ids = tl.load(RowIds + tm * BLOCK_M + tl.arange(0, BLOCK_M))
    live = ids < rows
    ns = tn * BLOCK_N + tl.arange(0, BLOCK_N)
    ks = tl.arange(0, BLOCK_K)
    xp = X + (ids // TOP_K)[:, None] * sx + ks[None, :]
    wp = W + expert * swe + ns[None, :] * swn + ks[:, None]
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for k in tl.range(0, K, BLOCK_K):
        x = tl.load(xp, mask=live[:, None], other=0.0)
        w = tl.load(wp)
        acc += tl.dot(x, w)
        xp += BLOCK_K
        wp += BLOCK_K
    tl.store(Y + ids[:, None] * sy + ns[None, :], acc.to(tl.bfloat16), mask=live[:, None] & (ns[None, :] < N))


# ---------------------------------------------------------------- 3. bf16 activations times int8 weights
@triton.jit
def w8a16_linear(X, Q, Scale, Y, M, N, K, sxm, sqn, sym,
                 BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    tm = tl.program_id(1)
    tn = tl.program_id(0)
    ms = tm * BLOCK_M + tl.arange(0, BLOCK_M)
    ns = tn * BLOCK_N + tl.arange(0, BLOCK_N)
    ks = tl.arange(0, BLOCK_K)
    xp = X + ms[:, None] * sxm + ks[None, :]
    qp = Q + ns[None, :] * sqn + ks[:, None]
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for k in range(0, K, BLOCK_K):
        x = tl.load(xp, mask=ms[:, None] < M, other=0.0)
        q = tl.load(qp)
        acc = tl.dot(x, q.to(tl.bfloat16), acc)
        xp += BLOCK_K
        qp += BLOCK_K
    scale = tl.load(Scale + ns)
    tl.store(Y + ms[:, None] * sym + ns[None, :], (acc * scale[None, :]).to(tl.bfloat16), mask=ms[:, None] < M)


# ---------------------------------------------------------------- 4. attention within a window
@triton.jit
def swa_forward(Q, K, V, O, scale, sb, ss, heads, S,
                WINDOW: tl.constexpr, D: tl.constexpr, BLOCK_Q: tl.constexpr, BLOCK_KV: tl.constexpr, LATE_FIRST: tl.constexpr):
    bh = tl.program_id(1)
    tq = tl.program_id(0)
    if LATE_FIRST:
        tq = tl.num_programs(0) - 1 - tq
    base = (bh // heads).to(tl.int64) * sb + (bh % heads) * D
    q0 = tq * BLOCK_Q
    qs = q0 + tl.arange(0, BLOCK_Q)
    ds = tl.arange(0, D)
    q = tl.load(Q + base + qs[:, None] * ss + ds[None, :])
    m = tl.full((BLOCK_Q,), -1.0e30, tl.float32)
    l = tl.zeros((BLOCK_Q,), tl.float32)
    acc = tl.zeros((BLOCK_Q, D), tl.float32)
    lo = tl.maximum(q0 - WINDOW + 1, 0) // BLOCK_KV * BLOCK_KV
    hi = tl.minimum(q0 + BLOCK_Q, S)
    for j in range(lo, hi, BLOCK_KV):
        js = j + tl.arange(0, BLOCK_KV)
        k = tl.load(K + base + js[None, :] * ss + ds[:, None])
        s = tl.dot(q, k) * scale
        dist = qs[:, None] - js[None, :]
        s = tl.where((dist >= 0) & (dist < WINDOW), s, -1.0e30)
        mn = tl.maximum(m, tl.max(s, 1))
        p = tl.exp2(s - mn[:, None])
        a = tl.exp2(m - mn)
        l = l * a + tl.sum(p, 1)
        acc = acc * a[:, None]
        v = tl.load(V + base + js[:, None] * ss + ds[None, :])
        acc = tl.dot(p.to(tl.bfloat16), v, acc)
        m = mn
    acc = acc / l[:, None]
    tl.store(O + base + qs[:, None] * ss + ds[None, :], acc.to(tl.bfloat16))


# ---------------------------------------------------------------- 5. fp8 product, descriptors made in the kernel, a fixed grid over the tiles
@triton.jit
def fp8_desc_linear(A, B, C, alpha, M, N, K,
                    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, SPLIT_STORE: tl.constexpr):
    ad = tl.make_tensor_descriptor(A, shape=[M, K], strides=[K, 1], block_shape=[BLOCK_M, BLOCK_K])
    bd = tl.make_tensor_descriptor(B, shape=[N, K], strides=[K, 1], block_shape=[BLOCK_N, BLOCK_K])
    cd = tl.make_tensor_descriptor(C, shape=[M, N], strides=[N, 1],
                                   block_shape=[BLOCK_M, BLOCK_N // 2 if SPLIT_STORE else BLOCK_N])
    tiles_m = tl.cdiv(M, BLOCK_M)
    tiles = tiles_m * tl.cdiv(N, BLOCK_N)
    for tile in tl.range(tl.program_id(0), tiles, tl.num_programs(0)):
        m0 = (tile % tiles_m) * BLOCK_M
        n0 = (tile // tiles_m) * BLOCK_N
        acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
        for k in tl.range(0, K, BLOCK_K):
            a = ad.load([m0, k])
            b = bd.load([n0, k])
            acc = tl.dot(a, b.T, acc)
        acc = acc * alpha
        if SPLIT_STORE:
            halves = tl.permute(tl.reshape(acc, (BLOCK_M, 2, BLOCK_N // 2)), (0, 2, 1))
            left, right = tl.split(halves)
            cd.store([m0, n0], left.to(tl.bfloat16))
            cd.store([m0, n0 + BLOCK_N // 2], right.to(tl.bfloat16))
        else:
            cd.store([m0, n0], acc.to(tl.bfloat16))


# ---------------------------------------------------------------- 6. residual addition and RMS normalisation
@triton.jit
def add_rmsnorm(X, R, G, Rout, Y, eps, D, CHUNK: tl.constexpr, ONE: tl.constexpr, ROWS: tl.constexpr):
    first = tl.program_id(0) * ROWS
    for i in range(ROWS):
        row = (first + i).to(tl.int64) * D
        if ONE:
            cs = tl.arange(0, CHUNK)
            ok = cs < D
            h = tl.load(X + row + cs, mask=ok, other=0.0).to(tl.float32) + tl.load(R + row + cs, mask=ok, other=0.0).to(tl.float32)
            tl.store(Rout + row + cs, h.to(tl.bfloat16), mask=ok)
            inv = tl.rsqrt(tl.sum(h * h, 0) / D + eps)
            g = tl.load(G + cs, mask=ok, other=0.0).to(tl.float32)
            tl.store(Y + row + cs, (h * inv * g).to(tl.bfloat16), mask=ok)
        else:
            sq = tl.zeros((CHUNK,), tl.float32)
            for c in range(0, D, CHUNK):
                cs = c + tl.arange(0, CHUNK)
                ok = cs < D
                h = tl.load(X + row + cs, mask=ok, other=0.0).to(tl.float32) + tl.load(R + row + cs, mask=ok, other=0.0).to(tl.float32)
                tl.store(Rout + row + cs, h.to(tl.bfloat16), mask=ok)
                sq += h * h
            inv = tl.rsqrt(tl.sum(sq, 0) / D + eps)
            for c in range(0, D, CHUNK):
                cs = c + tl.arange(0, CHUNK)
                ok = cs < D
                h = tl.load(X + row + cs, mask=ok, other=0.0).to(tl.float32) + tl.load(R + row + cs, mask=ok, other=0.0).to(tl.float32)
                g = tl.load(G + cs, mask=ok, other=0.0, eviction_policy="evict_last").to(tl.float32)
                tl.store(Y + row + cs, (h * inv * g).to(tl.bfloat16), mask=ok)


# ---------------------------------------------------------------- 7. softmax of rows by a fixed grid
@triton.jit
def softmax_grid(X, Y, rows, sx, sy, N: tl.constexpr, TOGETHER: tl.constexpr, STAGES: tl.constexpr):
    cs = tl.arange(0, N)
    for r in tl.range(tl.program_id(0) * TOGETHER, rows, tl.num_programs(0) * TOGETHER, num_stages=STAGES):
        rs = r + tl.arange(0, TOGETHER)
        x = tl.load(X + rs[:, None] * sx + cs[None, :]).to(tl.float32)
        x = x - tl.max(x, 1)[:, None]
        e = tl.exp(x)
        y = e / tl.sum(e, 1)[:, None]
        tl.store(Y + rs[:, None] * sy + cs[None, :], y.to(tl.bfloat16))


# ---------------------------------------------------------------- 8. causal depthwise convolution along the sequence, SiLU
@triton.jit
def causal_conv4(X, W, Bias, Y, L, Dm, BLOCK_L: tl.constexpr, BLOCK_D: tl.constexpr, D_FIRST: tl.constexpr):
    if D_FIRST:
        td = tl.program_id(0)
        tlx = tl.program_id(1)
    else:
        td = tl.program_id(1)
        tlx = tl.program_id(0)
    b = tl.program_id(2).to(tl.int64)
    ds = td * BLOCK_D + tl.arange(0, BLOCK_D)
    ls = tlx * BLOCK_L + tl.arange(0, BLOCK_L)
    base = b * L * Dm
    acc = tl.zeros((BLOCK_L, BLOCK_D), tl.float32) + tl.load(Bias + ds)[None, :]
    for t in tl.static_range(4):
        p = ls + (t - 3)
        x = tl.load(X + base + p[:, None] * Dm + ds[None, :], mask=p[:, None] >= 0, other=0.0).to(tl.float32)
        w = tl.load(W + t * Dm + ds)
        acc += x * w[None, :]
    acc = acc * tl.sigmoid(acc)
    tl.store(Y + base + ls[:, None] * Dm + ds[None, :], acc.to(tl.bfloat16))


# ---------------------------------------------------------------- 9. rotary embedding, halves of a head
@triton.jit
def rope_halves(Q, Cos, Sin, Out, st, heads, HALF: tl.constexpr, BLOCK_T: tl.constexpr, BLOCK_H: tl.constexpr, LOOP: tl.constexpr):
    hs = tl.arange(0, BLOCK_H) + tl.program_id(1) * BLOCK_H
    ds = tl.arange(0, HALF)
    for i in range(LOOP):
        ts = (tl.program_id(0) * LOOP + i) * BLOCK_T + tl.arange(0, BLOCK_T)
        c = tl.load(Cos + ts[:, None] * HALF + ds[None, :])[:, None, :]
        s = tl.load(Sin + ts[:, None] * HALF + ds[None, :])[:, None, :]
        off = ts[:, None, None] * st + hs[None, :, None] * (2 * HALF) + ds[None, None, :]
        ok = (hs < heads)[None, :, None] & (ts >= 0)[:, None, None] & (ds >= 0)[None, None, :]
        a = tl.load(Q + off, mask=ok, other=0.0).to(tl.float32)
        b = tl.load(Q + off + HALF, mask=ok, other=0.0).to(tl.float32)
        tl.store(Out + off, (a * c - b * s).to(tl.bfloat16), mask=ok)
        tl.store(Out + off + HALF, (b * c + a * s).to(tl.bfloat16), mask=ok)


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


class Bmm(Group):
    kernel = bmm_bias_gelu
    size = [10, 768, 2048, 1152]
    problem = "10x 768x2048x1152 bf16"
    data = {"X": ("bfloat16", [10, 768, 1152]), "W": ("bfloat16", [10, 1152, 2048]), "Bias": ("bfloat16", [10, 2048]), "Y": ("bfloat16", [10, 768, 2048])}
    configs = pick(dict(BLOCK_M=[64, 128, 256], BLOCK_N=[64, 128, 256], BLOCK_K=[32, 64, 128], COL_FIRST=[0, 1], num_warps=[4, 8], num_stages=[2, 3, 4, 5]), 20,
                   lambda c: (c["BLOCK_M"] + c["BLOCK_N"]) * c["BLOCK_K"] * 2 * c["num_stages"] <= 220000 and 64 <= c["BLOCK_M"] * c["BLOCK_N"] // (32 * c["num_warps"]) <= 256
                   // (2 if c["num_warps"] == 8 and c["BLOCK_M"] == 64 else 1),
                   [dict(BLOCK_M=128, BLOCK_N=128, BLOCK_K=64, COL_FIRST=1, num_warps=8, num_stages=3), dict(BLOCK_M=128, BLOCK_N=256, BLOCK_K=64, COL_FIRST=0, num_warps=8, num_stages=3)], 11)

    def args(self, t, c):
        B, M, N, K = self.size
        return [t("X"), t("W"), t("Bias"), t("Y"), M, N, K, M * K, K, K * N, N, N, M * N, N]

    def grid(self, c):
        B, M, N, K = self.size
        return (cdiv(M, c["BLOCK_M"]) * cdiv(N, c["BLOCK_N"]), B, 1)

    def fill(self, torch, t):
        t["X"].copy_(torch.randn_like(t["X"]))
        t["W"].copy_(torch.randn_like(t["W"]) / math.sqrt(self.size[3]))
        t["Bias"].copy_(torch.randn_like(t["Bias"]))

    def reference(self, torch, t):
        y = torch.bmm(t["X"].float(), t["W"].float()) + t["Bias"].float()[:, None, :]
        return {"Y": torch.nn.functional.gelu(y)}


class Moe(Group):
    kernel = moe_experts
    tokens, top, experts = 704, 2, 24
    size = [704, 2, 24, 1792, 1536]            # tokens, experts a token, experts, N, K
    problem = "704 tokens top 2 of 24 experts 1792x1536 bf16"
    data = {"X": ("bfloat16", [704, 1536]), "W": ("bfloat16", [24, 1792, 1536]), "Y": ("bfloat16", [1408, 1792])}
    configs = pick(dict(BLOCK_M=[16, 32, 64, 128], BLOCK_N=[64, 128, 256], BLOCK_K=[32, 64, 128, 256], N_FIRST=[0, 1], num_warps=[4, 8], num_stages=[2, 3, 4, 5]), 20,
                   lambda c: (c["BLOCK_M"] + c["BLOCK_N"]) * c["BLOCK_K"] * 2 * c["num_stages"] <= 210000 and c["BLOCK_M"] * c["BLOCK_N"] // (32 * c["num_warps"]) <= 128 and c["BLOCK_N"] * c["BLOCK_K"] >= 4096,
                   [dict(BLOCK_M=64, BLOCK_N=128, BLOCK_K=64, N_FIRST=1, num_warps=4, num_stages=4)], 12)

    def routing(self):
        r = random.Random(77)
        weight = [0.4 + r.random() * 1.6 for _ in range(self.experts)]
        choice = []
        for _ in range(self.tokens):
            a = r.choices(range(self.experts), weight)[0]
            b = a
            while b == a:
                b = r.choices(range(self.experts), weight)[0]
            choice += [a, b]
        return choice

    def tiles(self, bm):
        choice = self.routing()
        ids, ex = [], []
        for e in range(self.experts):
            mine = [i for i, c in enumerate(choice) if c == e]
            while len(mine) % bm:
                mine.append(len(choice))
            ids += mine
            ex += [e] * (len(mine) // bm)
        return ids, ex

    def variants(self, c):
        """buffers that hang on the configuration: name -> (type, values)"""
        ids, ex = self.tiles(c["BLOCK_M"])
        return {"RowIds": ("int32", ids), "TileExpert": ("int32", ex)}

    def args(self, t, c):
        N, K = self.size[3], self.size[4]
        return [t("X"), t("W"), t("Y"), t("RowIds"), t("TileExpert"), N, K, self.tokens * self.top, K, N * K, K, N]

    def meta(self, c):
        return dict(c, TOP_K=2)

    def grid(self, c):
        m = len(self.tiles(c["BLOCK_M"])[1])
        n = self.size[3] // c["BLOCK_N"]
        return (n, m, 1) if c["N_FIRST"] else (m, n, 1)

    def fill(self, torch, t):
        t["X"].copy_(torch.randn_like(t["X"]))
        t["W"].copy_(torch.randn_like(t["W"]) / math.sqrt(self.size[4]))

    def reference(self, torch, t):
        y = torch.empty(t["Y"].shape, device="cuda")
        choice = torch.tensor(self.routing(), device="cuda")
        for e in range(self.experts):
            i = (choice == e).nonzero()[:, 0]
            y[i] = t["X"][i // 2].float() @ t["W"][e].float().T
        return {"Y": y}


class W8(Group):
    kernel = w8a16_linear
    size = [72, 6912, 3840]
    problem = "72x6912x3840 bf16 by int8"
    data = {"X": ("bfloat16", [72, 3840]), "Q": ("int8", [6912, 3840]), "Scale": ("float32", [6912]), "Y": ("bfloat16", [72, 6912])}
    configs = pick(dict(BLOCK_M=[16, 32, 64, 128], BLOCK_N=[32, 64, 128, 256], BLOCK_K=[32, 64, 128], num_warps=[2, 4, 8], num_stages=[2, 3, 4, 6]), 20,
                   lambda c: (2 * c["BLOCK_M"] + c["BLOCK_N"]) * c["BLOCK_K"] * c["num_stages"] + 2 * c["BLOCK_N"] * c["BLOCK_K"] <= 200000
                   and 8 <= c["BLOCK_M"] * c["BLOCK_N"] // (32 * c["num_warps"]) <= 128 and c["BLOCK_N"] * c["BLOCK_K"] // (32 * c["num_warps"]) <= 128,
                   [dict(BLOCK_M=64, BLOCK_N=64, BLOCK_K=128, num_warps=4, num_stages=4), dict(BLOCK_M=128, BLOCK_N=64, BLOCK_K=64, num_warps=4, num_stages=4)], 13)

    def args(self, t, c):
        M, N, K = self.size
        return [t("X"), t("Q"), t("Scale"), t("Y"), M, N, K, K, K, N]

    def grid(self, c):
        return (self.size[1] // c["BLOCK_N"], cdiv(self.size[0], c["BLOCK_M"]), 1)

    def fill(self, torch, t):
        t["X"].copy_(torch.randn_like(t["X"]))
        t["Q"].copy_(torch.randint(-127, 128, t["Q"].shape, device="cuda", dtype=torch.int8))
        t["Scale"].copy_(0.0002 + 0.0002 * torch.rand_like(t["Scale"]))

    def reference(self, torch, t):
        return {"Y": (t["X"].float() @ t["Q"].float().T) * t["Scale"][None, :]}


class Swa(Group):
    kernel = swa_forward
    size = [2, 18, 4608, 64, 900]
    problem = "2x18x4608x64 window 900 bf16"
    data = {n: ("bfloat16", [2, 4608, 18, 64]) for n in "QKVO"}
    configs = pick(dict(BLOCK_Q=[64, 128, 256], BLOCK_KV=[32, 64, 128], LATE_FIRST=[0, 1], num_warps=[4, 8], num_stages=[1, 2, 3, 4]), 18,
                   lambda c: c["BLOCK_Q"] * c["BLOCK_KV"] // (32 * c["num_warps"]) <= 128 and (c["BLOCK_Q"], c["num_warps"]) != (64, 8),
                   [dict(BLOCK_Q=128, BLOCK_KV=64, LATE_FIRST=0, num_warps=4, num_stages=3)], 14)

    def args(self, t, c):
        B, H, S, D, w = self.size
        return [t("Q"), t("K"), t("V"), t("O"), 1.4426950408889634 / math.sqrt(D), S * H * D, H * D, H, S]

    def meta(self, c):
        return dict(c, WINDOW=self.size[4], D=64)

    def grid(self, c):
        return (self.size[2] // c["BLOCK_Q"], self.size[0] * self.size[1], 1)

    def fill(self, torch, t):
        for n in "QKV":
            t[n].copy_(torch.randn_like(t[n]))

    def reference(self, torch, t):
        B, H, S, D, w = self.size
        out = torch.empty((B, S, H, D), device="cuda")
        i = torch.arange(S, device="cuda")
        d = i[:, None] - i[None, :]
        ok = (d >= 0) & (d < w)
        for b in range(B):
            for h in range(H):
                q, k, v = (t[n][b, :, h].float() for n in "QKV")
                s = (q @ k.T) / math.sqrt(D)
                out[b, :, h] = torch.softmax(s.masked_fill(~ok, float("-inf")), -1) @ v
        return {"O": out}


class Fp8(Group):
    kernel = fp8_desc_linear
    scratch = True
    size = [2560, 3328, 3072]
    problem = "2560x3328x3072 e4m3 to bf16"
    data = {"A": ("float8_e4m3fn", [2560, 3072]), "B": ("float8_e4m3fn", [3328, 3072]), "C": ("bfloat16", [2560, 3328])}
    configs = pick(dict(BLOCK_M=[64, 128], BLOCK_N=[64, 128, 256], BLOCK_K=[64, 128, 256], SPLIT_STORE=[0, 1], PROGRAMS=[132, 264], num_warps=[4, 8], num_stages=[2, 3, 4]), 20,
                   lambda c: (c["BLOCK_M"] + c["BLOCK_N"]) * c["BLOCK_K"] * c["num_stages"] + c["BLOCK_M"] * c["BLOCK_N"] * 2 <= 222000 // (c["PROGRAMS"] // 132)
                   and 32 <= c["BLOCK_M"] * c["BLOCK_N"] // (32 * c["num_warps"]) <= 128,
                   [dict(BLOCK_M=128, BLOCK_N=128, BLOCK_K=128, SPLIT_STORE=0, PROGRAMS=132, num_warps=4, num_stages=4),
                    dict(BLOCK_M=128, BLOCK_N=256, BLOCK_K=128, SPLIT_STORE=1, PROGRAMS=132, num_warps=8, num_stages=3)], 15)

    def args(self, t, c):
        M, N, K = self.size
        return [t("A"), t("B"), t("C"), 0.03125, M, N, K]

    def meta(self, c):
        return {k: v for k, v in c.items() if k != "PROGRAMS"}

    def grid(self, c):
        M, N, K = self.size
        return (min(c["PROGRAMS"], cdiv(M, c["BLOCK_M"]) * cdiv(N, c["BLOCK_N"])), 1, 1)

    def fill(self, torch, t):
        for n in "AB":
            t[n].copy_(torch.randn(t[n].shape, device="cuda").to(torch.float8_e4m3fn))

    def reference(self, torch, t):
        return {"C": (t["A"].float() @ t["B"].float().T) * 0.03125}


class Rms(Group):
    kernel = add_rmsnorm
    size = [5632, 5120]
    problem = "5632x5120 bf16"
    data = {"X": ("bfloat16", [5632, 5120]), "R": ("bfloat16", [5632, 5120]), "G": ("bfloat16", [5120]), "Rout": ("bfloat16", [5632, 5120]), "Y": ("bfloat16", [5632, 5120])}
    configs = pick(dict(CHUNK=[512, 1024, 2048, 8192], ROWS=[1, 2, 4, 8], num_warps=[1, 2, 4, 8, 16], num_stages=[1, 3]), 18,
                   lambda c: 4 <= c["CHUNK"] // (32 * c["num_warps"]) <= 64, [dict(CHUNK=8192, ROWS=1, num_warps=8, num_stages=1)], 16)

    def args(self, t, c):
        return [t("X"), t("R"), t("G"), t("Rout"), t("Y"), 1e-5, self.size[1]]

    def meta(self, c):
        return dict(c, ONE=int(c["CHUNK"] >= self.size[1]))

    def grid(self, c):
        return (self.size[0] // c["ROWS"], 1, 1)

    def fill(self, torch, t):
        for n in "XRG":
            t[n].copy_(torch.randn_like(t[n]))

    def reference(self, torch, t):
        h = t["X"].float() + t["R"].float()
        return {"Rout": h, "Y": h * torch.rsqrt((h * h).mean(-1, keepdim=True) + 1e-5) * t["G"].float()}


class Softmax(Group):
    kernel = softmax_grid
    size = [11264, 8192]
    problem = "11264x8192 bf16"
    data = {"X": ("bfloat16", [11264, 8192]), "Y": ("bfloat16", [11264, 8192])}
    configs = pick(dict(TOGETHER=[1, 2], STAGES=[1, 2, 3, 4], PROGRAMS=[132, 264, 528, 1056, 2816], num_warps=[4, 8, 16, 32]), 18,
                   lambda c: 8 <= c["TOGETHER"] * 8192 // (32 * c["num_warps"]) <= 64, [dict(TOGETHER=1, STAGES=1, PROGRAMS=2816, num_warps=8)], 17)

    def args(self, t, c):
        return [t("X"), t("Y"), self.size[0], 8192, 8192]

    def meta(self, c):
        return dict(N=8192, TOGETHER=c["TOGETHER"], STAGES=c["STAGES"], num_warps=c["num_warps"])

    def grid(self, c):
        return (c["PROGRAMS"], 1, 1)

    def fill(self, torch, t):
        t["X"].copy_(torch.randn_like(t["X"]) * 2)

    def reference(self, torch, t):
        return {"Y": torch.softmax(t["X"].float(), -1)}


class Conv(Group):
    kernel = causal_conv4
    size = [3, 4096, 3072, 4]
    problem = "3x4096x3072 4 taps bf16"
    data = {"X": ("bfloat16", [3, 4096, 3072]), "W": ("float32", [4, 3072]), "Bias": ("float32", [3072]), "Y": ("bfloat16", [3, 4096, 3072])}
    configs = pick(dict(BLOCK_L=[1, 4, 8, 16, 32, 64, 128], BLOCK_D=[64, 128, 256, 512, 1024], D_FIRST=[0, 1], num_warps=[1, 2, 4, 8]), 20,
                   lambda c: 2 <= c["BLOCK_L"] * c["BLOCK_D"] // (32 * c["num_warps"]) <= 64, [dict(BLOCK_L=16, BLOCK_D=256, D_FIRST=1, num_warps=4)], 18)

    def args(self, t, c):
        return [t("X"), t("W"), t("Bias"), t("Y"), self.size[1], self.size[2]]

    def grid(self, c):
        a, b = self.size[2] // c["BLOCK_D"], self.size[1] // c["BLOCK_L"]
        return ((a, b) if c["D_FIRST"] else (b, a)) + (self.size[0],)

    def fill(self, torch, t):
        for n in ("X", "W", "Bias"):
            t[n].copy_(torch.randn_like(t[n]))

    def reference(self, torch, t):
        x = t["X"].float()
        p = torch.nn.functional.pad(x, (0, 0, 3, 0))
        y = t["Bias"] + sum(p[:, i:i + x.shape[1]] * t["W"][i] for i in range(4))
        return {"Y": torch.nn.functional.silu(y)}


class Rope(Group):
    kernel = rope_halves
    size = [10240, 24, 128]
    problem = "10240 tokens 24x128 bf16"
    data = {"Q": ("bfloat16", [10240, 24, 128]), "Cos": ("float32", [10240, 64]), "Sin": ("float32", [10240, 64]), "Out": ("bfloat16", [10240, 24, 128])}
    configs = pick(dict(BLOCK_T=[1, 2, 4, 8], BLOCK_H=[4, 8, 32], LOOP=[1, 2, 5], num_warps=[1, 2, 4, 8]), 18,
                   lambda c: 2 <= c["BLOCK_T"] * c["BLOCK_H"] * 64 // (32 * c["num_warps"]) <= 64, [dict(BLOCK_T=1, BLOCK_H=32, LOOP=1, num_warps=4)], 19)

    def args(self, t, c):
        return [t("Q"), t("Cos"), t("Sin"), t("Out"), 24 * 128, 24]

    def meta(self, c):
        return dict(c, HALF=64)

    def grid(self, c):
        return (self.size[0] // (c["BLOCK_T"] * c["LOOP"]), cdiv(24, c["BLOCK_H"]), 1)

    def fill(self, torch, t):
        t["Q"].copy_(torch.randn_like(t["Q"]))
        a = torch.rand_like(t["Cos"]) * 6.28
        t["Cos"].copy_(a.cos())
        t["Sin"].copy_(a.sin())

    def reference(self, torch, t):
        q = t["Q"].float()
        a, b = q[..., :64], q[..., 64:]
        c, s = t["Cos"][:, None, :], t["Sin"][:, None, :]
        return {"Out": torch.cat([a * c - b * s, b * c + a * s], -1)}
