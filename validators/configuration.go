package validators

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/advice"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/settings"
	"github.com/fleetwright/fleetwright/internal/sorting"
	"github.com/fleetwright/fleetwright/internal/strict"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// ConfigurationFile is the name of the configuration file at the root of a repository.
const ConfigurationFile = ".fleetwright.yaml"

// ConfigurationKind is the kind of the functionConfig, and of the configuration file.
const ConfigurationKind = "ValidateFleet"

// Configuration is the configuration of a validation: the spec of a ValidateFleet, in a functionConfig or in the
// configuration file.
type Configuration struct {
	// Rules to run, by ID or with a * at the end; an empty list runs all. Disable lists rules that do not run.
	Rules, Disable []string
	// Profiles whose rules run as well.
	Profiles []string
	// Severities override the severity of rules, by rule ID.
	Severities map[string]finding.Severity
	// Ignore lists ignored findings, with reasons.
	Ignore []finding.Selector
	// Roots are the folders that clusters sync. If empty, they are detected.
	Roots []string
	// FailOn is the lowest severity at which the validation fails. With FailOnUnresolved, it also fails if something is
	// unresolved.
	FailOn           finding.Severity
	FailOnUnresolved bool
	// MinCoverage is the coverage of the repository, in percent, below which the validation fails.
	MinCoverage int
	// Kubernetes is the version of Kubernetes that the clusters run; "" if it is unknown.
	Kubernetes string
	// Baseline is the path of a baseline, relative to the repository's root; "" for none.
	Baseline string
}

// Fields returns the decoders of the spec.
func (v *Configuration) Fields() settings.Fields {
	v.FailOn = finding.Error
	return settings.Fields{
		"rules":            ruleList(&v.Rules),
		"disable":          ruleList(&v.Disable),
		"profiles":         profileList(&v.Profiles),
		"severities":       v.severities,
		"ignore":           v.ignore,
		"roots":            settings.List(&v.Roots),
		"failOn":           settings.Text((*string)(&v.FailOn), string(finding.Error), string(finding.Warning), string(finding.Info)),
		"failOnUnresolved": settings.Bool(&v.FailOnUnresolved),
		"minCoverage":      settings.Percent(&v.MinCoverage),
		"kubernetes":       v.kubernetes,
		"baseline":         settings.Text(&v.Baseline),
	}
}

// Options returns the options of a run. If no rules are selected, all rules run. It returns an error if no rule
// is left.
func (v Configuration) Options() (Options, error) {
	rules, err := Select(v.Rules, v.Profiles...)
	if err != nil {
		return Options{}, err
	}
	rules = slices.DeleteFunc(rules, func(r rule.Rule) bool {
		return slices.ContainsFunc(v.Disable, func(pattern string) bool { return finding.MatchesID(pattern, r.ID) })
	})
	if len(rules) == 0 {
		return Options{}, errors.New("no rule is left to check: all chosen rules are disabled")
	}
	return Options{Rules: rules, Severities: v.Severities, Ignore: v.Ignore, Kubernetes: v.Kubernetes, Reconcile: reconcile.Options{Roots: v.Roots}}, nil
}

// ReadConfiguration reads a configuration file with one ValidateFleet. name is the file name in errors. The error
// is a strict.Errors.
func ReadConfiguration(name string, content []byte) (Configuration, error) {
	var v Configuration
	fail := func(all ...settings.Problem) (Configuration, error) {
		errs := make(strict.Errors, 0, len(all))
		for _, p := range all {
			e := &strict.Error{File: name, Message: p.Text, Hint: p.Hint}
			if p.Node != nil {
				e.Line, e.Column = p.Node.Line, p.Node.Column
			}
			errs = append(errs, e)
		}
		sorting.StableFunc(errs, func(a, b *strict.Error) int {
			return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
		})
		return Configuration{}, errs
	}
	const only = "config.yaml"
	repo, err := repository.FromFiles(func(yield func(string, []byte) bool) { yield(only, content) }, repository.Options{})
	if err != nil {
		return Configuration{}, err
	}
	file, _ := repo.File(only)
	if e := file.Err; e != nil {
		return Configuration{}, strict.Errors{{File: name, Line: e.Line, Column: e.Column, Message: e.Message}}
	}
	if len(file.Documents) != 1 {
		return fail(settings.Problem{Text: fmt.Sprintf("has %d YAML documents: want one, a %s of %s", len(file.Documents), ConfigurationKind, v1alpha1.APIVersion)})
	}
	root := file.Documents[0].Root()
	all := headProblems(root)
	if len(all) == 0 {
		all = v.Fields().Problems(repository.Lookup(root, "spec"), "spec")
	}
	if len(all) > 0 {
		return fail(all...)
	}
	for i := range v.Ignore {
		v.Ignore[i].File = name
	}
	return v, nil
}

