#!/bin/sh
# trial h200-4x-jax-resnet50-c9ec4850.h200-4x_jax_resnet50_bf16_bs256_1n2g.1
# node h200, 1 of 1
set -eu
export PYTHONUNBUFFERED=1
export NCCL_DEBUG=VERSION
export CUDA_VISIBLE_DEVICES=0,1
export TORCHINDUCTOR_CACHE_DIR=/tmp/inductor
export JAX_COMPILATION_CACHE_DIR=/tmp/jax-cache
export NCCL_NVLS_ENABLE=0
export TORCH_SYMM_MEM_DISABLE_MULTICAST=1
export NVSHMEM_DISABLE_NVLS=1
export OMP_NUM_THREADS=4
export DLPERF_TRIAL=h200-4x-jax-resnet50-c9ec4850.h200-4x_jax_resnet50_bf16_bs256_1n2g.1/h200
cd /root/.dlperf/h200-4x-jax-resnet50-c9ec4850.h200-4x_jax_resnet50_bf16_bs256_1n2g.1/h200/files
exec python3 -u /root/.dlperf/h200-4x-jax-resnet50-c9ec4850.h200-4x_jax_resnet50_bf16_bs256_1n2g.1/h200/files/jax_vision.py --model resnet50 --batch-size 256 --steps 120 --precision bf16
