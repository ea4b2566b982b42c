#!/bin/bash
# Runs in the guest and checks that what a comparison with netem needs is there and works:
#
#   netem/guest.sh --timeout 600 OUTDIR netem/selftest.sh [bin/samewire]
#
# It ends with the number of failed checks; OUTDIR/selftest has them all.
#
# Of times only the shortest are judged: a busy host makes some longer, and none shorter.
# shellcheck disable=SC2317 # check calls the functions
set -uo pipefail

failed=0

# check NAME COMMAND... runs the command and notes whether it succeeded.
check() {
  local name=$1 said
  shift
  if said=$("$@" 2>&1); then
    set -- ok
  else
    set -- FAILED
    failed=$((failed + 1))
  fi
  printf '%-6s  %-30s %s\n' "$1" "$name" "${said//$'\n'/; }" | tee -a /out/selftest
}

in_a() { ip netns exec a "$@"; }
in_b() { ip netns exec b "$@"; }

# cable joins two namespaces a (10.0.0.1) and b (10.0.0.2) by a veth pair. The neighbours are static:
# finding them would take the first packet through netem twice.
cable() {
  ip netns add a &&
    ip netns add b &&
    ip link add v netns a address 02:00:00:00:00:01 type veth peer name v netns b address 02:00:00:00:00:02 &&
    in_a ip address add 10.0.0.1/24 dev v &&
    in_b ip address add 10.0.0.2/24 dev v &&
    in_a ip link set v up &&
    in_b ip link set v up &&
    in_a ip neighbour replace 10.0.0.2 lladdr 02:00:00:00:00:02 dev v nud permanent &&
    in_b ip neighbour replace 10.0.0.1 lladdr 02:00:00:00:00:01 dev v nud permanent
}

# clean removes the qdiscs. Replacing one by another of its kind would keep what the new words leave out:
# netem's reordering, corruption, rate and slots, and all counters.
clean() {
  in_a tc qdisc delete dev v root 2>/dev/null
  in_b tc qdisc delete dev v root 2>/dev/null
}

# round_trips COUNT prints round-trip times in ms, smallest first.
round_trips() {
  in_a ping -n -c "$1" -i 0.01 10.0.0.2 | sed -n 's/.*time=\([0-9.]*\) ms/\1/p' | sort -n
}

# describe reads sorted times and prints what they are.
describe() {
  awk '{ t[NR] = $1 }
    END { printf "min %.2f p50 %.2f p99 %.2f max %.2f ms of %d\n", t[1], t[int((NR + 1) / 2)], t[NR - int(NR / 100)], t[NR], NR }'
}

# shortest LEAST BELOW reads sorted times and describes them. It fails where the shortest is not in that range.
shortest() {
  local times
  times=$(cat)
  describe <<<"$times"
  awk -v least="$1" -v below="$2" '{ exit !($1 >= least && $1 < below) }' <<<"$times"
}

# bare: the cable without netem, for comparison.
bare() {
  round_trips 300 >/dev/null # an emulator's first times are longer: it translates the code then
  round_trips 100 | shortest 0 5
}

# delay: 20 ms each way are 40 ms.
delay() {
  clean
  in_a tc qdisc add dev v root netem delay 20ms
  in_b tc qdisc add dev v root netem delay 20ms
  round_trips 300 >/dev/null
  round_trips 100 | shortest 40 45
}

# jitter: the table of the normal distribution is found and used. 5 ms each way are sqrt(2) * 5 = 7.1 ms of the
# round trip's: 7.9 % are below 30 ms (none of 200: 7e-8), where netem's uniform jitter ends.
jitter() {
  clean
  in_a tc qdisc add dev v root netem delay 20ms 5ms distribution normal
  in_b tc qdisc add dev v root netem delay 20ms 5ms distribution normal
  round_trips 200 | shortest 5 30
}

# loss: Gilbert-Elliott with p = 1 %, r = 10 %: p / (p + r) = 9.1 % of the packets are lost, in runs of 1 / r = 10 on
# average. The count's variance is (2 - p - r) / (p + r) = 17 times that of independent losses: of 20000, 1818 +- 168
# (1 sigma). The packets are for an address that b does not have: no answers.
loss() {
  local dropped
  clean
  in_a tc qdisc add dev v root netem loss gemodel 1% 10% || return
  in_a ip neighbour replace 10.0.0.3 lladdr 02:00:00:00:00:02 dev v nud permanent
  in_a bash -c 'dd bs=100 count=20000 if=/dev/zero 2>/dev/null >/dev/udp/10.0.0.3/9'
  dropped=$(in_a tc -s qdisc show dev v | sed -n 's/.*(dropped \([0-9]*\),.*/\1/p')
  echo "$dropped of 20000 dropped"
  [ "$dropped" -gt 1146 ] && [ "$dropped" -lt 2490 ]
}

