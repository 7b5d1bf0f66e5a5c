package finding

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/fleetwright/fleetwright/internal/output"
)

// WriteGitHub writes a report as workflow commands of GitHub Actions, which create annotations:
// ::error file=…,line=…,col=…,title=RULE::MESSAGE. Unresolved entries are in a group of the log, or
// errors if they fail the run. The last lines are the summary and the coverage.
// (https://docs.github.com/actions/reference/workflow-commands-for-github-actions)
func WriteGitHub(w io.Writer, r Report, o MachineOptions) error {
	r = r.withoutOnlyCluster()
	out := bufio.NewWriter(output.Raw(w))
	if o.Failure != "" {
		gitHubCommand(out, "error", [][2]string{{"title", "fleetwright"}}, o.Failure)
	}
	for _, f := range r.Findings {
		command := "notice"
		if f.Severity == Error || f.Severity == Warning {
			command = string(f.Severity)
		}
		properties := [][2]string{{"file", o.file(f.File)}}
		if f.Line > 0 {
			properties = append(properties, [2]string{"line", fmt.Sprint(f.Line)}, [2]string{"col", fmt.Sprint(max(f.Column, 1))})
		}
		gitHubCommand(out, command, append(properties, [2]string{"title", f.Rule}), withHint(f))
	}
	if len(r.Unresolved) > 0 {
		gitHubUnresolved(out, r.Unresolved, o)
	}
	if o.Failure == "" {
		gitHubLog(out, summary(r))
		for _, line := range r.coverageLines() {
			gitHubLog(out, line)
		}
	}
	return out.Flush()
}

func gitHubUnresolved(out io.Writer, all []Unresolved, o MachineOptions) {
	if o.FailOnUnresolved {
		for _, u := range all {
			properties := [][2]string{{"file", o.file(u.File)}}
			if u.Line > 0 {
				properties = append(properties, [2]string{"line", fmt.Sprint(u.Line)})
			}
			gitHubCommand(out, "error", append(properties, [2]string{"title", u.Rule}), "unresolved: "+u.Reason)
		}
		return
	}
	gitHubCommand(out, "group", nil, fmt.Sprintf("%d unresolved", len(all)))
	for _, u := range all {
		at := o.file(u.File)
		if u.Line > 0 {
			at = fmt.Sprintf("%s:%d", at, u.Line)
		}
		gitHubLog(out, fmt.Sprintf("unresolved: %s: %s [%s]", at, u.Reason, u.Rule))
	}
	gitHubCommand(out, "endgroup", nil, "")
}

// The escapes of actions/toolkit (packages/core/src/command.ts). A workflow command ends at the end
// of its line.
var (
	gitHubData     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	gitHubProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

func gitHubCommand(w io.Writer, command string, properties [][2]string, data string) {
	text := "::" + command
	for i, p := range properties {
		separator := ","
		if i == 0 {
			separator = " "
		}
		text += separator + p[0] + "=" + gitHubProperty.Replace(output.Inert(p[1]))
	}
	_, _ = fmt.Fprintln(w, text+"::"+gitHubData.Replace(output.Inert(data))) // Flush reports the first error
}

// gitHubLog writes a line of the log in a form that the runner does not read as a command.
func gitHubLog(w io.Writer, line string) {
	_, _ = fmt.Fprintln(w, output.Inert(output.Line(line))) // Flush reports the first error
}
