package wire

import (
	"reflect"
	"testing"
)

func TestSizeOfAnEntry(t *testing.T) {
	if n := reflect.TypeFor[entry]().Size(); n != entryBytes {
		t.Errorf("an entry has %d bytes, and the limits count %d", n, entryBytes)
	}
}
