package finding

import (
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/output"
)

// The elements of JUnit reports as Jenkins and GitLab read them
// (https://github.com/jenkinsci/xunit-plugin, junit-10.xsd).
type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Skipped  int          `xml:"skipped,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string `xml:"name,attr"`
	Tests    int    `xml:"tests,attr"`
	Failures int    `xml:"failures,attr"`
	Errors   int    `xml:"errors,attr"`
	Skipped  int    `xml:"skipped,attr"`
	// Properties of the run; only the suite coverage has them.
	Properties *junitProperties `xml:"properties"`
	Cases      []junitCase      `xml:"testcase"`
}

type junitProperties struct {
	All []junitProperty `xml:"property"`
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitCase struct {
	Name      string        `xml:"name,attr"`
	Classname string        `xml:"classname,attr"`
	File      string        `xml:"file,attr,omitempty"`
	Line      int           `xml:"line,attr,omitempty"`
	Failure   *junitProblem `xml:"failure"`
	Error     *junitProblem `xml:"error"`
	Skipped   *junitProblem `xml:"skipped"`
	Output    string        `xml:"system-out,omitempty"`
}

type junitProblem struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// WriteJUnit writes a report as JUnit: a test suite for each rule, with a failed test for each finding
// that fails the run, a passed test with the message as its output for each other finding, and a
// skipped test for each unresolved entry, unless that fails the run. A rule without findings is one
// passed test.
func WriteJUnit(w io.Writer, r Report, o MachineOptions) error {
	r = r.withoutOnlyCluster()
	suites := junitSuites{Name: "fleetwright"}
	for _, id := range ruleIDs(r, o.Rules) {
		suites.add(junitRule(id, r, o))
	}
	if o.Failure != "" {
		suites.add(junitSuite{Name: "fleetwright", Cases: []junitCase{{Name: "validate", Classname: "fleetwright",
			Error: &junitProblem{Message: o.Failure, Type: "fleetwright"}}}})
	}
	if c := r.Summary.Coverage; c != nil {
		suites.add(junitCoverage(c, o))
	}
	w = output.XML(w)
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	encoder := xml.NewEncoder(w)
	encoder.Indent("", "  ")
	if err := encoder.Encode(suites); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// ruleIDs returns the ids of the rules that ran and of those with findings or unresolved entries, sorted.
func ruleIDs(r Report, rules []Rule) []string {
	ids := make([]string, 0, len(rules))
	for _, rule := range rules {
		ids = append(ids, rule.ID)
	}
	for _, f := range r.Findings {
		ids = append(ids, f.Rule)
	}
	for _, u := range r.Unresolved {
		ids = append(ids, u.Rule)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// add adds a suite and counts its cases.
func (s *junitSuites) add(suite junitSuite) {
	suite.Tests = len(suite.Cases)
	for _, c := range suite.Cases {
		switch {
		case c.Failure != nil:
			suite.Failures++
		case c.Error != nil:
			suite.Errors++
		case c.Skipped != nil:
			suite.Skipped++
		}
	}
	s.Tests += suite.Tests
	s.Failures += suite.Failures
	s.Errors += suite.Errors
	s.Skipped += suite.Skipped
	s.Suites = append(s.Suites, suite)
}

func junitRule(id string, r Report, o MachineOptions) junitSuite {
	suite := junitSuite{Name: id}
	for _, f := range r.Findings {
		if f.Rule == id {
			suite.Cases = append(suite.Cases, junitFinding(f, o))
		}
	}
	for _, u := range r.Unresolved {
		if u.Rule == id {
			suite.Cases = append(suite.Cases, junitUnresolved(u, o))
		}
	}
	if len(suite.Cases) == 0 {
		suite.Cases = []junitCase{{Name: "no findings", Classname: id}}
	}
	return suite
}

// junitCoverage returns a suite whose properties are the coverage, with a test that fails if the coverage is below the
// minimum of the run.
func junitCoverage(c *Coverage, o MachineOptions) junitSuite {
	suite := junitSuite{Name: "coverage", Properties: &junitProperties{}}
	add := func(of string, all []Figure) {
		for _, f := range all {
			suite.Properties.All = append(suite.Properties.All, junitProperty{of + f.Name, fmt.Sprint(f.Value)})
		}
	}
	add("", c.Figures())
	for _, cluster := range c.Clusters {
		add("cluster."+cluster.Cluster+".", cluster.Figures())
	}
	one := junitCase{Name: "coverage", Classname: "coverage", Output: strings.Join(c.lines(), "\n")}
	if c.Percent() < o.MinCoverage {
		one.Failure = &junitProblem{Message: c.Below(o.MinCoverage), Type: "coverage"}
	}
	suite.Cases = []junitCase{one}
	return suite
}

func junitFinding(f Finding, o MachineOptions) junitCase {
	at := o.file(f.File)
	if f.Line > 0 {
		at = fmt.Sprintf("%s:%d:%d", at, f.Line, max(f.Column, 1))
	}
	c := junitCase{Name: strings.TrimSpace(at + " " + f.Object.String()), Classname: f.Rule, File: o.file(f.File), Line: f.Line}
	text := fmt.Sprintf("%s: %s: %s [%s]", at, f.Severity, withHint(f), f.Rule)
	if o.fails(f) {
		c.Failure = &junitProblem{Message: clustered(f), Type: f.Rule, Text: text}
	} else {
		c.Output = text
	}
	return c
}

func junitUnresolved(u Unresolved, o MachineOptions) junitCase {
	at := o.file(u.File)
	if u.Line > 0 {
		at = fmt.Sprintf("%s:%d", at, u.Line)
	}
	c := junitCase{Name: at, Classname: u.Rule, File: o.file(u.File), Line: u.Line}
	problem := &junitProblem{Message: "unresolved: " + u.Reason}
	if o.FailOnUnresolved {
		problem.Type = u.Rule
		c.Failure = problem
	} else {
		c.Skipped = problem
	}
	return c
}
