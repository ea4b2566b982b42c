// Package plan turns the text of a study into the ordered, seeded runs that
// answer it: text → lab.Study (ParseStudy), narrowed by flags (Narrow), →
// lab.Plan (Build). It also holds the presets: paths, loads and whole studies
// by name.
//
// In go a study's text, the names of presets, the flags of a command line and,
// through a function, the files that a study names; out come checked values of
// package lab, or Faults: all that is wrong with the text at once, each with its
// place and with what is allowed there. The package is pure; the presets are
// part of the binary.
//
// Not modelled yet: factors other than the protocol (vary), foreign servers and
// clients. Not modelled here: how a path behaves (package link), and when the
// repetitions of reps: auto are enough (package stats).
package plan
