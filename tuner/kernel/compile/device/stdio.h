// Nothing of <stdio.h> is here: what a kernel prints is left out (warptune/host.h).
#pragma once
