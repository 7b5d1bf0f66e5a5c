package functions

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/fn/framework"
	"sigs.k8s.io/kustomize/kyaml/kio"
	"sigs.k8s.io/kustomize/kyaml/kio/kioutil"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/output"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// maxInput bounds the ResourceList; the largest known platform repositories
// hold some tens of megabytes of YAML.
const maxInput = 512 << 20

// Annotations that tell who calls.
const (
	kustomizeID    = "kustomize.config.k8s.io/id"
	functionMarker = "config.kubernetes.io/function"
	packagePath    = "internal.config.kubernetes.io/package-path"
	kptResourceID  = "internal.config.k8s.io/kpt-resource-id"
)

// kustomizeTracking are the annotations with which kustomize follows an object
// through a build (kustomize: api/internal/utils/annotations.go,
// api/resource/origin.go).
var kustomizeTracking = []string{
	kustomizeID,
	"internal.config.kubernetes.io/allowNameChange",
	"internal.config.kubernetes.io/allowKindChange",
	"internal.config.kubernetes.io/generatorBehavior",
	"internal.config.kubernetes.io/mergeDisabled",
	"internal.config.kubernetes.io/needsHashSuffix",
	"internal.config.kubernetes.io/prefixes",
	"internal.config.kubernetes.io/previousKinds",
	"internal.config.kubernetes.io/previousNames",
	"internal.config.kubernetes.io/previousNamespaces",
	"internal.config.kubernetes.io/refBy",
	"internal.config.kubernetes.io/suffixes",
	"config.kubernetes.io/origin",
	"alpha.config.kubernetes.io/transformations",
}

// resourceList is the input of a function and, once changed, its output.
type resourceList struct {
	items   []*kyaml.RNode
	config  *kyaml.RNode // nil when the caller gave none
	results framework.Results

	// kustomize says that kustomize calls, generator that it calls the
	// function as a generator, whose one item is its own configuration.
	kustomize, generator bool

	stream *kio.ByteReadWriter
}

// anchorInError names what may be a password that begins with "*" and has no quotes.
var anchorInError = regexp.MustCompile(`unknown anchor '.*' referenced`)

// readList reads a ResourceList. Comments and annotations stay as they are.
func readList(in io.Reader) (*resourceList, error) {
	limited := &io.LimitedReader{R: in, N: maxInput + 1}
	stream := &kio.ByteReadWriter{Reader: limited, OmitReaderAnnotations: true, KeepReaderAnnotations: true}
	items, err := stream.Read()
	if limited.N == 0 {
		return nil, fmt.Errorf("the ResourceList on stdin is larger than %d MB", maxInput>>20)
	}
	bounds.Grow(int(maxInput + 1 - limited.N))
	if err != nil {
		return nil, fmt.Errorf("stdin is not a ResourceList: %s", anchorInError.ReplaceAllString(err.Error(), "an alias has no anchor"))
	}
	if stream.WrappingKind != kio.ResourceListKind {
		return nil, errors.New("stdin is not a ResourceList: want apiVersion: config.kubernetes.io/v1, kind: ResourceList with items and functionConfig")
	}
	for i, item := range items {
		if item.IsNilOrEmpty() || item.YNode().Kind != kyaml.MappingNode {
			return nil, fmt.Errorf("items[%d] of the ResourceList is not an object", i)
		}
		if field := listedMetadata(item.YNode()); field != "" {
			return nil, fmt.Errorf("items[%d] of the ResourceList: %s is a list, want a map", i, field)
		}
	}
	if stream.FunctionConfig != nil {
		if field := listedMetadata(stream.FunctionConfig.YNode()); field != "" {
			return nil, fmt.Errorf("the functionConfig of the ResourceList: %s is a list, want a map", field)
		}
	}
	l := &resourceList{items: items, config: stream.FunctionConfig, stream: stream}
	l.generator = isGenerator(l.items, l.config)
	l.kustomize = l.generator || fromKustomize(l.items)
	return l, nil
}

