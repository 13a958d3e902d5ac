#include "profile/nsys.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "profile/nsys_parts.h"

namespace sextant::profile {
namespace {

// Texts that are remembered rather than asked for again.
constexpr std::size_t kMostStrings = 20'000;

}  // namespace

NsysReading::NsysReading(Database database, std::string source, const NsysOptions& options)
    : database_(std::move(database)), options_(options), spans_left_(options.most_spans) {
  out_.recorder = timeline::Recorder::kNsight;
  out_.source = std::move(source);
  out_.bytes = Bytes(static_cast<double>(database_.size()));
}

timeline::Recording NsysReading::read() {
  for_each("TARGET_INFO_SESSION_START_TIME", {"utcEpochNs"}, [&](const DatabaseRow& row) {
    out_.origin_ns = row.integer(0).value_or(out_.origin_ns);
  });
  losses_.add("bytes that the file should have and has not", database_.missing());
  find_ranks();
  describe_ranks();
  read_kernels();
  read_copies();
  read_sets();
  read_graphs();
  read_waits();
  read_threads();
  read_calls();
  read_ranges();
  read_memory();
  resolve_waits();
  choose_steps();
  out_.timeline.sort();
  losses_.add("labels beyond the room for them", out_.timeline.folded());
  out_.unread = losses_.list();
  return std::move(out_);
}

void NsysReading::for_each(std::string_view table, std::initializer_list<std::string_view> columns,
                           const std::function<void(const DatabaseRow&)>& take) {
  const std::string damage =
      database_.for_each(table, std::span(columns.begin(), columns.size()), take);
  if (!damage.empty()) {
    losses_.add("the rest of a damaged table: " + printable(damage, 200));
  }
}

const std::string& NsysReading::string_of(std::int64_t id) {
  if (const auto known = strings_.find(id); known != strings_.end()) {
    return known->second;
  }
  if (strings_.size() >= kMostStrings) {
    strings_.clear();
  }
  return strings_.emplace(id, database_.string_of(id, kLongestNsysName)).first->second;
}

std::optional<std::pair<std::int64_t, std::int64_t>> NsysReading::times(const DatabaseRow& row,
                                                                        std::string_view what) {
  const std::optional<std::int64_t> start = row.integer(0);
  const std::optional<std::int64_t> end = row.integer(1);
  if (!start || !end) {
    losses_.add(fmt::format("{} without a start or an end", what));
    return std::nullopt;
  }
  constexpr std::int64_t kFarthest = timeline::Timeline::kFarthestNs;
  if (*start > *end || *start < -kFarthest || *end > kFarthest) {
    losses_.add(fmt::format("{} that end before they start, or centuries away", what));
    return std::nullopt;
  }
  return std::pair(*start, *end);
}

std::optional<timeline::LaneId> NsysReading::device_lane(RankId rank, std::int64_t stream) {
  const LaneKey key{rank, timeline::Place::kDevice, stream};
  if (const auto known = lanes_.find(key); known != lanes_.end()) {
    return known->second;
  }
  if (lanes_.size() >= kMostNsysLanes) {
    losses_.add("work on streams beyond the most that are read");
    return std::nullopt;
  }
  const timeline::LaneId lane = out_.timeline.lane(rank, {stream}, fmt::format("stream {}", stream),
                                                   timeline::Place::kDevice);
  return lanes_.emplace(key, lane).first->second;
}

std::optional<timeline::LaneId> NsysReading::host_lane(RankId rank, std::int64_t global_thread) {
  const LaneKey key{rank, timeline::Place::kHost, nsys_thread(global_thread)};
  if (const auto known = lanes_.find(key); known != lanes_.end()) {
    return known->second;
  }
  if (lanes_.size() >= kMostNsysLanes) {
    losses_.add("calls and ranges on threads beyond the most that are read");
    return std::nullopt;
  }
  const auto named = thread_names_.find(global_thread);
  const std::string name = named != thread_names_.end() && !named->second.empty()
                               ? named->second
                               : fmt::format("thread {}", nsys_thread(global_thread));
  const timeline::LaneId lane =
      out_.timeline.lane(rank, {nsys_thread(global_thread)}, name, timeline::Place::kHost);
  return lanes_.emplace(key, lane).first->second;
}

void NsysReading::add(std::optional<timeline::LaneId> lane, timeline::LabelId label,
                      std::optional<std::int64_t> correlation,
                      const std::pair<std::int64_t, std::int64_t>& time) {
  if (!lane) {
    return;
  }
  if (spans_left_ <= 0) {
    losses_.add("spans beyond the most that are read");
    return;
  }
  --spans_left_;
  timeline::Occurrence what{.label = label};
  // 0: Nsight's word for none.
  if (correlation && *correlation != 0) {
    what.correlation = timeline::CorrelationId{*correlation};
  }
  out_.timeline.add(*lane, what, time.first, time.second - time.first);
}

Result<timeline::Recording> read_nsys(const std::filesystem::path& path,
                                      const NsysOptions& options) {
  SEXTANT_TRY(Database database, Database::open(path));
  if (!database.has("StringIds", "value")) {
    return invalid("this sqlite file is not an export of Nsight Systems: it has no StringIds",
                   path.string(), "what `nsys export --type sqlite REPORT.nsys-rep` writes");
  }
  return NsysReading(std::move(database), path.string(), options).read();
}

Result<timeline::Recording> read_nsys_bytes(std::string_view bytes, const std::string& name,
                                            const NsysOptions& options) {
  SEXTANT_TRY(Database database, Database::held(bytes, name));
  if (!database.has("StringIds", "value")) {
    return invalid("this sqlite file is not an export of Nsight Systems: it has no StringIds", name,
                   "what `nsys export --type sqlite REPORT.nsys-rep` writes");
  }
  return NsysReading(std::move(database), name, options).read();
}

}  // namespace sextant::profile
