package lab

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// The keys of a way's JSON besides the words.
const (
	rulesKey  = "rules"        // a list of rules, in their order
	traceKey  = "trace"        // the name of the file
	digestKey = "trace_sha256" // its content's
)

// MarshalJSON writes the way as its notation's words, each with its value's
// text: {"delay":"20ms","rate":"100mbit","loss":"1%"}. What the way has not is
// left out. Of a trace the digest is written, not the content.
func (w Way) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	var err error
	field := func(key string, v any) {
		b, e := json.Marshal(v)
		if e != nil {
			err = e
		}
		if out.Len() > 0 {
			out.WriteByte(',')
		}
		fmt.Fprintf(&out, "%q:%s", key, b)
	}
	for _, word := range Words() {
		switch text := word.Text(w); {
		case text == "":
		case word.Flag:
			field(word.Name, true)
		default:
			field(word.Name, text)
		}
	}
	if w.Trace != (Trace{}) {
		field(traceKey, w.Trace.Name)
		field(digestKey, w.Trace.digest())
	}
	if w.Rules != "" {
		field(rulesKey, w.Rules.List())
	}
	return []byte("{" + out.String() + "}"), err
}

// UnmarshalJSON reads what MarshalJSON wrote, and what format 1 had: loss as a
// number from 0 to 1, mtu as a number, 0 for the default.
func (w *Way) UnmarshalJSON(b []byte) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(b, &fields); err != nil {
		return err
	}
	*w = Way{}
	for _, word := range Words() {
		raw, ok := fields[word.Name]
		if !ok {
			continue
		}
		if err := w.setJSON(word, raw); err != nil {
			return fmt.Errorf("%s: %w", word.Name, err)
		}
	}
	if err := w.setTrace(fields); err != nil {
		return fmt.Errorf("trace: %w", err)
	}
	if raw, ok := fields[rulesKey]; ok {
		if err := w.setRules(raw); err != nil {
			return fmt.Errorf("rules: %w", err)
		}
	}
	return nil
}

func (w *Way) setJSON(word Word, raw json.RawMessage) error {
	if word.Flag {
		return word.Set(w, string(raw))
	}
	if raw[0] != '"' {
		switch word.Name {
		case "loss":
			return w.setLossNumber(raw)
		case "mtu":
			return w.setMTUNumber(raw)
		}
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return err
	}
	return word.Set(w, text)
}

// setLossNumber reads format 1's loss.
func (w *Way) setLossNumber(raw json.RawMessage) error {
	var p float64
	if err := json.Unmarshal(raw, &p); err != nil {
		return err
	}
	if p < 0 || p > 1 {
		return fmt.Errorf("%v: must be from 0 to 1", p)
	}
	w.Loss.Share = p
	return nil
}

// setMTUNumber reads format 1's mtu.
func (w *Way) setMTUNumber(raw json.RawMessage) error {
	var n int
	if err := json.Unmarshal(raw, &n); err != nil {
		return err
	}
	if n != 0 && (n < MinMTU || n > MaxMTU) {
		return fmt.Errorf("%d: must be 0, or from %d to %d", n, MinMTU, MaxMTU)
	}
	w.MTU = n
	return nil
}

func (w *Way) setTrace(fields map[string]json.RawMessage) error {
	raw, ok := fields[traceKey]
	if !ok {
		return nil
	}
	if err := json.Unmarshal(raw, &w.Trace.Name); err != nil {
		return err
	}
	w.Trace.Kind = traceKind(w.Trace.Name)
	if fields[digestKey] == nil {
		return errors.New(digestKey + " is missing")
	}
	return json.Unmarshal(fields[digestKey], &w.Trace.SHA256)
}

func (w *Way) setRules(raw json.RawMessage) error {
	var list []string
	if err := json.Unmarshal(raw, &list); err != nil {
		return err
	}
	for i, text := range list {
		rule, err := ParseRule(text)
		if err != nil {
			return err
		}
		list[i] = rule.String()
	}
	w.Rules = JoinRules(list)
	return nil
}
