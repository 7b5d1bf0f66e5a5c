package reconcile

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/builds"
	"github.com/fleetwright/fleetwright/internal/limits"
	"github.com/fleetwright/fleetwright/internal/output"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/roots"
)

// Clone reads a branch or tag of the validated repository, "refs/heads/NAME" or "refs/tags/NAME", from the clone that the
// repository is checked out of. The address is that of the GitRepository. It returns nil if the clone has no such
// reference. It is called concurrently.
type Clone func(ctx context.Context, url, ref string) (*repository.Repository, error)

// branches are the branches and tags of the validated repository that sources of clusters name, each read once.
type branches struct {
	clone   Clone
	budget  *builds.Budget
	remotes *builds.Remotes

	mu   sync.Mutex
	read map[string]*branch
}

// branch is a branch or tag that was read.
type branch struct {
	once  sync.Once
	files *builds.Files // nil if unknown
	// because is why the files are unknown, and kind the kind of that gap.
	because string
	kind    builds.GapKind
}

// of returns the files of a branch or tag, or why they are unknown.
func (b *branches) of(ctx context.Context, url, ref string) *branch {
	b.mu.Lock()
	one := b.read[ref]
	if one == nil {
		one = &branch{}
		if b.read[ref] = one; len(b.read) > limits.Branches {
			one.kind, one.because = builds.Limit, fmt.Sprintf("is not read: the clusters apply more than %d branches and tags", limits.Branches)
		}
	}
	b.mu.Unlock()
	one.once.Do(func() {
		if one.because == "" {
			one.load(ctx, b, url, ref)
		}
	})
	return one
}

func (one *branch) load(ctx context.Context, b *branches, url, ref string) {
	repo, err := b.clone(ctx, url, ref)
	name := output.Line(shortRef(ref))
	switch exceeded := (*bounds.Error)(nil); {
	case errors.As(err, &exceeded):
		one.kind, one.because = builds.Exceeded, exceeded.Error()
	case err != nil:
		one.kind, one.because = builds.OtherSource, "cannot be read from the clone: "+output.Line(err.Error())
	case repo == nil && strings.HasPrefix(ref, tagPrefix):
		one.kind, one.because = builds.OtherSource, fmt.Sprintf("is not in this clone; run \"git fetch origin tag %s\"", name)
	case repo == nil:
		one.kind, one.because = builds.OtherSource, fmt.Sprintf("is not in this clone; unless it is still to be created, run \"git fetch origin %s:refs/remotes/origin/%[1]s\"", name)
	default:
		b.budget.Include(repo)
		one.files = &builds.Files{Repo: repo, Base: ".", Budget: b.budget, Remotes: b.remotes}
	}
}

// repositories returns the branches and tags that were read, sorted by name.
func (b *branches) repositories() []*repository.Repository {
	var all []*repository.Repository
	for _, ref := range slices.Sorted(maps.Keys(b.read)) {
		if one := b.read[ref]; one.files != nil {
			all = append(all, one.files.Repo)
		}
	}
	return all
}

// branchOf returns the files of a GitRepository that is a branch or tag of the validated repository, or why they are
// unknown; neither if it is another repository, a commit or a range of versions.
func (w *walker) branchOf(key roots.Source, found, own *Object) (*builds.Files, *builds.Gap) {
	url, _, _ := unstructured.NestedString(found.Value, "spec", "url")
	ref := refOf(found)
	if w.branches.clone == nil || key.Kind != kindGit || ref == "" || !w.isRepository(url, own) || w.ctx.Err() != nil {
		return nil, nil
	}
	one := w.branches.of(w.ctx, url, ref)
	if one.files != nil {
		return one.files, nil
	}
	what := "branch"
	if strings.HasPrefix(ref, tagPrefix) {
		what = "tag"
	}
	message := fmt.Sprintf("its source %s %s/%s is %s %q of this repository, which %s", key.Kind, key.Namespace, key.Name, what, shortRef(ref), one.because)
	if one.kind == builds.OtherSource {
		message += fmt.Sprintf(", or check it out and pass --source %s/%s=DIR", key.Namespace, key.Name)
	}
	return nil, &builds.Gap{Kind: one.kind, Message: message}
}

// isRepository reports whether an address is that of the validated repository: that of the source that syncs the
// cluster's root, or of a remote.
func (w *walker) isRepository(url string, own *Object) bool {
	is := func(other string) bool {
		return !strings.Contains(url+other, "${") && roots.RepositoryAddress(url) == roots.RepositoryAddress(other)
	}
	if own != nil && own.Kind == kindGit {
		at, _, _ := unstructured.NestedString(own.Value, "spec", "url")
		return at != "" && is(at)
	}
	return slices.ContainsFunc(w.remotes, is)
}

const (
	kindGit      = "GitRepository"
	branchPrefix = "refs/heads/"
	tagPrefix    = "refs/tags/"
)

// refOf returns the full name of the branch or tag that a GitRepository checks out; "" if it names a commit or a range of
// versions, or includes other repositories. Without a reference, source-controller uses the branch master.
func refOf(o *Object) string {
	text := func(field string) string {
		value, _, _ := unstructured.NestedString(o.Value, "spec", "ref", field)
		return value
	}
	include, _, _ := unstructured.NestedSlice(o.Value, "spec", "include")
	name, tag, branch := text("name"), text("tag"), text("branch")
	switch {
	case len(include) > 0 || text("commit") != "" || strings.Contains(name+tag+branch, "${"):
		return ""
	case name != "":
		if strings.HasPrefix(name, branchPrefix) || strings.HasPrefix(name, tagPrefix) {
			return name
		}
		return ""
	case text("semver") != "":
		return ""
	case tag != "":
		return tagPrefix + tag
	case branch != "":
		return branchPrefix + branch
	}
	return branchPrefix + "master"
}

// shortRef returns the name of a branch or tag without refs/heads/ or refs/tags/.
func shortRef(ref string) string {
	return strings.TrimPrefix(strings.TrimPrefix(ref, branchPrefix), tagPrefix)
}
