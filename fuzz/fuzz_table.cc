// Tables of measurements, CSV and JSON: any bytes end in rows or an Error.
#include <cstdint>
#include <string>

#include "measured/table.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const sextant::describe::DataStore kData;
  const std::string text(data, data + size);
  const bool json = !text.empty() && (text.front() == '{' || text.front() == '[');
  (void)sextant::measured::parse_table(text, json ? "fuzz.json" : "fuzz.csv", kData);
  return 0;
}
