// fragments.cu - what instructions on matrices do to registers, as a GPU does it:
//   fragments DIR
// runs each DIR/NAME.ptx, a kernel of one warp, on the words of DIR/NAME.in and prints NAME and
// the 128 words that it writes, in hexadecimal. TestMatricesAgainstSilicon of simengine/exec writes such a directory and
// has the output as testdata/matrices.txt.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>
#include <cuda.h>
#define CHECK(call)                                                        \
  do {                                                                     \
    CUresult r_ = (call);                                                  \
    if (r_) return fprintf(stderr, "%s: error %d\n", name.c_str(), r_), 1; \
  } while (0)

static std::string bytes(const std::filesystem::path &p) {
  std::ifstream in(p, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

int main(int, char **argv) {
  std::string name = "start";
  CUdevice device;
  CUcontext context;
  CHECK(cuInit(0));
  CHECK(cuDeviceGet(&device, 0));
  CHECK(cuDevicePrimaryCtxRetain(&context, device));
  CHECK(cuCtxSetCurrent(context));
  CUdeviceptr in, out;
  CHECK(cuMemAlloc(&in, 2048));
  CHECK(cuMemAlloc(&out, 512));
  for (auto &file : std::filesystem::directory_iterator(argv[1])) {
    if (file.path().extension() != ".ptx") continue;
    name = file.path().stem();
    std::string data = bytes(std::filesystem::path(file.path()).replace_extension(".in"));
    CUmodule module;
    CUfunction kernel;
    CHECK(cuModuleLoadData(&module, bytes(file.path()).c_str()));
    CHECK(cuModuleGetFunction(&kernel, module, "k"));
    CHECK(cuMemcpyHtoD(in, data.data(), data.size()));
    void *args[] = {&in, &out};
    CHECK(cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, 0, args, 0));
    std::vector<unsigned char> words(512);
    CHECK(cuMemcpyDtoH(words.data(), out, words.size()));
    printf("%s ", name.c_str());
    for (unsigned char c : words) printf("%02x", c);
    printf("\n");
    CHECK(cuModuleUnload(module));
  }
}
