// Package makespan says how much longer a launch takes whose CTAs differ in length than one of as many that are all
// of the mean length. SMs get CTAs without regard to how long they are, and the launch ends with the last SM.
//
// It knows lengths and how CTAs share an SM, and nothing of what they do, nor of what
// SMs share: that an SM which is late gets more of the memory's bandwidth is the caller's to say.
package makespan
