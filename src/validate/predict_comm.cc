#include "validate/predict_comm.h"

#include <utility>

#include <fmt/format.h>

namespace sextant::validate {
namespace {

using measured::Answer;
using measured::CollectiveSubject;
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

Answer CommPredictor::operator()(const measured::Row& row) {
  const auto* subject = std::get_if<CollectiveSubject>(&row.subject);
  if (subject == nullptr) {
    return Refusal{"device and links not stated"};
  }
  const auto shape = shape_of(*subject);
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
  const Seconds time = cost::predicted(collective_call(*subject, *shape, **known));
  const auto value = in_unit(row, *subject, time);
  if (!value) {
    return Refusal{fmt::format("{} is not modelled", row.quantity)};
  }
  const double factor = spread_->factor((*known)->regime(*shape), subject->bytes);
  return Prediction{*value, std::pair{*value / factor, *value * factor}, (*known)->assumed};
}

}  // namespace sextant::validate
