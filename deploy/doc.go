// Package deploy has what starts warptune on the engines people already run:
// batch scripts for Slurm, manifests for Kubernetes, units for systemd, and
// templates that "warptune launch" fills in.
//
// It renders text and says which command submits it; it links no engine's
// client library and starts nothing itself. Engines start, restart and scale
// workers; the coordinator only leases work.
package deploy
