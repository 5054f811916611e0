// device.h, which is always included first, has what a kernel needs of <sm_30_intrinsics.h>.
#pragma once
