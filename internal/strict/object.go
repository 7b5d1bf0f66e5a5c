package strict

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Object is one object of the specification with its place.
type Object struct {
	File     string
	Kind     string
	Name     string
	Root     *yaml.Node
	Unplaced bool            // set if the nodes' lines differ from the user's file
	Broken   bool            // set if a part of it could not be decoded
	Bad      map[string]bool // the fields that could not be decoded
	Torn     map[string]bool // the fields of the spec that contain them
	Decoded  any             // one of the input kinds
}

// ErrorAt returns an error at a node of the object.
func (o *Object) ErrorAt(n *yaml.Node, p *Path, hint, message string) Error {
	e := Error{File: o.File, Object: Shorten(strings.TrimSpace(o.Kind + " " + o.Name)), Field: p.String(), Message: message, Hint: hint}
	if !o.Unplaced {
		e.Line, e.Column = n.Line, n.Column
	}
	return e
}

// Node returns the node at which an error in a field is reported: its value, or its key if the
// value begins on the next line or is missing.
func (o *Object) Node(p *Path) *yaml.Node {
	key, value, found := p.Find(o.Root)
	block := value.Style&yaml.FlowStyle == 0 && (value.Kind == yaml.MappingNode || value.Kind == yaml.SequenceNode)
	if !found || block {
		return key
	}
	return value
}

// Place returns the place of the object, for a hint.
func (o *Object) Place() string {
	switch {
	case o.File != "" && !o.Unplaced:
		return fmt.Sprintf("%s:%d", o.File, o.Root.Line)
	case o.File != "":
		return o.File
	}
	return o.Kind + " " + o.Name
}

// PlaceOf returns the place of a field of the object, for a hint.
func (o *Object) PlaceOf(p *Path) string {
	if o.File == "" || o.Unplaced {
		return p.String()
	}
	n := o.Node(p)
	return fmt.Sprintf("%s:%d:%d", o.File, n.Line, n.Column)
}