// headProblems checks everything in a configuration file except its spec.
func headProblems(root *kyaml.Node) []settings.Problem {
	if root.Kind != kyaml.MappingNode {
		return []settings.Problem{{Node: root, Text: fmt.Sprintf("want an object: a %s of %s", ConfigurationKind, v1alpha1.APIVersion)}}
	}
	var all []settings.Problem
	for _, want := range [][2]string{{"apiVersion", v1alpha1.APIVersion}, {"kind", ConfigurationKind}} {
		switch n := repository.Lookup(root, want[0]); {
		case n == nil:
			all = append(all, settings.Problem{Node: root, Text: fmt.Sprintf("%s is missing", want[0]), Hint: fmt.Sprintf("write %s: %s", want[0], want[1])})
		case n.Value != want[1]:
			all = append(all, settings.Problem{Node: n, Text: fmt.Sprintf("%s %q is unknown", want[0], n.Value), Hint: fmt.Sprintf("write %s: %s", want[0], want[1])})
		}
	}
	fields := []string{"apiVersion", "kind", "metadata", "spec"}
	seen := map[string]bool{}
	for i := 0; i+1 < len(root.Content); i += 2 {
		key := root.Content[i]
		if !slices.Contains(fields, key.Value) {
			all = append(all, settings.Problem{Node: key, Text: fmt.Sprintf("field %q is unknown: want %s", key.Value, settings.Alternatives(fields)), Hint: settings.DidYouMean(key.Value, fields)})
		} else if seen[key.Value] {
			all = append(all, settings.Problem{Node: key, Text: fmt.Sprintf("field %q is set twice", key.Value)})
		}
		seen[key.Value] = true
	}
	return all
}

// ruleList returns a decoder for a list of existing rules.
func ruleList(to *[]string) func(*kyaml.Node) error {
	return func(n *kyaml.Node) error {
		var ids []string
		if err := settings.List(&ids)(n); err != nil {
			return err
		}
		var errs []error
		for i, id := range ids {
			if err := checkRule(id); err != nil {
				at := n
				if n.Kind == kyaml.SequenceNode {
					at = n.Content[i]
				}
				errs = append(errs, &settings.FieldError{Node: at, Message: err.Error(), Hint: err.Hint()})
			}
		}
		*to = ids
		return errors.Join(errs...)
	}
}

// profileList returns a decoder for a list of existing profiles.
func profileList(to *[]string) func(*kyaml.Node) error {
	return func(n *kyaml.Node) error {
		if err := settings.List(to)(n); err != nil {
			return err
		}
		for _, name := range *to {
			if !slices.Contains(Profiles(), name) {
				unknown := unknownProfile(name)
				return &settings.FieldError{Node: n, Message: unknown.Error(), Hint: unknown.Hint()}
			}
		}
		return nil
	}
}

// checkRule returns an error if no rule has an ID or matches a pattern.
func checkRule(id string) *advice.Error {
	var unknown *advice.Error
	if _, err := Select([]string{id}); errors.As(err, &unknown) {
		return unknown
	}
	return nil
}

