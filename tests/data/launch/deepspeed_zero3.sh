#!/bin/bash
# ZeRO 3 under DeepSpeed's launcher; batch sizes live in the JSON file.
NUM_NODES=2
MODEL="meta-llama/Llama-3.1-8B"

deepspeed --num_nodes ${NUM_NODES} --num_gpus=8 --hostfile=/job/hostfile \
    train.py \
    --model_name_or_path "$MODEL" \
    --per_device_train_batch_size 2 \
    --gradient_accumulation_steps 8 \
    --max_seq_length 4096 \
    --gradient_checkpointing \
    --bf16 True \
    --deepspeed ds_config_zero3.json
