// A stand-in for libnvidia-ml.so.1, for tests. STANDIN_REASONS are the reasons for low clocks
// that it tells, STANDIN_USER is the id of a process that uses the GPU.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef int32_t result;

static long number(const char *name) { return getenv(name) ? strtol(getenv(name), NULL, 0) : 0; }

result nvmlInit_v2(void) { return 0; }
result nvmlSystemGetDriverVersion(char *s, unsigned n) { snprintf(s, n, "999.1"); return 0; }
result nvmlDeviceGetHandleByPciBusId_v2(const char *bus, void **d) { *d = (void *)1; return 0; }
result nvmlDeviceGetClockInfo(void *d, int type, unsigned *v) { *v = number("STANDIN_REASONS") ? 900 : 1400; return 0; }
result nvmlDeviceGetMaxClockInfo(void *d, int type, unsigned *v) { *v = 1410; return 0; }
result nvmlDeviceGetTemperature(void *d, int sensor, unsigned *v) { *v = 60; return 0; }
result nvmlDeviceGetPowerUsage(void *d, unsigned *v) { *v = 250000; return 0; }
result nvmlDeviceGetCurrentClocksEventReasons(void *d, uint64_t *v) { *v = number("STANDIN_REASONS"); return 0; }

typedef struct { unsigned pid; unsigned long long memory; unsigned gpu, compute; } process;
result nvmlDeviceGetComputeRunningProcesses_v3(void *d, unsigned *n, process *list) {
  *n = 0;
  if (number("STANDIN_USER")) list[(*n)++].pid = number("STANDIN_USER");
  return 0;
}
