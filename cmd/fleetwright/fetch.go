package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fleetwright/fleetwright/internal/advice"
	"github.com/fleetwright/fleetwright/internal/builds"
	"github.com/fleetwright/fleetwright/internal/cache"
	"github.com/fleetwright/fleetwright/internal/chartref"
	"github.com/fleetwright/fleetwright/internal/fetch"
	"github.com/fleetwright/fleetwright/internal/lock"
	"github.com/fleetwright/fleetwright/internal/wanted"
)

type fetchFlags struct {
	graph                graphFlags
	clusters             []string
	update               []string
	check, dryRun, prune bool
	jobs                 int
	vendor, base, format string
	allowHosts           []string
}

func newFetch(s streams) *cobra.Command {
	var f fetchFlags
	c := &cobra.Command{
		Use:   "fetch [DIR]",
		Short: "Download the charts and sources that the clusters use, and lock them by digest",
		Long: `Download the charts of all HelmReleases that the clusters of the repository in DIR (by default the working
directory) apply: from HelmRepositories over HTTP(S) and OCI, and from OCIRepositories; the charts that bootstraps install:
helmfiles, kustomizations with helmCharts, and HelmCharts of K3s; the files of the GitRepositories, OCIRepositories and Buckets that
Kustomizations and HelmReleases use; and the remote bases and files of kustomizations. Each in the version that Flux, Helm
or kustomize would choose.
.fleetwright/lock.yaml records each requested version and what it resolved to, by digest: commit it.
The content is kept in a cache that all repositories share, the folder FLEETWRIGHT_CACHE or fleetwright in the user's
folder of caches. "validate", "build" and "diff" then use what the lock names, without a network.

Locked versions do not change: it is an error if a source has other content than the lock. --update resolves everything
again, and --update=NAME the charts and sources of a name. Nothing is downloaded if the cache has all content that the
lock names.

Credentials are taken from Helm's and Docker's configuration of registries, with their credential helpers, from .netrc,
git's credential helpers, the SSH agent, and for Buckets the configuration of AWS, never from the repository. The command
never connects to link-local addresses and metadata services, and to private addresses only for hosts that the repository
names; with --base, hosts that only a pull request names need --allow-host. docs/fetch.md has the details.

Exit status 1 when a chart or source cannot be fetched, or when --check finds a difference.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if f.jobs < 0 {
				return usage(c, errors.New("--jobs is negative"))
			}
			if f.check && (f.dryRun || f.prune || len(f.update) > 0 || f.vendor != "") {
				return usage(c, errors.New("--check changes nothing: it excludes --dry-run, --update, --prune and --vendor"))
			}
			return f.run(c.Context(), s, s.repositoryFolder(args, f.graph.roots))
		},
	}
	c.Flags().StringSliceVar(&f.clusters, "cluster", nil, "fetch only what `CLUSTER` uses, its name or its path; the rest of the lock stays (repeatable)")
	c.Flags().StringSliceVar(&f.update, "update", nil, "resolve the charts and sources of `NAME` again instead of taking the version in the lock; without a name, all (repeatable)")
	c.Flags().Lookup("update").NoOptDefVal = "*"
	c.Flags().BoolVar(&f.check, "check", false, "only check that the lock names all charts and sources that the repository uses, without a network")
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "only list what would be fetched, without a network")
	c.Flags().IntVar(&f.jobs, "jobs", 0, "fetch `N` charts or sources side by side (default 8)")
	c.Flags().StringVar(&f.vendor, "vendor", "", "also write the charts as archives to `DIR`, for --charts")
	c.Flags().BoolVar(&f.prune, "prune", false, "after that, remove from the cache all content that the lock of this repository does not name")
	c.Flags().StringVar(&f.base, "base", "", "refuse hosts that the repository does not use at the revision `REV`, such as the target of a pull request")
	c.Flags().StringSliceVar(&f.allowHosts, "allow-host", nil, "connect to `HOST` although the revision of --base does not use it, also at a private address (repeatable)")
	formatFlag(c, &f.format)
	f.graph.registerSources(c, s)
	f.graph.bringing = true
	return c
}

// mostFetchRounds is the maximum number of rounds in which fetched charts add HelmReleases whose charts are fetched, too.
const mostFetchRounds = 5

func (f *fetchFlags) run(ctx context.Context, s streams, in folder) error {
	go builds.Warm()
	known, err := lock.Read(in.dir)
	if err != nil {
		return advice.Input(err, "restore it from Git, or delete it and run fleetwright fetch")
	}
	store, err := cache.Folder(s.env)
	if err != nil {
		return err
	}
	w := &fetchRun{fetchFlags: f, s: s, in: in, lock: known, cache: cache.New(store), now: time.Now(), first: true}
	if w.report, err = w.plan(ctx); err != nil {
		return err
	}
	if f.dryRun || f.check {
		return w.print(f.check)
	}
	trusted, err := w.hosts(ctx)
	if err != nil {
		return err
	}
	if keys, err := cache.KeyFolder(); err == nil {
		_ = cache.MakeKey(store, keys) // without a key, the cache keeps no rendering
	}
	for round := 1; ; round++ {
		again, err := w.fetch(ctx, trusted)
		if err != nil {
			return err
		}
		if !again || round == mostFetchRounds {
			break
		}
		if w.report, err = w.plan(ctx); err != nil {
			return err
		}
	}
	if err := w.keep(ctx); err != nil {
		return err
	}
	return w.print(false)
}

// fetchRun is one run of fetch.
type fetchRun struct {
	*fetchFlags
	s      streams
	in     folder
	lock   *lock.Lock
	cache  *cache.Cache
	now    time.Time
	report *wanted.Report
	// done holds the outcomes so far.
	done    map[chartref.Ask]fetch.Outcome
	gotten  map[chartref.Source]fetch.SourceOutcome
	removed cache.Removed
	// first is true until the repository is read.
	first bool
}

// plan returns the charts and sources that the clusters want.
func (w *fetchRun) plan(ctx context.Context) (*wanted.Report, error) {
	if !w.first {
		w.in.loaded = nil // it was loaded with another lock
		w.graph.fetched, w.graph.fetchedSources = fetchedCharts(w.s.env), fetchedSources(w.s.env)
	}
	w.first = false
	repo, err := w.in.load()
	if err != nil {
		return nil, err
	}
	fleet, err := w.graph.reconcileAll(ctx, w.in.dir, repo)
	if err != nil {
		return nil, err
	}
	for _, name := range w.clusters {
		if _, err := oneCluster(fleet, name); err != nil {
			return nil, err
		}
	}
	bootstraps, err := wanted.Bootstraps(ctx, repo)
	if err != nil {
		return nil, err
	}
	if len(fleet.Clusters) == 0 && len(bootstraps) == 0 {
		if _, err := oneCluster(fleet, ""); err != nil {
			return nil, err
		}
	}
	return wanted.Of(fleet, bootstraps, w.clusters, w.lock, w.cache), nil
}

// hosts returns the hosts to which fetch may connect for a source, also at a private address.
func (w *fetchRun) hosts(ctx context.Context) (map[string]bool, error) {
	trusted := map[string]bool{}
	for _, host := range w.allowHosts {
		trusted[strings.ToLower(hostname(host))] = true
	}
	of := w.report
	if w.base != "" {
		repo, err := w.in.at(ctx, w.base)
		if err != nil {
			return nil, err
		}
		fleet, err := w.graph.reconcileAll(ctx, w.in.dir, repo)
		if err != nil {
			return nil, err
		}
		bootstraps, err := wanted.Bootstraps(ctx, repo)
		if err != nil {
			return nil, err
		}
		of = wanted.Of(fleet, bootstraps, nil, &lock.Lock{}, w.cache)
	}
	for _, c := range of.Charts {
		trusted[hostname(c.Ask.Host())] = true
	}
	for _, s := range of.Sources {
		trusted[hostname(s.Ask.Host())] = true
	}
	return trusted, nil
}

// hostname returns a host without its port.
func hostname(host string) string {
	if at := strings.LastIndexByte(host, ':'); at > strings.LastIndexByte(host, ']') {
		host = host[:at]
	}
	return strings.Trim(host, "[]")
}

// fetch fetches the wanted charts and sources, and writes the lock. It returns whether the fetched content may want more.
func (w *fetchRun) fetch(ctx context.Context, trusted map[string]bool) (more bool, err error) {
	if w.done == nil {
		w.done = map[chartref.Ask]fetch.Outcome{}
	}
	var asks []chartref.Ask
	for _, c := range w.report.Charts {
		switch o, done := w.done[c.Ask]; {
		case done && (o.Err != nil || o.Checked == len(c.Keys)):
		case w.base != "" && !trusted[hostname(c.Ask.Host())]:
			w.done[c.Ask] = fetch.Outcome{Ask: c.Ask, Status: fetch.Failed, Err: w.refused(c.Ask.Host())}
		default:
			asks = append(asks, c.Ask)
		}
	}
	p := startProgress(w.s, "fetching", "charts")
	outcomes := fetch.Charts(ctx, asks, w.options(trusted, p.note))
	p.stop()
	if err := ctx.Err(); err != nil {
		return false, err
	}
	next := &lock.Lock{Charts: slices.Clone(w.lock.Charts), Sources: slices.Clone(w.lock.Sources)}
	for _, o := range outcomes {
		w.done[o.Ask] = o
		if o.Err == nil {
			next.Put(o.Entry)
			more = more || o.Status == fetch.Fetched || o.Was != nil || !slices.Contains(w.lock.Charts, o.Entry)
		}
	}
	moreSources, err := w.fetchSources(ctx, trusted, next)
	if err != nil {
		return false, err
	}
	more = more || moreSources
	if slices.Equal(next.Charts, w.lock.Charts) && slices.Equal(next.Sources, w.lock.Sources) {
		return more, nil
	}
	w.lock = next
	return more, next.Write(w.in.dir)
}

// options returns the options for fetching charts or sources; done is called after each.
func (w *fetchRun) options(trusted map[string]bool, done func(done, total int)) fetch.Options {
	return fetch.Options{Lock: w.lock, Update: w.updates, UpdateSource: w.updatesSource, Cache: w.cache, Env: w.s.env, Jobs: w.jobs,
		Trusted: func(host string) bool { return trusted[host] }, Done: done, Now: time.Now, Keys: w.keys, SourceKeys: w.sourceKeys}
}

// updates reports whether a chart is resolved again.
func (w *fetchRun) updates(a chartref.Ask) bool {
	return slices.Contains(w.update, "*") || slices.Contains(w.update, a.Name())
}

// keep removes unused entries from the lock, and content from the cache if that takes too much space.
func (w *fetchRun) keep(ctx context.Context) error {
	if err := w.dropStale(); err != nil {
		return err
	}
	named := map[string]bool{}
	for _, c := range w.lock.Charts {
		named[c.SHA256], named[c.Signature] = true, true
		w.cache.Used(w.now, c.SHA256, c.Signature)
	}
	for _, s := range w.lock.Sources {
		named[s.SHA256] = true
		w.cache.Used(w.now, s.SHA256)
	}
	remove := func() (cache.Removed, error) { return w.cache.Trim(w.now, named, cache.Most) }
	if w.prune {
		remove = func() (cache.Removed, error) { return w.cache.Prune(w.now, named) }
	}
	removed, err := remove()
	w.removed = removed
	if err == nil && w.vendor != "" {
		err = w.writeVendored(ctx)
	}
	return err
}

// dropStale removes from the lock the charts and sources that no cluster uses. It removes nothing if a source could not
// be fetched, because objects in that source may use them.
func (w *fetchRun) dropStale() error {
	if len(w.clusters) > 0 || w.failed() {
		return nil
	}
	stale, staleSources := map[chartref.Ask]bool{}, map[chartref.Source]bool{}
	for _, c := range w.report.Stale {
		stale[c.Ask] = true
	}
	for _, s := range w.report.StaleSources {
		staleSources[s.Source] = true
	}
	charts := slices.DeleteFunc(slices.Clone(w.lock.Charts), func(c lock.Chart) bool { return stale[c.Ask] })
	sources := slices.DeleteFunc(slices.Clone(w.lock.Sources), func(s lock.Source) bool { return staleSources[s.Source] })
	if len(charts) == len(w.lock.Charts) && len(sources) == len(w.lock.Sources) {
		return nil
	}
	w.lock = &lock.Lock{Charts: charts, Sources: sources}
	return w.lock.Write(w.in.dir)
}

// failed reports whether any chart or source could not be fetched.
func (w *fetchRun) failed() bool {
	for _, o := range w.done {
		if o.Err != nil {
			return true
		}
	}
	for _, o := range w.gotten {
		if o.Err != nil {
			return true
		}
	}
	return false
}

// writeVendored writes the charts as archives for --charts.
func (w *fetchRun) writeVendored(ctx context.Context) error {
	if err := os.MkdirAll(w.vendor, 0o755); err != nil {
		return err
	}
	wrote := map[string]string{}
	for _, c := range w.report.Charts {
		entry, found := w.lock.Find(c.Ask)
		if !found || ctx.Err() != nil {
			continue
		}
		data, err := w.cache.Read(entry.SHA256)
		if err != nil {
			continue // the report has the reason
		}
		name := wanted.FileName(data, entry)
		if other := wrote[name]; other != "" && other != entry.SHA256 {
			return &failure{status: statusStopped, err: fmt.Errorf("two charts have the same file name %s: %s and %s", name, other, entry.SHA256)}
		}
		wrote[name] = entry.SHA256
		if err := writeFile(filepath.Join(w.vendor, name), func(to io.Writer) error { _, err := to.Write(data); return err }); err != nil {
			return err
		}
	}
	return ctx.Err()
}
