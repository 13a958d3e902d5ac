// Random jobs in words, about as many legal as not, for tests that ask every command whether they
// are. Only tests include this.
#pragma once

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/testing.h"
#include "describe/cluster/load_cluster.h"
#include "describe/layout/framework_defaults.h"
#include "describe/layout/job_layout.h"
#include "describe/layout/layout_text.h"
#include "describe/layout/layout_words.h"
#include "describe/layout/legality.h"
#include "describe/model/load_model.h"

namespace sextant::tests {

// A job, and the words that read_job makes it of.
struct AskedJob {
  describe::Job job;
  app::JobRequest words;
  bool in_words = true;  // false: no file says the model, which no framework could train
};

class RandomJobs {
 public:
  RandomJobs(describe::Framework framework, unsigned seed) : framework_(framework), random_(seed) {}

  // A third as they come, a third legal, a third legal but for one key.
  AskedJob next() {
    const int kind = one_of<int>({0, 1, 2});
    AskedJob asked = drawn();
    if (kind > 0) {
      constexpr int kTries = 400;
      for (int i = 0; i < kTries && !describe::is_legal(asked.job); ++i) {
        asked = drawn();
      }
    }
    if (kind == 2) {
      change(asked.job);
    }
    const bool odd = kind == 0 && one_of<int>({0, 1, 2, 3, 4, 5, 6, 7, 8, 9}) == 0;
    if (odd) {
      spoil_model(asked);
    }
    say(asked);
    return asked;
  }

 private:
  using Job = describe::Job;
  using Layout = describe::Layout;

  template <typename T>
  T one_of(const std::vector<T>& values) {
    return values[std::uniform_int_distribution<std::size_t>(0, values.size() - 1)(random_)];
  }

  template <typename E, std::size_t N>
  E word_of(const std::array<describe::Word<E>, N>& words) {
    return words[std::uniform_int_distribution<std::size_t>(0, N - 1)(random_)].first;
  }

  bool once_in(int times) { return std::uniform_int_distribution<int>(1, times)(random_) == 1; }

  const describe::Model& model(const std::string& name) {
    auto found = models_.find(name);
    if (found == models_.end()) {
      found = models_.emplace(name, *describe::load_model(name, app::built_in_data())).first;
    }
    return found->second;
  }

  const describe::Cluster& cluster(const std::string& word) {
    auto found = clusters_.find(word);
    if (found == clusters_.end()) {
      found = clusters_.emplace(word, *describe::load_cluster(word, app::built_in_data())).first;
    }
    return found->second;
  }

  // Dense, of grouped heads, with a tied head, with learned positions, with experts, with biased
  // ones, of latent attention, with recurrent layers of both kinds.
  AskedJob drawn() {
    AskedJob asked;
    asked.words.model = one_of<std::string>({"llama-3.1-8b", "llama-3.2-1b", "gpt2-xl", "falcon-7b",
                                             "mixtral-8x7b", "gpt-oss-20b", "deepseek-v2-lite-16b",
                                             "qwen3-next-80b-a3b", "nemotron-h-8b"});
    std::vector<std::string> machines{"64xh100-sxm", "16xb200-sxm",    "32xv100-sxm-32g",
                                      "16xmi300x",   "8xa100-sxm-80g", "8xl40s",
                                      "12xh100-sxm"};
    // On other machines most frameworks run nothing at all.
    if (framework_ == describe::Framework::kMaxtext || once_in(10)) {
      machines = {"v5e-16", "v5p-64", "2xv6e-8", "64xh100-sxm", "32xv100-sxm-32g"};
    }
    asked.words.cluster = one_of(machines);
    Job& job = asked.job;
    job.framework = framework_;
    job.model = model(asked.words.model);
    job.cluster = cluster(asked.words.cluster);
    choose_axes(job);
    choose_pipeline(job);
    choose_rest(job.layout);
    choose_batch(job);
    const std::vector<std::string> given = some_keys();
    describe::fill_defaults(job.layout, given, framework_);
    job.stated.insert(given.begin(), given.end());
    return asked;
  }

  void choose_axes(Job& job) {
    Layout& at = job.layout;
    at.tp = one_of<std::int64_t>({1, 1, 2, 2, 4, 8, 16, 3});
    at.sp = once_in(2);
    at.cp = one_of<std::int64_t>({1, 1, 1, 2, 4});
    at.cp_method = word_of(describe::kCpMethodWords);
    at.cp_inner = one_of<std::int64_t>({0, 2, 3});
    at.pp = one_of<std::int64_t>({1, 1, 1, 2, 4, 8});
    if (describe::has_experts(job.model) ? !once_in(3) : once_in(20)) {
      at.ep = one_of<std::int64_t>({1, 2, 4, 8, 16, 32, 3});
      at.etp = one_of<std::int64_t>({1, 1, 1, 2, 5});
    }
    at.dp = once_in(4) ? one_of<std::int64_t>({1, 2, 8}) : 0;
    at.zero = word_of(describe::kZeroWords);
    at.zero_group = one_of<std::int64_t>({0, 0, 0, 2, 4, 7});
  }

