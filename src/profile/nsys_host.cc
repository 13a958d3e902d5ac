// What the threads of the host did.
#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "profile/nsys_parts.h"
#include "profile/step_name.h"

namespace sextant::profile {
namespace {

// Source: ENUM_NSYS_EVENT_TYPE of an export: NVTX and the NVTX of text files.
constexpr std::array<std::int64_t, 4> kRangeTypes{59, 60, 70, 71};
constexpr std::array<std::int64_t, 2> kMarkTypes{34, 65};

// "cudaLaunchKernel_v7000" is cudaLaunchKernel: four digits and more are the version of its record.
std::string_view without_version(std::string_view call) {
  const std::size_t at = call.rfind("_v");
  if (at == std::string_view::npos || call.size() - at < 6 ||
      !std::all_of(call.begin() + static_cast<std::ptrdiff_t>(at) + 2, call.end(), is_digit)) {
    return call;
  }
  return call.substr(0, at);
}

// Of what torch.autograd.profiler.emit_nvtx says, the operator: "aten::add, seq = 7, op_id = 9,
// sizes = [[2]]". Nothing where it is not of that form.
std::optional<std::string_view> torch_operator(std::string_view text) {
  if (text.find(", op_id = ") == std::string_view::npos) {
    return std::nullopt;
  }
  return text.substr(0, std::min(text.find(", seq = "), text.find(", op_id = ")));
}

constexpr std::array<std::pair<std::string_view, CollectiveOp>, 11> kNcclCalls{
    {{"ncclAllReduce", CollectiveOp::kAllReduce},
     {"ncclAllGather", CollectiveOp::kAllGather},
     {"ncclReduceScatter", CollectiveOp::kReduceScatter},
     {"ncclAlltoAll", CollectiveOp::kAllToAll},
     {"ncclAllToAll", CollectiveOp::kAllToAll},
     {"ncclBroadcast", CollectiveOp::kBroadcast},
     {"ncclBcast", CollectiveOp::kBroadcast},
     {"ncclSend", CollectiveOp::kSendReceive},
     {"ncclRecv", CollectiveOp::kSendReceive},
     {"rcclSend", CollectiveOp::kSendReceive},
     {"rcclRecv", CollectiveOp::kSendReceive}}};

// The number after the first `"…Message size…":` of a payload that was exported as JSON.
std::optional<Bytes> message_size(std::string_view payload) {
  const std::size_t key = payload.find("essage size");
  const std::size_t colon = key == std::string_view::npos ? key : payload.find(':', key);
  if (colon == std::string_view::npos) {
    return std::nullopt;
  }
  std::string_view rest = payload.substr(colon + 1);
  while (!rest.empty() && (rest.front() == ' ' || rest.front() == '"')) {
    rest.remove_prefix(1);
  }
  std::size_t digits = 0;
  while (digits < rest.size() && is_digit(rest[digits])) {
    ++digits;
  }
  const auto bytes = to_integer(rest.substr(0, digits));
  return bytes ? std::optional(Bytes(static_cast<double>(*bytes))) : std::nullopt;
}

timeline::Label range_label(std::string_view text, std::string_view payload) {
  if (const auto operation = torch_operator(text)) {
    return {.kind = timeline::SpanKind::kHost, .name = std::string(*operation)};
  }
  timeline::Label label{.kind = timeline::SpanKind::kMark, .name = std::string(text)};
  for (const auto& [call, op] : kNcclCalls) {
    if (text == call) {
      label.kind = timeline::SpanKind::kHost;
      label.bytes = message_size(payload);
      label.collective = timeline::Collective{.op = op, .word = std::string(call)};
    }
  }
  if (text.starts_with("ncclGroup") || text.starts_with("ncclComm")) {
    label.kind = timeline::SpanKind::kHost;
  }
  return label;
}

}  // namespace

void NsysReading::read_threads() {
  for_each("ThreadNames", {"nameId", "globalTid"}, [&](const DatabaseRow& row) {
    const auto name = row.integer(0);
    const auto thread = row.integer(1);
    if (name && thread && thread_names_.size() < kMostNsysLanes) {
      thread_names_.try_emplace(*thread, string_of(*name).substr(0, 100));
    }
  });
}

std::optional<RankId> NsysReading::rank_of_call(NsysProcess process,
                                                std::optional<std::int64_t> correlation) const {
  const auto ranks = ranks_of_.find(process);
  if (ranks == ranks_of_.end()) {
    return std::nullopt;
  }
  if (correlation) {
    if (const auto sent = sent_to_.find({process, *correlation}); sent != sent_to_.end()) {
      return sent->second;
    }
  }
  return ranks->second.front();
}

void NsysReading::read_calls() {
  for_each("CUPTI_ACTIVITY_KIND_RUNTIME", {"start", "end", "globalTid", "correlationId", "nameId"},
           [&](const DatabaseRow& row) {
             const auto time = times(row, "calls");
             const auto thread = row.integer(2);
             const auto name = row.integer(4);
             if (!time || !thread || !name) {
               losses_.add("calls without a thread or a name", time ? 1 : 0);
               return;
             }
             const NsysProcess process = nsys_process(*thread);
             const auto correlation = row.integer(3);
             const auto rank = rank_of_call(process, correlation);
             if (!rank) {
               losses_.add("calls of processes that ran nothing on a device");
               return;
             }
             auto known = call_labels_.find(*name);
             if (known == call_labels_.end()) {
               const std::string_view call = without_version(string_of(*name));
               const timeline::LabelId label = out_.timeline.label(
                   {.kind = timeline::SpanKind::kHost,
                    .name = call.empty() ? std::string("(no name)") : std::string(call)});
               if (call_labels_.size() >= kMostNsysNames) {
                 call_labels_.clear();
               }
               known = call_labels_.emplace(*name, CallLabel{label, wait_kind(call)}).first;
             }
             note_wait_call({process, correlation.value_or(0)}, known->second.waits);
             add(host_lane(*rank, *thread), known->second.label, correlation, *time);
           });
}

void NsysReading::read_ranges() {
  for_each(
      "NVTX_EVENTS",
      {"start", "end", "eventType", "globalTid", "text", "textId", "jsonText", "jsonTextId"},
      [&](const DatabaseRow& row) {
        const std::int64_t type = row.integer(2).value_or(-1);
        if (std::find(kMarkTypes.begin(), kMarkTypes.end(), type) != kMarkTypes.end()) {
          losses_.add("NVTX marks (moments, not ranges)");
        } else if (std::find(kRangeTypes.begin(), kRangeTypes.end(), type) != kRangeTypes.end()) {
          add_range(row);
        }
      });
}

void NsysReading::add_range(const DatabaseRow& row) {
  const auto time = times(row, "NVTX ranges");
  const auto thread = row.integer(3);
  if (!time || !thread) {
    losses_.add("NVTX ranges without a thread", time ? 1 : 0);
    return;
  }
  const auto ranks = ranks_of_.find(nsys_process(*thread));
  if (ranks == ranks_of_.end()) {
    losses_.add("NVTX ranges of processes that ran nothing on a device");
    return;
  }
  const auto text_id = row.integer(5);
  const std::string_view written = row.text(4).substr(0, kLongestNsysName);
  const std::string text = written.empty() && text_id ? string_of(*text_id) : std::string(written);
  if (text.empty()) {
    losses_.add("NVTX ranges without a name");
    return;
  }
  const auto json_id = row.integer(7);
  const std::string payload = json_id ? string_of(*json_id) : std::string(row.text(6));
  add(host_lane(ranks->second.front(), *thread), out_.timeline.label(range_label(text, payload)),
      std::nullopt, *time);
  note_step(*thread, text, *time);
}

void NsysReading::note_step(std::int64_t thread, std::string_view name,
                            const std::pair<std::int64_t, std::int64_t>& time) {
  auto step = step_name(name);
  if (!step || noted_steps_ >= kMostNotedSteps) {
    return;
  }
  ++noted_steps_;
  step_rows_[{thread, std::move(step->row)}].push_back({time.first, time.second, step->number});
}

}  // namespace sextant::profile
