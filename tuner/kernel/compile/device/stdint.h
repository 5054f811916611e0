// device.h, which is always included first, has what a kernel needs of <stdint.h>.
#pragma once
