# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Sourced by what consists of steps that each pass or fail.

passed=0
failed=0
skipped=0

# step NAME CMD...: runs a command; its output is shown if it fails.
step()
{
	local name=$1 log start=$SECONDS

	shift
	log=$TERN_BUILD/logs/$(tr -c 'A-Za-z0-9.\n-' _ <<< "$name").log
	mkdir -p "$TERN_BUILD/logs"
	if "$@" > "$log" 2>&1 < /dev/null; then
		passed=$((passed + 1))
		printf 'ok    %-44s %4d s\n' "$name" $((SECONDS - start))
	else
		failed=$((failed + 1))
		printf 'FAIL  %-44s %4d s\n' "$name" $((SECONDS - start))
		tail -n "${STEP_LINES:-60}" "$log" | sed 's/^/      /'
		echo "      (the whole log: $log)"
	fi
}

# counted NAME CMD...: as step, for a command that ends with its own counts.
counted()
{
	local name=$1 log start=$SECONDS code=0 line p f s

	shift
	log=$TERN_BUILD/logs/$(tr -c 'A-Za-z0-9.\n-' _ <<< "$name").log
	mkdir -p "$TERN_BUILD/logs"
	echo "----  $name"
	"$@" 2>&1 < /dev/null | tee "$log" || code=$?
	line=$(grep -E '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' "$log" | tail -n 1)
	if [ -z "$line" ]; then
		failed=$((failed + 1))
		echo "FAIL  $name: ended with $code, without its summary"
		return
	fi
	read -r p _ f _ s _ <<< "$line"
	passed=$((passed + p))
	failed=$((failed + f))
	skipped=$((skipped + s))
	if [ "$code" != 0 ] && [ "$f" = 0 ]; then
		failed=$((failed + 1))
		echo "FAIL  $name: exit code $code"
	fi
	printf -- '----  %s: %s in %d s\n' "$name" "$line" $((SECONDS - start))
}

# The closing line, and the exit code.
summary()
{
	echo "$passed passed, $failed failed, $skipped skipped"
	[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
}
