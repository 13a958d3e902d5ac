#include "app/summarize.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "base/text.h"
#include "profile/sxs.h"

namespace sextant::app {
namespace {

// "logs/rank3.sxs" of logs/rank3.pt.trace.json.gz; "job.sxs" in the folder of several.
Result<std::string> default_out(const TraceReading& reading) {
  const std::filesystem::path first(reading.files.front().name);
  if (reading.files.front().name == "standard input") {
    return invalid("what is read from standard input has no name to be called after", "‹out›",
                   "a file");
  }
  if (reading.files.size() > 1) {
    return (first.parent_path() / "job.sxs").string();
  }
  std::string out = without_profile_ending(first) + ".sxs";
  if (out == first.string()) {
    return invalid("is a summary already", out, "another file as ‹out›, or profiles");
  }
  return out;
}

}  // namespace

Result<Answered<explain::SummarizeAnswer>> summarize(const SummarizeRequest& request,
                                                     const Context& context,
                                                     const Control& control) {
  TraceRequest traces = request.traces;
  traces.keeps_collectives = true;
  SEXTANT_TRY(TraceReading reading, read_traces(traces, context, control));
  if (reading.is_stopped) {
    return invalid("stopped before all files were read: nothing is written");
  }
  explain::SummarizeAnswer answer;
  answer.provenance = std::move(reading.provenance);
  answer.unread = std::move(reading.unread);
  answer.out = request.out;
  if (answer.out.empty()) {
    SEXTANT_TRY(answer.out, default_out(reading));
  }
  metrics::Summary summary;
  for (RankReading& rank : reading.ranks) {
    answer.ranks.push_back(
        {.rank = rank.summary.rank,
         .steps = rank.summary.total().steps,
         .recorded = rank.summary.recorded,
         .collectives = static_cast<std::int64_t>(rank.summary.instances.size())});
    summary.ranks.push_back(std::move(rank.summary));
  }
  Artifact artifact{.path = answer.out, .bytes = profile::sxs_bytes(summary), .note = {}};
  answer.bytes = static_cast<double>(artifact.bytes.size()) * 1_B;
  return Answered<explain::SummarizeAnswer>{.answer = std::move(answer),
                                            .notes = std::move(reading.notes),
                                            .artifacts = {std::move(artifact)}};
}

}  // namespace sextant::app
