#include "measured/nccl_preamble.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "measured/row_tools.h"

namespace sextant::measured {

namespace {

constexpr std::size_t kLongestName = 128;

using Words = std::vector<std::string_view>;

std::optional<std::int64_t> count_in(std::string_view word) {
  const auto count = to_integer(word);
  return count && *count >= 0 && *count <= kMostNcclRanks ? count : std::nullopt;
}

// The count that follows one of the words; "nGpus:" is "nGpus".
std::optional<std::int64_t> count_after(const Words& words, std::string_view name) {
  for (std::size_t at = 0; at + 1 < words.size(); ++at) {
    if (words[at] == name || (words[at].size() == name.size() + 1 && words[at].back() == ':' &&
                              words[at].starts_with(name))) {
      return count_in(words[at + 1]);
    }
  }
  return std::nullopt;
}

std::string_view word_after(const Words& words, std::string_view name) {
  const auto found = std::find(words.begin(), words.end(), name);
  return found == words.end() || found + 1 == words.end() ? std::string_view() : *(found + 1);
}

// A program's name without folder and quotes; empty where the word is none.
std::string_view program_name(std::string_view word) {
  word.remove_prefix(std::min(word.find_last_of("/\"'`(=") + 1, word.size()));
  const std::size_t end = word.find_last_not_of("\"'`:,.);");
  word = word.substr(0, end == std::string_view::npos ? 0 : end + 1);
  return word.ends_with("_perf") || word.ends_with("_perf_mpi") ? word : std::string_view();
}

// Tests of nccl-tests and rccl-tests that CollectiveOp has no word for.
bool is_other_test(std::string_view name) {
  constexpr std::array<std::string_view, 7> kOthers{
      "reduce", "gather", "scatter", "hypercube", "alltoallv", "all_reduce_bias", "bisection"};
  const std::string_view test = name.substr(0, name.rfind("_perf"));
  return std::find(kOthers.begin(), kOthers.end(), test) != kOthers.end();
}

// 22602 → "2.26.2"; before 2.9 the code had one digit less: 2804 → "2.8.4".
std::string version_of_code(std::int64_t code) {
  const std::int64_t major_unit = code >= 10'000 ? 10'000 : 1'000;
  return fmt::format("{}.{}.{}", code / major_unit, code % major_unit / 100, code % 100);
}

// The digits after "nccl-library=" and the like.
std::optional<std::int64_t> code_after(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view rest = text.substr(at + key.size());
  const auto code = count_in(rest.substr(0, rest.find_first_not_of("0123456789")));
  return code && *code >= 1'000 ? code : std::nullopt;
}

// "2.18.3+cuda12.2" after "NCCL version" or "NCCL version :".
std::string version_after(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) {
    return {};
  }
  std::string_view rest = text.substr(at + key.size());
  rest.remove_prefix(std::min(rest.find_first_not_of(" :"), rest.size()));
  rest = rest.substr(0, rest.find(' '));
  const bool is_version = !rest.empty() && rest.front() >= '0' && rest.front() <= '9';
  return is_version ? printable(rest, kLongestName) : std::string();
}

}  // namespace

std::optional<NcclDevice> device_in(const NcclLines& line) {
  const auto rank = count_after(line.words(), "Rank");
  const std::string_view host = word_after(line.words(), "on");
  if (!rank || host.empty() || !contains(line.text(), "Pid") || !contains(line.text(), "device")) {
    return std::nullopt;
  }
  const std::size_t bus = line.text().rfind(']');
  const std::string_view device =
      bus == std::string_view::npos ? std::string_view() : trimmed(line.text().substr(bus + 1));
  return NcclDevice{.rank = *rank,
                    .group = count_after(line.words(), "Group").value_or(0),
                    .host = printable(host, kLongestName),
                    .device = printable(device, kLongestName)};
}

