"""Tensors of the examples: PyTorch's on the GPU where it is installed, else shapes without memory."""
try:
    import torch

    def empty(shape, dtype):
        return torch.empty(shape, dtype=getattr(torch, dtype), device="cuda")
except ImportError:
    import warptune_triton

    def empty(shape, dtype):
        return warptune_triton.tensor(shape, dtype)
