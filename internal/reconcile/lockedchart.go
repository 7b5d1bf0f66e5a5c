package reconcile

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/fleetwright/fleetwright/internal/chartref"
	"github.com/fleetwright/fleetwright/internal/charts"
	"github.com/fleetwright/fleetwright/internal/lock"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// locked holds the lock of a repository, and the fetched charts and sources.
type locked struct {
	lock  *lock.Lock // nil: there is none
	err   error      // why it cannot be read
	shelf *charts.Shelf
	// sources are the fetched sources.
	sources *fetchedSources
}

// readLock reads the lock of a repository, or uses the other one if it has none; it reads none if nothing fetched is
// available.
func readLock(repo *repository.Repository, without *lock.Lock, shelf *charts.Shelf, sources *fetchedSources) locked {
	l := locked{shelf: shelf, sources: sources}
	defer func() { sources.remotes.Find = l.source }()
	if shelf == nil && sources.shelf == nil {
		return l
	}
	if !repo.Exists(lock.File) {
		l.lock = without
		return l
	}
	data, err := repo.ReadFile(lock.File)
	if err == nil {
		l.lock, err = lock.Decode(data)
	}
	l.err = err
	return l
}

// missingError reports a chart that the lock names and the cache lacks, or a lock that cannot be read.
type missingError struct{ text string }

func (e *missingError) Error() string { return e.text }

// chart returns the chart that the lock names for a request, nil if it names none.
func (l locked) chart(ask chartref.Ask) (*charts.Chart, error) {
	switch {
	case l.err != nil:
		return nil, &missingError{l.err.Error()}
	case l.lock == nil || l.shelf == nil:
		return nil, nil
	}
	entry, found := l.lock.Find(ask)
	if !found {
		return nil, nil
	}
	name := fmt.Sprintf("%s %s", ask.Name(), entry.Resolved)
	chart, err := l.shelf.Load(name, entry.SHA256)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &missingError{fmt.Sprintf("chart %s is locked, but not in the cache; run fleetwright fetch", name)}
	}
	return chart, err
}

// entry returns the lock's entry for a request, or for one that results in the same chart.
func (l locked) entry(ask chartref.Ask) (lock.Chart, bool) {
	if l.lock == nil {
		return lock.Chart{}, false
	}
	for _, a := range append([]chartref.Ask{ask}, ask.Same()...) {
		if entry, found := l.lock.Find(a); found {
			return entry, true
		}
	}
	return lock.Chart{}, false
}

// installed returns the chart that the lock names for a bootstrap's request, nil if it names none.
func (l locked) installed(ask chartref.Ask) (*charts.Chart, error) {
	entry, found := l.entry(ask)
	if !found {
		return nil, nil
	}
	return l.chart(entry.Ask)
}
