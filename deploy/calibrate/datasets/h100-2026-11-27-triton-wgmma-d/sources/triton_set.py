"""Triton kernels of the fourth blind set, eleven groups, and the spaces they are tuned over."""
import math
import random

import triton
import triton.language as tl
from triton.language.extra import libdevice

LOG2E = 1.4426950408889634


# --------------------------------------------------------------------------- dropout + residual + layer norm, forward
@triton.jit
def dropout_add_layernorm_kernel(X, R, W, B, Y, H, Mean, Rstd, stride, eps, p, seed,
                                 N: tl.constexpr, BLOCK_SIZE: tl.constexpr, ROWS: tl.constexpr, PIPE: tl.constexpr):
    rows = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    base = rows[:, None] * stride
    if BLOCK_SIZE >= N:
        cols = tl.arange(0, BLOCK_SIZE)[None, :]
        mask = cols < N
        x = tl.load(X + base + cols, mask=mask, other=0.0).to(tl.float32)
        r = tl.load(R + base + cols, mask=mask, other=0.0).to(tl.float32)
        keep = tl.rand(seed, (rows[:, None] * N + cols).to(tl.int32)) > p
        h = tl.where(keep, x / (1 - p), 0.0) + r
        tl.store(H + base + cols, h.to(tl.bfloat16), mask=mask)
        mean = tl.sum(h, axis=1) / N
        d = tl.where(mask, h - mean[:, None], 0.0)
        rstd = 1 / tl.sqrt(tl.sum(d * d, axis=1) / N + eps)
        w = tl.load(W + cols, mask=mask, other=0.0)
        b = tl.load(B + cols, mask=mask, other=0.0)
        tl.store(Y + base + cols, (d * rstd[:, None] * w + b).to(tl.bfloat16), mask=mask)
    else:
        s = tl.zeros([ROWS, BLOCK_SIZE], dtype=tl.float32)
        ss = tl.zeros([ROWS, BLOCK_SIZE], dtype=tl.float32)
        for off in tl.range(0, N, BLOCK_SIZE, num_stages=PIPE):
            cols = off + tl.arange(0, BLOCK_SIZE)[None, :]
            mask = cols < N
            x = tl.load(X + base + cols, mask=mask, other=0.0, eviction_policy="evict_first").to(tl.float32)
            r = tl.load(R + base + cols, mask=mask, other=0.0, eviction_policy="evict_first").to(tl.float32)
            keep = tl.rand(seed, (rows[:, None] * N + cols).to(tl.int32)) > p
            h = tl.where(keep, x / (1 - p), 0.0) + r
            tl.store(H + base + cols, h.to(tl.bfloat16), mask=mask)
            s += h
            ss += h * h
        mean = tl.sum(s, axis=1) / N
        var = tl.sum(ss, axis=1) / N - mean * mean
        rstd = tl.rsqrt(var + eps)
        tl.debug_barrier()
        for off in tl.range(0, N, BLOCK_SIZE, num_stages=PIPE):
            cols = off + tl.arange(0, BLOCK_SIZE)[None, :]
            mask = cols < N
            h = tl.load(H + base + cols, mask=mask, other=0.0).to(tl.float32)
            w = tl.load(W + cols, mask=mask, other=0.0)
            b = tl.load(B + cols, mask=mask, other=0.0)
            y = (h - mean[:, None]) * rstd[:, None] * w + b
            tl.store(Y + base + cols, y.to(tl.bfloat16), mask=mask)
    tl.store(Mean + rows, mean)
    tl.store(Rstd + rows, rstd)


