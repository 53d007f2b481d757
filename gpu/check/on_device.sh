#!/usr/bin/env bash
# Runs on a machine with a GPU, from any folder: OUT=folder bash .gpu/on_device.sh. It needs bash
# and NVIDIA's driver, and uses ptxas and compute-sanitizer if they are there. The most important
# steps run first, and all ends within SECONDS_ALLOWED (520). Each step leaves its log in OUT and a
# line in OUT/steps.tsv: name, exit code (skipped: 125), seconds. After a step that fails or takes
# too long, the others still run.
#
# A rehearsal without a GPU: SPECULA_LIBCUDA=$PWD/gpu/driver/emulated/library/out/libcuda.so.1
# SPECULA_CHECK_SHAPES=tiny. The report will say so.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
: "${OUT:?the folder for results}"
allowed=${SECONDS_ALLOWED:-520}
mkdir -p "$OUT"
OUT=$(cd "$OUT" && pwd)
export PATH=$PATH:/usr/local/cuda/bin SPECULA_LIBCUDA=${SPECULA_LIBCUDA:-libcuda.so.1} SPECULA_CHECK_SHAPES=${SPECULA_CHECK_SHAPES:-}
prompts=20 tokens=64 time=200ms
[ "$SPECULA_CHECK_SHAPES" != tiny ] || prompts=2 tokens=8 time=1x
: >"$OUT/steps.tsv"
begun=$SECONDS
find "$here" -maxdepth 2 -name '*.gz' -exec gunzip -f {} + # not the models under engine, which tests read compressed

# step NAME MOST COMMAND... runs a command for at most MOST seconds, or for the seconds that are left if these
# are fewer. With less than 5 seconds it skips the command.
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
	./specula info --device cuda | sed -n 's/^ *device *cuda: /gpu: /p' | sed 's/  .*//' # without the reason that info gives after spaces
	[ -z "$SPECULA_CHECK_SHAPES" ] || echo "shapes: $SPECULA_CHECK_SHAPES"
	for tool in nvidia-smi ptxas compute-sanitizer; do
		command -v $tool >/dev/null || echo "$tool: not installed"
	done
	nvidia-smi --query-gpu=driver_version,memory.total,compute_cap,clocks.max.sm,clocks.max.mem --format=csv,noheader 2>/dev/null
	! command -v ptxas >/dev/null || echo "ptxas: $(ptxas --version | tail -n 1)"
	true
}

# assemble gives every kernel to NVIDIA's assembler, which checks it and tells its registers and spills.
assemble() {
	command -v ptxas >/dev/null || { echo "SKIPPED: ptxas is not installed"; return; }
	local code=0 capability file
	capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -n 1 | tr -d .)
	for file in kernels/*.ptx; do
		echo "== $(basename "$file") for sm_${capability:-90}"
		ptxas -arch="sm_${capability:-90}" -v --warn-on-spills -o /dev/null "$file" || code=1
	done
	return $code
}

# tests runs a test binary; the log begins with a line that names its package.
tests() { # name, arguments
	local program=$here/tests/$1.test code=0 folder
	shift
	echo "=== PACKAGE $(basename "$program" .test)"
	folder=$(mktemp -d)
	# Tests look for their files from their package's folder, two levels below the root.
	mkdir -p "$folder/gpu/package"
	[ ! -d "${program%.test}.testdata" ] || cp -r "${program%.test}.testdata" "$folder/gpu/package/testdata"
	ln -s "$here/assets" "$here/engine" "$folder/gpu/"
	ln -s "$here/check" "$folder/gpu/package/"
	(cd "$folder/gpu/package" && "$program" -test.v "$@") || code=$?
	rm -rf "$folder"
	return $code
}

# measure runs those benchmarks of a test binary whose names match an expression.
measure() { # name, expression
	tests "$1" -test.run '^$' -test.bench "$2" -test.benchtime "$time"
}

sanitize() { # tool
	command -v compute-sanitizer >/dev/null || { echo "SKIPPED: compute-sanitizer is not installed"; return; }
	compute-sanitizer --tool "$1" --error-exitcode 9 tests/specula_gpu_driver.test -test.run 'Test(Launch|Graph|Elementwise|EventsOrderStreams)$'
}

export -f machine assemble tests measure sanitize
export here time
step machine 30 machine
step driver 60 tests specula_gpu_driver
step bench-decode 60 measure specula_gpu 'Decode/8B-|Verify./8B-BF16'
step bench-draft 50 measure specula_gpu 'DraftStep|Round'
step bench-ahead 40 measure specula_gpu 'FetchAhead/(8B-Q4_K|0.6B-Q8_0)'
step bench-kernels 40 measure specula_gpu Kernels
step bench-prefill 40 measure specula_gpu 'Prefill.*/8B-BF16'
step bench-sampling 40 measure specula_gpu_driver .
step bench 40 ./specula bench --device cuda --prompts $prompts --gen-tokens $tokens --gamma 4 --json
step ptxas 40 assemble
step bench-rows 40 measure specula_gpu Rows
step bench-products 60 measure specula_gpu 'Product/(BF16|Q4_K)'
step tests 240 tests specula_gpu
step memcheck 40 sanitize memcheck
step racecheck 40 sanitize racecheck
step synccheck 40 sanitize synccheck
step initcheck 40 sanitize initcheck
step bench-others 100 measure specula_gpu 'Decode/^[01]|Verify./^(8B-Q|[01])|Prefill512/^([01]|8B-Q)|Product/(Q8_0|Q6_K)'
echo "results are in $OUT"
! grep -qvE '	(0|125)	' "$OUT/steps.tsv"
