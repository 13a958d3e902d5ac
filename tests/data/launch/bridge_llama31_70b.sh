#!/bin/bash
# A recipe of Megatron-Bridge with Hydra's overrides.
TP=4
RECIPE=llama31_70b_pretrain_64gpu_h100_bf16_config
torchrun --nnodes=8 --nproc-per-node=8 scripts/training/run_recipe.py --recipe ${RECIPE} \
    model.tensor_model_parallel_size=${TP} \
    model.pipeline_model_parallel_size=4 \
    "model.recompute_modules=[core_attn,layernorm]" \
    train.global_batch_size=128 train.micro_batch_size=1 \
    ++ddp.overlap_grad_reduce=true
