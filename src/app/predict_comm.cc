#include "app/predict_comm.h"

#include <utility>

#include <fmt/format.h>

namespace sextant::app {
namespace {

using cost::CommAlgorithm;
using describe::LinkKey;
using measured::Answer;
using measured::CollectiveSubject;
using measured::ForcedAlgorithm;
using measured::Prediction;
using measured::Refusal;

// In the unit of the row's quantity; nothing where it is none of this model's.
std::optional<double> in_unit(const measured::Row& row, const CollectiveSubject& subject,
                              Seconds time) {
  if (row.quantity == "time_us") {
    return time / 1_us;
  }
  if (row.quantity == "busbw_GBps") {
    return cost::bus_bandwidth(subject.op, subject.bytes, subject.ranks, time) / 1_GBps;
  }
  if (row.quantity == "algbw_GBps") {
    return subject.bytes / time / 1_GBps;
  }
  return std::nullopt;
}

}  // namespace

cost::CommLines lines_of(const CollectiveSubject& subject, const cost::GroupShape& shape,
                         const cost::CommModel& model) {
  cost::CommLines lines = cost::comm_lines(subject.op, shape, model);
  switch (subject.forced) {
    case ForcedAlgorithm::kRing:
      lines.keep(CommAlgorithm::kRing);
      break;
    case ForcedAlgorithm::kTree:
      lines.keep(CommAlgorithm::kTree);
      break;
    case ForcedAlgorithm::kNoNvls:
      lines.drop(CommAlgorithm::kSwitch);
      break;
    case ForcedAlgorithm::kNone:
      break;
  }
  return lines;
}

Seconds timer_of(const CollectiveSubject& subject, const cost::CommModel& model) {
  if (!subject.framework_timer) {
    return {};
  }
  const bool xla = subject.library == measured::CollectiveLibrary::kXla;
  return Seconds(model[xla ? LinkKey::kTimerXla : LinkKey::kTimerTorch]);
}

Answer CommPredictor::operator()(const measured::Row& row) {
  const auto* subject = std::get_if<CollectiveSubject>(&row.subject);
  if (subject == nullptr) {
    return Refusal{"device and links not stated"};
  }
  const auto shape = CommModels::shape_of(*subject);
  if (!shape) {
    return Refusal{shape.error().what};
  }
  const auto known = models_.of(*subject, *shape);
  if (!known) {
    return Refusal{known.error().what};
  }
  if (!spread_) {
    auto spread = describe::comm_spread(data_);
    if (!spread) {
      return Refusal{to_text(spread.error())};
    }
    spread_ = std::move(*spread);
  }
  cost::CommModel model = (*known)->model;
  if (subject->links.added_delay) {
    model.added_delay = subject->links.added_delay->base();
  }
  const Seconds time =
      lines_of(*subject, *shape, model).time(subject->bytes) + timer_of(*subject, model);
  const auto value = in_unit(row, *subject, time);
  if (!value) {
    return Refusal{fmt::format("{} is not modelled", row.quantity)};
  }
  const double factor = spread_->factor((*known)->regime(*shape), subject->bytes);
  return Prediction{*value, std::pair{*value / factor, *value * factor}, (*known)->assumed};
}

}  // namespace sextant::app
