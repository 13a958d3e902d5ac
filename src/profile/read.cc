#include "profile/read.h"

#include <system_error>

#include <fmt/format.h>

#include "base/text.h"
#include "profile/chrome_reader.h"
#include "profile/file_rank.h"
#include "profile/kineto_reader.h"
#include "profile/nsys.h"
#include "profile/profile_kind.h"
#include "profile/recorded_ranks.h"
#include "profile/wire.h"
#include "profile/xplane.h"

namespace sextant::profile {
namespace {

constexpr std::string_view kWhatIsRead =
    "a PyTorch profile (JSON), a Chrome trace of a job (JSON), an Nsight Systems export (sqlite) "
    "or "
    "an XLA profile (xplane.pb)";

// A database is read from its file. One that is packed or comes through a pipe can't be: what is
// wanted of it lies anywhere in it.
Result<timeline::Recording> read_sqlite(const ByteSource& source, const std::string& name,
                                        const ReadOptions& options) {
  std::error_code ignored;
  const bool is_plain =
      std::filesystem::is_regular_file(name, ignored) &&
      static_cast<std::int64_t>(std::filesystem::file_size(name, ignored)) == source.size() &&
      !source.is_packed();
  if (!is_plain) {
    return invalid("is a packed or piped sqlite database", name, "the unpacked file");
  }
  return read_nsys(name,
                   {.kernels = kernel_names(options.names), .most_spans = options.most_events});
}

// `again`: opens the same bytes anew; empty where they come through a pipe.
Result<timeline::Recording> read_kind(std::unique_ptr<ByteSource> source, const OpenBytes& again,
                                      const std::string& name, const ReadOptions& options) {
  SEXTANT_TRY(Head head, read_head(std::move(source), kKindHead));
  ProfileKind kind = profile_kind(head.bytes);
  if (kind == ProfileKind::kUnknown && (name.ends_with(".nsys-rep") || name.ends_with(".qdrep"))) {
    kind = ProfileKind::kNsightReport;
  }
  if (const auto refusal = refusal_of(kind)) {
    return invalid(std::string(refusal->what), name, std::string(refusal->remedy));
  }
  if (kind == ProfileKind::kSqlite) {
    return read_sqlite(*head.whole, name, options);
  }
  if (kind == ProfileKind::kXplane) {
    return !again ? invalid("is an XLA profile through a pipe, and such a one is read three times",
                            name, "its file")
                  : read_xplane(again, name,
                                {.kernels = kernel_names(options.names),
                                 .most_spans = options.most_events});
  }
  if (kind == ProfileKind::kKineto) {
    return read_kineto(*head.whole, name, options);
  }
  if (kind == ProfileKind::kChrome) {
    return read_chrome(*head.whole, name, options);
  }
  if (kind == ProfileKind::kSextant) {
    return read_sextant(*head.whole, name, options);
  }
  return invalid(head.bytes.empty() ? "is empty" : "is no profile that we know", name,
                 std::string(kWhatIsRead));
}

// The caller knows best. An export of Nsight Systems is called as its user likes; the name of an
// XLA profile is its host's.
void settle_ranks(const ReadOptions& options, timeline::Recording& recording) {
  const auto by_name = rank_of_file(recording.source);
  const bool is_asked = recording.recorder == timeline::Recorder::kNsight &&
                        recording.ranks.size() == 1 && !recording.ranks.front().is_stated;
  if (options.rank) {
    renumber_ranks(recording, *options.rank);
  } else if (is_asked && by_name) {
    renumber_ranks(recording, *by_name);
  }
}

Result<timeline::Recording> read_source(std::unique_ptr<ByteSource> source, const OpenBytes& again,
                                        const std::string& name, const ReadOptions& options) {
  SEXTANT_TRY(timeline::Recording recording, read_kind(std::move(source), again, name, options));
  settle_ranks(options, recording);
  return recording;
}

}  // namespace

Result<timeline::Recording> read_profile(const std::filesystem::path& path,
                                         const ReadOptions& options) {
  SEXTANT_TRY(std::unique_ptr<ByteSource> source, open_bytes(path, options.most_bytes));
  if (path == "-") {
    return read_source(std::move(source), {}, "standard input", options);
  }
  const OpenBytes again = [&] { return open_bytes(path, options.most_bytes); };
  return read_source(std::move(source), again, path.string(), options);
}

Result<timeline::Recording> read_profile_bytes(std::string_view held, const std::string& name,
                                               const ReadOptions& options) {
  SEXTANT_TRY(std::unique_ptr<ByteSource> source, bytes_of(held, options.most_bytes));
  const OpenBytes again = [&] { return bytes_of(held, options.most_bytes); };
  return read_source(std::move(source), again, name, options);
}

}  // namespace sextant::profile
