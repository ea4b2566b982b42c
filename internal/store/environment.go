package store

import (
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/samewire/samewire/internal/lab"
	"golang.org/x/sys/unix"
)

// Environment is the machine on which a study was measured. What could not be
// read is empty, zero or absent from Sysctls. Nothing names the machine or its
// owner.
type Environment struct {
	Format   int    `json:"format"`
	Samewire string `json:"samewire"`
	Revision string `json:"revision"` // of samewire's source, when the build knew it
	Go       string `json:"go"`
	OS       string `json:"os"`   // as Go names it: linux, darwin
	Arch     string `json:"arch"` // as Go names it: amd64, arm64
	Kernel   string `json:"kernel"`
	CPU      string `json:"cpu"` // model
	Cores    int    `json:"cores"`
	Memory   int64  `json:"memory"` // bytes
	// Governor is the frequency governor of the first core.
	Governor string            `json:"governor"`
	Sysctls  map[string]string `json:"sysctls"` // by name, such as net.core.rmem_max
}

// sysctls are the kernel's settings that a result can depend on.
var sysctls = []string{
	"net.core.default_qdisc",
	"net.core.netdev_max_backlog",
	"net.core.rmem_default",
	"net.core.rmem_max",
	"net.core.wmem_default",
	"net.core.wmem_max",
	"net.ipv4.tcp_allowed_congestion_control",
	"net.ipv4.tcp_available_congestion_control",
	"net.ipv4.tcp_congestion_control",
	"net.ipv4.tcp_ecn",
	"net.ipv4.tcp_moderate_rcvbuf",
	"net.ipv4.tcp_mtu_probing",
	"net.ipv4.tcp_no_metrics_save",
	"net.ipv4.tcp_notsent_lowat",
	"net.ipv4.tcp_rmem",
	"net.ipv4.tcp_sack",
	"net.ipv4.tcp_slow_start_after_idle",
	"net.ipv4.tcp_timestamps",
	"net.ipv4.tcp_window_scaling",
	"net.ipv4.tcp_wmem",
	"net.ipv4.udp_mem",
	"net.ipv4.udp_rmem_min",
}

// ReadEnvironment reads what this machine says of itself.
func ReadEnvironment() Environment {
	env := Environment{
		Format: lab.FormatVersion, Samewire: lab.Version, Revision: revision(),
		Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH,
		Kernel: kernel(), CPU: cpuModel(), Cores: runtime.NumCPU(), Memory: memory(),
		Governor: readLine("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
		Sysctls:  map[string]string{},
	}
	for _, name := range sysctls {
		if v := readLine(filepath.Join("/proc/sys", strings.ReplaceAll(name, ".", "/"))); v != "" {
			env.Sysctls[name] = v
		}
	}
	return env
}

func revision() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	var revision, modified string
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			modified = "+modified"
		}
	}
	return revision + modified
}

func kernel() string {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return ""
	}
	return unix.ByteSliceToString(u.Sysname[:]) + " " + unix.ByteSliceToString(u.Release[:])
}

// readLine returns the words of a one-line file, or nothing.
func readLine(name string) string {
	b, err := os.ReadFile(name)
	if err != nil {
		return ""
	}
	return strings.Join(strings.Fields(string(b)), " ")
}
