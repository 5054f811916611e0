// Package e2e tests the three commands as processes: sweeps over loopback
// sockets, processes that are killed, exit statuses. It holds nothing but tests;
// what needs no process of its own is tested beside the commands.
package e2e
