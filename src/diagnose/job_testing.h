// Jobs made by hand, for tests: ranks that work and meet, as summaries. Times are nanoseconds.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "metrics/summary.h"

namespace sextant::diagnose {

// Each rank has a clock that it goes on with: work takes it forward, a meeting to the moment at
// which the last has come and the transfer is over.
class MadeJob {
 public:
  explicit MadeJob(std::size_t ranks) : now_(ranks, 0), from_(ranks, 0), is_at_work_(ranks, false) {
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      summary_.ranks.push_back({.rank = {static_cast<std::int64_t>(rank)}});
      summary_.ranks.back().names = {"op"};
    }
  }

  // Between two meetings all work is one stretch.
  void work(std::size_t rank, metrics::OwnWork parts) {
    std::vector<metrics::OwnWork>& all = summary_.ranks[rank].work;
    if (!all.empty() && all.back().step == step_ && is_at_work_[rank]) {
      const metrics::OwnWork& before = all.back();
      parts.compute_ns += before.compute_ns;
      parts.copy_ns += before.copy_ns;
      parts.data_ns += before.data_ns;
      parts.host_ns += before.host_ns;
      parts.other_ns += before.other_ns;
      now_[rank] = before.start_ns;
      all.pop_back();
    }
    is_at_work_[rank] = true;
    parts.step = step_;
    parts.start_ns = now_[rank];
    parts.end_ns = now_[rank] += parts.total_ns();
    all.push_back(parts);
  }
  void compute(std::size_t rank, std::int64_t ns) { work(rank, {.compute_ns = ns}); }
  void compute_all(std::int64_t ns) {
    for (std::size_t rank = 0; rank < now_.size(); ++rank) {
      compute(rank, ns);
    }
  }

  // A collective of these ranks. Groups are told by their ranks.
  void meet(const std::vector<std::size_t>& ranks, std::int64_t transfer_ns,
            CollectiveOp op = CollectiveOp::kAllReduce) {
    timeline::Group group{.name = "group"};
    for (const std::size_t rank : ranks) {
      group.ranks.push_back({static_cast<std::int64_t>(rank)});
    }
    together(ranks, transfer_ns, {.op = op, .bytes = 1024}, &group);
  }
  void meet_all(std::int64_t transfer_ns) {
    std::vector<std::size_t> all;
    for (std::size_t rank = 0; rank < now_.size(); ++rank) {
      all.push_back(rank);
    }
    meet(all, transfer_ns);
  }
  void send(std::size_t from, std::size_t to, std::int64_t transfer_ns) {
    metrics::CollectiveInstance one{.op = CollectiveOp::kSendReceive, .bytes = 64};
    one.sender = RankId{static_cast<std::int64_t>(from)};
    one.receiver = RankId{static_cast<std::int64_t>(to)};
    together({from, to}, transfer_ns, one, nullptr);
  }

  // Ends the step for all ranks, where each of them is.
  void next_step() {
    for (std::size_t rank = 0; rank < now_.size(); ++rank) {
      metrics::StepMeasures step{.number = step_, .host = {}, .window = {}};
      step.window = {from_[rank], now_[rank]};
      step.time.compute_ns = now_[rank] - from_[rank];
      summary_.ranks[rank].steps.push_back(step);
      from_[rank] = now_[rank];
    }
    step_ += 1;
  }

  // The rank's clock shows so much more, and gains so much on the others'.
  void set_clock(std::size_t rank, std::int64_t offset_ns, double drift = 0.0) {
    const auto anew = [&](std::int64_t& at) {
      at += offset_ns + static_cast<std::int64_t>(drift * static_cast<double>(at));
    };
    for (metrics::CollectiveInstance& one : summary_.ranks[rank].instances) {
      anew(one.start_ns);
      anew(one.end_ns);
    }
    for (metrics::OwnWork& one : summary_.ranks[rank].work) {
      anew(one.start_ns);
      anew(one.end_ns);
    }
  }

  [[nodiscard]] std::int64_t now(std::size_t rank) const { return now_[rank]; }
  metrics::Summary& summary() { return summary_; }

 private:
  void together(const std::vector<std::size_t>& ranks, std::int64_t transfer_ns,
                metrics::CollectiveInstance one, const timeline::Group* group) {
    std::int64_t last = 0;
    for (const std::size_t rank : ranks) {
      last = std::max(last, now_[rank]);
    }
    for (const std::size_t rank : ranks) {
      metrics::RankSummary& of = summary_.ranks[rank];
      one.step = step_;
      one.name = 0;
      one.is_counted = true;
      if (group != nullptr) {
        one.group = place_of(*group, of);
      } else {
        one.group = metrics::kNone;
      }
      one.sequence = std::ranges::count_if(of.instances, [&](const auto& other) {
        return other.step == step_ && other.group == one.group && other.op == one.op &&
               other.sender == one.sender && other.receiver == one.receiver;
      });
      one.start_ns = now_[rank];
      one.end_ns = last + transfer_ns;
      of.instances.push_back(one);
      now_[rank] = one.end_ns;
      is_at_work_[rank] = false;
    }
  }

  static std::uint32_t place_of(const timeline::Group& group, metrics::RankSummary& rank) {
    const auto known = std::ranges::find(rank.groups, group);
    const auto place = known - rank.groups.begin();
    if (known == rank.groups.end()) {
      rank.groups.push_back(group);
    }
    return static_cast<std::uint32_t>(place);
  }

  metrics::Summary summary_;
  std::vector<std::int64_t> now_, from_;
  std::vector<bool> is_at_work_;
  std::int64_t step_ = 0;
};

}  // namespace sextant::diagnose
