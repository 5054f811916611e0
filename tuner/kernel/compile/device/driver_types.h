// device.h, which is always included first, has what a kernel needs of <driver_types.h>.
#pragma once
