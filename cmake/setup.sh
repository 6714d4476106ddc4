# shellcheck shell=bash
# setup.sh - what demo/run and tests/run share: install what is missing, find or fetch CUDA, configure, build.
#
# To be sourced by bash with the repository's root as the working folder. Everything it fetches goes into build/, packages
# of the system excepted. Each step says what it does in one line, and does nothing when it was done before.

say() {
    printf 'copyspy: %s\n' "$*"
}

fail() {
    printf 'copyspy: %s\n' "$*" >&2
    exit 1
}

# Debian's names of what the build and the programs need.
# shellcheck disable=SC2034 # for those who source this
build_packages=(gcc g++ cmake ninja-build pkg-config patchelf binutils
    libunwind-dev libdw-dev libelf-dev libjansson-dev libxxhash-dev liblz4-dev libzstd-dev libiberty-dev
    libcmocka-dev python3)

# The compiler, the runtime and CUPTI as the Python registry has them, one release of CUDA. cuBLAS, half a gigabyte, is of
# use only where there is a GPU.
cuda_wheels=(nvidia-cuda-nvcc==13.0.88 nvidia-nvvm==13.0.88 nvidia-cuda-crt==13.0.88 nvidia-cuda-runtime==13.0.96
    nvidia-cuda-cupti==13.0.85 nvidia-cuda-cccl==13.0.85)
cuda_gpu_wheels=(nvidia-cublas==13.1.0.3)

missing_packages() {
    local package
    for package in "$@"; do
        [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || printf '%s ' "$package"
    done
}

# Runs apt-get as root, quietly; its output is shown when it fails. Waits for another apt-get that is at work.
apt() {
    local log
    log=$(mktemp)
    if ! "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 "$@" >"$log" 2>&1; then
        tail -n 20 "$log" >&2
        rm -f "$log"
        return 1
    fi
    rm -f "$log"
}

install_packages() {
    local missing
    command -v dpkg-query >/dev/null || {
        say "not a Debian or Ubuntu system: expecting these to be there: $*"
        return
    }
    missing=$(missing_packages "$@")
    [ -n "$missing" ] || return 0
    as_root=()
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || fail "cannot install ${missing}(not root, and no sudo): install them and run this again"
        as_root=(sudo)
    fi
    say "installing $missing"
    # shellcheck disable=SC2086 # a list of package names
    { apt update && apt install -y --no-install-recommends $missing; } ||
        fail "cannot install ${missing}with apt-get (see above): install them and run this again"
}

# Whether the machine has a GPU and its driver. Whether the driver is new enough is found out by using it.
have_gpu() {
    [ -e /dev/nvidiactl ] || [ -e /dev/dxg ]
}

usable_toolkit() {
    [ -x "$1/bin/nvcc" ] && { [ -e "$1/include/cuda.h" ] || [ -e "$1/targets/x86_64-linux/include/cuda.h" ]; } &&
        [ -n "$(find -L "$1/include" "$1/targets/x86_64-linux/include" "$1/extras/CUPTI/include" -maxdepth 1 -name cupti.h 2>/dev/null)" ]
}

# Sets cuda_root: COPYSPY_CUDA_ROOT, else the toolkit of nvcc on PATH, else the usual place, else one fetched before.
find_cuda() {
    local nvcc candidate
    nvcc=$(command -v nvcc || true)
    for candidate in "${COPYSPY_CUDA_ROOT:-}" "${nvcc:+$(dirname "$(dirname "$(readlink -f "$nvcc")")")}" \
        /usr/local/cuda "$PWD/build/cuda/nvidia/cu13"; do
        if [ -n "$candidate" ] && usable_toolkit "$candidate"; then
            cuda_root=$candidate
            return 0
        fi
    done
    return 1
}

# All in one call: pip would take a second set for a newer version of the first, since they share a folder.
fetch_wheels() {
    [ -x build/pip/bin/pip ] || python3 -m venv build/pip >/dev/null 2>&1 || {
        install_packages python3-venv
        python3 -m venv --clear build/pip >/dev/null
    } || return 1
    build/pip/bin/pip --disable-pip-version-check install -q --no-deps --upgrade --target build/cuda "$@" || return 1
    complete_toolkit build/cuda/nvidia/cu13
}

# Wheels have no links in them: the names that linkers look for, and the folder in which nvcc does.
complete_toolkit() {
    local library
    ln -sfn lib "$1/lib64"
    for library in "$1"/lib/lib*.so.*; do
        ln -sf "$(basename "$library")" "${library%.so.*}.so"
    done
}

install_cuda() {
    find_cuda && return
    mkdir -p build
    if have_gpu; then
        say "no CUDA toolkit found: fetching nvcc, the runtime, CUPTI and cuBLAS 13.0 into build/cuda (about 550 MB)"
        fetch_wheels "${cuda_wheels[@]}" "${cuda_gpu_wheels[@]}" && find_cuda && return
    else
        say "no CUDA toolkit found: fetching nvcc, the runtime and CUPTI 13.0 into build/cuda (about 110 MB)"
        fetch_wheels "${cuda_wheels[@]}" && find_cuda && return
    fi
    fail "cannot install CUDA from the Python registry (see above): install the toolkit, or name its folder in COPYSPY_CUDA_ROOT"
}

# configure_and_build FOLDER [CMAKE OPTION...] [-- TARGET...]
configure_and_build() {
    local folder=$1 options=() log
    shift
    while [ $# -gt 0 ] && [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    [ $# -eq 0 ] || shift
    [ -e "$folder/CMakeCache.txt" ] || options+=(-G Ninja)
    log=$(mktemp)
    say "configuring $folder"
    cmake -S . -B "$folder" -DCOPYSPY_CUDA_ROOT="$cuda_root" "${options[@]}" >"$log" 2>&1 || {
        cat "$log" >&2
        fail "cannot configure $folder"
    }
    say "building $folder"
    cmake --build "$folder" --parallel "$(nproc)" ${1:+--target "$@"} >"$log" 2>&1 || {
        tail -n 60 "$log" >&2
        fail "cannot build $folder"
    }
    rm -f "$log"
}
