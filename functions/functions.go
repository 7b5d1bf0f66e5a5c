// Package functions implements the KRM functions: they read a ResourceList from stdin and write one to stdout.
// The functionConfig selects the function. All functions share the reading, the strict decoding, the detection
// of the caller (kustomize or kpt), and the reporting.
//
// How kustomize and kpt really call a function is recorded in testdata.
package functions

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"sigs.k8s.io/kustomize/kyaml/fn/framework"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/advice"
	"github.com/fleetwright/fleetwright/internal/bootstrap"
	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/lock"
	"github.com/fleetwright/fleetwright/internal/settings"
	"github.com/fleetwright/fleetwright/internal/strict"
)

// Options are the options of a call.
type Options struct {
	// Root is the working directory. The folders that a functionConfig names (exec form) must be inside it.
	Root string
	// Now is the encryption time that is written to encrypted files.
	Now time.Time
	// Fetched are the charts and sources in the user's cache (exec form), and Cache is its folder; "" without a cache.
	Fetched bootstrap.Fetched
	Cache   string
}

// fetched returns the charts and sources that a lock names: the lock among the items or in the folder that they are read
// from, or else the lock in the working directory.
func (o Options) fetched() (bootstrap.Fetched, error) {
	out := o.Fetched
	if out.Charts == nil {
		return out, nil
	}
	var err error
	if out.Lock, err = lock.Read(o.Root); err != nil {
		return out, advice.Input(err, "restore it from Git, or delete it and run fleetwright fetch")
	}
	return out, nil
}

// function is one kind of functionConfig.
type function struct {
	kind string
	// start returns the settings that decode the configuration, and the runner that uses it.
	start func() (settings.Fields, runner)
}

// runner runs a function on a list. If it returns an error, the call fails, but the list with its results is still
// written.
type runner func(ctx context.Context, list *resourceList, o Options) error

func functions() []function {
	return []function{
		{kind: "RenderFleet", start: newRenderFleet},
		{kind: "ValidateFleet", start: newValidateFleet},
		{kind: "VerifyBootstrap", start: newVerifyBootstrap},
		{kind: "EncryptSecrets", start: newEncryptSecrets},
	}
}

// FindingsError is the error of a validator with findings. Its text lists each finding, because kustomize shows
// no results.
type FindingsError struct{ Text string }

func (e *FindingsError) Error() string { return e.Text }

// Run reads a ResourceList, runs the function that its functionConfig selects, and writes the ResourceList. If the
// function fails, the error describes the findings or the problem, and the input's items are written unchanged with the
// results: kpt would delete the package if the output were empty. The error is a *FindingsError for findings, and a
// *advice.Error or strict.Errors for wrong input.
func Run(ctx context.Context, in io.Reader, out io.Writer, o Options) error {
	list, err := readList(in)
	if tooMuch := (*bounds.Error)(nil); errors.As(err, &tooMuch) {
		return err
	}
	if err != nil {
		return advice.Input(err, "")
	}
	before := list.items
	failure := list.call(ctx, o)
	if failure != nil {
		list.fail(failure)
		if !list.kustomize {
			list.items = before
		}
	}
	if err := list.write(out); err != nil {
		return errors.Join(failure, fmt.Errorf("writing the ResourceList: %w", err))
	}
	return failure
}

// call decodes the configuration and runs the function.
func (l *resourceList) call(ctx context.Context, o Options) error {
	var kinds []string
	for _, f := range functions() {
		kinds = append(kinds, f.kind)
	}
	kind, spec, path, err := kindOf(l.config, kinds)
	if err != nil {
		return advice.Input(err, "")
	}
	for _, f := range functions() {
		if f.kind != kind {
			continue
		}
		fields, run := f.start()
		if err := decode(fields, kind, spec, path); err != nil {
			return advice.Input(err, "")
		}
		return run(ctx, l, o)
	}
	return fmt.Errorf("function %q does not exist", kind)
}

// fail adds an error to the results, unless they already have its findings.
func (l *resourceList) fail(err error) {
	if f := (*FindingsError)(nil); errors.As(err, &f) {
		return
	}
	if spec := (strict.Errors)(nil); errors.As(err, &spec) {
		for _, e := range spec {
			l.results = append(l.results, specResult(e))
		}
		return
	}
	text := err.Error()
	if hint := advice.HintOf(err); hint != "" {
		text += "\nhint: " + hint
	}
	l.results = append(l.results, &framework.Result{Message: text, Severity: framework.Error})
}

// specResult returns the result for one error of the specification.
func specResult(e *strict.Error) *framework.Result {
	r := &framework.Result{Message: e.Message, Severity: framework.Error}
	if e.Hint != "" {
		r.Message += "\nhint: " + e.Hint
	}
	if kind, name, ok := strings.Cut(e.Object, " "); ok {
		r.ResourceRef = identify(v1alpha1.APIVersion, kind, "", name)
	}
	if e.Field != "" {
		r.Field = &framework.Field{Path: e.Field}
	}
	if e.File != "" {
		r.File = &framework.File{Path: e.File}
	}
	return r
}

// note adds a result that does not cause the call to fail.
func (l *resourceList) note(severity framework.Severity, file, message string) {
	r := &framework.Result{Message: message, Severity: severity}
	if file != "" {
		r.File = &framework.File{Path: file}
	}
	l.results = append(l.results, r)
}

// identify returns the identity of an object for a result.
func identify(apiVersion, kind, namespace, name string) *kyaml.ResourceIdentifier {
	if kind == "" && name == "" {
		return nil
	}
	return &kyaml.ResourceIdentifier{
		TypeMeta: kyaml.TypeMeta{APIVersion: apiVersion, Kind: kind},
		NameMeta: kyaml.NameMeta{Namespace: namespace, Name: name},
	}
}
