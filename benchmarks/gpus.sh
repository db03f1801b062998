#!/bin/sh
# Compare frameworks on a kind of GPU: each GPU of this machine runs both sides of every comparison, all GPUs at the same time.
#
#     sh benchmarks/gpus.sh plan [KIND:CASE…]       what would run; touches no GPU
#     sh benchmarks/gpus.sh run [KIND:CASE…]        run them, one comparison after the other; by default all below
#     sh benchmarks/gpus.sh cancel                  end what runs; what has ended stays
#
# A comparison is a campaign on each GPU, whose order is drawn and whose seeds are its own. From three GPUs on, which may be of several machines,
# `dlperf compare` and the site judge the kind. Before them each GPU runs one short trial that is not kept.
#
# DLPERF    the command (dlperf); WORKSPACE  where runs/ lies (the current folder)
# HARDWARE  an entry with a node for each GPU, named gpu0, gpu1 … (h200-gpus); GPUS  how many there are (those of nvidia-smi)
# REPEATS   trials of each side on each GPU, by default so many that there are seven on all of them
# NAME      first word of the campaigns' names (the hardware); STATE  a folder for logs and leases (/tmp/dlperf-gpus)
set -eu

DLPERF=${DLPERF:-dlperf} WORKSPACE=${WORKSPACE:-.} HARDWARE=${HARDWARE:-h200-gpus} STATE=${STATE:-/tmp/dlperf-gpus}
GPUS=${GPUS:-$(nvidia-smi -L | wc -l)}
REPEATS=${REPEATS:-$(((GPUS + 6) / GPUS))}
NAME=${NAME:-${HARDWARE%-gpus}}
ALL="tuned:gpt2-124m stock:gpt2-124m tuned:arcface tuned:vgg16 stock:vgg16 tuned:resnet50 stock:arcface stock:resnet50"
ALL="$ALL tuned:bert-base stock:bert-base tuned:llama3-1b stock:llama3-1b"

# selection KIND CASE: options of what is compared
selection() {
    case $1 in
    tuned) frameworks=pytorch-compiled,jax ;;
    stock) frameworks=pytorch-stock,jax-stock ;;
    *) echo "$0: no kind $1: they are tuned and stock" >&2 && exit 2 ;;
    esac
    protocol=dlperf-gpus
    case $2 in
    gpt2-124m) batch=64 protocol=dlperf-llm-gpus ;;
    llama3-1b) batch=4 protocol=dlperf-llm-gpus ;;
    resnet50) batch=256 ;;
    bert-base) batch=96 ;;
    *) batch=128 ;;
    esac
    echo "-H $HARDWARE -f $frameworks -c $2 -p bf16 -b $batch -g 1n1g --protocol $protocol --repeats $REPEATS"
}

# on GPU COMMAND…: with a lease of its own, in a session of its own, so that all GPUs work at the same time, and with an
# equal share of the cores, so that no program waits for the compiler of a neighbour
on() {
    gpu=$1
    shift
    DLPERF_LEASE=$STATE/lease.gpu$gpu setsid taskset -c "$(cores "$gpu")" "$@" >>"$STATE/gpu$gpu.log" 2>&1 </dev/null &
}

cores() {
    share=$(($(nproc) / GPUS))
    [ "$share" -gt 0 ] || share=1
    first=$(($1 * share % $(nproc)))
    echo "$first-$((first + share - 1))"
}

each_gpu() { seq 0 $((GPUS - 1)); }

warm() {
    [ -e "$STATE/warm" ] || $DLPERF init "$STATE/warm" >/dev/null
    cp -r "$WORKSPACE/catalog" "$STATE/warm"
    options="-H $HARDWARE -f jax -c vgg16 -p bf16 -b 128 -g 1n1g --protocol quick --repeats 1"
    for gpu in $(each_gpu); do
        on "$gpu" $DLPERF --workspace "$STATE/warm" run $options --node "gpu$gpu" --name "gpu$gpu-$$" --yes
    done
    wait
}

compare() {
    options=$(selection "$1" "$2")
    for gpu in $(each_gpu); do
        name=$NAME-$1-$2-gpu$gpu
        if [ -e "$WORKSPACE/runs/$name" ]; then
            on "$gpu" $DLPERF --workspace "$WORKSPACE" resume "$name"
        else
            on "$gpu" $DLPERF --workspace "$WORKSPACE" run $options --node "gpu$gpu" --first-seed $((1 + gpu * REPEATS)) --name "$name" --yes
        fi
    done
    wait
}

mkdir -p "$STATE"
command=${1:-}
[ $# = 0 ] || shift
[ $# -gt 0 ] || set -- $ALL
case $command in
plan)
    for each in "$@"; do $DLPERF --workspace "$WORKSPACE" plan $(selection "${each%%:*}" "${each#*:}"); done
    ;;
run)
    rm -f "$STATE/stop"
    warm
    for each in "$@"; do
        [ ! -e "$STATE/stop" ] || break
        echo "$(date +%H:%M:%S) $each on $GPUS GPUs"
        compare "${each%%:*}" "${each#*:}"
    done
    ;;
cancel)
    touch "$STATE/stop"
    for each in "$WORKSPACE"/runs/"$NAME"-*-gpu*; do
        $DLPERF --workspace "$WORKSPACE" cancel "$(basename "$each")" || true
    done
    ;;
*)
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0"
    exit 2
    ;;
esac
