#!/usr/bin/env bash
# Makes a build that can be carried to a machine that has none of its libraries: copies what FILE needs, and the libraries
# that it opens at run time with their needs, into FOLDER.
#
#   bundle.sh PATCHELF FILE FOLDER [OPENED...]
#
# The copies get names of their own (libcs-z.so.1 for libz.so.1), as wheels do it: the loader knows libraries by these
# names, and a program that comes with its own liblzma must not be given ours because it was there first. Only the files
# opened by name keep theirs. What belongs to the C and C++ run time is never copied.
set -euo pipefail
patchelf=$1 target=$2 folder=$3
shift 3
kept='^(linux-vdso|ld-linux[^.]*|libc|libm|libpthread|libdl|librt|libgcc_s|libstdc\+\+)\.so'

# "name path" of each library that the given files need, directly or not, and that is not a copy of ours yet.
needs() {
    ldd "$@" | awk '$2 == "=>" && $3 ~ /^\// { print $1, $3 }' | grep -vE "$kept|^libcs-" | sort -u || true
}

private_name() {
    printf 'libcs-%s' "${1#lib}"
}

# Gives a file that was copied or linked just now its private names. One change a call: patchelf 0.14 mixes up several.
privatise() {
    local file=$1 rpath=$2 need
    while read -r need; do
        grep -qE "$kept|^libcs-" <<<"$need" || "$patchelf" --replace-needed "$need" "$(private_name "$need")" "$file"
    done < <("$patchelf" --print-needed "$file")
    "$patchelf" --set-rpath "$rpath" "$file"
}

# Copies SOURCE to a new file and renames it to NAME, so that a program that is running with the old one is not hurt.
take() {
    local source=$1 name=$2 soname=$3 new
    new=$(mktemp "$folder/.new.XXXXXX")
    cp -fL "$source" "$new"
    chmod 644 "$new"
    privatise "$new" "\$ORIGIN"
    "$patchelf" --set-soname "$soname" "$new"
    mv -f "$new" "$folder/$name"
}

mkdir -p "$folder"
needs "$target" "$@" | while read -r name path; do
    take "$path" "$(private_name "$name")" "$(private_name "$name")"
done
for opened in "$@"; do
    name=$(basename "$opened")
    take "$opened" "$name" "$(private_name "$name")"
done
privatise "$target" "\$ORIGIN/$(realpath --relative-to="$(dirname "$target")" "$folder")"
