// Package standby keeps a second coordinator ready that takes the first one's place.
//
// The primary sends each write of its store to the standby and answers nobody before
// both have it on disk. A Record outside both, behind an Arbiter, says who may serve
// and which standby has everything that was acknowledged. It changes by
// compare-and-swap only:
//
//	primary   standby falls behind   Holder: primary, Standby: ""        before it answers alone
//	primary   standby has all        Holder: primary, Standby: standby   and waits for it from then on
//	standby   primary is gone        Holder: standby, Standby: ""        after its last acknowledgement,
//	                                                                     if the record named it
//
// So one of two swaps fails, whoever is late, and its node ends or goes on following.
// docs/ARCHITECTURE.md has the argument.
package standby
