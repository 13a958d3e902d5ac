#include "recorded_pairs.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <sstream>
#include <stdexcept>

#include <fmt/format.h>

#include "base/csv.h"
#include "base/file.h"
#include "base/places_testing.h"
#include "base/text.h"
#include "describe/cluster/load_cluster.h"
#include "describe/data_store.h"
#include "profile/testing.h"

namespace sextant::tests {
namespace {

std::filesystem::path recorded_folder() {
  return source_folder() / "tests" / "data" / "recorded";
}

bool is_of_ranks(std::string_view name) {
  return name.starts_with("gloo_");
}
bool is_of_xla(std::string_view name) {
  return name.starts_with("xla_");
}

std::vector<std::filesystem::path> files_of(std::string_view name, std::string_view which) {
  std::vector<std::filesystem::path> files;
  if (is_of_ranks(name)) {
    for (const auto& entry : std::filesystem::directory_iterator(recorded_folder() / name)) {
      if (entry.path().extension() == ".zst") {
        files.push_back(entry.path());
      }
    }
    std::ranges::sort(files);
    return files;
  }
  return {recorded_folder() /
          fmt::format("{}.{}.{}.zst", name, which, is_of_xla(name) ? "xplane.pb" : "json")};
}

const CsvTable& table_of_steps() {
  static const CsvTable kTable = [] {
    auto text = read_file(recorded_folder() / "steps.csv", 1_MiB);
    auto table = text ? CsvTable::parse(*std::move(text), "steps.csv")
                      : tl::unexpected(std::move(text.error()));
    if (!table) {
      throw std::runtime_error(to_text(table.error()));
    }
    return *std::move(table);
  }();
  return kTable;
}

double number_in(std::size_t row, const char* column) {
  return to_double(table_of_steps().field(row, column)).value_or(0.0);
}

// steps.txt holds "rank number seconds" of each step; the first one warms up. A step takes as long
// as its slowest rank.
TimedStep step_of_ranks(std::string_view name) {
  const auto text = read_file(recorded_folder() / name / "steps.txt", 1_MiB);
  if (!text) {
    throw std::runtime_error(to_text(text.error()));
  }
  std::istringstream lines(*text);
  std::map<int, double> longest;
  int rank = 0;
  int number = 0;
  double seconds = 0.0;
  while (lines >> rank >> number >> seconds) {
    longest[number] = std::max(longest[number], seconds);
  }
  std::vector<double> steps;
  for (const auto& [step, taken] : longest) {
    if (step > 0) {
      steps.push_back(taken);
    }
  }
  std::ranges::sort(steps);
  const double middle = 0.5 * (steps[(steps.size() - 1) / 2] + steps[steps.size() / 2]);
  return {middle * 1_s, steps.front() * 1_s};
}

// The same run without the fault: of its own name, else the plain one.
std::string_view mended_name(std::string_view name) {
  if (is_of_ranks(name)) {
    return "gloo_plain";
  }
  return is_of_xla(name) ? "xla_plain" : timed_step(name, "fixed") ? name : "plain";
}

std::optional<Seconds> saved_of(const RecordedPair& pair, const diagnose::Diagnosis& with) {
  const std::string_view mended = mended_name(pair.name);
  if (pair.saved_by == SavedBy::kNothing) {
    return std::nullopt;
  }
  if (is_of_ranks(pair.name)) {
    // One core of the plain run slows from its second step on: the first is what it takes.
    return timed_step(pair.name, "fault")->median - timed_step(mended, "fixed")->least;
  }
  if (pair.saved_by == SavedBy::kProfiles) {
    return with.step - diagnosis_of_recorded(mended, "fixed").step;
  }
  return timed_step(pair.name, "fault")->median - timed_step(mended, "fixed")->median;
}

}  // namespace

const std::vector<RecordedPair>& recorded_pairs() {
  static const std::vector<RecordedPair> kPairs{
      {"input_bound", "input-bound", "60 ms in the loader before each step", "none"},
      {"launch_bound", "launch-bound", "six layers, 512 wide", "a CUDA graph"},
      {"sync_each_block", "host-sync", ".item() after each of 12 blocks", "none"},
      {"python_gc", "python-gc", "gc.collect() in each step, the collector recorded", "none"},
      {"gc_frames", "python-gc", "the same, stacks alone recorded", "none"},
      {"gc_unseen", "host-busy", "the same, neither recorded", "none", SavedBy::kTimed,
       "python-gc abstains and names the flag"},
      {"allocator_churn", "allocator-churn", "empty_cache() in each step", "none"},
      {"pageable_copy", "pageable-copies", "1 GiB a step from memory not pinned", "none"},
      {"small_copies", "pageable-copies", "400 copies of 256 B a step from memory not pinned",
       "none"},
      {"unfused_optimizer", "unfused-optimizer", "AdamW, tensor by tensor", "fused"},
      {"foreach_optimizer", "unfused-optimizer", "AdamW, lists of tensors", "fused"},
      {"math_attention", "eager-attention", "PyTorch's math attention", "flash"},
      {"eager_attention", "eager-attention", "attention by its formula", "flash"},
      {"fp32_no_tf32", "missing-tensor-cores", "fp32 without TF32", "TF32"},
      {"needless_recompute", "needless-recompute", "blocks recomputed, 141 GB free", "kept"},
      {"small_products", "small-products", "64 narrow products for one", "one"},
      {"elementwise_chain", "memory-bound-epilogues", "GELU and more by formula", "one kernel"},
      {"norm_parts", "memory-bound-epilogues", "RMSNorm by its formula", "one kernel"},
      {"compiled", "memory-bound-epilogues", "both of these", "torch.compile", SavedBy::kTimed,
       "the compiler fuses the loss, too"},
      {"blocks_compiled", "memory-bound-epilogues", "both of these", "torch.compile, of blocks"},
      {"vocabulary", "vocabulary-logits", "152,064 classes, fp32 logits",
       "torch.compile, of the loss"},
      {"memory_limit", "hbm-near-limit", "lengths vary, 9 % of the memory", "all of it"},
      {"host_work", "host-busy", "12 ms of Python after each block", "none"},
      {"checkpoint_save", "checkpoint-stall", "torch.save in each step", "none"},
      {"profiler_stacks", "profiler-overhead", "shapes, memory and stacks recorded",
       "none of them recorded", SavedBy::kProfiles},
      {"relayout", "relayout-copies", "eight copies a block into another order", "none"},
      {"recompile", "recompilation", "a new length in each step", "one length"},
      {"item_each_grad", "host-sync", ".item() of each gradient's norm", "none"},
      {"aside_input", "input-bound", "15 ms in the loader before each step", "none"},
      {"aside_launch", "launch-bound", "twelve layers, 256 wide", "a CUDA graph"},
      {"aside_math", "eager-attention", "PyTorch's math attention, 1,024 tokens", "flash"},
      {"aside_eager", "eager-attention", "attention by its formula, 4,096 tokens", "flash"},
      {"aside_recompute", "needless-recompute", "eight blocks, 1,024 wide, recomputed", "kept"},
      {"aside_fp32", "missing-tensor-cores", "fp32 without TF32, 1,024 tokens", "TF32"},
      {"aside_norms", "memory-bound-epilogues", "RMSNorm by its formula, 1,024 wide", "one kernel"},
      {"aside_products", "small-products", "64 narrow products for one, one sequence", "one"},
      {"aside_foreach", "unfused-optimizer", "AdamW, lists of tensors, six layers", "fused"},
      {"aside_host", "host-busy", "6 ms of Python after each block", "none"},
      {"aside_churn", "allocator-churn", "empty_cache() in each step, two sequences", "none"},
      {"aside_copies", "pageable-copies", "1,500 copies of 256 B a step, not pinned", "none"},
      {"aside_save", "checkpoint-stall", "torch.save of a small model in each step", "none"},
      {"xla_relayout", "relayout-copies", "XLA: orders changed behind barriers", "none"},
      {"xla_apart", "memory-bound-epilogues", "XLA: six barriers between elementwise operators",
       "none", SavedBy::kTimed, "block_until_ready() in each step, here too, costs more"},
      {"xla_eager_attention", "eager-attention", "XLA: attention by its formula", "cuDNN"},
      {"xla_recompute", "needless-recompute", "XLA: jax.checkpoint", "kept"},
      {"xla_fp32", "missing-tensor-cores", "XLA: fp32, and so attention by its formula",
       "bf16 and cuDNN", SavedBy::kTimed, "with eager-attention", "eager-attention"},
      {"xla_input_bound", "input-bound", "XLA: 30 ms before each step", "none"},
      {"gloo_late_data", "data-late-rank", "rank 3 of 8 sleeps 120 ms before its batch", "none",
       SavedBy::kProfiles},
      {"gloo_slow_compute", "slow-worker", "rank 3 of 8 computes more", "none", SavedBy::kProfiles},
      {"gloo_late_host", "late-rank", "Python of rank 3 of 8 takes 100 ms more", "none",
       SavedBy::kProfiles},
      {"gloo_gc", "late-rank", "gc.collect() in each step of rank 3 of 8, not recorded", "none",
       SavedBy::kProfiles},
      {"gloo_sequence_imbalance", "sequence-imbalance", "256 to 536 rows on 8 ranks", "–",
       SavedBy::kNothing}};
  return kPairs;
}

const std::vector<RecordedPlain>& recorded_plain() {
  // Launch-bound runs and fp32_no_tf32 by what the same mend saves in another run, the others by
  // the same run with and without.
  static const std::vector<RecordedPlain> kPlain{
      {"plain", {}},
      {"launch_bound", {}},
      {"sync_each_block", {{"launch-bound", "launch_bound"}}},
      {"python_gc", {}},
      {"small_copies", {{"host-sync", "wait_b2"}}},
      {"unfused_optimizer", {{"launch-bound", "launch_bound"}, {"host-sync", "wait_tall"}}},
      {"foreach_optimizer", {{"host-sync", "wait_b1"}}},
      {"math_attention", {{"host-sync", "wait_b4"}}},
      {"eager_attention", {}},
      {"fp32_no_tf32", {{"missing-tensor-cores", "sixteen_bits"}}},
      {"small_products", {{"host-sync", "wait_b2"}}},
      {"compiled", {}},
      {"vocabulary", {}},
      {"memory_limit", {}},
      {"host_work", {{"host-sync", "wait_b4"}}},
      {"profiler_stacks", {{"launch-bound", "launch_bound"}}},
      {"recompile", {}},
      {"gc_frames", {}},
      {"item_each_grad", {{"relayout-copies", "qkv_apart"}}},
      {"blocks_compiled", {}},
      {"wait_b1", {}},
      {"aside_input", {{"host-sync", "wait_b2"}}},
      {"aside_math", {{"host-sync", "wait_math"}}},
      {"aside_eager", {}},
      {"aside_recompute", {{"relayout-copies", "qkv_apart_short"}}},
      {"aside_fp32", {{"missing-tensor-cores", "sixteen_bits"}}},
      {"aside_norms", {{"relayout-copies", "qkv_apart_norms"}}},
      {"aside_products", {{"host-sync", "wait_products"}}},
      {"aside_foreach", {{"host-sync", "wait_foreach"}}},
      {"xla_plain", {{"host-sync", "xla_wait"}}},
      {"gloo_plain",
       {{"slow-worker", "",
         "its first step, before one core slowed, takes 188 ms of the later 225"}}}};
  return kPlain;
}

const Confirmation* RecordedPlain::confirmation_of(std::string_view rule) const {
  const auto found = std::ranges::find(confirmed, rule, &Confirmation::rule);
  return found == confirmed.end() ? nullptr : &*found;
}

std::optional<TimedStep> timed_step(std::string_view name, std::string_view which) {
  if (is_of_ranks(name)) {
    return step_of_ranks(name);
  }
  for (std::size_t row = 0; row < table_of_steps().rows(); ++row) {
    if (table_of_steps().field(row, "name") == name &&
        table_of_steps().field(row, "which") == which) {
      return TimedStep{number_in(row, "median_ms") * 1_ms, number_in(row, "least_ms") * 1_ms};
    }
  }
  return std::nullopt;
}

diagnose::Diagnosis diagnosis_of_recorded(std::string_view name, std::string_view which) {
  metrics::Summary summary;
  for (const std::filesystem::path& file : files_of(name, which)) {
    const auto recording = profile::read_profile(file.string(), profile::options_of_tests());
    if (!recording) {
      throw std::runtime_error(to_text(recording.error()));
    }
    summary = merge(std::move(summary), metrics::summarize(*recording));
  }
  if (is_of_ranks(name)) {
    return diagnose::diagnosis_of(diagnose::scene_of(summary, {}, std::nullopt));
  }
  const describe::DataStore data;
  const auto device = describe::load_device("h200-sxm", data);
  diagnose::Scene scene =
      diagnose::scene_of(summary,
                         {.compute = device->peak(describe::DType::kBf16)->value,
                          .memory = device->memory_bandwidth.value,
                          .on_chip = std::nullopt},
                         device->usable_memory());
  if (const auto known = diagnose::know_device(*device, data, scene); !known) {
    throw std::runtime_error(to_text(known.error()));
  }
  return diagnose::diagnosis_of(scene);
}

const diagnose::Finding* DiagnosedPair::first() const {
  const auto found = std::ranges::find_if(
      with.findings, [](const diagnose::Finding& one) { return !one.explained_by; });
  return found == with.findings.end() ? nullptr : &*found;
}

bool DiagnosedPair::is_right() const {
  return first() != nullptr && first()->rule == pair->rule;
}

std::optional<Seconds> DiagnosedPair::claimed() const {
  std::vector<diagnose::Finding> of_fault;
  std::ranges::copy_if(
      with.findings, std::back_inserter(of_fault), [&](const diagnose::Finding& one) {
        return one.rule == pair->rule || (!pair->also.empty() && one.rule == pair->also);
      });
  if (of_fault.size() == 1) {
    return of_fault.front().per_step;
  }
  return of_fault.empty() ? std::nullopt
                          : std::optional(diagnose::total_ceiling(of_fault, with.parts));
}

bool DiagnosedPair::is_kept() const {
  const auto most = claimed();
  return most && saved && *saved <= *most && *most <= 2.0 * *saved;
}

DiagnosedPair diagnosed_pair(const RecordedPair& pair) {
  DiagnosedPair answer{.pair = &pair,
                       .with = diagnosis_of_recorded(pair.name, "fault"),
                       .saved = std::nullopt,
                       .took_effect = true};
  answer.saved = saved_of(pair, answer.with);
  if (pair.saved_by == SavedBy::kTimed) {
    answer.took_effect =
        timed_step(pair.name, "fault")->least > timed_step(mended_name(pair.name), "fixed")->median;
  }
  return answer;
}

}  // namespace sextant::tests
