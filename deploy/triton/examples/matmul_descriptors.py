"""C = A B^T in half precision, through tensor descriptors that the host makes (Triton 3.4 and newer)."""
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from tensors import empty


def set_boxes(args):
    """The boxes that a configuration copies: what its descriptors are encoded with."""
    args["a_desc"].block_shape = [args["BLOCK_M"], args["BLOCK_K"]]
    args["b_desc"].block_shape = [args["BLOCK_N"], args["BLOCK_K"]]
    args["c_desc"].block_shape = [args["BLOCK_M"], args["BLOCK_N"]]


def configs():
    return [
        triton.Config({"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": 64}, num_warps=w, num_stages=s, pre_hook=set_boxes)
        for m, n, w, s in [(64, 64, 4, 3), (128, 128, 4, 3), (128, 128, 8, 3), (128, 256, 8, 3)]
    ]


@triton.autotune(configs=configs(), key=["M", "N", "K"])
@triton.jit
def matmul_descriptors(a_desc, b_desc, c_desc, M, N, K,
                       BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    tiles_n = tl.cdiv(N, BLOCK_N)
    m = tl.program_id(0) // tiles_n * BLOCK_M
    n = tl.program_id(0) % tiles_n * BLOCK_N
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        acc = tl.dot(a_desc.load([m, k]), b_desc.load([n, k]).T, acc)
    c_desc.store([m, n], acc.to(tl.float16))


def launch(M, N, K):
    a, b, c = empty((M, K), "float16"), empty((N, K), "float16"), empty((M, N), "float16")
    descriptors = [TensorDescriptor(t, t.shape, t.stride(), [1, 64]) for t in (a, b, c)]
    grid = lambda meta: (triton.cdiv(M, meta["BLOCK_M"]) * triton.cdiv(N, meta["BLOCK_N"]),)
    matmul_descriptors[grid](*descriptors, M, N, K)


if __name__ == "__main__":
    launch(1024, 1024, 512)
