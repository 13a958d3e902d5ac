// Messages of a step as the tables list them: one line a kind of message, at rank 0.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "measured/validate.h"

namespace sextant::validate {

// A kind of message: what tells two lines of such a table apart.
struct MessageKind {
  describe::CollectiveOp op = describe::CollectiveOp::kAllReduce;
  bool functional = false;  // tensor parallel's rather than data parallel's
  std::int64_t group_size = 0;
  std::int64_t part_bytes = 0;   // the smaller of input and output
  std::int64_t whole_bytes = 0;  // the larger
  std::string dtype;
  auto operator<=>(const MessageKind&) const = default;
};

struct MessageCount {
  MessageKind kind;
  std::int64_t count = 0;
};

// What rank 0 of the job issues in forward and backward, kinds merged and sorted. The update is not
// in those tables and is left out.
std::vector<MessageCount> predicted_messages(const describe::Job& job);

// The line's own kind. c10d's reduce-scatter is logged with its output first by some: the larger
// size is the whole tensor in any case.
MessageKind kind_of(const measured::StepCollectiveSubject& subject);

// Bytes that the messages of the line's kind carry in a step: count times the whole tensor. Where
// no message is exactly of that kind, those of the nearest (same operation and side, then group
// size, then bytes); 0 where there is none.
measured::Answer predict_step_collective(const measured::Row& row);

}  // namespace sextant::validate
