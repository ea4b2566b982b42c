package lab

import "encoding/json"

// plainWay is a Way without its methods.
type plainWay Way

// MarshalJSON writes a way without loss.
func (w Way) MarshalJSON() ([]byte, error) { return json.Marshal(plainWay(w)) }

// UnmarshalJSON reads what MarshalJSON wrote.
func (w *Way) UnmarshalJSON(b []byte) error { return json.Unmarshal(b, (*plainWay)(w)) }
