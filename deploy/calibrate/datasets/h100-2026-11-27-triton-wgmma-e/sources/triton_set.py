"""Triton kernels of the fifth blind set (e), eleven groups, and the spaces they are tuned over."""
import math
import random

import triton
import triton.language as tl


# --------------------------------------------------------------------------- RMS norm, backward: rows of a program one after the other, dW in registers
@triton.jit
def rms_norm_backward_kernel(dY, X, W, Rstd, dX, dW, stride, dw_stride, n_rows, rows_per_program, N: tl.constexpr, BLOCK_SIZE: tl.constexpr, ROWS: tl.constexpr, PIPE: tl.constexpr):
    pid = tl.program_id(0)
    start = pid * rows_per_program
    end = min(start + rows_per_program, n_rows)
    cols = tl.arange(0, BLOCK_SIZE)
    mask = cols < N
    w = tl.load(W + cols, mask=mask, other=0.0).to(tl.float32)
    dw = tl.zeros((BLOCK_SIZE,), dtype=tl.float32)
    for row in tl.range(start, end, ROWS, num_stages=PIPE):
        rows = row + tl.arange(0, ROWS)
        live = rows < end
        at = rows[:, None] * stride + cols[None, :]
        both = live[:, None] & mask[None, :]
        dy = tl.load(dY + at, mask=both, other=0.0).to(tl.float32)
        x = tl.load(X + at, mask=both, other=0.0).to(tl.float32)
        rstd = tl.load(Rstd + rows, mask=live, other=0.0)
        m = dy * w[None, :]
        s = tl.sum(m * x, axis=1)
        dx = rstd[:, None] * m - (rstd * rstd * rstd * s / N)[:, None] * x
        dw += tl.sum(dy * (x * rstd[:, None]), axis=0)
        tl.store(dX + at, dx.to(tl.bfloat16), mask=both)
    tl.store(dW + pid * dw_stride + cols, dw, mask=mask)


# --------------------------------------------------------------------------- dZ = (dY W) * gelu'(Z): backward of gelu then linear, W with the output contiguous
@triton.jit
def linear_dgelu_kernel(dY, W, Z, dZ, M, N, K, stride_ym, stride_wk, stride_zm,
                        BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr):
    pid = tl.program_id(0)
    num_m = tl.cdiv(M, BLOCK_M)
    num_n = tl.cdiv(N, BLOCK_N)
    width = GROUP_M * num_n
    group = pid // width
    size = min(num_m - group * GROUP_M, GROUP_M)
    pid_m = group * GROUP_M + (pid % width) % size
    pid_n = (pid % width) // size
    rm = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    rn = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    rk = tl.arange(0, BLOCK_K)
    ram = rm % M
    rbn = tl.max_contiguous(tl.multiple_of(rn % N, BLOCK_N), BLOCK_N)
    y_ptrs = dY + ram[:, None] * stride_ym + rk[None, :]
    w_ptrs = W + rk[:, None] * stride_wk + rbn[None, :]
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_K)):
        y = tl.load(y_ptrs, mask=rk[None, :] < K - k * BLOCK_K, other=0.0)
        w = tl.load(w_ptrs, mask=rk[:, None] < K - k * BLOCK_K, other=0.0)
        acc = tl.dot(y, w, acc)
        y_ptrs += BLOCK_K
        w_ptrs += BLOCK_K * stride_wk
    at = rm[:, None] * stride_zm + rn[None, :]
    mask = (rm[:, None] < M) & (rn[None, :] < N)
    z = tl.load(Z + at, mask=mask, other=0.0).to(tl.float32)
    cdf = 0.5 * (1.0 + tl.math.erf(z * 0.7071067811865476))
    pdf = 0.3989422804014327 * tl.exp(-0.5 * z * z)
    tl.store(dZ + at, (acc * (cdf + z * pdf)).to(tl.bfloat16), mask=mask)


