"""Triton kernels of this set, ten groups, and the spaces they are tuned over."""
import math
import random

import triton
import triton.language as tl

LOG2E = 1.4426950408889634


# --------------------------------------------------------------------------- W4A16, GPTQ layout (8 nibbles of K in an int32)
@triton.jit
def w4a16_gemm_kernel(a_ptr, qweight_ptr, scales_ptr, qzeros_ptr, c_ptr, M, N, K,
                      stride_am, stride_qk, stride_sg, stride_zg, stride_cm,
                      GROUP: tl.constexpr, BLOCK_SIZE_M: tl.constexpr, BLOCK_SIZE_N: tl.constexpr, BLOCK_SIZE_K: tl.constexpr,
                      SPLIT_K: tl.constexpr, GROUP_SIZE_M: tl.constexpr):
    pid = tl.program_id(axis=0)
    pid_k = tl.program_id(axis=1)
    num_pid_m = tl.cdiv(M, BLOCK_SIZE_M)
    num_pid_n = tl.cdiv(N, BLOCK_SIZE_N)
    num_pid_in_group = GROUP_SIZE_M * num_pid_n
    group_id = pid // num_pid_in_group
    first_pid_m = group_id * GROUP_SIZE_M
    group_size_m = min(num_pid_m - first_pid_m, GROUP_SIZE_M)
    pid_m = first_pid_m + (pid % num_pid_in_group) % group_size_m
    pid_n = (pid % num_pid_in_group) // group_size_m

    offs_m = pid_m * BLOCK_SIZE_M + tl.arange(0, BLOCK_SIZE_M)
    offs_n = pid_n * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N)
    offs_k = pid_k * BLOCK_SIZE_K + tl.arange(0, BLOCK_SIZE_K)
    a_mask = offs_m[:, None] < M
    a_ptrs = a_ptr + offs_m[:, None] * stride_am + offs_k[None, :]
    b_ptrs = qweight_ptr + (offs_k[:, None] // 8) * stride_qk + offs_n[None, :]
    b_shift = (offs_k % 8) * 4
    z_shift = (offs_n % 8) * 4
    s_ptrs = scales_ptr + offs_n
    z_ptrs = qzeros_ptr + offs_n // 8

    accumulator = tl.zeros((BLOCK_SIZE_M, BLOCK_SIZE_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_SIZE_K * SPLIT_K)):
        a = tl.load(a_ptrs, mask=a_mask, other=0.0)
        b = tl.load(b_ptrs)
        g = (k * SPLIT_K + pid_k) * BLOCK_SIZE_K // GROUP
        scales = tl.load(s_ptrs + g * stride_sg)
        zeros = (tl.load(z_ptrs + g * stride_zg) >> z_shift) & 0xF
        b = (b >> b_shift[:, None]) & 0xF
        b = (b - zeros[None, :]).to(tl.float16) * scales[None, :]
        accumulator += tl.dot(a, b)
        a_ptrs += BLOCK_SIZE_K * SPLIT_K
        b_ptrs += (BLOCK_SIZE_K * SPLIT_K // 8) * stride_qk

    c_ptrs = c_ptr + offs_m[:, None] * stride_cm + offs_n[None, :]
    if SPLIT_K == 1:
        tl.store(c_ptrs, accumulator, mask=a_mask)
    else:
        tl.atomic_add(c_ptrs, accumulator, mask=a_mask, sem="relaxed")


# --------------------------------------------------------------------------- flash attention backward, dQ, grouped heads, causal
@triton.jit
def _bwd_dq_loop(dq, q, do, m, delta, k_base, v_base, offs_m, stride_kn, qk_scale, lo, hi,
                 HEAD_DIM: tl.constexpr, BLOCK_N: tl.constexpr, MASK: tl.constexpr):
    offs_n = lo + tl.arange(0, BLOCK_N)
    offs_d = tl.arange(0, HEAD_DIM)
    kT_ptrs = k_base + offs_n[None, :] * stride_kn + offs_d[:, None]
    vT_ptrs = v_base + offs_n[None, :] * stride_kn + offs_d[:, None]
    for start_n in range(lo, hi, BLOCK_N):
        kT = tl.load(kT_ptrs)
        vT = tl.load(vT_ptrs)
        qk = tl.dot(q, kT)
        p = tl.math.exp2(qk * qk_scale - m)
        if MASK:
            cols = start_n + tl.arange(0, BLOCK_N)
            p = tl.where(offs_m[:, None] >= cols[None, :], p, 0.0)
        dp = tl.dot(do, vT).to(tl.float32)
        ds = (p * (dp - delta[:, None])).to(tl.bfloat16)
        dq += tl.dot(ds, tl.trans(kT))
        kT_ptrs += BLOCK_N * stride_kn
        vT_ptrs += BLOCK_N * stride_kn
    return dq


@triton.jit
def gqa_bwd_dq_kernel(Q, K, V, DO, DQ, L, Delta, qk_scale, sm_scale, stride_qs, stride_ks, N_CTX, HEADS,
                      RATIO: tl.constexpr, HEAD_DIM: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, LONG_FIRST: tl.constexpr):
    start_m = tl.program_id(0)
    if LONG_FIRST:
        start_m = tl.num_programs(0) - 1 - start_m
    head = tl.program_id(1)
    Q += head * HEAD_DIM
    DO += head * HEAD_DIM
    DQ += head * HEAD_DIM
    K += (head // RATIO) * HEAD_DIM
    V += (head // RATIO) * HEAD_DIM
    offs_m = start_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_d = tl.arange(0, HEAD_DIM)
    q = tl.load(Q + offs_m[:, None] * stride_qs + offs_d[None, :])
    do = tl.load(DO + offs_m[:, None] * stride_qs + offs_d[None, :])
    m = tl.load(L + head * N_CTX + offs_m)[:, None]
    delta = tl.load(Delta + head * N_CTX + offs_m)
    dq = tl.zeros([BLOCK_M, HEAD_DIM], dtype=tl.float32)
    full = (start_m * BLOCK_M) // BLOCK_N * BLOCK_N
    dq = _bwd_dq_loop(dq, q, do, m, delta, K, V, offs_m, stride_ks, qk_scale, 0, full, HEAD_DIM, BLOCK_N, False)
    dq = _bwd_dq_loop(dq, q, do, m, delta, K, V, offs_m, stride_ks, qk_scale, full, (start_m + 1) * BLOCK_M, HEAD_DIM, BLOCK_N, True)
    tl.store(DQ + offs_m[:, None] * stride_qs + offs_d[None, :], (dq * sm_scale).to(tl.bfloat16))


# --------------------------------------------------------------------------- weight gradient dW = dY^T X by tensor descriptors
@triton.jit
def wgrad_desc_kernel(dy_ptr, x_ptr, dw_ptr, T, N, K, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, BLOCK_T: tl.constexpr,
                      SPLIT_T: tl.constexpr, GROUP_SIZE_N: tl.constexpr):
    dy_desc = tl.make_tensor_descriptor(dy_ptr, shape=[T, N], strides=[N, 1], block_shape=[BLOCK_T, BLOCK_N])
    x_desc = tl.make_tensor_descriptor(x_ptr, shape=[T, K], strides=[K, 1], block_shape=[BLOCK_T, BLOCK_K])
    dw_desc = tl.make_tensor_descriptor(dw_ptr, shape=[N, K], strides=[K, 1], block_shape=[BLOCK_N, BLOCK_K])
    pid = tl.program_id(0)
    pid_t = tl.program_id(1)
    num_n = tl.cdiv(N, BLOCK_N)
    num_k = tl.cdiv(K, BLOCK_K)
    in_group = GROUP_SIZE_N * num_k
    first_n = (pid // in_group) * GROUP_SIZE_N
    size_n = min(num_n - first_n, GROUP_SIZE_N)
    offs_n = (first_n + (pid % in_group) % size_n) * BLOCK_N
    offs_k = ((pid % in_group) // size_n) * BLOCK_K
    per_split = tl.cdiv(T, SPLIT_T)
    acc = tl.zeros((BLOCK_N, BLOCK_K), dtype=tl.float32)
    for t in range(pid_t * per_split, (pid_t + 1) * per_split, BLOCK_T):
        dy = dy_desc.load([t, offs_n])
        x = x_desc.load([t, offs_k])
        acc = tl.dot(dy.T, x, acc)
    if SPLIT_T == 1:
        dw_desc.store([offs_n, offs_k], acc)
    else:
        dw_desc.atomic_add([offs_n, offs_k], acc)


# --------------------------------------------------------------------------- linear + bias + squared ReLU, no size a multiple of a tile
@triton.jit
def linear_relu2_kernel(x_ptr, w_ptr, b_ptr, y_ptr, M, N, K, stride_xm, stride_xk, stride_wn, stride_wk, stride_ym, stride_yn,
                        BLOCK_SIZE_M: tl.constexpr, BLOCK_SIZE_N: tl.constexpr, BLOCK_SIZE_K: tl.constexpr, GROUP_SIZE_M: tl.constexpr):
    pid = tl.program_id(axis=0)
    num_pid_m = tl.cdiv(M, BLOCK_SIZE_M)
    num_pid_n = tl.cdiv(N, BLOCK_SIZE_N)
    num_pid_in_group = GROUP_SIZE_M * num_pid_n
    group_id = pid // num_pid_in_group
    first_pid_m = group_id * GROUP_SIZE_M
    group_size_m = min(num_pid_m - first_pid_m, GROUP_SIZE_M)
    pid_m = first_pid_m + ((pid % num_pid_in_group) % group_size_m)
    pid_n = (pid % num_pid_in_group) // group_size_m
    tl.assume(pid_m >= 0)
    tl.assume(pid_n >= 0)
    tl.assume(stride_xm > 0)
    tl.assume(stride_wn > 0)

    offs_xm = (pid_m * BLOCK_SIZE_M + tl.arange(0, BLOCK_SIZE_M)) % M
    offs_wn = (pid_n * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N)) % N
    offs_k = tl.arange(0, BLOCK_SIZE_K)
    x_ptrs = x_ptr + (offs_xm[:, None] * stride_xm + offs_k[None, :] * stride_xk)
    w_ptrs = w_ptr + (offs_k[:, None] * stride_wk + offs_wn[None, :] * stride_wn)
    accumulator = tl.zeros((BLOCK_SIZE_M, BLOCK_SIZE_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_SIZE_K)):
        x = tl.load(x_ptrs, mask=offs_k[None, :] < K - k * BLOCK_SIZE_K, other=0.0)
        w = tl.load(w_ptrs, mask=offs_k[:, None] < K - k * BLOCK_SIZE_K, other=0.0)
        accumulator = tl.dot(x, w, accumulator)
        x_ptrs += BLOCK_SIZE_K * stride_xk
        w_ptrs += BLOCK_SIZE_K * stride_wk
    offs_ym = pid_m * BLOCK_SIZE_M + tl.arange(0, BLOCK_SIZE_M)
    offs_yn = pid_n * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N)
    bias = tl.load(b_ptr + offs_yn, mask=offs_yn < N, other=0.0).to(tl.float32)
    h = tl.maximum(accumulator + bias[None, :], 0.0)
    y = (h * h).to(tl.bfloat16)
    y_ptrs = y_ptr + stride_ym * offs_ym[:, None] + stride_yn * offs_yn[None, :]
    tl.store(y_ptrs, y, mask=(offs_ym[:, None] < M) & (offs_yn[None, :] < N))


# --------------------------------------------------------------------------- fp8 with a scale for every 1x128 of A and 128x128 of B
@triton.jit
def w8a8_block_fp8_kernel(A, B, C, As, Bs, M, N, K, stride_am, stride_bn, stride_cm, stride_As_m, stride_Bs_n,
                          group_n: tl.constexpr, group_k: tl.constexpr,
                          BLOCK_SIZE_M: tl.constexpr, BLOCK_SIZE_N: tl.constexpr, BLOCK_SIZE_K: tl.constexpr, GROUP_SIZE_M: tl.constexpr):
    pid = tl.program_id(axis=0)
    num_pid_m = tl.cdiv(M, BLOCK_SIZE_M)
    num_pid_n = tl.cdiv(N, BLOCK_SIZE_N)
    num_pid_in_group = GROUP_SIZE_M * num_pid_n
    group_id = pid // num_pid_in_group
    first_pid_m = group_id * GROUP_SIZE_M
    group_size_m = min(num_pid_m - first_pid_m, GROUP_SIZE_M)
    pid_m = first_pid_m + (pid % group_size_m)
    pid_n = (pid % num_pid_in_group) // group_size_m

    offs_am = (pid_m * BLOCK_SIZE_M + tl.arange(0, BLOCK_SIZE_M)) % M
    offs_bn = (pid_n * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N)) % N
    offs_k = tl.arange(0, BLOCK_SIZE_K)
    a_ptrs = A + (offs_am[:, None] * stride_am + offs_k[None, :])
    b_ptrs = B + (offs_k[:, None] + offs_bn[None, :] * stride_bn)
    As_ptrs = As + offs_am * stride_As_m
    Bs_ptrs = Bs + (offs_bn // group_n) * stride_Bs_n

    accumulator = tl.zeros((BLOCK_SIZE_M, BLOCK_SIZE_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_SIZE_K)):
        a = tl.load(a_ptrs)
        b = tl.load(b_ptrs)
        offs_ks = k * BLOCK_SIZE_K // group_k
        a_s = tl.load(As_ptrs + offs_ks)
        b_s = tl.load(Bs_ptrs + offs_ks)
        accumulator += tl.dot(a, b) * a_s[:, None] * b_s[None, :]
        a_ptrs += BLOCK_SIZE_K
        b_ptrs += BLOCK_SIZE_K
    offs_cm = pid_m * BLOCK_SIZE_M + tl.arange(0, BLOCK_SIZE_M)
    offs_cn = pid_n * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N)
    c_mask = (offs_cm[:, None] < M) & (offs_cn[None, :] < N)
    tl.store(C + stride_cm * offs_cm[:, None] + offs_cn[None, :], accumulator.to(tl.bfloat16), mask=c_mask)


# --------------------------------------------------------------------------- Mamba2 SSD: outputs of a chunk from C·B^T, the chunk's inputs and the entering states
@triton.jit
def ssd_chunk_scan_kernel(cb_ptr, x_ptr, dt_ptr, dA_cumsum_ptr, C_ptr, states_ptr, D_ptr, out_ptr,
                          nchunks, nheads, stride_cb_chunk, stride_x_seqlen, stride_states_chunk,
                          chunk_size: tl.constexpr, hdim: tl.constexpr, dstate: tl.constexpr,
                          BLOCK_SIZE_M: tl.constexpr, BLOCK_SIZE_N: tl.constexpr, BLOCK_SIZE_K: tl.constexpr):
    pid_bc = tl.program_id(axis=1).to(tl.int64)
    pid_h = tl.program_id(axis=2)
    num_pid_n: tl.constexpr = hdim // BLOCK_SIZE_N
    pid_m = tl.program_id(axis=0) // num_pid_n
    pid_n = tl.program_id(axis=0) % num_pid_n
    b = pid_bc // nchunks
    c = pid_bc % nchunks
    cb_ptr += pid_bc * stride_cb_chunk
    x_ptr += pid_bc * chunk_size * stride_x_seqlen + pid_h * hdim
    out_ptr += pid_bc * chunk_size * stride_x_seqlen + pid_h * hdim
    dt_ptr += ((b * nheads + pid_h) * nchunks + c) * chunk_size
    dA_cumsum_ptr += ((b * nheads + pid_h) * nchunks + c) * chunk_size
    C_ptr += pid_bc * chunk_size * dstate
    states_ptr += pid_bc * stride_states_chunk + pid_h * hdim * dstate

    offs_m = pid_m * BLOCK_SIZE_M + tl.arange(0, BLOCK_SIZE_M)
    offs_n = pid_n * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N)
    offs_s = tl.arange(0, dstate)
    dA_cs_m = tl.load(dA_cumsum_ptr + offs_m)
    scale_m = tl.exp(dA_cs_m)
    Cm = tl.load(C_ptr + offs_m[:, None] * dstate + offs_s[None, :])
    prev = tl.load(states_ptr + offs_n[None, :] * dstate + offs_s[:, None])
    acc = tl.dot(Cm, prev) * scale_m[:, None]

    offs_k = tl.arange(0, BLOCK_SIZE_K)
    cb_ptrs = cb_ptr + offs_m[:, None] * chunk_size + offs_k[None, :]
    x_ptrs = x_ptr + offs_k[:, None] * stride_x_seqlen + offs_n[None, :]
    K_MAX = tl.minimum((pid_m + 1) * BLOCK_SIZE_M, chunk_size)
    for k in range(0, K_MAX, BLOCK_SIZE_K):
        cb = tl.load(cb_ptrs).to(tl.float32)
        dA_cs_k = tl.load(dA_cumsum_ptr + k + offs_k).to(tl.float32)
        cb *= tl.exp(tl.minimum(dA_cs_m[:, None] - dA_cs_k[None, :], 0.0))
        cb *= tl.load(dt_ptr + k + offs_k)[None, :]
        cb = tl.where(offs_m[:, None] >= k + offs_k[None, :], cb, 0.0).to(tl.float16)
        x = tl.load(x_ptrs)
        acc += tl.dot(cb, x)
        cb_ptrs += BLOCK_SIZE_K
        x_ptrs += BLOCK_SIZE_K * stride_x_seqlen
    x_res = tl.load(x_ptr + offs_m[:, None] * stride_x_seqlen + offs_n[None, :]).to(tl.float32)
    acc += x_res * tl.load(D_ptr + pid_h)
    tl.store(out_ptr + offs_m[:, None] * stride_x_seqlen + offs_n[None, :], acc.to(tl.float16))


# --------------------------------------------------------------------------- MLA decoding, first stage: latent 512 + 64 of rope, a table entry a token
@triton.jit
def mla_decode_stage1(Q, KV, Req_to_tokens, B_Seqlen, Att_Out, Att_Lse, sm_scale, stride_req, stride_qb, stride_kv, stride_ob, stride_oh,
                      MAX_SPLITS: tl.constexpr, BLOCK_DMODEL: tl.constexpr, BLOCK_DPE: tl.constexpr, BLOCK_H: tl.constexpr,
                      BLOCK_N: tl.constexpr, NUM_KV_SPLITS: tl.constexpr, HEADS: tl.constexpr, LOAD_V: tl.constexpr):
    cur_batch = tl.program_id(0)
    cur_head = tl.program_id(1) * BLOCK_H + tl.arange(0, BLOCK_H)
    split_kv_id = tl.program_id(2)
    offs_d = tl.arange(0, BLOCK_DMODEL)
    offs_dpe = BLOCK_DMODEL + tl.arange(0, BLOCK_DPE)
    cur_batch_seq_len = tl.load(B_Seqlen + cur_batch)
    row = BLOCK_DMODEL + BLOCK_DPE
    q = tl.load(Q + cur_batch * stride_qb + cur_head[:, None] * row + offs_d[None, :])
    qpe = tl.load(Q + cur_batch * stride_qb + cur_head[:, None] * row + offs_dpe[None, :])
    kv_len_per_split = tl.cdiv(cur_batch_seq_len, NUM_KV_SPLITS)
    split_kv_start = kv_len_per_split * split_kv_id
    split_kv_end = tl.minimum(split_kv_start + kv_len_per_split, cur_batch_seq_len)
    e_max = tl.zeros([BLOCK_H], dtype=tl.float32) - float("inf")
    e_sum = tl.zeros([BLOCK_H], dtype=tl.float32)
    acc = tl.zeros([BLOCK_H, BLOCK_DMODEL], dtype=tl.float32)
    for start_n in range(split_kv_start, split_kv_end, BLOCK_N):
        offs_n = start_n + tl.arange(0, BLOCK_N)
        kv_loc = tl.load(Req_to_tokens + stride_req * cur_batch + offs_n, mask=offs_n < split_kv_end, other=0)
        kc = tl.load(KV + kv_loc[None, :] * stride_kv + offs_d[:, None], mask=offs_n[None, :] < split_kv_end, other=0.0)
        qk = tl.dot(q, kc)
        kpe = tl.load(KV + kv_loc[None, :] * stride_kv + offs_dpe[:, None], mask=offs_n[None, :] < split_kv_end, other=0.0)
        qk += tl.dot(qpe, kpe)
        qk *= sm_scale
        qk = tl.where(offs_n[None, :] < split_kv_end, qk, float("-inf"))
        if LOAD_V:
            v = tl.load(KV + kv_loc[:, None] * stride_kv + offs_d[None, :], mask=offs_n[:, None] < split_kv_end, other=0.0)
        else:
            v = tl.trans(kc)
        n_e_max = tl.maximum(tl.max(qk, 1), e_max)
        re_scale = tl.exp(e_max - n_e_max)
        p = tl.exp(qk - n_e_max[:, None])
        acc *= re_scale[:, None]
        acc += tl.dot(p.to(v.dtype), v)
        e_sum = e_sum * re_scale + tl.sum(p, 1)
        e_max = n_e_max
    tl.store(Att_Out + cur_batch * stride_ob + cur_head[:, None] * stride_oh + split_kv_id * BLOCK_DMODEL + offs_d[None, :], acc / e_sum[:, None])
    tl.store(Att_Lse + (cur_batch * HEADS + cur_head) * MAX_SPLITS + split_kv_id, e_max + tl.log(e_sum))


# --------------------------------------------------------------------------- differential attention with its head norm
@triton.jit
def diff_attn_fwd_kernel(Q, K, V, Lambda, Gamma, Out, qk_scale, out_scale, eps, stride_qs, stride_vs, seqlen, heads,
                         BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, D: tl.constexpr, DV: tl.constexpr, REVERSE: tl.constexpr):
    pid_m = tl.program_id(1)
    if REVERSE:
        pid_m = tl.num_programs(1) - 1 - pid_m
    b = (tl.program_id(0) // heads).to(tl.int64)
    h = tl.program_id(0) % heads
    Q += b * seqlen * stride_qs + h * 2 * D
    K += b * seqlen * stride_qs + h * 2 * D
    V += b * seqlen * stride_vs + h * DV
    Out += b * seqlen * stride_vs + h * DV
    offs_m = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.arange(0, BLOCK_N)
    offs_d = tl.arange(0, D)
    offs_v = tl.arange(0, DV)
    q1 = tl.load(Q + offs_m[:, None] * stride_qs + offs_d[None, :])
    q2 = tl.load(Q + offs_m[:, None] * stride_qs + D + offs_d[None, :])
    m1 = tl.full([BLOCK_M], float("-inf"), dtype=tl.float32)
    m2 = tl.full([BLOCK_M], float("-inf"), dtype=tl.float32)
    l1 = tl.zeros([BLOCK_M], dtype=tl.float32)
    l2 = tl.zeros([BLOCK_M], dtype=tl.float32)
    acc1 = tl.zeros([BLOCK_M, DV], dtype=tl.float32)
    acc2 = tl.zeros([BLOCK_M, DV], dtype=tl.float32)
    for start_n in range(0, (pid_m + 1) * BLOCK_M, BLOCK_N):
        cols = start_n + offs_n
        k1 = tl.load(K + cols[None, :] * stride_qs + offs_d[:, None])
        k2 = tl.load(K + cols[None, :] * stride_qs + D + offs_d[:, None])
        v = tl.load(V + cols[:, None] * stride_vs + offs_v[None, :])
        causal = offs_m[:, None] >= cols[None, :]
        s1 = tl.where(causal, tl.dot(q1, k1) * qk_scale, float("-inf"))
        n1 = tl.maximum(m1, tl.max(s1, 1))
        a1 = tl.math.exp2(m1 - n1)
        p1 = tl.math.exp2(s1 - n1[:, None])
        l1 = l1 * a1 + tl.sum(p1, 1)
        acc1 = tl.dot(p1.to(tl.float16), v, acc1 * a1[:, None])
        m1 = n1
        s2 = tl.where(causal, tl.dot(q2, k2) * qk_scale, float("-inf"))
        n2 = tl.maximum(m2, tl.max(s2, 1))
        a2 = tl.math.exp2(m2 - n2)
        p2 = tl.math.exp2(s2 - n2[:, None])
        l2 = l2 * a2 + tl.sum(p2, 1)
        acc2 = tl.dot(p2.to(tl.float16), v, acc2 * a2[:, None])
        m2 = n2
    o = acc1 / l1[:, None] - tl.load(Lambda + h) * (acc2 / l2[:, None])
    rstd = tl.rsqrt(tl.sum(o * o, 1) / DV + eps)
    o = o * rstd[:, None] * tl.load(Gamma + offs_v)[None, :] * out_scale
    tl.store(Out + offs_m[:, None] * stride_vs + offs_v[None, :], o.to(tl.float16))


# --------------------------------------------------------------------------- gradient of an embedding: rows in the order of their ids, sums flushed by atomics
@triton.jit
def segment_sum_kernel(grad_ptr, order_ptr, ids_ptr, out_ptr, n_rows, stride_g, stride_o, BLOCK_D: tl.constexpr, ROWS: tl.constexpr):
    start = tl.program_id(1) * ROWS
    offs_d = tl.program_id(0) * BLOCK_D + tl.arange(0, BLOCK_D)
    prev = tl.load(ids_ptr + start)
    acc = tl.zeros([BLOCK_D], dtype=tl.float32)
    for i in range(start, tl.minimum(start + ROWS, n_rows)):
        cur = tl.load(ids_ptr + i)
        row = tl.load(order_ptr + i).to(tl.int64)
        g = tl.load(grad_ptr + row * stride_g + offs_d).to(tl.float32)
        if cur != prev:
            tl.atomic_add(out_ptr + prev.to(tl.int64) * stride_o + offs_d, acc, sem="relaxed")
            acc = tl.zeros([BLOCK_D], dtype=tl.float32)
            prev = cur
        acc += g
    tl.atomic_add(out_ptr + prev.to(tl.int64) * stride_o + offs_d, acc, sem="relaxed")


# --------------------------------------------------------------------------- cumulative sums along rows
@triton.jit
def cumsum_rows_kernel(x_ptr, y_ptr, n_cols, stride_row, BLOCK_ROWS: tl.constexpr, BLOCK_COLS: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_ROWS + tl.arange(0, BLOCK_ROWS)
    cols = tl.arange(0, BLOCK_COLS)
    carry = tl.zeros([BLOCK_ROWS], dtype=tl.float32)
    for c in tl.range(0, n_cols, BLOCK_COLS):
        ptrs = rows[:, None] * stride_row + (c + cols)[None, :]
        x = tl.load(x_ptr + ptrs)
        s = tl.cumsum(x, axis=1) + carry[:, None]
        tl.store(y_ptr + ptrs, s)
        carry = tl.sum(tl.where(cols[None, :] == BLOCK_COLS - 1, s, 0.0), axis=1)


# =========================================================================== groups
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


class W4(Group):
    kernel = w4a16_gemm_kernel
    size = [48, 10240, 5120, 128]
    problem = "48x10240x5120 groups of 128 fp16 by int4"
    zero = ["C"]
    data = {"A": ("float16", [48, 5120]), "QW": ("int32", [640, 10240]), "Sc": ("float16", [40, 10240]), "QZ": ("int32", [40, 1280]), "C": ("float32", [48, 10240])}
    configs = pick(dict(BLOCK_SIZE_M=[16, 32, 64], BLOCK_SIZE_N=[32, 64, 128, 256], BLOCK_SIZE_K=[32, 64, 128], SPLIT_K=[1, 2, 4, 8], GROUP_SIZE_M=[1, 8], num_warps=[2, 4, 8], num_stages=[2, 3, 4]), 16,
                   lambda c: 16 <= c["BLOCK_SIZE_N"] * c["BLOCK_SIZE_K"] // (32 * c["num_warps"]) <= 128 and c["BLOCK_SIZE_M"] * c["BLOCK_SIZE_N"] // (32 * c["num_warps"]) <= 64
                   and c["BLOCK_SIZE_M"] * c["BLOCK_SIZE_N"] >= 256 * c["num_warps"]
                   and c["BLOCK_SIZE_K"] * (c["BLOCK_SIZE_N"] * (4 * c["num_stages"] - 2) + c["BLOCK_SIZE_M"] * 2 * c["num_stages"]) <= 222000,
                   [dict(BLOCK_SIZE_M=16, BLOCK_SIZE_N=128, BLOCK_SIZE_K=64, SPLIT_K=4, GROUP_SIZE_M=8, num_warps=4, num_stages=3),
                    dict(BLOCK_SIZE_M=64, BLOCK_SIZE_N=64, BLOCK_SIZE_K=128, SPLIT_K=2, GROUP_SIZE_M=1, num_warps=4, num_stages=3),
                    dict(BLOCK_SIZE_M=64, BLOCK_SIZE_N=128, BLOCK_SIZE_K=64, SPLIT_K=1, GROUP_SIZE_M=8, num_warps=8, num_stages=4)], 301)

    def args(self, t, c):
        M, N, K, _ = self.size
        return [t("A"), t("QW"), t("Sc"), t("QZ"), t("C"), M, N, K, K, N, N, N // 8, N]

    def meta(self, c):
        return dict(c, GROUP=128)

    def grid(self, c):
        return (cdiv(48, c["BLOCK_SIZE_M"]) * (10240 // c["BLOCK_SIZE_N"]), c["SPLIT_K"], 1)

    def fill(self, torch, t):
        t["A"].copy_(torch.randn_like(t["A"]))
        for n in ("QW", "QZ"):
            t[n].copy_(torch.randint(-2 ** 31, 2 ** 31, t[n].shape, device="cuda"))
        t["Sc"].copy_(torch.rand_like(t["Sc"]) * 0.02 + 0.005)

    def reference(self, torch, t):
        sh = torch.arange(8, device="cuda", dtype=torch.int32) * 4
        w = ((t["QW"][:, None, :] >> sh[None, :, None]) & 15).reshape(5120, 10240)
        z = ((t["QZ"][:, :, None] >> sh[None, None, :]) & 15).reshape(40, 10240)
        w = (w.reshape(40, 128, 10240) - z[:, None, :]).float() * t["Sc"].float()[:, None, :]
        return {"C": t["A"].float() @ w.reshape(5120, 10240)}


class Dq(Group):
    kernel = gqa_bwd_dq_kernel
    H, KVH, S, D = 12, 3, 3072, 128
    size = [12, 3, 3072, 128]
    problem = "3072x12x128 of 3 key heads causal bf16"
    data = dict(Q=("bfloat16", [3072, 12, 128]), K=("bfloat16", [3072, 3, 128]), V=("bfloat16", [3072, 3, 128]), DO=("bfloat16", [3072, 12, 128]), DQ=("bfloat16", [3072, 12, 128]),
                L=("float32", [12, 3072]), Delta=("float32", [12, 3072]))
    configs = pick(dict(BLOCK_M=[32, 64, 128], BLOCK_N=[16, 32, 64, 128], LONG_FIRST=[0, 1], num_warps=[2, 4, 8], num_stages=[1, 2, 3, 4]), 16,
                   lambda c: 16 <= c["BLOCK_M"] * 128 // (32 * c["num_warps"]) <= 128 and c["BLOCK_M"] * c["BLOCK_N"] // (32 * c["num_warps"]) <= 64 and c["BLOCK_M"] * c["BLOCK_N"] >= 512 * c["num_warps"] // 2
                   and c["BLOCK_N"] * 512 * c["num_stages"] + c["BLOCK_M"] * 512 <= 215000,
                   [dict(BLOCK_M=128, BLOCK_N=64, LONG_FIRST=1, num_warps=8, num_stages=2), dict(BLOCK_M=64, BLOCK_N=64, LONG_FIRST=0, num_warps=4, num_stages=2)], 302)

    def args(self, t, c):
        return [t(n) for n in ("Q", "K", "V", "DO", "DQ", "L", "Delta")] + [LOG2E / math.sqrt(128), 1 / math.sqrt(128), 12 * 128, 3 * 128, 3072, 12]

    def meta(self, c):
        return dict(c, RATIO=4, HEAD_DIM=128)

    def grid(self, c):
        return (3072 // c["BLOCK_M"], 12, 1)

    def each(self, torch, t):
        late = torch.ones(3072, 3072, device="cuda", dtype=torch.bool).triu(1)
        for h in range(12):
            q, do, k, v = t["Q"][:, h].float(), t["DO"][:, h].float(), t["K"][:, h // 4].float(), t["V"][:, h // 4].float()
            yield h, q, do, k, v, ((q @ k.T) / math.sqrt(128)).masked_fill(late, float("-inf"))

    def fill(self, torch, t):
        for n in ("Q", "K", "V", "DO"):
            t[n].copy_(torch.randn_like(t[n]))
        for h, q, do, k, v, s in self.each(torch, t):
            t["L"][h] = torch.logsumexp(s, -1) * LOG2E
            t["Delta"][h] = ((torch.softmax(s, -1) @ v) * do).sum(-1)

    def reference(self, torch, t):
        dq = torch.empty(3072, 12, 128, device="cuda")
        for h, q, do, k, v, s in self.each(torch, t):
            dq[:, h] = (torch.softmax(s, -1) * (do @ v.T - t["Delta"][h][:, None])) @ k / math.sqrt(128)
        return {"DQ": dq}


class WGrad(Group):
    kernel = wgrad_desc_kernel
    scratch = True
    size = [6144, 1536, 2304]
    problem = "1536x2304 of 6144 tokens bf16 to fp32"
    zero = ["DW"]
    data = {"DY": ("bfloat16", [6144, 1536]), "X": ("bfloat16", [6144, 2304]), "DW": ("float32", [1536, 2304])}
    configs = pick(dict(BLOCK_N=[64, 128, 256], BLOCK_K=[64, 128, 256], BLOCK_T=[32, 64, 128], SPLIT_T=[1, 2, 4, 8], GROUP_SIZE_N=[1, 4, 8], num_warps=[4, 8], num_stages=[2, 3, 4, 5]), 16,
                   lambda c: (c["BLOCK_N"] + c["BLOCK_K"]) * c["BLOCK_T"] * 2 * c["num_stages"] + c["BLOCK_N"] * c["BLOCK_K"] * 4 <= 225000
                   and 16 <= c["BLOCK_N"] * c["BLOCK_K"] // (32 * c["num_warps"]) <= 256 and c["BLOCK_N"] * c["BLOCK_K"] <= 32768,
                   [dict(BLOCK_N=128, BLOCK_K=128, BLOCK_T=64, SPLIT_T=1, GROUP_SIZE_N=8, num_warps=8, num_stages=4), dict(BLOCK_N=128, BLOCK_K=256, BLOCK_T=32, SPLIT_T=2, GROUP_SIZE_N=8, num_warps=8, num_stages=3),
                    dict(BLOCK_N=64, BLOCK_K=128, BLOCK_T=64, SPLIT_T=2, GROUP_SIZE_N=4, num_warps=4, num_stages=4)], 303)

    def args(self, t, c):
        return [t("DY"), t("X"), t("DW")] + self.size

    def grid(self, c):
        return (cdiv(1536, c["BLOCK_N"]) * cdiv(2304, c["BLOCK_K"]), c["SPLIT_T"], 1)

    def fill(self, torch, t):
        for n in ("DY", "X"):
            t[n].copy_(torch.randn_like(t[n]) / 4)

    def reference(self, torch, t):
        return {"DW": t["DY"].float().T @ t["X"].float()}


class Relu2(Group):
    kernel = linear_relu2_kernel
    size = [2011, 3184, 1584]
    problem = "2011x3184x1584 bf16"
    data = {"X": ("bfloat16", [2011, 1584]), "W": ("bfloat16", [3184, 1584]), "B": ("bfloat16", [3184]), "Y": ("bfloat16", [2011, 3184])}
    configs = pick(dict(BLOCK_SIZE_M=[32, 64, 128, 256], BLOCK_SIZE_N=[32, 64, 128, 256], BLOCK_SIZE_K=[16, 32, 64, 128], GROUP_SIZE_M=[1, 4, 8, 16], num_warps=[4, 8], num_stages=[1, 2, 3, 4, 5]), 16,
                   lambda c: (c["BLOCK_SIZE_M"] + c["BLOCK_SIZE_N"]) * c["BLOCK_SIZE_K"] * 2 * c["num_stages"] <= 220000 and 16 <= c["BLOCK_SIZE_M"] * c["BLOCK_SIZE_N"] // (32 * c["num_warps"]) <= 256
                   and c["BLOCK_SIZE_M"] * c["BLOCK_SIZE_N"] <= 32768,
                   [dict(BLOCK_SIZE_M=128, BLOCK_SIZE_N=256, BLOCK_SIZE_K=64, GROUP_SIZE_M=8, num_warps=8, num_stages=3), dict(BLOCK_SIZE_M=128, BLOCK_SIZE_N=128, BLOCK_SIZE_K=32, GROUP_SIZE_M=8, num_warps=4, num_stages=4),
                    dict(BLOCK_SIZE_M=64, BLOCK_SIZE_N=128, BLOCK_SIZE_K=64, GROUP_SIZE_M=16, num_warps=4, num_stages=4)], 304)

    def args(self, t, c):
        M, N, K = self.size
        return [t("X"), t("W"), t("B"), t("Y"), M, N, K, K, 1, K, 1, N, 1]

    def grid(self, c):
        return (cdiv(2011, c["BLOCK_SIZE_M"]) * cdiv(3184, c["BLOCK_SIZE_N"]), 1, 1)

    def fill(self, torch, t):
        t["X"].copy_(torch.randn_like(t["X"]))
        t["W"].copy_(torch.randn_like(t["W"]) / math.sqrt(1584))
        t["B"].copy_(torch.randn_like(t["B"]))

    def reference(self, torch, t):
        return {"Y": torch.relu(t["X"].float() @ t["W"].float().T + t["B"].float()) ** 2}


class Fp8Block(Group):
    kernel = w8a8_block_fp8_kernel
    size = [832, 5376, 4096]
    problem = "832x5376x4096 blocks of 128 e4m3 to bf16"
    data = {"A": ("float8_e4m3fn", [832, 4096]), "B": ("float8_e4m3fn", [5376, 4096]), "C": ("bfloat16", [832, 5376]), "As": ("float32", [832, 32]), "Bs": ("float32", [42, 32])}
    configs = pick(dict(BLOCK_SIZE_M=[16, 32, 64, 128], BLOCK_SIZE_N=[32, 64, 128, 256], BLOCK_SIZE_K=[64, 128], GROUP_SIZE_M=[1, 8, 32], num_warps=[4, 8], num_stages=[2, 3, 4, 5]), 16,
                   lambda c: (c["BLOCK_SIZE_M"] + c["BLOCK_SIZE_N"]) * c["BLOCK_SIZE_K"] * c["num_stages"] <= 220000 and 8 <= c["BLOCK_SIZE_M"] * c["BLOCK_SIZE_N"] // (32 * c["num_warps"]) <= 128
                   and c["BLOCK_SIZE_M"] * c["BLOCK_SIZE_N"] >= 1024,
                   [dict(BLOCK_SIZE_M=64, BLOCK_SIZE_N=128, BLOCK_SIZE_K=128, GROUP_SIZE_M=32, num_warps=4, num_stages=3), dict(BLOCK_SIZE_M=128, BLOCK_SIZE_N=128, BLOCK_SIZE_K=128, GROUP_SIZE_M=8, num_warps=8, num_stages=4)], 305)

    def args(self, t, c):
        M, N, K = self.size
        return [t("A"), t("B"), t("C"), t("As"), t("Bs"), M, N, K, K, K, N, 32, 32]

    def meta(self, c):
        return dict(c, group_n=128, group_k=128)

    def grid(self, c):
        return (cdiv(832, c["BLOCK_SIZE_M"]) * cdiv(5376, c["BLOCK_SIZE_N"]), 1, 1)

    def fill(self, torch, t):
        for n in "AB":
            t[n].copy_((torch.randn(t[n].shape, device="cuda") * 40).clamp(-448, 448).to(torch.float8_e4m3fn))
        for n in ("As", "Bs"):
            t[n].copy_(torch.rand_like(t[n]) * 0.004 + 0.001)

    def reference(self, torch, t):
        a = t["A"].float().reshape(832, 32, 128) * t["As"][:, :, None]
        b = t["B"].float().reshape(42, 128, 32, 128) * t["Bs"][:, None, :, None]
        return {"C": a.reshape(832, 4096) @ b.reshape(5376, 4096).T}


class Ssd(Group):
    kernel = ssd_chunk_scan_kernel
    size = [2, 16, 256, 48, 64, 128]           # batch, chunks, tokens a chunk, heads, width, states
    problem = "2x4096x48x64 chunks of 256 states 128 fp16"
    data = {"CB": ("float16", [2, 16, 256, 256]), "X": ("float16", [2, 4096, 48, 64]), "DT": ("float32", [2, 48, 16, 256]), "DA": ("float32", [2, 48, 16, 256]), "C": ("float16", [2, 4096, 128]),
            "States": ("float16", [2, 16, 48, 64, 128]), "D": ("float32", [48]), "Out": ("float16", [2, 4096, 48, 64])}
    configs = pick(dict(BLOCK_SIZE_M=[16, 32, 64, 128, 256], BLOCK_SIZE_N=[16, 32, 64], BLOCK_SIZE_K=[16, 32, 64, 128], num_warps=[1, 2, 4, 8], num_stages=[1, 2, 3, 4, 5]), 16,
                   lambda c: 4 <= c["BLOCK_SIZE_M"] * c["BLOCK_SIZE_N"] // (32 * c["num_warps"]) <= 64 and 4 <= c["BLOCK_SIZE_M"] * c["BLOCK_SIZE_K"] // (32 * c["num_warps"]) <= 64,
                   [dict(BLOCK_SIZE_M=128, BLOCK_SIZE_N=64, BLOCK_SIZE_K=64, num_warps=4, num_stages=4), dict(BLOCK_SIZE_M=64, BLOCK_SIZE_N=64, BLOCK_SIZE_K=32, num_warps=4, num_stages=3)], 306)

    def args(self, t, c):
        return [t(n) for n in ("CB", "X", "DT", "DA", "C", "States", "D", "Out")] + [16, 48, 65536, 3072, 48 * 64 * 128]

    def meta(self, c):
        return dict(c, chunk_size=256, hdim=64, dstate=128)

    def grid(self, c):
        return (256 // c["BLOCK_SIZE_M"] * (64 // c["BLOCK_SIZE_N"]), 32, 48)

    def fill(self, torch, t):
        for n in ("X", "CB", "C"):
            t[n].copy_(torch.randn_like(t[n]))
        t["States"].copy_(torch.randn_like(t["States"]) / 8)
        t["D"].copy_(torch.randn_like(t["D"]))
        t["DT"].copy_(torch.rand_like(t["DT"]) * 0.09 + 0.01)
        a = -(torch.arange(48, device="cuda") % 16 + 1).float()
        t["DA"].copy_((t["DT"] * a[None, :, None, None]).cumsum(-1))

    def reference(self, torch, t):
        x = t["X"].float().reshape(2, 16, 256, 48, 64)
        cc = t["C"].float().reshape(2, 16, 256, 128)
        cb = t["CB"].float()
        out = torch.empty(2, 16, 256, 48, 64, device="cuda")
        for h in range(48):
            da, dt, xh = t["DA"][:, h], t["DT"][:, h], x[:, :, :, h]
            w = (cb * torch.exp((da[..., :, None] - da[..., None, :]).clamp(max=0)) * dt[..., None, :]).tril()
            out[:, :, :, h] = w @ xh + torch.exp(da)[..., None] * (cc @ t["States"][:, :, h].float().transpose(-1, -2)) + t["D"][h] * xh
        return {"Out": out.reshape(2, 4096, 48, 64)}


class Mla(Group):
    kernel = mla_decode_stage1
    B, H, MAXS = 24, 32, 16
    size = [24, 32, 512, 64, 2816]
    problem = "24 sequences to 2816 32 heads 512+64 fp16"
    data = {"Q": ("float16", [24, 32, 576]), "KV": ("float16", [45000, 576]), "Table": ("int32", [24, 2816]), "Lens": ("int32", [24]), "O": ("float32", [24, 32, 16, 512]), "Lse": ("float32", [24, 32, 16])}
    configs = pick(dict(BLOCK_H=[16, 32], BLOCK_N=[16, 32, 64], NUM_KV_SPLITS=[1, 2, 4, 8, 16], LOAD_V=[0, 0, 1], num_warps=[2, 4, 8], num_stages=[1, 2, 3]), 16,
                   lambda c: c["BLOCK_N"] * (1024 * (1 + c["LOAD_V"]) + 128) * c["num_stages"] + c["BLOCK_H"] * 1152 <= 200000 and 32 <= c["BLOCK_H"] * 512 // (32 * c["num_warps"]) <= 128
                   and c["BLOCK_N"] >= 8 * c["num_warps"] // 2,
                   [dict(BLOCK_H=16, BLOCK_N=32, NUM_KV_SPLITS=8, LOAD_V=0, num_warps=4, num_stages=2), dict(BLOCK_H=32, BLOCK_N=64, NUM_KV_SPLITS=8, LOAD_V=0, num_warps=8, num_stages=2)], 307)

    def plan(self):
        r = random.Random(90210)
        lens = [r.randint(420, 2816) for _ in range(self.B)]
        slots = list(range(45000))
        r.shuffle(slots)
        table = [[slots.pop() if len(slots) else 0 for _ in range(n)] + [0] * (2816 - n) for n in lens]
        assert sum(lens) <= 45000
        return lens, table

    def args(self, t, c):
        return [t("Q"), t("KV"), t("Table"), t("Lens"), t("O"), t("Lse"), 1 / math.sqrt(192), 2816, 32 * 576, 576, 32 * 16 * 512, 16 * 512]

    def meta(self, c):
        return dict(c, MAX_SPLITS=16, BLOCK_DMODEL=512, BLOCK_DPE=64, HEADS=32)

    def grid(self, c):
        return (24, 32 // c["BLOCK_H"], c["NUM_KV_SPLITS"])

    def fill(self, torch, t):
        for n in ("Q", "KV"):
            t[n].copy_(torch.randn_like(t[n]) * 0.7)
        lens, table = self.plan()
        t["Lens"].copy_(torch.tensor(lens, dtype=torch.int32))
        t["Table"].copy_(torch.tensor(table, dtype=torch.int32))

    def finish(self, torch, mine, c):
        s = c["NUM_KV_SPLITS"]
        w = torch.softmax(mine["Lse"][:, :, :s], -1)
        return {"O": (mine["O"][:, :, :s] * w[..., None]).sum(2), "Lse": torch.logsumexp(mine["Lse"][:, :, :s], -1)}

    def reference(self, torch, t):
        out, lse = torch.empty(24, 32, 512, device="cuda"), torch.empty(24, 32, device="cuda")
        for b, n in enumerate(self.plan()[0]):
            kv = t["KV"][t["Table"][b, :n].long()].float()
            s = t["Q"][b].float() @ kv.T / math.sqrt(192)
            lse[b] = torch.logsumexp(s, -1)
            out[b] = torch.softmax(s, -1) @ kv[:, :512]
        return {"O": out, "Lse": lse}


class DiffAttn(Group):
    kernel = diff_attn_fwd_kernel
    size = [2, 2048, 10, 64, 128]
    problem = "2x2048 10 heads of 2x64 values 128 causal fp16"
    tol = 0.03
    data = {"Q": ("float16", [2, 2048, 20, 64]), "K": ("float16", [2, 2048, 20, 64]), "V": ("float16", [2, 2048, 10, 128]), "Lam": ("float32", [10]), "G": ("float32", [128]), "O": ("float16", [2, 2048, 10, 128])}
    configs = pick(dict(BLOCK_M=[32, 64, 128], BLOCK_N=[16, 32, 64, 128], REVERSE=[0, 1], num_warps=[2, 4, 8], num_stages=[1, 2, 3, 4]), 16,
                   lambda c: 16 <= c["BLOCK_M"] * 128 // (32 * c["num_warps"]) <= 128 and c["BLOCK_M"] * c["BLOCK_N"] // (32 * c["num_warps"]) <= 64 and c["BLOCK_N"] * 512 * c["num_stages"] <= 160000
                   and c["BLOCK_M"] * c["BLOCK_N"] >= 256 * c["num_warps"],
                   [dict(BLOCK_M=128, BLOCK_N=64, REVERSE=1, num_warps=8, num_stages=2), dict(BLOCK_M=64, BLOCK_N=32, REVERSE=1, num_warps=4, num_stages=3)], 308)

    def args(self, t, c):
        return [t(n) for n in ("Q", "K", "V", "Lam", "G", "O")] + [LOG2E / 8.0, 0.2, 1e-5, 20 * 64, 10 * 128, 2048, 10]

    def meta(self, c):
        return dict(c, D=64, DV=128)

    def grid(self, c):
        return (20, 2048 // c["BLOCK_M"], 1)

    def fill(self, torch, t):
        for n in "QKVG":
            t[n].copy_(torch.randn_like(t[n]))
        t["Lam"].copy_(torch.rand(10, device="cuda") * 0.3 + 0.2)

    def reference(self, torch, t):
        out = torch.empty(2, 2048, 10, 128, device="cuda")
        late = torch.ones(2048, 2048, device="cuda", dtype=torch.bool).triu(1)
        for b in range(2):
            for h in range(10):
                a = [torch.softmax((t["Q"][b, :, 2 * h + i].float() @ t["K"][b, :, 2 * h + i].float().T / 8).masked_fill(late, float("-inf")), -1) for i in range(2)]
                o = (a[0] - t["Lam"][h] * a[1]) @ t["V"][b, :, h].float()
                out[b, :, h] = o * torch.rsqrt((o * o).mean(-1, keepdim=True) + 1e-5) * t["G"] * 0.2
        return {"O": out}


class SegSum(Group):
    kernel = segment_sum_kernel
    size = [20480, 1536, 50000]
    problem = "20480x1536 into 50000 rows bf16 to fp32"
    tol = 1e-3
    zero = ["Out"]
    data = {"G": ("bfloat16", [20480, 1536]), "Order": ("int32", [20480]), "Ids": ("int32", [20480]), "Out": ("float32", [50000, 1536])}
    configs = pick(dict(BLOCK_D=[64, 128, 256, 512], ROWS=[1, 2, 4, 8, 16, 32, 64, 128, 256], num_warps=[1, 2, 4, 8], num_stages=[1, 2, 3]), 16,
                   lambda c: 2 <= c["BLOCK_D"] // (32 * c["num_warps"]) <= 16 and (c["ROWS"] > 2 or c["num_stages"] == 1), [dict(BLOCK_D=512, ROWS=16, num_warps=4, num_stages=3), dict(BLOCK_D=256, ROWS=1, num_warps=1, num_stages=1)], 309)

    def args(self, t, c):
        return [t("G"), t("Order"), t("Ids"), t("Out"), 20480, 1536, 1536]

    def grid(self, c):
        return (1536 // c["BLOCK_D"], cdiv(20480, c["ROWS"]), 1)

    def fill(self, torch, t):
        t["G"].copy_(torch.randn_like(t["G"]))
        ids = (torch.rand(20480, device="cuda") ** 3 * 50000).long().clamp(max=49999)
        s, o = torch.sort(ids)
        t["Ids"].copy_(s)
        t["Order"].copy_(o)

    def reference(self, torch, t):
        r = torch.zeros(50000, 1536, device="cuda", dtype=torch.float32)
        return {"Out": r.index_add_(0, t["Ids"].long(), t["G"][t["Order"].long()].float())}


class Cumsum(Group):
    kernel = cumsum_rows_kernel
    size = [1536, 16384]
    problem = "1536x16384 fp32"
    tol = 1e-4
    data = {"X": ("float32", [1536, 16384]), "Y": ("float32", [1536, 16384])}
    configs = pick(dict(BLOCK_ROWS=[1, 2, 4, 8, 16], BLOCK_COLS=[64, 128, 256, 512, 1024, 2048, 4096, 8192], num_warps=[1, 2, 4, 8, 16], num_stages=[1, 2, 3, 4]), 16,
                   lambda c: 4 <= c["BLOCK_ROWS"] * c["BLOCK_COLS"] // (32 * c["num_warps"]) <= 64 and c["BLOCK_ROWS"] * c["BLOCK_COLS"] * 4 * c["num_stages"] <= 160000,
                   [dict(BLOCK_ROWS=1, BLOCK_COLS=2048, num_warps=4, num_stages=3), dict(BLOCK_ROWS=4, BLOCK_COLS=512, num_warps=4, num_stages=1)], 310)

    def args(self, t, c):
        return [t("X"), t("Y"), 16384, 16384]

    def grid(self, c):
        return (1536 // c["BLOCK_ROWS"], 1, 1)

    def fill(self, torch, t):
        t["X"].copy_(torch.rand_like(t["X"]))

    def reference(self, torch, t):
        return {"Y": t["X"].double().cumsum(-1).float()}
