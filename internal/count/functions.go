package count

import (
	"math"
	"reflect"
	"strings"
)

// sizes return the sizes in bytes of what functions of sprig and text/template create at once, which may be far more than
// their arguments.
var sizes = map[string]func(args []reflect.Value) int{
	"repeat": func(args []reflect.Value) int { return times(number(args[0]), args[1].Len()) },
	"indent": indented, "nindent": indented,
	"until":     func(args []reflect.Value) int { return times(bytesOfNumber, max(number(args[0]), -number(args[0]))) },
	"untilStep": stepped, "seq": sequence, "replace": replaced, "join": joined, "wrapWith": wrapped,
	"regexReplaceAll": matched, "regexReplaceAllLiteral": matched, "mustRegexReplaceAll": matched, "mustRegexReplaceAllLiteral": matched,
	"split": splitted, "splitList": splitted,
	"splitn": func(args []reflect.Value) int {
		return times(bytesOfText, min(max(number(args[1]), 0), args[2].Len()+1))
	},
}

// Bytes of a number, and of a string without its text.
const bytesOfNumber, bytesOfText = 8, 16

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

// sequence is for seq, whose arguments are the end, the start and the end, or the start, the step and the end.
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

// matched is for expressions that may match at every byte, with a replacement that repeats what they match.
func matched(args []reflect.Value) int { return times(args[1].Len()+1, args[2].Len()) }

// wrapped is for wrapWith: the number of lines is at most twice the text's length divided by the width.
func wrapped(args []reflect.Value) int {
	return times(2*args[2].Len()/max(number(args[0]), 1)+1, args[1].Len())
}

func splitted(args []reflect.Value) int {
	return times(bytesOfText, strings.Count(args[1].String(), args[0].String())+1)
}

// joined returns the bytes of the strings of a list, with what is put between them.
func joined(args []reflect.Value) int {
	list := args[1]
	for list.Kind() == reflect.Interface {
		list = list.Elem()
	}
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
