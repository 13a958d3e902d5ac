// CSV: any bytes end in a table or an Error.
#include <cstdint>
#include <string>

#include "base/csv.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto table = sextant::CsvTable::parse({data, data + size}, "fuzz.csv");
  if (table) {
    for (std::size_t row = 0; row < table->rows(); ++row) {
      (void)table->at(row, table->header().size() - 1);
    }
  }
  return 0;
}
