#include "measured/hardware.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <tuple>

#include "base/text.h"
#include "describe/cluster/load_cluster.h"

namespace sextant::measured {

namespace {

// Published capacities are rounded and count the vendor's reserve either way: 186 GB and 192 GB
// are the same GB200. Only a larger difference means another product.
constexpr double kSameProduct = 0.2;
constexpr double kNear = 0.06;

// Texts that stand for one device without naming it: compute capabilities and cloud instances. A
// compute capability is shared by a family; the family's common SXM or OAM member is meant.
// Source: CUDA C++ Programming Guide, compute capabilities; LLVM AMDGPU user guide, processors.
struct StandIn {
  std::string_view text;
  std::string_view device;
};
constexpr std::array kStandIns{StandIn{"sm-80", "a100-sxm-80g"},
                               StandIn{"sm80", "a100-sxm-80g"},
                               StandIn{"sm-90", "h100-sxm"},
                               StandIn{"sm90", "h100-sxm"},
                               StandIn{"sm-90a", "h100-sxm"},
                               StandIn{"sm90a", "h100-sxm"},
                               StandIn{"sm-100", "b200-sxm"},
                               StandIn{"sm100", "b200-sxm"},
                               StandIn{"sm-100a", "b200-sxm"},
                               StandIn{"sm-103", "b300"},
                               StandIn{"gfx90a", "mi250x-gcd"},
                               StandIn{"mi200-series", "mi250x-gcd"},
                               StandIn{"mi200", "mi250x-gcd"},
                               StandIn{"gfx942", "mi300x"},
                               StandIn{"gfx950", "mi355x"},
                               StandIn{"p3dn-24xlarge", "v100-sxm-32g"},
                               StandIn{"p3-16xlarge", "v100-sxm-16g"},
                               StandIn{"nd96asr", "a100-sxm-40g"},
                               StandIn{"nd96amsr", "a100-sxm-80g"},
                               StandIn{"g4dn", "t4"}};

bool is_word_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0;
}

// Lower case, every run of other characters one hyphen: "A100-SXM4 (80 GB)" → "a100-sxm4-80-gb".
std::string normalised(std::string_view text) {
  std::string out;
  for (const char c : to_lower(text)) {
    if (is_word_character(c)) {
      out.push_back(c);
    } else if (!out.empty() && out.back() != '-') {
      out.push_back('-');
    }
  }
  while (!out.empty() && out.back() == '-') {
    out.pop_back();
  }
  return out;
}

// Whether `name` stands in `text` as whole words.
bool names(std::string_view text, std::string_view name) {
  for (std::size_t at = text.find(name); at != std::string_view::npos;
       at = text.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    const bool starts = at == 0 || !is_word_character(text[at - 1]);
    const bool ends = end == text.size() || !is_word_character(text[end]);
    if (starts && ends) {
      return true;
    }
  }
  return false;
}

}  // namespace

Result<const describe::Device*> Hardware::device(std::string_view word) {
  const auto known = devices_.find(word);
  if (known != devices_.end()) {
    return &known->second;
  }
  SEXTANT_TRY(describe::Device loaded, describe::load_device(word, data_));
  return &devices_.emplace(std::string(word), std::move(loaded)).first->second;
}

Result<const describe::Fabric*> Hardware::fabric(std::string_view word) {
  const auto known = fabrics_.find(word);
  if (known != fabrics_.end()) {
    return &known->second;
  }
  SEXTANT_TRY(describe::Fabric loaded, describe::load_fabric(word, data_));
  return &fabrics_.emplace(std::string(word), std::move(loaded)).first->second;
}

Result<describe::Cluster> Hardware::cluster(std::int64_t devices, const describe::Device& device) {
  const std::pair<std::int64_t, std::string> key{devices, device.id};
  const auto known = clusters_.find(key);
  if (known != clusters_.end()) {
    return known->second;
  }
  SEXTANT_TRY(const describe::Cluster loaded, describe::reference_cluster(devices, device, data_));
  return clusters_.emplace(key, loaded).first->second;
}

Result<const describe::Device*> Hardware::variant(const describe::Device& device, Bytes memory) {
  const auto differs = [&](const describe::Device& other) {
    return std::abs(other.memory_capacity.value / memory - 1.0);
  };
  if (differs(device) < kSameProduct) {
    return &device;
  }
  // "a100-sxm-80g" → "a100-sxm-": variants are named by what follows.
  const std::string stem = device.id.substr(0, device.id.rfind('-') + 1);
  for (const std::string& id : data_.list("devices", "toml")) {
    if (stem.empty() || id.rfind(stem, 0) != 0) {
      continue;
    }
    SEXTANT_TRY(const describe::Device* other, this->device(id));
    if (differs(*other) < kNear) {
      return other;
    }
  }
  return &device;
}

Result<void> Hardware::load_names() {
  if (!names_.empty()) {
    return {};
  }
  const auto add = [this](std::string_view text, const std::string& id) {
    names_.push_back({normalised(text), id});
    if (text.size() > 1 && text.back() == 'g' && is_word_character(text[text.size() - 2])) {
      names_.push_back({normalised(std::string(text) + "b"), id});  // 80g is also written 80GB
    }
  };
  for (const std::string& id : data_.list("devices", "toml")) {
    SEXTANT_TRY(const describe::Device* entry, device(id));
    add(id, id);
    for (const std::string& alias : entry->aliases) {
      add(alias, id);
    }
  }
  for (const std::string& id : data_.list("systems", "toml")) {
    SEXTANT_TRY(const describe::System system, describe::load_system(id, data_));
    add(id, system.device);
    for (const std::string& alias : system.aliases) {
      add(alias, system.device);
    }
  }
  for (const StandIn& stand_in : kStandIns) {
    names_.push_back({std::string(stand_in.text), std::string(stand_in.device)});
  }
  std::sort(names_.begin(), names_.end(), [](const Name& a, const Name& b) {
    return a.text.size() != b.text.size() ? a.text.size() > b.text.size()
                                          : std::tie(a.text, a.id) < std::tie(b.text, b.id);
  });
  return {};
}

Result<std::optional<std::string>> Hardware::device_in_text(std::string_view text) {
  const auto known = texts_.find(text);
  if (known != texts_.end()) {
    return known->second;
  }
  SEXTANT_CHECK_OK(load_names());
  const std::string plain = normalised(text);
  std::optional<std::string> found;
  for (const Name& name : names_) {
    if (names(plain, name.text)) {
      found = name.id;
      break;
    }
  }
  texts_.emplace(std::string(text), found);
  return found;
}

}  // namespace sextant::measured
