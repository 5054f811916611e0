// device.h, which is always included first, has what a kernel needs of <math_functions.h>.
#pragma once
