package charts

import (
	"context"
	"errors"
	"fmt"
	"reflect"
)

// Bounds of a rendering. Of some hundred public charts the largest, kube-prometheus-stack,
// takes 4 million units of work and 28 MB as it is, and 20 million and 106 MB with routes.
const (
	// mostWork of all templates of a release. A unit takes about 10 ns.
	mostWork = 50_000_000
	// mostMemory is the bytes that all texts and lists made on the way may take together.
	mostMemory = 144 << 20
	// mostValue is the bytes of a value that is printed, copied or encoded.
	mostValue = 24 << 20
	// mostOutput is the bytes of what is rendered.
	mostOutput = 16 << 20
	// mostDepth is how deep templates may call each other, the nesting of each counted.
	mostDepth = 10_000
	// mostNested is how deep control structures, and parentheses, may nest in a template.
	mostNested = 200
	// mostActions of one template file.
	mostActions = 100_000
	// mostValueDepth is how deep a value may nest that is printed or copied; deeper, Go's
	// own printing would overflow the stack.
	mostValueDepth = 400
)

// What things cost, in units of work.
const (
	nodeCost  = 20  // of a template's node
	stepCost  = 60  // of a list of nodes
	enterCost = 150 // of a template
	callCost  = 60  // of a function
	tplCost   = 8000
	// tplDepth is as deep as a text that is run as a template counts: it holds a copy of all
	// functions.
	tplDepth = 100
)

// LimitError is why something hostile, or larger than anything known, is not rendered. It
// says nothing about whether Flux could.
type LimitError struct{ What string }

func (e *LimitError) Error() string { return e.What }

func limitf(format string, args ...any) *LimitError {
	return &LimitError{What: fmt.Sprintf(format, args...)}
}

// budget bounds what the templates of one release may cost. It is not for concurrent use.
type budget struct {
	ctx    context.Context
	work   int64
	memory int64
	depth  int
	calls  int
	// stopped is why nothing may go on. Templates pass errors on as texts.
	stopped error
}

func newBudget(ctx context.Context) *budget {
	return &budget{ctx: ctx, work: mostWork, memory: mostMemory}
}

// spend takes work and memory from the budget.
func (b *budget) spend(work, memory int64) error {
	if b.stopped != nil {
		return b.stopped
	}
	b.work -= work
	b.memory -= memory
	switch {
	case b.work < 0:
		b.stopped = limitf("the templates take more than %d million steps", mostWork/1_000_000)
	case b.memory < 0:
		b.stopped = limitf("the templates make more than %d MB of text", mostMemory>>20)
	default:
		if b.calls++; b.calls%256 == 0 {
			b.stopped = b.ctx.Err()
		}
	}
	return b.stopped
}

// enter goes down into a template, leave up again. A template that fails is not left: then
// nothing goes on.
func (b *budget) enter(depth int) error {
	if b.depth += depth; b.depth > mostDepth {
		b.stopped = limitf("templates call each other more than %d levels deep", mostDepth)
	}
	return b.stopped
}

func (b *budget) leave(depth int) { b.depth -= depth }

// errTooDeep is a value that holds itself, or nests too deep.
var errTooDeep = errors.New("a value is nested too deep")

// weigh is the size in bytes that a value has when it is printed or copied: what is shared
// counts each time. More than the limit is an error, as is a value that holds itself.
func weigh(v reflect.Value, limit int64) (int64, error) {
	size, _, err := weighCopy(v, limit)
	return size, err
}

// weighCopy is weigh, and the bytes that a copy of the value takes: it shares the texts.
func weighCopy(v reflect.Value, limit int64) (size, copied int64, err error) {
	w := weighing{left: limit}
	err = w.add(v, 0)
	return limit - w.left, w.copied, err
}

type weighing struct{ left, copied int64 }

// copiedNode is what a copy takes for a value in a map or list, in bytes.
const copiedNode = 80

func (w *weighing) add(v reflect.Value, depth int) error {
	if depth > mostValueDepth {
		return errTooDeep
	}
	w.copied += copiedNode
	// A line of its own, indented.
	if w.left -= int64(32 + 2*depth); w.left < 0 {
		return limitf("a template makes a value of more than %d MB", mostValue>>20)
	}
	switch v.Kind() {
	case reflect.String:
		w.left -= int64(v.Len()) * 2
	case reflect.Interface, reflect.Pointer:
		if !v.IsNil() {
			return w.add(v.Elem(), depth+1)
		}
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			w.left -= int64(v.Len()) * 2
			w.copied += int64(v.Len())
			return nil
		}
		for i := range v.Len() {
			if err := w.add(v.Index(i), depth+1); err != nil {
				return err
			}
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			if err := w.add(it.Key(), depth); err != nil {
				return err
			}
			if err := w.add(it.Value(), depth+1); err != nil {
				return err
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if err := w.add(v.Field(i), depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// shallow is the size in bytes of a value without what it refers to.
func shallow(v reflect.Value) int64 {
	for v.Kind() == reflect.Interface && !v.IsNil() {
		v = v.Elem()
	}
	switch v.Kind() {
	case reflect.String:
		return int64(v.Len())
	case reflect.Slice:
		return int64(v.Len()) * 48
	case reflect.Map:
		return int64(v.Len()) * 48
	}
	return 8
}
