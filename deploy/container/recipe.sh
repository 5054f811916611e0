#!/usr/bin/env bash
# Builds the images of Containerfile as they are, with buildah and without their
# registries: in place of Go's image stand this machine's Go and a busybox, in place of
# distroless static what is in it that the daemons use (a user and certificates).
# What it shows is that every stage builds and the programs start, as that user.
#
# Usage: deploy/container/recipe.sh, a minute of processor time; wants root or user namespaces, and busybox-static.
set -euo pipefail
cd "$(dirname "$0")/../.."
for tool in buildah busybox; do
  command -v "$tool" >/dev/null || { echo "recipe: no $tool: apt-get install buildah busybox-static" >&2; exit 1; }
done
work=$(mktemp -d)
store=(buildah --root "$work/root" --runroot "$work/run" --storage-driver vfs)
finish() { chmod -R u+w "$work" 2>/dev/null || true; buildah unshare rm -rf "$work" 2>/dev/null || rm -rf "$work"; }
trap finish EXIT
export BUILDAH_ISOLATION=chroot
certificates=/etc/ssl/certs/ca-certificates.crt

# image NAME DIR [CONFIG…] makes an image of a directory.
image() {
  container=$("${store[@]}" from scratch)
  "${store[@]}" add --quiet "$container" "$2" / >/dev/null
  "${store[@]}" config "${@:3}" "$container"
  "${store[@]}" commit --quiet "$container" "$1" >/dev/null
  "${store[@]}" rm "$container" >/dev/null
}

mkdir -p "$work"/{base,go}/{tmp,etc/ssl/certs} "$work"/go/{bin,usr/local,cache}
cp "$certificates" "$work/base/etc/ssl/certs/"
cp "$certificates" "$work/go/etc/ssl/certs/"
echo 'nonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin' >"$work/base/etc/passwd"
image localhost/static:nonroot "$work/base" --user 65532
cp "$(command -v busybox)" "$work/go/bin/busybox"
ln -s busybox "$work/go/bin/sh"
cp -r "$(go env GOROOT)" "$work/go/usr/local/go"
image localhost/golang:latest "$work/go" --env PATH=/usr/local/go/bin:/bin --env HOME=/cache --env GOTOOLCHAIN=local --env GOFLAGS=-buildvcs=false

for target in coordinator worker; do
  "${store[@]}" build --quiet --layers --pull=never --volume "$(go env GOMODCACHE):/cache/go/pkg/mod" --volume "$(go env GOCACHE):/cache/.cache/go-build" \
    --build-arg GO=localhost/golang:latest --build-arg BASE=localhost/static:nonroot -f deploy/container/Containerfile --target "$target" -t "$target" . >/dev/null
  container=$("${store[@]}" from "$target")
  [ "$("${store[@]}" inspect --format '{{.OCIv1.Config.User}}' "$container")" = 65532:65532 ] || { echo "recipe: $target does not run as nonroot" >&2; exit 1; }
  "${store[@]}" run "$container" -- "/usr/local/bin/$target" --help >/dev/null 2>&1 || { echo "recipe: $target does not start" >&2; exit 1; }
  "${store[@]}" rm "$container" >/dev/null
  echo "recipe: $target builds and starts"
done
