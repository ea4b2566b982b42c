// Package stats turns records into results: what a cell took, how often it
// succeeded, and what has to be known before it is compared with another.
//
// In go the plan and the records of a study, in any order; out comes an Output:
// the results, verdicts and warnings that scripts read (docs/format.md), and
// the same cell by cell for reports made for people. The package is pure.
//
// Properties that an edit must keep:
//   - the order of the records does not matter;
//   - every run counts: one that did not finish is a right-censored
//     observation, beyond every finished one, so that adding a failed run never
//     makes a cell look better;
//   - an attempt that was invalid and repeated is no run of its own, but is
//     counted, flagged and named in a warning.
//   - no claim is made that chance could have made with more than 5 % over a whole
//     study, that two series of one cell show too, or that a known inequality
//     explains.
//
// Not modelled: other metrics' verdicts than those of durations and of success;
// differences between studies are another matter than those within one.
package stats
