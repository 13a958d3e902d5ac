// Layouts in the frameworks' own words, and back. One pair of functions a dialect, each in a file
// of its own (megatron.h, torchtitan.h, …); these ask the right one.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "describe/data_store.h"
#include "describe/layout/job.h"
#include "emit/settings.h"

namespace sextant::emit {

// A value of the job that the framework has no words for. Never dropped in silence.
struct Inexpressible {
  std::string field;  // the layout's key, "schedule"
  std::string value;  // "zbv"
  std::string why;    // "Megatron-LM runs 1F1B and its interleaved form only"
};

struct Writing {
  Settings settings;
  std::vector<Inexpressible> left_out;
};

// The job as settings, the launcher's and the environment among them. Settings whose value is the
// framework's default are written where a reader would look for them.
Writing write(Dialect dialect, const describe::Job& job);

// Where one field of the job came from.
struct Fact {
  std::string field;  // a layout key ("tp"), or "model", "seq", "gbs", "devices", …
  std::string value;  // as `sextant` writes it
  std::string words;  // as the user wrote it: "--tensor-model-parallel-size 8"
  Place place{};
  bool derived = false;  // worked out with other fields: not known where one of them is not
};

// A key the framework does not have, and the nearest ones that it has.
struct UnknownSetting {
  std::string key;
  Place place{};
  std::vector<std::string> nearest{};
};

struct Reading {
  Dialect dialect = Dialect::kMegatron;
  bool framework_known = true;                     // else `dialect` says nothing
  std::optional<describe::Framework> framework{};  // where it is not the dialect's own
  std::string program{};                           // as Settings has it
  // What the settings say, over what the framework itself does when they are silent. dp is a number
  // where the devices are known, else 0.
  describe::Layout layout;
  // The attention kernel is named. Else layout.attention is flash of whatever make the framework
  // picks.
  bool attention_stated = false;
  std::optional<describe::Model> model;
  std::optional<std::int64_t> sequence;
  std::optional<std::int64_t> global_batch;  // sequences a step
  std::optional<std::int64_t> devices;
  std::optional<std::int64_t> devices_per_node;
  std::int64_t least_devices = 1;  // what the axes that are stated take together
  std::vector<Fact> facts;
  std::vector<Unresolved> unresolved;  // the settings' own, and values that are no numbers
  // Fields that the files speak of in words that are not known (emit/not_known.h): the layout holds
  // no more than a stand-in, and no fact names them.
  std::set<std::string, std::less<>> not_known;
  // Not those of a log, which lists what the framework worked out beside what it was told. The
  // nearest keys are given for the first of them.
  std::vector<UnknownSetting> unknown;
};

// Layout keys that the settings speak of; an attention kernel left to the framework is not stated.
std::set<std::string, std::less<>> stated_keys(const Reading& reading);

// A value that cannot be understood is listed as unresolved, never guessed. `data`: the catalogue
// of models, and the frameworks' names for them.
Reading read(const Settings& settings, const describe::DataStore& data);

}  // namespace sextant::emit
