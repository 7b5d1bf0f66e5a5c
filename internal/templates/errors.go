package templates

import (
	"errors"
	"regexp"
	"strconv"
	"strings"

	"github.com/fleetwright/fleetwright/internal/located"
)

var templateLine = regexp.MustCompile(`template: [^:]*:(\d+)`)

// LineOf returns the line of the template in an error, 1 if it contains none.
func LineOf(err error) int {
	if m := templateLine.FindStringSubmatch(err.Error()); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil && n > 0 {
			return n
		}
	}
	return 1
}

// Reason returns why a template fails, without secrets.
func Reason(err error) string {
	// An exceeded limit of this evaluation is clearer without the place in the template.
	var limit Exceeded
	if errors.As(err, &limit) {
		return limit.Error()
	}
	if _, because, undecided := strings.Cut(err.Error(), ErrUndecided.Error()); undecided {
		return located.Shorten(ErrUndecided.Error() + because)
	}
	return located.Shorten(withoutSecrets(err.Error()))
}

// Exceeded is an error about a limit of this evaluation, which the real tool may not have.
type Exceeded string

func (e Exceeded) Error() string { return string(e) }

// ErrUndecided is returned for a condition on an unknown value: helmfile may accept the template.
var ErrUndecided = errors.New("a condition depends on an unknown value")

// IsUndecided reports whether an error only means that the result of a template is unknown.
func IsUndecided(err error) bool {
	var unknown *UnknownError
	var limit Exceeded
	return errors.As(err, &unknown) || errors.Is(err, ErrUndecided) || errors.As(err, &limit)
}

// UnknownError is returned for a command whose output is unknown.
type UnknownError struct{ Mark located.Unknown }

func (e *UnknownError) Error() string { return e.Mark.Reason }

// TemplateFails is the start of the reason of an unresolved result if a template of the release
// fails; helmfile's error follows.
const TemplateFails = "the template fails: "
