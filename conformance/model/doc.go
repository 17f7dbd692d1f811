// Package model holds devices to a small model of the verbs specification.
//
// A [Sequence] is calls, legal and illegal ones: objects made and destroyed, queue
// pairs moved through their states, work posted. [Generate] makes one at random from
// a seed. The model says of each call what it may return, what completes because of
// it, and what is in memory then. [Device.Replay] makes the calls on a device and
// compares. [Shrink] takes away what a disagreement does not need, and what is left
// prints as Go that can be compiled and run again.
//
// The model is written from the man pages of libibverbs and the rules of the
// InfiniBand specification, and shares no code with any provider. It is one with
// certain answers: what the specification leaves open is in [Latitude], in one place,
// with the reasons, and a sequence that would come to something that nobody defines
// ends before.
package model
