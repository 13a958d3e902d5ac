#!/bin/bash
#SBATCH --nodes=2
#SBATCH --gpus-per-node=8
#SBATCH --ntasks-per-node=1

export GPUS_PER_NODE=8
export LAUNCHER="accelerate launch \
    --config_file fsdp2.yaml \
    --num_processes $((SLURM_NNODES * GPUS_PER_NODE)) \
    --num_machines $SLURM_NNODES \
    --fsdp_version 2 \
    --parallelism_config_tp_size 2 \
    --mixed_precision bf16"
export SCRIPT="train_sft.py"
export SCRIPT_ARGS=" \
    --per_device_train_batch_size 1 \
    --max_length 8192 "

export CMD="$LAUNCHER $SCRIPT $SCRIPT_ARGS"
srun $CMD
