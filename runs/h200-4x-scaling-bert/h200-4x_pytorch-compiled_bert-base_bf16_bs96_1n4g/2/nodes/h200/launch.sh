#!/bin/sh
# trial h200-4x-scaling-bert-578ff85f.h200-4x_pytorch-compiled_bert-base_bf16_bs96_1n4g.2
# node h200, 1 of 1
set -eu
export PYTHONUNBUFFERED=1
export NCCL_DEBUG=VERSION
export CUDA_VISIBLE_DEVICES=0,1,2,3
export TORCHINDUCTOR_CACHE_DIR=/tmp/inductor
export JAX_COMPILATION_CACHE_DIR=/tmp/jax-cache
export NCCL_NVLS_ENABLE=0
export TORCH_SYMM_MEM_DISABLE_MULTICAST=1
export NVSHMEM_DISABLE_NVLS=1
export OMP_NUM_THREADS=4
export DLPERF_TRIAL=h200-4x-scaling-bert-578ff85f.h200-4x_pytorch-compiled_bert-base_bf16_bs96_1n4g.2/h200
cd /root/.dlperf/h200-4x-scaling-bert-578ff85f.h200-4x_pytorch-compiled_bert-base_bf16_bs96_1n4g.2/h200/files
exec torchrun --nnodes 1 --node-rank 0 --nproc-per-node 4 --master-addr 127.0.0.1 --master-port 22819 /root/.dlperf/h200-4x-scaling-bert-578ff85f.h200-4x_pytorch-compiled_bert-base_bf16_bs96_1n4g.2/h200/files/pytorch_bert.py --batch-size 96 --steps 120 --precision bf16 --compile default --cuda-graph
