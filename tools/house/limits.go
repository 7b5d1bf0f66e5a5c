package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// limitsFile has the limit of each figure: its value when somebody last lowered it, so that no figure grows
// unnoticed.
const limitsFile = "tools/house/limits.txt"

func readLimits(root string) (map[string]int, error) {
	data, err := os.ReadFile(filepath.Join(root, limitsFile))
	if err != nil {
		return nil, err
	}
	limits := map[string]int{}
	for line := range strings.Lines(string(data)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		if limits[name], err = strconv.Atoi(value); err != nil {
			return nil, fmt.Errorf("%s: %q: %w", limitsFile, line, err)
		}
	}
	return limits, nil
}

func writeLimits(root string, figures []figure) error {
	var b bytes.Buffer
	for _, f := range figures {
		if !f.free {
			fmt.Fprintf(&b, "%s: %d\n", f.name, f.value)
		}
	}
	return os.WriteFile(filepath.Join(root, limitsFile), b.Bytes(), 0o644)
}
