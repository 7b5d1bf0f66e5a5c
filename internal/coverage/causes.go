package coverage

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/builds"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/sorting"
)

// The causes, as JSON reports name them.
const (
	notApplied     = "not-applied"
	unlisted       = "unlisted"
	noCluster      = "no-cluster"
	parentUnbuilt  = "parent-not-built"
	otherCluster   = "other-cluster"
	buildFailed    = "build-failed"
	sourceMissing  = "source-not-available"
	remoteBase     = "remote-base"
	unknownPath    = "unknown-path"
	filesMissing   = "files-not-given"
	unreadable     = "unreadable"
	limit          = "limit"
	chartMissing   = "chart-not-available"
	renderFailed   = "render-failed"
	renderUnknown  = "render-unknown"
	releaseTwice   = "applied-twice"
	schemaMissing  = "schema-not-available"
	schemasSkipped = "schema-rules-off"
)

// phrase is the message and the hint of a cause.
type phrase struct{ message, hint string }

var phrases = map[string]phrase{
	notApplied:     {"not applied by any build", "list them in a kustomization.yaml that a cluster applies, or pass the folder that a cluster syncs with --root PATH"},
	unlisted:       {"not listed by the kustomization.yaml of the folder", "list them under resources, or remove them"},
	noCluster:      {"no cluster is found in the repository", "pass the folder that a cluster syncs with --root PATH"},
	parentUnbuilt:  {"in the folder of a Kustomization that is only partly built", "fix the errors of that Kustomization, and pass the files and sources that it lacks"},
	otherCluster:   {"applied to another cluster by spec.kubeConfig", "pass the folder that the other cluster syncs with --root PATH"},
	buildFailed:    {"the build fails", "fix the errors of flux-build-failed and flux-path-missing"},
	sourceMissing:  {"the source is not available locally", "run fleetwright fetch, or check it out and pass --source NAMESPACE/NAME=DIR"},
	remoteBase:     {"only a remote base to build", "run fleetwright fetch, or copy the remote base into the repository"},
	unknownPath:    {"a variable in the spec has an unknown value", "define the variable in Git"},
	filesMissing:   {"files to build are missing from the input", "validate the folder instead of a stream of objects"},
	unreadable:     {"a file cannot be read", repository.AccessHint},
	limit:          {"a limit of Fleetwright is exceeded", "see limit-exceeded"},
	chartMissing:   {"the chart is not available locally", "run fleetwright fetch, or pass a folder of charts with --charts DIR"},
	renderFailed:   {"Helm refuses to render the chart", "fix the error that Helm reports"},
	renderUnknown:  {"the objects of the chart depend on values that are unknown offline", "see the unresolved items of the report"},
	releaseTwice:   {"another HelmRelease of the same name is applied first", "apply each HelmRelease once"},
	schemaMissing:  {"no schema of the kind is available", "pass a folder of CustomResourceDefinitions with --schemas DIR"},
	schemasSkipped: {"the rules that check objects against schemas are off", "run the rules schema-*"},
}

// because is why an object was not reached; an empty cause means that it was.
type because struct{ cause, reason string }

// gapCauses maps kinds of gaps to causes.
var gapCauses = map[builds.GapKind]string{
	builds.RemoteBase: remoteBase, builds.OtherSource: sourceMissing, builds.UnknownPath: unknownPath,
	builds.FilesMissing: filesMissing, builds.Unreadable: unreadable, builds.Limit: limit, builds.Exceeded: limit,
}

// notBuilt returns why a Kustomization is not built. A Kustomization counts as built even if a part of it was excluded.
func notBuilt(k *reconcile.Kustomization) because {
	if f := k.Failure; f != nil {
		return because{buildFailed, f.Message}
	}
	for _, g := range k.Gaps {
		if k.Repo == nil || k.Unbuilt || len(k.Objects) == 0 || g.Kind == builds.Unreadable || gapCauses[g.Kind] == limit {
			return because{gapCauses[g.Kind], g.Message}
		}
	}
	return because{}
}

