#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Builds controlplane (kube-apiserver with etcd), kubectl, helm, metricscheck and loadgen, the load of
# tests/bench, from the modules pinned in go.mod; with --old-kubectl the kubectl of
# kubectl-old/go.mod instead, as kubectl-old.
# Usage: build.sh [--out DIR] [--force] [--old-kubectl]
#
# Does nothing when nothing has changed: DIR/stamp holds a hash of all that goes into the programs.
# Else it runs the module's unit tests too.
# With a Go older than go.mod asks for, it fetches the right one as a Go module.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
out=$here/../../build/controlplane/bin
force=no
module=.
packages=./cmd/...
programs="controlplane kubectl helm metricscheck loadgen"
stamp=stamp

fail() {
    echo "build.sh: $*" >&2
    exit 1
}

while [ $# -gt 0 ]; do
    case $1 in
    --out)
        [ $# -ge 2 ] || fail "--out needs a directory"
        out=$2
        shift
        ;;
    --force) force=yes ;;
    --old-kubectl)
        module=kubectl-old
        packages=.
        programs=kubectl-old
        stamp=stamp.old
        ;;
    -h | --help)
        sed -n '4,11s/^# \{0,1\}//p' "$0"
        exit 0
        ;;
    *) fail "unknown argument '$1'; see --help" ;;
    esac
    shift
done

mkdir -p "$out"
out=$(cd "$out" && pwd)
cd "$here/$module"

# Two callers at once would both build; the second one waits and finds the work done.
exec 9>"$out/$stamp.lock"
flock 9

hash_of_all() {
    {
        find . -path ./kubectl-old -prune -o -name '*.go' -print0
        printf '%s\0' ./go.mod ./go.sum "$here/build.sh"
    } | sort -z | xargs -0 sha256sum | sha256sum | cut -d ' ' -f 1
}

up_to_date() {
    [ $force = no ] && [ -e "$out/$stamp" ] && [ "$(cat "$out/$stamp")" = "$wanted_stamp" ] || return 1
    for program in $programs; do
        [ -x "$out/$program" ] || return 1
    done
}

wanted_stamp=$(hash_of_all)
if up_to_date; then
    exit 0
fi

# ---- a Go that is new enough

go_directive=$(awk '$1 == "go" { print $2; exit }' go.mod)
toolchain=$(awk '$1 == "toolchain" { print $2; exit }' go.mod)

# 1.26.5 -> 126; only the language version matters for what we ask.
go_minor() {
    echo "$1" | awk -F. '{ print $1 * 100 + $2 }'
}

go_version_of() {
    # GOTOOLCHAIN=local: the version of this very program, not of what it would fetch.
    (cd / && GOTOOLCHAIN=local "$1" env GOVERSION 2>/dev/null) | sed -n 's/^go\([0-9.]*\).*/\1/p'
}

newest_go() {
    best=
    best_minor=0
    for candidate in "$(command -v go || true)" /usr/local/go/bin/go /usr/lib/go-*/bin/go; do
        [ -x "$candidate" ] || continue
        minor=$(go_minor "$(go_version_of "$candidate")")
        if [ "$minor" -gt "$best_minor" ]; then
            best=$candidate
            best_minor=$minor
        fi
    done
}

# Go since 1.21 can fetch a newer toolchain by itself. An older one can at least download the same
# module; a module's archive carries no execute bits, so these are set here.
fetch_toolchain() {
    version=v0.0.1-$toolchain.$("$best" env GOOS)-$("$best" env GOARCH)
    echo "build.sh: $best is Go $(go_version_of "$best"); fetching $toolchain as a Go module"
    if [ "$best_minor" -ge 121 ]; then
        export GOTOOLCHAIN="$toolchain"
        go=$best
        return
    fi
    (cd / && GOFLAGS=-modcacherw GO111MODULE=on \
        "$best" mod download -x "golang.org/toolchain@$version" 2>/dev/null) ||
        fail "could not fetch the module golang.org/toolchain $version; install Go $go_directive"
    root=$("$best" env GOMODCACHE)/golang.org/toolchain@$version
    chmod -R u+w "$root"
    chmod +x "$root"/bin/* "$root"/pkg/tool/*/*
    export GOROOT="$root" GOTOOLCHAIN=local
    go=$root/bin/go
}

newest_go
if [ -z "$best" ]; then
    fail "no Go found. Install one with 'apt-get install golang-go': any since 1.16 will do," \
        "it fetches $toolchain as a Go module. Or put Go $go_directive or newer on PATH."
elif [ "$best_minor" -ge "$(go_minor "$go_directive")" ]; then
    go=$best
elif [ "$best_minor" -ge 116 ]; then
    fetch_toolchain
else
    fail "$best is Go $(go_version_of "$best"), too old to fetch $toolchain; install Go 1.16 or newer"
fi

# ---- the programs

module_version() {
    awk -v module="$1" '$1 == module && $2 ~ /^v/ { print $2; exit }' go.mod
}

# The staging modules have the releases of Kubernetes, as v0: v0.20.15 is of v1.20.15.
kubernetes=v1.$(module_version k8s.io/kubectl | sed 's/^v0\.//')
helm=$(module_version helm.sh/helm/v4)
major=$(echo "$kubernetes" | sed 's/^v\([0-9]*\)\..*/\1/')
minor=$(echo "$kubernetes" | sed 's/^v[0-9]*\.\([0-9]*\)\..*/\1/')

ldflags="-s -w"
for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
    ldflags="$ldflags -X $package.gitVersion=$kubernetes -X $package.gitMajor=$major"
    ldflags="$ldflags -X $package.gitMinor=$minor -X $package.gitTreeState=clean"
done
ldflags="$ldflags -X helm.sh/helm/v4/internal/version.version=$helm"

fresh=$out/new-$stamp
rm -rf "$fresh"
mkdir "$fresh"
trap 'rm -rf "$fresh"' EXIT

echo "build.sh: building $programs (Kubernetes $kubernetes${helm:+, Helm $helm}) into $out"
echo "build.sh: the first time this takes some minutes; nothing is compiled twice"
export CGO_ENABLED=0
[ "$module" != . ] || "$go" test -buildvcs=false ./internal/...
"$go" build -trimpath -buildvcs=false -ldflags "$ldflags" -o "$fresh/" "$packages"
# A rename replaces a program that is running; writing into its file would not be permitted.
for program in $programs; do
    mv -f "$fresh/$program" "$out/$program"
done
echo "$wanted_stamp" >"$out/$stamp"
