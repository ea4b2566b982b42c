# What the guest is made of, by Debian's ordinary client. Sourced by guest.sh.
#
# Packages are unpacked into the cache, not installed: a kernel package would bring the hooks of a
# boot loader with it. Installed, and only as root, are programs that run on this machine.
# shellcheck shell=bash disable=SC2034,SC2154 # guest.sh and initramfs.sh share its names

cache=${XDG_CACHE_HOME:-${HOME:?}/.cache}/samewire/netem

# fetch_packages makes sure of everything that $engine needs. It sets:
#   busybox, ethtool   their programs
#   kernel             the kernel image, or User-Mode Linux's program
#   kernel_package     the cache's folder of the package with the kernel
#   modules            the folder with that kernel's modules.dep
fetch_packages() {
  local lock
  need_program ip iproute2
  need_program tc iproute2
  [ "$engine" != qemu ] || need_program qemu-system-x86_64 qemu-system-x86
  mkdir -p "$cache"
  exec {lock}>"$cache/lock"
  flock "$lock" # two first runs at once
  fetch busybox-static
  busybox=$(find_in busybox-static -path '*/bin/busybox')
  fetch ethtool
  ethtool=$(find_in ethtool -path '*/sbin/ethtool')
  case $engine in
    qemu)
      fetch linux-image-cloud-amd64
      kernel_package=$cache/linux-image-cloud-amd64
      kernel=$(find_in linux-image-cloud-amd64 -path '*/boot/vmlinuz-*')
      ;;
    uml)
      fetch user-mode-linux
      kernel_package=$cache/user-mode-linux
      kernel=$(find_in user-mode-linux -path '*/bin/linux.uml')
      ;;
  esac
  modules=$(dirname "$(find_in "${kernel_package##*/}" -path '*/modules/*/modules.dep')")
  exec {lock}>&-
}

# need_program PROGRAM PACKAGE installs what is missing, or says what to install.
need_program() {
  PATH=$PATH:/usr/sbin:/sbin command -v "$1" >/dev/null && return
  [ "$(id -u)" = 0 ] || die "$1 is missing: install the package $2"
  echo "guest.sh: installing $2" >&2
  local -a install=(apt-get install -y -qq --no-install-recommends "$2")
  DEBIAN_FRONTEND=noninteractive retry_with_new_lists "${install[@]}" >&2 || die "cannot install $2"
}

# fetch PACKAGE downloads and unpacks it to $cache/PACKAGE/root, with its name and version in
# $cache/PACKAGE/package. What is there already is left as it is.
fetch() {
  local name=$1 new=$cache/$1.new
  [ ! -d "$cache/$name" ] || return 0
  echo "guest.sh: fetching $name" >&2
  rm -rf "$new"
  mkdir "$new"
  (cd "$new" && retry_with_new_lists download "$name") >&2 || die "cannot download $name"
  # shellcheck disable=SC2016 # dpkg-deb fills them in
  dpkg-deb -W --showformat '${Package} ${Version}\n' "$new"/*.deb >"$new/package"
  dpkg-deb -x "$new"/*.deb "$new/root"
  rm "$new"/*.deb
  index_modules "$new/root"
  mv "$new" "$cache/$name" # whole, or not at all
}

# download PACKAGE gets the .deb into the current folder; for a package that only names the
# kernel of the day, that kernel's.
download() {
  local name=$1
  if [ "$name" = linux-image-cloud-amd64 ]; then
    name=$(apt-cache depends "$name" 2>/dev/null | sed -n 's/^ *Depends: \(linux-image-[0-9].*\)/\1/p')
    [ -n "$name" ] || return 1
  fi
  apt-get -qq -o APT::Sandbox::User=root download "$name"
}

# retry_with_new_lists runs a command, and once more after apt-get update when it fails: the lists
# may be missing, or name versions that are no longer there.
retry_with_new_lists() {
  "$@" && return
  [ "$(id -u)" = 0 ] || {
    echo "guest.sh: that failed; if the package lists are old or missing, run apt-get update as root" >&2
    return 1
  }
  apt-get -qq update && "$@"
}

# index_modules decompresses the kernel modules below a folder and writes modules.dep, which is
# otherwise done on installation.
index_modules() {
  local folder
  if [ -d "$1/usr/lib/uml/modules" ]; then
    mkdir -p "$1/lib"
    ln -s ../usr/lib/uml/modules "$1/lib/modules"
  fi
  find "$1" -name '*.ko.xz' -exec unxz {} +
  find "$1" -name '*.ko.zst' -exec unzstd -q --rm {} +
  for folder in "$1"/lib/modules/* "$1"/usr/lib/modules/*; do
    [ ! -d "$folder" ] || "$busybox" depmod -b "${folder%/lib/modules/*}" "${folder##*/}" ||
      die "cannot index the kernel modules in $folder"
  done
}

# find_in PACKAGE TEST... prints the file of an unpacked package that passes find's tests.
find_in() {
  local name=$1 found
  shift
  found=$(find "$cache/$name/root" -type f "$@" -print -quit)
  [ -n "$found" ] || die "$cache/$name has no file $* (remove that folder to fetch the package again)"
  printf '%s\n' "$found"
}
