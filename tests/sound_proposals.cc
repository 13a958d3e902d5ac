#include "sound_proposals.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "describe/layout/legality.h"
#include "entry_sayings.h"
#include "verify/claims.h"

namespace sextant::tests {
namespace {

using describe::Framework;
using describe::Job;
using step::Direction;
using step::Quantity;
using verify::Claim;

// What a framework lets one set that the model prices.
const Menu& megatron_menu() {
  static const Menu kMenu{{"tp", {"1", "2", "4", "8"}},
                          {"pp", {"1", "2", "4"}},
                          {"vpp", {"1", "2", "4"}},
                          {"cp", {"1", "1", "2"}},
                          {"mbs", {"1", "2", "4"}},
                          {"zero", {"0", "1"}},
                          {"recompute", {"none", "selective", "full"}},
                          {"precision", {"bf16", "bf16", "fp8"}},
                          {"overlap", {"none", "grad_reduce+param_gather"}}};
  return kMenu;
}
const Menu& expert_menu() {
  static const Menu kMenu = [] {
    Menu menu = megatron_menu();
    menu.emplace_back("ep", std::vector<std::string>{"1", "2", "4", "8"});
    menu.emplace_back("etp", std::vector<std::string>{"1"});
    return menu;
  }();
  return kMenu;
}
const Menu& titan_menu() {
  static const Menu kMenu{
      {"tp", {"1", "2", "4", "8"}}, {"zero", {"3"}},
      {"mbs", {"1", "2", "4"}},     {"recompute", {"none", "selective", "full"}},
      {"compile", {"0", "1"}},      {"precision", {"bf16", "bf16", "fp8"}}};
  return kMenu;
}
const Menu& sharded_menu() {
  static const Menu kMenu{
      {"zero", {"1", "2", "3"}}, {"mbs", {"1", "2", "4"}}, {"recompute", {"none", "full"}}};
  return kMenu;
}
Menu mesh_menu(std::int64_t chips) {
  std::vector<std::string> meshes;
  for (std::int64_t tensor = 1; tensor <= 16; tensor *= 2) {
    meshes.push_back(fmt::format("ici:fsdp={},tensor={}", chips / tensor, tensor));
  }
  return {{"mesh", std::move(meshes)}, {"mbs", {"1", "2", "4"}}, {"recompute", {"none", "full"}}};
}

struct KindOfJob {
  verify::JobWords words;
  Menu menu;
};

// Dense models and models with experts, of 1 to 405 billion parameters, on eight kinds of devices.
const std::vector<KindOfJob>& kinds_of_jobs() {
  using enum Framework;
  static const std::vector<KindOfJob> kKindsOfJobs{
      {{"llama-3.1-70b", "64xh100-sxm", "", kMegatronCore, 256, 8192}, megatron_menu()},
      {{"llama-3.1-8b", "64xh100-sxm", "", kMegatronCore, 512, 4096}, megatron_menu()},
      {{"llama-3.1-405b", "512xh200-sxm", "", kMegatronCore, 512, 8192}, megatron_menu()},
      {{"gpt-3-175b", "256xa100-sxm-80g", "", kMegatronCore, 512, 2048}, megatron_menu()},
      {{"qwen2.5-32b", "96xb200-sxm", "", kMegatronCore, 768, 4096}, megatron_menu()},
      {{"mixtral-8x7b", "64xh100-sxm", "", kMegatronCore, 256, 4096}, expert_menu()},
      {{"qwen3-30b-a3b", "32xh100-sxm", "", kMegatronCore, 512, 4096}, expert_menu()},
      {{"llama-3.1-8b", "32xh100-sxm", "", kTorchtitan, 128, 8192}, titan_menu()},
      {{"llama-3.1-70b", "128xh200-sxm", "", kTorchtitan, 256, 8192}, titan_menu()},
      {{"llama-2-13b", "48xa100-sxm-80g", "", kTorchtitan, 192, 4096}, titan_menu()},
      {{"llama-3.1-8b", "16xmi300x", "", kTorchtitan, 64, 8192}, titan_menu()},
      {{"llama-2-7b", "32xa100-sxm-80g", "", kDeepspeed, 128, 4096}, sharded_menu()},
      {{"qwen2.5-7b", "16xh100-sxm", "", kAccelerate, 64, 4096}, sharded_menu()},
      {{"llama-3.1-8b", "v5p-128", "", kMaxtext, 256, 8192}, mesh_menu(64)},
      {{"llama-3.1-70b", "v5p-512", "", kMaxtext, 512, 8192}, mesh_menu(256)},
      {{"llama-3.1-8b", "v6e-64", "", kMaxtext, 256, 8192}, mesh_menu(64)}};
  return kKindsOfJobs;
}

// A job of the kind whose layout is still open, on its machine; files are read once for all kinds.
search::Task task_of(const KindOfJob& kind) {
  const describe::DataStore& data = verify::known().data;
  static machine::Machines machines(data);
  search::Task task;
  Job& job = task.problem.job;
  job.model = describe::load_model(kind.words.model, data).value();
  job.cluster = describe::load_cluster(kind.words.cluster, data).value();
  job.framework = kind.words.framework;
  job.global_batch = kind.words.global_batch;
  job.sequences.length = kind.words.sequence;
  task.machine = machines.step(job).value();
  task.problem.machine = task.machine.model;
  task.problem.memory = task.machine.memory;
  return task;
}

const search::Task& task_on(std::size_t kind) {
  static std::map<std::size_t, search::Task> tasks;
  auto found = tasks.find(kind);
  if (found == tasks.end()) {
    found = tasks.emplace(kind, task_of(kinds_of_jobs()[kind])).first;
  }
  return found->second;
}

double uniform(std::mt19937& random) {
  return std::uniform_real_distribution<double>(0.0, 1.0)(random);
}

template <typename T>
const T& one_of(const std::vector<T>& values, std::mt19937& random) {
  return values[std::uniform_int_distribution<std::size_t>(0, values.size() - 1)(random)];
}

// What follows from the others: a person would say it too.
void settle(LayoutKeys& keys) {
  if (const auto tp = keys.find("tp"); tp != keys.end()) {
    keys["sp"] = tp->second == "1" ? "0" : "1";
  }
  if (const auto pp = keys.find("pp"); pp != keys.end() && pp->second == "1") {
    keys["vpp"] = "1";
  }
}

LayoutKeys drawn_keys(const Menu& menu, std::mt19937& random) {
  LayoutKeys keys;
  for (const auto& [key, values] : menu) {
    keys[key] = one_of(values, random);
  }
  settle(keys);
  return keys;
}

LayoutKeys differing(const LayoutKeys& before, const LayoutKeys& after) {
  LayoutKeys changed;
  for (const auto& [key, value] : after) {
    if (const auto old = before.find(key); old == before.end() || old->second != value) {
      changed[key] = value;
    }
  }
  return changed;
}

// Legal, the axes are the devices, and it fits as the planner asks: the estimate.
std::optional<step::Estimate> runnable(const Job& job, const search::Task& task) {
  const describe::Layout& at = job.layout;
  const std::int64_t model = saturating_product({at.tp, at.cp, at.pp});
  if (job.cluster.devices % model != 0 || !describe::is_legal(job)) {
    return std::nullopt;
  }
  const Bytes need = step::memory_estimate(job, task.machine.memory).fullest.device;
  if (need > task.problem.available()) {
    return std::nullopt;
  }
  return step::whole_estimate(job, task.machine);
}

// What the model says of a quantity: the ratio, and what of it is known.
struct Told {
  double ratio = 1.0;
  step::RatioRange interval{};
};

// A claim within what is known of it: a direction, half of the time with a range.
void add_claim(Quantity quantity, const Told& known, std::mt19937& random, SoundProposal& made) {
  Claim claim{.quantity = quantity,
              .direction = known.ratio < 1.0 ? Direction::kLower : Direction::kHigher};
  if (uniform(random) < 0.5) {
    constexpr double kInside = 0.98;
    claim.ratio = step::RatioRange{
        known.ratio - uniform(random) * kInside * (known.ratio - known.interval.low),
        known.ratio + uniform(random) * kInside * (known.interval.high - known.ratio)};
  }
  made.proposal.claims.push_back(claim);
  made.ratios.push_back(known.ratio);
  made.intervals.push_back(known.interval);
}

// Memory: arithmetic, known within the model's error or half of the change.
std::optional<Told> known_memory(const step::Estimate& before, const step::Estimate& after) {
  const double ratio = after.memory.fullest.device / before.memory.fullest.device;
  if (std::abs(ratio - 1.0) < 2.0 * step::kSameShare) {
    return std::nullopt;
  }
  const double width = std::min(verify::kMemoryError * ratio, std::abs(1.0 - ratio) / 2.0);
  return Told{ratio, {ratio - width, ratio + width}};
}

// A term of the step that moves beyond what the step itself is known by.
std::optional<Told> known_term(Quantity quantity, const step::Estimate& before,
                               const step::Estimate& after, double spread) {
  constexpr double kTwice = 2.0;
  const double least = verify::kSeenShare * before.step.step.base();
  const double old_time = step::value_of(quantity, before, true);
  const double new_time = step::value_of(quantity, after, true);
  const double ratio = std::max(new_time, least) / std::max(old_time, least);
  const bool told = ratio * spread < 1.0 || ratio > spread;
  if (!told || std::abs(new_time - old_time) < kTwice * least) {
    return std::nullopt;
  }
  return Told{ratio, {ratio / spread, ratio * spread}};
}

}  // namespace

std::string layout_text(const LayoutKeys& keys) {
  std::vector<std::string> typed;
  for (const auto& [key, value] : keys) {
    if (key != "mesh") {
      typed.push_back(fmt::format("{}={}", key, value));
    }
  }
  const auto mesh = keys.find("mesh");
  const std::string text = join(typed, ",");
  return mesh == keys.end() ? text : mesh->second + (text.empty() ? "" : ";") + text;
}

// Kinds of jobs take turns, so that those whose layouts seldom fit come as often as others.
void SoundProposals::draw_job() {
  constexpr int kChanges = 2;
  constexpr int kTries = 300;
  before_.reset();
  for (; !before_; ++turn_) {
    const std::size_t at = turn_ % kinds_of_jobs().size();
    menu_ = &kinds_of_jobs()[at].menu;
    auto task = std::make_shared<search::Task>(task_on(at));
    const Job unset = task->problem.job;
    for (int i = 0; i < kTries && !before_; ++i) {
      keys_ = drawn_keys(*menu_, random_);
      task->problem.job = unset;
      if (describe::set_layout(layout_text(keys_), task->problem.job)) {
        before_ = runnable(task->problem.job, *task);
      }
    }
    task_ = std::move(task);
  }
  left_ = kChanges;
}

SoundProposal SoundProposals::next() {
  constexpr int kTries = 8;
  while (true) {
    if (left_ == 0) {
      draw_job();
    }
    for (int i = 0; i < kTries && left_ > 0; ++i) {
      if (auto made = changed()) {
        left_ -= 1;
        return *made;
      }
    }
    left_ = 0;
  }
}

std::optional<SoundProposal> SoundProposals::changed() {
  LayoutKeys keys = keys_;
  for (int i = uniform(random_) < 0.5 ? 1 : 2; i > 0; --i) {
    const auto& [key, values] = one_of(*menu_, random_);
    keys[key] = one_of(values, random_);
  }
  settle(keys);
  SoundProposal made;
  made.task = task_;
  made.change = differing(keys_, keys);
  made.after = task_->problem.job;
  made.proposal.change.layout = layout_text(made.change);
  if (made.change.empty() || !describe::lay_over(made.proposal.change.layout, made.after)) {
    return std::nullopt;
  }
  const auto after = runnable(made.after, *task_);
  if (!after) {
    return std::nullopt;
  }
  const step::Difference speed =
      step::difference({made.after, after->step.step}, {task_->problem.job, before_->step.step},
                       verify::known().spreads);
  if (speed.verdict() == step::Verdict::kEven) {
    return std::nullopt;
  }
  made.need = after->memory.fullest.device;
  made.words = fmt::format("{} on {}, {}: {} -> {}", made.after.model.name, made.after.cluster.name,
                           layout_text(keys_), made.proposal.change.layout, speed.speed);
  state_claims(*after, speed, made);
  cite(made);
  return made;
}

void SoundProposals::state_claims(const step::Estimate& after, const step::Difference& speed,
                                  SoundProposal& made) {
  add_claim(uniform(random_) < 0.5 ? Quantity::kStep : Quantity::kTokenTime,
            {1.0 / speed.speed, {1.0 / speed.high, 1.0 / speed.low}}, random_, made);
  if (const auto known = known_memory(*before_, after)) {
    add_claim(Quantity::kMemory, *known, random_, made);
  }
  constexpr std::array<Quantity, 4> kTerms{Quantity::kTensorComm, Quantity::kDataComm,
                                           Quantity::kBubble, Quantity::kCompute};
  for (const Quantity term : kTerms) {
    const auto known = known_term(term, *before_, after, speed.speed / speed.low);
    if (known && uniform(random_) < 0.5) {
      add_claim(term, *known, random_, made);
    }
  }
  if (uniform(random_) < 0.5) {
    made.proposal.devices = made.after.cluster.devices;
  }
}

void SoundProposals::cite(SoundProposal& made) {
  const Claim& claim = made.proposal.claims.front();
  const CitedFor what = cited_for(task_->problem.job, made.after, claim);
  std::vector<std::string> ids;
  for (const kb::Entry& entry : verify::known().entries) {
    if (saying_of(entry, what) == Saying::kSaysSo) {
      ids.push_back(entry.id);
    }
  }
  auto& citations = made.proposal.citations;
  if (!ids.empty()) {
    citations.push_back({verify::Cited::kEntry, one_of(ids, random_), claim});
  }
  if (uniform(random_) < 0.5) {
    citations.push_back({verify::Cited::kModel, "", claim});
  }
  if (uniform(random_) < 0.25) {
    citations.push_back({verify::Cited::kRule, "HEADS-TP", {}});
  }
}

}  // namespace sextant::tests
