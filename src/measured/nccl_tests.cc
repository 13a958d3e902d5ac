#include "measured/nccl_tests.h"

#include <utility>

#include <fmt/format.h>

#include "measured/nccl_draft.h"
#include "measured/nccl_lines.h"
#include "measured/nccl_preamble.h"
#include "measured/nccl_rows.h"

namespace sextant::measured {

namespace {

constexpr std::string_view kExample =
    "lines such as \"8388608 2097152 float sum -1 91.10 92.08 161.14 0 94.94 88.36 154.63 0\" "
    "(bytes, elements, type, reduction, root, then time in µs, algbw, busbw and #wrong "
    "out-of-place "
    "and in-place), as nccl-tests and rccl-tests print them";

class Reader {
 public:
  Reader(std::string_view where, std::optional<CollectiveOp> hint)
      : where_(where), hint_(hint), draft_(where) {}

  Result<void> take(const NcclLines& line) {
    if (auto reading = read_nccl_row(line, header_)) {
      return take_result(std::move(*reading), line.number());
    }
    if (const auto device = device_in(line)) {
      return take_device(*device, line.number());
    }
    if (header_.take(line)) {
      begin();
    }
    take_facts(line);
    return {};
  }

  Result<std::vector<NcclTable>> finished() && {
    finish_draft();
    if (tables_.empty()) {
      return invalid("no usable nccl-tests result line" + first_trouble_, std::string(where_),
                     std::string(kExample));
    }
    if (static_cast<std::int64_t>(tables_.size()) > kMostNcclTables) {
      return invalid(fmt::format("more than {} tables", kMostNcclTables), std::string(where_));
    }
    return std::move(tables_);
  }

 private:
  [[nodiscard]] tl::unexpected<Error> too_many(std::string_view what, std::int64_t line) const {
    return invalid(fmt::format("more than {} {}", kMostNcclLines, what),
                   fmt::format("{}:{}", where_, line));
  }

  void finish_draft() {
    NcclTable table = std::move(draft_).finished(hint_);
    if (table.lines.empty()) {
      if (!table.warnings.empty() && first_trouble_.empty()) {
        first_trouble_ = " (" + table.warnings.front() + ")";
      }
    } else if (static_cast<std::int64_t>(tables_.size()) <= kMostNcclTables) {
      tables_.push_back(std::move(table));
    }
    draft_ = NcclDraft(where_);
    if (const auto program = std::exchange(next_program_, std::nullopt)) {
      draft_.take(*program);
    }
  }

  // What belongs to a table's beginning after results of another.
  void begin() {
    if (draft_.has_results()) {
      finish_draft();
    }
  }

  Result<void> take_result(NcclReading reading, std::int64_t line) {
    if (++results_ > kMostNcclLines) {
      return too_many("result lines", line);
    }
    if (draft_.closed() && draft_.has_results()) {
      finish_draft();
    }
    if (header_.cpu_time()) {
      draft_.take_cpu_time();
    }
    draft_.take(std::move(reading), line);
    return {};
  }

  Result<void> take_device(const NcclDevice& device, std::int64_t line) {
    if (++devices_ > kMostNcclLines) {
      return too_many("device lines", line);
    }
    begin();
    draft_.take(device, line);
    return {};
  }

  void take_facts(const NcclLines& line) {
    if (const auto program = program_in(line)) {
      take_program(*program);
    }
    if (const auto devices = devices_of_process_in(line)) {
      begin();
      draft_.take_process(*devices);
    }
    if (is_footer(line.text())) {
      draft_.close();
    }
    const auto library = library_in(line);
    const auto communicator = communicator_in(line);
    if ((library && library->begins_run) || ((library || communicator) && draft_.closed())) {
      begin();
    }
    if (library && !draft_.has_results()) {
      draft_.take(*library);
    }
    if (communicator && !draft_.has_results()) {
      draft_.take(*communicator);
    }
  }

  void take_program(const NcclProgram& program) {
    const bool begins =
        program.mention == NcclMention::kStarting || program.mention == NcclMention::kCommand;
    if (program.mention != NcclMention::kConcluded && (begins || draft_.closed())) {
      begin();
    }
    if (program.mention == NcclMention::kNamed && draft_.has_results()) {
      next_program_ = program;
      return;
    }
    draft_.take(program);
  }

  std::string_view where_;
  std::optional<CollectiveOp> hint_;
  NcclDraft draft_;
  NcclHeader header_;  // the last one seen
  std::optional<NcclProgram> next_program_;
  std::vector<NcclTable> tables_;
  std::string first_trouble_;
  std::int64_t results_ = 0;
  std::int64_t devices_ = 0;
};

}  // namespace

Result<std::vector<NcclTable>> parse_nccl_tests(std::string_view text, std::string_view where,
                                                std::optional<CollectiveOp> hint) {
  NcclLines lines(text);
  Reader reader(where, hint);
  while (lines.next()) {
    SEXTANT_CHECK_OK(reader.take(lines));
  }
  return std::move(reader).finished();
}

}  // namespace sextant::measured
