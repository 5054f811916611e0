// Package nvml asks NVIDIA's management library, libnvidia-ml.so.1, loaded at run
// time, what a GPU is doing: its clocks, why they are low, and who uses it.
//
// Names and numbers are those of nvml.h of CUDA 13.0.
package nvml
