package finding

import (
	"fmt"
	"path"
)

// Rule describes a rule to the readers of a report.
type Rule struct {
	ID string
	// Title says in one line what the rule finds; Why and Fix are paragraphs of plain text.
	Title, Why, Fix string
	Severity        Severity
	// URI of the rule's documentation.
	URI string
}

// MachineOptions are the settings of reports for other programs.
type MachineOptions struct {
	// Rules that ran, sorted by id.
	Rules []Rule
	// Version of Fleetwright, "" if unknown.
	Version string
	// Prefix is put before the file names of the report: the path of the validated folder from the
	// folder in which the reader looks for files; "" if both are the same.
	Prefix string
	// Lines returns source lines for fingerprints; it may be nil.
	Lines Lines
	// FailOn is the severity at which findings fail the run, "" for any.
	FailOn Severity
	// FailOnUnresolved is set if unresolved entries also fail the run.
	FailOnUnresolved bool
	// MinCoverage is the coverage in percent below which the run fails.
	MinCoverage int
	// Failure is the reason why the validation stopped early, "" if it did not.
	Failure string
}

// file returns the name of a finding's file with Prefix.
func (o MachineOptions) file(name string) string {
	if name == "" {
		name = "."
	}
	return path.Join(o.Prefix, name)
}

// fails reports whether a finding fails the run.
func (o MachineOptions) fails(f Finding) bool { return f.Severity.rank() >= o.FailOn.rank() }

// withHint returns the message of a finding with its cluster, and the hint on a second line.
func withHint(f Finding) string {
	message := clustered(f)
	if f.Hint != "" {
		message += "\nhint: " + f.Hint
	}
	return message
}

// clustered returns the message of a finding with its cluster.
func clustered(f Finding) string {
	if f.Cluster == "" {
		return f.Message
	}
	return fmt.Sprintf("%s (cluster %s)", f.Message, f.Cluster)
}
