package bounds

// Confinement lists what a process may still do after it has restarted itself. It never starts another
// process.
type Confinement struct {
	// Connects is set if the process opens network connections.
	Connects bool
	// Changes are the folders whose files the process changes; if empty, it changes no file.
	Changes []string
	// Reads are the files and folders that the process reads in addition to those of its own program; nil means all.
	Reads []string
}

// Confine restricts what the process may do after it has restarted itself. On Linux, the kernel
// refuses everything else: an input that made the first image exceed its bound may be an attack, so
// the next image has fewer permissions. A kernel without this feature leaves the process as it was.
func Confine(to func() Confinement) {
	if m := current.Load(); m != nil {
		m.confinement.Store(&to)
	}
}

// confine restricts the calling thread, and the program that it starts, to what the command needs. An image that
// was started again is already confined.
func (m *monitor) confine() {
	if to := m.confinement.Load(); to != nil && m.state.Restarts == 0 {
		_ = confine((*to)()) // see Confine
	}
}