// kubernetes decodes the version of Kubernetes.
func (v *Configuration) kubernetes(n *kyaml.Node) error {
	if err := settings.Text(&v.Kubernetes)(n); err != nil {
		return err
	}
	if _, ok := rule.KubernetesMinor(v.Kubernetes); !ok {
		return fmt.Errorf("%q is not a version of Kubernetes: want one such as \"1.34\"", v.Kubernetes)
	}
	return nil
}

// severities decodes a map of rules to severities.
func (v *Configuration) severities(n *kyaml.Node) error {
	if n.Kind != kyaml.MappingNode {
		return errors.New("want a map of rules to severities")
	}
	v.Severities = map[string]finding.Severity{}
	var errs []error
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], repository.Lookup(n.Content[i+1])
		if _, found := Find(key.Value); !found {
			unknown := UnknownRule(key.Value)
			errs = append(errs, &settings.FieldError{Node: key, Message: unknown.Error(), Hint: unknown.Hint()})
			continue
		}
		severity, err := finding.ParseSeverity(value.Value)
		if err != nil {
			errs = append(errs, &settings.FieldError{Node: value, Path: "." + key.Value, Message: err.Error(), Hint: "use disable to turn off a rule"})
			continue
		}
		if _, twice := v.Severities[key.Value]; twice {
			errs = append(errs, &settings.FieldError{Node: key, Path: "." + key.Value, Message: "is set twice"})
		}
		v.Severities[key.Value] = severity
	}
	return errors.Join(errs...)
}

// mostGlobs is the maximum number of paths in all entries, because each is compared with each finding.
const mostGlobs = 500

// ignore decodes the list of ignored findings.
func (v *Configuration) ignore(n *kyaml.Node) error {
	if n.Kind != kyaml.SequenceNode {
		return errors.New("want a list of entries with rules, paths or kinds, and a reason")
	}
	var errs []error
	globs := 0
	for i, item := range n.Content {
		s := finding.Selector{Place: finding.Place{Line: item.Line, Column: item.Column}}
		item = repository.Lookup(item)
		at := fmt.Sprintf("[%d]", i)
		if item.Kind != kyaml.MappingNode {
			errs = append(errs, &settings.FieldError{Node: item, Path: at, Message: "want a map with rules, paths or kinds, and a reason"})
			continue
		}
		fields := settings.Fields{"rules": ruleList(&s.Rules), "paths": globList(&s.Paths), "kinds": settings.List(&s.Kinds), "reason": settings.Text(&s.Reason)}
		for _, p := range fields.Problems(item, at) {
			e := &settings.FieldError{Node: p.Node, Message: p.Text, Hint: p.Hint}
			if place, message, ok := strings.Cut(p.Text, ": "); ok && strings.HasPrefix(place, at) {
				e.Path, e.Message = place, message
			}
			errs = append(errs, e)
		}
		switch {
		case strings.TrimSpace(s.Reason) == "":
			errs = append(errs, &settings.FieldError{Node: item, Path: at, Message: "reason is missing", Hint: "add a reason, for later readers"})
		case len(s.Rules)+len(s.Paths)+len(s.Kinds) == 0:
			errs = append(errs, &settings.FieldError{Node: item, Path: at, Message: "want rules, paths or kinds", Hint: "an entry without them would ignore everything"})
		}
		if globs += len(s.Paths); globs > mostGlobs {
			return errors.Join(append(errs, &settings.FieldError{Node: item, Path: at, Message: fmt.Sprintf("there are more than %d paths", mostGlobs), Hint: "a folder includes everything in it"})...)
		}
		v.Ignore = append(v.Ignore, s)
	}
	return errors.Join(errs...)
}

// globList returns a decoder for a list of globs.
func globList(to *[]string) func(*kyaml.Node) error {
	return func(n *kyaml.Node) error {
		if err := settings.List(to)(n); err != nil {
			return err
		}
		for _, glob := range *to {
			if err := finding.CheckPath(glob); err != nil || glob == "" || len(glob) > 1000 {
				return fmt.Errorf("%q is not a valid pattern: want a path such as apps/legacy, apps/*/values.yaml or **/test", glob)
			}
		}
		return nil
	}
}