# --------------------------------------------------------------------------- C = alpha A B^T + R, programs stay, tensor descriptors made on the device, results stored whole or in halves
@triton.jit
def persistent_resid_mm_kernel(A, B, R, C, M, N, K, alpha, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr,
                               HALVES: tl.constexpr, FLATTEN: tl.constexpr):
    EPI: tl.constexpr = BLOCK_N // 2 if HALVES else BLOCK_N
    a_desc = tl.make_tensor_descriptor(A, shape=[M, K], strides=[K, 1], block_shape=[BLOCK_M, BLOCK_K])
    b_desc = tl.make_tensor_descriptor(B, shape=[N, K], strides=[K, 1], block_shape=[BLOCK_N, BLOCK_K])
    r_desc = tl.make_tensor_descriptor(R, shape=[M, N], strides=[N, 1], block_shape=[BLOCK_M, EPI])
    c_desc = tl.make_tensor_descriptor(C, shape=[M, N], strides=[N, 1], block_shape=[BLOCK_M, EPI])
    num_m = tl.cdiv(M, BLOCK_M)
    num_n = tl.cdiv(N, BLOCK_N)
    k_tiles = tl.cdiv(K, BLOCK_K)
    width = GROUP_M * num_n
    for tile in tl.range(tl.program_id(0), num_m * num_n, tl.num_programs(0), flatten=FLATTEN):
        group = tile // width
        size = min(num_m - group * GROUP_M, GROUP_M)
        om = (group * GROUP_M + tile % size) * BLOCK_M
        on = ((tile % width) // size) * BLOCK_N
        acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        for k in range(k_tiles):
            a = a_desc.load([om, k * BLOCK_K])
            b = b_desc.load([on, k * BLOCK_K])
            acc = tl.dot(a, b.T, acc)
        if HALVES:
            acc0, acc1 = tl.split(tl.permute(tl.reshape(acc, (BLOCK_M, 2, BLOCK_N // 2)), (0, 2, 1)))
            c_desc.store([om, on], (acc0 * alpha + r_desc.load([om, on]).to(tl.float32)).to(tl.float16))
            c_desc.store([om, on + BLOCK_N // 2], (acc1 * alpha + r_desc.load([om, on + BLOCK_N // 2]).to(tl.float32)).to(tl.float16))
        else:
            c_desc.store([om, on], (acc * alpha + r_desc.load([om, on]).to(tl.float32)).to(tl.float16))


# --------------------------------------------------------------------------- prefill with what is cached before it: keys and values in pages, heads of a group packed into the rows
@triton.jit
def paged_prefill_attn_kernel(Q, K_cache, V_cache, O, Tables, Cu_q, Seq_lens, scale, stride_qt, stride_table, stride_page, stride_slot,
                              RATIO: tl.constexpr, HEAD_DIM: tl.constexpr, PAGE: tl.constexpr, BLOCK_M: tl.constexpr, TILE: tl.constexpr, LATE_FIRST: tl.constexpr):
    BLOCK_Q: tl.constexpr = BLOCK_M // RATIO
    kvh = tl.program_id(1)
    seq = tl.program_id(2)
    first = tl.load(Cu_q + seq)
    qlen = tl.load(Cu_q + seq + 1) - first
    blk = tl.program_id(0)
    if LATE_FIRST:
        blk = tl.num_programs(0) - 1 - blk
    q0 = blk * BLOCK_Q
    if q0 >= qlen:
        return
    ctx = tl.load(Seq_lens + seq) - qlen
    offs_m = tl.arange(0, BLOCK_M)
    offs_d = tl.arange(0, HEAD_DIM)
    pos = q0 + offs_m // RATIO
    head = kvh * RATIO + offs_m % RATIO
    live = pos < qlen
    at = (first + pos)[:, None] * stride_qt + head[:, None] * HEAD_DIM + offs_d[None, :]
    q = tl.load(Q + at, mask=live[:, None], other=0.0)
    m_i = tl.full([BLOCK_M], float("-inf"), dtype=tl.float32)
    l_i = tl.full([BLOCK_M], 1.0, dtype=tl.float32)
    acc = tl.zeros([BLOCK_M, HEAD_DIM], dtype=tl.float32)
    end = ctx + tl.minimum(q0 + BLOCK_Q, qlen)
    for j in range(0, tl.cdiv(end, TILE)):
        n = j * TILE + tl.arange(0, TILE)
        ok = n < end
        page = tl.load(Tables + seq * stride_table + n // PAGE, mask=ok, other=0).to(tl.int64)
        off = page * stride_page + (n % PAGE) * stride_slot + kvh * HEAD_DIM
        k = tl.load(K_cache + off[None, :] + offs_d[:, None], mask=ok[None, :], other=0.0)
        v = tl.load(V_cache + off[:, None] + offs_d[None, :], mask=ok[:, None], other=0.0)
        s = scale * tl.dot(q, k)
        s = tl.where(n[None, :] <= (ctx + pos)[:, None], s, float("-inf"))
        m_new = tl.maximum(m_i, tl.max(s, axis=1))
        p = tl.exp(s - m_new[:, None])
        alpha = tl.exp(m_i - m_new)
        l_i = l_i * alpha + tl.sum(p, axis=1)
        acc = tl.dot(p.to(v.dtype), v, acc * alpha[:, None])
        m_i = m_new
    tl.store(O + at, (acc / l_i[:, None]).to(tl.bfloat16), mask=live[:, None])


# --------------------------------------------------------------------------- silu(gate) * up, quantised to e4m3 by groups of 128
@triton.jit
def silu_mul_fp8_quant_kernel(X, Q, S, T, stride_x, stride_q, stride_s, H: tl.constexpr, ROWS: tl.constexpr, GROUPS: tl.constexpr, STEPS: tl.constexpr, POW2: tl.constexpr, PIPE: tl.constexpr):
    cols = tl.program_id(1) * GROUPS * 128 + tl.arange(0, GROUPS * 128)
    groups = tl.program_id(1) * GROUPS + tl.arange(0, GROUPS)
    for i in tl.range(STEPS, num_stages=PIPE):
        rows = (tl.program_id(0) * STEPS + i) * ROWS + tl.arange(0, ROWS)
        mask = (rows[:, None] < T) & (cols[None, :] < H)
        gate = tl.load(X + rows[:, None] * stride_x + cols[None, :], mask=mask, other=0.0).to(tl.float32)
        up = tl.load(X + rows[:, None] * stride_x + H + cols[None, :], mask=mask, other=0.0).to(tl.float32)
        y = tl.reshape(gate / (1.0 + tl.exp(-gate)) * up, (ROWS, GROUPS, 128))
        scale = tl.maximum(tl.max(tl.abs(y), axis=2), 1e-10) / 448.0
        if POW2:
            scale = tl.exp2(tl.ceil(tl.log2(scale)))
        q = tl.clamp(y / scale[:, :, None], -448.0, 448.0).to(tl.float8e4nv)
        tl.store(Q + rows[:, None] * stride_q + cols[None, :], tl.reshape(q, (ROWS, GROUPS * 128)), mask=mask)
        tl.store(S + rows[:, None] * stride_s + groups[None, :], scale, mask=(rows[:, None] < T) & (groups[None, :] * 128 < H))


# --------------------------------------------------------------------------- AdamW, in place, and the bf16 copy of the weights
@triton.jit
def adamw_step_kernel(P, G, M, V, Pb, Clip, lr, beta1, beta2, eps, weight_decay, corr1, corr2, n, BLOCK_SIZE: tl.constexpr, LOOP: tl.constexpr, EVICT: tl.constexpr):
    coef = tl.load(Clip)
    step = tl.num_programs(0) * BLOCK_SIZE
    begin = tl.program_id(0) * BLOCK_SIZE
    for start in tl.range(begin, n if LOOP else begin + 1, step):
        offs = start + tl.arange(0, BLOCK_SIZE)
        mask = offs < n
        if EVICT:
            g = tl.load(G + offs, mask=mask, other=0.0, eviction_policy="evict_first").to(tl.float32) * coef
        else:
            g = tl.load(G + offs, mask=mask, other=0.0).to(tl.float32) * coef
        p = tl.load(P + offs, mask=mask, other=0.0)
        m = tl.load(M + offs, mask=mask, other=0.0)
        v = tl.load(V + offs, mask=mask, other=0.0)
        m = beta1 * m + (1.0 - beta1) * g
        v = beta2 * v + (1.0 - beta2) * g * g
        p = p * (1.0 - lr * weight_decay) - lr * (m / corr1) / (tl.sqrt(v / corr2) + eps)
        tl.store(M + offs, m, mask=mask)
        tl.store(V + offs, v, mask=mask)
        tl.store(P + offs, p, mask=mask)
        tl.store(Pb + offs, p.to(tl.bfloat16), mask=mask)


# --------------------------------------------------------------------------- softmax, backward: whole rows at once or two passes over them
@triton.jit
def softmax_backward_kernel(Y, dY, dX, M, N: tl.constexpr, TILE_M: tl.constexpr, TILE_N: tl.constexpr, ONE_TILE: tl.constexpr, PIPE: tl.constexpr):
    rows = tl.program_id(0) * TILE_M + tl.arange(0, TILE_M)
    live = rows < M
    if ONE_TILE:
        cols = tl.arange(0, TILE_N)
        at = rows[:, None] * N + cols[None, :]
        mask = live[:, None] & (cols[None, :] < N)
        y = tl.load(Y + at, mask=mask, other=0.0).to(tl.float32)
        dy = tl.load(dY + at, mask=mask, other=0.0).to(tl.float32)
        s = tl.sum(y * dy, axis=1)
        tl.store(dX + at, (y * (dy - s[:, None])).to(tl.bfloat16), mask=mask)
    else:
        part = tl.zeros((TILE_M, TILE_N), dtype=tl.float32)
        for off in tl.range(0, N, TILE_N, num_stages=PIPE):
            cols = off + tl.arange(0, TILE_N)
            at = rows[:, None] * N + cols[None, :]
            mask = live[:, None] & (cols[None, :] < N)
            y = tl.load(Y + at, mask=mask, other=0.0).to(tl.float32)
            part += y * tl.load(dY + at, mask=mask, other=0.0, eviction_policy="evict_last").to(tl.float32)
        s = tl.sum(part, axis=1)
        for off in tl.range(0, N, TILE_N, num_stages=PIPE):
            cols = off + tl.arange(0, TILE_N)
            at = rows[:, None] * N + cols[None, :]
            mask = live[:, None] & (cols[None, :] < N)
            y = tl.load(Y + at, mask=mask, other=0.0, eviction_policy="evict_first").to(tl.float32)
            dy = tl.load(dY + at, mask=mask, other=0.0, eviction_policy="evict_first").to(tl.float32)
            tl.store(dX + at, (y * (dy - s[:, None])).to(tl.bfloat16), mask=mask)


# --------------------------------------------------------------------------- gated linear attention: outputs of a chunk from its state and its scores
@triton.jit
def chunk_gla_out_kernel(q, v, g, h, o, A, scale, T, H: tl.constexpr, K: tl.constexpr, V: tl.constexpr, BT: tl.constexpr, BK: tl.constexpr, BV: tl.constexpr):
    i_v, i_t, i_bh = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    i_b, i_h = i_bh // H, i_bh % H
    i_tg = i_b * tl.cdiv(T, BT) + i_t
    bos = i_b * T
    causal = tl.arange(0, BT)[:, None] >= tl.arange(0, BT)[None, :]
    b_o = tl.zeros([BT, BV], dtype=tl.float32)
    for i_k in range(tl.cdiv(K, BK)):
        p_q = tl.make_block_ptr(q + (bos * H + i_h) * K, (T, K), (H * K, 1), (i_t * BT, i_k * BK), (BT, BK), (1, 0))
        p_g = tl.make_block_ptr(g + (bos * H + i_h) * K, (T, K), (H * K, 1), (i_t * BT, i_k * BK), (BT, BK), (1, 0))
        p_h = tl.make_block_ptr(h + (i_tg * H + i_h).to(tl.int64) * K * V, (K, V), (V, 1), (i_k * BK, i_v * BV), (BK, BV), (1, 0))
        b_q = tl.load(p_q, boundary_check=(0, 1))
        b_q = (b_q * scale).to(b_q.dtype)
        b_g = tl.load(p_g, boundary_check=(0, 1))
        b_qg = (b_q * tl.exp(b_g)).to(b_q.dtype)
        b_h = tl.load(p_h, boundary_check=(0, 1))
        b_o += tl.dot(b_qg, b_h)
    p_v = tl.make_block_ptr(v + (bos * H + i_h) * V, (T, V), (H * V, 1), (i_t * BT, i_v * BV), (BT, BV), (1, 0))
    p_o = tl.make_block_ptr(o + (bos * H + i_h) * V, (T, V), (H * V, 1), (i_t * BT, i_v * BV), (BT, BV), (1, 0))
    p_A = tl.make_block_ptr(A + (bos * H + i_h) * BT, (T, BT), (H * BT, 1), (i_t * BT, 0), (BT, BT), (1, 0))
    b_v = tl.load(p_v, boundary_check=(0, 1))
    b_A = tl.load(p_A, boundary_check=(0, 1))
    b_A = tl.where(causal, b_A, 0.0).to(b_v.dtype)
    b_o += tl.dot(b_A, b_v)
    tl.store(p_o, b_o.to(p_o.dtype.element_ty), boundary_check=(0, 1))


# --------------------------------------------------------------------------- AWQ weights of 4 bits to fp16
@triton.jit
def awq_dequant_kernel(qweight, scales, zeros, out, rows, cols, GROUP: tl.constexpr, BLOCK_X: tl.constexpr, BLOCK_Y: tl.constexpr):
    offs_y = tl.program_id(1) * BLOCK_Y + tl.arange(0, BLOCK_Y)
    offs_x = tl.program_id(0) * BLOCK_X + tl.arange(0, BLOCK_X)
    w = tl.load(qweight + offs_y[:, None] * cols + offs_x[None, :], mask=(offs_y[:, None] < rows) & (offs_x[None, :] < cols), other=0)
    w = tl.interleave(w, w)
    w = tl.interleave(w, w)
    w = tl.interleave(w, w)
    order = tl.reshape((tl.arange(0, 2) * 4)[None, :] + tl.arange(0, 4)[:, None], (8,))
    shifts = tl.reshape(tl.broadcast_to((order * 4)[None, :], (BLOCK_X, 8)), (BLOCK_X * 8,))
    w = (w >> shifts[None, :]) & 0xF
    gy = tl.program_id(1) * BLOCK_Y // GROUP
    z = tl.load(zeros + gy * cols + offs_x, mask=offs_x < cols, other=0)
    z = tl.interleave(z, z)
    z = tl.interleave(z, z)
    z = tl.interleave(z, z)
    z = (z >> shifts) & 0xF
    offs_o = tl.program_id(0) * BLOCK_X * 8 + tl.arange(0, BLOCK_X * 8)
    s = tl.load(scales + gy * cols * 8 + offs_o, mask=offs_o < cols * 8, other=0.0)
    y = (w - z[None, :]).to(tl.float16) * s[None, :]
    tl.store(out + offs_y[:, None] * (cols * 8) + offs_o[None, :], y, mask=(offs_y[:, None] < rows) & (offs_o[None, :] < cols * 8))


# --------------------------------------------------------------------------- experts' rows back to their tokens, weighted, plus the shared expert
@triton.jit
def moe_combine_kernel(Y, Weights, Inverse, Shared, Out, T, stride, factor, H: tl.constexpr, TOPK: tl.constexpr, TOKENS: tl.constexpr, BLOCK_H: tl.constexpr, UNROLL: tl.constexpr, PIPE: tl.constexpr):
    toks = tl.program_id(0) * TOKENS + tl.arange(0, TOKENS)
    cols = tl.program_id(1) * BLOCK_H + tl.arange(0, BLOCK_H)
    live = toks < T
    mask = live[:, None] & (cols[None, :] < H)
    acc = tl.zeros((TOKENS, BLOCK_H), dtype=tl.float32)
    if UNROLL:
        for k in tl.static_range(TOPK):
            r = tl.load(Inverse + toks * TOPK + k, mask=live, other=0)
            w = tl.load(Weights + toks * TOPK + k, mask=live, other=0.0)
            acc += w[:, None] * tl.load(Y + r[:, None] * stride + cols[None, :], mask=mask, other=0.0).to(tl.float32)
    else:
        for k in tl.range(TOPK, num_stages=PIPE):
            r = tl.load(Inverse + toks * TOPK + k, mask=live, other=0)
            w = tl.load(Weights + toks * TOPK + k, mask=live, other=0.0)
            acc += w[:, None] * tl.load(Y + r[:, None] * stride + cols[None, :], mask=mask, other=0.0).to(tl.float32)
    at = toks[:, None] * stride + cols[None, :]
    y = acc * factor + tl.load(Shared + at, mask=mask, other=0.0).to(tl.float32)
    tl.store(Out + at, y.to(tl.bfloat16), mask=mask)


# --------------------------------------------------------------------------- indexer of sparse attention: sum over heads of w relu(q k), e4m3, one key head
@triton.jit
def mqa_logits_kernel(Q, K, K_scale, W, Out, M, N, stride_o, H: tl.constexpr, D: tl.constexpr, ROWS: tl.constexpr, BLOCK_N: tl.constexpr, PIPE: tl.constexpr):
    n = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    d = tl.arange(0, D)
    h = tl.arange(0, H)
    ok = n < N
    k = tl.load(K + n[:, None] * D + d[None, :], mask=ok[:, None], other=0.0)
    ks = tl.load(K_scale + n, mask=ok, other=0.0)
    for i in tl.range(ROWS, num_stages=PIPE):
        m = tl.program_id(1) * ROWS + i
        q = tl.load(Q + (m * H + h)[None, :] * D + d[:, None])
        w = tl.load(W + m * H + h)
        s = tl.dot(k, q)
        y = tl.sum(tl.maximum(s, 0.0) * w[None, :], axis=1) * ks
        tl.store(Out + m * stride_o + n, y, mask=ok)


# --------------------------------------------------------------------------- groups
def pick(space, n, ok=lambda c: True, first=(), seed=1):
    """n configurations of a product of lists, drawn with a fixed seed, those of `first` among them"""
    every = [{}]
    for k in space:
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


def randn(torch, t, names, scale=1.0):
    for n in names:
        t[n].copy_(torch.randn(t[n].shape, device="cuda") * scale)


class RmsBack(Group):
    kernel = rms_norm_backward_kernel
    size = [8200, 3584]
    problem = "8200x3584 bf16"
    data = {"dY": ("bfloat16", [8200, 3584]), "X": ("bfloat16", [8200, 3584]), "W": ("bfloat16", [3584]), "Rstd": ("float32", [8200]), "dX": ("bfloat16", [8200, 3584]), "dW": ("float32", [132 * 8, 3584])}
    configs = pick(dict(ROWS=[1, 2, 4], PER_SM=[1, 2, 4, 8], num_warps=[4, 8, 16, 32], PIPE=[1, 2, 3, 4]), 14,
                   lambda c: 8 <= 4096 * c["ROWS"] // (32 * c["num_warps"]) <= 64 and c["PER_SM"] * c["num_warps"] <= 64 and c["num_warps"] <= 16 and 8192 * 2 * c["ROWS"] * (c["PIPE"] - 1) < 200000,
                   [dict(ROWS=1, PER_SM=1, num_warps=16, PIPE=1), dict(ROWS=1, PER_SM=4, num_warps=8, PIPE=2), dict(ROWS=1, PER_SM=2, num_warps=8, PIPE=3)], 511)

    def args(self, t, c):
        return [t(n) for n in ("dY", "X", "W", "Rstd", "dX", "dW")] + [3584, 3584, 8200, cdiv(8200, 132 * c["PER_SM"])]

    def meta(self, c):
        return dict(ROWS=c["ROWS"], PIPE=c["PIPE"], num_warps=c["num_warps"], N=3584, BLOCK_SIZE=4096)

    def grid(self, c):
        return (132 * c["PER_SM"], 1, 1)

    def fill(self, torch, t):
        randn(torch, t, ("dY", "X", "W"))
        t["Rstd"].copy_((t["X"].float().square().mean(-1) + 1e-6).rsqrt())

    def finish(self, torch, mine, c):
        return {"dX": mine["dX"], "dW": mine["dW"][:132 * c["PER_SM"]].sum(0)}

    def reference(self, torch, t):
        x, dy, w, r = t["X"].float(), t["dY"].float(), t["W"].float(), t["Rstd"][:, None]
        m = dy * w
        return {"dX": r * m - r ** 3 * (m * x).mean(-1, keepdim=True) * x, "dW": (dy * x * r).sum(0)}


class LinearDgelu(Group):
    kernel = linear_dgelu_kernel
    size = [2000, 10240, 2560]
    problem = "2000x10240x2560 bf16"
    data = {"dY": ("bfloat16", [2000, 2560]), "W": ("bfloat16", [2560, 10240]), "Z": ("bfloat16", [2000, 10240]), "dZ": ("bfloat16", [2000, 10240])}
    configs = pick(dict(BLOCK_M=[32, 64, 128, 256], BLOCK_N=[32, 64, 128, 256], BLOCK_K=[32, 64, 128], GROUP_M=[1, 4, 8, 16], num_warps=[4, 8], num_stages=[1, 2, 3, 4, 5]), 14,
                   lambda c: 16 <= c["BLOCK_M"] * c["BLOCK_N"] // (32 * c["num_warps"]) <= 128 and (c["BLOCK_M"] + c["BLOCK_N"]) * c["BLOCK_K"] * 2 * c["num_stages"] <= 222000
                   and c["BLOCK_M"] * c["BLOCK_N"] >= 4096 and max(c["BLOCK_M"], c["BLOCK_N"]) >= 128 and (c["BLOCK_M"] + c["BLOCK_N"]) * c["BLOCK_K"] >= 512 * c["num_warps"],
                   [dict(BLOCK_M=128, BLOCK_N=256, BLOCK_K=64, GROUP_M=8, num_warps=8, num_stages=3), dict(BLOCK_M=128, BLOCK_N=128, BLOCK_K=64, GROUP_M=8, num_warps=4, num_stages=4),
                    dict(BLOCK_M=128, BLOCK_N=128, BLOCK_K=32, GROUP_M=4, num_warps=8, num_stages=4)], 512)

    def args(self, t, c):
        return [t(n) for n in ("dY", "W", "Z", "dZ")] + [2000, 10240, 2560, 2560, 10240, 10240]

    def grid(self, c):
        return (cdiv(2000, c["BLOCK_M"]) * cdiv(10240, c["BLOCK_N"]), 1, 1)

    def fill(self, torch, t):
        randn(torch, t, ("dY", "Z"))
        randn(torch, t, ("W",), 1 / 50)

    def reference(self, torch, t):
        z = t["Z"].float()
        d = 0.5 * (1 + torch.erf(z * 0.5 ** 0.5)) + z * torch.exp(-0.5 * z * z) / math.sqrt(2 * math.pi)
        return {"dZ": (t["dY"].float() @ t["W"].float()) * d}


class PersistentResid(Group):
    kernel = persistent_resid_mm_kernel
    scratch = True
    size = [2304, 6200, 3200]
    problem = "2304x6200x3200 fp16"
    data = {"A": ("float16", [2304, 3200]), "B": ("float16", [6200, 3200]), "R": ("float16", [2304, 6200]), "C": ("float16", [2304, 6200])}
    configs = pick(dict(BLOCK_M=[64, 128, 256], BLOCK_N=[64, 128, 256], BLOCK_K=[32, 64, 128], GROUP_M=[1, 4, 8], HALVES=[0, 1], FLATTEN=[0, 1], PER_SM=[1, 2], num_warps=[4, 8], num_stages=[2, 3, 4, 5]), 14,
                   lambda c: 32 <= c["BLOCK_M"] * c["BLOCK_N"] // (32 * c["num_warps"]) <= 128 and c["PER_SM"] * ((c["BLOCK_M"] + c["BLOCK_N"]) * c["BLOCK_K"] * 2 * c["num_stages"] + c["BLOCK_M"] * c["BLOCK_N"] * 2 // (1 + c["HALVES"])) <= 222000
                   and 8192 <= c["BLOCK_M"] * c["BLOCK_N"] and c["PER_SM"] * c["BLOCK_M"] * c["BLOCK_N"] <= 32768,
                   [dict(BLOCK_M=128, BLOCK_N=256, BLOCK_K=64, GROUP_M=8, HALVES=1, FLATTEN=1, PER_SM=1, num_warps=8, num_stages=3), dict(BLOCK_M=128, BLOCK_N=128, BLOCK_K=64, GROUP_M=8, HALVES=0, FLATTEN=1, PER_SM=1, num_warps=4, num_stages=4),
                    dict(BLOCK_M=128, BLOCK_N=128, BLOCK_K=128, GROUP_M=4, HALVES=1, FLATTEN=0, PER_SM=1, num_warps=8, num_stages=3)], 513)

    def args(self, t, c):
        return [t(n) for n in "ABRC"] + [2304, 6200, 3200, 0.75]

    def meta(self, c):
        return {k: v for k, v in c.items() if k != "PER_SM"}

    def grid(self, c):
        return (min(132 * c["PER_SM"], cdiv(2304, c["BLOCK_M"]) * cdiv(6200, c["BLOCK_N"])), 1, 1)

    def fill(self, torch, t):
        randn(torch, t, "AR")
        randn(torch, t, "B", 1 / 57)

    def reference(self, torch, t):
        return {"C": 0.75 * (t["A"].float() @ t["B"].float().T) + t["R"].float()}


class PagedPrefill(Group):
    kernel = paged_prefill_attn_kernel
    QL, CTX = [700, 333, 1024, 129, 512], [1500, 3000, 0, 4000, 2047]
    size = [2698, 32, 4, 128]
    problem = "5 sequences 2698 queries 10547 before 32x4x128 pages of 16 bf16"
    data = {"Q": ("bfloat16", [2698, 4096]), "KC": ("bfloat16", [1024, 16, 4, 128]), "VC": ("bfloat16", [1024, 16, 4, 128]), "O": ("bfloat16", [2698, 4096]), "Tables": ("int32", [5, 264]), "Cu": ("int32", [6]), "Lens": ("int32", [5])}
    configs = pick(dict(BLOCK_M=[16, 32, 64, 128], TILE=[16, 32, 64, 128], LATE_FIRST=[0, 1], num_warps=[2, 4, 8], num_stages=[1, 2, 3, 4]), 14,
                   lambda c: c["BLOCK_M"] >= 16 * (c["num_warps"] // 2) / 2 and 8 <= c["BLOCK_M"] * 128 // (32 * c["num_warps"]) <= 128 and c["TILE"] * 512 * c["num_stages"] + c["BLOCK_M"] * 256 <= 222000
                   and c["BLOCK_M"] * c["TILE"] >= 1024 and (c["TILE"] <= 64 or c["num_warps"] >= 4),
                   [dict(BLOCK_M=128, TILE=64, LATE_FIRST=1, num_warps=8, num_stages=2), dict(BLOCK_M=64, TILE=32, LATE_FIRST=0, num_warps=4, num_stages=3), dict(BLOCK_M=128, TILE=128, LATE_FIRST=1, num_warps=8, num_stages=2)], 514)

    def args(self, t, c):
        return [t(n) for n in ("Q", "KC", "VC", "O", "Tables", "Cu", "Lens")] + [1 / math.sqrt(128), 4096, 264, 16 * 512, 512]

    def meta(self, c):
        return dict(c, RATIO=8, HEAD_DIM=128, PAGE=16)

    def grid(self, c):
        return (cdiv(1024, c["BLOCK_M"] // 8), 4, 5)

    def fill(self, torch, t):
        randn(torch, t, ("Q", "KC", "VC"))
        cu = [0]
        for n in self.QL:
            cu.append(cu[-1] + n)
        t["Cu"].copy_(torch.tensor(cu))
        t["Lens"].copy_(torch.tensor([a + b for a, b in zip(self.QL, self.CTX)]))
        perm, at = torch.randperm(1024, device="cuda"), 0
        for i in range(5):
            n = cdiv(self.QL[i] + self.CTX[i], 16)
            t["Tables"][i, :n].copy_(perm[at:at + n])
            at += n

    def reference(self, torch, t):
        out, at = torch.empty(2698, 32, 128, device="cuda"), 0
        for i, (ql, ctx) in enumerate(zip(self.QL, self.CTX)):
            n = ql + ctx
            pages = t["Tables"][i, :cdiv(n, 16)].long()
            k, v = (t[x][pages].reshape(-1, 4, 128)[:n].float() for x in ("KC", "VC"))
            q = t["Q"][at:at + ql].float().reshape(ql, 32, 128)
            bad = torch.arange(n, device="cuda")[None] > ctx + torch.arange(ql, device="cuda")[:, None]
            for h in range(32):
                s = (q[:, h] @ k[:, h // 8].T / math.sqrt(128)).masked_fill(bad, float("-inf"))
                out[at:at + ql, h] = torch.softmax(s, -1) @ v[:, h // 8]
            at += ql
        return {"O": out.reshape(2698, 4096)}


class SiluQuant(Group):
    kernel = silu_mul_fp8_quant_kernel
    size = [7000, 2816]
    problem = "7000x2816 bf16 to e4m3 groups of 128"
    tol = 0.05
    data = {"X": ("bfloat16", [7000, 5632]), "Q": ("float8_e4m3fn", [7000, 2816]), "S": ("float32", [7000, 22])}
    configs = pick(dict(ROWS=[1, 2, 4, 8, 16], GROUPS=[1, 2, 4, 8, 32], STEPS=[1, 2, 4, 8], POW2=[0, 1], PIPE=[1, 2, 3, 4], num_warps=[1, 2, 4, 8, 16]), 14,
                   lambda c: 4 <= c["ROWS"] * c["GROUPS"] * 4 // c["num_warps"] <= 64 and (c["STEPS"] > 1 or c["PIPE"] == 1) and c["STEPS"] * c["ROWS"] <= 32 and c["ROWS"] * c["GROUPS"] * 512 * c["PIPE"] <= 200000,
                   [dict(ROWS=1, GROUPS=1, STEPS=1, POW2=0, PIPE=1, num_warps=1), dict(ROWS=8, GROUPS=1, STEPS=4, POW2=0, PIPE=3, num_warps=4), dict(ROWS=1, GROUPS=8, STEPS=1, POW2=1, PIPE=1, num_warps=4)], 515)

    def args(self, t, c):
        return [t(n) for n in "XQS"] + [7000, 5632, 2816, 22]

    def meta(self, c):
        return dict(c, H=2816)

    def grid(self, c):
        return (cdiv(7000, c["ROWS"] * c["STEPS"]), cdiv(22, c["GROUPS"]), 1)

    def fill(self, torch, t):
        randn(torch, t, "X")

    def finish(self, torch, mine, c):
        return {"Q": (mine["Q"].float().reshape(7000, 22, 128) * mine["S"][..., None]).reshape(7000, 2816), "S": (mine["S"] < 1).float()}

    def reference(self, torch, t):
        g, u = t["X"].float().chunk(2, -1)
        return {"Q": torch.nn.functional.silu(g) * u, "S": torch.ones(7000, 22, device="cuda")}


class AdamW(Group):
    kernel = adamw_step_kernel
    N = 17000123
    size = [17000123]
    problem = "17000123 fp32 with bf16 gradients"
    tol = 0.004
    data = {"P": ("float32", [N]), "G": ("bfloat16", [N]), "M": ("float32", [N]), "V": ("float32", [N]), "Pb": ("bfloat16", [N]), "Clip": ("float32", [1])}
    configs = pick(dict(BLOCK_SIZE=[128, 256, 512, 1024, 2048, 4096, 8192], LOOP=[0, 2, 4, 8], EVICT=[0, 1], num_warps=[1, 2, 4, 8, 16], num_stages=[1, 2, 3]), 14,
                   lambda c: 2 <= c["BLOCK_SIZE"] // (32 * c["num_warps"]) <= 32 and (c["LOOP"] or c["num_stages"] == 3) and (not c["LOOP"] or c["LOOP"] * c["num_warps"] >= 16) and c["LOOP"] * c["num_warps"] <= 64
                   and (not c["LOOP"] or c["BLOCK_SIZE"] * 14 * (c["num_stages"] - 1) * c["LOOP"] <= 220000),
                   [dict(BLOCK_SIZE=1024, LOOP=0, EVICT=0, num_warps=4, num_stages=3), dict(BLOCK_SIZE=2048, LOOP=4, EVICT=0, num_warps=8, num_stages=2), dict(BLOCK_SIZE=512, LOOP=0, EVICT=1, num_warps=4, num_stages=3)], 516)

    def args(self, t, c):
        return [t(n) for n in ("P", "G", "M", "V", "Pb", "Clip")] + [0.05, 0.9, 0.95, 1e-8, 0.1, 1 - 0.9 ** 3, 1 - 0.95 ** 3, self.N]

    def meta(self, c):
        return dict(c, LOOP=int(c["LOOP"] > 0))

    def grid(self, c):
        return (132 * c["LOOP"] if c["LOOP"] else cdiv(self.N, c["BLOCK_SIZE"]), 1, 1)

    def fill(self, torch, t):
        randn(torch, t, "G")
        t["Clip"].fill_(0.5)

    def finish(self, torch, mine, c):
        return {"P": (mine["P"] - 7) * 5, "M": mine["M"], "V": mine["V"], "Pb": mine["Pb"]}

    def reference(self, torch, t):
        g = t["G"].float() * 0.5
        m, v = 0.9 * 7 + 0.1 * g, 0.95 * 7 + 0.05 * g * g
        p = 7 * (1 - 0.05 * 0.1) - 0.05 * (m / (1 - 0.9 ** 3)) / ((v / (1 - 0.95 ** 3)).sqrt() + 1e-8)
        return {"P": (p - 7) * 5, "M": m, "V": v, "Pb": p}


class SoftmaxBack(Group):
    kernel = softmax_backward_kernel
    size = [20000, 1500]
    problem = "20000x1500 bf16"
    data = {"Y": ("bfloat16", [20000, 1500]), "dY": ("bfloat16", [20000, 1500]), "dX": ("bfloat16", [20000, 1500])}
    configs = pick(dict(TILE_M=[1, 2, 4, 8, 16, 32], TILE_N=[64, 128, 256, 512, 1024, 2048], num_warps=[1, 2, 4, 8, 16], PIPE=[1, 2, 3, 4]), 14,
                   lambda c: 4 <= c["TILE_M"] * c["TILE_N"] // (32 * c["num_warps"]) <= 64 and (c["TILE_N"] < 1500 or c["PIPE"] == 1) and (c["TILE_N"] >= 256 or c["TILE_M"] >= 4),
                   [dict(TILE_M=1, TILE_N=2048, num_warps=4, PIPE=1), dict(TILE_M=4, TILE_N=512, num_warps=8, PIPE=2), dict(TILE_M=2, TILE_N=2048, num_warps=8, PIPE=1), dict(TILE_M=4, TILE_N=2048, num_warps=8, PIPE=1)], 517)

    def args(self, t, c):
        return [t(n) for n in ("Y", "dY", "dX")] + [20000]

    def meta(self, c):
        return dict(c, N=1500, ONE_TILE=int(c["TILE_N"] >= 1500))

    def grid(self, c):
        return (cdiv(20000, c["TILE_M"]), 1, 1)

    def fill(self, torch, t):
        t["Y"].copy_(torch.softmax(torch.randn(20000, 1500, device="cuda"), -1))
        randn(torch, t, ("dY",))

    def reference(self, torch, t):
        y, dy = t["Y"].float(), t["dY"].float()
        return {"dX": y * (dy - (y * dy).sum(-1, keepdim=True))}


class GlaOut(Group):
    kernel = chunk_gla_out_kernel
    size = [2, 3000, 8, 256, 256]
    problem = "2x3000 8 heads 256x256 chunks of 64 bf16"
    data = {"q": ("bfloat16", [2, 3000, 8, 256]), "v": ("bfloat16", [2, 3000, 8, 256]), "g": ("float32", [2, 3000, 8, 256]), "h": ("bfloat16", [2, 47, 8, 256, 256]), "o": ("bfloat16", [2, 3000, 8, 256]), "A": ("float32", [2, 3000, 8, 64])}
    configs = pick(dict(BK=[16, 32, 64, 128], BV=[32, 64, 128, 256], num_warps=[1, 2, 4, 8], num_stages=[1, 2, 3, 4]), 14,
                   lambda c: 8 <= 2 * c["BV"] // c["num_warps"] <= 128 and c["num_stages"] * c["BK"] * (64 * 6 + 2 * c["BV"]) <= 200000 and c["BK"] * 2 // c["num_warps"] <= 64 and c["BK"] * 2 // c["num_warps"] >= 8,
                   [dict(BK=64, BV=64, num_warps=4, num_stages=3), dict(BK=64, BV=128, num_warps=8, num_stages=2), dict(BK=32, BV=128, num_warps=4, num_stages=4), dict(BK=64, BV=128, num_warps=4, num_stages=2)], 518)

    def args(self, t, c):
        return [t(n) for n in ("q", "v", "g", "h", "o", "A")] + [0.0625, 3000]

    def meta(self, c):
        return dict(c, H=8, K=256, V=256, BT=64)

    def grid(self, c):
        return (256 // c["BV"], 47, 16)

    def fill(self, torch, t):
        randn(torch, t, "qvh")
        t["g"].copy_(-torch.rand(t["g"].shape, device="cuda") * 2)
        randn(torch, t, "A")

    def reference(self, torch, t):
        pad = lambda x: torch.nn.functional.pad(x.float(), (0, 0, 0, 0, 0, 8)).reshape(2, 47, 64, 8, -1).transpose(2, 3)
        qg = pad(t["q"].float() * 0.0625 * t["g"].exp())
        o = qg @ t["h"].float() + pad(t["A"]).tril() @ pad(t["v"])
        return {"o": o.transpose(2, 3).reshape(2, 3008, 8, 256)[:, :3000]}


class AwqDequant(Group):
    kernel = awq_dequant_kernel
    size = [5120, 13824]
    problem = "5120x13824 int4 groups of 128 to fp16"
    data = {"W": ("int32", [5120, 1728]), "S": ("float16", [40, 13824]), "Z": ("int32", [40, 1728]), "Out": ("float16", [5120, 13824])}
    configs = pick(dict(BLOCK_X=[4, 8, 16, 32, 64, 128, 256], BLOCK_Y=[1, 2, 4, 8, 16, 32, 64, 128], num_warps=[1, 2, 4, 8]), 14,
                   lambda c: 4 <= c["BLOCK_X"] * c["BLOCK_Y"] * 8 // (32 * c["num_warps"]) <= 128 and c["BLOCK_X"] * c["BLOCK_Y"] >= 64,
                   [dict(BLOCK_X=32, BLOCK_Y=32, num_warps=4), dict(BLOCK_X=64, BLOCK_Y=4, num_warps=4), dict(BLOCK_X=128, BLOCK_Y=8, num_warps=4)], 519)

    def args(self, t, c):
        return [t(n) for n in ("W", "S", "Z", "Out")] + [5120, 1728]

    def meta(self, c):
        return dict(c, GROUP=128)

    def grid(self, c):
        return (cdiv(1728, c["BLOCK_X"]), cdiv(5120, c["BLOCK_Y"]), 1)

    def fill(self, torch, t):
        for n in "WZ":
            t[n].copy_(torch.randint(-2 ** 31, 2 ** 31, t[n].shape, device="cuda"))
        t["S"].copy_(torch.rand(t["S"].shape, device="cuda") * 0.02)

    def reference(self, torch, t):
        sh = torch.tensor([0, 4, 1, 5, 2, 6, 3, 7], device="cuda") * 4
        un = lambda x: ((x[..., None] >> sh) & 15).reshape(x.shape[0], -1).float()
        return {"Out": (un(t["W"]) - un(t["Z"]).repeat_interleave(128, 0)) * t["S"].float().repeat_interleave(128, 0)}


class MoeCombine(Group):
    kernel = moe_combine_kernel
    size = [7001, 8, 2304]
    problem = "7001 tokens of 2304 top 8 bf16"
    data = {"Y": ("bfloat16", [56008, 2304]), "Wt": ("float32", [7001, 8]), "Inv": ("int32", [7001, 8]), "Sh": ("bfloat16", [7001, 2304]), "Out": ("bfloat16", [7001, 2304])}
    configs = pick(dict(TOKENS=[1, 2, 4, 8, 16], BLOCK_H=[64, 128, 256, 512, 1024, 4096], UNROLL=[0, 1], PIPE=[1, 2, 3, 4], num_warps=[1, 2, 4, 8, 16]), 14,
                   lambda c: 2 <= c["TOKENS"] * c["BLOCK_H"] // (32 * c["num_warps"]) <= 32 and (not c["UNROLL"] or c["PIPE"] == 1) and c["TOKENS"] * c["BLOCK_H"] >= 256 and c["TOKENS"] * c["BLOCK_H"] * c["PIPE"] <= 50000,
                   [dict(TOKENS=1, BLOCK_H=1024, UNROLL=1, PIPE=1, num_warps=4), dict(TOKENS=4, BLOCK_H=256, UNROLL=0, PIPE=3, num_warps=4), dict(TOKENS=1, BLOCK_H=4096, UNROLL=0, PIPE=1, num_warps=8), dict(TOKENS=1, BLOCK_H=512, UNROLL=1, PIPE=1, num_warps=2)], 520)

    def args(self, t, c):
        return [t(n) for n in ("Y", "Wt", "Inv", "Sh", "Out")] + [7001, 2304, 2.5]

    def meta(self, c):
        return dict(c, H=2304, TOPK=8)

    def grid(self, c):
        return (cdiv(7001, c["TOKENS"]), cdiv(2304, c["BLOCK_H"]), 1)

    def fill(self, torch, t):
        randn(torch, t, ("Y", "Sh"))
        t["Wt"].copy_(torch.softmax(torch.randn(7001, 8, device="cuda"), -1))
        t["Inv"].copy_(torch.randperm(56008, device="cuda").reshape(7001, 8))

    def reference(self, torch, t):
        return {"Out": 2.5 * torch.einsum("tk,tkh->th", t["Wt"], t["Y"][t["Inv"].long()].float()) + t["Sh"].float()}


class MqaLogits(Group):
    kernel = mqa_logits_kernel
    size = [1000, 5000, 32, 128]
    problem = "1000x5000 32 heads of 128 e4m3"
    data = {"Q": ("float8_e4m3fn", [1000, 32, 128]), "K": ("float8_e4m3fn", [5000, 128]), "Ks": ("float32", [5000]), "W": ("float32", [1000, 32]), "Out": ("float32", [1000, 5000])}
    configs = pick(dict(ROWS=[1, 2, 4, 5, 8, 10, 20, 40], BLOCK_N=[64, 128, 256, 512], PIPE=[1, 2, 3, 4, 5], num_warps=[2, 4, 8, 16]), 14,
                   lambda c: c["BLOCK_N"] * 32 // (32 * c["num_warps"]) <= 64 and c["BLOCK_N"] >= 16 * c["num_warps"] and (c["ROWS"] > 2 or c["PIPE"] == 1) and c["num_warps"] * c["ROWS"] >= 8,
                   [dict(ROWS=10, BLOCK_N=128, PIPE=3, num_warps=4), dict(ROWS=40, BLOCK_N=256, PIPE=4, num_warps=8), dict(ROWS=20, BLOCK_N=128, PIPE=2, num_warps=8)], 521)

    def args(self, t, c):
        return [t(n) for n in ("Q", "K", "Ks", "W", "Out")] + [1000, 5000, 5000]

    def meta(self, c):
        return dict(c, H=32, D=128)

    def grid(self, c):
        return (cdiv(5000, c["BLOCK_N"]), 1000 // c["ROWS"], 1)

    def fill(self, torch, t):
        randn(torch, t, "QKW")
        t["Ks"].copy_(torch.rand(5000, device="cuda"))

    def reference(self, torch, t):
        q, k = t["Q"].float(), t["K"].float()
        out = torch.empty(1000, 5000, device="cuda")
        for i in range(0, 1000, 100):
            out[i:i + 100] = torch.einsum("mhn,mh->mn", (q[i:i + 100] @ k.T).relu(), t["W"][i:i + 100]) * t["Ks"]
        return {"Out": out}
