#!/usr/bin/env bash
# Runs on a machine with a GPU, from anywhere: OUT=folder bash .gpu/on_device.sh. Needs bash and NVIDIA's driver; ptxas and compute-sanitizer
# are used if they are there. What matters most runs first, everything ends within SECONDS_ALLOWED (520), and each step leaves its
# log in OUT and a line in OUT/steps.tsv: name, exit code (skipped: 125), seconds.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
: "${OUT:?the folder for results}"
allowed=${SECONDS_ALLOWED:-520}
mkdir -p "$OUT"
OUT=$(cd "$OUT" && pwd)
export PATH=$PATH:/usr/local/cuda/bin SPECULA_LIBCUDA=${SPECULA_LIBCUDA:-libcuda.so.1}
: >"$OUT/steps.tsv"
begun=$SECONDS

# step NAME MOST COMMAND... runs a command for at most so many seconds, and less if little is left.
step() {
	local name=$1 most=$2 left=$((allowed - (SECONDS - begun))) from=$SECONDS code=0
	shift 2
	[ "$left" -gt "$most" ] || most=$left
	if [ "$most" -lt 5 ]; then
		printf '%s\t125\t0\n' "$name" >>"$OUT/steps.tsv"
		return
	fi
	(cd "$here" && timeout "$most" bash -c '"$@"' - "$@") >"$OUT/$name.log" 2>&1 || code=$?
	printf '%s\t%s\t%s\n' "$name" "$code" $((SECONDS - from)) | tee -a "$OUT/steps.tsv"
}

machine() {
	cat commit
	uname -srm
	echo "gpu: $(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | head -n 1)"
	nvidia-smi --query-gpu=driver_version,memory.total,compute_cap,clocks.max.sm,clocks.max.mem --format=csv,noheader
	ldconfig -p | grep libcuda.so
	command -v ptxas compute-sanitizer
	true
}

# assemble gives every kernel to NVIDIA's assembler, for registers, spills and syntax.
assemble() {
	command -v ptxas >/dev/null || { echo "SKIPPED: ptxas is not installed"; return; }
	local code=0 capability file
	capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -n 1 | tr -d .)
	for file in kernels/*.ptx; do
		echo "== $(basename "$file") for sm_${capability:-80}"
		ptxas -arch="sm_${capability:-80}" -v --warn-on-spills -o /dev/null "$file" || code=1
	done
	return $code
}

# tests runs the programs of tests; each begins with a line that names its package.
tests() {
	local code=0 program folder
	for program in tests/*.test; do
		echo "=== PACKAGE $(basename "$program" .test)"
		folder=$(mktemp -d)
		[ ! -d "${program%.test}.testdata" ] || cp -r "${program%.test}.testdata" "$folder/testdata"
		(cd "$folder" && "$here/$program" -test.v "$@") || code=1
		rm -rf "$folder"
	done
	return $code
}

sanitize() { # tool
	command -v compute-sanitizer >/dev/null || { echo "SKIPPED: compute-sanitizer is not installed"; return; }
	compute-sanitizer --tool "$1" --error-exitcode 9 tests/specula_gpu_driver.test -test.run 'Test(Launch|Graph|Elementwise|EventsOrderStreams)$'
}

export -f machine assemble tests sanitize
export here
step machine 20 machine
step driver 60 tests/specula_gpu_driver.test -test.v
step ptxas 60 assemble
step benchmarks 200 tests -test.run '^$' -test.bench . -test.benchtime 200ms
step tests 150 tests
step bench 40 ./specula bench --device cuda --prompts 20 --gen-tokens 64 --gamma 4 --json
step memcheck 60 sanitize memcheck
step racecheck 60 sanitize racecheck
step synccheck 60 sanitize synccheck
step initcheck 60 sanitize initcheck
echo "results are in $OUT"
! grep -qvE '	(0|125)	' "$OUT/steps.tsv"
