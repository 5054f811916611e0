// device.h, which is always included first, has what a kernel needs of <string.h>.
#pragma once
