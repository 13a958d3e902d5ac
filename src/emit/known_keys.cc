#include "emit/known_keys.h"

#include <algorithm>

#include "base/text.h"
#include "emit/accelerate.h"
#include "emit/deepspeed.h"
#include "emit/maxtext_parts.h"
#include "emit/megatron_arguments.h"
#include "emit/nanotron.h"
#include "emit/torchtitan_parts.h"

namespace sextant::emit {

bool is_known(std::string_view key, const KnownKeys& known) {
  return std::find(known.keys.begin(), known.keys.end(), key) != known.keys.end() ||
         std::any_of(known.sections.begin(), known.sections.end(), [&](std::string_view section) {
           return key == section ||
                  (key.starts_with(section) && key.substr(section.size()).starts_with('.'));
         });
}

KnownKeys known_keys(Dialect dialect, const describe::DataStore& data) {
  switch (dialect) {
    case Dialect::kMegatron:
      return megatron_keys(data);
    case Dialect::kBridge:
      return bridge_keys();
    case Dialect::kTorchtitan:
      return torchtitan::known_keys(torchtitan::Edition::kMain);
    case Dialect::kTorchtitanToml:
      return torchtitan::known_keys(torchtitan::Edition::kToml);
    case Dialect::kDeepspeed:
      return deepspeed_keys();
    case Dialect::kMaxtext:
      return maxtext::axis_keys();
    case Dialect::kAccelerate:
      return accelerate_keys();
    case Dialect::kNanotron:
      return nanotron_keys();
  }
  return {};
}

std::vector<std::string> nearest_keys(std::string_view key, const KnownKeys& known) {
  const std::string inside(key.substr(std::min(key.find('.'), key.size())));
  std::vector<std::string> candidates = known.keys;
  for (const std::string& section : known.sections) {
    candidates.push_back(section + inside);
  }
  return nearest_words(key, candidates);
}

}  // namespace sextant::emit
