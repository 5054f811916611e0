// device.h, which is always included first, has what a kernel needs of <vector_types.h>.
#pragma once
