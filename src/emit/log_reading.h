// A training log: the settings the run printed, and how fast it was.
//
// Read are logs of Megatron-LM, Megatron-Bridge, torchtitan, MaxText, DeepSpeed and nanotron, with
// whatever launchers and terminals add to them (emit/log_steps.h and emit/log_settings.h have the
// lines). Where a log holds several runs (a restart prints its settings again, or goes back in its
// step numbers), the last one counts and the notes say so. A step that several ranks report counts
// once. The text is walked once and never copied.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "emit/log_measured.h"
#include "emit/settings.h"

namespace sextant::emit {

struct LogReading {
  // given: as the framework printed its final values, defaults among them; None is not given.
  // launch: "devices", and "device" (the accelerator's name) where the log has them.
  Settings settings;
  std::optional<MeasuredRun> measured;
  // About the measurement; settings.unresolved is about the settings.
  std::vector<Unresolved> unresolved;
};

// An Error where no line is of any of these frameworks.
Result<LogReading> parse_log(std::string_view text, std::string_view name);

// Whether the first lines of a file are those of such a log.
bool looks_like_log(std::string_view head);

}  // namespace sextant::emit
