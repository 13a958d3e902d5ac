// A job's layout from words: a JAX mesh, layout keys, or both ("ici:fsdp=16,tensor=8;mbs=2").
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "describe/layout/job.h"

namespace sextant::describe {

// A JAX mesh and layout keys, set off by semicolons.
struct LayoutWords {
  std::string mesh;  // "ici:fsdp=64;dcn:data=2"
  std::string keys;  // "mbs=1,recompute=full"
};
LayoutWords split_layout(std::string_view text);

// The layout the words say, the framework's defaults where they are silent; what was stated and
// what was assumed is added to the job's.
Result<void> set_layout(std::string_view text, Job& job);

// The words over the layout that the job has: keys they do not name stay, but for what follows from
// others where nobody names it: dp is what is left of the devices where tp, cp or pp change, and
// the schedule is the usual one where it was and vpp changes. A mesh names all its axes.
Result<void> lay_over(std::string_view text, Job& job);

}  // namespace sextant::describe