# --------------------------------------------------------------------------- GEGLU (tanh), backward
@triton.jit
def geglu_tanh_backward_kernel(dc, a, b, da, db, stride, n_cols, BLOCK_SIZE: tl.constexpr, SPLIT: tl.constexpr, PIPE: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    dc += row * stride
    a += row * stride
    b += row * stride
    da += row * stride
    db += row * stride
    for start in tl.range(tl.program_id(1) * BLOCK_SIZE, n_cols, BLOCK_SIZE * SPLIT, num_stages=PIPE):
        cols = start + tl.arange(0, BLOCK_SIZE)
        mask = cols < n_cols
        dc_row = tl.load(dc + cols, mask=mask, other=0)
        a_row = tl.load(a + cols, mask=mask, other=0).to(tl.float32)
        b_row = tl.load(b + cols, mask=mask, other=0)
        sqrt_2_over_pi = 0.7978845608028654
        a_cubed = a_row * a_row * a_row
        tanh_result = libdevice.tanh(sqrt_2_over_pi * (a_row + 0.044715 * a_cubed))
        geglu_a = (0.5 * a_row * (1 + tanh_result)).cast(dc_row.dtype)
        db_row = dc_row.cast(tl.float32) * geglu_a
        term1 = 0.5 * (1.0 + tanh_result)
        tanh_sq = tanh_result * tanh_result
        term2 = 0.5 * a_row * (1.0 - tanh_sq) * (sqrt_2_over_pi * (1.0 + 3.0 * 0.044715 * a_row * a_row))
        da_row = dc_row * b_row * (term1 + term2)
        tl.store(da + cols, da_row.to(tl.bfloat16), mask=mask)
        tl.store(db + cols, db_row.to(tl.bfloat16), mask=mask)


# --------------------------------------------------------------------------- attention over ragged sequences, soft cap, sinks, grouped heads
@triton.jit
def varlen_sink_attn_kernel(Q, K, V, O, Sinks, Cu_seqlens, stride_qt, stride_kt, qk_scale, cap,
                            RATIO: tl.constexpr, HEAD_DIM: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, TWO_LOOPS: tl.constexpr):
    seq = tl.program_id(2)
    head = tl.program_id(1)
    start_m = tl.program_id(0) * BLOCK_M
    first = tl.load(Cu_seqlens + seq)
    seqlen = tl.load(Cu_seqlens + seq + 1) - first
    if start_m >= seqlen:
        return
    offs_m = start_m + tl.arange(0, BLOCK_M)
    offs_n = tl.arange(0, BLOCK_N)
    offs_d = tl.arange(0, HEAD_DIM)
    q = tl.load(Q + (first + offs_m)[:, None] * stride_qt + head * HEAD_DIM + offs_d[None, :], mask=offs_m[:, None] < seqlen, other=0.0)
    k_base = K + first * stride_kt + (head // RATIO) * HEAD_DIM
    v_base = V + first * stride_kt + (head // RATIO) * HEAD_DIM
    sink = tl.load(Sinks + head)
    m_i = tl.zeros([BLOCK_M], dtype=tl.float32) + sink * 1.44269504
    l_i = tl.zeros([BLOCK_M], dtype=tl.float32) + 1.0
    acc = tl.zeros([BLOCK_M, HEAD_DIM], dtype=tl.float32)
    end = tl.minimum(start_m + BLOCK_M, seqlen)
    whole = 0
    if TWO_LOOPS:
        whole = start_m // BLOCK_N * BLOCK_N
        for start_n in range(0, whole, BLOCK_N):
            k = tl.load(k_base + (start_n + offs_n)[None, :] * stride_kt + offs_d[:, None])
            qk = tl.dot(q, k) * (2.0 * qk_scale / cap)
            qk = cap * 1.44269504 * (2.0 * tl.sigmoid(qk) - 1.0)
            m_new = tl.maximum(m_i, tl.max(qk, 1))
            p = tl.math.exp2(qk - m_new[:, None])
            alpha = tl.math.exp2(m_i - m_new)
            l_i = l_i * alpha + tl.sum(p, 1)
            v = tl.load(v_base + (start_n + offs_n)[:, None] * stride_kt + offs_d[None, :])
            acc = tl.dot(p.to(tl.bfloat16), v, acc * alpha[:, None])
            m_i = m_new
    for start_n in range(whole, end, BLOCK_N):
        cols = start_n + offs_n
        k = tl.load(k_base + cols[None, :] * stride_kt + offs_d[:, None], mask=cols[None, :] < seqlen, other=0.0)
        qk = tl.dot(q, k) * (2.0 * qk_scale / cap)
        qk = cap * 1.44269504 * (2.0 * tl.sigmoid(qk) - 1.0)
        qk = tl.where(offs_m[:, None] >= cols[None, :], qk, -1.0e6)
        m_new = tl.maximum(m_i, tl.max(qk, 1))
        p = tl.math.exp2(qk - m_new[:, None])
        alpha = tl.math.exp2(m_i - m_new)
        l_i = l_i * alpha + tl.sum(p, 1)
        v = tl.load(v_base + cols[:, None] * stride_kt + offs_d[None, :], mask=cols[:, None] < seqlen, other=0.0)
        acc = tl.dot(p.to(tl.bfloat16), v, acc * alpha[:, None])
        m_i = m_new
    acc = acc / l_i[:, None]
    tl.store(O + (first + offs_m)[:, None] * stride_qt + head * HEAD_DIM + offs_d[None, :], acc.to(tl.bfloat16), mask=offs_m[:, None] < seqlen)


# --------------------------------------------------------------------------- gated delta rule: w and u of a chunk from its inverse matrix
@triton.jit
def delta_wu_chunk_kernel(k, v, beta, g, A, w, u, T, H: tl.constexpr, K: tl.constexpr, V: tl.constexpr, BT: tl.constexpr,
                          BK: tl.constexpr, BV: tl.constexpr):
    i_t, i_bh = tl.program_id(0), tl.program_id(1)
    i_b, i_h = i_bh // H, i_bh % H
    bos = i_b * T
    p_beta = tl.make_block_ptr(beta + bos * H + i_h, (T,), (H,), (i_t * BT,), (BT,), (0,))
    p_g = tl.make_block_ptr(g + bos * H + i_h, (T,), (H,), (i_t * BT,), (BT,), (0,))
    p_A = tl.make_block_ptr(A + (bos * H + i_h) * BT, (T, BT), (H * BT, 1), (i_t * BT, 0), (BT, BT), (1, 0))
    b_beta = tl.load(p_beta, boundary_check=(0,))
    b_g = tl.exp(tl.load(p_g, boundary_check=(0,)))
    b_A = tl.load(p_A, boundary_check=(0, 1))
    for i_v in range(V // BV):
        p_v = tl.make_block_ptr(v + (bos * H + i_h) * V, (T, V), (H * V, 1), (i_t * BT, i_v * BV), (BT, BV), (1, 0))
        p_u = tl.make_block_ptr(u + (bos * H + i_h) * V, (T, V), (H * V, 1), (i_t * BT, i_v * BV), (BT, BV), (1, 0))
        b_v = tl.load(p_v, boundary_check=(0, 1))
        b_vb = (b_v * b_beta[:, None]).to(b_v.dtype)
        b_u = tl.dot(b_A, b_vb, allow_tf32=False)
        tl.store(p_u, b_u.to(p_u.dtype.element_ty), boundary_check=(0, 1))
    for i_k in range(K // BK):
        p_k = tl.make_block_ptr(k + (bos * H + i_h) * K, (T, K), (H * K, 1), (i_t * BT, i_k * BK), (BT, BK), (1, 0))
        p_w = tl.make_block_ptr(w + (bos * H + i_h) * K, (T, K), (H * K, 1), (i_t * BT, i_k * BK), (BT, BK), (1, 0))
        b_k = tl.load(p_k, boundary_check=(0, 1))
        b_kb = (b_k * b_beta[:, None] * b_g[:, None]).to(b_k.dtype)
        b_w = tl.dot(b_A, b_kb)
        tl.store(p_w, b_w.to(p_w.dtype.element_ty), boundary_check=(0, 1))


# --------------------------------------------------------------------------- LoRA shrink: x A^T, a set of adapters, tokens sorted by adapter
@triton.jit
def lora_shrink_kernel(x_ptr, lora_ptr, out_ptr, token_indices, lora_start, K, stride_xm, stride_ls, stride_ll, stride_os, scaling,
                       RANK: tl.constexpr, SLICES: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_K: tl.constexpr, SPLIT_K: tl.constexpr):
    pid_sk = tl.program_id(0) % SPLIT_K
    pid_m = tl.program_id(0) // SPLIT_K
    slice_id = tl.program_id(1)
    lora_id = tl.program_id(2)
    first = tl.load(lora_start + lora_id)
    count = tl.load(lora_start + lora_id + 1) - first
    if pid_m * BLOCK_M >= count:
        return
    rows = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    live = rows < count
    ram = tl.load(token_indices + first + rows % count)
    offs_n = tl.arange(0, RANK)
    offs_k = pid_sk * BLOCK_K + tl.arange(0, BLOCK_K)
    a_ptrs = x_ptr + ram[:, None] * stride_xm + offs_k[None, :]
    b_ptrs = lora_ptr + slice_id * stride_ls + lora_id * stride_ll + offs_n[None, :] * K + offs_k[:, None]
    accumulator = tl.zeros((BLOCK_M, RANK), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_K * SPLIT_K)):
        left = K - k * (BLOCK_K * SPLIT_K)
        a = tl.load(a_ptrs, mask=offs_k[None, :] < left, other=0.0)
        b = tl.load(b_ptrs, mask=offs_k[:, None] < left, other=0.0)
        accumulator = tl.dot(a, b, accumulator)
        a_ptrs += BLOCK_K * SPLIT_K
        b_ptrs += BLOCK_K * SPLIT_K
    accumulator *= scaling
    c_ptrs = out_ptr + slice_id * stride_os + ram[:, None] * RANK + offs_n[None, :]
    if SPLIT_K == 1:
        tl.store(c_ptrs, accumulator, mask=live[:, None])
    else:
        tl.atomic_add(c_ptrs, accumulator, mask=live[:, None], sem="relaxed")


# --------------------------------------------------------------------------- int8 by int8 with scales a row and a column, bias
@triton.jit
def scaled_mm_s8_kernel(a_ptr, b_ptr, scale_a_ptr, scale_b_ptr, bias_ptr, c_ptr, M, N, K, stride_am, stride_bn, stride_cm,
                        BLOCK_SIZE_M: tl.constexpr, BLOCK_SIZE_N: tl.constexpr, BLOCK_SIZE_K: tl.constexpr, GROUP_M: tl.constexpr):
    pid = tl.program_id(axis=0)
    num_pid_m = tl.cdiv(M, BLOCK_SIZE_M)
    num_pid_n = tl.cdiv(N, BLOCK_SIZE_N)
    if GROUP_M == 0:
        pid_m = pid // num_pid_n
        pid_n = pid % num_pid_n
    else:
        width = GROUP_M * num_pid_n
        group = pid // width
        size_m = min(num_pid_m - group * GROUP_M, GROUP_M)
        pid_m = group * GROUP_M + pid % size_m
        pid_n = (pid % width) // size_m
    offs_am = pid_m * BLOCK_SIZE_M + tl.arange(0, BLOCK_SIZE_M)
    offs_bn = pid_n * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N)
    offs_k = tl.arange(0, BLOCK_SIZE_K)
    ra = tl.where(offs_am < M, offs_am, 0)
    a_ptrs = a_ptr + ra[:, None] * stride_am + offs_k[None, :]
    b_ptrs = b_ptr + offs_k[:, None] + offs_bn[None, :] * stride_bn
    accumulator = tl.zeros((BLOCK_SIZE_M, BLOCK_SIZE_N), dtype=tl.int32)
    for k in range(0, tl.cdiv(K, BLOCK_SIZE_K)):
        a = tl.load(a_ptrs)
        b = tl.load(b_ptrs)
        accumulator = tl.dot(a, b, accumulator, out_dtype=tl.int32)
        a_ptrs += BLOCK_SIZE_K
        b_ptrs += BLOCK_SIZE_K
    scale_a = tl.load(scale_a_ptr + offs_am, mask=offs_am < M, other=0.0)
    scale_b = tl.load(scale_b_ptr + offs_bn)
    c = scale_a[:, None] * accumulator.to(tl.float32)
    c = scale_b[None, :] * c
    bias = tl.load(bias_ptr + offs_bn).to(tl.float32)
    c = (c + bias[None, :]).to(tl.bfloat16)
    c_ptrs = c_ptr + stride_cm * offs_am[:, None] + offs_bn[None, :]
    tl.store(c_ptrs, c, mask=offs_am[:, None] < M)


# --------------------------------------------------------------------------- interleaved rotary embedding of q and k, k and v go into a paged cache
@triton.jit
def rope_cache_write_kernel(QKV, Cos_sin, Positions, Slots, Q_out, K_cache, V_cache, T, stride_qkv, stride_q, stride_slot,
                            HEADS: tl.constexpr, KV_HEADS: tl.constexpr, HEAD_DIM: tl.constexpr, BLOCK_T: tl.constexpr, HEADS_EACH: tl.constexpr, PIPE: tl.constexpr):
    HALF: tl.constexpr = HEAD_DIM // 2
    toks = tl.program_id(0) * BLOCK_T + tl.arange(0, BLOCK_T)
    live = toks < T
    pos = tl.load(Positions + toks, mask=live, other=0)
    slot = tl.load(Slots + toks, mask=live, other=0).to(tl.int64)
    offs_d = tl.arange(0, HEAD_DIM)
    offs_h = tl.arange(0, HALF)
    cos = tl.load(Cos_sin + pos[:, None] * HEAD_DIM + offs_h[None, :])
    sin = tl.load(Cos_sin + pos[:, None] * HEAD_DIM + HALF + offs_h[None, :])
    for i in tl.range(HEADS_EACH, num_stages=PIPE):
        head = tl.program_id(1) * HEADS_EACH + i
        x = tl.load(QKV + toks[:, None] * stride_qkv + head * HEAD_DIM + offs_d[None, :], mask=live[:, None], other=0.0)
        if head < HEADS + KV_HEADS:
            x1, x2 = tl.split(tl.reshape(x.to(tl.float32), (BLOCK_T, HALF, 2)))
            y = tl.reshape(tl.join(x1 * cos - x2 * sin, x2 * cos + x1 * sin), (BLOCK_T, HEAD_DIM)).to(tl.bfloat16)
            if head < HEADS:
                tl.store(Q_out + toks[:, None] * stride_q + head * HEAD_DIM + offs_d[None, :], y, mask=live[:, None])
            else:
                tl.store(K_cache + slot[:, None] * stride_slot + (head - HEADS) * HEAD_DIM + offs_d[None, :], y, mask=live[:, None])
        else:
            tl.store(V_cache + slot[:, None] * stride_slot + (head - HEADS - KV_HEADS) * HEAD_DIM + offs_d[None, :], x, mask=live[:, None])


# --------------------------------------------------------------------------- distillation: KL(teacher | student) of logits and its gradient, a row a program
@triton.jit
def distill_kl_kernel(S, Tch, DS, Loss, stride, V, inv_temp, grad_scale, BLOCK_SIZE: tl.constexpr, UNROLL: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    S += row * stride
    Tch += row * stride
    DS += row * stride
    ms = float("-inf")
    mt = float("-inf")
    ds = 0.0
    dt = 0.0
    acc = 0.0
    for i in tl.range(0, V, BLOCK_SIZE, loop_unroll_factor=UNROLL):
        offs = i + tl.arange(0, BLOCK_SIZE)
        s = tl.load(S + offs, mask=offs < V, other=float("-inf")).to(tl.float32) * inv_temp
        t = tl.load(Tch + offs, mask=offs < V, other=float("-inf")).to(tl.float32) * inv_temp
        ms_new = tl.maximum(ms, tl.max(s))
        ds = ds * tl.exp(ms - ms_new) + tl.sum(tl.exp(s - ms_new))
        ms = ms_new
        mt_new = tl.maximum(mt, tl.max(t))
        e = tl.exp(t - mt_new)
        c = tl.exp(mt - mt_new)
        dt = dt * c + tl.sum(e)
        acc = acc * c + tl.sum(tl.where(offs < V, e * (t - s), 0.0))
        mt = mt_new
    lse_s = ms + tl.log(ds)
    lse_t = mt + tl.log(dt)
    tl.store(Loss + row, acc / dt - lse_t + lse_s)
    for i in tl.range(0, V, BLOCK_SIZE, loop_unroll_factor=UNROLL):
        offs = i + tl.arange(0, BLOCK_SIZE)
        s = tl.load(S + offs, mask=offs < V, other=float("-inf")).to(tl.float32) * inv_temp
        t = tl.load(Tch + offs, mask=offs < V, other=float("-inf")).to(tl.float32) * inv_temp
        d = (tl.exp(s - lse_s) - tl.exp(t - lse_t)) * grad_scale
        tl.store(DS + offs, d.to(tl.bfloat16), mask=offs < V)


# --------------------------------------------------------------------------- X X^T, half of the tiles computed, the others mirrored (Muon)
@triton.jit
def muon_xxt_kernel(X, C, M, K, stride_xm, stride_cm, BLOCK: tl.constexpr, BLOCK_SIZE_K: tl.constexpr, GROUP: tl.constexpr):
    pid = tl.program_id(0)
    tiles = tl.cdiv(M, BLOCK)
    in_group = GROUP * tiles
    first = (pid // in_group) * GROUP
    size = min(tiles - first, GROUP)
    pid_m = first + (pid % in_group) % size
    pid_n = (pid % in_group) // size
    if pid_n > pid_m:
        return
    offs_m = (pid_m * BLOCK + tl.arange(0, BLOCK)) % M
    offs_n = (pid_n * BLOCK + tl.arange(0, BLOCK)) % M
    offs_k = tl.arange(0, BLOCK_SIZE_K)
    a_ptrs = X + offs_m[:, None] * stride_xm + offs_k[None, :]
    b_ptrs = X + offs_n[:, None] * stride_xm + offs_k[None, :]
    acc = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for k in tl.range(0, tl.cdiv(K, BLOCK_SIZE_K)):
        a = tl.load(a_ptrs, mask=offs_k[None, :] < K - k * BLOCK_SIZE_K, other=0.0)
        b = tl.load(b_ptrs, mask=offs_k[None, :] < K - k * BLOCK_SIZE_K, other=0.0)
        acc = tl.dot(a, tl.permute(b, (1, 0)), acc)
        a_ptrs += BLOCK_SIZE_K
        b_ptrs += BLOCK_SIZE_K
    out = acc.to(C.dtype.element_ty)
    offs_cm = pid_m * BLOCK + tl.arange(0, BLOCK)
    offs_cn = pid_n * BLOCK + tl.arange(0, BLOCK)
    tl.store(C + offs_cm[:, None] * stride_cm + offs_cn[None, :], out, mask=(offs_cm[:, None] < M) & (offs_cn[None, :] < M))
    if pid_m != pid_n:
        tl.store(C + offs_cn[:, None] * stride_cm + offs_cm[None, :], out.T, mask=(offs_cn[:, None] < M) & (offs_cm[None, :] < M))


# --------------------------------------------------------------------------- linear + cross entropy without the logits: maximum and sum a tile of the vocabulary
@triton.jit
def linear_lse_kernel(E, C, Labels, Max, Sum, Target, B, V, stride_e, stride_c, stride_o,
                      D: tl.constexpr, BLOCK_B: tl.constexpr, BLOCK_V: tl.constexpr, BLOCK_D: tl.constexpr, GROUP_B: tl.constexpr):
    pid = tl.program_id(axis=0)
    num_pid_b = tl.cdiv(B, BLOCK_B)
    num_pid_v = tl.cdiv(V, BLOCK_V)
    in_group = GROUP_B * num_pid_v
    first = (pid // in_group) * GROUP_B
    size = min(num_pid_b - first, GROUP_B)
    pid_b = first + (pid % in_group) % size
    pid_v = (pid % in_group) // size
    offs_b = pid_b * BLOCK_B + tl.arange(0, BLOCK_B)
    offs_v = pid_v * BLOCK_V + tl.arange(0, BLOCK_V)
    offs_d = tl.arange(0, BLOCK_D)
    e_ptrs = E + offs_b[:, None] * stride_e + offs_d[None, :]
    c_ptrs = C + offs_v[None, :] * stride_c + offs_d[:, None]
    accum = tl.zeros((BLOCK_B, BLOCK_V), dtype=tl.float32)
    for d in range(0, tl.cdiv(D, BLOCK_D)):
        e = tl.load(e_ptrs, mask=offs_b[:, None] < B, other=0.0)
        c = tl.load(c_ptrs, mask=offs_v[None, :] < V, other=0.0)
        accum = tl.dot(e, c, accum)
        e_ptrs += BLOCK_D
        c_ptrs += BLOCK_D
    labels = tl.load(Labels + offs_b, mask=offs_b < B, other=-1)
    tl.store(Target + offs_b[:, None] + 0 * offs_v[None, :], accum, mask=(offs_v[None, :] == labels[:, None]) & (offs_b[:, None] < B))
    logits = tl.where(offs_v[None, :] < V, accum, float("-inf"))
    mx = tl.max(logits, axis=1)
    sm = tl.sum(tl.exp(logits - mx[:, None]), axis=1)
    tl.store(Max + pid_v * stride_o + offs_b, mx, mask=offs_b < B)
    tl.store(Sum + pid_v * stride_o + offs_b, sm, mask=offs_b < B)


# --------------------------------------------------------------------------- gated delta rule, a token after another, state in registers
@triton.jit
def recurrent_gated_delta_kernel(q, k, v, g, beta, o, ht, scale, T, H: tl.constexpr, K: tl.constexpr, V: tl.constexpr, BV: tl.constexpr, PIPE: tl.constexpr):
    i_v, i_bh = tl.program_id(0), tl.program_id(1)
    i_b, i_h = i_bh // H, i_bh % H
    o_k = tl.arange(0, K)
    o_v = i_v * BV + tl.arange(0, BV)
    p_q = q + (i_b * T * H + i_h) * K + o_k
    p_k = k + (i_b * T * H + i_h) * K + o_k
    p_v = v + (i_b * T * H + i_h) * V + o_v
    p_o = o + (i_b * T * H + i_h) * V + o_v
    p_g = g + i_b * T * H + i_h
    p_beta = beta + i_b * T * H + i_h
    b_h = tl.zeros([K, BV], dtype=tl.float32)
    for _ in tl.range(0, T, num_stages=PIPE):
        b_q = tl.load(p_q).to(tl.float32) * scale
        b_k = tl.load(p_k).to(tl.float32)
        b_v = tl.load(p_v).to(tl.float32)
        b_g = tl.load(p_g).to(tl.float32)
        b_beta = tl.load(p_beta).to(tl.float32)
        b_h *= tl.exp(b_g)
        b_v -= tl.sum(b_h * b_k[:, None], 0)
        b_v *= b_beta
        b_h += b_k[:, None] * b_v[None, :]
        b_o = tl.sum(b_h * b_q[:, None], 0)
        tl.store(p_o, b_o.to(p_o.dtype.element_ty))
        p_q += H * K
        p_k += H * K
        p_v += H * V
        p_o += H * V
        p_g += H
        p_beta += H
    tl.store(ht + (i_bh * K + o_k[:, None]) * V + o_v[None, :], b_h)


# =========================================================================== the groups
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


class LnDrop(Group):
    kernel = dropout_add_layernorm_kernel
    size = [9216, 2880]
    problem = "9216x2880 bf16"
    tol = 0.05
    data = {"X": ("bfloat16", [9216, 2880]), "R": ("bfloat16", [9216, 2880]), "W": ("float32", [2880]), "B": ("float32", [2880]), "Y": ("bfloat16", [9216, 2880]), "H": ("bfloat16", [9216, 2880]),
            "Mean": ("float32", [9216]), "Rstd": ("float32", [9216])}
    configs = pick(dict(BLOCK_SIZE=[256, 512, 1024, 2048, 4096], ROWS=[1, 2, 4, 8], num_warps=[1, 2, 4, 8, 16], PIPE=[1, 2, 3]), 16,
                   lambda c: 4 <= c["BLOCK_SIZE"] * c["ROWS"] // (32 * c["num_warps"]) <= 64 and (c["BLOCK_SIZE"] < 2880 or c["PIPE"] == 1),
                   [dict(BLOCK_SIZE=4096, ROWS=1, num_warps=8, PIPE=1), dict(BLOCK_SIZE=1024, ROWS=1, num_warps=4, PIPE=3)], 411)

    def args(self, t, c):
        return [t(n) for n in ("X", "R", "W", "B", "Y", "H", "Mean", "Rstd")] + [2880, 1e-5, 0.1, 1234567]

    def meta(self, c):
        return dict(c, N=2880)

    def grid(self, c):
        return (9216 // c["ROWS"], 1, 1)

    def fill(self, torch, t):
        for n in "XRWB":
            t[n].copy_(torch.randn_like(t[n]))

    def finish(self, torch, mine, c):
        x, r, h = mine["X"].float() / 0.9, mine["R"].float(), mine["H"].float()
        kept = (h - r - x).abs() <= (h - r).abs()
        y = torch.nn.functional.layer_norm(h, (2880,), mine["W"], mine["B"], 1e-5)
        return {"Y": (mine["Y"].float() - y) / 4 + 1, "H": (h - r - torch.where(kept, x, torch.zeros_like(x))) / 2 + 1, "Mean": kept.float().mean()[None], "Rstd": mine["Rstd"] * (h.var(-1, unbiased=False) + 1e-5).sqrt()}

    def reference(self, torch, t):
        one = torch.ones(1, device="cuda")
        return {"Y": one, "H": one, "Mean": one * 0.9, "Rstd": one}


class Geglu(Group):
    kernel = geglu_tanh_backward_kernel
    size = [6144, 6912]
    problem = "6144x6912 bf16"
    data = {n: ("bfloat16", [6144, 6912]) for n in ("DC", "A", "B", "DA", "DB")}
    configs = pick(dict(BLOCK_SIZE=[128, 256, 512, 1024, 2048, 4096, 8192], SPLIT=[1, 2, 4], num_warps=[1, 2, 4, 8, 16], PIPE=[1, 2, 3, 4]), 16,
                   lambda c: 2 <= c["BLOCK_SIZE"] // (32 * c["num_warps"]) <= 64 and (c["BLOCK_SIZE"] * c["SPLIT"] <= 6912 or c["SPLIT"] == 1 and c["PIPE"] == 1),
                   [dict(BLOCK_SIZE=8192, SPLIT=1, num_warps=16, PIPE=1), dict(BLOCK_SIZE=1024, SPLIT=2, num_warps=4, PIPE=2)], 412)

    def args(self, t, c):
        return [t(n) for n in ("DC", "A", "B", "DA", "DB")] + [6912, 6912]

    def grid(self, c):
        return (6144, c["SPLIT"], 1)

    def fill(self, torch, t):
        for n in ("DC", "A", "B"):
            t[n].copy_(torch.randn_like(t[n]))

    def reference(self, torch, t):
        a = t["A"].float().requires_grad_()
        y = torch.nn.functional.gelu(a, approximate="tanh")
        y.backward(t["DC"].float() * t["B"].float())
        return {"DA": a.grad, "DB": t["DC"].float() * y.detach()}


class Varlen(Group):
    kernel = varlen_sink_attn_kernel
    LENS = [1, 77, 300, 513, 1024, 2048, 1777, 640, 129, 901, 33, 2011]
    size = [sum(LENS), 24, 4, 64]
    problem = "12 sequences of 1..2048 24x4x64 causal softcap sinks bf16"
    T = sum(LENS)
    data = {"Q": ("bfloat16", [T, 24, 64]), "K": ("bfloat16", [T, 4, 64]), "V": ("bfloat16", [T, 4, 64]), "O": ("bfloat16", [T, 24, 64]), "Sinks": ("float32", [24]), "Cu": ("int32", [13])}
    configs = pick(dict(BLOCK_M=[16, 32, 64, 128], BLOCK_N=[16, 32, 64, 128], TWO_LOOPS=[0, 1], num_warps=[1, 2, 4, 8], num_stages=[1, 2, 3, 4]), 16,
                   lambda c: c["BLOCK_M"] * c["BLOCK_N"] >= 128 * c["num_warps"] and c["BLOCK_M"] * c["BLOCK_N"] // (32 * c["num_warps"]) <= 128 and c["BLOCK_M"] * 64 // (32 * c["num_warps"]) <= 128
                   and c["BLOCK_M"] * c["BLOCK_N"] >= 512 and c["BLOCK_N"] * 256 * c["num_stages"] <= 160000,
                   [dict(BLOCK_M=128, BLOCK_N=64, TWO_LOOPS=1, num_warps=4, num_stages=2), dict(BLOCK_M=64, BLOCK_N=64, TWO_LOOPS=0, num_warps=4, num_stages=3)], 413)

    def args(self, t, c):
        return [t(n) for n in ("Q", "K", "V", "O", "Sinks", "Cu")] + [24 * 64, 4 * 64, 0.125, 20.0]

    def meta(self, c):
        return dict(c, RATIO=6, HEAD_DIM=64)

    def grid(self, c):
        return (cdiv(2048, c["BLOCK_M"]), 24, 12)

    def fill(self, torch, t):
        for n in "QKV":
            t[n].copy_(torch.randn_like(t[n]))
        t["Sinks"].copy_(torch.randn(24))
        cu = [0]
        for n in self.LENS:
            cu.append(cu[-1] + n)
        t["Cu"].copy_(torch.tensor(cu, dtype=torch.int32))

    def reference(self, torch, t):
        out = torch.empty(self.T, 24, 64, device="cuda")
        at = 0
        for n in self.LENS:
            q, k, v = (t[x][at:at + n].float().transpose(0, 1) for x in "QKV")
            k, v = k.repeat_interleave(6, 0), v.repeat_interleave(6, 0)
            s = 20 * torch.tanh(q @ k.transpose(1, 2) / 8 / 20)
            s = s.masked_fill(torch.ones(n, n, device="cuda", dtype=torch.bool).triu(1), float("-inf"))
            s = torch.cat([s, t["Sinks"][:, None, None].expand(24, n, 1)], -1)
            out[at:at + n] = (torch.softmax(s, -1)[..., :n] @ v).transpose(0, 1)
            at += n
        return {"O": out}


class DeltaWu(Group):
    kernel = delta_wu_chunk_kernel
    size = [3, 4000, 20, 128, 128, 64]
    problem = "3x4000 20 heads 128x128 chunks of 64 bf16"
    data = {"k": ("bfloat16", [3, 4000, 20, 128]), "v": ("bfloat16", [3, 4000, 20, 128]), "w": ("bfloat16", [3, 4000, 20, 128]), "u": ("bfloat16", [3, 4000, 20, 128]), "A": ("bfloat16", [3, 4000, 20, 64]),
            "beta": ("float32", [3, 4000, 20]), "g": ("float32", [3, 4000, 20])}
    configs = pick(dict(BK=[16, 32, 64, 128], BV=[16, 32, 64, 128], num_warps=[1, 2, 4, 8], num_stages=[1, 2, 3, 4]), 16,
                   lambda c: min(c["BK"], c["BV"]) * 64 >= 256 * c["num_warps"] and max(c["BK"], c["BV"]) * 64 // (32 * c["num_warps"]) <= 128,
                   [dict(BK=64, BV=64, num_warps=4, num_stages=3), dict(BK=128, BV=128, num_warps=4, num_stages=2), dict(BK=32, BV=64, num_warps=2, num_stages=1)], 414)

    def args(self, t, c):
        return [t(n) for n in ("k", "v", "beta", "g", "A", "w", "u")] + [4000]

    def meta(self, c):
        return dict(c, H=20, K=128, V=128, BT=64)

    def grid(self, c):
        return (cdiv(4000, 64), 60, 1)

    def fill(self, torch, t):
        for n in ("k", "v", "A"):
            t[n].copy_(torch.randn_like(t[n]) / 4)
        t["beta"].copy_(torch.rand_like(t["beta"]))
        t["g"].copy_(-torch.rand_like(t["g"]) * 2)

    def reference(self, torch, t):
        def chunks(x):
            x = torch.nn.functional.pad(x.float(), (0, 0, 0, 0, 0, 32))
            return x.reshape(3, 63, 64, 20, -1).transpose(2, 3)
        A, b, e = chunks(t["A"]), t["beta"][..., None], t["g"].exp()[..., None]
        back = lambda x: x.transpose(2, 3).reshape(3, 4032, 20, 128)[:, :4000]
        return {"u": back(A @ chunks(t["v"].float() * b)), "w": back(A @ chunks(t["k"].float() * b * e))}


class Shrink(Group):
    kernel = lora_shrink_kernel
    COUNTS = [1500, 3, 900, 2048, 640, 17, 1111, 37]
    size = [sum(COUNTS), 4096, 16, 3, 8]
    problem = "6256x4096 rank 16 of 8 adapters 3 slices fp16"
    T = sum(COUNTS)
    zero = ["Out"]
    data = {"X": ("float16", [T, 4096]), "L": ("float16", [3, 8, 16, 4096]), "Out": ("float32", [3, T, 16]), "Index": ("int32", [T]), "Start": ("int32", [9])}
    configs = pick(dict(BLOCK_M=[16, 32, 64, 128], BLOCK_K=[32, 64, 128, 256, 512], SPLIT_K=[1, 2, 4, 8, 16], num_warps=[1, 2, 4, 8], num_stages=[1, 2, 3, 4]), 16,
                   lambda c: 8 <= c["BLOCK_M"] * c["BLOCK_K"] // (32 * c["num_warps"]) <= 256 and c["BLOCK_M"] >= 16 * max(1, c["num_warps"] // 2) and (c["BLOCK_M"] + 16) * c["BLOCK_K"] * 2 * c["num_stages"] <= 200000,
                   [dict(BLOCK_M=32, BLOCK_K=256, SPLIT_K=8, num_warps=4, num_stages=2), dict(BLOCK_M=64, BLOCK_K=128, SPLIT_K=1, num_warps=4, num_stages=3), dict(BLOCK_M=16, BLOCK_K=64, SPLIT_K=4, num_warps=2, num_stages=4)], 415)

    def args(self, t, c):
        return [t("X"), t("L"), t("Out"), t("Index"), t("Start"), 4096, 4096, 8 * 16 * 4096, 16 * 4096, self.T * 16, 0.5]

    def meta(self, c):
        return dict(c, RANK=16, SLICES=3)

    def grid(self, c):
        return (c["SPLIT_K"] * cdiv(2048, c["BLOCK_M"]), 3, 8)

    def fill(self, torch, t):
        for n in "XL":
            t[n].copy_(torch.randn_like(t[n]) / 8)
        t["Index"].copy_(torch.randperm(self.T, device="cuda"))
        s = [0]
        for n in self.COUNTS:
            s.append(s[-1] + n)
        t["Start"].copy_(torch.tensor(s, dtype=torch.int32))

    def reference(self, torch, t):
        out = torch.zeros(3, self.T, 16, device="cuda")
        s = t["Start"].tolist()
        for i in range(8):
            rows = t["Index"][s[i]:s[i + 1]].long()
            out[:, rows] = t["X"][rows].float() @ t["L"][:, i].float().transpose(1, 2) * 0.5
        return {"Out": out}


class ScaledS8(Group):
    kernel = scaled_mm_s8_kernel
    size = [1027, 6144, 4096]
    problem = "1027x6144x4096 int8 to bf16"
    data = {"A": ("int8", [1027, 4096]), "B": ("int8", [6144, 4096]), "SA": ("float32", [1027]), "SB": ("float32", [6144]), "Bias": ("bfloat16", [6144]), "C": ("bfloat16", [1027, 6144])}
    configs = pick(dict(BLOCK_SIZE_M=[32, 64, 128], BLOCK_SIZE_N=[32, 64, 128, 256], BLOCK_SIZE_K=[32, 64, 128, 256], GROUP_M=[0, 4, 8], num_warps=[2, 4, 8], num_stages=[1, 2, 3, 4, 5]), 16,
                   lambda c: 16 <= c["BLOCK_SIZE_M"] * c["BLOCK_SIZE_N"] // (32 * c["num_warps"]) <= 128 and (c["BLOCK_SIZE_M"] + c["BLOCK_SIZE_N"]) * c["BLOCK_SIZE_K"] * c["num_stages"] <= 222000
                   and (c["BLOCK_SIZE_M"] + c["BLOCK_SIZE_N"]) * c["BLOCK_SIZE_K"] >= 512 * c["num_warps"],
                   [dict(BLOCK_SIZE_M=128, BLOCK_SIZE_N=128, BLOCK_SIZE_K=128, GROUP_M=8, num_warps=8, num_stages=4), dict(BLOCK_SIZE_M=128, BLOCK_SIZE_N=256, BLOCK_SIZE_K=128, GROUP_M=4, num_warps=8, num_stages=3),
                    dict(BLOCK_SIZE_M=64, BLOCK_SIZE_N=128, BLOCK_SIZE_K=256, GROUP_M=0, num_warps=4, num_stages=3)], 416)

    def args(self, t, c):
        return [t(n) for n in ("A", "B", "SA", "SB", "Bias", "C")] + [1027, 6144, 4096, 4096, 4096, 6144]

    def grid(self, c):
        return (cdiv(1027, c["BLOCK_SIZE_M"]) * (6144 // c["BLOCK_SIZE_N"]), 1, 1)

    def fill(self, torch, t):
        for n in "AB":
            t[n].copy_(torch.randint(-127, 128, t[n].shape, device="cuda"))
        t["SA"].copy_(torch.rand_like(t["SA"]) * 0.01 + 0.001)
        t["SB"].copy_(torch.rand_like(t["SB"]) * 0.01 + 0.001)
        t["Bias"].copy_(torch.randn_like(t["Bias"]))

    def reference(self, torch, t):
        c = (t["A"].double() @ t["B"].double().T).float()
        return {"C": c * t["SA"][:, None] * t["SB"][None] + t["Bias"].float()}


class RopeCache(Group):
    kernel = rope_cache_write_kernel
    size = [11000, 32, 8, 128]
    problem = "11000 tokens 32+8+8 heads of 128 bf16"
    data = {"QKV": ("bfloat16", [11000, 48, 128]), "CS": ("float32", [4096, 128]), "Pos": ("int32", [11000]), "Slots": ("int32", [11000]), "Qo": ("bfloat16", [11000, 32, 128]),
            "Kc": ("bfloat16", [12288, 8, 128]), "Vc": ("bfloat16", [12288, 8, 128])}
    zero = ["Kc", "Vc"]
    configs = pick(dict(BLOCK_T=[1, 2, 4, 8, 16, 32, 64], HEADS_EACH=[1, 2, 4, 8, 16, 24, 48], num_warps=[1, 2, 4, 8], PIPE=[1, 2, 3]), 16,
                   lambda c: 2 <= c["BLOCK_T"] * 128 // (32 * c["num_warps"]) <= 64 and 11000 // c["BLOCK_T"] * 48 // c["HEADS_EACH"] >= 300 and (c["HEADS_EACH"] > 1 or c["PIPE"] == 1),
                   [dict(BLOCK_T=4, HEADS_EACH=8, num_warps=4, PIPE=2), dict(BLOCK_T=16, HEADS_EACH=1, num_warps=4, PIPE=1)], 417)

    def args(self, t, c):
        return [t(n) for n in ("QKV", "CS", "Pos", "Slots", "Qo", "Kc", "Vc")] + [11000, 48 * 128, 32 * 128, 8 * 128]

    def meta(self, c):
        return dict(c, HEADS=32, KV_HEADS=8, HEAD_DIM=128)

    def grid(self, c):
        return (cdiv(11000, c["BLOCK_T"]), 48 // c["HEADS_EACH"], 1)

    def fill(self, torch, t):
        t["QKV"].copy_(torch.randn_like(t["QKV"]))
        ang = torch.arange(4096, device="cuda")[:, None].float() * (10000.0 ** (-torch.arange(64, device="cuda").float() / 64))[None]
        t["CS"].copy_(torch.cat([ang.cos(), ang.sin()], -1))
        t["Pos"].copy_(torch.randint(0, 4096, (11000,), device="cuda"))
        blocks = torch.randperm(768, device="cuda")
        t["Slots"].copy_((blocks[:, None] * 16 + torch.arange(16, device="cuda")[None]).reshape(-1)[:11000])

    def reference(self, torch, t):
        cs = t["CS"][t["Pos"].long()]
        c, s = cs[:, None, :64], cs[:, None, 64:]
        x = t["QKV"].float()
        a, b = x[:, :40, 0::2], x[:, :40, 1::2]
        y = torch.stack([a * c - b * s, b * c + a * s], -1).reshape(11000, 40, 128)
        kc, vc = torch.zeros(12288, 8, 128, device="cuda"), torch.zeros(12288, 8, 128, device="cuda")
        kc[t["Slots"].long()], vc[t["Slots"].long()] = y[:, 32:], x[:, 40:]
        return {"Qo": y[:, :32], "Kc": kc, "Vc": vc}


class Distill(Group):
    kernel = distill_kl_kernel
    size = [1200, 50257]
    problem = "1200x50257 bf16"
    data = {"S": ("bfloat16", [1200, 50257]), "T": ("bfloat16", [1200, 50257]), "D": ("bfloat16", [1200, 50257]), "Loss": ("float32", [1200])}
    configs = pick(dict(BLOCK_SIZE=[256, 512, 1024, 2048, 4096, 8192, 16384], num_warps=[1, 2, 4, 8, 16], UNROLL=[1, 2, 4]), 16,
                   lambda c: 2 <= c["BLOCK_SIZE"] // (32 * c["num_warps"]) <= 64 and c["BLOCK_SIZE"] // (32 * c["num_warps"]) * c["UNROLL"] <= 128,
                   [dict(BLOCK_SIZE=4096, num_warps=16, UNROLL=1), dict(BLOCK_SIZE=2048, num_warps=8, UNROLL=2)], 418)

    def args(self, t, c):
        return [t(n) for n in ("S", "T", "D", "Loss")] + [50257, 50257, 0.5, 2.0]

    def grid(self, c):
        return (1200, 1, 1)

    def fill(self, torch, t):
        for n in "ST":
            t[n].copy_(torch.randn_like(t[n]) * 3)

    def reference(self, torch, t):
        s, u = torch.log_softmax(t["S"].float() / 2, -1), torch.log_softmax(t["T"].float() / 2, -1)
        return {"D": (s.exp() - u.exp()) * 2, "Loss": (u.exp() * (u - s)).sum(-1)}


class Xxt(Group):
    kernel = muon_xxt_kernel
    size = [2880, 5120]
    problem = "2880x5120 bf16"
    data = {"X": ("bfloat16", [2880, 5120]), "C": ("bfloat16", [2880, 2880])}
    configs = pick(dict(BLOCK=[32, 64, 128], BLOCK_SIZE_K=[32, 64, 128], GROUP=[1, 4, 8], num_warps=[2, 4, 8], num_stages=[1, 2, 3, 4, 5]), 16,
                   lambda c: 16 <= c["BLOCK"] ** 2 // (32 * c["num_warps"]) <= 128 and c["BLOCK"] * c["BLOCK_SIZE_K"] * 4 * c["num_stages"] <= 222000,
                   [dict(BLOCK=128, BLOCK_SIZE_K=64, GROUP=8, num_warps=8, num_stages=4), dict(BLOCK=128, BLOCK_SIZE_K=64, GROUP=4, num_warps=4, num_stages=4), dict(BLOCK=64, BLOCK_SIZE_K=128, GROUP=8, num_warps=4, num_stages=4)], 419)

    def args(self, t, c):
        return [t("X"), t("C"), 2880, 5120, 5120, 2880]

    def grid(self, c):
        return (cdiv(2880, c["BLOCK"]) ** 2, 1, 1)

    def fill(self, torch, t):
        t["X"].copy_(torch.randn_like(t["X"]))

    def reference(self, torch, t):
        return {"C": t["X"].float() @ t["X"].float().T}


class LinearLse(Group):
    kernel = linear_lse_kernel
    size = [1280, 32064, 2304]
    problem = "1280 tokens 2304 vocabulary 32064 bf16"
    data = {"E": ("bfloat16", [1280, 2304]), "C": ("bfloat16", [32064, 2304]), "Labels": ("int32", [1280]), "Max": ("float32", [1002, 1280]), "Sum": ("float32", [1002, 1280]), "Target": ("float32", [1280])}
    configs = pick(dict(BLOCK_B=[32, 64, 128, 256], BLOCK_V=[32, 64, 128, 256], BLOCK_D=[32, 64, 128], GROUP_B=[1, 4, 16], num_warps=[4, 8], num_stages=[1, 2, 3, 4, 5]), 16,
                   lambda c: 16 <= c["BLOCK_B"] * c["BLOCK_V"] // (32 * c["num_warps"]) <= 128 and (c["BLOCK_B"] + c["BLOCK_V"]) * c["BLOCK_D"] * 2 * c["num_stages"] <= 222000
                   and (c["BLOCK_B"] + c["BLOCK_V"]) * c["BLOCK_D"] >= 512 * c["num_warps"],
                   [dict(BLOCK_B=128, BLOCK_V=128, BLOCK_D=64, GROUP_B=16, num_warps=4, num_stages=4), dict(BLOCK_B=128, BLOCK_V=256, BLOCK_D=64, GROUP_B=16, num_warps=8, num_stages=3), dict(BLOCK_B=128, BLOCK_V=128, BLOCK_D=32, GROUP_B=4, num_warps=8, num_stages=4)], 420)

    def args(self, t, c):
        return [t(n) for n in ("E", "C", "Labels", "Max", "Sum", "Target")] + [1280, 32064, 2304, 2304, 1280]

    def meta(self, c):
        return dict(c, D=2304)

    def grid(self, c):
        return (cdiv(1280, c["BLOCK_B"]) * cdiv(32064, c["BLOCK_V"]), 1, 1)

    def fill(self, torch, t):
        t["E"].copy_(torch.randn_like(t["E"]))
        t["C"].copy_(torch.randn_like(t["C"]) / 24)
        t["Labels"].copy_(torch.randint(0, 32064, (1280,), device="cuda"))

    def finish(self, torch, mine, c):
        n = cdiv(32064, c["BLOCK_V"])
        m, s = mine["Max"][:n], mine["Sum"][:n]
        return {"Max": m.max(0).values, "Sum": torch.logsumexp(m + s.log(), 0), "Target": mine["Target"]}

    def reference(self, torch, t):
        z = t["E"].float() @ t["C"].float().T
        return {"Max": z.max(1).values, "Sum": torch.logsumexp(z, 1), "Target": z.gather(1, t["Labels"].long()[:, None])[:, 0]}


class RecurrentDelta(Group):
    kernel = recurrent_gated_delta_kernel
    size = [3, 640, 16, 128, 128]
    problem = "3x640 16 heads 128x128 bf16"
    data = {"q": ("bfloat16", [3, 640, 16, 128]), "k": ("bfloat16", [3, 640, 16, 128]), "v": ("bfloat16", [3, 640, 16, 128]), "g": ("float32", [3, 640, 16]), "beta": ("float32", [3, 640, 16]),
            "o": ("bfloat16", [3, 640, 16, 128]), "ht": ("float32", [3, 16, 128, 128])}
    configs = pick(dict(BV=[4, 8, 16, 32, 64, 128], num_warps=[1, 2, 4, 8], PIPE=[1, 2, 3, 4]), 15,
                   lambda c: 8 <= 128 * c["BV"] // (32 * c["num_warps"]) <= 128 and (c["PIPE"] != 4 or c["BV"] > 8), [dict(BV=8, num_warps=1, PIPE=3), dict(BV=32, num_warps=4, PIPE=1)], 421)

    def args(self, t, c):
        return [t(n) for n in ("q", "k", "v", "g", "beta", "o", "ht")] + [0.0883883476, 640]

    def meta(self, c):
        return dict(c, H=16, K=128, V=128)

    def grid(self, c):
        return (128 // c["BV"], 48, 1)

    def fill(self, torch, t):
        for n in "qkv":
            t[n].copy_(torch.randn_like(t[n]))
        t["k"].copy_(torch.nn.functional.normalize(t["k"].float(), dim=-1))
        t["beta"].copy_(torch.rand_like(t["beta"]))
        t["g"].copy_(-torch.rand_like(t["g"]) * 0.2)

    def reference(self, torch, t):
        h = torch.zeros(3, 16, 128, 128, device="cuda")
        o = torch.empty(3, 640, 16, 128, device="cuda")
        for i in range(640):
            q, k, v = (t[n][:, i].float() for n in "qkv")
            h = h * t["g"][:, i].exp()[..., None, None]
            d = (v - (h * k[..., None]).sum(-2)) * t["beta"][:, i][..., None]
            h = h + k[..., None] * d[..., None, :]
            o[:, i] = (h * (q * 0.0883883476)[..., None]).sum(-2)
        return {"o": o, "ht": h}