# rate: 250 kB at 1 Mbit/s take 2 s, less the first burst. The receiver's end is the end: the sender's data
# lie in its socket.
rate() {
  local start
  clean
  in_a tc qdisc add dev v root tbf rate 1mbit burst 1600 limit 30000 || return
  in_b nc -l -p 5000 >/tmp/received &
  sleep 0.5
  start=$(cut -d ' ' -f 1 /proc/uptime)
  in_a bash -c 'head -c 250000 /dev/zero >/dev/tcp/10.0.0.2/5000'
  wait $!
  awk -v start="$start" -v bytes="$(stat -c %s /tmp/received)" '{
      printf "%d bytes in %.2f s", bytes, $1 - start
      exit !(bytes == 250000 && $1 - start >= 1.9 && $1 - start < 10)
    }' /proc/uptime
}

# qdisc WORDS... sets a qdisc and finds it again.
qdisc() {
  clean
  in_a tc qdisc add dev v root "$@" && in_a tc qdisc show dev v | grep "^qdisc $1 "
}

# ingress redirects what arrives through an ifb device.
ingress() {
  clean
  in_a ip link add ifb0 type ifb &&
    in_a ip link set ifb0 up &&
    in_a tc qdisc replace dev v ingress &&
    in_a tc filter add dev v ingress matchall action mirred egress redirect dev ifb0 &&
    in_a tc qdisc replace dev ifb0 root netem delay 1ms &&
    in_a ping -n -q -c 3 -i 0.1 10.0.0.2 | grep -o '3 packets received'
}

offload() {
  in_a ethtool -K v tso off gso off gro off &&
    in_a ethtool -k v | grep -E -c '^(tcp-segmentation-offload|generic-segmentation-offload|generic-receive-offload): off' |
    grep -x 3 || return
  in_a ethtool -K v tso on && in_a ethtool -k v | grep '^tcp-segmentation-offload: on'
}

tun() { in_a ip tuntap add dev t0 mode tun && in_a ip -br link show t0; }

congestion() { in_a sysctl -w "net.ipv4.tcp_congestion_control=$1"; }

# preferred: programs of busybox that start others do not get in front of the real tc.
preferred() { sh -c 'timeout 5 env tc -V' | grep iproute2 && echo tc | xargs -I{} ip netns exec a {} -V | grep iproute2; }

# go_program: samewire's kernel site opens namespaces, /dev/net/tun, and TCP and UDP sockets.
go_program() {
  ./samewire run quick --site kernel --paths wired --loads cold --reps 1 --out /out/study >/out/study.log 2>&1 || return
  # The host decides whether a run is too late, and so invalid. That one failed, or that no packet passed, is a fault.
  grep -o '"attempt":[0-9]*,"outcome":"[^"]*"' /out/study/records.jsonl
  grep -q '"wire":{"up":{"packets":[1-9]' /out/study/records.jsonl &&
    ! grep -vE '"attempt":[0-9]*,"outcome":"(ok|invalid)"' /out/study/records.jsonl
}

check 'two namespaces, a veth pair' cable
check 'real tools' preferred
check 'bare veth pair' bare
check 'netem delay 20ms each way' delay
check 'netem delay 20ms 5ms normal' jitter
check 'netem loss gemodel 1% 10%' loss
check 'tbf rate 1mbit' rate
check 'netem, everything' qdisc netem delay 10ms 2ms 25% distribution pareto loss 1% duplicate 1% corrupt 0.1% reorder 25% 50% gap 5 rate 10mbit limit 1000
check 'netem slot' qdisc netem slot 800us 1000us packets 32
check codel qdisc codel limit 1000 target 5ms interval 100ms ecn
check fq_codel qdisc fq_codel limit 1000 target 5ms
check fq qdisc fq
check pfifo qdisc pfifo limit 100
check htb qdisc htb default 1
check 'ingress, mirred, ifb' ingress
check 'offload' offload
check tun tun
check bbr congestion bbr
check reno congestion reno
check 'ss asks the kernel' in_a ss -tiH
[ ! -e samewire ] || check 'samewire, site kernel' go_program
exit "$failed"
