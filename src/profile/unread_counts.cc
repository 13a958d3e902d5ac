#include "profile/unread_counts.h"

#include <fmt/format.h>

namespace sextant::profile {

std::vector<timeline::Unread> unread_of(const UnreadCounts& counts, const TraceTextFacts& text,
                                        const std::string& damage) {
  std::vector<timeline::Unread> unread;
  const auto say = [&](std::int64_t count, std::string what) {
    if (count != 0) {
      unread.push_back({std::move(what), count});
    }
  };
  say(damage.empty() ? 0 : 1, damage + ": what comes after is lost");
  say(text.damaged, fmt::format("places that are no JSON, {} bytes in all", text.damaged_bytes));
  say(text.too_long, fmt::format("events longer than {} MiB", kLongestEvent >> 20U));
  say(text.cut_bytes == 0 ? 0 : 1,
      fmt::format("truncated: an event of which only {} bytes are there", text.cut_bytes));
  say(text.cut_bytes == 0 && !text.is_complete ? 1 : 0, "truncated: the trace is not closed");
  say(text.documents > 1 ? text.documents - 1 : 0, "further documents in the same file (read)");
  say(counts.no_phase, "events without a phase");
  say(counts.other_phase, "events of a phase that is not read");
  say(counts.no_name, "events without a name");
  say(counts.no_start, "events without a start");
  say(counts.no_duration, "events without a duration");
  say(counts.negative_duration, "events of negative duration");
  say(counts.too_far, "events more than 146 years from the first");
  say(counts.too_many, "events beyond the most that are held");
  say(counts.too_many_lanes, "events on threads beyond the most that are told apart");
  say(counts.unnamed, "events of names beyond the most that are told apart (their time is kept)");
  say(counts.unfinished, "events that begin and don't end, or end and don't begin");
  say(counts.memory_without_totals, "allocations without the allocator's totals");
  say(counts.facts, "facts about ranks or devices that can't be read");
  return unread;
}

}  // namespace sextant::profile
