package gitrepo

import (
	"errors"
	"fmt"
	"net/mail"
	"strconv"
	"strings"
	"time"

	"github.com/fleetwright/fleetwright/internal/advice"
)

// Signature is a name, an email address and a time, to the second.
type Signature struct {
	Name, Email string
	When        time.Time
}

// check returns an error for a signature that a commit's header cannot contain.
func (s Signature) check(role string) error {
	switch {
	case s.Name == "" || s.Email == "":
		return fmt.Errorf("%w: the %s needs a name and an email", ErrNoIdentity, role)
	case strings.ContainsAny(s.Name+s.Email, "<>\n\r\x00"):
		return fmt.Errorf("the %s %q <%q> must not have <, > or line breaks", role, s.Name, s.Email)
	case s.When.Unix() < 0:
		return fmt.Errorf("the %s's date %s lies before 1970", role, s.When.Format(time.RFC3339))
	}
	return nil
}

// ResolveAuthor returns the author and committer of a commit as git determines them. For the author it uses the explicit
// "Name <email>" (a flag's value, may be empty), then the environment (GIT_AUTHOR_NAME, GIT_AUTHOR_EMAIL,
// GIT_AUTHOR_DATE; GIT_COMMITTER_* for the committer), then git's configuration (author.*, committer.*, user.*), then
// EMAIL. Without a committer, the author is the committer. Without a date, the time is now. dir is a folder in a
// repository whose own configuration applies, or empty. Without an author, the error is an *advice.Error that says how to
// set one.
func ResolveAuthor(explicit string, env func(string) string, dir string, now time.Time) (author, committer Signature, err error) {
	settings, err := readSettings(env, dir)
	if err != nil {
		return author, committer, err
	}
	if author, err = settings.identity("author", explicit, now); err != nil {
		return author, committer, err
	}
	if committer, err = settings.identity("committer", "", now); err != nil {
		return author, committer, err
	}
	if author.Name == "" || author.Email == "" {
		return author, committer, advice.New(ErrNoIdentity, `set --author "Name <name@example.com>", set GIT_AUTHOR_NAME and GIT_AUTHOR_EMAIL, or run "git config --global user.name" and "git config --global user.email"`)
	}
	if committer.Name == "" || committer.Email == "" {
		committer.Name, committer.Email = author.Name, author.Email
	}
	return author, committer, errors.Join(author.check("author"), committer.check("committer"))
}

// dateLayouts are the fixed formats of git's Documentation/date-formats.txt.
var dateLayouts = []string{
	"2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05-0700", "2006-01-02 15:04:05 -0700",
	"2006-01-02 15:04:05-0700", "2006-01-02 15:04:05Z07:00",
	"Mon, 2 Jan 2006 15:04:05 -0700", "2 Jan 2006 15:04:05 -0700",
	"2006-01-02T15:04:05", "2006-01-02 15:04:05",
}

// parseDate parses git's date formats: "SECONDS ZONE" (with or without @), ISO 8601 and RFC 2822. A date without a zone
// is in the local one.
func parseDate(date string) (time.Time, error) {
	date = strings.TrimSpace(date)
	seconds, zone, _ := strings.Cut(strings.TrimPrefix(date, "@"), " ")
	if n, err := strconv.ParseInt(seconds, 10, 64); err == nil && n >= 0 {
		if zone == "" {
			zone = "+0000"
		}
		if z, err := time.Parse("-0700", zone); err == nil {
			return time.Unix(n, 0).In(z.Location()), nil
		}
	}
	for _, layout := range dateLayouts {
		if t, err := time.ParseInLocation(layout, date, time.Local); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is not a date: want \"SECONDS +ZONE\", ISO 8601 or RFC 2822", date)
}

func (s settings) identity(role, explicit string, now time.Time) (Signature, error) {
	upper := "GIT_" + strings.ToUpper(role) + "_"
	sig := Signature{
		Name:  first(s.env(upper+"NAME"), s.values[role+".name"], s.values["user.name"]),
		Email: first(s.env(upper+"EMAIL"), s.values[role+".email"], s.values["user.email"], s.env("EMAIL")),
		When:  now,
	}
	if explicit != "" {
		address, err := mail.ParseAddress(explicit)
		if err != nil || address.Name == "" {
			return sig, fmt.Errorf("the %s %q is not of the form \"Name <name@example.com>\"", role, explicit)
		}
		sig.Name, sig.Email = address.Name, address.Address
	}
	date := s.env(upper + "DATE")
	if date == "" {
		return sig, nil
	}
	when, err := parseDate(date)
	if err != nil {
		return sig, fmt.Errorf("%sDATE: %w", upper, err)
	}
	sig.When = when
	return sig, nil
}
