#!/bin/bash
#SBATCH --job-name=llama3-70b
#SBATCH --nodes=8
#SBATCH --ntasks-per-node=8
#SBATCH --gpus-per-node=8
#SBATCH --time=04:00:00   # wall clock
#SBATCH --exclusive

# Llama 3 70B under Slurm, one task a GPU, the command line in strings.
export CUDA_DEVICE_MAX_CONNECTIONS=1
export MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
export MASTER_PORT=29500

DIR=/opt/megatron-lm
TP=8
PP=4
VPP=5
GBS=$((SLURM_NNODES * 16))

options=" \
    --use-mcore-models \
    --tensor-model-parallel-size ${TP} \
    --pipeline-model-parallel-size ${PP} \
    --num-virtual-stages-per-pipeline-rank ${VPP} \
    --sequence-parallel \
    --num-layers 80 \
    --hidden-size 8192 \
    --ffn-hidden-size 28672 \
    --num-attention-heads 64 \
    --group-query-attention \
    --num-query-groups 8 \
    --seq-length 8192 \
    --max-position-embeddings 8192 \
    --micro-batch-size 1 \
    --global-batch-size ${GBS} \
    --swiglu \
    --bf16 \
    --use-distributed-optimizer \
    --overlap-grad-reduce --overlap-param-gather \
    --recompute-granularity selective \
    --mock-data "

run_cmd="cd $DIR && python -u pretrain_gpt.py ${options}"

srun -l \
    --container-image "nvcr.io/nvidia/pytorch:24.07-py3" \
    --output=$DIR/logs/%x_%j.log bash -c "${run_cmd}"

set +x
