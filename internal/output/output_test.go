package output

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// hostile are texts that must not be printed as they are.
var hostile = []string{
	"a\x1b[31mb", "\x1b]0;title\a", "\u009b2J", "a\u202eb", "\u2066x\u2069", "a\u2028::error::b", "a\u2029b", "a\u200bb", "\ufeffa",
	"::error::x", " \t::set-output name=a::b", "\u00a0::error::x", "\u3000\u2003::error::x", "\u0300::error::x", "a\n::add-mask::x\n", "a\r::error::x", "a\r\n::stop-commands::x",
	"x ##[error]y", "##vso[task.setvariable variable=a]b", "a##teamcity[buildStop]", "###[group]a", "##\u034f[error]a", "##build-x[a]",
	"section_start:1:a\r\x1b[0Kb", "\xff\xfe", "a\xc3", "\U000e0001", "\u0085::error::x", "\x00\x07\x08\x7f", ":::error::x", "::error", "\r", "##", "::",
}

// command finds what a CI system takes for a command.
var command = regexp.MustCompile(`(?m)^[\s\x{85}\p{Z}\p{Mn}]*::|##[\pL\pN_-]*\p{Mn}*\[|section_(start|end):\d+:[a-zA-Z0-9_.-]+(\[.*\])?\r`)

// steers says what in a text could steer a terminal or a build.
func steers(text string) string {
	if at := command.FindString(text); at != "" {
		return fmt.Sprintf("command %q", at)
	}
	for i, r := range text {
		if r == '\n' || r == '\t' || r == '\r' && strings.HasPrefix(text[i:], "\r\n") || r == '\u200c' || r == '\u200d' {
			continue
		}
		if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Cs) {
			return fmt.Sprintf("%U at %d", r, i)
		}
	}
	if strings.ToValidUTF8(text, "") != text {
		return "invalid UTF-8"
	}
	return ""
}

func TestTextSteersNothing(t *testing.T) {
	for _, s := range hostile {
		var b bytes.Buffer
		text := NewText(&b, false)
		for _, verb := range []string{"%s", "%v", "%q", "a: %s", "%-9s", "  %s", "\t%s"} {
			_ = text.Printf(verb+"\n", s)
			_ = text.Printf(verb+"\n", Paint(Red, s))
			_ = text.Printf(verb+"\n", fmt.Errorf("%s", s))
			_ = text.Printf(verb+"\n", []string{s, s})
			if lines := strings.Count(b.String(), "\n"); lines != 4 {
				t.Errorf("%q with %q makes %d lines:\n%s", s, verb, lines, b.String())
			}
			if what := steers(b.String()); what != "" {
				t.Errorf("%q with %q: %s:\n%q", s, verb, what, b.String())
			}
			b.Reset()
		}
		_ = text.Printf("%s\n", Lines(s))
		_, _ = text.Write([]byte(s))
		_ = text.Flush()
		if what := steers(b.String()); what != "" {
			t.Errorf("%q: %s:\n%q", s, what, b.String())
		}
		if text := Inert(Line(s)) + "\n" + Inert(s); steers(text) != "" {
			t.Errorf("%q: %s:\n%q", s, steers(text), text)
		}
	}
}

// A command that comes in pieces is one, too.
func TestTextInPieces(t *testing.T) {
	for _, s := range hostile {
		var whole, pieces bytes.Buffer
		text := NewText(&whole, false)
		_, _ = text.Write([]byte("a\n" + s + "\nb"))
		_ = text.Flush()
		text = NewText(&pieces, false)
		if _, err := io.Copy(struct{ io.Writer }{text}, iotest.OneByteReader(strings.NewReader("a\n"+s+"\nb"))); err != nil {
			t.Fatal(err)
		}
		_ = text.Flush()
		if pieces.String() != whole.String() {
			t.Errorf("%q: in pieces %q, at once %q", s, pieces.String(), whole.String())
		}
	}
	var b bytes.Buffer
	text := NewText(&b, true)
	for _, part := range []string{" ", ":", ":", "error::x #", "#", "vso", "["} {
		_ = text.Printf("%s", Paint(Bold, part))
	}
	if got := regexp.MustCompile("\x1b\\[[0-9]*m").ReplaceAllString(b.String(), ""); got != " : :error::x ##vso [" {
		t.Errorf("got %q", got)
	}
}

