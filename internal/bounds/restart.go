package bounds

import (
	"encoding/json"
	"io"
	"os"
	"runtime"
	"strconv"
	"time"

	"github.com/fleetwright/fleetwright/internal/output"
)

// variable is the environment variable in which an image of the process passes its state to the next one. A process that
// somebody starts with this variable refuses the units in it, and reports them.
const variable = "FLEETWRIGHT_RESTARTED"

// state is what one image of the process passes to the next one.
type state struct {
	Refused []Error `json:"refused,omitempty"`
	// Serial is set if units run one at a time.
	Serial bool `json:"serial,omitempty"`
	// Exhausted says which bound the run exceeded; "" if none.
	Exhausted string `json:"exhausted,omitempty"`
	// Blind is set if an exhausted run reads no files and runs no rules either.
	Blind    bool `json:"blind,omitempty"`
	Restarts int  `json:"restarts"`
	// Slow is the machine's slowness; 0 until it is measured.
	Slow float64 `json:"slow,omitempty"`
	// Used is the CPU time of all images before this one.
	Used  time.Duration `json:"used"`
	Began time.Time     `json:"began"`
	// Printed is the number of bytes that were written to stdout and stderr: the next image, which prints
	// the same bytes again, skips them.
	Printed [2]int64 `json:"printed"`
}

// Process is the process's environment: its streams and its start time.
type Process struct {
	In       io.Reader
	Out, Err *os.File
	// Began is when the process started.
	Began time.Time
}

// Streams are the streams of a process that may start again.
type Streams struct {
	In       io.Reader
	Out, Err *Stream
}

// Start starts to measure units, and returns the streams that the command must use in place of the
// process's own. Only main calls it, once.
func Start(p Process) Streams {
	s := state{Began: p.Began}
	if text := os.Getenv(variable); text != "" {
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			s = state{Began: p.Began}
		}
		_ = os.Unsetenv(variable) // unsetting a variable that does not exist is no error
	}
	out, errs := &Stream{file: p.Out, skip: s.Printed[0]}, &Stream{file: p.Err, skip: s.Printed[1]}
	in := &input{from: p.In}
	var m *monitor
	restart := func(next state) error {
		next.Printed = [2]int64{out.written.Load(), errs.written.Load()}
		text, err := json.Marshal(next)
		if err != nil {
			return err
		}
		return replaceProcess(in.read, environment(variable+"="+string(text)), m.confine)
	}
	giveUp := func(message string) {
		_ = output.Printf(p.Err, "error: %s\n", output.Line(message)) // the process ends anyway
		os.Exit(statusStopped)
	}
	m = newMonitor(s, restart, giveUp)
	current.Store(m)
	return Streams{In: in, Out: out, Err: errs}
}

// environment returns the environment of the next image. It sets the number of threads to that of this image, because the
// next one may not be able to read the limit of its container.
func environment(with string) []string {
	return append(os.Environ(), with, "GOMAXPROCS="+strconv.Itoa(runtime.GOMAXPROCS(0)))
}

// statusStopped is the exit status of a run that cannot continue.
const statusStopped = 3

// Limit replaces the bounds that grow with the repository.
func Limit(l Limits) {
	if m := current.Load(); m != nil {
		m.limits.Store(&l)
	}
}

// input records the bytes that were read, for the next image.
type input struct {
	from io.Reader
	read []byte
}

func (i *input) Read(p []byte) (int, error) {
	n, err := i.from.Read(p)
	i.read = append(i.read, p[:n]...)
	return n, err
}
