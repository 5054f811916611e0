// device.h, which is always included first, has what a kernel needs of <builtin_types.h>.
#pragma once
