package fetch

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"sync"

	"github.com/fleetwright/fleetwright/internal/artifact"
	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/cache"
	"github.com/fleetwright/fleetwright/internal/chartref"
	"github.com/fleetwright/fleetwright/internal/limits"
	"github.com/fleetwright/fleetwright/internal/lock"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// SourceOutcome is the result of a request for a source.
type SourceOutcome struct {
	Ask    chartref.Source
	Status Status
	// Entry is the new entry of the lock, empty if the request failed.
	Entry lock.Source
	// Was is the old entry of the lock, nil if it is the same.
	Was *lock.Source
	// Unverified is the reason why the signature could not be checked, "" if it was checked, or none is required.
	Unverified string
	// Checked is the number of sets of keys that were compared.
	Checked int
	Err     error
}

// Sources fetches the requested sources of files in parallel, and returns an outcome for each, in the same order.
func Sources(ctx context.Context, asks []chartref.Source, o Options) []SourceOutcome {
	out := make([]SourceOutcome, len(asks))
	connect := sync.OnceValue(func() *client { return newClient(o) })
	o.each(len(asks), func(i int) { out[i] = o.source(ctx, connect, asks[i]) })
	return out
}

// each does work in parallel.
func (o Options) each(n int, work func(i int)) {
	slots := make(chan struct{}, o.jobs())
	var wg sync.WaitGroup
	var mu sync.Mutex
	done := 0
	for i := range n {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			work(i)
			mu.Lock()
			defer mu.Unlock()
			if done++; o.Done != nil {
				o.Done(done, n)
			}
		})
	}
	wg.Wait()
}

// source fetches one source, unless the cache has the one that the lock names.
func (o Options) source(ctx context.Context, connect func() *client, ask chartref.Source) SourceOutcome {
	out := SourceOutcome{Ask: ask, Status: Cached}
	locked, isLocked := lock.Source{}, false
	if o.Lock != nil {
		locked, isLocked = o.Lock.FindSource(ask)
	}
	pinned := isLocked && !o.UpdateSource(ask)
	var keys []string
	if o.SourceKeys != nil {
		keys = o.SourceKeys(ask)
		out.Checked = len(keys)
	}
	if pinned {
		if _, err := o.Cache.Read(locked.SHA256); err == nil && len(keys) == 0 { // the signature is of another archive
			out.Entry = locked
			return out
		}
	}
	revision := ""
	if pinned {
		revision = locked.Revision
	}
	ctx, cancel := context.WithTimeout(ctx, o.deadline())
	defer cancel()
	entry, archive, err := connect().sourceOf(ctx, ask, revision)
	if err == nil && pinned && entry.Revision != locked.Revision {
		err = &MovedError{locked.Revision, entry.Revision}
	}
	if err == nil && pinned && entry.SHA256 != locked.SHA256 {
		err = &MovedError{locked.SHA256, entry.SHA256}
	}
	if err == nil && len(keys) > 0 {
		_, out.Unverified, err = connect().verify(ctx, ask.Artifact(), manifestOf(entry.Revision), keys, o.Cache)
	}
	if err == nil {
		if _, cached := o.Cache.Read(entry.SHA256); cached != nil {
			out.Status = Fetched
			_, err = o.Cache.Write(archive)
		}
	}
	if err != nil {
		out.Status, out.Err = Failed, clean(err)
		if which := (*MovedError)(nil); errors.As(err, &which) {
			out.Err = which
		}
		return out
	}
	if out.Entry = entry; isLocked && locked != entry {
		out.Was = &locked
	}
	return out
}

// manifestOf returns the digest of the manifest in a revision of an artifact.
func manifestOf(revision string) string { return revision[strings.LastIndexByte(revision, '@')+1:] }

// sourceOf downloads a source. locked is the revision in the lock, or "".
func (c *client) sourceOf(ctx context.Context, ask chartref.Source, locked string) (entry lock.Source, archive []byte, err error) {
	entry = lock.Source{Source: ask}
	var files artifact.Files
	err = again(ctx, func() error {
		live, alive, stop := c.watch(ctx)
		defer stop()
		switch ask.Kind {
		case chartref.Git:
			entry.Revision, files, err = c.fromGit(live, ask, locked, alive)
		case chartref.OCI:
			entry.Revision, files, err = c.fromArtifact(live, ask, locked)
		case chartref.Bucket:
			entry.Revision, files, err = access{c.http.Transport, c.netrc, alive, c.now}.fromBucket(live, ask)
		default:
			files, err = c.fromFile(live, ask)
		}
		return stalled(live, err)
	})
	if err != nil {
		return entry, nil, err
	}
	archive, err = artifact.Pack(files)
	entry.SHA256 = cache.Sum(archive)
	return entry, archive, err
}

// fromArtifact downloads the files of an artifact in a registry. locked is the revision in the lock, or "".
func (c *client) fromArtifact(ctx context.Context, ask chartref.Source, locked string) (revision string, files artifact.Files, err error) {
	unknown := func(string) []byte { return nil }
	version, _, tagged := strings.Cut(locked, "@")
	if !tagged {
		version = "" // the source has a digest
	}
	found, err := c.fromRegistryUpTo(ctx, ask.Artifact(), version, unknown, artifact.Most)
	if err != nil {
		return "", nil, err
	}
	if revision = found.manifest; found.version != "" {
		revision = found.version + "@" + found.manifest
	}
	files, err = bounds.Do(bounds.Unit{Kind: "extraction", Name: "the artifact " + ask.URL + "@" + found.manifest}, func() (artifact.Files, error) {
		return artifact.Extract(found.archive)
	})
	if err != nil || ask.Copy {
		return revision, files, err
	}
	var names []string
	for name := range files {
		names = append(names, name)
	}
	out, err := repository.LeftOut(names, func(name string) ([]byte, error) { return files[name], nil }, ask.Ignore)
	for name := range out {
		delete(files, name)
	}
	return revision, files, err
}

// fromFile downloads a file.
func (c *client) fromFile(ctx context.Context, ask chartref.Source) (artifact.Files, error) {
	data, err := c.get(ctx, ask.URL, limits.FileBytes)
	if err != nil {
		return nil, err
	}
	name := path.Base(ask.URL)
	if strings.ContainsAny(name, "?#%") {
		return nil, fmt.Errorf("%q is not a file name", name)
	}
	return artifact.Files{name: data}, nil
}
