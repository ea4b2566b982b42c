#!/usr/bin/env bash
# Boots a stock Debian kernel that has sch_netem, without KVM and without touching this machine's
# network, and runs a program in it: for machines whose own kernel has no netem.
#
#   netem/guest.sh [--engine qemu|uml] [--timeout SECONDS] OUTDIR SCRIPT [FILE...]
#
# In the guest, SCRIPT (anything executable: #!/bin/sh, #!/bin/bash, a static binary) and the FILEs
# (folders too) lie in /work, where SCRIPT is started as root. What it leaves in /out is copied to
# OUTDIR, which must be new or empty, so that no older result can pass for a new one. Beside it:
#   OUTDIR/console    what the kernel and SCRIPT printed; it is also shown while it happens
#   OUTDIR/versions   kernel, iproute2, engine
#
# --engine    qemu (default): QEMU's emulation (TCG), two cores; quick system calls: for many packets.
#             uml: User-Mode Linux, one core; quick computing, slow system calls: for much cryptography.
# --timeout   seconds that SCRIPT may take; default 120. The guest then kills it, and still hands
#             over /out. A guest that has not ended 30 s later is killed.
#
# Exit status: SCRIPT's own; 124: SCRIPT took too long; 125: it could not be run, or the guest
# panicked or hung.
#
# Needs Debian on amd64 with qemu-system-x86 (for qemu) and iproute2; as root, they are installed when
# missing. Kernel, busybox and ethtool are fetched with apt-get at first use and kept, unpacked, in
# ${XDG_CACHE_HOME:-~/.cache}/samewire/netem: later runs need no network. Remove that folder to get
# newer ones. The guest's shells, iproute2 and libraries are this machine's own.
#
# For figures: nothing else may run on this machine's cores; give namespaces static neighbours, since
# ARP goes through netem, too; throw the first 300 packets away, since an emulator is slow where it comes
# the first time; delete a qdisc and add the next, since netem keeps what "replace" does not mention.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=netem/guest/packages.sh
. "$here/guest/packages.sh"
# shellcheck source=netem/guest/initramfs.sh
. "$here/guest/initramfs.sh"

readonly usage='usage: netem/guest.sh [--engine qemu|uml] [--timeout SECONDS] OUTDIR SCRIPT [FILE...]'
readonly grace=30    # seconds for booting and handing over results
readonly memory=1024 # MiB of the guest; /out lives in it, too

main() {
  parse_arguments "$@"
  check_arguments
  mkdir -p "$outdir"
  work=$(mktemp -d)
  trap clean_up EXIT
  # Being ended by a signal goes through the EXIT trap, too.
  trap 'exit 129' HUP
  trap 'exit 130' INT
  trap 'exit 143' TERM

  fetch_packages
  build_initramfs "$work/initrd"
  # The guest writes its results to a disk, as a tar archive. Both engines have disks, it takes no
  # file system, and nothing passes through it while SCRIPT runs.
  truncate -s "${memory}M" "$work/results"
  boot
  collect
}

die() {
  printf 'guest.sh: %s\n' "$*" >&2
  exit 125
}

