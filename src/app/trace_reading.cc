#include "app/trace_reading.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <map>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "app/reading_progress.h"
#include "app/side_by_side.h"
#include "base/file.h"
#include "base/read_fence.h"
#include "base/sha256.h"
#include "base/text.h"
#include "explain/diagnose_words.h"
#include "profile/read.h"
#include "profile/sxs.h"
#include "timeline/thinned.h"

namespace sextant::app {
namespace {

namespace fs = std::filesystem;

// Of JSON (unpacked) that may be read at once. Measured: what is held of it is not above its own
// size.
constexpr Bytes kMostUnderWay = 1_GiB;
// How much a packed profile grows at the most, as seen: names repeat.
constexpr double kUnpacked = 25.0;
constexpr Bytes kMostNames = 4_MiB;
// Of some thousand ranks, joined.
constexpr Bytes kMostSummaryBytes = 4_GiB;
// What a summary takes, unpacked (profile/sxs.h).
constexpr double kSummaryHeld = 15.0;
constexpr std::string_view kNamesFile = "profile/names.csv";
constexpr std::string_view kNothingRan = "nothing that ran is recorded";
constexpr std::string_view kOperatorsFile = "profile/operators.csv";

// What one file gave.
struct FileReading {
  explain::DiagnosedFile file;
  std::string hash;
  std::vector<RankReading> ranks;
  std::vector<explain::HtaRankTables> hta;
  timeline::Timeline spans;
  std::vector<explain::DiagnosedLoss> unread;
  std::optional<Error> error;
  bool is_read = false;
};

struct ReadingPlan {
  std::vector<TraceFile> files;
  std::optional<metrics::StepRange> steps = std::nullopt;
  std::vector<NumberRange> ranks = {};  // empty: all
  profile::RecognitionTable names = {};
  profile::OperatorTable operators = {};
  bool keeps_collectives = false;
  bool as_hta = false;
  std::size_t spans_of_file = 0;
};

Result<profile::RecognitionTable> recognition(const std::string& own, const Context& context) {
  SEXTANT_TRY(std::string text, context.data.read(kNamesFile));
  SEXTANT_TRY(profile::RecognitionTable names,
              profile::RecognitionTable::parse(std::move(text), context.data.where(kNamesFile)));
  if (own.empty()) {
    return names;
  }
  SEXTANT_TRY(std::string own_text, read_text(own, kMostNames));
  SEXTANT_TRY(const profile::RecognitionTable first,
              profile::RecognitionTable::parse(std::move(own_text), own));
  return first.before(names);
}

Result<ReadingPlan> plan_of(const TraceRequest& request, std::vector<TraceFile> files,
                            const Context& context) {
  ReadingPlan plan{.files = std::move(files),
                   .keeps_collectives = request.keeps_collectives,
                   .as_hta = request.as_hta};
  // A file of many keeps enough to be recognised.
  constexpr std::size_t kFewestSpans = 200;
  if (request.keeps_spans > 0 && !plan.files.empty()) {
    plan.spans_of_file = std::max(kFewestSpans, request.keeps_spans / plan.files.size());
  }
  if (!request.steps.empty()) {
    SEXTANT_TRY(const NumberRange range, number_range(request.steps, "‹steps›"));
    plan.steps = metrics::StepRange{range.first, range.last};
  }
  if (!request.ranks.empty()) {
    SEXTANT_TRY(plan.ranks, number_ranges(request.ranks, "‹ranks›"));
  }
  SEXTANT_TRY(plan.names, recognition(request.names, context));
  SEXTANT_TRY(std::string operators, context.data.read(kOperatorsFile));
  SEXTANT_TRY(plan.operators, profile::OperatorTable::parse(std::move(operators),
                                                            context.data.where(kOperatorsFile)));
  return plan;
}

std::int64_t size_on_disk(const fs::path& path) {
  std::error_code error;
  const auto size = fs::file_size(path, error);
  return error ? 0 : static_cast<std::int64_t>(size);
}

Bytes weight_of(const fs::path& path, std::int64_t size) {
  const std::string name = path.string();
  const bool is_packed = name.ends_with(".gz") || name.ends_with(".zst");
  const double grows = is_packed ? kUnpacked : is_summary_name(path) ? kSummaryHeld : 1.0;
  return static_cast<double>(size) * grows * 1_B;
}

bool is_stated(const timeline::Recording& recording, RankId rank) {
  const auto found =
      std::find_if(recording.ranks.begin(), recording.ranks.end(),
                   [&](const timeline::RecordedRank& one) { return one.rank == rank; });
  return found != recording.ranks.end() && found->is_stated;
}

void take_summary(metrics::Summary summary, const ReadingPlan& plan, std::size_t number,
                  FileReading& into) {
  into.hash = sha256_hex(profile::sxs_bytes(summary));
  for (metrics::RankSummary& rank : summary.ranks) {
    if (!plan.keeps_collectives) {
      rank.instances = {};
    }
    into.file.ranks.push_back(rank.rank);
    into.ranks.push_back({.summary = std::move(rank), .file = number});
  }
  if (into.ranks.empty()) {
    into.unread.push_back({into.file.name, std::string(kNothingRan), 1});
  }
}

void take_hta(const metrics::View& view, FileReading& into) {
  for (const metrics::HtaRank& rank : metrics::hta_rows(view)) {
    into.hta.push_back({.rank = rank.rank,
                        .temporal = metrics::hta_temporal(rank),
                        .overlap = metrics::hta_overlap(rank),
                        .types = metrics::hta_kernel_types({rank}),
                        .kernels = metrics::hta_kernels(view, rank),
                        .idle = metrics::hta_idle(rank),
                        .queues = metrics::hta_queues(rank),
                        .launches = metrics::hta_launches(rank)});
  }
}

// The longest of the kept steps.
void take_spans(const timeline::Recording& recording, std::size_t most, FileReading& into) {
  std::int64_t from = timeline::Timeline::kFarthestNs;
  std::int64_t to = -timeline::Timeline::kFarthestNs;
  for (const RankReading& rank : into.ranks) {
    for (const metrics::StepMeasures& step : rank.summary.steps) {
      from = std::min({from, step.host.start_ns, step.window.start_ns});
      to = std::max({to, step.host.end_ns, step.window.end_ns});
    }
  }
  if (from > to) {
    return;
  }
  timeline::add_longest(recording.timeline,
                        {.most = most,
                         .from_ns = from - recording.origin_ns,
                         .to_ns = to - recording.origin_ns,
                         .shift_ns = recording.origin_ns},
                        into.spans);
}

// An Error where no rank of the recording has a step that was asked for.
Result<void> check_steps(const timeline::Recording& recording, const metrics::Summary& summary,
                         const ReadingPlan& plan) {
  const auto has_steps = [](const metrics::RankSummary& rank) { return !rank.steps.empty(); };
  if (!plan.steps || summary.ranks.empty() || std::ranges::any_of(summary.ranks, has_steps)) {
    return {};
  }
  std::vector<std::int64_t> numbers;
  const metrics::View view = metrics::view_of(recording);
  const metrics::Steps recorded = metrics::steps_of(view);
  for (const metrics::Step& step : recorded.ranks.front().steps) {
    numbers.push_back(step.number);
  }
  return invalid(
      fmt::format("no step from {} to {} is recorded", plan.steps->first, plan.steps->last),
      recording.source, explain::number_list(numbers));
}

Result<void> take_recording(const timeline::Recording& recording, const ReadingPlan& plan,
                            std::size_t number, FileReading& into) {
  into.file.recorder = recording.recorder;
  into.file.bytes = recording.bytes;
  for (const timeline::Unread& loss : recording.unread) {
    into.unread.push_back({into.file.name, loss.what, loss.count});
  }
  if (plan.as_hta) {
    take_hta(metrics::view_of(recording), into);
  }
  metrics::Summary summary = metrics::summarize(recording, {.steps = plan.steps});
  SEXTANT_CHECK_OK(check_steps(recording, summary, plan));
  take_summary(std::move(summary), plan, number, into);
  if (plan.spans_of_file > 0) {
    take_spans(recording, plan.spans_of_file, into);
  }
  for (RankReading& rank : into.ranks) {
    rank.is_stated = plan.files[number].rank || is_stated(recording, rank.summary.rank);
  }
  return {};
}

// A summary, not a profile: by its first bytes, where these can be seen twice.
bool is_summary(const fs::path& path) {
  std::error_code error;
  if (path == "-" || !fs::is_regular_file(path, error)) {
    return false;
  }
  const auto file = open_file(path);
  if (!file) {
    return false;  // its reader says so
  }
  std::array<char, profile::kSxsMagic.size()> head{};
  return std::fread(head.data(), 1, head.size(), file->stream.get()) == head.size() &&
         std::string_view(head.data(), head.size()) == profile::kSxsMagic;
}

Result<metrics::Summary> read_summary(const TraceFile& file, const ReadingPlan& plan,
                                      Bytes& bytes) {
  SEXTANT_TRY(const std::string held, read_file(file.path, kMostSummaryBytes));
  bytes = static_cast<double>(held.size()) * 1_B;
  SEXTANT_TRY(metrics::Summary summary, profile::summary_of_sxs(held, file.path.string()));
  if (plan.steps) {
    return invalid("is a summary, of the steps that it was made of", file.path.string(),
                   "‹steps› where the profile is summarised");
  }
  if (plan.as_hta) {
    return invalid("is a summary, without what HTA counts", file.path.string(), "the profile");
  }
  if (file.rank && summary.ranks.size() == 1) {
    summary.ranks.front().rank = *file.rank;
  } else if (file.rank) {
    return invalid(fmt::format("has {} ranks, which say who they are", summary.ranks.size()),
                   file.path.string(), "the file without RANK=");
  }
  return summary;
}

class FileReader {
 public:
  FileReader(const ReadingPlan& plan, const Control& control)
      : plan_(plan), control_(control), progress_(sizes_of(plan), control.progress) {
    readings_.resize(plan.files.size());
  }

