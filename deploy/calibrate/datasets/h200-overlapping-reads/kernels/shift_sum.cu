// Sums over channels of samples delayed by a trial and a channel, a tile of trials and samples a thread: what neighbours read overlaps along both axes.
extern "C" __global__ void shift_sum(const unsigned char* input, float* output, const float* delays) {
  const int row = SAMPLES + MARGIN;
#if WIDE
  int x = blockIdx.x * BX * TX + threadIdx.x, dx = BX;
#else
  int x = (blockIdx.x * BX + threadIdx.x) * TX, dx = 1;
#endif
#if FAR
  int y = blockIdx.y * BY * TY + threadIdx.y, dy = BY;
#else
  int y = (blockIdx.y * BY + threadIdx.y) * TY, dy = 1;
#endif
  for (int i = 0; i < TX; ++i) {
    int s = x + i * dx;
    if (s >= SAMPLES) break;
    for (int j = 0; j < TY; ++j) {
      int trial = y + j * dy;
      if (trial >= TRIALS) break;
      float sum = 0;
      for (int c = 0; c < CHANNELS; ++c) {
        unsigned int by = trial * STEP * delays[c];
        sum += input[c * row + s + by];
      }
      output[trial * SAMPLES + s] = sum;
    }
  }
}
