package schemas

import (
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestRules(t *testing.T) {
	const release = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: a, namespace: b}\n"
	for _, c := range []struct {
		name, in string
		want     []string
	}{
		{"neither of two fields", release + "spec: {interval: 1h}\n", []string{
			"violation: spec: spec: either chart or chartRef must be set (the rule is (has(self.chart) && !has(self.chartRef)) || (!has(self.chart) && has(self.chartRef)))"}},
		{"both of two fields, and what is substituted is no matter", release + "spec: {interval: 1h, releaseName: '${NAME}', chartRef: {kind: OCIRepository, name: a}, chart: {spec: {chart: '${CHART}', sourceRef: {kind: HelmRepository, name: b}}}}\n", []string{
			"violation: spec: spec: either chart or chartRef must be set (the rule is (has(self.chart) && !has(self.chartRef)) || (!has(self.chart) && has(self.chartRef)))"}},
		{"not looked at where the object is invalid", release + "spec: {}\n", []string{
			"invalid: spec.interval: spec.interval is required"}},
		{"after the defaults", "apiVersion: source.toolkit.fluxcd.io/v1\nkind: Bucket\nmetadata: {name: a}\nspec: {interval: 1h, endpoint: e, bucketName: b, sts: {provider: aws, endpoint: 'https://e'}}\n", []string{
			"violation: spec: spec: 'ldap' is the only supported STS provider for the 'generic' Bucket provider (the rule is self.provider != 'generic' || !has(self.sts) || self.sts.provider == 'ldap')",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := problems(t, c.in); !slices.Equal(got, c.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

// definitionText is a definition with what the API server knows of schemas.
const definitionText = `type: object
properties:
  metadata: {type: object, properties: {name: {type: string, maxLength: 10}}}
  spec:
    type: object
    required: [mode]
    x-kubernetes-validations:
    - {rule: "self.mode != 'auto' || has(self.max)", message: auto needs max, fieldPath: .max}
    - {rule: "!has(self.max) || self.min <= self.max", messageExpression: "'min ' + string(self.min) + ' is above max ' + string(self.max)"}
    - {rule: "self.min == oldSelf.min", message: min is immutable}
    - {rule: "!has(self.note) || self.note.startsWith('ok')"}
    properties:
      mode: {type: string, enum: [auto, manual], default: manual}
      min: {type: integer, default: 1}
      max: {type: integer, nullable: true}
      note: {type: string}
      port: {x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}]}
      tags: {type: array, items: {type: string}, x-kubernetes-list-type: set}
      entries:
        type: array
        x-kubernetes-list-type: map
        x-kubernetes-list-map-keys: [name, zone]
        items:
          type: object
          required: [name]
          properties: {name: {type: string}, zone: {type: string, default: a}}
      template: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}
      any: {x-kubernetes-preserve-unknown-fields: true}
      more:
        type: object
        additionalProperties:
          type: object
          x-kubernetes-validations: [{rule: "!has(self.a) || self.a > 1", message: a must be more than 1}]
          properties: {a: {type: integer}}
`

func TestDefinitionsAreEvaluatedAsTheAPIServerDoes(t *testing.T) {
	s, err := FromDefinition(gvk("example.com/v1", "Foo"), true, object(t, definitionText))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, in, want string }{
		{"defaults", "spec: {}", ""},
		{"a default in place of a null", "spec: {mode: null, min: null}", ""},
		{"a null where it may be", "spec: {max: null}", ""},
		{"a null where it may not be is dropped", "spec: {note: null, tags: null}", ""},
		{"a null that has no field", "spec: {nothing: null}", `unknown field: unknown field "nothing" in spec (the existing fields are any, entries, max, min, mode, more, note, port, tags, template)`},
		{"int or string", "spec: {port: 80}\n", ""},
		{"int or string that is text", "spec: {port: http}\n", ""},
		{"int or string that is neither", "spec: {port: true}\n", "invalid: spec.port must be an integer or a string, not true"},
		{"a set", "spec: {tags: [a, b, a]}", `invalid: spec.tags[2] repeats an entry: "a" already exists (entries of this list are identified by their value: merge them, or rename one)`},
		{"keys with a default", "spec: {entries: [{name: a}, {name: b}, {name: a, zone: a}, {name: a, zone: b}]}", `invalid: spec.entries[2] repeats an entry: one with name "a" and zone "a" already exists (entries of this list are identified by name and zone: merge them, or rename one)`},
		{"a field path", "spec: {mode: auto}", "violation: spec.max: auto needs max (the rule is self.mode != 'auto' || has(self.max))"},
		{"a message expression", "spec: {min: 3, max: 2}", "violation: spec: min 3 is above max 2 (the rule is !has(self.max) || self.min <= self.max)"},
		{"a rule without a message", "spec: {note: no}", "violation: spec: failed rule: !has(self.note) || self.note.startsWith('ok')"},
		{"a rule of a map's values", "spec: {more: {x.y: {a: 1}}}", `violation: spec.more["x.y"]: a must be more than 1 (the rule is !has(self.a) || self.a > 1)`},
		{"rules wait for valid values", "spec: {min: 3, max: 2, mode: none}", "invalid: spec.mode is \"none\", must be one of auto, manual"},
		{"rules don't wait for unknown fields", "spec: {min: 3, max: 2, x: 1}", `violation: spec: min 3 is above max 2 (the rule is !has(self.max) || self.min <= self.max); unknown field: unknown field "x" in spec (the existing fields are any, entries, max, min, mode, more, note, port, tags, template)`},
		{"what a rule reads is substituted", "spec: {note: '${NOTE}'}", `unresolved: spec: whether the rule "failed rule: !has(self.note) || self.note.startsWith('ok')" is violated depends on values that Flux substitutes or decrypts`},
		{"what a rule doesn't read is substituted", "spec: {min: 3, max: 2, note: 'ok ${NOTE}'}", "violation: spec: min 3 is above max 2 (the rule is !has(self.max) || self.min <= self.max)"},
		{"what a rule reads is encrypted", "spec: {note: 'ENC[AES256_GCM,data:x]'}", `unresolved: spec: whether the rule "failed rule: !has(self.note) || self.note.startsWith('ok')" is violated depends on values that Flux substitutes or decrypts`},
		{"an object in an object", "spec: {template: {apiVersion: v1, kind: ConfigMap, metadata: {name: a, labels: {a: b}}, data: {a: 1}}}", ""},
		{"an object in an object, without a kind", "spec: {template: {apiVersion: v1}}", "invalid: spec.template.kind is required"},
		{"an object in an object, with bad metadata", "spec: {template: {apiVersion: v1, kind: A, metadata: {labels: {a: b c}, x: y}}}", `invalid: spec.template.metadata.labels: a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character; unknown field: unknown field "x" in spec.template.metadata`},
		{"an object in an object, with metadata of another type", "spec: {template: {apiVersion: v1, kind: A, metadata: {labels: [a]}}}", "invalid: spec.template.metadata json: cannot unmarshal array into Go struct field ObjectMeta.labels of type map[string]string"},
		{"a restricted name", "metadata: {name: abcdefghijkl}", `invalid: metadata.name is "abcdefghijkl", must be at most 10 chars long`},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := c.in
			if !strings.Contains(in, "spec:") {
				in += "\nspec: {}"
			}
			o := object(t, "apiVersion: example.com/v1\nkind: Foo\n"+in)
			var got []string
			for _, p := range s.Validate(o) {
				line := string(p.Kind) + ": " + p.Message
				if p.Hint != "" {
					line += " (" + p.Hint + ")"
				}
				got = append(got, line)
			}
			if text := strings.Join(got, "; "); text != c.want {
				t.Errorf("got\n%s\nwant\n%s", text, c.want)
			}
		})
	}
	literal := s.ValidateWith(object(t, "apiVersion: example.com/v1\nkind: Foo\nspec: {note: '${NOTE}', min: '${MIN}'}"), Options{Literal: true})
	if text := messages(literal); text != "invalid: spec.min must be an integer, not a string\n" {
		t.Errorf("where nothing is substituted the problems are %q", text)
	}
}

// TestRulesThatCannotBeEvaluated are no violations.
func TestRulesThatCannotBeEvaluated(t *testing.T) {
	const items = "{type: array, items: {type: integer}}"
	for name, c := range map[string]struct {
		rules, want string
		kind        ProblemKind
	}{
		"of a newer Kubernetes": {"[{rule: 'self.a.isGreen()'}]", "the object: a rule of Foo cannot be compiled by this version", Unresolved},
		"too costly":            {"[{rule: 'self.l.all(a, self.l.all(b, self.l.all(c, a + b + c >= 0)))'}]", "the rules of Foo cost more than 300000", Exceeded},
	} {
		s, err := FromDefinition(gvk("example.com/v1", "Foo"), true,
			object(t, "{type: object, x-kubernetes-validations: "+c.rules+", properties: {a: {type: integer}, l: "+items+"}}"))
		if err != nil {
			t.Fatal(err)
		}
		o := map[string]any{"apiVersion": "example.com/v1", "kind": "Foo", "a": int64(1)}
		for i := range 500 {
			list, _ := o["l"].([]any)
			o["l"] = append(list, int64(i))
		}
		found := s.Validate(o)
		if len(found) != 1 || found[0].Kind != c.kind || found[0].Rule != (c.kind == Unresolved) || found[0].Message != c.want {
			t.Errorf("%s: got %v, want %q", name, found, c.want)
		}
	}
}

// TestRecentRules: the rules of many definitions are not all kept, and each object is judged by its own.
func TestRecentRules(t *testing.T) {
	var all []*Schema
	for i := range 10 {
		fields := "a: {type: integer, x-kubernetes-validations: [{rule: 'self < " + strconv.Itoa(i) + "'}]}"
		for n := range 80 {
			fields += fmt.Sprintf(", f%d: {type: string, x-kubernetes-validations: [{rule: 'true'}]}", n)
		}
		s, err := FromDefinition(gvk("example.com/v1", fmt.Sprint("Foo", i)), true, object(t, "{type: object, properties: {"+fields+"}}"))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	for range 2 {
		for i, s := range all {
			found := s.Validate(map[string]any{"apiVersion": "example.com/v1", "kind": s.GVK.Kind, "a": int64(i)})
			if len(found) != 1 || !strings.Contains(found[0].Hint+found[0].Message, fmt.Sprint("self < ", i)) {
				t.Errorf("%s: %v", s.GVK.Kind, found)
			}
			if r := &recentRules; len(r.order) != len(r.compiled) || r.count > mostRules && len(r.order) > 2*runtime.GOMAXPROCS(0) {
				t.Errorf("after %s, %d rules of %d schemas are kept", s.GVK.Kind, r.count, len(r.order))
			}
		}
	}
}

func TestReads(t *testing.T) {
	for rule, want := range map[string]string{
		"has(self.a)":                                     "",
		"!has(self.a) || self.a.b == self.c":              "a.b c",
		"self.l.all(x, x.n > self.m) && size(self.l) > 0": "l m l",
		"has(self.a.b) ? self['x-y'] == 1 : true":         "", // self itself
		"self.x__dash__y == 'a'":                          "x-y",
		"[self.a, {'k': self.b}.k].exists(i, i == 1)":     "a b",
		"self.(": "",
	} {
		var got []string
		for _, path := range reads(rule) {
			got = append(got, Field(path))
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%s reads %q, want %q", rule, text, want)
		}
	}
	if !unknown(map[string]any{"a": "${A}"}, nil, false) || unknown(map[string]any{"a": "A"}, nil, false) {
		t.Error("without rules the whole value counts")
	}
}
