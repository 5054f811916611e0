// Package e2e tests the three commands as processes: sweeps over loopback
// sockets, processes that are killed, exit statuses. It holds nothing but tests;
// what needs no process of its own is tested beside the commands.
//
// What is to happen in the middle of a sweep happens while a gate holds it there:
// how fast the simulator is, and how busy the machine, is no part of any test.
package e2e
