#include "emit/settings.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace sextant::emit {

describe::Framework framework_of(Dialect dialect) {
  switch (dialect) {
    case Dialect::kMegatron:
    case Dialect::kBridge:
      return describe::Framework::kMegatronCore;
    case Dialect::kTorchtitan:
    case Dialect::kTorchtitanToml:
      return describe::Framework::kTorchtitan;
    case Dialect::kDeepspeed:
      return describe::Framework::kDeepspeed;
    case Dialect::kMaxtext:
      return describe::Framework::kMaxtext;
    case Dialect::kAccelerate:
      return describe::Framework::kAccelerate;
    case Dialect::kNanotron:
      return describe::Framework::kNanotron;
  }
  return describe::Framework::kOther;
}

std::optional<Dialect> own_dialect(describe::Framework framework) {
  for (const auto& [dialect, word] : kDialectWords) {
    if (framework_of(dialect) == framework) {
      return dialect;
    }
  }
  return std::nullopt;
}

std::string to_text(const Place& place) {
  return place.line == 0 ? place.file : fmt::format("{}:{}", place.file, place.line);
}

const Setting* find(const std::vector<Setting>& settings, std::string_view key) {
  const auto last = std::find_if(settings.rbegin(), settings.rend(),
                                 [&](const Setting& setting) { return setting.key == key; });
  return last == settings.rend() ? nullptr : &*last;
}

void append(std::vector<Setting>& to, std::vector<Setting> from) {
  std::ranges::move(from, std::back_inserter(to));
}

}  // namespace sextant::emit
