package examples_test

import (
	"os"
	"strings"
	"testing"
)

// TestChartsWereSeen compares every chart of the examples with the page that says where
// its version was seen and which values it reads.
func TestChartsWereSeen(t *testing.T) {
	text, err := os.ReadFile("CHARTS.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string][]string{} // by chart and version
	for line := range strings.Lines(string(text)) {
		if cells := strings.Split(strings.Trim(line, "| \n"), " | "); len(cells) == 5 {
			name, _, _ := strings.Cut(cells[0], " ")
			rows[name+" "+cells[1]] = cells
		}
	}
	for _, example := range names {
		for _, addon := range load(t, example).Addons {
			chart := addon.Spec.Chart
			if chart == nil {
				continue
			}
			name := chart.Name
			if name == "" { // an OCI chart is the last part of its URL
				name = chart.URL[strings.LastIndex(chart.URL, "/")+1:]
			}
			row, ok := rows[name+" "+chart.Version]
			if !ok {
				t.Errorf("%s: CHARTS.md doesn't say where %s %s was seen", example, name, chart.Version)
				continue
			}
			if !strings.Contains(row[2], chart.URL) {
				t.Errorf("%s: CHARTS.md saw %s %s at %s, not at %s", example, name, chart.Version, row[2], chart.URL)
			}
			for _, key := range topKeys(addon.Spec.Values) {
				if !strings.Contains(row[4], key) {
					t.Errorf("%s: CHARTS.md doesn't say that %s %s reads %s", example, name, chart.Version, key)
				}
			}
		}
	}
}

// topKeys returns the values' keys of the first level.
func topKeys(values any) []string {
	var keys []string
	if m, ok := values.(map[string]any); ok {
		for key := range m {
			keys = append(keys, key)
		}
	}
	return keys
}
