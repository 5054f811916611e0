// device.h, which is always included first, has what a kernel needs of <assert.h>.
#pragma once
