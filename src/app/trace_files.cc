#include "app/trace_files.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fnmatch.h>

#include "base/read_fence.h"
#include "base/text.h"

namespace sextant::app {
namespace {

namespace fs = std::filesystem;

// A job of 65,536 ranks, one file each; beyond it a pattern has caught something else.
constexpr std::size_t kMostTraceFiles = 65'536;
constexpr int kMostFolders = 4;   // below a folder that is read
constexpr int kMostPattern = 16;  // folders that ** goes down
constexpr std::string_view kSummaryEnding = ".sxs";

// What profiles are called, packed or not. Those that are known and not read are among them: who
// has a folder full of them is told how to export what is read.
constexpr std::array<std::string_view, 9> kProfileEndings{
    ".pt.trace.json", ".json", ".sqlite",         ".xplane.pb", ".nsys-rep",
    ".pftrace",       ".et",   ".perfetto-trace", ".rocpd"};
constexpr std::array<std::string_view, 3> kPackings{".gz", ".zst", ""};

// The name without its ending; nothing where it is not called as a profile is.
std::optional<std::string> profile_stem(std::string_view name) {
  for (const std::string_view packing : kPackings) {
    if (!name.ends_with(packing)) {
      continue;
    }
    const std::string_view bare = name.substr(0, name.size() - packing.size());
    for (const std::string_view ending : kProfileEndings) {
      if (bare.size() > ending.size() && bare.ends_with(ending)) {
        return std::string(bare.substr(0, bare.size() - ending.size()));
      }
    }
  }
  return std::nullopt;
}

// Sorted by name, so that one folder is one list everywhere.
std::vector<fs::path> entries_of(const fs::path& folder) {
  return list_folder(folder, kMostTraceFiles + 1).value_or(std::vector<fs::path>());
}

bool is_folder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

class FileFinder {
 public:
  Result<void> take(const std::string& word) {
    SEXTANT_TRY(const TraceFile asked, file_of(word));
    const std::string path = asked.path.string();
    const std::string literal = path.substr(0, path.find_first_of("*?["));
    SEXTANT_CHECK_OK(may_read(literal.empty() ? "." : literal));
    if (path == "-" || is_there(asked.path)) {
      return is_folder(asked.path) ? take_folder(asked) : add(asked);
    }
    if (path.find_first_of("*?[") == std::string::npos) {
      return not_found("no such file or folder", path);
    }
    return take_pattern(asked);
  }

  TraceFiles found;

 private:
  // "3=worker.json": rank and file, unless a file is called so.
  static Result<TraceFile> file_of(const std::string& word) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0 || is_there(word)) {
      return TraceFile{word};
    }
    const auto rank = to_integer(std::string_view(word).substr(0, equals));
    if (!rank) {
      return TraceFile{word};
    }
    if (*rank < 0) {
      return invalid(fmt::format("rank {} of '{}' is below 0", *rank, printable(word)));
    }
    return TraceFile{.path = word.substr(equals + 1), .rank = RankId{*rank}};
  }

  Result<void> add(const TraceFile& file) {
    if (!seen_.insert(file.path.lexically_normal().string()).second) {
      return {};
    }
    if (found.files.size() >= kMostTraceFiles) {
      return invalid(fmt::format("more than {} files", with_thousands(kMostTraceFiles)),
                     file.path.string(), "a folder or pattern of one job");
    }
    found.files.push_back(file);
    return {};
  }

  // The profiles of one folder, without those in folders below it.
  Result<bool> take_files(const fs::path& folder) {
    const std::vector<fs::path> entries = entries_of(folder);
    std::set<std::string> stems;
    for (const fs::path& entry : entries) {
      if (const auto stem = profile_stem(entry.filename().string()); stem && !is_folder(entry)) {
        stems.insert(*stem);
      }
    }
    std::size_t doubled = 0;
    bool any = false;
    for (const fs::path& entry : entries) {
      const std::string name = entry.filename().string();
      const bool is_summary = is_summary_name(entry);
      if (is_folder(entry) || (!is_summary && !profile_stem(name))) {
        continue;
      }
      if (is_summary && stems.contains(entry.stem().string())) {
        ++doubled;
        continue;
      }
      SEXTANT_CHECK_OK(add({entry}));
      any = true;
    }
    if (doubled > 0) {
      found.notes.push_back(fmt::format(
          "{}: {} beside the profile it is of: the profile is read", folder.string(),
          doubled == 1 ? "one summary lies" : fmt::format("{} summaries lie", doubled)));
    }
    return any;
  }

