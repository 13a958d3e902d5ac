#include "emit/beside_the_job.h"

#include <string_view>

#include <gtest/gtest.h>

namespace sextant::emit {
namespace {

TEST(BesideTheJob, PathsAddressesAndLoggingAre) {
  for (const std::string_view what :
       {"--save $OUT/ckpt", "--data-path $DATA", "--wandb-project $P", "--master_addr $HOST",
        "LD_LIBRARY_PATH=/a:$B", "CMD=python $X", "--tensorboard-dir $T", "--rdzv_id $ID"}) {
    EXPECT_TRUE(is_beside_the_job({std::string(what), "", {}})) << what;
  }
}

TEST(BesideTheJob, WhatSetsTheLayoutIsNot) {
  for (const std::string_view what :
       {"--tensor-model-parallel-size $TP", "--global-batch-size $GBS", "$EXTRA_ARGS",
        "--model_name_or_path $M", "--checkpoint-activations $C", "--nnodes $N",
        "3 training commands", "CUDA_DEVICE_MAX_CONNECTIONS=$C", "--overlap-param-gather $O"}) {
    EXPECT_FALSE(is_beside_the_job({std::string(what), "", {}})) << what;
  }
  EXPECT_FALSE(is_beside_the_job({"--config-path $C", "", {}, {}, true}));
}

}  // namespace
}  // namespace sextant::emit
