#include "measured/comm_groups.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"

namespace sextant::measured {
namespace {

using describe::FabricFamily;
using describe::ScaleUp;

constexpr std::int64_t kLargestNode = 8;
constexpr std::string_view kRackWord = "NVL72";
constexpr std::int64_t kRackDevices = 72;  // what the word says

// Devices of an NVLink domain that spans nodes; nothing where nodes are domains.
std::optional<std::int64_t> rack_domain(const CollectiveSubject& subject) {
  if (subject.links.domain_size && *subject.links.domain_size > kLargestNode) {
    return subject.links.domain_size;
  }
  return subject.hardware.find(kRackWord) != std::string::npos ? std::optional(kRackDevices)
                                                               : std::nullopt;
}

// Nodes of a collective as its links see them.
std::int64_t domains_of(const CollectiveSubject& subject) {
  if (const auto domain = rack_domain(subject)) {
    return (subject.ranks + *domain - 1) / *domain;
  }
  return subject.nodes.value_or(1);
}

bool is_tpu(const CollectiveSubject& subject) {
  const Links& links = subject.links;
  return (subject.device && subject.device->starts_with("tpu")) ||
         links.scale_up == ScaleUp::kIci2d || links.scale_up == ScaleUp::kIci3d ||
         links.fabric == FabricFamily::kIci || links.fabric == FabricFamily::kDcn;
}

// Some tables write "NVLink5 900GB/s" and no word of a switch: a rate without a kind is NVLink's.
bool has_known_links(const Links& links) {
  return links.scale_up ? *links.scale_up != ScaleUp::kNone : links.scale_up_rate.has_value();
}

// "4 GPUs per node", "1 rack": a count of what was used.
bool is_amount_used(std::string_view clause) {
  constexpr std::array<std::string_view, 8> kWords{"GPU",  "GPUs",  "per",  "node",
                                                   "used", "nodes", "rack", "racks"};
  const std::vector<std::string_view> words = split(clause, ' ');
  const bool counted = words.size() > 1 && to_integer(words.front()).has_value();
  return counted && std::all_of(words.begin() + 1, words.end(), [&](std::string_view word) {
           return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
         });
}

// "2x2x4".
bool is_slice_shape(std::string_view word) {
  const std::vector<std::string_view> sides = split(word, 'x');
  return sides.size() > 1 && std::all_of(sides.begin(), sides.end(), [](std::string_view side) {
           return !side.empty() && std::all_of(side.begin(), side.end(), is_digit);
         });
}

std::string machine_of(std::string_view hardware) {
  std::string_view text = trimmed(hardware);
  const std::size_t comma = text.rfind(',');
  if (comma != std::string_view::npos && is_amount_used(trimmed(text.substr(comma + 1)))) {
    text = trimmed(text.substr(0, comma));
  }
  const std::size_t blank = text.rfind(' ');
  if (blank != std::string_view::npos && is_slice_shape(text.substr(blank + 1))) {
    text = trimmed(text.substr(0, blank));
  }
  return std::string(text);
}

std::string network_of(const CollectiveSubject& subject) {
  const Links& links = subject.links;
  if (rack_domain(subject) || (!links.fabric && domains_of(subject) < 2)) {
    return {};
  }
  std::string text = links.fabric ? std::string(describe::word_of<FabricFamily>(
                                        describe::kFabricFamilyWords, *links.fabric))
                                  : "network not stated";
  const bool is_tcp = links.fabric == FabricFamily::kEthernet;
  if (links.network_rate && !is_tcp) {
    text += fmt::format(" {:.3g} Gbit/s", *links.network_rate / 1_Gbitps);
  }
  return text;
}

}  // namespace

SizeBucket size_bucket(Bytes bytes) {
  return static_cast<SizeBucket>(describe::size_class(bytes));
}

CommClass comm_class(const CollectiveSubject& subject) {
  const Links& links = subject.links;
  if (is_tpu(subject)) {
    return CommClass::kTpu;
  }
  if (subject.library == CollectiveLibrary::kGloo || links.fabric == FabricFamily::kEthernet) {
    return CommClass::kTcp;
  }
  const std::int64_t domains = domains_of(subject);
  if (domains > 1 && subject.devices_per_node == 1) {
    return CommClass::kOneDeviceANode;
  }
  if (links.scale_up == ScaleUp::kXgmiMesh) {
    return domains > 1 ? CommClass::kXgmiNodes : CommClass::kXgmiNode;
  }
  if (links.scale_up == ScaleUp::kPcie) {
    return domains > 1 ? CommClass::kPcieNodes : CommClass::kPcieNode;
  }
  if (domains > 1) {
    return domains == 2 ? CommClass::kTwoNodes : CommClass::kMoreNodes;
  }
  if (rack_domain(subject)) {
    return CommClass::kNvlinkRack;
  }
  return has_known_links(links) ? CommClass::kNvlinkNode : CommClass::kUnknownLinks;
}

std::string system_of(const Row& row) {
  if (const auto* expert = std::get_if<EpAllToAllSubject>(&row.subject)) {
    return machine_of(expert->hardware);
  }
  const auto* subject = std::get_if<CollectiveSubject>(&row.subject);
  if (subject == nullptr) {
    return {};
  }
  const std::string network = network_of(*subject);
  const std::string machine = machine_of(subject->hardware);
  return network.empty() ? machine : fmt::format("{}, {}", machine, network);
}

}  // namespace sextant::measured
