from torchtitan.models.llama3.config_registry import llama3_8b


def mine():
    config = llama3_8b()
    config.parallelism.tensor_parallel_degree = 2 ** 2
    if big:
        config.training.steps *= -3
    return config
