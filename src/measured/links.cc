// Link columns are prose with a few fixed phrases. A rate counts only where its unit is written;
// "GB/s" is the scale-up's and "Gb/s" or "Gbps" the network's, as every source keeps them apart. A
// network rate is a device's where the same clause says "per GPU", else a node's.
#include <array>
#include <utility>

#include "base/text.h"
#include "measured/hardware.h"
#include "measured/row_tools.h"

namespace sextant::measured {

namespace {

using describe::FabricFamily;
using describe::ScaleUp;

constexpr std::array<std::pair<std::string_view, ScaleUp>, 11> kScaleUpPhrases{
    {{"nvswitch", ScaleUp::kNvSwitch},
     {"hybrid cube mesh", ScaleUp::kHybridCubeMesh},
     {"nvlink bridge", ScaleUp::kNvlinkBridge},
     {"xgmi", ScaleUp::kXgmiMesh},
     {"infinity fabric", ScaleUp::kXgmiMesh},
     {"ici 3d", ScaleUp::kIci3d},
     {"ici 2d", ScaleUp::kIci2d},
     {"pcie", ScaleUp::kPcie},
     {"mesh", ScaleUp::kNvlinkMesh},
     {"4-gpu board", ScaleUp::kNvlinkMesh},
     {"loopback", ScaleUp::kNone}}};
// TCP over a fast network is TCP: those phrases come before the network's own.
constexpr std::array<std::pair<std::string_view, FabricFamily>, 20> kFabricPhrases{
    {{"tcpxo", FabricFamily::kTcpxo},
     {"tcpx", FabricFamily::kTcpx},
     {"ipoib", FabricFamily::kEthernet},
     {"tcp", FabricFamily::kEthernet},
     {"efa", FabricFamily::kEfa},
     {"roce", FabricFamily::kRoce},
     {"pollara", FabricFamily::kRoce},
     {"thor2", FabricFamily::kRoce},
     {"slingshot", FabricFamily::kSlingshot},
     {"omni", FabricFamily::kOmnipath},
     {"infiniband", FabricFamily::kInfiniband},
     {"net/ib", FabricFamily::kInfiniband},
     {" ib", FabricFamily::kInfiniband},
     {"dcn", FabricFamily::kDcn},
     {"ici", FabricFamily::kIci},
     {"rdma", FabricFamily::kRdma},
     {"hca", FabricFamily::kRdma},
     {"mlx5", FabricFamily::kRdma},
     {"cx7", FabricFamily::kRdma},
     {"ethernet", FabricFamily::kEthernet}}};
constexpr std::int64_t kRack = 72;   // devices of an NVL72 rack
constexpr double kMostDomain = 1e6;  // beyond that it is no count of devices

// The number that ends at `end` (blanks skipped), and where it starts.
struct NumberBefore {
  double value = 0.0;
  std::size_t start = 0;
};
std::optional<NumberBefore> number_before(std::string_view text, std::size_t end) {
  while (end > 0 && text[end - 1] == ' ') {
    --end;
  }
  std::size_t start = end;
  while (start > 0 && (is_digit(text[start - 1]) || text[start - 1] == '.')) {
    --start;
  }
  const auto value = to_double(text.substr(start, end - start));
  if (!value) {
    return std::nullopt;
  }
  return NumberBefore{*value, start};
}

// "7x64GB/s": the product; "64GB/s": the number.
std::optional<double> amount_before(std::string_view text, std::size_t end) {
  const auto number = number_before(text, end);
  if (!number) {
    return std::nullopt;
  }
  if (number->start > 0 && text[number->start - 1] == 'x') {
    if (const auto factor = number_before(text, number->start - 1)) {
      return factor->value * number->value;
    }
  }
  return number->value;
}

std::optional<ScaleUp> scale_up_kind(std::string_view intra) {
  for (const auto& [phrase, kind] : kScaleUpPhrases) {
    if (contains(intra, phrase)) {
      return kind;
    }
  }
  return std::nullopt;
}

std::optional<FabricFamily> fabric_family(std::string_view inter) {
  for (const auto& [phrase, family] : kFabricPhrases) {
    if (contains(inter, phrase)) {
      return family;
    }
  }
  return std::nullopt;
}

struct NetworkRate {
  BytesPerSecond rate;
  bool per_device = false;
};

// Every written rate of the text, in order.
std::vector<NetworkRate> network_rates(std::string_view inter) {
  std::vector<NetworkRate> rates;
  for (const std::string_view unit : {std::string_view("Gb/s"), std::string_view("Gbps")}) {
    for (std::size_t at = inter.find(unit); at != std::string_view::npos;
         at = inter.find(unit, at + 1)) {
      const auto amount = amount_before(inter, at);
      if (!amount) {
        continue;
      }
      const std::string_view rest = inter.substr(at);
      const std::string_view clause = rest.substr(0, rest.find_first_of(",;()"));
      rates.push_back({*amount * 1_Gbitps, contains(clause, "per GPU")});
    }
  }
  return rates;
}

// A device's own rate where one is written; else the slowest written rate (a shaped link names the
// port's and the shaper's), shared by the node's devices.
std::optional<BytesPerSecond> network_rate(std::string_view inter,
                                           std::optional<std::int64_t> devices_per_node) {
  std::optional<BytesPerSecond> slowest;
  for (const NetworkRate& written : network_rates(inter)) {
    if (written.per_device) {
      return written.rate;
    }
    if (!slowest || written.rate < *slowest) {
      slowest = written.rate;
    }
  }
  if (!slowest || !devices_per_node || *devices_per_node < 1) {
    return std::nullopt;
  }
  return *slowest / static_cast<double>(*devices_per_node);
}

std::optional<double> decimal_after(std::string_view text, std::string_view phrase) {
  const std::size_t at = text.find(phrase);
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  std::size_t end = at + phrase.size();
  while (end < text.size() && (is_digit(text[end]) || text[end] == '.')) {
    ++end;
  }
  return to_double(text.substr(at + phrase.size(), end - at - phrase.size()));
}

}  // namespace

Links read_links(std::string_view intra, std::string_view inter,
                 std::optional<std::int64_t> devices_per_node) {
  Links links;
  const std::string inside = to_lower(intra);
  const std::string between = to_lower(inter);
  links.scale_up = scale_up_kind(inside);
  const std::size_t rate = intra.find("GB/s");
  if (rate != std::string_view::npos) {
    if (const auto amount = amount_before(intra, rate)) {
      links.scale_up_rate = *amount * 1_GBps;
    }
  }
  const auto domain = decimal_after(between, "nvlink domain of ");
  if (domain && *domain <= kMostDomain) {
    links.domain_size = static_cast<std::int64_t>(*domain);
  } else {
    links.fabric = fabric_family(between);
    links.network_rate = network_rate(inter, devices_per_node);
  }
  if (contains(between, "nvlink in rack")) {
    links.domain_size = kRack;
  }
  if (const auto delay = decimal_after(between, "delay ")) {
    links.added_delay = *delay * 1_ms;
  }
  links.gpu_direct = !contains(between, "no gpudirect") && links.fabric != FabricFamily::kEthernet;
  return links;
}

}  // namespace sextant::measured
