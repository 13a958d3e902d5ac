#!/bin/bash
#SBATCH --nodes=4
#SBATCH --gres=gpu:8
export CUDA_DEVICE_MAX_CONNECTIONS=1
CONFIG="examples/config_smollm.yaml"
srun torchrun --nproc_per_node=8 --nnodes=$SLURM_JOB_NUM_NODES \
  --rdzv_backend=c10d --rdzv_endpoint=$(hostname):29500 \
  run_train.py --config-file "$CONFIG"
