#include "workload/cp_traffic.h"

#include <numeric>

namespace sextant::workload {

std::int64_t cp_inner_size(const Scene& at, std::int64_t kv_heads) {
  if (at.layout.cp_inner > 0) {
    return std::gcd(at.layout.cp_inner, at.shard.cp);
  }
  return std::gcd(local_kv_heads(kv_heads, at.shard.tp), at.shard.cp);
}

}  // namespace sextant::workload
