#include "metrics/host_signs.h"

#include <optional>
#include <string>
#include <utility>

#include "metrics/signal_names.h"

namespace sextant::metrics {
namespace {

using timeline::Label;
using timeline::LaneId;
using timeline::Span;
using timeline::SpanKind;

LabelSign sign_of(const Label& label) {
  LabelSign sign;
  if (label.kind != SpanKind::kHost && label.kind != SpanKind::kMark &&
      label.kind != SpanKind::kCommunication) {
    return sign;
  }
  const std::optional<Signal> signal = signal_of_name(label.name);
  sign.signal = signal ? static_cast<std::uint8_t>(*signal) : kNoSignal;
  sign.is_update = is_update(label.name);
  sign.is_frame = !signal && is_frame(label.name);
  sign.is_outline = !signal && (label.kind == SpanKind::kMark || is_outline(label.name));
  sign.is_skipped = label.name.starts_with("ProfilerStep#");
  sign.is_operator = label.name.starts_with("aten::");
  sign.is_reading = is_reading(label.name);
  sign.is_copying = is_copying(label.name);
  sign.is_release = is_release(label.name);
  sign.is_request = is_request(label.name);
  return sign;
}

std::size_t label_of_span(const View& view, const Span& span) {
  return static_cast<std::size_t>(view.timeline().occurrence_of(span).label.value);
}

void note_copy(const Label& copy, std::uint8_t& inside) {
  if (is_copy_in(copy) && is_pageable_copy(copy)) {
    inside |= kPageable;
  }
  if (is_copy_out(copy)) {
    const bool is_much = copy.bytes && copy.bytes->base() > kSmallCopyBytes;
    inside |= is_much ? kCopiesOut | kCopiesMuchOut : kCopiesOut;
  }
}

void note_work(const View& view, const RankLanes& rank, HostSigns& signs) {
  std::vector<std::uint32_t> first(view.timeline().labels().size(), kNone);  // call, by kernel
  const std::span<const Span> spans = view.timeline().spans();
  for (const LaneId lane : rank.streams) {
    for (const Span& span : view.timeline().spans_of(lane)) {
      const std::uint32_t call = view.call_of[view.number_of(span)];
      if (call == kNone) {
        continue;
      }
      const Label& label = view.timeline().label_of(span);
      signs.inside[call] |= kLaunches;
      std::uint32_t& earliest = first[label_of_span(view, span)];
      if (earliest == kNone || spans[call].start_ns < spans[earliest].start_ns) {
        earliest = call;
      }
      if (label.kind == SpanKind::kCopy) {
        note_copy(label, signs.inside[call]);
      }
    }
  }
  for (const std::uint32_t call : first) {
    if (call != kNone) {
      signs.inside[call] |= kFirst;
    }
  }
}

// To free nothing, which libraries do to make sure that a device is there, takes a microsecond or
// two; memory that is given back is unmapped, which takes some ten times that.
constexpr std::int64_t kFreesNothingNs = 10'000;

// What the ranges around one are told of it: all but that it was the first launch of a kernel.
constexpr std::uint8_t kToldAround = 0xFF ^ kFirst;

// Tells each range of a lane what the ranges within it are and do.
class InsideNoter {
 public:
  InsideNoter(const View& view, HostSigns& signs) : view_(view), signs_(signs) {}

  void note(LaneId lane) {
    open_.clear();
    for (const Span& span : view_.timeline().spans_of(lane)) {
      const std::size_t label = label_of_span(view_, span);
      const LabelSign& sign = signs_.of_label[label];
      if (sign.is_skipped || sign.is_frame || (sign.is_outline && !sign.is_update)) {
        continue;
      }
      while (!open_.empty() && view_.timeline().spans()[open_.back()].end_ns() <= span.start_ns) {
        open_.pop_back();
      }
      const std::uint32_t number = view_.number_of(span);
      signs_.seen[label].first += 1;
      signs_.seen[label].second += span.duration_ns >= kLongHostNs ? 1 : 0;
      std::uint8_t found = signs_.inside[number];
      if (view_.traits[label].is_blocking) {
        found |= kWaits;
      }
      tell(found & kToldAround);
      note_allocation(sign, span);
      signs_.inside[number] = found | (signs_.inside[number] & (kFrees | kRetries));
      open_.push_back(number);
    }
  }

 private:
  void tell(std::uint8_t found) {
    for (auto at = open_.rbegin(); found != 0 && at != open_.rend(); ++at) {
      std::uint8_t& inside = signs_.inside[*at];
      if ((inside & found) == found) {
        return;  // and so does all around it
      }
      inside |= found;
    }
  }
  // A request that follows a release within one operator is an allocator that had found no room.
  // Source: PyTorch's CUDACachingAllocator::malloc, which asks, frees its cache, and asks again.
  void note_allocation(const LabelSign& sign, const Span& span) {
    if (open_.empty() || (!sign.is_release && !sign.is_request)) {
      return;
    }
    std::uint8_t& around = signs_.inside[open_.back()];
    const bool frees = sign.is_release && span.duration_ns >= kFreesNothingNs;
    if (frees) {
      around |= kFrees;
    }
    if (sign.is_request && (around & kFrees) != 0) {
      around |= kRetries;
    }
    parent_of_call_.emplace_back(view_.number_of(span), open_.back());
  }

 public:
  // Once all lanes are noted: calls of an operator that retried are part of that.
  void mark_retries() {
    for (const auto& [call, around] : parent_of_call_) {
      if ((signs_.inside[around] & kRetries) != 0) {
        signs_.inside[call] |= kRetries;
      }
    }
  }

 private:
  const View& view_;
  HostSigns& signs_;
  std::vector<std::uint32_t> open_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> parent_of_call_;
};

}  // namespace

bool is_copy_in(const Label& label) {
  return label.name.find("HtoD") != std::string::npos ||
         label.name.find("HostToDevice") != std::string::npos;
}

bool is_copy_out(const Label& label) {
  return label.name.find("DtoH") != std::string::npos ||
         label.name.find("DeviceToHost") != std::string::npos;
}

bool is_pageable_copy(const Label& label) {
  return label.name.find("ageable") != std::string::npos;
}

HostSigns host_signs(const View& view, const RankLanes& rank, const std::vector<LaneId>& threads) {
  HostSigns signs;
  for (const Label& label : view.timeline().labels()) {
    signs.of_label.push_back(sign_of(label));
  }
  signs.inside.assign(view.timeline().spans().size(), 0);
  signs.seen.resize(signs.of_label.size());
  note_work(view, rank, signs);
  InsideNoter noter(view, signs);
  for (const LaneId lane : threads) {
    noter.note(lane);
  }
  noter.mark_retries();
  return signs;
}

}  // namespace sextant::metrics
