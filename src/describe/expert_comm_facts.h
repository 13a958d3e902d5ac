// What expert dispatch and combine cost with the expert libraries (data/comm/experts.toml).
// Formulas: cost/comm/expert_exchange.h.
//
// "Normal" kernels send a token once to each domain that needs it and hand it on over the scale-up
// links; "direct" ones (the libraries' low-latency mode) send it to every expert by itself.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "describe/data_store.h"
#include "describe/sourced.h"

namespace sextant::describe {

// Kernels on one kind of device.
struct ExpertKernelFacts {
  std::vector<std::string> names;  // generations of data/devices
  Sourced<Seconds> dispatch_latency;
  Sourced<Seconds> combine_latency;
  Sourced<Seconds> direct_dispatch_latency;
  Sourced<Seconds> direct_combine_latency;
  Sourced<Seconds> direct_expert_latency;  // of a dispatch, each expert of the layer
  Sourced<BytesPerSecond> direct_dispatch_rate;
  Sourced<BytesPerSecond> direct_combine_rate;
};

struct ExpertCommFacts {
  std::vector<ExpertKernelFacts> kernels;
  // Normal kernels.
  Sourced<BytesPerSecond> dispatch_copy;  // one SM
  Sourced<BytesPerSecond> combine_copy;
  Sourced<double> dispatch_relay;  // share of that where SMs also relay between domains
  Sourced<double> combine_relay;
  Sourced<double> scale_up_share;      // of a device's rate
  Sourced<double> fill;                // of the pipeline: 0 none, 2 the best chunk
  Sourced<Seconds> dispatch_doubling;  // each doubling of the domains
  Sourced<Seconds> combine_doubling;
  // Direct kernels.
  Sourced<double> direct_scale_up_share;
  Sourced<Seconds> direct_network_latency;  // where there is more than one domain
  // The NIC, either way.
  Sourced<double> network_share;
  // Libraries.
  Sourced<std::int64_t> sms;              // where nothing is said
  Sourced<BytesPerSecond> default_peers;  // network rate of default buffers × further domains
  Sourced<Seconds> release_latency;       // direct kernels as first published
  Sourced<BytesPerSecond> v2_copy;        // one SM of DeepEP V2, across domains
  Sourced<BytesPerSecond> efa_staging;    // UCCL-EP on EFA: copies to all domains, the own included
  Sourced<Seconds> efa_message;           // UCCL-EP on EFA: each direct message
  // A factor: measurements lie between prediction / factor and prediction × factor.
  Sourced<double> one_domain_spread;
  Sourced<double> network_spread;
  Sourced<double> efa_spread;
  Sourced<double> undetermined_spread;

  // Null where no table has this generation.
  [[nodiscard]] const ExpertKernelFacts* kernels_of(std::string_view generation) const;
};

Result<ExpertCommFacts> expert_comm_facts(const DataStore& data);

}  // namespace sextant::describe
