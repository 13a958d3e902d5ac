// What collectives cost on a kind of link (data/comm): constants of the scale-up links inside a
// domain (data/comm/links) and of the network between domains (data/comm/networks).
//
// Constants are numbers in SI units under a key, so that one list serves the reader, the fit and
// the file that a calibration writes. Formulas: cost/comm/collective_time.h, docs/models/comm.md.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "describe/cluster/cluster.h"
#include "describe/data_store.h"
#include "describe/sourced.h"

namespace sextant::describe {

enum class CommUnit { kTime, kRate, kRatio };

struct CommKey {
  std::string_view table;
  std::string_view name;
  CommUnit unit = CommUnit::kTime;
};

// Inside a scale-up domain. Rates are of the bus (what nccl-tests calls busbw) of one device, at 2,
// 4, and 8 and more ranks.
enum class LinkKey : std::size_t {
  kLlBase,   // low-latency protocol: start of a collective
  kLlHop,    //   each step to a neighbour
  kLlShare,  //   its share of the rates below
  kBase,     // bulk protocol: the same
  kHop,
  kFill,  //   filling the pipeline: 0 none, 2 the best chunk size
  kAllReduce2,
  kAllReduce4,
  kAllReduce8,
  kAllGather2,
  kAllGather4,
  kAllGather8,
  kReduceScatter2,
  kReduceScatter4,
  kReduceScatter8,
  kAllToAll2,
  kAllToAll4,
  kAllToAll8,
  kExchangeLlBase,  // all-to-all and messages: start with the low-latency protocol
  kExchangeBase,    //   with the bulk protocol
  kExchangeHop,     //   each further peer
  kExchangeFill,
  kTreeBase,       // all-reduce over a tree inside the domain
  kTreeHop,        //   each doubling of the ranks
  kTreeGain,       // between domains: 1 where trees send less than rings do, 0 where they don't
  kSwitchLatency,  // reduction in the switch (NVLS): start
  kSwitchRate,     //   bytes of the buffer a second; 0: the links have none
  kSwitchFill,
  kSwitchRanks,  //   used from so many ranks on
  kTimerXla,     // what a timer outside the library adds
  kTimerTorch,
};
inline constexpr std::array<CommKey, 31> kLinkKeys{{
    {"ll", "base", CommUnit::kTime},
    {"ll", "hop", CommUnit::kTime},
    {"ll", "share", CommUnit::kRatio},
    {"simple", "base", CommUnit::kTime},
    {"simple", "hop", CommUnit::kTime},
    {"simple", "fill", CommUnit::kRatio},
    {"all_reduce", "two", CommUnit::kRate},
    {"all_reduce", "four", CommUnit::kRate},
    {"all_reduce", "eight", CommUnit::kRate},
    {"all_gather", "two", CommUnit::kRate},
    {"all_gather", "four", CommUnit::kRate},
    {"all_gather", "eight", CommUnit::kRate},
    {"reduce_scatter", "two", CommUnit::kRate},
    {"reduce_scatter", "four", CommUnit::kRate},
    {"reduce_scatter", "eight", CommUnit::kRate},
    {"all_to_all", "two", CommUnit::kRate},
    {"all_to_all", "four", CommUnit::kRate},
    {"all_to_all", "eight", CommUnit::kRate},
    {"exchange", "ll_base", CommUnit::kTime},
    {"exchange", "base", CommUnit::kTime},
    {"exchange", "hop", CommUnit::kTime},
    {"exchange", "fill", CommUnit::kRatio},
    {"tree", "base", CommUnit::kTime},
    {"tree", "hop", CommUnit::kTime},
    {"tree", "gain", CommUnit::kRatio},
    {"nvls", "latency", CommUnit::kTime},
    {"nvls", "rate", CommUnit::kRate},
    {"nvls", "fill", CommUnit::kRatio},
    {"nvls", "least_ranks", CommUnit::kRatio},
    {"timer", "xla", CommUnit::kTime},
    {"timer", "torch", CommUnit::kTime},
}};

// Between domains. Shares are of the NICs that a group's devices of one domain have together.
enum class NetworkKey : std::size_t {
  kLlHop,
  kHop,
  kRingShare,
  kTreeShare,
  kFill,
  kLlShare,
  kLoneShare,  // of a group with one device a domain
  kExchangeShare,
  kMessageShare,
  kExchangeFill,
  kMostRails,  // NICs of a domain that one ring or tree uses
  kMostHost,   // what a domain gets at most, whatever its NICs: sockets; 0: no such limit
  kReducing,   // reduction in the network's switches (SHARP), share of the NICs; 0: not used
};
inline constexpr std::array<CommKey, 13> kNetworkKeys{{
    {"ll", "hop", CommUnit::kTime},
    {"simple", "hop", CommUnit::kTime},
    {"simple", "ring", CommUnit::kRatio},
    {"simple", "tree", CommUnit::kRatio},
    {"simple", "fill", CommUnit::kRatio},
    {"ll", "share", CommUnit::kRatio},
    {"simple", "lone", CommUnit::kRatio},
    {"exchange", "all_to_all", CommUnit::kRatio},
    {"exchange", "message", CommUnit::kRatio},
    {"exchange", "fill", CommUnit::kRatio},
    {"rails", "most", CommUnit::kRatio},
    {"host", "most", CommUnit::kRate},
    {"collnet", "share", CommUnit::kRatio},
}};

// One file. `values` follow the keys' list.
template <typename Key, std::size_t kCount>
struct CommFacts {
  std::string id;
  std::string name;
  std::string start;  // id of the file of the same folder that fits start from
  std::array<Sourced<double>, kCount> values{};
  [[nodiscard]] double operator[](Key key) const {
    return values[static_cast<std::size_t>(key)].value;
  }
};
struct LinkFacts : CommFacts<LinkKey, kLinkKeys.size()> {
  Sourced<BytesPerSecond> rate;  // the devices' scale-up rate that the constants are of
  bool one_host = false;         // known from one host's layout only: another one may differ widely
};
struct NetworkFacts : CommFacts<NetworkKey, kNetworkKeys.size()> {};

// The links of a device inside its domain: the file that names the device, else the one of its
// scale-up and generation; nothing where neither is known. An Error where a file is broken.
Result<std::optional<LinkFacts>> link_facts(const Device& device, ScaleUp scale_up,
                                            const DataStore& data);
// What stands for links that nobody measured: PCIe of the generation that the card's host bandwidth
// says, xGMI of hosts whose mesh is not full (data/comm/links/assumed-*.toml). Nothing where not
// even that is known.
Result<std::optional<LinkFacts>> assumed_link_facts(const Device& device, ScaleUp scale_up,
                                                    const DataStore& data);
// The network of a family at a rate a device; nothing where the family was never measured.
Result<std::optional<NetworkFacts>> network_facts(FabricFamily family, BytesPerSecond rate,
                                                  const DataStore& data);
// One file by its name without ".toml".
Result<LinkFacts> load_link_facts(std::string_view id, const DataStore& data);
Result<NetworkFacts> load_network_facts(std::string_view id, const DataStore& data);

// The keys of a file as TOML, for calibrations: what follows the file's own head.
std::string link_values_text(const LinkFacts& facts);
std::string network_values_text(const NetworkFacts& facts);

}  // namespace sextant::describe
