package bootstrap

import (
	"testing"
)

// BenchmarkVerify judges the ten releases of two clusters.
func BenchmarkVerify(b *testing.B) {
	repo := archive(b, "layouts/fleet")
	for b.Loop() {
		if _, err := Verify(b.Context(), repo, nil); err != nil {
			b.Fatal(err)
		}
	}
}
