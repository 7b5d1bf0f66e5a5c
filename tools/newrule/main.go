//go:build tools

// Command newrule scaffolds a rule: its Go file, its examples, its entry in the list of all rules and
// its mutant. The scaffold is a working rule about a ConfigMap with a certain name, which the author
// replaces. The tests pass before and after.
//
//	go run -tags tools ./tools/newrule flux flux-interval-short 'an interval that is too short'
package main

import (
	"bytes"
	"fmt"
	"go/format"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: newrule PACKAGE ID TITLE, such as: newrule flux flux-interval-short 'an interval that is too short'")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

var kebab = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)+$`)

// list and mutants are the files to which an entry is added.
const (
	list    = "validators/validators.go"
	mutants = "validators/mutation/added_test.go"
)

func run(pkg, id, title string) error {
	if !kebab.MatchString(id) {
		return fmt.Errorf("the id %q is not kebab-case with a domain first", id)
	}
	folder := filepath.Join("validators", pkg)
	if _, err := os.Stat(folder); err != nil {
		return fmt.Errorf("the rule needs a package: %w", err)
	}
	_, short, _ := strings.Cut(id, "-")
	name := exported(short)
	replacer := strings.NewReplacer("PACKAGE", pkg, "NAME", name, "RULE-ID", id, "TITLE", title)
	source, err := format.Source([]byte(replacer.Replace(ruleText)))
	if err != nil {
		return fmt.Errorf("the title or the id does not fit into Go: %w", err)
	}
	files := map[string][]byte{
		filepath.Join(folder, strings.ReplaceAll(short, "-", "_")+".go"): source,
		filepath.Join(folder, "examples", id+".txtar"):                   []byte(replacer.Replace(examplesText)),
	}
	for file := range files {
		if _, err := os.Stat(file); err == nil {
			return fmt.Errorf("%s exists", file)
		}
	}
	if files[list], err = inserted(list, "var rules = []rule.Rule{", "\n\t"+pkg+"."+name+","); err != nil {
		return err
	}
	if files[mutants], err = inserted(mutants, "var addedMutants = []mutant{", "\n"+replacer.Replace(mutantText)); err != nil {
		return err
	}
	for file, data := range files {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, data, 0o644); err != nil {
			return err
		}
		fmt.Println(file)
	}
	return nil
}

// inserted returns the content of a Go file with text inserted after another text.
func inserted(file, behind, line string) ([]byte, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if !bytes.Contains(data, []byte(behind)) {
		return nil, fmt.Errorf("%s lacks %q", file, behind)
	}
	return format.Source(bytes.Replace(data, []byte(behind), []byte(behind+line), 1))
}

// exported converts an ID to an exported Go name.
func exported(id string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(id, "-") {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}

const ruleText = `package PACKAGE

import (
	"fmt"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// NAME is RULE-ID.
var NAME = rule.Rule{
	ID:       "RULE-ID",
	Title:    "TITLE",
	Severity: finding.Warning,
	Why:      "Say what Flux does when it is so, and what that costs.",
	Fix:      "Say how to fix it.",
	Run: func(p *rule.Pass) {
		for _, o := range p.Applied() {
			if o.Kind != "ConfigMap" || o.Name != "RULE-ID" {
				continue
			}
			p.ReportBuilt(o, finding.Finding{
				Message: fmt.Sprintf("%s has a name that is refused", o),
				Hint:    "rename it",
			}, "metadata", "name")
		}
	},
}
`

const examplesText = `bad: flux-sync
good: flux-sync
-- bad/clusters/prod/settings.yaml --
apiVersion: v1
kind: ConfigMap
metadata:
  name: RULE-ID # <-- here
  namespace: flux-system
-- good/clusters/prod/settings.yaml --
apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
  namespace: flux-system
`

const mutantText = `	{
		name: "named", example: "homelab", rule: "RULE-ID",
		edits: []edit{add("kubernetes/flux/cluster/RULE-ID.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: «»RULE-ID\n  namespace: flux-system\n")},
	},
`
