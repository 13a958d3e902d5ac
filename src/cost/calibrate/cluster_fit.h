// Constants of a cluster of CPU processes from its own micro-benchmarks: products, all-reduces by
// group and size, messages.
//
//   product     operations / rate
//   all-reduce  start + 2(n−1) · hop + 2(n−1)/n · bytes / rate(n)        a ring, as gloo has it
//   message     start + bytes / rate
//
// Least squares on the logarithm, so that a microsecond and a second count alike. A product's rate
// is the mean over all sizes, and what is left is taken as its spread from call to call: sizes of
// the same work differ as much.
//
// Left out: caches (a benchmark's operands are warm), ranks that compute while others send.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "cost/comm/comm_model.h"
#include "cost/compute/device_model.h"

namespace sextant::cost {

struct TimedProduct {
  Flops work;
  Seconds time;
};
struct TimedMessage {
  std::int64_t ranks = 2;
  Bytes bytes;
  Seconds time;  // one way
};
struct ClusterBench {
  std::vector<TimedProduct> products;
  std::vector<TimedMessage> all_reduces;
  std::vector<TimedMessage> messages;
};

struct ClusterConstants {
  FlopsPerSecond product_rate;
  Seconds reduce_start;
  Seconds reduce_hop;
  std::array<BytesPerSecond, 3> reduce_rates;  // on the bus, of 2, 4, and 8 and more ranks
  Seconds message_start;
  BytesPerSecond message_rate;
  // What is left of log(fitted / measured): its standard deviation, and the mean of its size.
  double product_spread = 0.0;
  double reduce_error = 0.0;
  double message_error = 0.0;
};

// An Error where a kind of benchmark is missing or a number is not positive.
Result<ClusterConstants> fit_cluster(const ClusterBench& bench);

// Mean of the largest of `count` standard normals: 0, 0.56, 1.03, 1.42 of 1, 2, 4, 8. Ranks that
// wait for each other after every product take so many spreads longer than one of them.
double expected_largest(std::int64_t count);

// All ranks in one domain of `ranks`: links with the fitted constants, no network.
CommModel cluster_comm(const ClusterConstants& constants, std::int64_t ranks);

// What benchmarks leave open, a rank.
struct ClusterMemory {
  BytesPerSecond rate;
  Seconds call;  // an operator, however little it does
};
// A rank as a device: no power limit, no launches from a host, products at the fitted rate in any
// format; everything else streams at the memory's rate.
DeviceModel cluster_device(const ClusterConstants& constants, const ClusterMemory& memory);

}  // namespace sextant::cost
