// Package functions is the KRM door: a ResourceList on stdin, a ResourceList on
// stdout. The functionConfig chooses the function, and all functions share the
// same reading, strict decoding, telling of kustomize from kpt, and reporting.
//
// How kustomize and kpt really call a function is recorded in testdata.
package functions

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"sigs.k8s.io/kustomize/kyaml/fn/framework"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/strict"
	"github.com/fleetwright/fleetwright/render"
)

// Options of a call.
type Options struct {
	// Root is the working directory: the folders that a functionConfig names
	// (exec form) lie inside of it.
	Root string
	// Now is what encrypted files say of when they were encrypted.
	Now time.Time
}

// function is one kind of functionConfig.
type function struct {
	kind string
	// start gives what decodes the configuration, and what then runs.
	start func() (settings, runner)
	// connects says that it may ask a key management service, which needs credentials from anywhere.
	connects bool
	// drafts says that it may write temporary files.
	drafts bool
}

// changes are the folders in which the function changes files.
func (f function) changes() []string {
	if f.drafts {
		return []string{os.TempDir()}
	}
	return nil
}

// runner does a function's work on a list. An error makes the call fail; the
// list is written all the same, for its results.
type runner func(ctx context.Context, list *resourceList, o Options) error

// functions are all functions.
func functions() []function {
	return []function{
		{kind: "RenderFleet", start: newRenderFleet, drafts: true},
		{kind: "ValidateFleet", start: newValidateFleet},
		{kind: "VerifyBootstrap", start: newVerifyBootstrap},
		{kind: "EncryptSecrets", start: newEncryptSecrets, connects: true},
	}
}

// FindingsError says that a validator found something; its text names each
// finding, since kustomize shows no results.
type FindingsError struct{ Text string }

func (e *FindingsError) Error() string { return e.Text }

// Run reads a ResourceList, runs the function that its functionConfig chooses,
// and writes the ResourceList. When it fails, the error tells what was found or
// is wrong, and the input's items are written unchanged with the results: empty
// output would make kpt delete the package. The error is a *FindingsError when
// findings were found, a *render.BadInput or strict.Errors for wrong input.
func Run(ctx context.Context, in io.Reader, out io.Writer, o Options) error {
	list, err := readList(in)
	if err != nil {
		return &render.BadInput{Err: err}
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
		return &render.BadInput{Err: err}
	}
	for _, f := range functions() {
		if f.kind != kind {
			continue
		}
		fields, run := f.start()
		if err := fields.decode(kind, spec, path); err != nil {
			return &render.BadInput{Err: err}
		}
		if !f.connects {
			bounds.Confine(func() bounds.Confinement { return bounds.Confinement{Reads: []string{o.Root}, Changes: f.changes()} })
		}
		return run(ctx, l, o)
	}
	return fmt.Errorf("function %q is not there", kind)
}

// fail puts an error into the results, unless findings say it already.
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
	if b := (*render.BadInput)(nil); errors.As(err, &b) && b.Hint != "" {
		text += "\nhint: " + b.Hint
	}
	l.results = append(l.results, &framework.Result{Message: text, Severity: framework.Error})
}

// specResult is the result of one error of the specification.
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

// note adds a result that doesn't fail the call.
func (l *resourceList) note(severity framework.Severity, file, message string) {
	r := &framework.Result{Message: message, Severity: severity}
	if file != "" {
		r.File = &framework.File{Path: file}
	}
	l.results = append(l.results, r)
}

// identify names an object in a result.
func identify(apiVersion, kind, namespace, name string) *kyaml.ResourceIdentifier {
	if kind == "" && name == "" {
		return nil
	}
	return &kyaml.ResourceIdentifier{
		TypeMeta: kyaml.TypeMeta{APIVersion: apiVersion, Kind: kind},
		NameMeta: kyaml.NameMeta{Namespace: namespace, Name: name},
	}
}