  void choose_pipeline(Job& job) {
    Layout& at = job.layout;
    at.vpp = at.pp > 1 && once_in(2) ? one_of<std::int64_t>({2, 2, 4}) : once_in(20) ? 2 : 1;
    at.schedule =
        once_in(3) ? word_of(describe::kScheduleWords) : describe::default_schedule(at.vpp);
    const auto stages = static_cast<std::size_t>(at.stages());
    if (at.pp > 1 && once_in(3)) {
      at.split.count_embedding = once_in(2);
      at.split.count_loss = once_in(2);
    } else if (at.pp > 1 && once_in(3)) {
      at.split.layers_per_stage.assign(stages, job.model.layer_count() / at.stages());
      at.split.layers_per_stage.front() +=
          job.model.layer_count() % at.stages() + (once_in(4) ? 1 : 0);
    }
  }

  void choose_rest(Layout& at) {
    using describe::Overlap;
    at.mbs = one_of<std::int64_t>({1, 1, 2, 3, 4});
    at.precision = once_in(3) ? word_of(describe::kPrecisionWords) : describe::Precision::kBf16;
    at.parameters = one_of<describe::Storage>({describe::Storage::kBf16, describe::Storage::kBf16,
                                               describe::Storage::kFp32, describe::Storage::kFp8});
    at.optimizer = describe::default_optimizer(once_in(4) ? word_of(describe::kOptimizerWords)
                                                          : describe::OptimizerKind::kAdam);
    at.attention = word_of(describe::kAttentionKernelWords);
    at.launch = word_of(describe::kLaunchWords);
    at.dispatcher = word_of(describe::kDispatcherWords);
    at.recompute.granularity = word_of(describe::kRecomputeWords);
    if (at.recompute.granularity == describe::Recompute::kSelective) {
      at.recompute.modules = {word_of(describe::kRecomputeModuleWords)};
    }
    for (const auto& [overlap, name] : describe::kOverlapWords) {
      const bool usual = overlap == Overlap::kGradReduce || overlap == Overlap::kParamGather;
      if (once_in(usual ? 2 : 6)) {
        at.overlap.push_back(overlap);
      }
    }
    if (once_in(8)) {
      std::shuffle(at.order.begin(), at.order.end(), random_);
    }
  }

  void choose_batch(Job& job) {
    job.sequences.length = one_of<std::int64_t>({1024, 2048, 4096, 4096, 16384, 4100, 1026});
    const std::int64_t dp = std::max<std::int64_t>(job.dp(), 1);
    const std::int64_t unit = dp * job.layout.mbs * (once_in(4) ? 1 : job.layout.pp);
    job.global_batch = unit * one_of<std::int64_t>({1, 2, 4, 8}) + (once_in(8) ? 1 : 0);
    if (once_in(8)) {
      job.global_batch = dp * one_of<std::int64_t>({1, 3, 5, 7});  // a smaller last microbatch
    }
  }

  // Keys that somebody states; the framework fills the others.
  std::vector<std::string> some_keys() {
    std::vector<std::string> keys;
    for (const describe::LayoutKey& key : describe::layout_keys()) {
      if (once_in(2)) {
        keys.emplace_back(key.name);
      }
    }
    return keys;
  }

  // One key as another job has it.
  void change(Job& job) {
    const AskedJob other = drawn();
    const auto values = describe::layout_values(other.job.layout);
    const auto& [key, value] = one_of(values);
    const auto changed = describe::set_keys(fmt::format("{}={}", key, value), job.layout);
    if (changed) {
      job.stated.emplace(key);
    }
    if (once_in(6)) {
      job.sequences.length = other.job.sequences.length;
    } else if (once_in(6)) {
      job.global_batch = other.job.global_batch;
    }
  }

  // What no configuration says: fewer words than ranks, groups that do not divide the experts.
  void spoil_model(AskedJob& asked) {
    asked.in_words = false;
    asked.job.model.vocab = 2;
    for (describe::Block& block : asked.job.model.blocks) {
      if (auto* moe = std::get_if<describe::MoeFfn>(&block.ffn)) {
        moe->groups = 7;
      }
    }
  }

  // The words. What read_job reads of them is what is asked of everyone.
  void say(AskedJob& asked) {
    app::JobRequest& words = asked.words;
    words.layout = describe::layout_words(asked.job.layout, framework_, asked.job.cluster.device);
    if (asked.job.states("attention") && words.layout.find("attention=") == std::string::npos) {
      words.layout += fmt::format("{}attention={}", words.layout.empty() ? "" : ",",
                                  describe::value_of(asked.job.layout, "attention"));
    }
    words.framework = describe::word_of<describe::Framework>(describe::kFrameworkWords, framework_);
    words.sequences = std::to_string(asked.job.sequences.length);
    words.global_batch = std::to_string(asked.job.global_batch);
    describe::Job read = asked.job;
    read.stated.clear();
    if (describe::set_layout(words.layout, read)) {
      asked.job.layout = read.layout;
      asked.job.stated = read.stated;
    }
  }

  describe::Framework framework_;
  std::mt19937 random_;
  std::map<std::string, describe::Model> models_;
  std::map<std::string, describe::Cluster> clusters_;
};

}  // namespace sextant::tests
