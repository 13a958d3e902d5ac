// The kernel facts of a device from timings of its own: which constants the timings speak of, and
// the values that meet them best (cost/calibrate/fit.h).
//
// A constant is fitted on the calls of the kinds it is about and whose time depends on it; rates
// only on calls of 20 µs and more, below which the host decides. With fewer than three such calls
// it stays as it was. Bounds are physical: shares of a datasheet 0.05 to 1.2, times above 0.
// Constants that no call can tell (softmax columns, rows of a tile, recurrences, the exponent of
// the power rule) stay.
//
// Left out: kernels that differ between the halves of a table (a library's choice per shape), and
// noise: a table of a busy or throttled device is fitted as it is.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "cost/compute/device_model.h"
#include "describe/kernel_facts.h"

namespace sextant::cost {

// A device with either kind of attention.
struct ModelPair {
  DeviceModel flash;
  DeviceModel cudnn;
};

struct CallTime {
  Seconds device;  // kernels one after the other
  Seconds issue;   // the host's part; 0 where none was timed
  [[nodiscard]] Seconds alone() const { return device < issue ? issue : device; }
};

// One measured call and how the model sees it.
struct TimedCall {
  std::string family;  // what it is reported under: "gemm bf16"
  std::string kind;    // what constants go by: gemm, bmm, grouped, attention, memory, …
  std::string shape;   // calls of one shape are kept together when a table is halved
  std::optional<describe::DType> format;  // of products
  Seconds measured;                       // > 0
  std::function<CallTime(const ModelPair&)> predict;
};

// Mean |predicted / measured − 1| of the calls of a family.
struct FamilyError {
  std::string family;
  std::int64_t calls = 0;
  double error = 0.0;
};
// Families in the order they appear.
std::vector<FamilyError> family_errors(const std::vector<TimedCall>& calls,
                                       const describe::KernelFacts& facts,
                                       const describe::Device& device);

// What became of one key.
struct FittedKey {
  std::string key;
  std::string before;  // with its unit: "5.46 us"
  std::string after;
  std::int64_t calls = 0;  // that depend on it
  double error = 0.0;      // of those, after the fit
  bool fitted = false;     // false: too few calls, the value is the rule's
};

struct KernelFit {
  describe::KernelFacts facts;  // keys that were fitted say so; the device's own, not scaled
  std::vector<FittedKey> keys;  // those a table can tell, in the order they are fitted
};

// Starts from `start`, which is brought to the device's own power limit first; `table` names the
// timings in the sources of the fitted keys.
KernelFit fit_kernels(const std::vector<TimedCall>& calls, const describe::Device& device,
                      const describe::KernelFacts& start, const std::string& table);

// Fits on every other shape of each kind and scores the rest, both ways: means over both.
struct HalfSplit {
  std::string family;
  double seen = 0.0;    // error on the shapes that were fitted
  double unseen = 0.0;  // error on the others
};
std::vector<HalfSplit> half_split(const std::vector<TimedCall>& calls,
                                  const describe::Device& device,
                                  const describe::KernelFacts& start);

}  // namespace sextant::cost
