"""Layer norm of rows, the weights given or not, and a plain launch that no autotuner makes."""
import triton
import triton.language as tl

from tensors import empty


@triton.autotune(configs=[triton.Config({"BLOCK": b}, num_warps=w) for b in (512, 1024, 2048) for w in (4, 8)],
                 key=["columns"], reset_to_zero=["mean_ptr"])
@triton.jit
def layernorm(x_ptr, y_ptr, w_ptr, mean_ptr, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    square = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * columns + at, mask=at < columns, other=0.0)
        total += x
        square += x * x
    mean = tl.sum(total, 0) / columns
    scale = 1 / tl.sqrt(tl.sum(square, 0) / columns - mean * mean + eps)
    tl.store(mean_ptr + row, mean)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * columns + at, mask=at < columns, other=0.0)
        y = (x - mean) * scale
        if w_ptr is not None:
            y *= tl.load(w_ptr + at, mask=at < columns, other=0.0)
        tl.store(y_ptr + row * columns + at, y, mask=at < columns)


@triton.jit
def add(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + at, tl.load(x_ptr + at, mask=at < n) + tl.load(y_ptr + at, mask=at < n), mask=at < n)


def launch(rows, columns, weighted):
    x, y, mean = empty((rows, columns), "float32"), empty((rows, columns), "float32"), empty((rows,), "float32")
    weights = empty((columns,), "float32") if weighted else None
    layernorm[(rows,)](x, y, weights, mean, columns, 1e-5)
    add[(triton.cdiv(rows * columns, 1024),)](x, y, rows * columns, BLOCK=1024)


if __name__ == "__main__":
    launch(2048, 4096, True)