// listedMetadata names the field of an object's metadata that is a list, "" where there is none:
// kyaml takes it for a map, looks for the value behind its last key, and panics.
func listedMetadata(object *kyaml.Node) string {
	for _, path := range [][]any{{"metadata"}, {"metadata", "annotations"}, {"metadata", "labels"}} {
		if n := repository.Lookup(object, path...); n != nil && n.Kind == kyaml.SequenceNode {
			return fmt.Sprint(path[len(path)-1])
		}
	}
	return ""
}

// write writes the list. A failure of a function is written too: its results
// are read by kpt whatever the exit status.
func (l *resourceList) write(out io.Writer) error {
	var text bytes.Buffer
	l.stream.Writer = &text
	if len(l.results) > 0 {
		results, err := kyaml.Marshal(l.results)
		if err != nil {
			return fmt.Errorf("encoding the results: %w", err)
		}
		if l.stream.Results, err = kyaml.Parse(string(results)); err != nil {
			return fmt.Errorf("encoding the results: %w", err)
		}
	}
	if err := l.stream.Write(l.items); err != nil {
		return err
	}
	content, err := output.YAML(text.Bytes())
	if err != nil {
		return err
	}
	_, err = output.Raw(out).Write(content)
	return err
}

// keepForValidation leaves in the list what a validator has to return: kpt
// deletes what is not echoed, and kustomize refuses what is
// (kubernetes-sigs/kustomize#5036).
func (l *resourceList) keepForValidation() {
	if l.kustomize {
		l.items = nil
	}
}

// fromKustomize says whether every item carries kustomize's own annotations and
// none carries kpt's. In doubt it is not kustomize: an echo is harmless there,
// an empty list deletes a kpt package.
func fromKustomize(items []*kyaml.RNode) bool {
	for _, item := range items {
		a := annotationsOf(item)
		for _, kpt := range []string{packagePath, kptResourceID, kioutil.SeqIndentAnnotation} {
			if _, there := a[kpt]; there {
				return false
			}
		}
		tracked := slices.ContainsFunc(kustomizeTracking, func(name string) bool {
			_, there := a[name]
			return there
		})
		if !tracked {
			return false
		}
	}
	return len(items) > 0
}

// isGenerator says whether the only item is the function's own configuration,
// which is how kustomize calls a generator.
func isGenerator(items []*kyaml.RNode, config *kyaml.RNode) bool {
	if len(items) != 1 || config == nil {
		return false
	}
	item := items[0]
	own, marked := annotationsOf(item)[functionMarker]
	if !marked || annotationsOf(item)[kioutil.SeqIndentAnnotation] != "" {
		return false
	}
	return own == annotationsOf(config)[functionMarker] &&
		item.GetApiVersion() == config.GetApiVersion() && item.GetKind() == config.GetKind() && item.GetName() == config.GetName()
}

// annotationsOf reads an object's annotations.
func annotationsOf(n *kyaml.RNode) map[string]string {
	out := map[string]string{}
	if n == nil {
		return out
	}
	list := lookup(n.YNode(), "metadata", "annotations")
	if list == nil || list.Kind != kyaml.MappingNode {
		return out
	}
	for i := 0; i+1 < len(list.Content); i += 2 {
		out[list.Content[i].Value] = list.Content[i+1].Value
	}
	return out
}

// lookup follows field names from a node; nil where there is nothing.
func lookup(n *kyaml.Node, names ...string) *kyaml.Node {
	for _, name := range names {
		if n == nil || n.Kind != kyaml.MappingNode {
			return nil
		}
		var next *kyaml.Node
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == name {
				next = n.Content[i+1]
			}
		}
		n = next
	}
	return n
}

// nameOf names an object in a message: kind namespace/name.
func nameOf(n *kyaml.RNode) string {
	return strings.TrimSpace(n.GetKind() + " " + strings.TrimPrefix(n.GetNamespace()+"/"+n.GetName(), "/"))
}
