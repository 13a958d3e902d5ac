#include "emit/toml_file.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/text.h"
#include "emit/any_job_testing.h"
#include "emit/torchtitan.h"

namespace sextant::emit {
namespace {

Settings read_toml(std::string_view text) {
  const auto settings = parse_toml(text, "train.toml", Dialect::kTorchtitanToml);
  EXPECT_TRUE(settings) << to_text(settings.error());
  return settings.value_or(Settings{});
}

// In the style of torchtitan's train_configs.
constexpr std::string_view kFile = R"([job]
description = "Llama 3 70B training"  # a comment

[model]
name = "llama3"
flavor = "70B"
converters = ["quantize.linear.float8"]

[optimizer]
name = "AdamW"
lr = 1.5e-4

[training]
local_batch_size = 8
seq_len = 8_192
max_norm = 1.0  # grad norm clipping

[parallelism]
data_parallel_shard_degree = -1
tensor_parallel_degree = 8
enable_async_tensor_parallel = true
module_fqns_per_model_part = [["tok_embeddings", "layers.0"], ["layers.1", "norm", "output"]]

[activation_checkpoint]
mode = "full"
)";

TEST(TomlFile, TablesAreDottedKeysInFileOrder) {
  const Settings settings = read_toml(kFile);
  ASSERT_FALSE(settings.given.empty());
  EXPECT_EQ(settings.given.front().key, "job.description");
  EXPECT_EQ(settings.given.back().key, "activation_checkpoint.mode");
  EXPECT_EQ(find(settings.given, "optimizer.lr")->values[0], "1.5e-4");
  EXPECT_EQ(find(settings.given, "training.seq_len")->values[0], "8_192");
  EXPECT_EQ(find(settings.given, "parallelism.module_fqns_per_model_part")->values,
            (std::vector<std::string>{"tok_embeddings,layers.0", "layers.1,norm,output"}));
}

TEST(TomlFile, AValuesPlaceSpansItsLiteral) {
  const Settings settings = read_toml(kFile);
  for (const auto& [key, literal] : {std::pair<std::string_view, std::string_view>{
                                         "job.description", "\"Llama 3 70B training\""},
                                     {"training.seq_len", "8_192"},
                                     {"training.max_norm", "1.0"},
                                     {"parallelism.data_parallel_shard_degree", "-1"},
                                     {"parallelism.enable_async_tensor_parallel", "true"},
                                     {"activation_checkpoint.mode", "\"full\""},
                                     {"model.converters", ""}}) {
    const Place& place = find(settings.given, key)->place;
    EXPECT_EQ(kFile.substr(place.offset, place.length), literal) << key;
  }
  EXPECT_EQ(find(settings.given, "model.flavor")->place.line, 6);
}

TEST(TomlFile, AnOldFileReadsAsAJob) {
  Settings settings = read_toml(kFile);
  settings.launch = {{"devices", {"64"}, {}}};
  settings.given.pop_back();
  std::erase_if(settings.given, [](const Setting& setting) {
    return setting.key == "parallelism.module_fqns_per_model_part";
  });
  const Reading reading = read_torchtitan_toml(settings, describe::DataStore());
  ASSERT_TRUE(reading.model);
  EXPECT_EQ(reading.model->layer_count(), 80);
  EXPECT_EQ(reading.layout.tp, 8);
  EXPECT_TRUE(reading.layout.sp);
  EXPECT_EQ(reading.layout.dp, 8);
  EXPECT_EQ(reading.layout.mbs, 8);
  EXPECT_EQ(reading.global_batch, 64);  // 8 sequences on each of 8 replicas
  EXPECT_EQ(reading.sequence, 8192);
  EXPECT_EQ(reading.layout.precision, describe::Precision::kFp8);
  EXPECT_EQ(reading.layout.zero, describe::Zero::kParameters);
  EXPECT_TRUE(reading.unknown.empty());
  EXPECT_TRUE(reading.unresolved.empty());
}

TEST(TomlFile, BrokenFilesAreErrorsWithTheirLine) {
  const auto broken = parse_toml("[training]\nseq_len = = 3\n", "t.toml", Dialect::kTorchtitanToml);
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().where.substr(0, 8), "t.toml:2");
}

RC_GTEST_PROP(TomlFile, WrittenJobsReadBack, ()) {
  const Writing writing = write_torchtitan_toml(any_job(describe::Framework::kTorchtitan));
  const auto again = parse_toml(render_toml(writing.settings), "t.toml", Dialect::kTorchtitanToml);
  RC_ASSERT(again.has_value());
  for (const Setting& setting : writing.settings.given) {
    const Setting* other = find(again->given, setting.key);
    RC_ASSERT(other != nullptr);
    RC_ASSERT(other->values == setting.values);
  }
}

RC_GTEST_PROP(TomlFile, AnyTextReadsBack, ()) {
  const auto text = *rc::gen::container<std::string>(rc::gen::inRange<char>(1, 127));
  Settings settings;
  settings.given = {{"a.b", {text}, {}}, {"a.c", {text, "x"}, {}}};
  const auto again = parse_toml(render_toml(settings), "t.toml", Dialect::kTorchtitanToml);
  RC_ASSERT(again.has_value());
  RC_ASSERT(find(again->given, "a.b")->values == settings.given[0].values);
  RC_ASSERT(find(again->given, "a.c")->values == settings.given[1].values);
}

}  // namespace
}  // namespace sextant::emit
