"""Attention forward with an online softmax, over tensors of [batch * heads, length, D] in half precision."""
import triton
import triton.language as tl

from tensors import empty


def fits(configs, args, **kwargs):
    """The configurations whose tiles divide the length."""
    return [c for c in configs if args["length"] % c.kwargs["BLOCK_M"] == 0 and args["length"] % c.kwargs["BLOCK_N"] == 0]


@triton.autotune(
    configs=[triton.Config({"BLOCK_M": m, "BLOCK_N": n}, num_warps=w, num_stages=s)
             for m, n, w, s in [(64, 32, 4, 2), (64, 64, 4, 3), (128, 64, 8, 3), (128, 128, 8, 2)]],
    key=["length", "D", "CAUSAL"], prune_configs_by={"early_config_prune": fits})
@triton.jit
def attention(q_ptr, k_ptr, v_ptr, o_ptr, scale, length, D: tl.constexpr, CAUSAL: tl.constexpr,
              BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    tile = tl.program_id(0)
    base = tl.program_id(1).to(tl.int64) * length * D
    rows = tile * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.arange(0, BLOCK_N)
    d = tl.arange(0, D)
    q = tl.load(q_ptr + base + rows[:, None] * D + d[None, :])
    q = (q.to(tl.float32) * (scale * 1.44269504)).to(tl.float16)
    top = tl.full((BLOCK_M,), float("-inf"), dtype=tl.float32)
    total = tl.zeros((BLOCK_M,), dtype=tl.float32)
    acc = tl.zeros((BLOCK_M, D), dtype=tl.float32)
    end = (tile + 1) * BLOCK_M if CAUSAL else length
    for start in range(0, end, BLOCK_N):
        n = start + columns
        s = tl.dot(q, tl.load(k_ptr + base + n[None, :] * D + d[:, None]))
        if CAUSAL:
            s = tl.where(rows[:, None] >= n[None, :], s, float("-inf"))
        higher = tl.maximum(top, tl.max(s, 1))
        p = tl.exp2(s - higher[:, None])
        fade = tl.exp2(top - higher)
        total = total * fade + tl.sum(p, 1)
        v = tl.load(v_ptr + base + n[:, None] * D + d[None, :])
        acc = tl.dot(p.to(tl.float16), v, acc * fade[:, None])
        top = higher
    tl.store(o_ptr + base + rows[:, None] * D + d[None, :], (acc / total[:, None]).to(tl.float16))


def launch(heads, length, D, causal):
    q, k, v, o = (empty((heads, length, D), "float16") for _ in range(4))
    attention[lambda meta: (triton.cdiv(length, meta["BLOCK_M"]), heads)](q, k, v, o, D**-0.5, length, D, causal)


if __name__ == "__main__":
    launch(8, 1024, 64, True)
