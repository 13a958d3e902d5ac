#include "schedule/draw.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace sextant::schedule {

namespace {

using timeline::Label;
using timeline::LabelId;
using timeline::LaneId;
using timeline::SpanKind;
using timeline::Timeline;

class Drawing {
 public:
  Drawing(const CompiledTable& table, const PipelineCosts& costs, const Workspace& run,
          const DrawOptions& options)
      : table_(table), costs_(costs), run_(run), options_(options) {}

  Timeline draw();

 private:
  void sort_by_rank();
  void draw_rank(std::size_t rank, double makespan);
  void draw_transfers(std::size_t rank, bool forward);
  void number_chunks(std::size_t rank);
  LabelId label(std::size_t number);
  LabelId sending_label(bool forward);
  [[nodiscard]] std::string name(const Action& action) const;
  [[nodiscard]] Seconds transfer(const Step& step) const;
  [[nodiscard]] double computing(std::size_t step) const;

  const CompiledTable& table_;
  const PipelineCosts& costs_;
  const Workspace& run_;
  const DrawOptions& options_;
  std::vector<std::uint32_t> order_;   // steps, rank by rank
  std::vector<std::size_t> first_;     // of a rank in order_; one more at the end
  std::vector<std::size_t> chunk_of_;  // of a stage, on the rank being drawn
  std::size_t chunks_ = 0;             // that rank's
  std::vector<std::vector<std::optional<LabelId>>> labels_;  // [chunk, kind][microbatch]
  Timeline timeline_;
};

bool sends_forward(const Step& step) {
  return step.action.kind == ActionKind::kForward;
}

Seconds Drawing::transfer(const Step& step) const {
  const std::span<const Seconds> list =
      sends_forward(step) ? costs_.forward_transfer : costs_.backward_transfer;
  const auto stage = static_cast<std::size_t>(step.action.stage);
  const std::size_t at = sends_forward(step) ? stage : stage - 1;
  return step.sends && at < list.size() ? list[at] : Seconds();
}

std::string Drawing::name(const Action& action) const {
  // "3F17" without its stage, which the lane's rank and the chunk tell.
  std::string text = to_text(action);
  text.erase(0, text.find_first_not_of("0123456789"));
  if (chunks_ > 1) {
    text += fmt::format(" chunk {}", chunk_of_[static_cast<std::size_t>(action.stage)]);
  }
  return text;
}

LabelId Drawing::label(std::size_t number) {
  const Action& action = table_.steps[number].action;
  if (action.with_next) {
    const std::string both = name(action) + " + " + name(table_.steps[number + 1].action);
    return timeline_.label({SpanKind::kCompute, both, {}, {}});
  }
  const std::size_t row = chunk_of_[static_cast<std::size_t>(action.stage)] * kActionKinds +
                          static_cast<std::size_t>(action.kind);
  labels_.resize(std::max(labels_.size(), row + 1));
  labels_[row].resize(static_cast<std::size_t>(table_.microbatches));
  auto& known = labels_[row][static_cast<std::size_t>(action.microbatch)];
  if (!known) {
    known = timeline_.label({SpanKind::kCompute, name(action), {}, {}});
  }
  return *known;
}

// Numbers the stages of a rank in model order.
void Drawing::number_chunks(std::size_t rank) {
  constexpr std::size_t kAbsent = std::numeric_limits<std::size_t>::max();
  chunk_of_.assign(static_cast<std::size_t>(table_.stages), kAbsent);
  for (std::size_t at = first_[rank]; at < first_[rank + 1]; ++at) {
    chunk_of_[static_cast<std::size_t>(table_.steps[order_[at]].action.stage)] = 0;
  }
  const std::size_t before = chunks_;
  chunks_ = 0;
  for (std::size_t& chunk : chunk_of_) {
    chunk = chunk == kAbsent ? kAbsent : chunks_++;
  }
  if (before != chunks_) {
    labels_.clear();  // names say chunks on some ranks and not on others
  }
}

void Drawing::sort_by_rank() {
  first_.assign(static_cast<std::size_t>(table_.ranks) + 1, 0);
  for (const Step& step : table_.steps) {
    ++first_[step.rank + 1];
  }
  for (std::size_t rank = 1; rank < first_.size(); ++rank) {
    first_[rank] += first_[rank - 1];
  }
  std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
  order_.resize(table_.steps.size());
  for (std::size_t step = 0; step < table_.steps.size(); ++step) {
    order_[next[table_.steps[step].rank]++] = static_cast<std::uint32_t>(step);
  }
}

// When the slot that begins with this step stops computing.
double Drawing::computing(std::size_t step) const {
  const bool blocking = costs_.transfers == TransferMode::kBlocking;
  double held = 0.0;
  if (blocking) {
    const Step& first = table_.steps[step];
    held = transfer(first).base();
    if (first.action.with_next) {
      held = std::max(held, transfer(table_.steps[step + 1]).base());
    }
  }
  return run_.ends[step + 1] - held;
}

void Drawing::draw_rank(std::size_t rank, double makespan) {
  const LaneId lane = timeline_.lane({static_cast<std::int64_t>(rank)}, kComputeStream, "compute");
  const LabelId bubble = timeline_.label({SpanKind::kIdle, "bubble", {}, {}});
  double free_from = 0.0;
  const auto wait_until = [&](double start) {
    if (options_.bubbles && start > free_from) {
      timeline_.add(lane, bubble, Seconds(free_from), Seconds(start - free_from));
    }
  };
  for (std::size_t at = first_[rank]; at < first_[rank + 1]; ++at) {
    const std::size_t number = order_[at];
    const Step& step = table_.steps[number];
    const double start = run_.starts[number];
    const double end = computing(number);
    wait_until(start);
    timeline_.add(lane, label(number), Seconds(start), Seconds(end - start));
    free_from = run_.ends[number + 1];
    at += step.action.with_next ? 1 : 0;
  }
  wait_until(makespan);
}

// What is drawn is the sender's half: torch.distributed's word for it.
LabelId Drawing::sending_label(bool forward) {
  return timeline_.label(
      {SpanKind::kCommunication,
       forward ? "send activations" : "send gradients",
       {},
       {},
       timeline::Collective{.op = CollectiveOp::kSendReceive,
                            .word = "send",
                            .group = timeline_.group({.name = "pp", .size = table_.ranks})}});
}

void Drawing::draw_transfers(std::size_t rank, bool forward) {
  std::optional<LaneId> lane;
  LabelId sending;
  for (std::size_t at = first_[rank]; at < first_[rank + 1]; ++at) {
    const std::size_t number = order_[at];
    const Step& step = table_.steps[number];
    const Seconds length = transfer(step);
    if (sends_forward(step) != forward || length == Seconds()) {
      continue;
    }
    if (!lane) {
      lane = timeline_.lane({static_cast<std::int64_t>(rank)},
                            forward ? kSendForwardStream : kSendBackwardStream,
                            forward ? "send forward" : "send backward");
      sending = sending_label(forward);
    }
    const bool second = number > 0 && table_.steps[number - 1].action.with_next;
    timeline_.add(*lane, sending, Seconds(computing(second ? number - 1 : number)), length);
  }
}

Timeline Drawing::draw() {
  sort_by_rank();
  timeline_.reserve(3 * table_.steps.size());
  const double makespan = *std::max_element(run_.rank_ends.begin(), run_.rank_ends.end());
  for (std::size_t rank = 0; rank + 1 < first_.size(); ++rank) {
    number_chunks(rank);
    draw_rank(rank, makespan);
    draw_transfers(rank, true);
    draw_transfers(rank, false);
  }
  timeline_.sort();
  return std::move(timeline_);
}

}  // namespace

Timeline timeline_of(const CompiledTable& table, const PipelineCosts& costs, const Workspace& run,
                     const DrawOptions& options) {
  return Drawing(table, costs, run, options).draw();
}

}  // namespace sextant::schedule
