// What a captured job is: as its file, and as what a person is told.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "emit/capture_file.h"
#include "explain/provenance.h"
#include "explain/style.h"

namespace sextant::explain {

// The file that emit/capture_file.h reads.
std::string capture_file_text(const emit::CaptureRecord& record);

struct CaptureAnswer {
  Provenance provenance;
  emit::CaptureRecord record;
  std::string file;           // where it is written
  int script_ended_with = 0;  // of the script
  std::string output;         // the last of what it printed
};
// JSON: schema sextant.capture/1.
std::string to_text(const CaptureAnswer& answer, const Style& style);

}  // namespace sextant::explain
