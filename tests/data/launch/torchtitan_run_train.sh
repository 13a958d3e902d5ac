#!/usr/bin/bash
set -ex

# Llama 3 8B through torchtitan's own wrapper.
export PYTORCH_CUDA_ALLOC_CONF="expandable_segments:True"
NGPU=8 LOG_RANK=0 MODULE=llama3 CONFIG=llama3_8b ./run_train.sh \
  --parallelism.tensor_parallel_degree 2 \
  --parallelism.data_parallel_shard_degree=-1 \
  --training.max_context_length 8192 \
  --compile.enable
