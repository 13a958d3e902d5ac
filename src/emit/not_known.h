// Which fields of a job are not known, because the settings that would say them are not.
//
// A setting that stands open ("--tensor-model-parallel-size $TP", a flag added in one branch only)
// must not become the framework's default. The fields it speaks of are found by asking the
// dialect's own reader: whatever becomes a fact when the setting is given a value.
#pragma once

#include <functional>
#include <string_view>

#include "describe/data_store.h"
#include "emit/dialects.h"

namespace sextant::emit {

// Settings → what they say, as the dialect has it, without this question.
using SettingsReader = std::function<Reading(const Settings&)>;

// Fills reading.not_known and takes those fields' facts away:
//   - fields of settings that are unresolved (Unresolved::key);
//   - where something may hold any settings (Unresolved::any), every main field that no fact
//   states;
//   - fields that a setting names which the framework does not know (an older or newer spelling,
//     another framework's): "--zero-stage" speaks of zero;
//   - the batch and the format where a training program, not the files, decides them (DeepSpeed
//     and Accelerate);
//   - every main field where the framework itself is not known;
//   - what is worked out with any of these (dp, and batches from it).
void mark_not_known(const Settings& settings, const SettingsReader& reader, Reading& reading);

// A layout as text, "?" for what is not known: "tp=?,pp=4,mbs=1".
std::string layout_text(const Reading& reading);

}  // namespace sextant::emit
