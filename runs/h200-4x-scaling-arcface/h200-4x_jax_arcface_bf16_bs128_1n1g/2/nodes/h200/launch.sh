#!/bin/sh
# trial h200-4x-scaling-arcface-48e63672.h200-4x_jax_arcface_bf16_bs128_1n1g.2
# node h200, 1 of 1
set -eu
export PYTHONUNBUFFERED=1
export NCCL_DEBUG=VERSION
export CUDA_VISIBLE_DEVICES=0
export TORCHINDUCTOR_CACHE_DIR=/tmp/inductor
export JAX_COMPILATION_CACHE_DIR=/tmp/jax-cache
export NCCL_NVLS_ENABLE=0
export TORCH_SYMM_MEM_DISABLE_MULTICAST=1
export NVSHMEM_DISABLE_NVLS=1
export OMP_NUM_THREADS=4
export DLPERF_TRIAL=h200-4x-scaling-arcface-48e63672.h200-4x_jax_arcface_bf16_bs128_1n1g.2/h200
cd /root/.dlperf/h200-4x-scaling-arcface-48e63672.h200-4x_jax_arcface_bf16_bs128_1n1g.2/h200/files
exec python3 -u /root/.dlperf/h200-4x-scaling-arcface-48e63672.h200-4x_jax_arcface_bf16_bs128_1n1g.2/h200/files/jax_arcface.py --batch-size 128 --steps 120 --precision bf16