func TestTextLeavesTheRest(t *testing.T) {
	for _, s := range []string{
		"a: b", "a::b", "2001:db8::1", "x: ::1", "- ::1", "# [a]", "#[a]", "#1 [x]", "naïve ☃ 日本語 👍🏽 ❤️", "a\tb", "a b", "section_start", "�", "a ## b [c]",
	} {
		var b bytes.Buffer
		text := NewText(&b, true)
		_ = text.Printf("%s|%v|%5d|%t|%q\n", s, s, 7, true, "x")
		_, _ = text.Write([]byte(s))
		if want := fmt.Sprintf("%s|%v|%5d|%t|%q\n%s", s, s, 7, true, "x", s); b.String() != want {
			t.Errorf("got %q, want %q", b.String(), want)
		}
	}
	var b bytes.Buffer
	_ = NewText(&b, true).Printf("%s %-4s|%s", Paint(Red, "a"), Paint(Bold, "b"), Paint("", "c"))
	if want := "\x1b[31ma\x1b[0m \x1b[1mb   \x1b[0m|c"; b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
	b.Reset()
	text := NewText(&b, true)
	_, _ = text.Write([]byte("a\r\nb\n"))
	_ = text.Status("working\n\x1b[31m")
	_ = text.Status("")
	if want := "a\r\nb\n\r\x1b[Kworking �[31m\r\x1b[K"; b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}

// What the formats for machines spell otherwise reads as what was written.
func TestEncodedSteersNothingAndLosesNothing(t *testing.T) {
	for _, s := range hostile {
		if strings.ToValidUTF8(s, "") != s {
			continue
		}
		value := map[string]any{"plain": s, s: []any{s, map[string]any{"x": "a\n" + s}}, "block": "a\n  " + s + "\nb\n"}
		var b bytes.Buffer
		encoder := json.NewEncoder(iotestWriter{JSON(NewText(&b, true))})
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		if err := encoder.Encode(value); err != nil {
			t.Fatal(err)
		}
		var back map[string]any
		if err := json.Unmarshal(b.Bytes(), &back); err != nil || fmt.Sprint(back) != fmt.Sprint(value) || steers(b.String()) != "" {
			t.Errorf("%q: %v %s\n%s", s, err, steers(b.String()), b.String())
		}

		type element struct {
			Attribute string `xml:"attribute,attr"`
			Text      string `xml:",chardata"`
		}
		b.Reset()
		if err := xml.NewEncoder(iotestWriter{XML(&b)}).Encode(element{s, "\n" + s}); err != nil {
			t.Fatal(err)
		}
		var e element
		if err := xml.Unmarshal(b.Bytes(), &e); err != nil || steers(b.String()) != "" {
			t.Errorf("%q: %v %s\n%s", s, err, steers(b.String()), b.String())
		}
		if lossless := regexp.MustCompile(`[\x00-\x08\x0b-\x1f]`); !lossless.MatchString(s) && (e.Attribute != s || e.Text != "\n"+s) {
			t.Errorf("%q became %q", s, e)
		}

		document, err := yaml.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		shown, err := YAML(document)
		if err != nil {
			t.Fatal(err)
		}
		back = nil
		if err := yaml.Unmarshal(shown, &back); err != nil || fmt.Sprint(back) != fmt.Sprint(value) || steers(string(shown)) != "" {
			t.Errorf("%q: %v %s\n%s", s, err, steers(string(shown)), shown)
		}
	}
}

// iotestWriter writes byte by byte.
type iotestWriter struct{ io.Writer }

func (w iotestWriter) Write(p []byte) (int, error) {
	for i := range p {
		if _, err := w.Writer.Write(p[i : i+1]); err != nil {
			return i, err
		}
	}
	return len(p), nil
}

func TestYAMLLeavesTheRest(t *testing.T) {
	document := "# a comment: ::x\nscript: |\n  a::b\n  # [x]\nfamily: 👨\u200d👩\u200d👧\nipv6: 2001:db8::1\nlist:\n- a\n"
	if got, err := YAML([]byte(document)); err != nil || string(got) != document {
		t.Errorf("%v\n%s", err, got)
	}
	got, err := YAML([]byte("# \u202e ##[error]\na: |\n  ::error::x\nb: |\n  c\n"))
	if want := "# \uFFFD ## [error]\na: \"::error::x\\n\"\nb: |\n  c\n"; err != nil || string(got) != want {
		t.Errorf("%v\n%q, want\n%q", err, got, want)
	}
}

func TestCheck(t *testing.T) {
	for text, want := range map[string]string{
		"a\nb\tc\r\n👨\u200d👩": "", "a\n\x1bb": "line 2 contains the control or format character U+001B", "a\n ::b": "line 2 contains text that a CI system takes for a command",
		"\xff": "line 1 is not UTF-8", "a ##[b": "line 1 contains text that a CI system takes for a command",
	} {
		got := ""
		if err := Check([]byte(text)); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func FuzzText(f *testing.F) {
	for _, s := range hostile {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var b bytes.Buffer
		text := NewText(&b, false)
		_ = text.Printf("%s\n%s\n", s, Lines(s))
		_, _ = text.Write([]byte(s))
		_ = text.Flush()
		if what := steers(b.String()); what != "" {
			t.Fatalf("%q: %s:\n%q", s, what, b.String())
		}
		if Check([]byte(s)) == nil && steers(s) != "" {
			t.Fatalf("%q is taken for printable: %s", s, steers(s))
		}
	})
}
