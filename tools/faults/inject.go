//go:build tools

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/reconcile/oracle"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// verdicts are the ways in which a fault is reported: by a new finding of a severity, by something that became
// unresolved, or not at all.
var verdicts = []string{"error", "warning", "info", "unresolved", "missed"}

// result is the result of injecting one fault.
type result struct {
	checkout, place string
	kind            kind
	edit            string // the changed lines, before and after
	verdict         string
	reported        string // the first finding or reason
	peers           bool
}

func (r result) String() string {
	return fmt.Sprintf("%s %s %s: %s\n    %s\n    %s (peers: %t)", r.checkout, r.place, r.kind.name, r.verdict, strings.ReplaceAll(r.edit, "\n", "\n    "), r.reported, r.peers)
}

// report is the part of a ValidationReport that is read.
type report struct {
	Findings []struct {
		Rule, Severity, File, Cluster, Message string
		Line                                   int
	}
	Unresolved []struct {
		Rule, File, Reason string
	}
}

// validate returns the report of a checkout.
func validate(ctx context.Context, command, dir string) (*report, error) {
	out, err := exec.CommandContext(ctx, command, "validate", dir, "--format", "json").Output()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() > 1) {
		return nil, err
	}
	r := &report{}
	return r, json.Unmarshal(out, r)
}

// added returns the most severe problem that only the second report has: its verdict, and its text.
func added(before, after *report) (verdict, reported string) {
	known := map[string]int{}
	for _, f := range before.Findings {
		known[f.Rule+"\x00"+f.File+"\x00"+f.Message]++
	}
	best := len(verdicts) - 1
	for _, f := range after.Findings {
		key := f.Rule + "\x00" + f.File + "\x00" + f.Message
		if known[key]--; known[key] >= 0 {
			continue
		}
		if i := slices.Index(verdicts, f.Severity); i >= 0 && i < best {
			best, reported = i, fmt.Sprintf("%s:%d: %s: %s [%s]", f.File, f.Line, f.Severity, f.Message, f.Rule)
		}
	}
	if best < len(verdicts)-1 {
		return verdicts[best], reported
	}
	unresolved := map[string]bool{}
	for _, u := range before.Unresolved {
		unresolved[u.Rule+"\x00"+u.File+"\x00"+u.Reason] = true
	}
	for _, u := range after.Unresolved {
		if !unresolved[u.Rule+"\x00"+u.File+"\x00"+u.Reason] {
			return "unresolved", u.Reason
		}
	}
	return "missed", ""
}

// checkout injects faults into a copy of a checkout, one after the other.
func checkout(ctx context.Context, dir, name string, o options) ([]result, error) {
	scratch, err := os.MkdirTemp("", "faults")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(scratch)
	copied := filepath.Join(scratch, "copy")
	if err := oracle.Copy(dir, copied); err != nil {
		return nil, err
	}
	places, err := applied(ctx, copied)
	if err != nil || len(places) == 0 {
		return nil, err
	}
	before, err := validate(ctx, o.fleetwright, copied)
	if err != nil {
		return nil, err
	}
	random := rand.New(rand.NewPCG(o.seed, uint64(len(places))))
	peers := &peers{options: o, dir: copied, before: map[string]string{}}
	var results []result
	for _, k := range shuffled(random, allKinds) {
		if len(results) == o.each {
			break
		}
		for _, p := range shuffled(random, places) {
			old, changed := k.inject(p)
			if !changed {
				continue
			}
			r, err := judge(ctx, o, peers, before, p, k, old)
			if err != nil {
				return nil, err
			}
			r.checkout = name
			results = append(results, *r)
			break
		}
	}
	return results, nil
}

func shuffled[T any](random *rand.Rand, list []T) []T {
	list = slices.Clone(list)
	random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

// judge validates the copy with the fault in p.text, and restores the file.
func judge(ctx context.Context, o options, peers *peers, before *report, p *place, k kind, old string) (*result, error) {
	file := filepath.Join(peers.dir, filepath.FromSlash(p.file))
	peers.remember(ctx, p)
	if err := os.WriteFile(file, []byte(p.text), 0o644); err != nil {
		return nil, err
	}
	after, err := validate(ctx, o.fleetwright, peers.dir)
	found := peers.notice(ctx, p)
	r := &result{place: fmt.Sprintf("%s:%d", p.file, p.line), kind: k, edit: difference(old, p.text), peers: found}
	p.text = old
	if err := errors.Join(err, os.WriteFile(file, []byte(old), 0o644)); err != nil {
		return nil, err
	}
	r.verdict, r.reported = added(before, after)
	return r, nil
}

// difference returns the lines in which two texts differ, without their common beginning and end.
func difference(old, text string) string {
	a, b := strings.Split(old, "\n"), strings.Split(text, "\n")
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	var lines []string
	for _, line := range a {
		lines = append(lines, "- "+line)
	}
	for _, line := range b {
		lines = append(lines, "+ "+line)
	}
	return strings.Join(lines[:min(len(lines), 8)], "\n")
}

// applied returns the documents that clusters apply, and the kustomizations with which they are built, in the
// order of their files.
func applied(ctx context.Context, dir string) ([]*place, error) {
	repo, err := repository.Load(dir, repository.Options{})
	if err != nil {
		return nil, err
	}
	fleet, err := reconcile.Reconcile(ctx, repo, reconcile.Options{})
	if err != nil {
		return nil, err
	}
	a := &applier{dir: dir, places: map[[2]any]*place{}}
	for _, c := range fleet.Clusters {
		for _, k := range c.Kustomizations {
			if k.Repo != repo || k.Failure != nil {
				continue
			}
			for _, object := range k.Objects {
				if s := object.Source; s != nil && !object.Encrypted && s.Document.File.Path == object.File {
					a.add(object.File, s.Document.Index, s.Kind, k.Dir, object.Substituted)
				}
			}
			for _, file := range k.Files {
				if base := filepath.Base(file); base == "kustomization.yaml" || base == "kustomization.yml" {
					a.add(file, 0, "kustomization", k.Dir, false)
				}
			}
		}
	}
	return a.sorted(), nil
}
