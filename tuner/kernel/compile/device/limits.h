// device.h, which is always included first, has what a kernel needs of <limits.h>.
#pragma once
#define CHAR_BIT 8
#define INT_MAX __INT_MAX__
#define INT_MIN (-__INT_MAX__ - 1)
#define UINT_MAX (__INT_MAX__ * 2U + 1U)
#define LLONG_MAX __LONG_LONG_MAX__
