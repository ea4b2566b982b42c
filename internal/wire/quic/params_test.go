package quic

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestParams(t *testing.T) {
	token := strings.Repeat("ab", 16)
	p, err := ReadParams(unhex(t, strings.Join([]string{
		"0002aabb", "01024e20", "0210" + token, "030245ac", "040105", "050102", "060103", "070104", "080105", "090106",
		"0a0105", "0b0114", "0c00", "0d2d", "c61200020050", strings.Repeat("00", 18), "0401020304" + token,
		"0e0108", "0f00", "1001cc", "11086b3343cf00000001", "200244b0", "6ab200", "1b00",
	}, "")))
	if err != nil {
		t.Fatal(err)
	}
	tok := [16]byte(unhex(t, token))
	want := &Params{
		OriginalDestination: []byte{0xaa, 0xbb}, InitialSource: []byte{}, RetrySource: []byte{0xcc}, ResetToken: tok[:],
		MaxIdleTimeout: 3616 * time.Millisecond, MaxUDPPayloadSize: 1452, InitialMaxData: 5,
		InitialMaxStreamDataBidiLocal: 2, InitialMaxStreamDataBidiRemote: 3, InitialMaxStreamDataUni: 4,
		InitialMaxStreamsBidi: 5, InitialMaxStreamsUni: 6, AckDelayExponent: 5, MaxAckDelay: 20 * time.Millisecond,
		DisableActiveMigration: true, ActiveConnectionIDLimit: 8, MaxDatagramFrameSize: 1200, GreaseQUICBit: true,
		PreferredAddress: &PreferredAddress{IPv4: netip.MustParseAddrPort("198.18.0.2:80"), ID: []byte{1, 2, 3, 4}, ResetToken: tok},
		ChosenVersion:    Version2, AvailableVersions: []uint32{Version1},
	}
	if diff := cmp.Diff(want, p, cmpopts.EquateComparable(netip.AddrPort{})); diff != "" {
		t.Error(diff)
	}
}

func TestBadParams(t *testing.T) {
	for digits, want := range map[string]string{
		"04":           "it ends beyond the extension",
		"040241":       "it ends beyond the extension",
		"04014f":       "it is not one number",
		"04020501":     "it is not one number",
		"0401050401":   "it ends beyond the extension",
		"040105040105": "it is there twice",
		"030101":       "1; 1200 to 4611686018427387903 are allowed",
		"0a0115":       "21; 0 to 20 are allowed",
		"0e0101":       "1; 2 to 4611686018427387903 are allowed",
		"0c0100":       "1 bytes; it has no value",
		"0201aa":       "1 bytes; 16 are allowed",
		"110200":       "it ends beyond the extension",
		"0d00":         "its length does not fit",
	} {
		if _, err := ReadParams(unhex(t, digits)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", digits, err, want)
		}
	}
	p, err := ReadParams(nil)
	if err != nil || p.MaxUDPPayloadSize != 65527 || p.AckDelayExponent != 3 || p.MaxAckDelay != 25*time.Millisecond || p.ActiveConnectionIDLimit != 2 {
		t.Errorf("the defaults: %+v, %v", p, err)
	}
}
