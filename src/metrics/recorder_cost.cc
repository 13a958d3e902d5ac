#include "metrics/recorder_cost.h"

#include <algorithm>

#include "metrics/signal_names.h"

namespace sextant::metrics {
namespace {

using timeline::Label;
using timeline::Span;
using timeline::SpanKind;

// Fewer make no median.
constexpr std::size_t kFewestCalls = 100;

// Of PyTorch's operators: of other recorders' ranges nothing is known.
bool is_aten(const Label& label) {
  return label.kind == SpanKind::kHost && label.name.starts_with("aten::");
}

bool is_recorded_operator(const Label& label, const LabelTraits& traits) {
  return label.kind == SpanKind::kHost && !traits.is_runtime && !is_frame(label.name) &&
         !is_outline(label.name);
}

struct OpenOperator {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  bool is_aten = false;
  bool has_called = false;
};

// Notes the operators of one thread; `gaps`: from the start of one to that of the first it calls.
class OperatorReader {
 public:
  OperatorReader(const View& view, RecorderCost& cost) : view_(view), cost_(cost) {}

  void read(timeline::LaneId lane, std::vector<std::int64_t>& gaps) {
    open_.clear();
    for (const Span& span : view_.timeline().spans_of(lane)) {
      const auto label = static_cast<std::size_t>(view_.timeline().occurrence_of(span).label.value);
      const Label& what = view_.timeline().labels()[label];
      if (!is_recorded_operator(what, view_.traits[label])) {
        continue;
      }
      while (!open_.empty() && open_.back().end_ns <= span.start_ns) {
        open_.pop_back();
      }
      const OpenOperator now{span.start_ns, span.end_ns(), is_aten(what), false};
      if (!open_.empty() && !open_.back().has_called) {
        open_.back().has_called = true;
        if (open_.back().is_aten && now.is_aten) {
          gaps.push_back(now.start_ns - open_.back().start_ns);
        }
      }
      open_.push_back(now);
      cost_.started_ns.push_back(span.start_ns);
    }
  }

 private:
  const View& view_;
  RecorderCost& cost_;
  std::vector<OpenOperator> open_;
};

}  // namespace

RecorderCost recorder_cost(const View& view, const std::vector<std::uint32_t>& lanes) {
  RecorderCost cost;
  std::vector<std::int64_t> gaps;
  OperatorReader reader(view, cost);
  for (const std::uint32_t lane : lanes) {
    reader.read(timeline::LaneId{lane}, gaps);
  }
  if (gaps.size() < kFewestCalls) {
    return {};
  }
  const auto middle = gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 2);
  std::nth_element(gaps.begin(), middle, gaps.end());
  constexpr std::int64_t kStartAndEnd = 2;
  cost.each_ns = kStartAndEnd * *middle;
  std::sort(cost.started_ns.begin(), cost.started_ns.end());
  return cost;
}

std::int64_t RecorderLead::take(std::int64_t moment_ns, std::int64_t most_ns) {
  go_on(moment_ns);
  const std::int64_t taken = std::max<std::int64_t>(0, std::min(lead_ns_, most_ns));
  lead_ns_ -= taken;
  return taken;
}

void RecorderLead::lose(std::int64_t moment_ns) {
  go_on(moment_ns);
  lead_ns_ = 0;
}

void RecorderLead::go_on(std::int64_t moment_ns) {
  while (behind_ < cost_.started_ns.size() && cost_.started_ns[behind_] < moment_ns) {
    lead_ns_ += cost_.each_ns;
    ++behind_;
  }
}

}  // namespace sextant::metrics
