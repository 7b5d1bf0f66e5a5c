// Package fetch downloads the charts that HelmReleases request, and the sources of Kustomizations. Besides internal/gitrepo it
// is the only package that opens connections, and only in [Charts] and [Sources].
//
// All data from a server is hostile input: sizes are limited, digests are compared, and an archive is kept only if it
// is a chart that can be loaded.
package fetch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/cache"
	"github.com/fleetwright/fleetwright/internal/chartref"
	"github.com/fleetwright/fleetwright/internal/charts"
	"github.com/fleetwright/fleetwright/internal/lock"
)

// Options of a fetch.
type Options struct {
	// Lock contains the earlier results of requests. It is not changed.
	Lock *lock.Lock
	// Update reports whether the lock is ignored for a request.
	Update func(chartref.Ask) bool
	// UpdateSource does the same for sources of files.
	UpdateSource func(chartref.Source) bool
	// Keys returns sets of public keys in PEM: one key of each set must have signed the artifact. It may be nil.
	Keys func(chartref.Ask) []string
	// SourceKeys does the same for a source of files.
	SourceKeys func(chartref.Source) []string
	Cache      *cache.Cache
	// Trusted reports whether a host, without its port, may be at a private address.
	Trusted func(host string) bool
	// Env returns the variables of the environment, which contain proxies and credentials.
	Env func(string) string
	// Now returns the time, which is part of the signatures of requests to Buckets.
	Now func() time.Time
	// Jobs is the maximum number of charts that are fetched in parallel; 0 is the default.
	Jobs int
	// Stall is how long a server may be silent, and Deadline how long a chart may take; 0 is the default.
	Stall, Deadline time.Duration
	// Done is called when a chart is done; it may be nil.
	Done func(done, total int)
}

// DefaultJobs is the default number of charts that are fetched in parallel.
const DefaultJobs = 8

func (o Options) jobs() int               { return cmp.Or(max(o.Jobs, 0), DefaultJobs) }
func (o Options) stall() time.Duration    { return cmp.Or(o.Stall, 30*time.Second) }
func (o Options) deadline() time.Duration { return cmp.Or(o.Deadline, 5*time.Minute) }

// Status of a chart.
type Status string

// The statuses of a chart.
const (
	Cached  Status = "cached"  // it was in the cache
	Fetched Status = "fetched" // it was downloaded
	Failed  Status = "failed"
)

// Outcome is the result of a request for a chart.
type Outcome struct {
	Ask    chartref.Ask
	Status Status
	// Entry is the new entry of the lock, empty if the request failed.
	Entry lock.Chart
	// Was is the old entry of the lock, nil if it is the same.
	Was *lock.Chart
	// Unverified is the reason why the signature could not be checked, "" if it was checked, or none is required.
	Unverified string
	// Checked is the number of sets of keys that were compared.
	Checked int
	Err     error
}

// resolution is the chart that a source has for a request.
type resolution struct {
	version, manifest string
	// announced is the digest of the archive according to the source, "" if the source has none.
	announced string
	archive   []byte
}

// MovedError says that a source has other content than the lock.
type MovedError struct {
	Locked, Found string
}

func (e *MovedError) Error() string {
	return fmt.Sprintf("the lock has %s, the source has %s", e.Locked, e.Found)
}

// Charts fetches the requested charts in parallel, and returns an outcome for each, in the same order.
func Charts(ctx context.Context, asks []chartref.Ask, o Options) []Outcome {
	out := make([]Outcome, len(asks))
	connect := sync.OnceValue(func() *client { return newClient(o) })
	o.each(len(asks), func(i int) { out[i] = o.chart(ctx, connect, asks[i]) })
	return out
}

// chart fetches one chart, unless the cache has the one that the lock names.
func (o Options) chart(ctx context.Context, connect func() *client, ask chartref.Ask) Outcome {
	out := Outcome{Ask: ask, Status: Cached}
	locked, isLocked := lock.Chart{}, false
	if o.Lock != nil {
		locked, isLocked = o.Lock.Find(ask)
	}
	pinned := isLocked && !o.Update(ask)
	var keys []string
	if o.Keys != nil {
		keys = o.Keys(ask)
		out.Checked = len(keys)
	}
	if pinned {
		if _, err := o.Cache.Read(locked.SHA256); err == nil && (len(keys) == 0 || isVerified(o.Cache, locked, keys)) {
			out.Entry = locked
			return out
		}
	}
	version := ""
	if pinned {
		version = locked.Resolved
	}
	ctx, cancel := context.WithTimeout(ctx, o.deadline())
	defer cancel()
	entry, fresh, err := o.resolve(ctx, connect(), ask, version)
	if err == nil && pinned {
		err = moved(locked, entry)
	}
	if err == nil && len(keys) > 0 {
		entry.Signature, out.Unverified, err = connect().verify(ctx, ask, entry.Manifest, keys, o.Cache)
	}
	if err == nil && out.Unverified != "" && isLocked && locked.Signature != "" {
		err = fmt.Errorf("it was signed when it was locked, and now its signature cannot be checked: %s", out.Unverified)
	}
	if err != nil {
		out.Status, out.Err = Failed, clean(err)
		if which := (*MovedError)(nil); errors.As(err, &which) {
			out.Err = which
		}
		return out
	}
	if fresh {
		out.Status = Fetched
	}
	if out.Entry = entry; isLocked && locked != entry {
		out.Was = &locked
	}
	return out
}

// moved returns an error if a source has other content than the lock.
func moved(locked, found lock.Chart) error {
	switch {
	case locked.SHA256 != found.SHA256:
		return &MovedError{locked.SHA256, found.SHA256}
	case locked.Manifest != found.Manifest:
		return &MovedError{locked.Manifest, found.Manifest}
	}
	return nil
}

// resolve finds the chart for a request, and writes it into the cache. fresh says that it was downloaded.
func (o Options) resolve(ctx context.Context, c *client, ask chartref.Ask, version string) (entry lock.Chart, fresh bool, err error) {
	fresh = true
	known := func(digest string) []byte {
		data, err := o.Cache.Read(digest)
		if err != nil {
			return nil
		}
		fresh = false
		return data
	}
	from := c.fromIndex
	if ask.OCI() {
		from = c.fromRegistry
	}
	found, err := from(ctx, ask, version, known)
	if err != nil {
		return entry, false, err
	}
	entry = lock.Chart{Ask: ask, Resolved: found.version, Manifest: found.manifest, SHA256: cache.Sum(found.archive)}
	if found.announced != "" && found.announced != entry.SHA256 {
		return entry, false, fmt.Errorf("the source says that the archive has %s, but it has %s", found.announced, entry.SHA256)
	}
	if !fresh {
		return entry, false, nil
	}
	err = bounds.Check(bounds.Unit{Kind: "loading", Name: "the chart " + ask.Name()}, func() error {
		_, _, err := charts.Check(found.archive)
		return err
	})
	if err != nil {
		return entry, false, fmt.Errorf("the archive of the source is not a chart: %w", err)
	}
	_, err = o.Cache.Write(found.archive)
	return entry, true, err
}
