// The arguments of an event of PyTorch's profiler that say something to us, as they stand in the
// text. Source of the names: pytorch/kineto, libkineto/src/output_json.cpp, and torch's
// profiler/util.cpp and kineto_shim.cpp.
#pragma once

#include <string_view>

#include "profile/json_skim.h"

namespace sextant::profile {

struct KinetoArguments {
  RawValue correlation, stream, device, bytes, external_id;
  // Of a collective.
  RawValue collective_name, in_elements, out_elements, element, group_size, group_name,
      group_description, group_ranks, rank_start, rank_stride, sequence, sender, receiver;
  // Of an operator.
  RawValue input_dims, input_types, input_values;
  RawValue autograd_sequence;
  // Of an allocation.
  RawValue device_type, device_id, allocated, reserved;
  // Of a wait.
  RawValue waited_on, recorded_by;
  // Of a whole-job timeline.
  RawValue step, microbatch, chunk, sequence_id;
};

// Of the text of an object, "{…}". REQUIRES: kSkimPadding bytes can be read behind it.
KinetoArguments kineto_arguments(std::string_view object);

}  // namespace sextant::profile
