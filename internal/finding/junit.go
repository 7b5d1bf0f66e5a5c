package finding

import (
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"
)

// The form of JUnit's reports as Jenkins and GitLab read it
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
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name      string        `xml:"name,attr"`
	Classname string        `xml:"classname,attr"`
	File      string        `xml:"file,attr,omitempty"`
	Line      int           `xml:"line,attr,omitempty"`
	Failure   *junitProblem `xml:"failure"`
	Error     *junitProblem `xml:"error"`
	Skipped   *junitProblem `xml:"skipped"`
}

type junitProblem struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// WriteJUnit writes a report as JUnit's: a test suite for each rule, with a failed
// test for each finding and a skipped one for what is unresolved; a rule that has
// neither passed one test.
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

// ruleIDs are the rules that ran and those that said something, sorted.
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
		if f.Rule != id {
			continue
		}
		at := o.file(f.File)
		if f.Line > 0 {
			at = fmt.Sprintf("%s:%d:%d", at, f.Line, max(f.Column, 1))
		}
		suite.Cases = append(suite.Cases, junitCase{
			Name: strings.TrimSpace(at + " " + f.Object.String()), Classname: id, File: o.file(f.File), Line: f.Line,
			Failure: &junitProblem{Message: clustered(f), Type: id,
				Text: fmt.Sprintf("%s: %s: %s [%s]", at, f.Severity, withHint(f), id)},
		})
	}
	for _, u := range r.Unresolved {
		if u.Rule != id {
			continue
		}
		at := o.file(u.File)
		if u.Line > 0 {
			at = fmt.Sprintf("%s:%d", at, u.Line)
		}
		suite.Cases = append(suite.Cases, junitCase{
			Name: at, Classname: id, File: o.file(u.File), Line: u.Line,
			Skipped: &junitProblem{Message: "unresolved: " + u.Reason},
		})
	}
	if len(suite.Cases) == 0 {
		suite.Cases = []junitCase{{Name: "no findings", Classname: id}}
	}
	return suite
}
