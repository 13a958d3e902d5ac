#!/bin/bash
# DeepSeek-V3 on 256 GPUs: arithmetic, arrays that grow, one value in a branch that agrees.

NNODES=32
NPROC_PER_NODE=8
WORLD=$((NNODES * NPROC_PER_NODE))

TP=1; PP=16; EP=8; ETP=1
DP=$(( WORLD / (TP * PP) ))
MBS=1
NUM_MICROBATCHES=64
GBS=$(( DP * MBS * NUM_MICROBATCHES ))

LAYERS=61
DENSE=3
LAYER_FREQ="([0]*${DENSE}+[1]*$((LAYERS - DENSE)))"
PP_LAYOUT='Et*3|(tt|)*29,m|L'

export CUDA_DEVICE_MAX_CONNECTIONS=32
export PYTORCH_CUDA_ALLOC_CONF="expandable_segments:True"
declare -x NCCL_NVLS_ENABLE=0

LAUNCHER="torchrun --nproc_per_node=${NPROC_PER_NODE} --nnodes=${NNODES}"

ARGS=(
  # model
  --num-layers ${LAYERS}
  --hidden-size 7168 --ffn-hidden-size 18432
  --num-attention-heads 128
  --multi-latent-attention
  --q-lora-rank 1536 --kv-lora-rank 512
  --qk-head-dim 128 --qk-pos-emb-head-dim 64 --v-head-dim 128
  --seq-length 4096 --max-position-embeddings 4096
  --mtp-num-layers 1
)
# experts
ARGS+=( --num-experts 256 --moe-layer-freq "$LAYER_FREQ" --moe-router-topk 8 )
ARGS+=( --moe-ffn-hidden-size 2048 --moe-shared-expert-intermediate-size 2048
        --moe-grouped-gemm --moe-token-dispatcher-type flex --moe-enable-deepep )

if [[ "${HOPPER:-1}" == 1 && $EP -gt 1 ]]; then
  RECOMPUTE="moe_act mla_up_proj"
else
  RECOMPUTE="moe_act mla_up_proj"
fi

PARALLEL=(
  --tensor-model-parallel-size $TP
  --pipeline-model-parallel-size $PP
  --pipeline-model-parallel-layout "$PP_LAYOUT"
  --expert-model-parallel-size $EP
  --expert-tensor-parallel-size $ETP
  --use-distributed-optimizer
)

$LAUNCHER pretrain_gpt.py "${ARGS[@]}" "${PARALLEL[@]}" \
  --micro-batch-size $MBS --global-batch-size $GBS \
  --recompute-granularity selective --recompute-modules $RECOMPUTE \
  --bf16 --fp8-format e4m3 --fp8-recipe blockwise \
  --mock-data
