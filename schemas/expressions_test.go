package schemas

import (
	"strings"
	"testing"
)

// Expressions of people are admitted, those that would take long aren't, and many don't take long to
// refuse.
func TestExpressions(t *testing.T) {
	var e Expressions
	for range 100 {
		if !e.Admit([]string{"claims.email_verified == true", "user.username.startsWith('system:') ? 'x' : claims.sub"}) {
			t.Fatal("ordinary expressions are refused")
		}
	}
	slow := strings.Repeat("[1].map(x, ", 120) + "1" + strings.Repeat(")", 120)
	for range 10 {
		if e.Admit([]string{slow}) {
			t.Fatal("a slow expression is admitted")
		}
	}
	if e.Admit([]string{"true"}) {
		t.Error("there is time left after ten slow ones")
	}
}
