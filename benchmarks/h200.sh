#!/bin/sh
# The campaigns of h200.md, the most valuable figures first. Each is a campaign of its own; every trial is saved when it ends,
# and what was cut short goes on where it stopped when the same stage is started again.
#
#     sh benchmarks/h200.sh plan                    what each stage would run; touches no machine
#     sh benchmarks/h200.sh STAGE…                  run stages: first one-gpu jax scaling nodes precisions
#
# DLPERF    the command (dlperf); WORKSPACE  where runs/ lies (the current folder; made where there is none)
# HARDWARE  and NODES: the same GPUs as one node (h200-4x) and as nodes of one GPU (h200-4x-nodes); REPEATS (3)
# SCALES    and NODE_SCALES: the nodes × GPUs of the stages scaling and nodes
set -eu

DLPERF=${DLPERF:-dlperf} WORKSPACE=${WORKSPACE:-.} REPEATS=${REPEATS:-3}
HARDWARE=${HARDWARE:-h200-4x} NODES=${NODES:-h200-4x-nodes}
SCALES=${SCALES:-1n1g,1n2g,1n4g} NODE_SCALES=${NODE_SCALES:-1n1g,4n1g}
CATALOG=$(dirname "$0")/../catalog
STAGES="first one-gpu jax scaling nodes precisions"

# campaign NAME SELECTION…
campaign() {
    name=$1
    shift
    set -- "$@" --protocol dlperf  # samples over time, for every case
    if [ "$planning" = yes ]; then
        echo "== $name"
        $DLPERF --workspace "$WORKSPACE" plan "$@"
    elif [ -d "$WORKSPACE/runs/$name" ]; then
        $DLPERF --workspace "$WORKSPACE" resume "$name" || echo "$name: not all of it succeeded" >&2
    else
        $DLPERF --workspace "$WORKSPACE" run "$@" --name "$name" --repeats "$REPEATS" --yes ||
            echo "$name: not all of it succeeded" >&2
    fi
}

stage() {
    case $1 in
    first) # does every program live: one trial each would do
        campaign h200-first -H "$HARDWARE" -f pytorch-compiled,jax -c resnet50,bert-base -p bf16 -b 128 -g 1n1g
        ;;
    one-gpu) # the record: PyTorch on one GPU
        campaign h200-pytorch-resnet50 -H "$HARDWARE" -f pytorch-compiled -c resnet50 -p amp,bf16,tf32 -b 256 -g 1n1g
        campaign h200-pytorch-bert -H "$HARDWARE" -f pytorch-compiled -c bert-base -p amp,bf16,tf32 -b 96 -g 1n1g
        campaign h200-pytorch-vgg16 -H "$HARDWARE" -f pytorch-compiled -c vgg16 -p amp,bf16,tf32 -b 128 -g 1n1g
        campaign h200-pytorch-arcface -H "$HARDWARE" -f pytorch-compiled -c arcface -p amp,bf16,tf32 -b 128 -g 1n1g
        ;;
    jax) # the same cases beside it
        campaign h200-jax-resnet50 -H "$HARDWARE" -f jax -c resnet50 -p bf16,tf32 -b 256 -g 1n1g
        campaign h200-jax-bert -H "$HARDWARE" -f jax -c bert-base -p bf16,tf32 -b 96 -g 1n1g
        campaign h200-jax-vgg16 -H "$HARDWARE" -f jax -c vgg16 -p bf16,tf32 -b 128 -g 1n1g
        campaign h200-jax-arcface -H "$HARDWARE" -f jax -c arcface -p bf16,tf32 -b 128 -g 1n1g
        ;;
    scaling) # the GPUs of one node in one campaign: the baseline of the speed-up is taken beside it
        campaign h200-scaling-resnet50 -H "$HARDWARE" -f pytorch-compiled,jax -c resnet50 -p bf16 -b 256 -g "$SCALES"
        campaign h200-scaling-bert -H "$HARDWARE" -f pytorch-compiled,jax -c bert-base -p bf16 -b 96 -g "$SCALES"
        campaign h200-scaling-arcface -H "$HARDWARE" -f pytorch-compiled,jax -c arcface -p bf16 -b 128 -g "$SCALES"
        campaign h200-scaling-vgg16 -H "$HARDWARE" -f pytorch-compiled,jax -c vgg16 -p bf16 -b 128 -g "$SCALES"
        ;;
    nodes) # nodes of one GPU: rendezvous, ranks and NCCL as on a cluster
        campaign h200-nodes-resnet50 -H "$NODES" -f pytorch-compiled,jax -c resnet50 -p bf16 -b 256 -g "$NODE_SCALES"
        campaign h200-nodes-bert -H "$NODES" -f pytorch-compiled,jax -c bert-base -p bf16 -b 96 -g "$NODE_SCALES"
        campaign h200-nodes-arcface -H "$NODES" -f pytorch-compiled,jax -c arcface -p bf16 -b 128 -g "$NODE_SCALES"
        campaign h200-nodes-vgg16 -H "$NODES" -f pytorch-compiled,jax -c vgg16 -p bf16 -b 128 -g "$NODE_SCALES"
        ;;
    precisions) # what is left of the table on one GPU
        campaign h200-fp16 -H "$HARDWARE" -f jax -c resnet50,vgg16,bert-base,arcface -p fp16 -b 128 -g 1n1g
        campaign h200-fp16-pure -H "$HARDWARE" -f pytorch-compiled -c resnet50,vgg16,bert-base,arcface -p fp16-pure -b 128 -g 1n1g
        campaign h200-fp32 -H "$HARDWARE" -f pytorch-compiled,jax -c resnet50,vgg16,bert-base,arcface -p fp32 -b 128 -g 1n1g
        campaign h200-eager -H "$HARDWARE" -f pytorch -c resnet50,vgg16,bert-base,arcface -p amp,fp32 -b 128 -g 1n1g
        ;;
    *)
        echo "$0: no stage $1: they are $STAGES" >&2
        exit 2
        ;;
    esac
}

if [ ! -e "$WORKSPACE/mkdocs.yml" ]; then
    $DLPERF init "$WORKSPACE"
    cp -r "$CATALOG" "$WORKSPACE"
fi
planning=no
if [ $# = 0 ]; then
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0"
    exit 2
elif [ "$1" = plan ]; then
    planning=yes
    shift
    [ $# -gt 0 ] || set -- $STAGES
fi
for name in "$@"; do stage "$name"; done
