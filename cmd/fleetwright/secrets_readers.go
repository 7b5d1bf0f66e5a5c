package main

import (
	"context"

	"github.com/fleetwright/fleetwright/internal/output"
	"github.com/fleetwright/fleetwright/internal/readers"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/render/declared"
)

// readersOf finds the objects that read rotated Secrets.
type readersOf struct {
	fleet *reconcile.Fleet
	// unknown is the reason if the objects of the repository are unknown, else "".
	unknown string
}

// findReaders evaluates the repository in which Secrets were rotated. A failure is not an error, because the Secrets are
// already rotated.
func findReaders(ctx context.Context, graph graphFlags, out declared.Outcome) readersOf {
	repo, err := loadRepository(out.Root)
	if err != nil {
		return readersOf{unknown: err.Error()}
	}
	fleet, err := graph.reconcileAll(ctx, out.Root, repo)
	if err != nil {
		return readersOf{unknown: err.Error()}
	}
	return readersOf{fleet: fleet}
}

// of returns the readers of a Secret that was rotated, or would be.
func (f readersOf) of(r declared.Result) readers.Found {
	if r.Action != declared.Rotate || f.fleet == nil {
		return readers.Found{}
	}
	return readers.Of(f.fleet, r.Path, r.Secret.Namespace, r.Secret.Name)
}

// open returns the reasons why other objects may read the Secret, too.
func (f readersOf) open(r declared.Result) []string {
	if r.Action != declared.Rotate {
		return nil
	}
	var why []string
	if f.unknown != "" {
		why = append(why, "the repository cannot be read: "+f.unknown)
	}
	found := f.of(r)
	for _, cluster := range found.Partial {
		why = append(why, "not all objects of cluster "+cluster+" are known")
	}
	for _, u := range found.Unknown {
		why = append(why, "the chart of "+u.Object.String()+" in cluster "+u.Cluster+" is not rendered")
	}
	return why
}

// print prints the readers of a rotated Secret, and what each reader needs to get the new value.
func (f readersOf) print(s streams, r declared.Result) {
	if r.Action != declared.Rotate {
		return
	}
	found, open := f.of(r), f.open(r)
	for _, reader := range found.Readers {
		command := reader.Command()
		now := ""
		if command != "" && reader.Action == readers.Reconcile {
			now = ", or now with"
		}
		_ = output.Printf(s.out, "  read by %s in cluster %s: %s%s\n", reader.Object, reader.Cluster, needs[reader.Action], now)
		if command != "" {
			_ = output.Printf(s.out, "    %s\n", command)
		}
	}
	if len(found.Readers)+len(open) == 0 {
		_ = output.Printf(s.out, "  nothing in this repository reads it\n")
	}
	for _, why := range open {
		_ = output.Printf(s.out, "  others may read it: %s\n", output.Line(why))
	}
}

// needs describes what a reader needs to get a new value.
var needs = map[readers.Action]string{
	readers.Restart:    "restart it when Flux has applied the Secret",
	readers.Reload:     "its files change by themselves; restart it if it reads them only when it starts",
	readers.Reconcile:  "Flux reads it at the next reconciliation",
	readers.Next:       "reads it when it needs it next",
	readers.Again:      "reads it when it is created again: delete it when Flux has applied the Secret, if it must run with the new value",
	readers.Chart:      "restart the workloads of its chart when Flux has applied the Secret",
	readers.Controller: "its controller reads it",
}

// secretReader is an object that reads a Secret, in a report.
type secretReader struct {
	Cluster    string         `json:"cluster"`
	APIVersion string         `json:"apiVersion"`
	Kind       string         `json:"kind"`
	Namespace  string         `json:"namespace"`
	Name       string         `json:"name"`
	Action     readers.Action `json:"action"`
	Command    string         `json:"command"`
}

// report lists the readers of a Secret.
func (f readersOf) report(r declared.Result) []secretReader {
	list := []secretReader{}
	for _, reader := range f.of(r).Readers {
		o := reader.Object
		list = append(list, secretReader{reader.Cluster, o.Text("apiVersion"), o.Kind, o.Namespace, o.Name, reader.Action, reader.Command()})
	}
	return list
}
