// Two independent counts of a model's floating-point operations must agree: the operators of
// workload/, summed over the ranks of a replica, and the published conventions of measured/, which
// are formulas on the model. And both must reproduce the rates that sources print.
#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "base/csv.h"
#include "base/file.h"
#include "base/places_testing.h"
#include "describe/layout/pipeline_split.h"
#include "describe/layout/rules.h"
#include "describe/model/load_model.h"
#include "measured/flops_convention.h"
#include "measured/table.h"
#include "workload/operators.h"

namespace sextant {
namespace {

namespace fs = std::filesystem;
using describe::Job;
using describe::Model;
using measured::FlopsConvention;
using workload::Shard;
using workload::Stage;
using workload::WorkTotals;

// A job that breaks no rule for lack of a device, a batch or learned positions.
Job legal_job(Model model) {
  Job job;
  for (auto& peak : job.cluster.device.peaks) {
    peak = describe::Sourced<FlopsPerSecond>{};
  }
  job.cluster.devices = 64;
  job.sequences.length =
      model.learned_positions > 0 ? std::min<std::int64_t>(model.learned_positions, 4096) : 4096;
  job.global_batch = 64;
  job.model = std::move(model);
  return job;
}

// One microbatch through all stages on one rank of each.
WorkTotals replica_totals(const Job& job, const Shard& shard, bool mtp) {
  WorkTotals totals;
  for (Stage stage : workload::stages_of(job)) {
    stage.mtp_layers = mtp ? stage.mtp_layers : 0;
    totals += workload::totals_of(workload::stage_operators(job, stage, shard));
  }
  return totals;
}

// Of one token, over all ranks of a replica.
double per_token(const Shard& shard, Flops of_a_rank) {
  return of_a_rank.base() * static_cast<double>(shard.tp * shard.cp) /
         static_cast<double>(shard.mbs * shard.sequence);
}

double model_flops(const Job& job, bool mtp) {
  const Shard shard = workload::shard_of(job);
  return per_token(shard, replica_totals(job, shard, mtp).model);
}

// The conventions know neither the top-k of a sparse indexer nor its own products, nor the
// narrower width of latent experts: models that have these are checked apart.
bool counted_otherwise(const Model& model) {
  return std::any_of(model.blocks.begin(), model.blocks.end(), [](const describe::Block& block) {
    const auto* latent = std::get_if<describe::LatentAttention>(&block.mixer);
    const auto* moe = std::get_if<describe::MoeFfn>(&block.ffn);
    return (latent && latent->indexer.heads > 0) || (moe && moe->latent_width > 0);
  });
}

// Every combination of a few sizes, with and without sequence parallelism.
std::vector<describe::Layout> layouts_of(const Model& model) {
  std::vector<describe::Layout> layouts(1);
  const auto vary = [&layouts](std::initializer_list<std::int64_t> sizes, auto set) {
    std::vector<describe::Layout> varied;
    for (const describe::Layout& layout : layouts) {
      for (const std::int64_t size : sizes) {
        varied.push_back(layout);
        set(varied.back(), size);
      }
    }
    layouts = std::move(varied);
  };
  const bool experts = describe::has_experts(model);
  vary({1, 2, 8}, [experts](describe::Layout& layout, std::int64_t tp) {
    layout.tp = tp;
    layout.sp = tp == 2;
    layout.etp = experts && tp == 8 ? 2 : 1;
  });
  vary({1, 2, 8}, [&model](describe::Layout& layout, std::int64_t pp) {
    layout.pp = pp;
    layout.split = describe::plausible_split(model.layer_count(), pp);
  });
  vary({1, 2}, [](describe::Layout& layout, std::int64_t cp) { layout.cp = cp; });
  if (experts) {
    vary({1, 4}, [](describe::Layout& layout, std::int64_t ep) { layout.ep = ep; });
  }
  return layouts;
}

TEST(WorkloadFlops, ModelFlopsAreTheConventionsForEveryCatalogueModelAndLayout) {
  const describe::DataStore data;
  std::size_t checked = 0;
  std::set<std::string> apart;
  for (const std::string& name : describe::catalogue_names(data)) {
    const auto model = describe::load_model(name, data);
    ASSERT_TRUE(model) << name;
    if (counted_otherwise(*model)) {
      apart.insert(name);
      continue;
    }
    Job job = legal_job(*model);
    const double expected =
        measured::flops_per_token(*model, job.sequences.length, FlopsConvention::kModelCausal)
            .base();
    for (const describe::Layout& layout : layouts_of(*model)) {
      job.layout = layout;
      if (!describe::check_rules(job).empty()) {
        continue;
      }
      ++checked;
      EXPECT_NEAR(model_flops(job, false) / expected, 1.0, 1e-3)
          << name << " tp=" << layout.tp << " pp=" << layout.pp << " cp=" << layout.cp
          << " ep=" << layout.ep << " etp=" << layout.etp;
    }
  }
  EXPECT_GE(checked, 2000U);
  EXPECT_EQ(apart, (std::set<std::string>{"deepseek-v3.2-671b", "glm-5-744b-a40b"}));
}

// A query attends to topk keys at most, after an indexer whose input is detached (no gradient of
// the input: 4 operations a weight and token, not 6) has scored all of those before it.
TEST(WorkloadFlops, SparseAttentionIsBoundByItsTopKAndPaysForItsIndexer) {
  Job job = legal_job(*describe::load_model("deepseek-v3.2", describe::DataStore()));
  job.sequences.length = 16384;
  const auto& a = std::get<describe::LatentAttention>(job.model.blocks[0].mixer);
  const auto count = [](std::int64_t n) { return static_cast<double>(n); };
  const double causal = 8192.0;
  const double head = count(a.qk_nope_head_dim + a.qk_rope_head_dim + a.v_head_dim);
  const double saved = 6.0 * count(a.heads) * head * (causal - count(a.indexer.topk));
  const double weights = count(a.q_lora_rank * a.indexer.heads * a.indexer.head_dim) +
                         count(job.model.hidden * (a.indexer.head_dim + a.indexer.heads));
  const double indexer = 4.0 * weights + 6.0 * count(a.indexer.heads * a.indexer.head_dim) * causal;
  const double dense =
      measured::flops_per_token(job.model, 16384, FlopsConvention::kModelCausal).base();
  const double expected = dense + count(job.model.layer_count()) * (indexer - saved);
  EXPECT_NEAR(model_flops(job, false) / expected, 1.0, 1e-6);
}

TEST(WorkloadFlops, MultiTokenPredictionAddsABlockAProjectionAndAHead) {
  const describe::DataStore data;
  std::size_t checked = 0;
  for (const std::string& name : describe::catalogue_names(data)) {
    const Model model = *describe::load_model(name, data);
    if (model.mtp_layers == 0 || counted_otherwise(model)) {
      continue;
    }
    const Job job = legal_job(model);
    Model depth = model;  // one layer of that block, and a head
    depth.layers.assign(1, model.mtp_block);
    const auto hidden = static_cast<double>(model.hidden);
    const double expected =
        static_cast<double>(model.mtp_layers) *
        (measured::flops_per_token(depth, job.sequences.length, FlopsConvention::kModelCausal)
             .base() +
         6.0 * 2.0 * hidden * hidden);
    const double added = model_flops(job, true) - model_flops(job, false);
    EXPECT_NEAR(added / expected, 1.0, 1e-3) << name;
    ++checked;
  }
  EXPECT_GE(checked, 2U);
}

// Attention through memory computes the whole square, forward once and backward twice: what
// MODEL_FULL counts; with every layer recomputed, what HW_FULL counts. Frameworks that neither pad
// the vocabulary nor stop a recomputation early.
TEST(WorkloadFlops, HardwareFlopsWithEagerAttentionAreThePublishedFullCounts) {
  const describe::DataStore data;
  for (const char* name : {"gpt-3-175b", "llama-3-8b", "llama-2-70b", "mixtral-8x7b", "gpt2-xl"}) {
    Job job = legal_job(*describe::load_model(name, data));
    job.framework = describe::Framework::kDeepspeed;
    job.layout.attention = describe::AttentionKernel::kEager;
    const Shard shard = workload::shard_of(job);
    const auto executed = [&] {
      const WorkTotals totals = replica_totals(job, shard, false);
      return per_token(shard, totals.forward.flops + totals.input_gradient.flops +
                                  totals.weight_gradient.flops + totals.recompute.flops);
    };
    const auto published = [&](FlopsConvention convention) {
      return measured::flops_per_token(job.model, job.sequences.length, convention).base();
    };
    EXPECT_NEAR(executed() / published(FlopsConvention::kModelFull), 1.0, 1e-3) << name;
    job.layout.recompute.granularity = describe::Recompute::kFull;
    EXPECT_NEAR(executed() / published(FlopsConvention::kHardwareFull), 1.0, 1e-3) << name;
  }
}

const fs::path& runs_folder() {
  static const fs::path kFolder = shared_folder() / "truth" / "runs";
  return kFolder;
}

// The operators' count in a source's convention; nothing where the convention is not a count of
// operators.
std::optional<double> counted(Job job, FlopsConvention convention) {
  const bool whole =
      convention == FlopsConvention::kModelFull || convention == FlopsConvention::kHardwareFull;
  if (convention == FlopsConvention::kParamFull) {
    return std::nullopt;
  }
  Shard shard = workload::shard_of(job);
  if (whole) {
    shard.causal_keys = static_cast<double>(shard.sequence);
  }
  job.layout.recompute = {};
  if (convention == FlopsConvention::kHardwareFull) {
    job.layout.recompute.granularity = describe::Recompute::kFull;
    job.framework = describe::Framework::kMegatronCore;
  }
  const WorkTotals totals = replica_totals(job, shard, false);
  return per_token(shard, totals.model + totals.recompute.flops);
}

struct Printed {
  std::string id;
  FlopsConvention convention = FlopsConvention::kModelCausal;
  double flops_per_token = 0.0;  // tflops_per_device over tokens_per_s_per_device
  std::string check;
};

// Rows that print both a rate and a throughput, and whose own check compared them.
std::vector<Printed> printed_rows(const fs::path& file) {
  std::vector<Printed> rows;
  auto text = read_text(file, 16_MiB);
  EXPECT_TRUE(text);
  const auto table = CsvTable::parse(std::move(*text), file.string());
  EXPECT_TRUE(table);
  for (std::size_t line = 0; line < table->rows(); ++line) {
    const auto convention = measured::flops_convention(table->field(line, "flops_convention"));
    const std::string tflops(table->field(line, "tflops_per_device"));
    const std::string tokens(table->field(line, "tokens_per_s_per_device"));
    const std::string check(table->field(line, "check"));
    if (convention && !tflops.empty() && !tokens.empty() &&
        check.find("flops ratio") != std::string::npos) {
      rows.push_back({std::string(table->field(line, "id")), *convention,
                      std::stod(tflops) * 1e12 / std::stod(tokens), check});
    }
  }
  return rows;
}

// Rows that contradict themselves; truth_test.cc of measured/ says how.
const std::set<std::string>& miscounted_rows() {
  static const std::set<std::string> kRows{"BLM-040", "IEV-037", "IEV-043", "MBR-080", "TPU-021"};
  return kRows;
}

TEST(WorkloadFlops, OperatorsReproducePrintedRates) {
  if (!fs::is_directory(runs_folder())) {
    GTEST_SKIP() << "no measured tables beside the sources: nothing read";
  }
  const std::vector<fs::path> folder{runs_folder()};
  const auto files = measured::expand_tables(folder);
  ASSERT_TRUE(files);
  std::size_t checked = 0;
  for (const fs::path& file : *files) {
    std::map<std::string, measured::JobPointer> jobs;
    const auto rows = measured::read_table(file, describe::DataStore());
    ASSERT_TRUE(rows) << file;
    for (const measured::Row& row : *rows) {
      jobs[row.id] = std::get<measured::RunSubject>(row.subject).job;
    }
    for (const Printed& row : printed_rows(file)) {
      const auto& job = jobs[row.id];
      const bool contradicts =
          miscounted_rows().contains(row.id) || row.check.find("FLAG") != std::string::npos;
      if (!job || contradicts || !describe::check_rules(*job).empty()) {
        continue;
      }
      if (const auto count = counted(*job, row.convention)) {
        EXPECT_NEAR(*count / row.flops_per_token, 1.0, 0.02)
            << row.id << " " << job->model.name << " " << row.check;
        ++checked;
      }
    }
  }
  EXPECT_GE(checked, 280U);
}

}  // namespace
}  // namespace sextant
