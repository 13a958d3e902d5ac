#include "metrics/hta_queues.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <tuple>

#include "base/statistics.h"

namespace sextant::metrics {
namespace {

HtaSummary summary_of(const std::vector<double>& values) {
  HtaSummary summary;
  summary.count = static_cast<std::int64_t>(values.size());
  if (values.empty()) {
    return summary;
  }
  summary.mean = mean(values).value_or(0.0);
  double squares = 0.0;
  for (const double value : values) {
    squares += (value - summary.mean) * (value - summary.mean);
  }
  if (values.size() > 1) {
    summary.deviation = std::sqrt(squares / static_cast<double>(values.size() - 1));
  }
  summary.min = quantile(values, 0.0).value_or(0.0);
  summary.quarter = quantile(values, 0.25).value_or(0.0);
  summary.median = quantile(values, 0.5).value_or(0.0);
  summary.three_quarters = quantile(values, 0.75).value_or(0.0);
  summary.max = quantile(values, 1.0).value_or(0.0);
  return summary;
}

// The rows of each stream: `use(stream, rows)`.
template <typename Use>
void each_stream(const HtaRank& rank, const Use& use) {
  for (auto from = rank.rows.begin(); from != rank.rows.end();) {
    const auto to = std::find_if(from, rank.rows.end(),
                                 [&](const HtaRow& row) { return row.stream != from->stream; });
    use(from->stream, std::span<const HtaRow>(from, to));
    from = to;
  }
}

HtaIdle idle_of(const HtaRow& row, std::int64_t before_us, std::int64_t delay_us) {
  if (row.call && row.call->start_us > before_us) {
    return HtaIdle::kHostWait;
  }
  return row.time.start_us - before_us < delay_us ? HtaIdle::kKernelWait : HtaIdle::kOther;
}

struct QueueChange {
  std::int64_t at_us = 0;
  int change = 0;
};

HtaQueue queue_of(StreamId stream, const std::vector<QueueChange>& changes) {
  constexpr int kFull = 1024;
  HtaQueue queue{.stream = stream, .length = {}};
  std::vector<double> lengths;
  int length = 0;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    length += changes[i].change;
    lengths.push_back(length);
    if (length >= kFull && i + 1 < changes.size()) {
      queue.full_us += changes[i + 1].at_us - changes[i].at_us;
    }
  }
  queue.length = summary_of(lengths);
  return queue;
}

}  // namespace

std::int64_t HtaStreamIdle::total_us() const {
  return time_us[0] + time_us[1] + time_us[2];
}

std::vector<HtaStreamIdle> hta_idle(const HtaRank& rank, std::int64_t delay_us) {
  std::vector<HtaStreamIdle> answer;
  each_stream(rank, [&](StreamId stream, std::span<const HtaRow> rows) {
    HtaStreamIdle idle{.stream = stream, .gaps = {}};
    std::array<std::vector<double>, kHtaIdles> gaps;
    const HtaRow* before = nullptr;
    bool any = false;
    for (const HtaRow& row : rows) {
      if (!row.is_work) {
        continue;
      }
      any = true;
      if (before != nullptr) {
        const auto cause = static_cast<std::size_t>(idle_of(row, before->time.end_us, delay_us));
        const std::int64_t gap = row.time.start_us - before->time.end_us;
        idle.time_us[cause] += gap;
        gaps[cause].push_back(static_cast<double>(gap));
      }
      before = &row;
    }
    for (std::size_t cause = 0; cause < kHtaIdles; ++cause) {
      if (!gaps[cause].empty()) {
        idle.gaps[cause] = summary_of(gaps[cause]);
      }
    }
    if (any) {
      answer.push_back(idle);
    }
  });
  return answer;
}

std::vector<HtaQueue> hta_queues(const HtaRank& rank, HtaTies ties) {
  std::vector<HtaQueue> answer;
  each_stream(rank, [&](StreamId stream, std::span<const HtaRow> rows) {
    std::vector<QueueChange> changes;
    for (const HtaRow& row : rows) {
      if (row.call && row.is_queued) {
        changes.push_back({row.call->start_us, 1});
        changes.push_back({row.time.start_us, -1});
      }
    }
    const int sign = ties == HtaTies::kEnterFirst ? -1 : 1;
    std::sort(changes.begin(), changes.end(), [&](const QueueChange& a, const QueueChange& b) {
      return std::tuple(a.at_us, sign * a.change) < std::tuple(b.at_us, sign * b.change);
    });
    if (!changes.empty()) {
      answer.push_back(queue_of(stream, changes));
    }
  });
  return answer;
}

HtaLaunches hta_launches(const HtaRank& rank) {
  constexpr std::int64_t kLongCall = 50;
  constexpr std::int64_t kLongDelay = 100;
  HtaLaunches answer;
  std::vector<double> delays;
  for (const HtaRow& row : rank.rows) {
    if (!row.call || !row.is_timed) {
      continue;
    }
    const std::int64_t delay = std::max<std::int64_t>(0, row.time.start_us - row.call->end_us);
    answer.rows += 1;
    answer.cpu_us += row.call->length_us();
    answer.gpu_us += row.time.length_us();
    answer.delay_total_us += delay;
    answer.short_kernels += row.time.length_us() < row.call->length_us() ? 1 : 0;
    answer.long_calls += row.call->length_us() > kLongCall ? 1 : 0;
    answer.long_delays += delay > kLongDelay ? 1 : 0;
    delays.push_back(static_cast<double>(delay));
  }
  answer.delay_us = summary_of(delays);
  return answer;
}

}  // namespace sextant::metrics
