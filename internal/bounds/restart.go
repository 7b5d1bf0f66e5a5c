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

// variable is the environment variable by which an image of the process tells the next one what it
// found. A process that someone else starts with it refuses what it names, and reports that.
const variable = "FLEETWRIGHT_RESTARTED"

// state is what one image of the process tells the next one.
type state struct {
	Refused []Error `json:"refused,omitempty"`
	// Serial says that units run one at a time.
	Serial bool `json:"serial,omitempty"`
	// Exhausted is what the run takes more than it may of; "" while it goes on.
	Exhausted string `json:"exhausted,omitempty"`
	// Blind says that an exhausted run reads no files and runs no rules either.
	Blind    bool `json:"blind,omitempty"`
	Restarts int  `json:"restarts"`
	// Slow is how many times slower the machine is than the one that the bounds are for; 0 until it is
	// measured.
	Slow float64 `json:"slow,omitempty"`
	// Used is the CPU time that the images before this one took, all together.
	Used  time.Duration `json:"used"`
	Began time.Time     `json:"began"`
	// Printed are the bytes that were written to stdout and stderr: the next image, which prints
	// the same again, leaves them out.
	Printed [2]int64 `json:"printed"`
}

// Process is what a run talks to.
type Process struct {
	In       io.Reader
	Out, Err *os.File
	// Began is when the process started.
	Began time.Time
}

// Streams are those of a process that may start again.
type Streams struct {
	In       io.Reader
	Out, Err *Stream
}

// Start begins to measure units, and returns the streams that the command must use in place of the
// process's own. It is called once, by main.
func Start(p Process) Streams {
	s := state{Began: p.Began}
	if text := os.Getenv(variable); text != "" {
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			s = state{Began: p.Began}
		}
		_ = os.Unsetenv(variable) // a variable that is not there is gone as well
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
		_ = output.Printf(p.Err, "error: %s\n", output.Line(message)) // the process ends
		os.Exit(statusStopped)
	}
	m = newMonitor(s, restart, giveUp)
	current.Store(m)
	return Streams{In: in, Out: out, Err: errs}
}

// environment is that of the next image: with as many threads as this one, which may not be able to read
// how many its container allows.
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

// input remembers what was read, for the next image.
type input struct {
	from io.Reader
	read []byte
}

func (i *input) Read(p []byte) (int, error) {
	n, err := i.from.Read(p)
	i.read = append(i.read, p[:n]...)
	return n, err
}
