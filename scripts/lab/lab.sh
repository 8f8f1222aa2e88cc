# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Sourced by everything in scripts/: where things are, and how to speak.

set -euo pipefail

TERN_LAB_DIR=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
TERN_TOP=$(cd "$TERN_LAB_DIR/../.." && pwd -P)
TERN_CACHE=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/tern
TERN_BUILD=$TERN_TOP/build
export TERN_TOP TERN_CACHE TERN_BUILD

say()
{
	printf 'lab: %s\n' "$*" >&2
}

die()
{
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

need_root()
{
	[ "$(id -u)" = 0 ] || die "needs root (mount namespaces and chroot)"
}

in_lab()
{
	[ -n "${TERN_IN_LAB:-}" ]
}
