#!/bin/sh
# Measure Llama-3 8B by all training stacks, and GPT-2 and ResNet-50 by stock and tuned programs, on 1, 2, 4 … GPUs of one host.
#
#     sh benchmarks/host.sh plan        what would run; touches no GPU
#     sh benchmarks/host.sh run         run it, one campaign after the other; what is interrupted goes on when it is started again
#
# DLPERF    the command (dlperf); WORKSPACE  where runs/ lies (the current folder)
# HARDWARE  an entry with all GPUs in one node (h100-8x); SCALES  of it (1,2,4,8); REPEATS  trials of each configuration (3)
set -eu

DLPERF=${DLPERF:-dlperf} WORKSPACE=${WORKSPACE:-.} HARDWARE=${HARDWARE:-h100-8x} SCALES=${SCALES:-1,2,4,8} REPEATS=${REPEATS:-3}
most=${SCALES##*,}

# campaign NAME OPTION…
campaign() {
    name=$HARDWARE-$1
    shift
    if [ "$command" = plan ]; then
        $DLPERF --workspace "$WORKSPACE" plan -H "$HARDWARE" "$@" --repeats "$REPEATS"
    elif [ -e "$WORKSPACE/runs/$name" ]; then
        $DLPERF --workspace "$WORKSPACE" resume "$name"
    else
        $DLPERF --workspace "$WORKSPACE" run -H "$HARDWARE" "$@" --repeats "$REPEATS" --name "$name" --yes
    fi
}

command=${1:-}
case $command in
plan | run) ;;
*)
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0"
    exit 2
    ;;
esac
stacks="-c llama3-8b -b 1 --protocol dlperf-llm-steps" # of every stack of the catalogue that has it
campaign llama3-8b-bf16 $stacks -p bf16 -g "$SCALES"
campaign llama3-8b-fp8 $stacks -p fp8 -g "$SCALES"
programs="-f pytorch-compiled,jax,pytorch-stock,jax-stock -p bf16 -g $most"
campaign gpt2-124m $programs -c gpt2-124m -b 64 --protocol dlperf-llm-gpus
campaign resnet50 $programs -c resnet50 -b 256 --protocol dlperf-gpus
