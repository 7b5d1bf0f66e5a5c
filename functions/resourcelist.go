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
	"github.com/fleetwright/fleetwright/internal/limits"
	"github.com/fleetwright/fleetwright/internal/output"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// listUnit is the unit of work that reads the ResourceList.
var listUnit = bounds.Unit{Kind: "file", Name: "the ResourceList on stdin"}

// Annotations that identify the caller of the function.
const (
	kustomizeID    = "kustomize.config.k8s.io/id"
	functionMarker = "config.kubernetes.io/function"
	packagePath    = "internal.config.kubernetes.io/package-path"
	kptResourceID  = "internal.config.k8s.io/kpt-resource-id"
)

// kustomizeTracking are the annotations with which kustomize tracks an object during a build (kustomize:
// api/internal/utils/annotations.go, api/resource/origin.go).
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

// resourceList is the input of a function and, after changes, its output.
type resourceList struct {
	items   []*kyaml.RNode
	config  *kyaml.RNode // nil if the caller passed none
	results framework.Results

	// kustomize reports whether the caller is kustomize. generator reports whether the function is called as a generator,
	// with its own configuration as the only item.
	kustomize, generator bool

	stream *kio.ByteReadWriter
}

// anchorInError matches the part of a YAML error that may quote a password: an unquoted password that begins with "*"
// looks like an alias.
var anchorInError = regexp.MustCompile(`unknown anchor '.*' referenced`)

// readList reads a ResourceList. Comments and annotations stay as they are. The error is a *bounds.Error if the
// list is too large.
func readList(in io.Reader) (*resourceList, error) {
	data, err := io.ReadAll(io.LimitReader(in, limits.TotalBytes+1))
	if err != nil {
		return nil, fmt.Errorf("reading stdin: %w", err)
	}
	if err := repository.CheckStream(data); err != nil {
		return nil, bounds.Refused(listUnit, err.Message, "")
	}
	return bounds.Do(listUnit, func() (*resourceList, error) { return parseList(data) })
}

// parseList parses a ResourceList whose size was checked.
func parseList(data []byte) (*resourceList, error) {
	stream := &kio.ByteReadWriter{Reader: bytes.NewReader(data), OmitReaderAnnotations: true, KeepReaderAnnotations: true}
	items, err := stream.Read()
	if err != nil {
		return nil, fmt.Errorf("stdin is not a ResourceList: %s", anchorInError.ReplaceAllString(err.Error(), "an alias refers to an anchor that is not defined"))
	}
	if i, e := repository.CheckItems(append(slices.Clip(items), stream.FunctionConfig)); e != nil {
		subject := fmt.Sprintf("items[%d] of the ResourceList", i)
		if i == len(items) {
			subject = "the functionConfig of the ResourceList"
		}
		if !e.Reason.IsLimit() {
			return nil, fmt.Errorf("%s: %s", subject, e.Message)
		}
		return nil, bounds.Refused(listUnit, subject+": "+e.Message, "")
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

// listedMetadata returns the first field in an object's metadata that is a list; "" without one. kyaml would treat the
// list as a map and panic.
func listedMetadata(object *kyaml.Node) string {
	for _, path := range [][]any{{"metadata"}, {"metadata", "annotations"}, {"metadata", "labels"}} {
		if n := repository.Lookup(object, path...); n != nil && n.Kind == kyaml.SequenceNode {
			return fmt.Sprint(path[len(path)-1])
		}
	}
	return ""
}

// write writes the list. A failing function also writes it, because kpt reads its results whatever the exit status is.
func (l *resourceList) write(out io.Writer) error {
	text, err := l.encode()
	if err != nil {
		return err
	}
	content, err := output.YAML(text)
	if err != nil {
		return err
	}
	_, err = output.Raw(out).Write(content)
	return err
}

// atOnce is the number of items that are encoded together. The encoder keeps an event for each value, which needs fifty
// times the memory of the text.
const atOnce = 100

// encode encodes the list as kio.ByteWriter does.
func (l *resourceList) encode() ([]byte, error) {
	var results []*kyaml.Node
	if len(l.results) > 0 {
		text, err := kyaml.Marshal(l.results)
		if err != nil {
			return nil, fmt.Errorf("encoding the results: %w", err)
		}
		all, err := kyaml.Parse(string(text))
		if err != nil {
			return nil, fmt.Errorf("encoding the results: %w", err)
		}
		results = all.Content()
	}
	text := bytes.NewBufferString("apiVersion: " + l.stream.WrappingAPIVersion + "\nkind: " + l.stream.WrappingKind + "\n")
	items := make([]*kyaml.Node, len(l.items))
	for i, item := range l.items {
		items[i] = item.YNode()
	}
	if err := encodeField(text, "items", items); err != nil {
		return nil, err
	}
	if l.stream.FunctionConfig != nil {
		encoder := kyaml.NewEncoder(text)
		config := &kyaml.Node{Kind: kyaml.MappingNode, Content: []*kyaml.Node{{Kind: kyaml.ScalarNode, Value: "functionConfig"}, l.stream.FunctionConfig.YNode()}}
		if err := errors.Join(encoder.Encode(config), encoder.Close()); err != nil {
			return nil, err
		}
	}
	if len(results) == 0 {
		return text.Bytes(), nil
	}
	err := encodeField(text, "results", results)
	return text.Bytes(), err
}

// encodeField encodes a field that is a list.
func encodeField(text *bytes.Buffer, name string, list []*kyaml.Node) error {
	text.WriteString(name + ":")
	if len(list) == 0 {
		text.WriteString(" []")
	}
	text.WriteString("\n")
	for some := range slices.Chunk(list, atOnce) {
		copies := make([]*kyaml.Node, len(some))
		for i, n := range some {
			copied := kyaml.NewRNode(n).Copy()
			if n.Kind == kyaml.MappingNode {
				if err := kyaml.ClearEmptyAnnotations(copied); err != nil {
					return err
				}
			}
			copies[i] = copied.YNode()
		}
		encoder := kyaml.NewEncoder(text)
		if err := errors.Join(encoder.Encode(&kyaml.Node{Kind: kyaml.SequenceNode, Content: copies}), encoder.Close()); err != nil {
			return err
		}
	}
	return nil
}

// keepForValidation keeps the items that a validator has to return. kpt deletes items that are not returned, and
// kustomize rejects returned items (kubernetes-sigs/kustomize#5036).
func (l *resourceList) keepForValidation() {
	if l.kustomize {
		l.items = nil
	}
}

// fromKustomize reports whether every item has annotations of kustomize and none has annotations of kpt. If in doubt, it
// returns false: kustomize can handle returned items, but an empty list deletes a kpt package.
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

// isGenerator reports whether the only item is the function's own configuration. This is how kustomize calls a
// generator.
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

// annotationsOf returns an object's annotations.
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

// lookup returns the node at a path of field names; nil if it does not exist.
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

// nameOf returns an object's name for a message: kind namespace/name.
func nameOf(n *kyaml.RNode) string {
	return strings.TrimSpace(n.GetKind() + " " + strings.TrimPrefix(n.GetNamespace()+"/"+n.GetName(), "/"))
}
