// device.h, which is always included first, has what a kernel needs of <vector_functions.h>.
#pragma once
