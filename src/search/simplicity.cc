#include "search/simplicity.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

namespace sextant::search {
namespace {

using describe::Layout;
using describe::Overlap;
using describe::Recompute;
using describe::Schedule;

constexpr int kContextPoints = 2;
constexpr std::int64_t kMostKnown = std::int64_t{1} << 62;

bool is_plain_schedule(Schedule schedule) {
  return schedule == Schedule::k1f1b || schedule == Schedule::kInterleaved1f1b;
}

bool is_uneven(const describe::PipelineSplit& split) {
  const auto& layers = split.layers_per_stage;
  return !layers.empty() && std::ranges::count(layers, layers.front()) != std::ssize(layers);
}

// One for layers computed again whole, one for each module, two for a number of layers.
int recompute_points(const describe::RecomputePolicy& policy) {
  switch (policy.granularity) {
    case Recompute::kNone:
      return 0;
    case Recompute::kSelective:
      return std::max(1, static_cast<int>(policy.modules.size()));
    case Recompute::kFull:
      break;
  }
  return policy.layers > 0 ? 2 : 1;
}

// Features of the runs that count.
class Seen {
 public:
  Seen(const describe::DifferenceSpreads& spreads, std::string_view left_out)
      : sources_(spreads.file().measured), left_out_(left_out) {}

  [[nodiscard]] bool has(const std::string& word) const {
    return std::ranges::any_of(sources_, [&](const auto& source) {
      return source.first != left_out_ && source.second.contains(word);
    });
  }
  // "cp>4" is of every size up to 8.
  [[nodiscard]] std::int64_t largest(std::string_view name) const {
    std::int64_t size = 1;
    while (size < kMostKnown && has(fmt::format("{}>{}", name, size))) {
      size *= 2;
    }
    return size;
  }

 private:
  const std::map<std::string, std::set<std::string>>& sources_;
  std::string_view left_out_;
};

}  // namespace

std::array<std::int64_t, Simplicity::kSizes> Simplicity::sizes_of(const Layout& layout) {
  return {layout.tp, layout.cp, layout.pp, layout.vpp, layout.ep, layout.mbs};
}

Simplicity::Simplicity(const Choices& choices, const describe::Job& job,
                       const describe::DifferenceSpreads& spreads, std::string_view left_out)
    : plain_(job.layout), plain_sp_(choices.sp.front()) {
  plain_.cp_method = choices.cp_methods.front();
  plain_.dispatcher = choices.dispatchers.front();
  plain_.launch = choices.launches.front();
  plain_.order = choices.orders.front();
  plain_.recompute = choices.recompute.front();
  plain_.zero = choices.zero.front();
  plain_.reshard_after_forward = choices.reshard.front();
  usable_ = job.cluster.device.usable_memory();
  const Seen seen(spreads, left_out);
  constexpr std::array<std::string_view, kSizes> kNames{"tp", "cp", "pp", "vpp", "ep", "mbs"};
  for (std::size_t i = 0; i < kSizes; ++i) {
    measured_[i] = seen.largest(kNames[i]);
  }
  const std::string_view framework =
      describe::word_of<describe::Framework>(describe::kFrameworkWords, job.framework);
  for (std::size_t zero = 0; zero < shardings_.size(); ++zero) {
    shardings_[zero] = seen.has(fmt::format("{} zero={}", framework, zero));
  }
  // Of a framework that nobody measured no sharding is better known than another.
  if (std::ranges::none_of(shardings_, [](bool known) { return known; })) {
    shardings_.fill(true);
  }
  for (const auto& [schedule, word] : describe::kScheduleWords) {
    bool& known = schedules_[static_cast<std::size_t>(schedule)];
    known = known || seen.has(fmt::format("schedule {}", word));
  }
}

Burdens Simplicity::of_mesh(const Layout& layout) const {
  Burdens all;
  const auto one_where = [](bool so) { return so ? 1 : 0; };
  all[Burden::kAxes] = one_where(layout.tp > 1) + one_where(layout.pp > 1) +
                       one_where(layout.ep > 1) + one_where(layout.etp > 1);
  all[Burden::kContexts] = layout.cp > 1 ? kContextPoints : 0;
  all[Burden::kChunks] = layout.vpp <= 1 ? 0 : layout.vpp <= kFewChunks ? 1 : 1 + kHeavy;
  const bool counts_ends = layout.split.count_embedding || layout.split.count_loss;
  all[Burden::kCut] = is_uneven(layout.split) ? kHeavy : one_where(counts_ends);
  all[Burden::kSwitches] = one_where(layout.tp > 1 && layout.sp != plain_sp_) +
                           one_where(layout.cp > 1 && layout.cp_method != plain_.cp_method) +
                           one_where(layout.ep > 1 && layout.dispatcher != plain_.dispatcher) +
                           one_where(layout.launch != plain_.launch) +
                           one_where(layout.order != plain_.order) +
                           one_where(!is_plain_schedule(layout.schedule));
  const auto sizes = sizes_of(layout);
  int unknown = one_where(!schedules_[static_cast<std::size_t>(layout.schedule)]);
  for (std::size_t i = 0; i < kSizes; ++i) {
    unknown += one_where(sizes[i] > measured_[i]);
  }
  all[Burden::kUnmeasured] = unknown * kHeavy;
  return all;
}

Burdens Simplicity::of_switches(const Layout& layout) const {
  Burdens all;
  const auto one_where = [](bool so) { return so ? 1 : 0; };
  const int again = layout.recompute == plain_.recompute ? 0 : recompute_points(layout.recompute);
  all[Burden::kSwitches] = one_where(layout.zero != plain_.zero) +
                           one_where(layout.zero_group != plain_.zero_group) +
                           one_where(layout.reshard_after_forward != plain_.reshard_after_forward) +
                           again + one_where(layout.overlaps(Overlap::kTensorParallel)) +
                           one_where(layout.overlaps(Overlap::kExpert));
  all[Burden::kUnmeasured] = shardings_[static_cast<std::size_t>(layout.zero)] ? 0 : kHeavy;
  return all;
}

Burdens Simplicity::of(const Layout& layout, Bytes device) const {
  Burdens all = of_mesh(layout);
  all += of_switches(layout);
  all[Burden::kMemory] = is_tight(device) ? kHeavy : 0;
  return all;
}

}  // namespace sextant::search
