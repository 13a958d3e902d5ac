// The messages that PyTorch was seen to issue, case by case: every one predicted, and no other.
#include <filesystem>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "base/csv.h"
#include "base/file.h"
#include "base/places_testing.h"
#include "base/text.h"
#include "describe/layout/mesh.h"
#include "measured/table.h"
#include "measured/table_model.h"
#include "validate/predict_traffic.h"

namespace sextant {
namespace {

namespace fs = std::filesystem;
using measured::Row;
using measured::StepCollectiveSubject;
using validate::MessageKind;

std::string message_text(const MessageKind& kind, std::int64_t count) {
  return std::string(kind.functional ? "f." : "c10d.") +
         std::string(
             describe::word_of<describe::CollectiveOp>(describe::kCollectiveOpWords, kind.op)) +
         " of " + std::to_string(kind.group_size) + ", " + std::to_string(kind.part_bytes) +
         " of " + std::to_string(kind.whole_bytes) + " " + kind.dtype + " x" +
         std::to_string(count);
}

struct Case {
  measured::JobPointer job;
  std::map<MessageKind, std::int64_t> seen;
};

std::map<std::string, Case> cases_of(const fs::path& table) {
  std::map<std::string, Case> cases;
  const auto rows = measured::read_table(table, describe::DataStore());
  EXPECT_TRUE(rows) << (rows ? "" : sextant::to_text(rows.error()));
  for (const Row& row : rows ? *rows : std::vector<Row>()) {
    const auto& subject = std::get<StepCollectiveSubject>(row.subject);
    Case& at = cases[subject.name];
    at.job = subject.job;
    at.seen[validate::kind_of(subject)] += subject.count;
  }
  return cases;
}

void expect_same(const std::string& name, const std::map<MessageKind, std::int64_t>& seen,
                 const std::map<MessageKind, std::int64_t>& predicted) {
  for (const auto& [kind, count] : seen) {
    const auto found = predicted.find(kind);
    EXPECT_TRUE(found != predicted.end() && found->second == count)
        << name << ": seen " << message_text(kind, count) << ", predicted "
        << (found == predicted.end() ? 0 : found->second);
  }
  for (const auto& [kind, count] : predicted) {
    EXPECT_TRUE(seen.contains(kind)) << name << ": not seen " << message_text(kind, count);
  }
}

void expect_exact(const fs::path& table) {
  for (const auto& [name, at] : cases_of(table)) {
    std::map<MessageKind, std::int64_t> predicted;
    for (const validate::MessageCount& message : validate::predicted_messages(*at.job)) {
      predicted[message.kind] += message.count;
    }
    expect_same(name, at.seen, predicted);
  }
}

TEST(TrafficTruth, EveryMessageOfPyTorchIsPredictedAndNoOther) {
  const fs::path table = shared_folder() / "truth" / "h200" / "pytorch_collectives.csv";
  if (!fs::is_regular_file(table)) {
    GTEST_SKIP() << "no measured tables beside the sources: nothing read";
  }
  EXPECT_GE(cases_of(table).size(), 20U);
  expect_exact(table);
}

// Sizes that do not divide: vocabularies and hidden sizes against 3, 6, 7 and 600 shards, tensor
// parallelism with HSDP, with and without checkpointing.
TEST(TrafficTruth, AwkwardSizesAndCombinationsAreExactToo) {
  const fs::path table = source_folder() / "data" / "measured" / "pytorch_collectives_awkward.csv";
  EXPECT_GE(cases_of(table).size(), 16U);
  expect_exact(table);
}

// The validation of those tables: no error at all.
TEST(TrafficTruth, TheValidatedBytesAreExact) {
  const fs::path table = source_folder() / "data" / "measured" / "pytorch_collectives_awkward.csv";
  const auto rows = measured::read_table(table, describe::DataStore());
  ASSERT_TRUE(rows);
  for (const Row& row : *rows) {
    const measured::Answer answer = validate::predict_step_collective(row);
    const auto* prediction = std::get_if<measured::Prediction>(&answer);
    ASSERT_NE(prediction, nullptr) << row.id;
    EXPECT_EQ(prediction->value, row.measured) << row.id;
  }
}

// Programs that XLA compiled (data/measured/README.md): the same comparison, by operation, group,
// bytes and format. Left out: the loss's scalar, ids of looked-up tokens, programs with an
// involuntary rematerialisation or gathers that were not merged, and unrolled ones that keep what
// they gathered (MaxText loops over layers).
bool contains_word(std::string_view text, std::string_view word) {
  return text.find(word) != std::string_view::npos;
}

describe::Job xla_job(const CsvTable& table, std::size_t row) {
  const auto number = [&](std::string_view column) {
    return to_integer(table.field(row, column)).value_or(0);
  };
  measured::TableShape shape;
  shape.layers = number("layers");
  shape.hidden = number("hidden");
  shape.ffn = number("ffn");
  shape.heads = number("heads");
  shape.kv_heads = number("kv");
  shape.vocab = number("vocab");
  describe::Job job;
  job.model = measured::table_model(shape);
  job.framework = describe::Framework::kMaxtext;
  const auto mesh = describe::parse_mesh(table.field(row, "mesh"));
  EXPECT_TRUE(mesh) << table.where(row);
  job.layout = describe::with_mesh(job.layout, mesh ? *mesh : describe::Mesh{});
  job.layout.sp = contains_word(table.field(row, "case"), "seq");
  job.layout.recompute.granularity =
      number("remat") == 1 ? describe::Recompute::kFull : describe::Recompute::kNone;
  job.layout.mbs = number("batch");
  job.sequences.length = number("seq");
  job.cluster.devices = job.layout.tp * job.layout.dp;
  job.global_batch = job.layout.dp * job.layout.mbs;
  return job;
}

MessageKind xla_kind(const CsvTable& table, std::size_t row) {
  static const std::map<std::string_view, describe::CollectiveOp> kOps{
      {"all-reduce", describe::CollectiveOp::kAllReduce},
      {"all-gather", describe::CollectiveOp::kAllGather},
      {"reduce-scatter", describe::CollectiveOp::kReduceScatter},
      {"all-to-all", describe::CollectiveOp::kAllToAll}};
  static const std::map<std::string_view, std::string> kFormats{
      {"bf16", "bfloat16"}, {"f32", "float32"}, {"s32", "int32"}};
  const std::int64_t input = to_integer(table.field(row, "in_bytes")).value_or(0);
  const std::int64_t output = to_integer(table.field(row, "out_bytes")).value_or(0);
  return {.op = kOps.at(table.field(row, "op")),
          .functional = false,
          .group_size = to_integer(table.field(row, "group_size")).value_or(0),
          .part_bytes = std::min(input, output),
          .whole_bytes = std::max(input, output),
          .dtype = kFormats.at(table.field(row, "dtype"))};
}

TEST(TrafficTruth, MessagesOfCompiledJaxProgramsArePredicted) {
  const fs::path file = source_folder() / "data" / "measured" / "xla_collectives.csv";
  const std::set<std::string_view> exact{"data",      "data-f32",        "data-scan", "data-tensor",
                                         "tensor",    "tensor-seq",      "fsdp",      "fsdp-f32",
                                         "data-fsdp", "tensor-seq-scan", "fsdp-scan"};
  const auto text = read_text(file, 64_MiB);
  ASSERT_TRUE(text);
  const auto table = CsvTable::parse(*text, file.string());
  ASSERT_TRUE(table);
  std::map<std::string, std::size_t> first;
  std::map<std::string, std::map<MessageKind, std::int64_t>> seen;
  for (std::size_t row = 0; row < table->rows(); ++row) {
    const bool ids = table->field(row, "dtype") == "s32";
    const std::string_view program = table->field(row, "case");
    const bool kept = contains_word(program, "fsdp") && !contains_word(program, "scan") &&
                      table->field(row, "remat") == "0";
    if (kept || !exact.contains(table->field(row, "case")) || ids ||
        table->field(row, "in_bytes") == "4") {
      continue;
    }
    std::string name;
    for (const char* column : {"case", "mesh", "layers", "hidden", "remat"}) {
      name += std::string(table->field(row, column)) + " ";
    }
    first.emplace(name, row);
    seen[name][xla_kind(*table, row)] += to_integer(table->field(row, "count")).value_or(0);
  }
  EXPECT_GE(seen.size(), 20U);
  for (const auto& [name, kinds] : seen) {
    std::map<MessageKind, std::int64_t> predicted;
    for (validate::MessageCount message :
         validate::predicted_messages(xla_job(*table, first.at(name)))) {
      message.kind.functional = false;
      if (message.kind.dtype != "int32") {
        predicted[message.kind] += message.count;
      }
    }
    expect_same(name, kinds, predicted);
  }
}

}  // namespace
}  // namespace sextant
