// What ran on the devices.
#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "profile/nsys_parts.h"

namespace sextant::profile {
namespace {

// CUPTI's kinds of copy that have a short name, as PyTorch's profiler says it.
// Source: ENUM_CUDA_MEMCPY_OPER and ENUM_CUDA_MEM_KIND of an export.
constexpr std::array<std::pair<std::int64_t, std::string_view>, 7> kCopies{{{1, "HtoD"},
                                                                            {2, "DtoH"},
                                                                            {8, "DtoD"},
                                                                            {9, "HtoH"},
                                                                            {10, "PtoP"},
                                                                            {11, "Unified HtoD"},
                                                                            {12, "Unified DtoH"}}};
constexpr std::array<std::string_view, 7> kMemories{
    "Pageable", "Pinned", "Device", "Array", "Managed", "Device Static", "Managed Static"};
constexpr std::int64_t kDeviceMemory = 2;

std::string_view memory_word(std::optional<std::int64_t> kind) {
  return kind && *kind >= 0 && *kind < static_cast<std::int64_t>(kMemories.size())
             ? kMemories[static_cast<std::size_t>(*kind)]
             : std::string_view("Unknown");
}

std::string copy_name(std::optional<std::int64_t> kind, std::optional<std::int64_t> from,
                      std::optional<std::int64_t> to) {
  std::string name = "Memcpy";
  for (const auto& [number, word] : kCopies) {
    if (kind == number) {
      name += fmt::format(" {}", word);
    }
  }
  return from || to ? name + fmt::format(" ({} -> {})", memory_word(from), memory_word(to)) : name;
}

std::optional<Bytes> size_of(std::optional<std::int64_t> bytes) {
  return bytes && *bytes >= 0 ? std::optional(Bytes(static_cast<double>(*bytes))) : std::nullopt;
}

}  // namespace

std::optional<NsysReading::OnDevice> NsysReading::on_device(const DatabaseRow& row,
                                                            std::string_view what) {
  const auto time = times(row, what);
  if (!time) {
    return std::nullopt;
  }
  const NsysProcess process = nsys_process(row.integer(4).value_or(0));
  const auto rank = rank_of(process, row.integer(2).value_or(-1));
  if (!rank) {
    losses_.add(fmt::format("{} of processes that ran no kernel on the device", what));
    return std::nullopt;
  }
  const std::optional<std::int64_t> correlation = row.integer(5);
  if (correlation && ranks_of_[process].size() > 1) {
    sent_to_.try_emplace({process, *correlation}, *rank);
  }
  return OnDevice{device_lane(*rank, row.integer(3).value_or(-1)), correlation, *time};
}

timeline::LabelId NsysReading::kernel_label(const DatabaseRow& row, int first_name) {
  for (int column = first_name; column < first_name + 3; ++column) {
    const auto id = row.integer(column);
    if (!id) {
      continue;
    }
    if (const auto known = kernel_labels_.find(*id); known != kernel_labels_.end()) {
      return known->second;
    }
    const std::string& name = string_of(*id);
    if (name.empty()) {
      continue;
    }
    const timeline::LabelId label = out_.timeline.label(kernel_label_of(name));
    if (kernel_labels_.size() < kMostNsysNames) {
      kernel_labels_.emplace(*id, label);
    }
    return label;
  }
  losses_.add("names of kernels");
  return out_.timeline.label({.kind = timeline::SpanKind::kCompute, .name = "(no name)"});
}

timeline::Label NsysReading::kernel_label_of(const std::string& name) const {
  const KernelMeaning meaning = options_.kernels(name);
  timeline::Label label{.kind = meaning.kind, .name = name};
  if (meaning.kind == timeline::SpanKind::kCommunication) {
    label.collective = timeline::Collective{.op = meaning.op, .element = meaning.element};
  }
  return label;
}

void NsysReading::read_kernels() {
  for_each("CUPTI_ACTIVITY_KIND_KERNEL",
           {"start", "end", "deviceId", "streamId", "globalPid", "correlationId", "demangledName",
            "shortName", "mangledName"},
           [&](const DatabaseRow& row) {
             if (const auto at = on_device(row, "kernels")) {
               add(at->lane, kernel_label(row, 6), at->correlation, at->time);
             }
           });
}

void NsysReading::read_copies() {
  for_each("CUPTI_ACTIVITY_KIND_MEMCPY",
           {"start", "end", "deviceId", "streamId", "globalPid", "correlationId", "bytes",
            "copyKind", "srcKind", "dstKind"},
           [&](const DatabaseRow& row) {
             if (const auto at = on_device(row, "copies")) {
               const timeline::Label label{
                   .kind = timeline::SpanKind::kCopy,
                   .name = copy_name(row.integer(7), row.integer(8), row.integer(9)),
                   .bytes = size_of(row.integer(6))};
               add(at->lane, out_.timeline.label(label), at->correlation, at->time);
             }
           });
}

void NsysReading::read_sets() {
  for_each(
      "CUPTI_ACTIVITY_KIND_MEMSET",
      {"start", "end", "deviceId", "streamId", "globalPid", "correlationId", "bytes", "memKind"},
      [&](const DatabaseRow& row) {
        if (const auto at = on_device(row, "sets of memory")) {
          const timeline::Label label{
              .kind = timeline::SpanKind::kCopy,
              .name = fmt::format("Memset ({})", memory_word(row.integer(7))),
              .bytes = size_of(row.integer(6))};
          add(at->lane, out_.timeline.label(label), at->correlation, at->time);
        }
      });
}

void NsysReading::read_graphs() {
  for_each(
      "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
      {"start", "end", "deviceId", "streamId", "globalPid", "correlationId", "graphId"},
      [&](const DatabaseRow& row) {
        if (const auto at = on_device(row, "CUDA graphs")) {
          const timeline::Label label{
              .kind = timeline::SpanKind::kCompute,
              .name = fmt::format("CUDA graph {}", row.integer(6).value_or(-1)),
              .operation = timeline::Operation{.name = "CUDA graph", .category = "CUDA graph"}};
          add(at->lane, out_.timeline.label(label), at->correlation, at->time);
          losses_.add(
              "the kernels of a CUDA graph, recorded as one span "
              "(nsys profile --cuda-graph-trace=node records them)");
        }
      });
}

void NsysReading::read_memory() {
  for_each("CUDA_GPU_MEMORY_USAGE_EVENTS",
           {"start", "deviceId", "globalPid", "bytes", "memKind", "memoryOperationType"},
           [&](const DatabaseRow& row) {
             const auto at = row.integer(0);
             const auto bytes = row.integer(3);
             const auto operation = row.integer(5);
             const auto rank =
                 rank_of(nsys_process(row.integer(2).value_or(0)), row.integer(1).value_or(-1));
             if (row.integer(4).value_or(kDeviceMemory) != kDeviceMemory) {
               return;
             }
             // A petabyte is more than any device has, and sums of them do not overflow.
             constexpr std::int64_t kMostBytes = std::int64_t{1} << 50U;
             if (!at || !bytes || !operation || !rank || *bytes < 0 || *bytes > kMostBytes ||
                 *operation < 0 || *operation > 1 ||
                 std::abs(*at) > timeline::Timeline::kFarthestNs ||
                 out_.memory.size() >= kMostMemoryPoints) {
               losses_.add("allocations without a time, a size or a rank");
               return;
             }
             out_.memory.push_back(
                 {.rank = *rank, .at_ns = *at, .change_bytes = *operation == 0 ? *bytes : -*bytes});
           });
  std::stable_sort(out_.memory.begin(), out_.memory.end(), [](const auto& a, const auto& b) {
    return std::tie(a.rank, a.at_ns) < std::tie(b.rank, b.at_ns);
  });
  const timeline::MemoryPoint* before = nullptr;
  for (timeline::MemoryPoint& point : out_.memory) {
    const bool is_first = before == nullptr || before->rank != point.rank;
    point.allocated_bytes = (is_first ? 0 : before->allocated_bytes) + point.change_bytes;
    // What a program asks of the device is what it has reserved there.
    point.reserved_bytes = point.allocated_bytes;
    before = &point;
  }
  out_.has_memory = !out_.memory.empty();
}

}  // namespace sextant::profile
