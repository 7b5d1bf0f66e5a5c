package main

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"

	"sigs.k8s.io/yaml"
)

var documentSeparator = regexp.MustCompile(`(?m)^---`)

// crd holds the fields of a CustomResourceDefinition that are read.
type crd struct {
	Kind string `json:"kind"`
	Spec struct {
		Group string `json:"group"`
		Scope string `json:"scope"`
		Names struct {
			Kind string `json:"kind"`
		} `json:"names"`
		Versions []struct {
			Name       string `json:"name"`
			Served     bool   `json:"served"`
			Storage    bool   `json:"storage"`
			Deprecated bool   `json:"deprecated"`
			Schema     struct {
				OpenAPIV3Schema map[string]any `json:"openAPIV3Schema"`
			} `json:"schema"`
		} `json:"versions"`
	} `json:"spec"`
}

// readCRDs returns the schemas of the served versions of the CRDs in a YAML stream.
func readCRDs(data []byte) ([]schema, error) {
	var found []schema
	for _, doc := range documentSeparator.Split(string(bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))), -1) {
		var c crd
		if err := yaml.Unmarshal([]byte(doc), &c); err != nil {
			return nil, err
		}
		if c.Kind != "CustomResourceDefinition" {
			continue
		}
		for _, v := range c.Spec.Versions {
			if !v.Served {
				continue
			}
			if v.Schema.OpenAPIV3Schema == nil {
				return nil, fmt.Errorf("%s %s has no schema", c.Spec.Names.Kind, v.Name)
			}
			s := schema{
				Group: c.Spec.Group, Version: v.Name, Kind: c.Spec.Names.Kind,
				Namespaced: c.Spec.Scope == "Namespaced",
				Schema:     withoutDescriptions(v.Schema.OpenAPIV3Schema),
			}
			if err := addOperatorKinds(s); err != nil {
				return nil, err
			}
			found = append(found, s)
		}
	}
	return found, nil
}

// addOperatorKinds allows alerts and receivers to name the Flux Operator's kinds, as the operator does when it
// installs Flux (flux-operator, internal/builder/templates.go, notificationPatchTmpl).
func addOperatorKinds(s schema) error {
	list := map[string]string{"Alert": "eventSources", "Receiver": "resources"}[s.Kind]
	if s.Group != "notification.toolkit.fluxcd.io" || list == "" {
		return nil
	}
	at := s.Schema
	for _, step := range []string{"properties", "spec", "properties", list, "items", "properties", "kind"} {
		next, ok := at[step].(map[string]any)
		if !ok {
			return fmt.Errorf("%s has no %s in the path to the kinds it may name", s.Kind, step)
		}
		at = next
	}
	kinds, ok := at["enum"].([]any)
	if !ok {
		return fmt.Errorf("%s names kinds without an enum", s.Kind)
	}
	at["enum"] = append(slices.Clone(kinds), "FluxInstance", "ResourceSet", "ResourceSetInputProvider")
	return nil
}

// withoutDescriptions returns a schema without what validation does not need, at all levels, and without the
// status, which is never written to Git.
func withoutDescriptions(s map[string]any) map[string]any {
	trimmed := trim(s)
	if props, ok := trimmed["properties"].(map[string]any); ok {
		delete(props, "status")
	}
	return trimmed
}

func trim(s map[string]any) map[string]any {
	out := map[string]any{}
	for k, v := range s {
		switch k {
		case "description", "example", "externalDocs", "title":
		case "default", "enum":
			out[k] = v
		case "properties":
			out[k] = trimEach(v)
		default:
			out[k] = trimValue(v)
		}
	}
	return out
}

func trimEach(v any) any {
	props, ok := v.(map[string]any)
	if !ok {
		return v
	}
	out := map[string]any{}
	for name, p := range props {
		out[name] = trimValue(p)
	}
	return out
}

func trimValue(v any) any {
	switch v := v.(type) {
	case map[string]any:
		return trim(v)
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = trimValue(item)
		}
		return out
	}
	return v
}
