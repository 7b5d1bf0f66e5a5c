package repository

// overlay is a source that reads some files from memory and the others from another source.
type overlay struct {
	source
	files memory
}

func (o overlay) read(p string, limit int64) ([]byte, error) {
	if _, ok := o.files[p]; ok {
		return o.files.read(p, limit)
	}
	return o.source.read(p, limit)
}
