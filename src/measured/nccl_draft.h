// A table of nccl-tests while its lines are read, and what is concluded at its end.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "measured/nccl_preamble.h"
#include "measured/nccl_rows.h"
#include "measured/nccl_tests.h"

namespace sextant::measured {

class NcclDraft {
 public:
  // REQUIRES: `where` outlives this.
  explicit NcclDraft(std::string_view where) : where_(where) {}

  void take(const NcclDevice& device, std::int64_t line);
  void take(const NcclProgram& program);
  void take(const NcclLibrary& library);
  void take(const NcclCommunicator& communicator);
  void take(NcclReading reading, std::int64_t line);
  void take_cpu_time() { cpu_time_ = true; }
  void take_process(std::int64_t devices) { devices_of_process_ = devices; }
  void close() { closed_ = true; }

  [[nodiscard]] bool has_results() const { return has_results_; }
  [[nodiscard]] bool closed() const { return closed_; }  // its last line was seen

  // The table with operation, ranks and nodes settled and its lines checked. Without lines it may
  // still have warnings that say why.
  NcclTable finished(std::optional<CollectiveOp> hint) &&;

 private:
  struct Group {
    std::map<std::int64_t, std::string> hosts;  // by rank
  };

  void warn(std::int64_t line, std::string_view what);
  void settle_op(std::optional<CollectiveOp> hint);
  void settle_devices();
  void settle_ranks();
  void check_lines();

  std::string_view where_;
  NcclTable table_;
  bool has_results_ = false;
  bool closed_ = false;
  bool cpu_time_ = false;
  NcclMention named_ = NcclMention::kNamed;
  std::map<std::int64_t, Group> groups_;
  std::set<std::string> hosts_;
  std::set<std::string> devices_;
  std::int64_t first_device_line_ = 0;
  bool rank_repeated_ = false;
  std::optional<NcclCommunicator> communicator_;
  std::optional<std::int64_t> devices_of_process_;
  std::int64_t unsaid_ = 0;  // warnings beyond the limit
};

}  // namespace sextant::measured
