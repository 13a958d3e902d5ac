// The five kinds of message, handed to a sink. A call in a group of one, or of nothing, is none.
//
// A sink has `void add(const Collective&)`, which every message reaches in the order it is issued,
// and `void reach(Part)`, told of the work between messages (empty where nobody asks).
#pragma once

#include <algorithm>
#include <string_view>

#include "workload/traffic_scene.h"

namespace sextant::workload {

struct Call {
  std::string_view what;
  GroupKind group = GroupKind::kTp;
  std::int64_t size = 1;
  Format format;
  std::int64_t count = 0;
  Phase phase = Phase::kForward;
  Hides hides = Hides::kNothing;
  bool returns = false;
};

template <class Sink>
[[gnu::always_inline]] inline void issue(Sink& sink, const Call& call, describe::CollectiveOp op,
                                         std::int64_t input, std::int64_t output) {
  if (call.size <= 1 || call.count <= 0 || std::max(input, output) <= 0) {
    return;
  }
  sink.add(Collective{.what = call.what,
                      .op = op,
                      .group = call.group,
                      .group_size = call.size,
                      .dtype = call.format.name,
                      .input_bytes = input,
                      .output_bytes = output,
                      .count = call.count,
                      .phase = call.phase,
                      .hides = call.hides,
                      .returns = call.returns});
}

// `bytes` on every rank, summed in place.
template <class Sink>
[[gnu::always_inline]] inline void all_reduce(Sink& sink, const Call& call, std::int64_t bytes) {
  issue(sink, call, describe::CollectiveOp::kAllReduce, bytes, bytes);
}

// `part` of every rank, brought together on all.
template <class Sink>
[[gnu::always_inline]] inline void all_gather(Sink& sink, const Call& call, std::int64_t part) {
  issue(sink, call, describe::CollectiveOp::kAllGather, part, capped(part, call.size));
}

// The sum of all ranks' tensors, of which each keeps `part`.
template <class Sink>
[[gnu::always_inline]] inline void reduce_scatter(Sink& sink, const Call& call, std::int64_t part) {
  issue(sink, call, describe::CollectiveOp::kReduceScatter, capped(part, call.size), part);
}

template <class Sink>
[[gnu::always_inline]] inline void all_to_all(Sink& sink, const Call& call, std::int64_t sent,
                                              std::int64_t received) {
  issue(sink, call, describe::CollectiveOp::kAllToAll, sent, received);
}

// `bytes` of one rank, copied to all.
template <class Sink>
[[gnu::always_inline]] inline void broadcast(Sink& sink, const Call& call, std::int64_t bytes) {
  issue(sink, call, describe::CollectiveOp::kBroadcast, bytes, bytes);
}

template <class Sink>
[[gnu::always_inline]] inline void send(Sink& sink, const Call& call, std::int64_t bytes) {
  issue(sink, call, describe::CollectiveOp::kSendReceive, bytes, bytes);
}

}  // namespace sextant::workload
