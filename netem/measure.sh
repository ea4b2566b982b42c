#!/bin/bash
# Measures every path of the file "paths" beside it (see compare.sh) on the backends named, with the samewire
# beside it, into OUTDIR/NAME.BACKEND.json. Runs on any machine; compare.sh runs it in the guest, too.
#
#   measure.sh SAMEWIRE PATHS OUTDIR BACKEND...
#
# It ends with the number of measurements that failed. That a path is not what it claims is no failure.
set -uo pipefail
samewire=$1 paths=$2 out=$3 backends=("${@:4}")
failed=0

trim() { sed 's/^ *//; s/ *$//'; }

while IFS='|' read -r name seconds parts _ path carry; do
  case $name in '#'* | '') continue ;; esac
  name=$(trim <<<"$name") path=$(trim <<<"$path") carry=$(trim <<<"${carry-}")
  command=(link check --json --path "$path" --seconds "$(trim <<<"$seconds")" --only "$(trim <<<"$parts")")
  [ -z "$carry" ] || command+=(--carry "$carry")
  for backend in "${backends[@]}"; do
    echo "$name on $backend"
    "$samewire" "${command[@]}" --backend "$backend" >"$out/$name.$backend.json" 2>"$out/$name.$backend.said"
    status=$?
    if [ $status != 0 ] && ! grep -q '"checks": \[' "$out/$name.$backend.json"; then
      echo "$name on $backend: exit status $status: $(cat "$out/$name.$backend.said")" >&2
      failed=$((failed + 1))
    fi
  done
done <"$paths"
exit $failed
