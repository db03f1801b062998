#!/bin/sh
# trial h200-4x-nodes-jax-resnet50-10724dcf.h200-4x-nodes_jax_resnet50_bf16_bs256_4n1g.1
# node gpu0, 1 of 4
set -eu
export PYTHONUNBUFFERED=1
export NCCL_DEBUG=VERSION
export CUDA_VISIBLE_DEVICES=0
export NCCL_SOCKET_IFNAME=lo
export GLOO_SOCKET_IFNAME=lo
export TORCHINDUCTOR_CACHE_DIR=/tmp/inductor
export JAX_COMPILATION_CACHE_DIR=/tmp/jax-cache
export NCCL_NVLS_ENABLE=0
export TORCH_SYMM_MEM_DISABLE_MULTICAST=1
export NVSHMEM_DISABLE_NVLS=1
export OMP_NUM_THREADS=4
export DLPERF_TRIAL=h200-4x-nodes-jax-resnet50-10724dcf.h200-4x-nodes_jax_resnet50_bf16_bs256_4n1g.1/gpu0
cd /root/.dlperf/h200-4x-nodes-jax-resnet50-10724dcf.h200-4x-nodes_jax_resnet50_bf16_bs256_4n1g.1/gpu0/files
exec env JAX_COORDINATOR_ADDRESS=127.0.0.1:22203 JAX_NUM_PROCESSES=4 sh -c 'count=$1 first=$2; shift 2
index=0 pids=
while [ "$index" -lt "$count" ]; do
  JAX_PROCESS_ID=$((first + index)) JAX_LOCAL_DEVICE_IDS=$index "$@" &
  pids="$pids $!" index=$((index + 1))
done
status=0
for pid in $pids; do wait "$pid" || status=$?; done
exit "$status"
' jax 1 0 python3 -u /root/.dlperf/h200-4x-nodes-jax-resnet50-10724dcf.h200-4x-nodes_jax_resnet50_bf16_bs256_4n1g.1/gpu0/files/jax_vision.py --model resnet50 --batch-size 256 --steps 120 --precision bf16
