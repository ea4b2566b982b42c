#!/usr/bin/env bash
# Compares samewire's own link with the kernel's netem: the paths of netem/paths are measured in a guest that has
# netem (guest.sh), on netem and on samewire's link, and here on samewire's link. Prints the three side by side, in
# Markdown, as docs/fidelity.md keeps them. Takes about ten minutes; nothing else should run meanwhile.
#
#   netem/compare.sh [--engine qemu|uml] OUTDIR [SAMEWIRE [TESTS]]
#
# OUTDIR must be new or empty. It gets what "link check --json" printed, and compare.md with the tables. SAMEWIRE
# (bin/samewire) must be linked statically. TESTS, if given, is the test binary of internal/site/kernel, likewise: its
# tests of netem are run in the guest first, which no machine without netem can run.
#
# Exit status: 0: everything could be measured, whether or not it is the same; 1: not.
#
# netem/paths has a line for each path: name | seconds (link check --seconds) | what is measured (--only) | checks
# that are printed | path | path that is made instead, and judged as if it were the former (--carry).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
engine=qemu
if [ "${1-}" = --engine ]; then
  engine=${2:?--engine needs a name}
  shift 2
fi
out=${1:?usage: netem/compare.sh [--engine qemu|uml] OUTDIR [SAMEWIRE [TESTS]]}
samewire=${2:-$here/../bin/samewire} tests=${3-}
if [ -e "$out" ] && [ -n "$(ls -A "$out")" ]; then
  echo "compare.sh: $out is not an empty folder" >&2
  exit 1
fi
mkdir -p "$out/here"

# The guest's part: tests, then measurements. Its own folder has everything side by side.
guest_script() {
  cat <<'SCRIPT'
#!/bin/bash
failed=0
if [ -e kernel.test ]; then
  SAMEWIRE_REQUIRE_NETEM=1 SAMEWIRE_REQUIRE_KERNEL=1 ./kernel.test -test.run 'Pair|Netem' -test.v >/out/tests 2>&1 || failed=1
  tail -n 1 /out/tests
fi
./measure.sh ./samewire paths /out netem tun || failed=1
exit $failed
SCRIPT
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
guest_script >"$work/script"
cp "$samewire" "$work/samewire"
files=("$here/measure.sh" "$here/paths" "$work/samewire")
if [ -n "$tests" ]; then
  cp "$tests" "$work/kernel.test"
  files+=("$work/kernel.test")
fi
status=0
"$here/guest.sh" --engine "$engine" --timeout 3600 "$out/guest" "$work/script" "${files[@]}" >&2 || status=1
if [ -n "$tests" ] && ! grep -qx PASS "$out/guest/tests"; then
  echo "compare.sh: tests failed in the guest:" >&2
  grep -v '^===' "$out/guest/tests" >&2 || true
fi
"$here/measure.sh" "$samewire" "$here/paths" "$out/here" tun >&2 || status=1

# table NAME CHECKS... prints what was measured of one path; what is missing is left out.
table() {
  local name=$1 column file
  local -a columns=()
  shift
  for column in "netem, guest=guest/$name.netem" "samewire, guest=guest/$name.tun" "samewire, here=here/$name.tun"; do
    file=$out/${column#*=}.json
    [ ! -s "$file" ] || columns+=("${column%%=*}=$file")
  done
  [ ${#columns[@]} -gt 0 ] || return 1
  "$samewire" link compare "${columns[@]}" --checks "$(IFS=, && echo "$*")"
}

tables() {
  local name checks path carry
  cat "$out/guest/versions"
  while IFS='|' read -r name _ _ checks path carry; do
    case $name in '#'* | '') continue ;; esac
    read -r name <<<"$name"
    read -r path <<<"$path"
    read -r carry <<<"${carry-}"
    printf '\n`%s`%s\n\n' "$path" "${carry:+, made as \`$carry\`}"
    # shellcheck disable=SC2086 # words
    table "$name" $checks || status=1
  done <"$here/paths"
}
tables >"$out/compare.md"
cat "$out/compare.md"
exit $status
