#!/usr/bin/env bash
# Tests guest.sh on this machine, with both engines or those named: that an exit status, a panic, a
# hang and a SCRIPT that takes too long are told apart, that results come out, that no process remains.
# About two minutes for each engine. selftest.sh checks what is inside the guest, and is run as well.
# shellcheck disable=SC2317 # expect calls the functions
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")" || exit
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0

# guest LIMIT LINE... runs the lines as a script in the guest, with a file of random bytes beside it.
guest() {
  local limit=$1
  shift
  write_script "$@"
  TMPDIR=$folder/tmp ./guest.sh --engine "$engine" --timeout "$limit" "$folder/out" "$folder/script" "$folder/random bytes" \
    >"$folder/log" 2>&1
  status=$?
}

# guest_ended_by SIGNAL ends guest.sh by it while SCRIPT runs.
guest_ended_by() {
  write_script 'echo running' 'sleep 1000'
  TMPDIR=$folder/tmp ./guest.sh --engine "$engine" "$folder/out" "$folder/script" >"$folder/log" 2>&1 &
  local pid=$! i
  for ((i = 0; i < 300; i++)); do
    ! says '^running' || break
    sleep 0.1
  done
  kill -s "$1" $pid
  wait $pid 2>/dev/null
  status=$?
}

write_script() {
  rm -rf "$folder/out" "$folder/tmp"
  mkdir "$folder/tmp"
  printf '%s\n' '#!/bin/sh' "$@" >"$folder/script"
}

# expect NAME COMMAND... notes whether the command succeeds, and shows guest.sh's output when not.
expect() {
  local name=$1 result=ok
  shift
  if ! "$@"; then
    result=FAILED
    failed=$((failed + 1))
    sed 's/^/        /' "$folder/log"
  fi
  printf '%-6s  %-5s %s\n' "$result" "$engine" "$name"
}

ended_with() { [ "$status" = "$1" ] || ! echo "        status $status"; }
says() { grep -q -- "$1" "$folder/log"; }
same() { cmp "$1" "$2"; }
has_line() { grep -q -- "$2" "$1"; }
nothing_left() { [ -z "$(ls "$folder/tmp")" ]; }

# no_process: none has a file of these guests on its command line. The guard needs a moment after a SIGKILL.
no_process() {
  local i
  echo "$folder/tmp/" >"$folder/pattern" # in a file: grep must not find itself
  for ((i = 0; i < 30; i++)); do
    grep -qsaF -f "$folder/pattern" /proc/[0-9]*/cmdline || return 0
    sleep 0.1
  done
  return 1
}

test_engine() {
  guest 60 'mkdir -p "/out/a folder" && cp "/work/random bytes" "/out/a folder/"; sleep 1000 & exit 7'
  expect 'the status is SCRIPT'\''s' ended_with 7
  expect 'results come out' same "$folder/random bytes" "$folder/out/a folder/random bytes"
  expect 'the kernel is named' has_line "$folder/out/versions" '^kernel: Linux [0-9]'
  expect 'iproute2 is named' has_line "$folder/out/versions" '^iproute2: tc utility'
  expect 'the engine is named' has_line "$folder/out/versions" "^engine: $engine"
  expect 'no process remains' no_process
  expect 'no file remains' nothing_left

  ./guest.sh --engine "$engine" "$folder/out" "$folder/script" >"$folder/log" 2>&1
  status=$?
  expect 'a folder with results is refused' ended_with 125

  guest 60 'exit 124'
  expect 'SCRIPT may end with 124' ended_with 124
  expect 'and that is no time limit' eval '! says "took longer"'

  local spin='sysctl -w kernel.sched_rt_runtime_us=-1; for i in 1 2; do chrt -f PRIORITY sh -c "while :; do :; done" & done'
  guest 5 'trap "" TERM' 'echo early >/out/early' "${spin/PRIORITY/50}" 'sleep 1000'
  expect 'SCRIPT takes too long, and all cores' ended_with 124
  expect 'that is said' says 'took longer than 5 s'
  expect 'what it left comes out' has_line "$folder/out/early" early

  guest 60 'echo before >/dev/console' 'echo c >/proc/sysrq-trigger' 'sleep 10'
  expect 'a panic' ended_with 125
  expect 'that is said' says 'guest.sh: .*Kernel panic'
  expect 'no process remains' no_process

  guest 5 "${spin/PRIORITY/99}" 'sleep 1000'
  expect 'a hang' ended_with 125
  expect 'that is said' says 'the guest hung'
  expect 'no process remains' no_process
  expect 'no file remains' nothing_left

  guest_ended_by TERM
  expect 'SIGTERM' ended_with 143
  expect 'no process remains' no_process
  expect 'no file remains' nothing_left
  guest_ended_by KILL
  expect 'no process remains after SIGKILL' no_process

  rm -rf "$folder/out"
  ./guest.sh --engine "$engine" "$folder/out" selftest.sh >"$folder/log" 2>&1
  status=$?
  expect 'selftest.sh' ended_with 0
}

head -c 20000000 /dev/urandom >"$folder/random bytes"
[ $# -gt 0 ] || set -- qemu uml
for engine in "$@"; do
  test_engine
done
[ $failed = 0 ] || echo "$failed failed"
exit $((failed > 0))