parse_arguments() {
  engine=qemu limit=120
  while [[ ${1-} == -* ]]; do
    case $1 in
      --engine) engine=${2-} ;;
      --timeout) limit=${2-} ;;
      -h | --help)
        sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}"
        exit 0
        ;;
      *) die "unknown option $1; $usage" ;;
    esac
    shift $(($# > 1 ? 2 : 1))
  done
  [ $# -ge 2 ] || die "OUTDIR and SCRIPT are needed; $usage"
  outdir=$1 script=$2 files=("${@:2}")
}

check_arguments() {
  [[ $engine == qemu || $engine == uml ]] || die "--engine '$engine': allowed are qemu and uml"
  [[ $limit =~ ^[1-9][0-9]{0,5}$ ]] || die "--timeout '$limit': allowed are whole seconds from 1 to 999999"
  [ "$(dpkg --print-architecture 2>/dev/null)" = amd64 ] || die "needs Debian on amd64"
  [ -f "$script" ] || die "SCRIPT: $script is not a file"
  local file name
  local -A seen=()
  for file in "${files[@]}"; do
    [ -r "$file" ] || die "cannot read $file"
    name=$(basename "$file")
    [ -z "${seen[$name]-}" ] || die "two files are named $name; all of them go into one folder"
    seen[$name]=yes
  done
  if [ -e "$outdir" ] && [ -n "$(ls -A "$outdir")" ]; then
    die "OUTDIR: $outdir is not an empty folder; its files could be taken for new results"
  fi
}

# boot runs the guest until it ends by itself, or its time is up.
#
# An edit must keep: the engine leads a process group of its own, since User-Mode Linux is many
# processes; and only this shell holds the writing end of the guard's pipe, so that the guard kills that
# group however this shell ends, even by SIGKILL.
boot() {
  local deadline=$((limit + grace)) started=$SECONDS console pid
  local -a command
  engine_command
  ulimit -c 0 # User-Mode Linux aborts when its kernel panics
  exec {console}> >(show_console)
  pump=$!
  TMPDIR=$(uml_memory_folder) setsid "${command[@]}" </dev/null >&"$console" 2>&1 &
  pid=$!
  exec {console}>&-
  exec {guard}> >(guard_group "$pid" "$deadline")
  wait "$pid" 2>/dev/null || true # an engine says itself why it fails; the shell would add how it ended
  stop_guest
  hung=$((SECONDS - started >= deadline))
}

# engine_command sets command to the engine and its arguments.
engine_command() {
  case $engine in
    qemu)
      command=(qemu-system-x86_64 -accel "tcg,thread=multi" -cpu max -smp 2 -m "$memory"
        -nodefaults -no-user-config -display none -no-reboot -serial stdio
        -drive "file=$work/results,format=raw,if=virtio,cache=unsafe"
        -kernel "$kernel" -initrd "$work/initrd"
        -append "console=ttyS0 panic=-1 quiet tsc=reliable mitigations=off")
      ;;
    uml)
      command=("$kernel" "mem=${memory}M" "initrd=$work/initrd" "ubda=$work/results"
        con=null "con0=fd:0,fd:1" "umid=guest" "uml_dir=$work" panic=-1 quiet)
      ;;
  esac
}

# uml_memory_folder names where User-Mode Linux may keep its memory, a file that it maps: on a disk the
# kernel's writing it back would disturb the guest.
uml_memory_folder() {
  local shm=/dev/shm
  if [ -w $shm ] && ! findmnt -nro OPTIONS $shm | grep -qw noexec &&
    [ "$(df --output=avail -BM $shm | tr -dc 0-9)" -gt $((memory + 256)) ]; then
    printf %s $shm
  else
    printf %s "$work"
  fi
}

# show_console passes the guest's output on. A serial line ends its lines with CR LF.
show_console() {
  trap '' HUP INT TERM
  sed -u 's/\r$//' | tee "$outdir/console"
}

# guard_group kills the process group PID when standard input ends, or after SECONDS.
guard_group() {
  trap '' HUP INT TERM
  read -r -t "$2" _ || true
  kill -KILL -- "-$1" 2>/dev/null || true
}

# stop_guest makes the guard kill what is left of the guest, and waits for the end of its output.
stop_guest() {
  exec {guard}>&-
  wait "$pump" || true
  guard='' pump=''
}

# shellcheck disable=SC2317 # a trap calls it
clean_up() {
  [ -z "${guard-}" ] || stop_guest
  rm -rf "$work"
}

# collect unpacks the results and ends with SCRIPT's status.
collect() {
  # The status is the archive's last entry: where it is, everything is.
  local status
  if ! status=$(tar -xOf "$work/results" status 2>/dev/null) || [ -z "$status" ]; then
    give_up
  fi
  tar -xf "$work/results" --no-same-owner -C "$outdir" --strip-components=1 out
  {
    tar -xOf "$work/results" versions
    engine_version
    printf 'host: %s\n' "$(uname -sr)"
    printf 'date: %s\n' "$(date -u +%Y-%m-%dT%H:%M:%SZ)"
  } >"$outdir/versions"
  [ "$status" != timeout ] || {
    printf 'guest.sh: %s took longer than %s s and was killed\n' "$script" "$limit" >&2
    exit 124
  }
  exit "$status"
}

give_up() {
  local why panic
  if panic=$(grep -m 1 'Kernel panic' "$outdir/console"); then
    why="the guest panicked: $panic"
  elif ((hung)); then
    why="the guest hung: it did not end within $limit s for $script and $grace s for itself, and was killed"
  else
    why="the guest ended without handing over its results"
  fi
  printf 'guest.sh: %s\nguest.sh: the last lines of %s/console:\n' "$why" "$outdir" >&2
  tail -n 20 "$outdir/console" | sed 's/^/    /' >&2
  exit 125
}

engine_version() {
  case $engine in
    qemu) printf 'engine: qemu (TCG), %s\n' "$(qemu-system-x86_64 --version | head -n 1)" ;;
    uml) printf 'engine: uml\n' ;;
  esac
  sed 's/^/kernel package: /' "$kernel_package/package"
}

main "$@"
