package count

import (
	"math"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"github.com/fleetwright/fleetwright/internal/limits"
)

// sizes return the sizes in bytes of the results of functions of sprig and text/template that may create at once far more
// than their arguments.
var sizes = map[string]func(args []reflect.Value) int{
	"repeat": func(args []reflect.Value) int { return times(number(args[0]), args[1].Len()) },
	"indent": indented, "nindent": indented,
	"until":     func(args []reflect.Value) int { return times(bytesOfNumber, max(number(args[0]), -number(args[0]))) },
	"untilStep": stepped, "seq": sequence, "replace": replaced, "join": joined, "wrapWith": wrapped,
	"regexReplaceAll": matched, "regexReplaceAllLiteral": matched, "mustRegexReplaceAll": matched, "mustRegexReplaceAllLiteral": matched,
	"split": splitted, "splitList": splitted,
	"regexFindAll": found, "mustRegexFindAll": found,
	"concat": concatenated, "printf": formatted,
	"deepCopy": copied, "mustDeepCopy": copied,
	"merge": merged, "mergeOverwrite": merged, "mustMerge": merged, "mustMergeOverwrite": merged,
	"append": extended, "push": extended, "prepend": extended, "mustAppend": extended, "mustPush": extended, "mustPrepend": extended,
	"splitn": func(args []reflect.Value) int {
		return times(bytesOfElement, min(max(number(args[1]), 0), args[2].Len()+1))
	},
}

// Bytes of a number, and of an element of a list without its content.
const bytesOfNumber, bytesOfElement = 8, 16

// Created returns how many bytes a function of templates creates at once, 0 for functions whose results are limited by their
// arguments.
func Created(function string, args []reflect.Value) int {
	if size := sizes[function]; size != nil {
		return size(args)
	}
	return 0
}

// CountsFunction reports whether Created counts what a function creates.
func CountsFunction(name string) bool { return sizes[name] != nil }

func number(v reflect.Value) int { return int(min(max(v.Int(), -1<<40), 1<<40)) }

func stepped(args []reflect.Value) int {
	return steps(args[0].Int(), args[1].Int(), args[2].Int())
}

// steps returns the bytes of the numbers from start to stop. If the last one overflows, they have no end.
func steps(start, stop, step int64) int {
	switch {
	case step == 0 || (stop < start) != (step < 0):
		return 0
	case step > 0 && stop > math.MaxInt64-step, step < 0 && stop < math.MinInt64-step:
		return times(bytesOfNumber, 1<<40)
	}
	distance, by := uint64(stop)-uint64(start), uint64(step) // also where the difference overflows
	if step < 0 {
		distance, by = -distance, -by
	}
	return times(bytesOfNumber, int(min(distance/by, 1<<40)))
}

// sequence counts for seq, whose arguments are the end, the start and the end, or the start, the step and the end.
func sequence(args []reflect.Value) int {
	start, step, stop := int64(1), int64(1), int64(0)
	switch params := args[0]; params.Len() {
	case 1:
		stop = params.Index(0).Int()
	case 2:
		start, stop = params.Index(0).Int(), params.Index(1).Int()
	case 3:
		start, step, stop = params.Index(0).Int(), params.Index(1).Int(), params.Index(2).Int()
	}
	if stop < start && step > 0 {
		step = -step
	}
	return steps(start, stop, step)
}

func indented(args []reflect.Value) int {
	text := args[1].String()
	return times(max(number(args[0]), 0), 1+strings.Count(text, "\n")) + len(text)
}

func replaced(args []reflect.Value) int {
	old, replacement, text := args[0].String(), args[1].String(), args[2].String()
	return len(text) + times(max(len(replacement)-len(old), 0), strings.Count(text, old))
}

// matched counts for a regular expression that may match at every byte, with a replacement that repeats the match.
func matched(args []reflect.Value) int { return times(args[1].Len()+1, args[2].Len()) }

// wrapped counts for wrapWith: the number of lines is at most twice the text's length divided by the width.
func wrapped(args []reflect.Value) int {
	return times(2*args[2].Len()/max(number(args[0]), 1)+1, args[1].Len())
}

// found counts for a regular expression that may match before every byte.
func found(args []reflect.Value) int {
	most, n := args[1].Len()+1, number(args[2])
	if n < 0 {
		n = most
	}
	return times(bytesOfElement, min(n, most))
}

// extended counts a quarter of the bytes of the new list, since loops that build a list create it again and again.
func extended(args []reflect.Value) int { return times(bytesOfElement/4, lengthOf(args[0])+1) }

