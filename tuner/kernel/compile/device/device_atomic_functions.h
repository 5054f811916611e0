// device.h, which is always included first, has what a kernel needs of <device_atomic_functions.h>.
#pragma once
