# A recipe.
from typing import cast

from torchtitan.config import CompileConfig, ParallelismConfig, TrainingConfig
from torchtitan.models.llama3 import model_registry

SEQUENCE = 8 * 1024
_STAGES = [["tok_embeddings", "layers.0"], ["layers.1", "norm", "output"]]


def big(seq_len: int | None = None) -> Trainer.Config:
    """Docs with "quotes" and def inside."""

    def process_sample(sample):
        x.training.steps = 7
        return [{"role": "user"}]

    compile_config = CompileConfig(enable=True, components=["model"])
    model_spec = model_registry(
        "405B",
        converters=[
            Float8LinearConverter.Config(
                filter_fqns=["lm_head"],
                model_compile_enabled=(
                    compile_config.enable and "model" in compile_config.components
                ),
            ),
        ],
    )
    return Trainer.Config(
        loss=ChunkedLossWrapper.Config(
            loss_fn=CrossEntropyLoss.Config(global_vocab_size=vocab(model_spec)),
        ),
        hf_assets_path="./assets",
        model_spec=model_spec,
        optimizer=default_adamw(lr=8e-5),
        training=TrainingConfig(
            num_tokens_per_microbatch_per_dp_rank=2 * SEQUENCE,
            max_context_length=SEQUENCE,
            steps=3_000,
        ),
        parallelism=ParallelismConfig(
            tensor_parallel_degree=8,
            data_parallel_shard_degree=-1,
            module_fqns_per_model_part=_STAGES,
        ),
        activation_checkpoint=FullAC.Config(),
        compile=compile_config,
        dataloader=Loader.Config(filters=(lambda sample: sample is not None,), d={"a": 1}),
    )


def tuned() -> Trainer.Config:
    config = big()
    config.parallelism.tensor_parallel_degree = 4
    config.activation_checkpoint = None
    config.compile = CompileConfig(enable=False)
    return config
