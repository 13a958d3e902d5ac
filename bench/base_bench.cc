#include <string>

#include "base/csv.h"
#include "base/sha256.h"
#include "instructions.h"

namespace sextant::bench {
namespace {

void csv_parse(benchmark::State& state) {
  std::string text = "id,a,b,c\n";
  for (std::int64_t row = 0; row < state.range(0); ++row) {
    text += std::to_string(row) + ",12.5,\"quoted, field\",\n";
  }
  const Instructions instructions(state);
  for (auto _ : state) {
    benchmark::DoNotOptimize(CsvTable::parse(text, "bench.csv"));
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(csv_parse)->Arg(1000)->Arg(100000);

void sha256(benchmark::State& state) {
  const std::string text(static_cast<std::size_t>(state.range(0)), 'x');
  const Instructions instructions(state);
  for (auto _ : state) {
    benchmark::DoNotOptimize(sha256_hex(text));
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(sha256)->Arg(1 << 20);

}  // namespace
}  // namespace sextant::bench
