// Nothing of <stdio.h> is here: a device has no output to simulate, and printf stays an error that names it.
#pragma once
