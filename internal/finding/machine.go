package finding

import (
	"fmt"
	"path"
)

// Rule describes a rule to those who read a report.
type Rule struct {
	ID string
	// Title says in one line what is wrong; Why and Fix are paragraphs of plain text.
	Title, Why, Fix string
	Severity        Severity
	// URI of the rule's documentation.
	URI string
}

// MachineOptions say what the reports for machines tell besides the findings.
type MachineOptions struct {
	// Rules that ran, sorted by id.
	Rules []Rule
	// Version of Fleetwright, "" where it isn't known.
	Version string
	// Prefix is the folder that the report's file names are relative to, from the
	// one that the reader takes them from; "" where both are the same.
	Prefix string
	// Lines gives the source lines, for fingerprints; it may be nil.
	Lines Lines
	// FailOn is the severity at which findings fail the run, "" for any.
	FailOn Severity
	// FailOnUnresolved says that what is unresolved fails it, too.
	FailOnUnresolved bool
	// Failure says why the validation did not come to its end, "" where it did.
	Failure string
}

// file is a finding's file as the reader knows it.
func (o MachineOptions) file(name string) string {
	if name == "" {
		name = "."
	}
	return path.Join(o.Prefix, name)
}

// fails says whether a finding fails the run.
func (o MachineOptions) fails(f Finding) bool { return f.Severity.rank() >= o.FailOn.rank() }

// withHint is a message with its cluster, and the hint on a line of its own.
func withHint(f Finding) string {
	message := clustered(f)
	if f.Hint != "" {
		message += "\nhint: " + f.Hint
	}
	return message
}

// clustered is a message with the cluster that it is about.
func clustered(f Finding) string {
	if f.Cluster == "" {
		return f.Message
	}
	return fmt.Sprintf("%s (cluster %s)", f.Message, f.Cluster)
}
