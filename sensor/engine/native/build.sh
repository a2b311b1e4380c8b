#!/bin/sh
# Builds the engine: the BPF object, its skeleton, and one static program that carries it. Needs Debian's clang, bpftool,
# libbpf-dev, libelf-dev, zlib1g-dev and gcc. The result and its SHA-256 are committed, so that a node needs none of them; with --keep
# what is committed stays as it is and the result lies in build/ only.
set -eu
cd "$(dirname "$0")"
if [ "$(uname -m)" != x86_64 ]; then
  echo "the engine is built for x86_64 only; this is $(uname -m), where the Sensor uses the procfs engine" >&2
  exit 1
fi
mkdir -p build
for object in engine policy; do
  clang -g -O2 -Wall -Werror -Wno-gnu-variable-sized-type-not-at-end -Wno-visibility -target bpf -mcpu=v3 \
    -ffile-prefix-map="$PWD"=. -fdebug-compilation-dir=. -c "bpf/$object.bpf.c" -o "build/$object.bpf.o"
  llvm-strip -g "build/$object.bpf.o"
  bpftool gen skeleton "build/$object.bpf.o" name "${object}_bpf" > "build/$object.skel.h"
done
printf '#include <asm/unistd.h>\n' | gcc -E -dM - |
  sed -n 's/^#define __NR_\([a-z0-9_]*\) \([0-9]*\)$/{ "\1", \2 },/p' | LC_ALL=C sort > build/syscall-numbers.h
gcc -std=gnu11 -Os -Wall -Wextra -Werror -fstack-protector-strong -D_FORTIFY_SOURCE=2 -D_GNU_SOURCE -Isrc -Ibuild \
  -ffunction-sections -fdata-sections -ffile-prefix-map="$PWD"=. "${CC_LINK:--static}" -Wl,--gc-sections -Wl,--build-id=none -s \
  src/*.c -o build/ebpf-engine -lbpf -lelf -lz
[ "${1:-}" != --keep ] || exit 0
cp build/ebpf-engine ebpf-engine-x86_64
sha256sum ebpf-engine-x86_64 > ebpf-engine-x86_64.sha256
ls -l ebpf-engine-x86_64
