package fetch

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/artifact"
	"github.com/fleetwright/fleetwright/internal/chartref"
	"github.com/fleetwright/fleetwright/internal/gitrepo"
	"github.com/fleetwright/fleetwright/internal/limits"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// Bounds of a repository's submodules and symlinks.
const (
	mostModules = 100
	mostNested  = 10
	// mostLinks is the maximum number of files that symlinks to folders add, and mostLooked the number of times that such a
	// symlink is looked up.
	mostLinks  = 10_000
	mostLooked = 200
)

// gathering collects the files of a commit and of its submodules.
type gathering struct {
	c       *client
	source  chartref.Source
	alive   func()
	files   map[string]gathered
	links   map[string]string
	modules int
	close   []func() error
}

// gathered is a file that has not been read yet.
type gathered struct {
	size int64
	read func() ([]byte, error)
}

// fromGit downloads the files of a repository. locked is the revision in the lock, or "".
func (c *client) fromGit(ctx context.Context, s chartref.Source, locked string, alive func()) (revision string, files artifact.Files, err error) {
	g := &gathering{c: c, source: s, alive: alive, files: map[string]gathered{}, links: map[string]string{}}
	defer func() {
		for _, end := range g.close {
			err = errors.Join(err, end())
		}
	}()
	server, err := c.gitServer(s.URL, alive)
	if err != nil {
		return "", nil, err
	}
	defer func() { _ = server.Close() }()
	u, err := gitrepo.Contact(ctx, server)
	if err != nil {
		return "", nil, err
	}
	at, err := resolveGit(u, s, locked)
	if err != nil {
		return "", nil, err
	}
	if err := g.add(ctx, u, s.URL, at, "", 0); err != nil {
		return "", nil, err
	}
	files, err = g.pick()
	return at.revision(), files, err
}

// add adds the files of a commit below the folder prefix, "" for the root.
func (g *gathering) add(ctx context.Context, u *gitrepo.Upstream, address string, at pinned, prefix string, depth int) error {
	commit, err := u.Checkout(ctx, at.commit, at.reference)
	if err != nil {
		return err
	}
	g.close = append(g.close, commit.Close)
	for name, size := range commit.Sizes() {
		g.files[prefix+name] = gathered{size, func() ([]byte, error) { return commit.ReadFile(name) }}
	}
	for name, target := range commit.Links {
		g.links[prefix+name] = target
	}
	if !g.source.Submodules || len(commit.Submodules) == 0 {
		return nil
	}
	data, err := commit.ReadFile(".gitmodules")
	if err != nil {
		return errors.New("the repository has submodules, and no .gitmodules")
	}
	addresses, err := gitrepo.Modules(data)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(commit.Submodules)) {
		if err := g.module(ctx, address, addresses[name], commit.Submodules[name], prefix+name, depth+1); err != nil {
			return fmt.Errorf("submodule %s: %w", prefix+name, err)
		}
	}
	return nil
}

// module adds the files of a submodule.
func (g *gathering) module(ctx context.Context, parent, address, commit, at string, depth int) error {
	if g.modules++; g.modules > mostModules || depth > mostNested {
		return fmt.Errorf("there are more than %d submodules, or they nest deeper than %d", mostModules, mostNested)
	}
	if address == "" {
		return errors.New(".gitmodules does not name it")
	}
	address, err := moduleAddress(parent, address)
	if err != nil {
		return err
	}
	server, err := g.c.gitServer(address, g.alive)
	if err != nil {
		return err
	}
	defer func() { _ = server.Close() }()
	u, err := gitrepo.Contact(ctx, server)
	if err != nil {
		return err
	}
	return g.add(ctx, u, address, pinned{commit: commit}, at+"/", depth)
}

// moduleAddress returns the address of a submodule, which may be relative to the address of its repository.
func moduleAddress(parent, address string) (string, error) {
	from, err := url.Parse(parent)
	if err != nil {
		return "", err
	}
	if strings.HasPrefix(address, "./") || strings.HasPrefix(address, "../") {
		from.Path, from.RawPath = path.Join("/", from.Path, address), ""
		return from.String(), nil
	}
	if host, at, ok := strings.Cut(address, ":"); ok && !strings.Contains(address, "://") && !strings.Contains(host, "/") {
		address = "ssh://" + host + "/" + strings.TrimPrefix(at, "/") // the form of scp
	}
	to, err := chartref.FromGitRepository(map[string]any{"spec": map[string]any{"url": address}})
	return to.URL, err
}

// pick reads the files that are part of the source.
func (g *gathering) pick() (artifact.Files, error) {
	for name := range g.files {
		if !g.source.Holds(name) {
			delete(g.files, name)
		}
	}
	if g.source.Whole {
		g.follow()
	}
	names := slices.Collect(maps.Keys(g.files))
	out := map[string]bool{}
	if !g.source.Whole {
		var err error
		if out, err = repository.LeftOut(names, func(name string) ([]byte, error) { return g.files[name].read() }, g.source.Ignore); err != nil {
			return nil, err
		}
	}
	kept := slices.DeleteFunc(names, func(name string) bool {
		return out[name] || g.files[name].size > limits.FileBytes && !isManifest(name)
	})
	if err := artifact.Fits(func(yield func(string, int64) bool) {
		for _, name := range kept {
			if !yield(name, g.files[name].size) {
				return
			}
		}
	}); err != nil {
		return nil, err
	}
	files := artifact.Files{}
	for _, name := range kept {
		data, err := g.files[name].read()
		if err != nil {
			return nil, err
		}
		files[name] = data
	}
	return files, nil
}

// follow replaces symlinks by copies of their targets: kustomize reads a clone as it is on disk.
func (g *gathering) follow() {
	added, looked := 0, 0
	for range mostNested { // a link may lead to another one
		changed := false
		for _, name := range slices.Sorted(maps.Keys(g.links)) {
			target := path.Join(path.Dir(name), g.links[name])
			if file, ok := g.files[target]; ok {
				g.files[name], changed = file, true
				delete(g.links, name)
				continue
			}
			if looked++; looked > mostLooked {
				return
			}
			for _, file := range slices.Sorted(maps.Keys(g.files)) {
				rest, below := strings.CutPrefix(file, target+"/")
				if !below || strings.HasPrefix(file, name+"/") {
					continue
				}
				if added++; added > mostLinks {
					return
				}
				g.files[name+"/"+rest], changed = g.files[file], true
				delete(g.links, name)
			}
		}
		if !changed {
			return
		}
	}
}
