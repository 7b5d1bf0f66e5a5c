package reconcile

import (
	"maps"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/mask"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/secrets/credential"
)

// RegisterSecrets registers the values of Secrets and secret variables with a repository's lines, so that they are hidden
// there.
func (f *Fleet) RegisterSecrets(lines *repository.Lines) {
	for _, c := range f.Clusters {
		lines.Hide(c.secrets)
	}
}

// Hiding returns a function that hides the values of Secrets and secret variables in a string.
func (f *Fleet) Hiding() func(text string) string {
	f.RegisterSecrets(f.repo.Lines())
	return f.repo.Lines().Without
}

// collectSecrets collects the values of Secrets, and of variables that are named like secrets.
func (c *Cluster) collectSecrets() {
	for _, k := range c.Kustomizations {
		for _, name := range slices.Sorted(maps.Keys(k.Variables)) {
			if v := k.Variables[name]; v.Known {
				c.secrets = append(c.secrets, mask.Strings(name, v.Value, v.isOfSecret())...)
			}
		}
		c.secrets = append(c.secrets, k.computed...)
		for _, o := range k.Objects {
			if o.Group != "" || o.Kind != "Secret" {
				continue
			}
			for name, e := range o.entries() {
				if e.known && credential.Judge(name, e.text) == credential.Likely && credential.IsSurelyRandom(e.text) {
					c.secrets = append(c.secrets, e.text)
				}
			}
		}
	}
	slices.Sort(c.secrets)
	c.secrets = slices.Compact(c.secrets)
	for _, k := range c.Kustomizations {
		if k.Repo != nil {
			k.Repo.Lines().Hide(c.secrets)
		}
	}
}

// scrub hides secrets in the messages about a cluster: kustomize, Helm and parsers quote what they fail to read.
func (c *Cluster) scrub() {
	c.collectSecrets()
	hide := func(repo *repository.Repository, parts ...any) {
		for _, part := range parts {
			if repo != nil {
				mask.Report(part, repo.Lines().Scrub)
			}
		}
	}
	for _, k := range c.Kustomizations {
		hide(k.Repo, k.Failure, &k.More, &k.Gaps)
	}
	for _, r := range c.Releases {
		hide(r.Object.Kustomization.Repo, r.Failure, &r.Problems, &r.Unknown)
	}
}

// isOfSecret reports whether a Secret holds the variable.
func (v *Variable) isOfSecret() bool { return v != nil && v.From != nil && v.From.Kind == "Secret" }

// computed returns the results of expressions in a text that must be hidden besides the values of variables: those with a
// variable that is from a Secret or named like one.
func (vars Variables) computed(text string) (all []string) {
	for _, expression := range expressions(text) {
		if reference.FindString(expression) == expression {
			continue
		}
		used := map[string]bool{}
		result, err := vars.expand(expression, used)
		for name := range used {
			if v := vars[name]; err == nil && (v == nil || v.Known) {
				all = append(all, mask.Strings(name, result, v.isOfSecret())...)
			}
		}
	}
	return all
}

// expressions returns the outermost expressions with variables in a text.
func expressions(text string) (all []string) {
	for i, begin, open := 0, 0, 0; i < len(text); i++ {
		switch {
		case strings.HasPrefix(text[i:], "$$"):
			i++
		case strings.HasPrefix(text[i:], "${"):
			if open++; open == 1 {
				begin = i
			}
		case text[i] == '}' && open > 0:
			if open--; open == 0 {
				all = append(all, text[begin:i+1])
			}
		}
	}
	return all
}
