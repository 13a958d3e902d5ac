#include "emit/known_keys.h"

#include <array>

#include <gtest/gtest.h>

#include "emit/dialects.h"

namespace sextant::emit {
namespace {

struct Slip {
  Dialect dialect;
  std::string_view written;
  std::string_view meant;
};

constexpr auto kSlips = std::to_array<Slip>({
    {Dialect::kMegatron, "tensor_modle_parallel_size", "tensor_model_parallel_size"},
    {Dialect::kBridge, "modle.tensor_model_parallel_size", "model.tensor_model_parallel_size"},
    {Dialect::kTorchtitan, "paralelism.tensor_parallel_degree",
     "parallelism.tensor_parallel_degree"},
    {Dialect::kTorchtitan, "optimiser.name", "optimizer.name"},
    {Dialect::kTorchtitanToml, "training.seq_length", "training.seq_len"},
    {Dialect::kDeepspeed, "zero_optimisation.stage", "zero_optimization.stage"},
    {Dialect::kDeepspeed, "train_batchsize", "train_batch_size"},
    {Dialect::kMaxtext, "ici_fdsp_parallelism", "ici_fsdp_parallelism"},
    {Dialect::kAccelerate, "num_proceses", "num_processes"},
    {Dialect::kNanotron, "tokens.sequence_lenght", "tokens.sequence_length"},
});

Settings one_setting(const Slip& slip) {
  Settings settings;
  settings.dialect = slip.dialect;
  settings.given = {{std::string(slip.written), {"8"}, {"train.sh", 3, 0, 0}}};
  return settings;
}

TEST(KnownKeys, AMisspeltKeyIsUnknownAndTheOneMeantIsTheNearest) {
  for (const Slip& slip : kSlips) {
    const Reading reading = read(one_setting(slip), describe::DataStore());
    ASSERT_EQ(reading.unknown.size(), 1U) << slip.written;
    EXPECT_EQ(reading.unknown[0].key, slip.written);
    EXPECT_EQ(reading.unknown[0].place.line, 3);
    ASSERT_FALSE(reading.unknown[0].nearest.empty()) << slip.written;
    EXPECT_EQ(reading.unknown[0].nearest[0], slip.meant);
  }
}

TEST(KnownKeys, WhatIsMeantIsKnown) {
  const describe::DataStore data;
  for (const Slip& slip : kSlips) {
    const KnownKeys known = known_keys(slip.dialect, data);
    EXPECT_TRUE(is_known(slip.meant, known)) << slip.meant;
    EXPECT_FALSE(is_known(slip.written, known)) << slip.written;
  }
}

TEST(KnownKeys, NothingIsNearToNonsense) {
  const KnownKeys known = known_keys(Dialect::kDeepspeed, describe::DataStore());
  EXPECT_TRUE(nearest_keys("qqqqqqqqqqqqqqqqqqqq", known).empty());
  EXPECT_FALSE(is_known("", known));
}

// The framework wrote it itself: it cannot be a slip of the user's.
TEST(KnownKeys, ALogHasNoMisspeltSettings) {
  for (const Slip& slip : kSlips) {
    Settings settings = one_setting(slip);
    settings.printed = {"train.sh"};
    EXPECT_TRUE(read(settings, describe::DataStore()).unknown.empty()) << slip.written;
    settings.printed = {"other.log"};
    EXPECT_EQ(read(settings, describe::DataStore()).unknown.size(), 1U) << slip.written;
  }
}

}  // namespace
}  // namespace sextant::emit
