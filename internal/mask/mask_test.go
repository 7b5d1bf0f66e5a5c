package mask

import (
	"reflect"
	"strings"
	"testing"
)

// TestStrings: what a Secret holds is hidden wherever a variable carries it, and no word or number by
// itself.
func TestStrings(t *testing.T) {
	const spelled = "kX9vbQ2mZ7pL4tR8 a1g5dmJRMm1aN3BMNHRSOA== kx9vbq2mz7pl4tr8 KX9VBQ2MZ7PL4TR8"
	for _, c := range []struct {
		name, value string
		ofSecret    bool
		want        string
	}{
		{"DB_PASSWORD", "kX9vbQ2mZ7pL4tR8", true, spelled},
		{"CODE", "a1_B", true, "a1_B YTFfQg=="},
		{"DB_PASSWORD", "hunter", true, `"hunter"`},
		{"DB_PASSWORD", "kX9vbQ2mZ7pL4tR8", false, spelled},
		{"CLUSTER", "kX9vbQ2mZ7pL4tR8", false, ""},
		{"MODE", "production", true, ""},
		{"DB_PASSWORD", "true", true, ""},
		{"REPLICAS", "10000", true, ""},
		{"DOMAIN", "apps.example.org", true, ""},
		{"DB_PASSWORD", "${OTHER}", true, ""},
	} {
		got := map[string]bool{}
		for _, text := range Strings(c.name, c.value, c.ofSecret) {
			got[text] = true
		}
		want := map[string]bool{}
		for _, text := range strings.Fields(c.want) {
			want[text] = true
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s=%s: %v, want %v", c.name, c.value, got, want)
		}
	}
	config := Strings("config.yaml", "db:\n  password: Sommer2024!berlin\n  host: db.example.org\nhunter two\n", true)
	for _, want := range []string{"Sommer2024!berlin", "hunter two"} {
		if !strings.Contains(strings.Join(config, "\n")+"\n", "\n"+want+"\n") {
			t.Errorf("%q is not among %q", want, config)
		}
	}
}

// TestWithout: hidden strings are hidden, those that adjoin once.
func TestWithout(t *testing.T) {
	var texts Texts
	if got := texts.Without("x a1_B y"); got != "x a1_B y" {
		t.Error(got)
	}
	texts.Add(`d"&e`, "a1_B", `"hunter"`, "c2a\n", "y")
	for text, want := range map[string]string{
		"x a1_B y":                  "x <hidden> y",
		`hunter is "hunter", a1_B`:  `hunter is <hidden>, <hidden>`,
		`a1_Ba1_B"hunter"a1_B a1_B`: "<hidden> <hidden>",
		`"c2a\n"`:                   `"<hidden>"`,
		`is "d\"&e"`:                `is "<hidden>"`, // as %q writes it
		`is "d\"\u0026e"`:           `is "<hidden>"`, // as JSON does
	} {
		if got := texts.Without(text); got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
}

// TestReport: strings are hidden wherever they are in a report, but in names of files, fixes and enumerations.
func TestReport(t *testing.T) {
	type kind string
	type place struct{ File, Text string }
	type report struct {
		place
		Kind    kind
		Place   place
		Values  any
		Names   map[string][]string
		Next    *report
		Fix     []string
		private string
	}
	hide := func(text string) string { return strings.ReplaceAll(text, "a1_B", Hidden) }
	make := func(shown, text string) *report {
		return &report{Kind: kind(shown), Place: place{File: shown, Text: text}, Values: map[string]any{text: []any{text, 1, nil, true}},
			Names: map[string][]string{text: {text, "b"}}, Fix: []string{shown}, private: shown}
	}
	got, want := make("a1_B", "a1_B"), make("a1_B", Hidden)
	got.Next, want.Next = make("a1_B", "x a1_B"), make("a1_B", "x "+Hidden)
	Report(got, hide)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v %+v", got, got.Next)
	}
}
