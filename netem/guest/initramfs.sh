# The guest's root file system, as an initramfs. Sourced by guest.sh.
#
# It is built anew each time, in less than a second, from the packages and this machine's programs:
# nothing to go stale. It is not compressed, since emulated unpacking takes longer than reading.
# shellcheck shell=bash disable=SC2154 # guest.sh and packages.sh set the names it takes

# Modules that are loaded before SCRIPT runs. A kernel that has one of them neither as a module nor built in
# will not do.
readonly needed_modules='sch_netem sch_tbf sch_fq sch_codel sch_fq_codel veth tun ipv6 tcp_cubic tcp_bbr'

# More modules, for the guest's kernel to load on demand: all qdiscs, filters and actions, all
# congestion controls, what ss asks.
readonly more_modules='kernel/net/sched/.* kernel/net/ipv4/tcp_.* .*/[a-z]*_diag kernel/drivers/net/ifb kernel/drivers/net/dummy kernel/net/bridge/bridge'

# Programs from this machine. busybox has many of them, too, but its shell and its programs that start
# others (timeout, env, xargs ...) prefer its own lesser ip and tc to those in PATH, and its awk knows no sqrt.
readonly programs='bash dash awk ip tc ss nstat bridge env nice nohup setsid stdbuf taskset chrt timeout unshare nsenter xargs'

# build_initramfs FILE builds it from $busybox, $ethtool, $modules, $script, $files.
build_initramfs() {
  local root=$work/root program
  mkdir -p "$root"/{bin,etc,lib,lib64,dev,proc,sys,tmp,run,var,out,work,root}
  # One folder for all programs and one for libraries, whatever /usr is here.
  ln -s bin "$root/sbin"
  ln -s . "$root/usr"
  ln -s ../run "$root/var/run"
  add_busybox
  for program in $programs; do
    add_program "$program"
  done
  add_program "$ethtool"
  ln -sf dash "$root/bin/sh"
  add_tables
  add_modules
  add_work
  install -m 755 "$here/guest/init" "$root/init"
  (cd "$root" && find . -print0 | "$busybox" cpio -0 -o -H newc -R 0:0 >"$1" 2>"$work/cpio.log") ||
    die "cannot pack the initramfs: $(cat "$work/cpio.log")"
  rm -rf "$root"
}

# add_busybox provides what no real program does, ping among it.
add_busybox() {
  local applet
  for applet in $("$busybox" --list); do
    ln -s busybox "$root/bin/$applet"
  done
  cp --remove-destination "$busybox" "$root/bin/busybox"
}

# add_program NAME copies a program and the libraries that it needs.
add_program() {
  local path library
  path=$(PATH=$PATH:/usr/sbin:/sbin command -v "$1") || die "$1 is missing on this machine"
  cp -L --remove-destination "$path" "$root/bin/"
  for library in $(ldd "$path" | grep -o '/[^ ]*'); do
    [ -e "$root$library" ] || install -D -m 755 "$library" "$root$library"
  done
}

# add_tables copies netem's distributions and iproute2's names to the paths where tc expects them.
add_tables() {
  local file
  for file in $(dpkg -L iproute2 | grep -E '\.dist$|/(etc|share)/iproute2/'); do
    [ ! -f "$file" ] || install -D -m 644 "$file" "$root$file"
  done
  [ -n "$(find "$root" -name normal.dist)" ] || die "iproute2 here has no table normal.dist for netem"
}

# add_modules copies modules with those that they depend on, and lists in /etc/modules what to load
# at the start.
add_modules() {
  local version=${modules##*/} needed=$needed_modules name
  local to=$root/lib/modules/$version
  mkdir -p "$to"
  cp "$modules"/modules.{order,builtin}* "$to/"
  [ "$engine" != qemu ] || needed="$needed virtio_pci virtio_blk"
  for name in $needed; do
    if add_module ".*/$name"; then
      echo "$name"
    elif ! grep -q "/$name\.ko" "$modules/modules.builtin"; then
      die "the kernel $version has no module $name"
    fi
  done >"$root/etc/modules"
  for name in $more_modules; do
    add_module "$name" || true # built in, or not there
  done
  "$busybox" depmod -b "$root" "$version" || die "cannot index the guest's modules"
}

# add_module PATTERN copies the modules whose path matches, with what they depend on: a line of
# modules.dep is "module: module module ...", and complete. It fails when there are none.
add_module() {
  local file
  local -a found=()
  read -ra found -d '' < <(sed -n "s|^\($1\.ko\):|\1|p" "$modules/modules.dep") || true
  [ ${#found[@]} -gt 0 ] || return 1
  for file in "${found[@]}"; do
    [ -e "$to/$file" ] || install -D -m 644 "$modules/$file" "$to/$file"
  done
}

# add_work puts SCRIPT and the files into /work, and what init must know into /etc/guest.
add_work() {
  local name
  name=$(basename "$script")
  cp -RL --preserve=mode,timestamps -- "${files[@]}" "$root/work/"
  chmod +x "$root/work/$name"
  printf '%s\n' "$limit" "./$name" >"$root/etc/guest"
}
