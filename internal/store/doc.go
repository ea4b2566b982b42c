// Package store keeps the record folder of a study: what was asked, what was
// planned, where it was measured, and one record a run.
//
//	study.yaml         the study as its author wrote it
//	plan.json          the study as resolved into runs (lab.Plan)
//	environment.json   the machine (Environment)
//	records.jsonl      one lab.Record a line, in the order in which runs ended
//
// In go a plan and records; out come the same, from any machine, also after a
// crash. docs/format.md describes every field. The package touches files only.
//
// Properties that an edit must keep:
//   - when Put returns, the record is on the disk;
//   - records.jsonl is only ever appended to; what a crash left of its last line
//     is taken away when the folder is opened for writing again;
//   - a folder is whole as soon as plan.json is there: that file is written last
//     and in one step;
//   - a folder has one writer.
//
// Not built yet: wire captures, merging of folders.
package store
