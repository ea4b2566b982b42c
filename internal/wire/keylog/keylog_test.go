package keylog_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/samewire/samewire/internal/wire/hostile"
	"github.com/samewire/samewire/internal/wire/keylog"
)

func TestParse(t *testing.T) {
	a, b := strings.Repeat("0a", 32), strings.Repeat("0b", 32)
	log, err := keylog.Parse([]byte("# a comment\n" +
		"CLIENT_RANDOM " + a + " 0102\r\n" +
		"\n" +
		"SOME_NEW_LABEL " + a + " FFee\n" +
		"CLIENT_RANDOM " + a + "\n" + // line 5
		"CLIENT_RANDOM " + a + " 99\n" + // comes second: does not count
		"CLIENT_RANDOM " + b[1:] + "x 03\n" + // line 7
		"CLIENT_TRAFFIC_SECRET_0 " + b + " 04"))
	if err == nil || strings.Count(err.Error(), "\n") != 1 ||
		!strings.Contains(err.Error(), "line 5: want a label") || !strings.Contains(err.Error(), "line 7: client random") {
		t.Errorf("error %v", err)
	}
	randomA, randomB := [32]byte(bytes.Repeat([]byte{10}, 32)), [32]byte(bytes.Repeat([]byte{11}, 32))
	for _, tt := range []struct {
		label  string
		random [32]byte
		want   []byte
	}{
		{"CLIENT_RANDOM", randomA, []byte{1, 2}},
		{"SOME_NEW_LABEL", randomA, []byte{0xff, 0xee}},
		{"CLIENT_TRAFFIC_SECRET_0", randomB, []byte{4}},
		{"CLIENT_RANDOM", randomB, nil},
	} {
		if got := log.Secret(tt.label, tt.random); !bytes.Equal(got, tt.want) {
			t.Errorf("%s: %x, want %x", tt.label, got, tt.want)
		}
	}
	if all := log.All("CLIENT_RANDOM", 5); len(all) != 1 || all[0][0] != 1 {
		t.Errorf("all: %x", all)
	}
	if log.Len() != 3 || !log.Has(randomB) || log.Has([32]byte{}) {
		t.Errorf("%d secrets", log.Len())
	}
}

func TestParseNamesOnlySomeErrors(t *testing.T) {
	_, err := keylog.Parse([]byte(strings.Repeat("broken\n", 100)))
	if err == nil || !strings.HasSuffix(err.Error(), "84 more lines") {
		t.Errorf("error %v", err)
	}
}

func FuzzParse(tf *testing.F) {
	f := hostile.Wrap(tf)
	f.Add([]byte("CLIENT_RANDOM " + strings.Repeat("0a", 32) + " 0102\n# x\nbroken"))
	f.Fuzz(func(t *testing.T, data []byte) {
		log, _ := keylog.Parse(data)
		if lines := bytes.Count(data, []byte{'\n'}) + 1; log.Len() > lines {
			t.Errorf("%d secrets of %d lines", log.Len(), lines)
		}
	})
}