  std::vector<FileReading> read_all() {
    std::vector<Bytes> weights;
    for (const TraceFile& file : plan_.files) {
      weights.push_back(weight_of(file.path, size_on_disk(file.path)));
    }
    side_by_side(weights, {.most = kMostUnderWay}, [this](std::size_t i) { read_one(i); });
    return std::move(readings_);
  }

 private:
  static std::vector<std::int64_t> sizes_of(const ReadingPlan& plan) {
    std::vector<std::int64_t> sizes;
    for (const TraceFile& file : plan.files) {
      sizes.push_back(size_on_disk(file.path));
    }
    return sizes;
  }

  void read_one(std::size_t i) {
    if (control_.stop != nullptr && *control_.stop) {
      return;
    }
    const TraceFile& file = plan_.files[i];
    FileReading& reading = readings_[i];
    reading.file.name = file.path == "-" ? "standard input" : file.path.string();
    if (auto taken = is_summary(file.path) ? take_summary_file(i) : take_profile(i); !taken) {
      reading.error = std::move(taken.error());
    }
    reading.is_read = true;
    progress_.done(i);
  }

  Result<void> take_summary_file(std::size_t i) {
    SEXTANT_TRY(metrics::Summary summary,
                read_summary(plan_.files[i], plan_, readings_[i].file.bytes));
    take_summary(std::move(summary), plan_, i, readings_[i]);
    return {};
  }

