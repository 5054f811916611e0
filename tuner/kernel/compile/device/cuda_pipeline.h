// device.h, which is always included first, has what a kernel needs of <cuda_pipeline.h>.
#pragma once
