#!/bin/sh
# trial h200-4x-nodes-resnet50-9def04bb.h200-4x-nodes_pytorch-compiled_resnet50_fp16_bs512_4n1g.3
# node gpu2, 3 of 4
set -eu
export PYTHONUNBUFFERED=1
export NCCL_DEBUG=VERSION
export CUDA_VISIBLE_DEVICES=2
export NCCL_SOCKET_IFNAME=lo
export GLOO_SOCKET_IFNAME=lo
export TORCHINDUCTOR_CACHE_DIR=/tmp/inductor
export JAX_COMPILATION_CACHE_DIR=/tmp/jax-cache
export NCCL_NVLS_ENABLE=0
export TORCH_SYMM_MEM_DISABLE_MULTICAST=1
export NVSHMEM_DISABLE_NVLS=1
export OMP_NUM_THREADS=4
export DLPERF_TRIAL=h200-4x-nodes-resnet50-9def04bb.h200-4x-nodes_pytorch-compiled_resnet50_fp16_bs512_4n1g.3/gpu2
cd /root/.dlperf/h200-4x-nodes-resnet50-9def04bb.h200-4x-nodes_pytorch-compiled_resnet50_fp16_bs512_4n1g.3/gpu2/files
exec torchrun --nnodes 4 --node-rank 2 --nproc-per-node 1 --master-addr 127.0.0.1 --master-port 26998 /root/.dlperf/h200-4x-nodes-resnet50-9def04bb.h200-4x-nodes_pytorch-compiled_resnet50_fp16_bs512_4n1g.3/gpu2/files/pytorch_vision.py --model resnet50 --batch-size 512 --steps 120 --precision fp16 --compile default --cuda-graph
