#include "schedule/places.h"

#include <optional>

#include <fmt/format.h>

namespace sextant::schedule {

namespace {

using Ok = Result<bool>;
using Column = PlacedTable::Column;

std::optional<Column> column_of(ActionKind kind) {
  switch (kind) {
    case ActionKind::kForward:
      return PlacedTable::kForward;
    case ActionKind::kBackward:
    case ActionKind::kInputGradient:
      return PlacedTable::kGradient;
    case ActionKind::kWeightGradient:
      return PlacedTable::kWeight;
    case ActionKind::kReduceGradient:
      return std::nullopt;
  }
  return std::nullopt;
}

// A whole table has at least two actions a stage and microbatch: so this bounds all that follows.
Ok check_size(const ActionTable& table, std::size_t actions) {
  const auto most = static_cast<std::int64_t>(actions / 2);
  if (table.stages < 1 || table.microbatches < 1 || table.microbatches > most ||
      table.stages > most / table.microbatches || actions >= kNoPlace / PlacedTable::kColumns) {
    return invalid(fmt::format("{} actions for {} stages and {} microbatches", actions,
                               table.stages, table.microbatches),
                   "", "a forward and a backward of each");
  }
  return true;
}

Ok add_place(PlacedTable& out, const Place& place) {
  const Action& action = *place.action;
  const auto rank = [&] { return fmt::format("rank {}", place.rank); };
  if (action.stage < 0 || action.stage >= out.stages || action.microbatch < 0 ||
      action.microbatch >= out.microbatches) {
    return invalid(fmt::format("{} is outside the table", to_text(action)), rank(),
                   fmt::format("{} stages, {} microbatches", out.stages, out.microbatches));
  }
  if (const auto column = column_of(action.kind)) {
    std::uint32_t& where =
        out.where[out.key_of(action.stage, action.microbatch) * PlacedTable::kColumns + *column];
    if (where != kNoPlace) {
      return invalid(fmt::format("{} stands twice", to_text(action)), rank());
    }
    where = static_cast<std::uint32_t>(out.places.size());
  }
  out.places.push_back(place);
  return true;
}

Ok add_rank(PlacedTable& out, const std::vector<Action>& list, std::uint32_t rank) {
  std::uint32_t slot = 0;
  bool shared = false;
  out.first.push_back(static_cast<std::uint32_t>(out.places.size()));
  for (const Action& action : list) {
    if (shared && action.with_next) {
      return invalid(
          fmt::format("{} is the second of its slot and shares with a third", to_text(action)),
          fmt::format("rank {}", rank), "at most two actions a slot");
    }
    SEXTANT_CHECK_OK(add_place(out, {&action, rank, slot}));
    shared = action.with_next;
    slot += shared ? 0 : 1;
  }
  if (shared) {
    return invalid("the last action shares a slot with none", fmt::format("rank {}", rank));
  }
  return true;
}

// Forward, then backward or both gradients, in this order on one rank.
Ok check_whole(const PlacedTable& out, std::size_t key) {
  const auto where = [&] {
    const auto microbatches = static_cast<std::size_t>(out.microbatches);
    return fmt::format("stage {}, microbatch {}", key / microbatches, key % microbatches);
  };
  const std::uint32_t gradient = out.at(key, PlacedTable::kGradient);
  const std::uint32_t weight = out.at(key, PlacedTable::kWeight);
  std::uint32_t before = out.at(key, PlacedTable::kForward);
  if (before == kNoPlace || gradient == kNoPlace) {
    return invalid("a forward or a backward is missing", where());
  }
  const bool split = out.places[gradient].action->kind == ActionKind::kInputGradient;
  if (split != (weight != kNoPlace)) {
    return invalid(split ? "the weight gradient is missing" : "the weight gradient stands twice",
                   where());
  }
  for (const std::uint32_t later : {gradient, weight}) {
    if (later == kNoPlace) {
      break;
    }
    const Place& a = out.places[before];
    const Place& b = out.places[later];
    if (b.rank != a.rank || b.slot <= a.slot) {
      return invalid(
          fmt::format("{} is not after {} on one rank", to_text(*b.action), to_text(*a.action)),
          where());
    }
    before = later;
  }
  return true;
}

}  // namespace

std::uint32_t PlacedTable::needed_by(const Action& action) const {
  const auto column = column_of(action.kind);
  if (column == kForward && action.stage > 0) {
    return at(key_of(action.stage - 1, action.microbatch), kForward);
  }
  if (column == kGradient && action.stage < stages - 1) {
    return at(key_of(action.stage + 1, action.microbatch), kGradient);
  }
  return kNoPlace;
}

std::uint32_t PlacedTable::served_by(const Action& action) const {
  const auto column = column_of(action.kind);
  if (column == kForward && action.stage < stages - 1) {
    return at(key_of(action.stage + 1, action.microbatch), kForward);
  }
  if (column == kGradient && action.stage > 0) {
    return at(key_of(action.stage - 1, action.microbatch), kGradient);
  }
  return kNoPlace;
}

Result<PlacedTable> placed(const ActionTable& table) {
  std::size_t actions = 0;
  for (const std::vector<Action>& list : table.ranks) {
    actions += list.size();
  }
  SEXTANT_CHECK_OK(check_size(table, actions));
  PlacedTable out{table.stages, table.microbatches, {}, {}, {}};
  const std::size_t keys = out.key_of(out.stages, 0);
  out.places.reserve(actions);
  out.where.assign(keys * PlacedTable::kColumns, kNoPlace);
  for (std::uint32_t rank = 0; rank < table.ranks.size(); ++rank) {
    SEXTANT_CHECK_OK(add_rank(out, table.ranks[rank], rank));
  }
  out.first.push_back(static_cast<std::uint32_t>(out.places.size()));
  for (std::size_t key = 0; key < keys; ++key) {
    SEXTANT_CHECK_OK(check_whole(out, key));
  }
  return out;
}

}  // namespace sextant::schedule
