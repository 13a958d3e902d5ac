// A job as files of a framework: the files, and what the framework has no words for.
#pragma once

#include <string>
#include <vector>

#include "describe/assumption.h"
#include "emit/dialects.h"
#include "emit/files.h"
#include "emit/patch.h"
#include "explain/provenance.h"
#include "explain/style.h"

namespace sextant::explain {

struct EmitAnswer {
  Provenance provenance;
  emit::Dialect dialect = emit::Dialect::kMegatron;
  std::vector<emit::File> files;
  std::vector<emit::Inexpressible> left_out;
  std::vector<std::string> written;  // paths, where they were written
  describe::Assumptions assumed;
};
// JSON: schema sextant.emit/2.
std::string to_text(const EmitAnswer& answer, const Style& style);

// "schedule=zbv is not written: Megatron-LM runs 1F1B and its interleaved form only"
std::string to_text(const emit::Inexpressible& one);

struct PatchAnswer {
  Provenance provenance;
  std::string diff;  // "" where nothing changes
  std::vector<emit::ByHand> by_hand;
  std::vector<emit::Inexpressible> left_out;
  std::vector<std::string> not_offered;  // why there is no patch, though the job is a legal one
};
// The patch itself; JSON: schema sextant.emit-patch/1.
std::string to_text(const PatchAnswer& answer, const Style& style);

}  // namespace sextant::explain
