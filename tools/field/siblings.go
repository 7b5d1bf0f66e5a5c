//go:build tools

package main

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/fleetwright/fleetwright/internal/gitrepo"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/roots"
)

// siblings are the other checkouts in a folder, by the address of their remote. For GitHub the address also
// comes from the folder's name, OWNER+NAME. The files of a GitRepository come from the checkout with its
// URL, at its reference.
type siblings struct {
	byAddress map[string]string
	loaded    map[[2]string]*repository.Repository
}

// findSiblings finds the checkouts among folders.
func findSiblings(ctx context.Context, dirs map[string]string) (*siblings, error) {
	s := &siblings{byAddress: map[string]string{}, loaded: map[[2]string]*repository.Repository{}}
	for name, dir := range dirs {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err != nil {
			continue
		}
		if owner, short, ok := strings.Cut(name, "+"); ok {
			s.byAddress[roots.RepositoryAddress("https://github.com/"+owner+"/"+short)] = dir
		}
		out, err := exec.CommandContext(ctx, "git", "-C", dir, "remote", "get-url", "origin").Output()
		if failed := (*exec.ExitError)(nil); errors.As(err, &failed) {
			continue // it has no remote
		}
		if err != nil {
			return nil, err
		}
		s.byAddress[roots.RepositoryAddress(strings.TrimSpace(string(out)))] = dir
	}
	return s, nil
}

// of returns the sources of a cluster that are available as checkouts.
func (s *siblings) of(ctx context.Context, cluster *reconcile.Cluster) (map[string]*repository.Repository, error) {
	found := map[string]*repository.Repository{}
	for _, k := range cluster.Kustomizations {
		if k.Repo != nil || k.Spec.SourceRef.Kind != "GitRepository" {
			continue
		}
		namespace := cmp.Or(k.Spec.SourceRef.Namespace, k.Namespace)
		id := reconcile.Identity{Group: "source.toolkit.fluxcd.io", Kind: "GitRepository", Namespace: namespace, Name: k.Spec.SourceRef.Name}
		for _, o := range cluster.Find(id) {
			repo, err := s.load(ctx, o)
			if err != nil {
				return nil, err
			}
			if repo != nil {
				found[namespace+"/"+o.Name] = repo
			}
		}
	}
	return found, nil
}

// load loads the files of a GitRepository; nil if they are not available.
func (s *siblings) load(ctx context.Context, source *reconcile.Object) (*repository.Repository, error) {
	text := func(path ...string) string {
		value, _, _ := unstructured.NestedString(source.Value, append([]string{"spec"}, path...)...)
		return value
	}
	dir, ok := s.byAddress[roots.RepositoryAddress(text("url"))]
	if !ok || text("ref", "semver") != "" || text("ref", "name") != "" {
		return nil, nil
	}
	revision := cmp.Or(text("ref", "commit"), text("ref", "tag"))
	if revision == "" {
		revision = "origin/" + cmp.Or(text("ref", "branch"), "master")
	}
	at := [2]string{dir, revision}
	if repo := s.loaded[at]; repo != nil {
		return repo, nil
	}
	files, err := gitrepo.ReadRevision(ctx, dir, revision)
	if errors.Is(err, gitrepo.ErrNoRevision) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	s.loaded[at], err = repository.FromReader(files.Sizes(), files.ReadFile, repository.Options{Name: filepath.Base(dir) + "@" + revision})
	return s.loaded[at], err
}

// mostRounds is the maximum depth of sources that other sources define.
const mostRounds = 8

// reconcileWith evaluates the clusters of a repository, each with the checkouts of its own sources, because
// clusters may follow different branches of one source.
func (s *siblings) reconcileWith(ctx context.Context, repo *repository.Repository, opts reconcile.Options) ([]*reconcile.Cluster, error) {
	fleet, err := reconcile.Reconcile(ctx, repo, opts)
	if err != nil {
		return nil, err
	}
	clusters := fleet.Clusters
	for i, cluster := range clusters {
		sources := map[string]*repository.Repository{}
		for range mostRounds {
			found, err := s.of(ctx, cluster)
			if err != nil {
				return nil, err
			}
			known := len(sources)
			if maps.Copy(sources, found); len(sources) == known {
				break
			}
			name := cluster.Name
			fleet, err := reconcile.Reconcile(ctx, repo, reconcile.Options{Roots: []string{cluster.Root.Path}, Sources: sources})
			if err != nil {
				return nil, err
			}
			cluster = fleet.Clusters[0]
			cluster.Name = name
		}
		clusters[i] = cluster
	}
	return clusters, nil
}
