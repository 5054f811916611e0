#!/usr/bin/env bash
# Makes OCI archives of the daemons, warptune-coordinator.tar and
# warptune-worker.tar, with Go and buildah: no daemon, no registry, no root, and
# images of the same digests from the same sources. Each is started once.
#
#   skopeo copy oci-archive:bin/images/warptune-worker.tar docker://registry.example/warptune-worker
#
# Usage: deploy/container/images.sh [DIR] [IMAGE...]; default: bin/images, coordinator
# and worker. IMAGE worker-clang brings clang for kernels of one's own in CUDA C++: it
# is made of Debian's packages, by mmdebstrap and apt, and wants root or user
# namespaces, and ten minutes.
set -euo pipefail
cd "$(dirname "$0")/../.."
out=$(realpath -m "${1:-bin/images}")
shift || true
[ $# -gt 0 ] || set -- coordinator worker
command -v buildah >/dev/null || { echo "images: no buildah: apt-get install buildah" >&2; exit 1; }

work=$(mktemp -d)
store=(buildah --root "$work/root" --runroot "$work/run" --storage-driver vfs)
finish() { buildah unshare rm -rf "$work" 2>/dev/null || rm -rf "$work"; }
trap finish EXIT
export BUILDAH_ISOLATION=chroot

mkdir -p "$work/context" "$out"
CGO_ENABLED=0 "${GO:-go}" build -trimpath -buildvcs=false -o "$work/context/" ./cmd/coordinator ./cmd/worker ./cmd/warptune

# debian makes an image of Debian from its packages, and says its name.
debian() {
  command -v mmdebstrap >/dev/null || { echo "images: no mmdebstrap: apt-get install mmdebstrap" >&2; exit 1; }
  mmdebstrap --quiet --variant=apt --include=ca-certificates trixie "$work/debian.tar" >&2
  container=$("${store[@]}" from scratch)
  "${store[@]}" add --quiet "$container" "$work/debian.tar" / >/dev/null
  "${store[@]}" commit --quiet "$container" localhost/debian:trixie >/dev/null
  "${store[@]}" rm "$container" >/dev/null
  rm "$work/debian.tar"
  echo localhost/debian:trixie
}

for image; do
  args=()
  [ "$image" != worker-clang ] || args=(--build-arg "DEBIAN=$(debian)")
  "${store[@]}" build --quiet --timestamp 0 "${args[@]}" -f deploy/container/Containerfile.static --target "$image" -t "warptune-$image" "$work/context" >/dev/null
  container=$("${store[@]}" from "warptune-$image")
  "${store[@]}" run "$container" -- "/usr/local/bin/${image%-clang}" --help >/dev/null 2>"$work/says" ||
    { echo "images: $image does not start in its image: $(tail -n 3 "$work/says")" >&2; exit 1; }
  [ "$image" != worker-clang ] || "${store[@]}" run "$container" -- clang++-19 --print-targets | grep -q nvptx64 ||
    { echo "images: clang in $image does not compile for NVIDIA's GPUs" >&2; exit 1; }
  "${store[@]}" rm "$container" >/dev/null
  rm -f "$out/warptune-$image.tar"
  "${store[@]}" push --quiet "warptune-$image" "oci-archive:$out/warptune-$image.tar:warptune-$image:latest"
  echo "images: $out/warptune-$image.tar, $(tar xOf "$out/warptune-$image.tar" index.json | grep -o 'sha256:[0-9a-f]*')"
done
