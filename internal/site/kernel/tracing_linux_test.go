package kernel

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestProgramsLeaveTheirSecrets holds that every program of a host is told where
// to, that the site has what both sides wrote, and that nothing stays.
func TestProgramsLeaveTheirSecrets(t *testing.T) {
	requireKernel(t)
	t.Setenv("SSLKEYLOGFILE", "/nonexistent/of-another-program")
	t.Setenv("QLOGDIR", "/nonexistent/of-another-program")
	for _, qlog := range []bool{false, true} {
		hosts, err := (&Site{QLog: qlog}).Open(t.Context(), runOn(time.Millisecond, 0))
		if err != nil {
			t.Fatal(err)
		}
		for _, host := range []*Host{hosts.client, hosts.server} {
			out, err := host.Command(t.Context(), "sh", "-c", `
				echo "CLIENT_RANDOM 01 02" >> "$SSLKEYLOGFILE"; echo "EXPORTER_SECRET 01 $$" >> "$SSLKEYLOGFILE"
				test -z "$QLOGDIR" || echo {} > "$QLOGDIR/q.sqlog"; echo "qlog:$QLOGDIR"`).Output()
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.TrimSpace(string(out)) != "qlog:"; got != qlog || bytes.Contains(out, []byte("another")) {
				t.Errorf("qlog %v: the program was told %q", qlog, out)
			}
		}
		lines := strings.Split(strings.TrimSpace(string(hosts.tracings.secrets())), "\n")
		if len(lines) != 3 || lines[0] != "CLIENT_RANDOM 01 02" {
			t.Errorf("secrets %q, want the line of both sides once and one more of each", lines)
		}
		dir := hosts.tracings.dir
		if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("the folder of the secrets: %v, %v", info, err)
		}
		if err := hosts.Close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the folder of the secrets is still there: %v", err)
		}
	}
}

func TestNoSecretsStayWhereOpenFails(t *testing.T) {
	requireKernel(t)
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	run := runOn(0, 0)
	run.Cell.Stack.CC = "no such"
	if _, err := (&Site{}).Open(t.Context(), run); err == nil {
		t.Fatal("opened with a congestion control that does not exist")
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestOnlyPlainFilesOfBoundedSizeAreRead(t *testing.T) {
	dir := t.TempDir()
	plain, link := filepath.Join(dir, "plain"), filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(plain, []byte("0123456789"), 0o600), os.Symlink(plain, link)); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{plain: "0123", filepath.Join(dir, "absent"): "", link: "error", dir: "error"} {
		b, err := readPlain(name, 4)
		got := string(b)
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("%s: %s", filepath.Base(name), fmt.Sprint(got, err))
		}
	}
}
