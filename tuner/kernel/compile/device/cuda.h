// What a kernel needs of <cuda.h>: device.h, which is always included first, has the rest.
#pragma once
// A description of a tensor and of the boxes in which it is copied, for the tensor memory accelerator.
struct alignas(64) CUtensorMap_st { unsigned long long opaque[16]; };
typedef CUtensorMap_st CUtensorMap;
