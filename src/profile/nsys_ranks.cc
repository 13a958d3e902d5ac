// Which device of which process is which rank, and what the file says of it.
#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "profile/nsys_parts.h"

namespace sextant::profile {
namespace {

// A host has 8 or 72 devices, and a process or two on each.
constexpr std::size_t kMostNsysRanks = 1'024;
// Environments hold up to a megabyte or so; what is asked of them is short.
constexpr std::size_t kLongestNumber = 12;
constexpr std::array<std::string_view, 4> kRankKeys{"RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID",
                                                    "PMI_RANK"};
constexpr std::array<std::string_view, 4> kWorldKeys{"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE",
                                                     "SLURM_NTASKS", "PMI_SIZE"};

// The value of the first key that has a whole number ≥ 0.
template <std::size_t N>
std::optional<std::int64_t> number_of(const std::map<std::string, std::int64_t>& values,
                                      const std::array<std::string_view, N>& keys) {
  for (const std::string_view key : keys) {
    if (const auto found = values.find(std::string(key)); found != values.end()) {
      return found->second;
    }
  }
  return std::nullopt;
}

// Takes KEY=7 and KEY="7" of a key that is asked for.
void take_variable(std::string_view assignment, std::map<std::string, std::int64_t>& values) {
  const std::size_t equals = assignment.find('=');
  if (equals == std::string_view::npos) {
    return;
  }
  const std::string_view key = assignment.substr(0, equals);
  const std::string_view value = unquoted(assignment.substr(equals + 1));
  const bool is_asked = std::find(kRankKeys.begin(), kRankKeys.end(), key) != kRankKeys.end() ||
                        std::find(kWorldKeys.begin(), kWorldKeys.end(), key) != kWorldKeys.end();
  const auto number = to_integer(value);
  if (is_asked && value.size() <= kLongestNumber && number && *number >= 0) {
    values.try_emplace(std::string(key), *number);
  }
}

}  // namespace

void NsysReading::find_ranks() {
  std::map<Place, RankId> places;
  const auto take = [&](const DatabaseRow& row) {
    const auto device = row.integer(0);
    if (!device || places.size() >= kMostNsysRanks) {
      return;
    }
    places.try_emplace({*device, nsys_process(row.integer(1).value_or(0))});
  };
  for_each("CUPTI_ACTIVITY_KIND_KERNEL", {"deviceId", "globalPid"}, take);
  for_each("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", {"deviceId", "globalPid"}, take);
  // Processes that only copied: ranks where no other is.
  if (places.empty()) {
    for_each("CUPTI_ACTIVITY_KIND_MEMCPY", {"deviceId", "globalPid"}, take);
    for_each("CUPTI_ACTIVITY_KIND_MEMSET", {"deviceId", "globalPid"}, take);
  }
  std::int64_t next = 0;
  for (auto& [place, rank] : places) {
    rank = {next++};
  }
  ranks_ = std::move(places);
  state_rank();
  for (const auto& [place, rank] : ranks_) {
    ranks_of_[place.process].push_back(rank);
  }
}

void NsysReading::state_rank() {
  for (const auto& [place, rank] : ranks_) {
    out_.ranks.push_back({.rank = rank});
  }
  if (ranks_.size() != 1) {
    return;
  }
  std::map<std::string, std::int64_t> values;
  for_each("META_DATA_CAPTURE", {"name", "value"}, [&](const DatabaseRow& row) {
    if (row.text(0).ends_with("ENVIRONMENT_VARIABLE")) {
      take_variable(row.text(1), values);
    }
  });
  for_each("TARGET_INFO_SYSTEM_ENV", {"name", "value"}, [&](const DatabaseRow& row) {
    if (row.text(0) == "DeviceEnvironment") {
      for (const std::string_view assignment : split(row.text(1), ';')) {
        take_variable(assignment, values);
      }
    }
  });
  timeline::RecordedRank& only = out_.ranks.front();
  only.world = number_of(values, kWorldKeys);
  if (const auto rank = number_of(values, kRankKeys)) {
    ranks_.begin()->second = {*rank};
    only.rank = {*rank};
    only.is_stated = true;
  }
}

void NsysReading::describe_ranks() {
  std::string host;
  for_each("TARGET_INFO_SYSTEM_ENV", {"name", "value"}, [&](const DatabaseRow& row) {
    if (row.text(0) == "Hostname") {
      host = printable(row.text(1), 255);
    }
  });
  for (const auto& [place, rank] : ranks_) {
    for (timeline::RecordedRank& recorded : out_.ranks) {
      if (recorded.rank == rank) {
        recorded.host = host;
        recorded.device = device_of(place);
      }
    }
  }
}

std::optional<timeline::RecordedDevice> NsysReading::device_of(const Place& place) {
  // The process's own number for a device is CUDA's; the file's is the GPU's.
  std::int64_t gpu = place.device;
  for_each("TARGET_INFO_CUDA_DEVICE", {"gpuId", "cudaId", "pid"}, [&](const DatabaseRow& row) {
    if (row.integer(1) == place.device && row.integer(2) == nsys_pid(place.process)) {
      gpu = row.integer(0).value_or(gpu);
    }
  });
  std::optional<timeline::RecordedDevice> found;
  for_each("TARGET_INFO_GPU", {"id", "name", "totalMemory", "memoryBandwidth", "smCount"},
           [&](const DatabaseRow& row) {
             if (row.integer(0) != gpu || found) {
               return;
             }
             found = timeline::RecordedDevice{.name = printable(row.text(1), 200)};
             if (const auto bytes = row.integer(2); bytes && *bytes > 0) {
               found->memory = Bytes(static_cast<double>(*bytes));
             }
             // Bytes a second, though the export's own comment calls it an amount.
             if (const auto rate = row.integer(3); rate && *rate > 0) {
               found->memory_bandwidth = BytesPerSecond(static_cast<double>(*rate));
             }
             found->multiprocessors = row.integer(4);
           });
  return found;
}

std::optional<RankId> NsysReading::rank_of(NsysProcess process, std::int64_t device) const {
  const auto found = ranks_.find({device, process});
  return found == ranks_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace sextant::profile
