// What profiles show, measured: which ranks and steps, where a step's time goes, why devices idle,
// what ran, and what could not be read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "describe/assumption.h"
#include "diagnose/diagnosis.h"
#include "diagnose/fabric.h"
#include "diagnose/laid_over.h"
#include "diagnose/rule_book.h"
#include "explain/provenance.h"
#include "explain/style.h"
#include "metrics/kpis.h"
#include "metrics/summary.h"
#include "timeline/recording.h"

namespace sextant::explain {

struct DiagnosedFile {
  std::string name;
  std::optional<timeline::Recorder> recorder = std::nullopt;  // a summary does not say
  Bytes bytes;                                                // decompressed
  std::vector<RankId> ranks = {};
};

struct DiagnosedRank {
  metrics::RankSummary summary;
  metrics::RankTotals totals;
  bool is_stated = true;  // the rank's number, by the file or who asked
};

// What could not be read, or was left out; of `file`, or of all where it is empty.
struct DiagnosedLoss {
  std::string file;
  std::string what;
  std::int64_t count = 0;
};

// What utilisation is of.
struct DiagnosedPeaks {
  std::string device;  // its file's name in the catalogue
  std::string format;  // "bf16"
  metrics::DevicePeaks peaks;
};

// What is slow and what to do about it.
struct FindingsAnswer {
  diagnose::Diagnosis diagnosis;
  diagnose::RuleBook book;     // words of its rules
  std::string framework = {};  // whose settings are shown first; "": not known
  bool is_jax = false;         // where no framework is known: XLA recorded it
  std::optional<diagnose::LaidOver> laid = std::nullopt;      // beside the step that was predicted
  std::optional<diagnose::FabricView> fabric = std::nullopt;  // of the cluster that it ran on
  std::vector<std::string> met;  // what of ‹fail-on› holds, a sentence each
};

struct DiagnoseAnswer {
  Provenance provenance;
  std::vector<DiagnosedFile> files;
  std::vector<DiagnosedRank> ranks;         // by rank; not empty
  std::optional<std::int64_t> world;        // ranks of the job, where a file says
  metrics::RankTotals totals;               // of all ranks and their kept steps
  std::vector<metrics::KernelRow> kernels;  // of all ranks together, as are the following
  std::vector<metrics::OperatorRow> operators;
  std::vector<metrics::CollectiveRow> collectives;
  std::vector<metrics::RangeRow> ranges;
  std::vector<metrics::SignalRow> signals;
  // Of the mean step of all ranks; peaks only where all have one device.
  std::optional<metrics::Kpis> kpis;
  std::optional<DiagnosedPeaks> peaks;
  std::vector<metrics::OperatorRoofline> rooflines;  // as operators
  std::optional<FindingsAnswer> findings;            // nothing where no step is whole
  std::vector<DiagnosedLoss> unread;
  describe::Assumptions assumed;
  std::optional<std::int64_t> top;  // rows of a table; nothing: as many as fit
  bool verbose = false;
};

std::string to_text(const DiagnoseAnswer& answer, const Style& style);

}  // namespace sextant::explain
