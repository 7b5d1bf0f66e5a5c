package valueuse

// mostRounds is the maximum number of rounds in which held values are followed.
const mostRounds = 20

// close adds the values that are read because a value that is read contains them.
func (a *analysis) close() {
	held := sortedKeys(a.held)
	for range mostRounds {
		before := len(a.reads)
		grown := false
		for _, key := range sortedKeys(a.reads) {
			grown = a.follow(a.reads[key], held) || grown
		}
		if len(a.reads) == before && !grown || a.exceeded {
			return
		}
	}
	a.exceeded = true
}

// follow adds the values that a read value contains, and reports whether any of them is new.
func (a *analysis) follow(r readPath, held []string) (grown bool) {
	for _, key := range held {
		h := a.held[key]
		if a.compared++; a.compared > mostHeld {
			a.exceeded = true
			return false
		}
		at, how := h.what, r.how
		switch {
		case len(r.path) >= len(h.at) && matches(r.path[:len(h.at)], h.at):
			at = below(h.what, r.path[len(h.at):]...)
		case r.how&whole != 0 && matches(r.path, h.at[:min(len(r.path), len(h.at))]):
			how = whole
		default:
			continue
		}
		if len(at) > mostDeep {
			at, how = at[:mostDeep], whole
		}
		old := a.reads[at.key()].how
		a.read(at, how)
		grown = grown || a.reads[at.key()].how != old
	}
	return grown
}

// matches reports whether two paths of the same length may be equal.
func matches(a, b path) bool {
	for i := range a {
		if a[i] != b[i] && a[i] != anyStep && b[i] != anyStep {
			return false
		}
	}
	return true
}