  // TensorBoard: plugins/profile/RUN/HOST.xplane.pb, RUN a date.
  Result<bool> take_last_run(const fs::path& folder) {
    std::vector<fs::path> runs;
    for (const fs::path& entry : entries_of(folder / "plugins" / "profile")) {
      if (is_folder(entry)) {
        runs.push_back(entry);
      }
    }
    if (runs.empty()) {
      return false;
    }
    if (runs.size() > 1) {
      found.notes.push_back(fmt::format("of {} runs in {} the last is read: {}", runs.size(),
                                        (folder / "plugins" / "profile").string(),
                                        runs.back().filename().string()));
    }
    return take_xplanes(runs.back());
  }

  // A run holds a Chrome trace of the same beside its planes, cut at a million events.
  Result<bool> take_xplanes(const fs::path& run) {
    bool any = false;
    for (const fs::path& entry : entries_of(run)) {
      if (entry.filename().string().find(".xplane.pb") != std::string::npos) {
        SEXTANT_CHECK_OK(add({entry}));
        any = true;
      }
    }
    return any ? Result<bool>(true) : take_files(run);
  }

  Result<bool> take_below(const fs::path& folder, int depth) {
    SEXTANT_TRY(const bool has_run, take_last_run(folder));
    if (has_run) {
      return true;
    }
    SEXTANT_TRY(bool any, take_files(folder));
    if (any || depth == 0) {
      return any;
    }
    for (const fs::path& entry : entries_of(folder)) {
      if (is_folder(entry)) {
        SEXTANT_TRY(const bool below, take_below(entry, depth - 1));
        any = any || below;
      }
    }
    return any;
  }

  Result<void> take_folder(const TraceFile& asked) {
    if (asked.rank) {
      return invalid("a rank is said of a folder", asked.path.string(), "RANK=FILE");
    }
    SEXTANT_TRY(const bool any, take_below(asked.path, kMostFolders));
    if (!any) {
      return not_found("holds no profile", asked.path.string(),
                       "files that end in .json, .sqlite or .xplane.pb (packed: .gz, .zst), or "
                       ".sxs");
    }
    return {};
  }

  Result<void> take_pattern(const TraceFile& asked) {
    std::vector<std::string> parts;
    for (const fs::path& part : asked.path.relative_path()) {
      parts.push_back(part.string());
    }
    std::vector<fs::path> matches;
    match(asked.path.root_path(), parts, 0, kMostPattern, matches);
    std::sort(matches.begin(), matches.end());
    matches.erase(std::unique(matches.begin(), matches.end()), matches.end());
    if (matches.empty()) {
      return not_found("no file fits the pattern", asked.path.string());
    }
    if (asked.rank && matches.size() > 1) {
      return invalid(fmt::format("one rank is said of {} files", matches.size()),
                     asked.path.string(), "RANK=FILE");
    }
    for (const fs::path& path : matches) {
      SEXTANT_CHECK_OK(is_folder(path) ? take_folder({path, asked.rank}) : add({path, asked.rank}));
    }
    return {};
  }

  // Collects what fits parts[at…] below `folder`.
  static void match(const fs::path& folder, const std::vector<std::string>& parts, std::size_t at,
                    int depth, std::vector<fs::path>& matches) {
    if (matches.size() > kMostTraceFiles) {
      return;
    }
    if (at == parts.size()) {
      matches.push_back(folder);
      return;
    }
    const std::string& part = parts[at];
    if (part.find_first_of("*?[") == std::string::npos) {
      if (is_there(folder / part)) {
        match(folder / part, parts, at + 1, depth, matches);
      }
      return;
    }
    const bool any_folders = part == "**";
    if (any_folders && at + 1 < parts.size()) {
      match(folder, parts, at + 1, depth, matches);
    }
    for (const fs::path& entry : entries_of(folder.empty() ? "." : folder)) {
      const fs::path path = folder / entry.filename();
      if (any_folders && depth > 0 && is_folder(path) && !fs::is_symlink(path)) {
        match(path, parts, at, depth - 1, matches);
      } else if (fnmatch(part.c_str(), entry.filename().c_str(), FNM_PERIOD) == 0 &&
                 (at + 1 == parts.size() || is_folder(path))) {
        match(path, parts, at + 1, depth, matches);
      }
    }
  }

  std::set<std::string> seen_;
};

}  // namespace

bool is_summary_name(const fs::path& path) {
  return path.extension() == kSummaryEnding;
}

std::string without_profile_ending(const fs::path& path) {
  const std::string name = path.filename().string();
  return (path.parent_path() / profile_stem(name).value_or(path.stem().string())).string();
}

Result<TraceFiles> trace_files(std::span<const std::string> words) {
  FileFinder finder;
  for (const std::string& word : words) {
    SEXTANT_CHECK_OK(finder.take(word));
  }
  return std::move(finder.found);
}

}  // namespace sextant::app
