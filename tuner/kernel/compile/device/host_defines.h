// device.h, which is always included first, has what a kernel needs of <host_defines.h>.
#pragma once
