#!/bin/bash
#SBATCH -J gpt-7b
#SBATCH -N 4
#SBATCH --gres=gpu:h100:8
#SBATCH --ntasks-per-node=1

nodes=( $( scontrol show hostnames $SLURM_JOB_NODELIST ) )
head_node=${nodes[0]}

export OMP_NUM_THREADS=4

cat <<'NOTE'
torchrun pretrain_gpt.py --tensor-model-parallel-size 64   (not a command: a note)
NOTE

run() {
  local tp=2
  srun --kill-on-bad-exit=1 bash -c "CUDA_DEVICE_MAX_CONNECTIONS=1 torchrun \
      --nnodes=$SLURM_NNODES --nproc-per-node=8 \
      --rdzv-backend=c10d --rdzv-endpoint=${head_node}:29400 \
      /workspace/megatron/pretrain_gpt.py \
      --tensor-model-parallel-size $tp --pipeline-model-parallel-size 1 \
      --num-layers 32 --hidden-size 4096 --num-attention-heads 32 \
      --seq-length 4096 --max-position-embeddings 4096 \
      --micro-batch-size 2 --global-batch-size 512 --bf16 --mock-data"
}

run
