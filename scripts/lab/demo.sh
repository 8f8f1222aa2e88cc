# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# What the demos have in common; sourced after lab.sh. The demo sets $total,
# the number of its steps.

need_root
begin=$SECONDS
n=0
log=$TERN_BUILD/logs/demo-build.log
mkdir -p "$TERN_BUILD/logs"

# step WHAT EXPECTED-SECONDS CMD...
step()
{
	local what=$1 expected=$2 start=$SECONDS

	shift 2
	n=$((n + 1))
	: > "$log"
	# shellcheck disable=SC2154 # set by the demo
	printf '\n[%2d/%d] %s (about %s)\n' $n "$total" "$what" "$expected"
	# shellcheck disable=SC2094 # both append, neither reads
	if ! "$@" >> "$log" 2> >(tee -a "$log" | grep --line-buffered '^lab: ' | sed -u 's/^/        /' >&2); then
		tail -n 30 "$log" >&2
		printf '\nFAILED in step %d, %s.\nThe log: %s\n' $n "$what" "$log" >&2
		exit 1
	fi
	printf '        %d s\n' $((SECONDS - start))
}

lab()
{
	local c

	for c in rootfs guest-image initramfs rdma-core; do
		"$TERN_LAB_DIR/get" "$c" || return
	done
}

# The lab, and all that the machines run: four steps.
prepare()
{
	step "the lab: a Debian 13 root file system in $TERN_CACHE" "4 min, once" lab
	step "ternd, the emulated NIC" "40 s, once" \
		"$TERN_LAB_DIR/enter" make -C "$TERN_TOP/emulator" -j2 ternd
	step "the kernel modules" "30 s, once" "$TERN_TOP/scripts/build-modules" stock -j2
	step "the rdma-core provider" "20 s, once" "$TERN_TOP/scripts/build-provider"
}

# in_machines MODULE: the part that runs in the lab.
in_machines()
{
	cd "$TERN_TOP" || exit 1
	"$TERN_LAB_DIR/enter" env PYTHONPATH="$TERN_LAB_DIR" python3 -m "ternlab.$1" $n "$total" || exit 1
}

took()
{
	echo "$(((SECONDS - begin) / 60)) min $(((SECONDS - begin) % 60)) s"
}
