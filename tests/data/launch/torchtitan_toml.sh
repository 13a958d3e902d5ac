#!/usr/bin/bash
# torchtitan 0.2.2 and before, a TOML file and overrides.
NGPU=${NGPU:-"8"}
export LOG_RANK=${LOG_RANK:-0}
CONFIG_FILE=${CONFIG_FILE:-"./torchtitan/models/llama3/train_configs/llama3_70b.toml"}
TRAIN_FILE=${TRAIN_FILE:-"torchtitan.train"}
NNODE=4

PYTORCH_ALLOC_CONF="expandable_segments:True" \
torchrun --nnodes ${NNODE} --nproc_per_node=${NGPU} --rdzv_backend c10d --rdzv_endpoint="localhost:0" \
  --local-ranks-filter ${LOG_RANK} --role rank --tee 3 \
  -m ${TRAIN_FILE} --job.config_file ${CONFIG_FILE} \
  --parallelism.pipeline_parallel_degree 4 --training.local_batch_size 4 "$@"