// notRendered returns why an applied HelmRelease is not rendered.
func notRendered(r *reconcile.Release, elsewhere bool) because {
	switch {
	case r == nil && elsewhere:
		return because{otherCluster, phrases[otherCluster].message}
	case r == nil:
		return because{releaseTwice, phrases[releaseTwice].message}
	case r.Failure != nil:
		return because{renderFailed, r.Failure.String()}
	case r.Limit != nil:
		return because{limit, r.Unknown}
	case r.Uncached:
		return because{chartMissing, r.Unknown}
	case r.Unknown != "":
		return because{renderUnknown, r.Unknown}
	case len(r.Problems) > 0:
		return because{renderFailed, "the schema of the chart refuses its values"}
	case r.Chart == "":
		return because{chartMissing, phrases[chartMissing].message}
	}
	return because{}
}

// causesOf counts the causes, the most frequent first. folders are the folders that a cluster may sync.
func causesOf(all []finding.Unreached, folders []string) []finding.CoverageCause {
	by := map[string]*finding.CoverageCause{}
	for _, u := range all {
		c := by[u.Cause]
		if c == nil {
			c = newCause(u.Cause)
			by[u.Cause] = c
		}
		if u.Object.Kind == "HelmRelease" {
			c.HelmReleases++
		} else {
			c.Kustomizations++
		}
	}
	if c := by[notApplied]; c != nil && len(folders) > 0 {
		c.Hint = rootHint(folders)
	}
	if c, sources := by[sourceMissing], sourcesOf(all); c != nil && len(sources) > 0 {
		c.Hint = "run fleetwright fetch, or check " + itOrThem(sources) + " out and pass " + firstOf(sources, "")
	}
	causes := make([]finding.CoverageCause, 0, len(by))
	for _, c := range by {
		causes = append(causes, *c)
	}
	sorting.Func(causes, func(a, b finding.CoverageCause) int {
		return cmp.Or(cmp.Compare(b.Kustomizations, a.Kustomizations), cmp.Compare(b.HelmReleases, a.HelmReleases), cmp.Compare(a.Cause, b.Cause))
	})
	return causes
}

func newCause(cause string) *finding.CoverageCause {
	return &finding.CoverageCause{Cause: cause, Message: phrases[cause].message, Hint: phrases[cause].hint}
}

// mostFolders is how many folders a hint names.
const mostFolders = 3

// rootHint returns the hint that names the folders that nothing applies.
func rootHint(folders []string) string {
	return "list them in a kustomization.yaml that a cluster applies, or, where a cluster syncs their folder, pass " + firstOf(folders, "--root ")
}

// firstOf returns the option for the first mostFolders folders.
func firstOf(all []string, option string) string {
	named := option + strings.Join(all[:min(len(all), mostFolders)], ", "+option)
	if more := len(all) - mostFolders; more > 0 {
		named += fmt.Sprintf(" (and %d more)", more)
	}
	return named
}

func itOrThem(all []string) string {
	if len(all) == 1 {
		return "it"
	}
	return "them"
}

// sourceOption matches the option that the message of a gap suggests for a source.
var sourceOption = regexp.MustCompile(`--source [^ ]+=DIR`)

// sourcesOf returns the options for all missing sources, each once.
func sourcesOf(all []finding.Unreached) []string {
	var options []string
	for _, u := range all {
		if u.Cause == sourceMissing {
			if option := sourceOption.FindString(u.Reason); option != "" {
				options = append(options, option)
			}
		}
	}
	slices.Sort(options)
	return slices.Compact(options)
}

// CountChecked adds the number of objects that were checked against schemas, by cluster, and why the others were not.
// judging is set if a rule that checks against schemas runs.
func CountChecked(c *finding.Coverage, checked map[string]int, judging bool) {
	for i := range c.Clusters {
		one := &c.Clusters[i]
		one.Objects.SchemaChecked = checked[one.Cluster]
		c.Objects.SchemaChecked += checked[one.Cluster]
	}
	left := newCause(schemaMissing)
	if !judging {
		left = newCause(schemasSkipped)
	}
	if left.Objects = c.Objects.Applied - c.Objects.SchemaChecked; left.Objects > 0 {
		c.Causes = append(c.Causes, *left)
	}
}
