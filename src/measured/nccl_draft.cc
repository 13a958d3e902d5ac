#include "measured/nccl_draft.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "measured/nccl_checks.h"

namespace sextant::measured {

namespace {

constexpr std::size_t kMostWarnings = 20;

std::string_view word(CollectiveOp op) {
  return describe::word_of<CollectiveOp>(kCollectiveOpWords, op);
}

}  // namespace

void NcclDraft::warn(std::int64_t line, std::string_view what) {
  if (table_.warnings.size() < kMostWarnings) {
    table_.warnings.push_back(fmt::format("{}:{}: {}", where_, line, what));
  } else {
    ++unsaid_;
  }
}

void NcclDraft::take(const NcclDevice& device, std::int64_t line) {
  first_device_line_ = first_device_line_ == 0 ? line : first_device_line_;
  const auto [entry, added] = groups_[device.group].hosts.emplace(device.rank, device.host);
  rank_repeated_ = rank_repeated_ || (!added && entry->second != device.host);
  if (hosts_.insert(device.host).second) {
    table_.hosts.push_back(device.host);
  }
  if (!device.device.empty()) {
    devices_.insert(device.device);
    table_.device = table_.device.empty() ? device.device : table_.device;
  }
}

void NcclDraft::take(const NcclProgram& program) {
  const bool surer = table_.program.empty() || program.mention >= named_;
  if (program.mention == NcclMention::kConcluded ? table_.program.empty() : surer) {
    table_.program = program.name;
    table_.op = program.op;
    named_ = program.mention;
  }
}

void NcclDraft::take(const NcclLibrary& library) {
  // "NCCL version" is also what RCCL's log says, so the other name wins.
  if (table_.library != CollectiveLibrary::kRccl) {
    table_.library = library.library;
  }
  if (table_.library_version.empty()) {
    table_.library_version = library.version;
  }
}

void NcclDraft::take(const NcclCommunicator& communicator) {
  if (!communicator_ || communicator.ranks > communicator_->ranks) {
    communicator_ = communicator;
  }
}

void NcclDraft::take(NcclReading reading, std::int64_t line) {
  has_results_ = true;
  for (const std::string& complaint : reading.complaints) {
    warn(line, complaint);
  }
  if (reading.line) {
    table_.lines.push_back(std::move(*reading.line));
  }
}

void NcclDraft::settle_op(std::optional<CollectiveOp> hint) {
  if (!table_.program.empty()) {
    if (!table_.op) {
      warn(table_.lines.front().line,
           fmt::format("{} has no counterpart among the collectives", table_.program));
    }
    return;
  }
  table_.op = hint ? hint : op_of_lines(table_.lines);
  if (table_.op) {
    table_.assumed.push_back(
        {"collective",
         std::string(word(*table_.op)),
         hint ? "because of the text's name" : "because of its columns and bandwidths",
         {}});
  } else {
    warn(table_.lines.front().line, "cannot tell which collective this is");
  }
}

// Ranks, groups and nodes of the device list, where there is one.
void NcclDraft::settle_devices() {
  if (groups_.empty()) {
    return;
  }
  const auto largest = std::max_element(
      groups_.begin(), groups_.end(),
      [](const auto& a, const auto& b) { return a.second.hosts.size() < b.second.hosts.size(); });
  const std::map<std::int64_t, std::string>& hosts = largest->second.hosts;
  table_.groups = static_cast<std::int64_t>(groups_.size());
  table_.ranks = static_cast<std::int64_t>(hosts.size());
  std::set<std::string_view> spanned;
  for (const auto& [rank, host] : hosts) {
    spanned.insert(host);
  }
  table_.nodes = static_cast<std::int64_t>(spanned.size());
  const std::int64_t listed_to = hosts.rbegin()->first + 1;
  if (groups_.size() == 1 && listed_to != table_.ranks) {
    warn(first_device_line_,
         fmt::format("the device list has {} of {} ranks", *table_.ranks, listed_to));
    table_.ranks = listed_to;
    table_.nodes.reset();
  }
  if (rank_repeated_) {
    warn(first_device_line_,
         "a rank is listed on two hosts: without MPI each process is a run of its own");
    table_.nodes.reset();
  }
  if (devices_.size() > 1) {
    warn(first_device_line_, fmt::format("{} kinds of device", devices_.size()));
  }
}

void NcclDraft::settle_ranks() {
  if (!table_.ranks && communicator_) {
    table_.ranks = communicator_->ranks;
    table_.nodes = communicator_->nodes;
  }
  const auto found =
      table_.op ? ranks_of_lines(*table_.op, table_.lines) : std::optional<RanksFound>();
  if (found && !table_.ranks) {
    table_.ranks = found->ranks;
    table_.assumed.push_back(
        {"ranks",
         std::to_string(found->ranks),
         found->exact ? "because of busbw" : "because of busbw; near numbers are possible too",
         {}});
  } else if (found && found->exact && found->ranks != *table_.ranks) {
    warn(table_.lines.front().line,
         fmt::format("the text says {} ranks, busbw is that of {}: taken as {}", *table_.ranks,
                     found->ranks, found->ranks));
    table_.ranks = found->ranks;
    table_.nodes.reset();
  }
  const std::int64_t devices = devices_of_process_.value_or(1);
  if (!table_.ranks && devices > 1) {
    table_.ranks = devices;
    table_.assumed.push_back(
        {"ranks", std::to_string(devices), "because of nThread and nGpus, one process", {}});
  }
  if (!table_.nodes && table_.ranks == 1) {
    table_.nodes = 1;
  }
}

void NcclDraft::check_lines() {
  for (NcclLine& line : table_.lines) {
    const std::string found = contradiction(line, table_.op, table_.ranks);
    if (!found.empty()) {
      line.consistent = false;
      warn(line.line, found);
    }
  }
}

NcclTable NcclDraft::finished(std::optional<CollectiveOp> hint) && {
  if (!table_.lines.empty()) {
    if (cpu_time_) {
      warn(table_.lines.front().line, "the times are the CPU's (-C 1): taken from algbw instead");
    }
    settle_op(hint);
    settle_devices();
    settle_ranks();
    check_lines();
  }
  if (unsaid_ > 0) {
    table_.warnings.push_back(fmt::format("{}: and {} more warnings", where_, unsaid_));
  }
  return std::move(table_);
}

}  // namespace sextant::measured