  Result<void> take_profile(std::size_t i) {
    const TraceFile& file = plan_.files[i];
    SEXTANT_TRY(
        const timeline::Recording recording,
        profile::read_profile(file.path, {.names = plan_.names,
                                          .operators = plan_.operators,
                                          .rank = file.rank,
                                          .progress = [this, i](std::int64_t taken, std::int64_t) {
                                            progress_.taken(i, taken);
                                          }}));
    return take_recording(recording, plan_, i, readings_[i]);
  }

  const ReadingPlan& plan_;
  const Control& control_;
  ReadingProgress progress_;
  std::vector<FileReading> readings_;
};

// The ranks that files say, told apart; an Error says how to tell them.
Result<void> check_ranks(const TraceReading& reading) {
  std::vector<std::string> silent;
  for (const RankReading& rank : reading.ranks) {
    if (reading.files.size() > 1 && !rank.is_stated &&
        (silent.empty() || silent.back() != reading.files[rank.file].name)) {
      silent.push_back(reading.files[rank.file].name);
    }
  }
  if (!silent.empty()) {
    const std::string others =
        silent.size() > 1 ? fmt::format(" (nor do {} others)", silent.size() - 1) : std::string();
    return invalid(fmt::format("says neither inside nor by its name which rank it is of{}", others),
                   silent.front(),
                   fmt::format("RANK=FILE for each: 3={}; or names such as rank3.json",
                               fs::path(silent.front()).filename().string()));
  }
  for (std::size_t i = 1; i < reading.ranks.size(); ++i) {
    const RankReading& one = reading.ranks[i - 1];
    const RankReading& other = reading.ranks[i];
    if (one.summary.rank == other.summary.rank) {
      return invalid(fmt::format("rank {} is in {} and in {}", one.summary.rank.value,
                                 reading.files[one.file].name, reading.files[other.file].name),
                     {}, "each rank once; RANK=FILE says whose a file is");
    }
  }
  return {};
}

// Files that could be read, in their order.
TraceReading readings_joined(std::vector<FileReading> readings) {
  TraceReading reading;
  for (FileReading& one : readings) {
    if (!one.is_read) {
      reading.is_stopped = true;
      continue;
    }
    if (one.error) {
      Error error = *one.error;
      const std::string where = std::exchange(error.where, {});
      reading.unread.push_back({where.empty() ? one.file.name : where, to_text(error), 1});
      continue;
    }
    for (RankReading& rank : one.ranks) {
      rank.file = reading.files.size();
      reading.ranks.push_back(std::move(rank));
    }
    std::ranges::move(one.hta, std::back_inserter(reading.hta));
    timeline::add_longest(one.spans, {.most = 2 * one.spans.spans().size()}, reading.spans);
    std::ranges::move(one.unread, std::back_inserter(reading.unread));
    reading.provenance.inputs.emplace_back(one.file.name, std::move(one.hash));
    reading.files.push_back(std::move(one.file));
  }
  std::stable_sort(
      reading.ranks.begin(), reading.ranks.end(),
      [](const RankReading& a, const RankReading& b) { return a.summary.rank < b.summary.rank; });
  return reading;
}

std::optional<Error> first_error(const std::vector<FileReading>& readings) {
  for (const FileReading& one : readings) {
    if (one.error) {
      return one.error;
    }
  }
  return std::nullopt;
}

// Of files without a rank: what was lost of them may be why.
Error nothing_recorded(const TraceReading& reading) {
  constexpr std::size_t kSaid = 3;
  std::vector<std::string> lost;
  for (const explain::DiagnosedLoss& loss : reading.unread) {
    if (lost.size() < kSaid && loss.what != kNothingRan) {
      lost.push_back(printable(loss.what, 200) +
                     (loss.count > 1 ? fmt::format(" ({})", with_thousands(loss.count)) : ""));
    }
  }
  return {.kind = ErrorKind::kInvalid,
          .what = std::string(kNothingRan) +
                  (lost.empty() ? std::string() : "; not read: " + join(lost, ", ")),
          .where = reading.files.empty() ? std::string() : reading.files.front().name,
          .allowed = {}};
}

// Leaves the ranks that are asked for.
Result<void> select_ranks(const std::string& word, const std::vector<NumberRange>& asked,
                          TraceReading& reading) {
  std::vector<std::int64_t> numbers;
  for (const RankReading& rank : reading.ranks) {
    numbers.push_back(rank.summary.rank.value);
  }
  std::erase_if(reading.ranks, [&](const RankReading& rank) {
    return !asked.empty() && !holds(asked, rank.summary.rank.value);
  });
  std::erase_if(reading.hta, [&](const explain::HtaRankTables& rank) {
    return !asked.empty() && !holds(asked, rank.rank.value);
  });
  if (!reading.ranks.empty()) {
    return {};
  }
  if (!numbers.empty()) {
    return invalid(fmt::format("none of the ranks {} is in what was read", printable(word)),
                   "‹ranks›", explain::number_list(numbers));
  }
  return tl::unexpected(nothing_recorded(reading));
}

}  // namespace

Result<TraceReading> read_traces(const TraceRequest& request, const Context& context,
                                 const Control& control) {
  SEXTANT_TRY(TraceFiles found, trace_files(request.traces));
  SEXTANT_TRY(const ReadingPlan plan, plan_of(request, std::move(found.files), context));
  std::vector<FileReading> readings = FileReader(plan, control).read_all();
  const std::optional<Error> error = first_error(readings);
  TraceReading reading = readings_joined(std::move(readings));
  reading.notes = std::move(found.notes);
  reading.provenance.tool_version = explain::tool_version();
  if (reading.files.empty() && error) {
    return tl::unexpected(*error);
  }
  SEXTANT_CHECK_OK(check_ranks(reading));
  SEXTANT_CHECK_OK(select_ranks(request.ranks, plan.ranks, reading));
  return reading;
}

}  // namespace sextant::app
