package bounds

// Confinement is what a process may still do once it has started again. It begins no other process.
type Confinement struct {
	// Connects says that it opens connections.
	Connects bool
	// Changes are the folders whose files it changes; with none it changes no file.
	Changes []string
	// Reads are the files and folders that it reads, beside those of its own program; nil means all.
	Reads []string
}

// Confine says what the process may do once it has started again. On Linux the kernel refuses it everything
// else: what made the first image exceed its bound was made for that, so the next one may do less. A kernel
// that cannot refuse leaves it as it was, which is what the first image could do, too.
func Confine(to func() Confinement) {
	if m := current.Load(); m != nil {
		m.confinement.Store(&to)
	}
}

// confine leaves the calling thread, and the program that it becomes, what the command needs. An image that
// was started again is confined already.
func (m *monitor) confine() {
	if to := m.confinement.Load(); to != nil && m.state.Restarts == 0 {
		_ = confine((*to)()) // see Confine
	}
}
