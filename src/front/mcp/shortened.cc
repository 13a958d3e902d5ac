#include "front/mcp/shortened.h"

#include <array>

#include <fmt/format.h>

#include "base/text_pages.h"

namespace sextant::front::mcp {
namespace {

// How much stays: members of a list, levels below the whole, bytes of a text.
struct Measure {
  std::size_t members;
  int levels;
  std::size_t bytes;
};
constexpr auto kMeasures = std::to_array<Measure>({{50, 8, 4'000},
                                                   {24, 7, 2'000},
                                                   {12, 6, 1'000},
                                                   {8, 5, 600},
                                                   {5, 4, 400},
                                                   {3, 4, 240},
                                                   {3, 3, 160},
                                                   {2, 2, 120},
                                                   {1, 1, 80}});

// "~" and "/" of a key, as a pointer has them (RFC 6901).
std::string escaped(std::string_view key) {
  std::string text;
  for (const char c : key) {
    text += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  }
  return text;
}

class Shortening {
 public:
  explicit Shortening(const Measure& measure) : measure_(measure) {}

  Json of(const Json& value, const std::string& at, int level) {
    if (value.is_string()) {
      return text(value.get_ref<const std::string&>(), at);
    }
    if (!value.is_structured() || value.empty()) {
      return value;
    }
    if (level > measure_.levels) {
      cut({at, 0, value.size()});
      return nullptr;
    }
    return value.is_array() ? list(value, at, level) : object(value, at, level);
  }

  std::vector<Cut> cuts;

 private:
  Json text(const std::string& whole, const std::string& at) {
    if (whole.size() <= measure_.bytes) {
      return whole;
    }
    const std::string_view kept = beginning(whole, measure_.bytes);
    cut({at, kept.size(), whole.size()});
    return std::string(kept) + "…";
  }

  Json list(const Json& value, const std::string& at, int level) {
    Json kept = Json::array();
    for (std::size_t i = 0; i < std::min(value.size(), measure_.members); ++i) {
      kept.push_back(of(value[i], fmt::format("{}/{}", at, i), level + 1));
    }
    if (kept.size() < value.size()) {
      cut({at, kept.size(), value.size()});
    }
    return kept;
  }

  Json object(const Json& value, const std::string& at, int level) {
    Json kept = Json::object();
    // An object is read by its keys: those of a long one are data, as a list's members are.
    const std::size_t most = std::max<std::size_t>(measure_.members, 24);
    for (const auto& [key, member] : value.items()) {
      if (kept.size() == most) {
        cut({at, most, value.size()});
        break;
      }
      kept[key] = of(member, fmt::format("{}/{}", at, escaped(key)), level + 1);
    }
    return kept;
  }

  void cut(Cut made) {
    if (cuts.size() < kMostCuts) {
      cuts.push_back(std::move(made));
    }
  }

  const Measure& measure_;
};

}  // namespace

Shortened shortened(const Json& value, std::size_t most) {
  if (one_line(value).size() <= most) {
    return {value, {}};
  }
  Shortened result;
  for (const Measure& measure : kMeasures) {
    Shortening shortening(measure);
    result.value = shortening.of(value, "", 0);
    result.cuts = std::move(shortening.cuts);
    if (one_line(result.value).size() <= most) {
      break;
    }
  }
  return result;
}

}  // namespace sextant::front::mcp