std::optional<NcclProgram> program_in(const NcclLines& line) {
  if (!contains(line.text(), "_perf")) {
    return std::nullopt;
  }
  const Words& words = line.words();
  for (std::size_t at = 0; at < words.size(); ++at) {
    const std::string_view name = program_name(words[at]);
    const bool other = is_other_test(name);
    const auto op = name.empty() || other ? std::nullopt : nccl_op_in(name);
    if (!op && !other) {
      continue;
    }
    NcclProgram program{printable(name, kLongestName), op, NcclMention::kNamed};
    if (contains(line.text(), "test starting")) {
      program.mention = NcclMention::kStarting;
    } else if (contains(line.text(), "test concluded")) {
      program.mention = NcclMention::kConcluded;
    } else if (at + 1 < words.size() && words[at + 1].starts_with('-')) {
      program.mention = NcclMention::kCommand;
    }
    return program;
  }
  return std::nullopt;
}

std::optional<NcclLibrary> library_in(const NcclLines& line) {
  const std::string_view text = line.text();
  const bool rccl = contains(text, "RCCL version") || contains(text, "rccl-tests") ||
                    contains(text, "rccl-library=");
  const bool nccl = contains(text, "NCCL version") || contains(text, "nccl-tests version") ||
                    contains(text, "nccl-library=");
  if (!rccl && !nccl) {
    return std::nullopt;
  }
  NcclLibrary found{.library = rccl ? CollectiveLibrary::kRccl : CollectiveLibrary::kNccl,
                    .version = {},
                    .begins_run = contains(text, "-tests version")};
  if (const auto code = code_after(text, "ccl-library=")) {
    found.version = version_of_code(*code);
  } else if (const auto headers = code_after(text, "ccl-headers=")) {
    found.version = version_of_code(*headers);
  } else {
    found.version = version_after(text, "CCL version");
  }
  // A path such as ".../nccl-tests/build" names the tests, not the library in use.
  return found.version.empty() && contains(text, "-tests/") ? std::nullopt : std::optional(found);
}

std::optional<NcclCommunicator> communicator_in(const NcclLines& line) {
  if (!contains(line.text(), "comm ")) {
    return std::nullopt;
  }
  auto ranks = count_after(line.words(), "nranks");
  ranks = ranks ? ranks : count_after(line.words(), "nRanks");
  if (!ranks || *ranks < 1) {
    return std::nullopt;
  }
  return NcclCommunicator{*ranks, count_after(line.words(), "nNodes")};
}

std::optional<std::int64_t> devices_of_process_in(const NcclLines& line) {
  const auto threads = count_after(line.words(), "nThread");
  const auto devices = count_after(line.words(), "nGpus");
  if (!threads || !devices || *threads < 1 || *devices < 1) {
    return std::nullopt;
  }
  return *threads * *devices;
}

bool is_footer(std::string_view text) {
  return contains(text, "Avg bus bandwidth") || contains(text, "Out of bounds values") ||
         contains(text, "Collective test concluded");
}

std::optional<CollectiveOp> nccl_op_in(std::string_view name) {
  std::string letters;
  for (const char c : to_lower(name.substr(0, 4 * kLongestName))) {
    if (c >= 'a' && c <= 'z') {
      letters += c;
    }
  }
  constexpr std::array<std::pair<std::string_view, CollectiveOp>, 6> kNames{
      {{"allreduce", CollectiveOp::kAllReduce},
       {"allgather", CollectiveOp::kAllGather},
       {"reducescatter", CollectiveOp::kReduceScatter},
       {"alltoall", CollectiveOp::kAllToAll},
       {"sendrecv", CollectiveOp::kSendReceive},
       {"broadcast", CollectiveOp::kBroadcast}}};
  std::optional<CollectiveOp> found;
  for (const auto& [word, op] : kNames) {
    if (contains(letters, word)) {
      if (found) {
        return std::nullopt;
      }
      found = op;
    }
  }
  return found;
}

}  // namespace sextant::measured
