package main

import (
	_ "embed"
	"fmt"
	"strings"
)

// operatorText has the messages of the rules in the Flux Operator's definitions.
//
//go:embed operator.rules
var operatorText string

// operatorMessages returns the messages of operator.rules by rule.
func operatorMessages() (map[string]string, error) {
	messages := map[string]string{}
	for line := range strings.Lines(operatorText) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		rule, message, ok := strings.Cut(line, " :: ")
		if !ok {
			return nil, fmt.Errorf("operator.rules: %q is not RULE :: MESSAGE", line)
		}
		messages[rule] = message
	}
	return messages, nil
}

// readOperatorCRDs returns the schemas of the Flux Operator's own kinds, with the messages of operator.rules.
func readOperatorCRDs(data []byte) ([]schema, error) {
	found, err := readCRDs(data)
	if err != nil {
		return nil, err
	}
	messages, err := operatorMessages()
	if err != nil {
		return nil, err
	}
	for _, s := range found {
		if err := setMessages(s.Schema, messages); err != nil {
			return nil, fmt.Errorf("%s: %w", s.Kind, err)
		}
	}
	return found, nil
}

// setMessages replaces the message of each rule in a schema, at all levels.
func setMessages(at any, messages map[string]string) error {
	switch at := at.(type) {
	case []any:
		for _, item := range at {
			if err := setMessages(item, messages); err != nil {
				return err
			}
		}
	case map[string]any:
		if rules, ok := at["x-kubernetes-validations"].([]any); ok {
			for _, r := range rules {
				if err := setMessage(r, messages); err != nil {
					return err
				}
			}
		}
		for _, value := range at {
			if err := setMessages(value, messages); err != nil {
				return err
			}
		}
	}
	return nil
}

func setMessage(rule any, messages map[string]string) error {
	fields, ok := rule.(map[string]any)
	if !ok {
		return fmt.Errorf("the rule %v is not an object", rule)
	}
	expression, _ := fields["rule"].(string)
	message, ok := messages[expression]
	if !ok {
		return fmt.Errorf("operator.rules has no message for the rule %s", expression)
	}
	if _, ok := fields["messageExpression"]; ok {
		return fmt.Errorf("the rule %s has a messageExpression", expression)
	}
	fields["message"] = message
	return nil
}
