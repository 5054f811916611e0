"""PTX of a source text by nvcc, or by clang with the device headers, for scripts that ask what they make of loops."""
import os
import pathlib
import subprocess
import tempfile

DEVICE = pathlib.Path(__file__).resolve().parents[3] / "tuner/kernel/compile/device"


def ptx(compiler, options, text):
    """What a compiler makes of CUDA C++ for sm_90, with options of its own."""
    with tempfile.TemporaryDirectory() as d:
        source, out = os.path.join(d, "k.cu"), os.path.join(d, "k.ptx")
        pathlib.Path(source).write_text(text)
        command = [compiler, "-ptx", "-arch=sm_90"]
        if "clang" in compiler:
            command = [compiler, "-x", "cuda", "--cuda-device-only", "--cuda-gpu-arch=sm_90", "-nocudainc", "-nocudalib",
                       "-isystem", str(DEVICE), "-include", "device.h", "--cuda-feature=+ptx78", "-O3", "-S"]
        subprocess.run(command + options + ["-o", out, source], check=True, capture_output=True)
        return pathlib.Path(out).read_text()
