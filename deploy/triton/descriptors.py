"""A kernel of checks.py that makes tensor descriptors itself (Triton 3.4 and newer)."""
import triton
import triton.language as tl


@triton.jit
def made_in_kernel(x, y, M, N: tl.constexpr, BLOCK: tl.constexpr):
    source = tl.make_tensor_descriptor(x, [M, N], [N, 1], [BLOCK, N])
    target = tl.make_tensor_descriptor(y, [M, N], [N, 1], [BLOCK, N])
    target.store([tl.program_id(0) * BLOCK, 0], source.load([tl.program_id(0) * BLOCK, 0]))