func concatenated(args []reflect.Value) int {
	n := 0
	for i := range args[0].Len() {
		n += lengthOf(args[0].Index(i))
	}
	return times(bytesOfElement, n)
}

func copied(args []reflect.Value) int {
	n, deep := Elements(args[0], limits.ChartOutput/bytesOfElement)
	if deep {
		return times(bytesOfElement, 1<<40)
	}
	return times(bytesOfElement, n)
}

// merged counts the values over which a merge of maps iterates: it adds values that only one map has without a look inside.
func merged(args []reflect.Value) int {
	maps := args[:1:1]
	e := elements{most: limits.ChartOutput / bytesOfElement}
	for i := range args[1].Len() {
		from := args[1].Index(i)
		for _, into := range maps {
			e.overlap(into, from, 0)
		}
		if e.n > e.most {
			break
		}
		maps = append(maps, from)
	}
	if e.deep {
		return times(bytesOfElement, 1<<40)
	}
	return times(bytesOfElement, e.n)
}

// formatted returns the bytes that the widths and precisions of a format require, each up to fmt's 1,000,000.
func formatted(args []reflect.Value) int {
	const most = 1_000_000
	directives, n := strings.Join(directive.FindAllString(args[0].String(), -1), " "), 0
	for _, width := range digits.FindAllString(directives, -1) {
		w, err := strconv.Atoi(width)
		if err != nil {
			w = most
		}
		n += min(w, most)
	}
	if stars := strings.Count(directives, "*"); stars > 0 {
		widest := 0
		for i := range args[1].Len() {
			if arg := args[1].Index(i).Elem(); arg.CanInt() {
				widest = max(widest, min(number(arg), most), min(-number(arg), most))
			}
		}
		n += times(stars, widest)
	}
	return n
}

// directive matches the part of a format's directive before its letter.
var directive, digits = regexp.MustCompile(`%[-+# 0-9.*\[\]]+`), regexp.MustCompile(`\d+`)

// Elements returns the number of values in a value of a template, up to a maximum; a list that others contain twice
// counts twice. It reports whether they are nested more than limits.Nesting deep, as in a map that contains itself.
func Elements(v reflect.Value, most int) (n int, deep bool) {
	e := elements{most: most}
	e.add(v, 0)
	return e.n, e.deep
}

type elements struct {
	n, most int
	deep    bool
}

func (e *elements) add(v reflect.Value, depth int) {
	if e.deep = e.deep || depth > limits.Nesting; e.deep || e.n > e.most {
		return
	}
	e.n++
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		e.n--
		if !v.IsNil() {
			e.add(v.Elem(), depth)
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 { // a file of the chart: deepCopy takes a microsecond for a byte
			e.n += v.Len() / 4
			return
		}
		for i := range v.Len() {
			e.add(v.Index(i), depth+1)
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			e.add(it.Value(), depth+1)
		}
	}
}

// overlap counts the values of from, and those of each map in it that into contains at the same key.
func (e *elements) overlap(into, from reflect.Value, depth int) {
	e.n++
	into, from = inside(into), inside(from)
	if into.Kind() != reflect.Map || from.Kind() != reflect.Map || into.Type().Key() != from.Type().Key() {
		return
	}
	if e.deep = e.deep || depth > limits.Nesting; e.deep || e.n > e.most {
		return
	}
	e.n += from.Len()
	for it := from.MapRange(); it.Next(); {
		e.overlap(into.MapIndex(it.Key()), it.Value(), depth+1)
	}
}

func inside(v reflect.Value) reflect.Value {
	for v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	return v
}

// lengthOf returns the number of a list's elements, and 0 for another value.
func lengthOf(list reflect.Value) int {
	list = inside(list)
	if list.Kind() != reflect.Slice && list.Kind() != reflect.Array {
		return 0
	}
	return list.Len()
}

func splitted(args []reflect.Value) int {
	return times(bytesOfElement, strings.Count(args[1].String(), args[0].String())+1)
}

// joined returns the bytes of the strings of a list, with the separator between them.
func joined(args []reflect.Value) int {
	list := inside(args[1])
	if list.Kind() != reflect.Slice {
		return 0
	}
	n := 0
	for i := range list.Len() {
		item := list.Index(i)
		if item.Kind() == reflect.Interface {
			item = item.Elem()
		}
		n += args[0].Len()
		if item.Kind() == reflect.String {
			n += item.Len()
		}
	}
	return n
}
