"""Softmax of rows that fit into registers; how many columns a program takes is a heuristic's business."""
import triton
import triton.language as tl

from tensors import empty


@triton.autotune(configs=[triton.Config({}, num_warps=w) for w in (1, 2, 4, 8)], key=["columns"],
                 restore_value=["y_ptr"])
@triton.heuristics({"BLOCK": lambda args: triton.next_power_of_2(args["columns"])})
@triton.jit
def softmax(x_ptr, y_ptr, stride, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride + at, mask=at < columns, other=float("-inf")).to(tl.float32)
    e = tl.exp(x - tl.max(x, 0))
    tl.store(y_ptr + row * stride + at, (e / tl.sum(e, 0)).to(y_ptr.dtype.element_ty), mask=at < columns)


def launch(rows, columns, dtype):
    x, y = empty((rows, columns), dtype), empty((rows, columns), dtype)
    softmax[(rows,)](x, y, x.stride(0), columns)


if __name__ == "__main__":
    launch(4096, 1000, "float32")
    launch(4096, 1000, "bfloat16")
