// Package report writes results for people and for scripts: a table and its
// notes for a terminal (Text), and JSON.
//
// In goes the output of package stats; out comes text. The package is pure: the
// same output gives the same text, on every machine and in every locale.
//
// Not built yet: Markdown, HTML, CSV and benchmark lines.
package report
