"""C = A B in half precision, through pointers."""
import triton
import triton.language as tl

from tensors import empty


def configs():
    return [
        triton.Config({"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": 32, "GROUP_M": 8}, num_warps=w, num_stages=s)
        for m, n, w, s in [(64, 64, 4, 3), (128, 64, 4, 3), (128, 128, 8, 3), (128, 128, 4, 4), (64, 128, 4, 4)]
    ]


@triton.autotune(configs=configs(), key=["M", "N", "K"])
@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
           BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr):
    pid = tl.program_id(0)
    tiles_m, tiles_n = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    first = pid // (GROUP_M * tiles_n) * GROUP_M
    rows = tl.minimum(tiles_m - first, GROUP_M)
    tile_m = first + pid % rows
    tile_n = pid % (GROUP_M * tiles_n) // rows
    m = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    a = a_ptr + m[:, None] * stride_am + k[None, :] * stride_ak
    b = b_ptr + k[:, None] * stride_bk + n[None, :] * stride_bn
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        left = tl.load(a, mask=(m < M)[:, None] & (k < K - start)[None, :], other=0.0)
        right = tl.load(b, mask=(k < K - start)[:, None] & (n < N)[None, :], other=0.0)
        acc = tl.dot(left, right, acc)
        a += BLOCK_K * stride_ak
        b += BLOCK_K * stride_bk
    c = c_ptr + m[:, None] * stride_cm + n[None, :] * stride_cn
    tl.store(c, acc.to(tl.float16), mask=(m < M)[:, None] & (n < N)[None, :])


def launch(M, N, K):
    a, b, c = empty((M, K), "float16"), empty((K, N), "float16"), empty((M, N), "float16")
    grid = lambda meta: (triton.cdiv(M, meta["BLOCK_M"]) * triton.cdiv(N, meta["BLOCK_N"]),)
    matmul[grid](a, b, c, M, N, K, *a.stride(), *b.stride(), *c.stride())


if __name__ == "__main__":
    launch(1024, 1024, 512)
    launch(256, 2048, 1024)
