#!/bin/bash
# Arguments KEY=VALUE may override what stands here.
set -e
export XLA_FLAGS="--xla_gpu_enable_latency_hiding_scheduler=true"
RUN_NAME="llama2-70b"
OUTPUT_PATH=gs://bucket/path
SLICES=2

# no dataset: synthetic tokens
python3 -m maxtext.trainers.pre_train.train src/maxtext/configs/base.yml model_name=llama2-70b \
  run_name=$RUN_NAME base_output_directory=${OUTPUT_PATH} dataset_type=synthetic \
  steps=30 per_device_batch_size=2 max_target_length=4096 \
  ici_fsdp_parallelism=64 ici_tensor_parallelism=4 dcn_data_parallelism=$SLICES \
  remat_policy=full attention='flash'
