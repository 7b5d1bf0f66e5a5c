package main

import "testing"

func TestSize(t *testing.T) {
	for text, want := range map[string]size{"512MiB": 512 << 20, "2GiB": 2 << 30, "3GB": 3e9, "1048576": 1 << 20, "64": 0, "0": 0, "-1GiB": 0, "1e9": 0, "99999999999GiB": 0, "much": 0} {
		var got size
		if err := got.Set(text); got != want || (err == nil) != (want > 0) {
			t.Errorf("%s is %d, want %d: %v", text, got, want, err)
		}
	}
}
