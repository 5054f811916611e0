#pragma once
#include <warptune/device.h>
