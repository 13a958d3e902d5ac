#include "agents/case_file.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "describe/cluster/cluster.h"
#include "describe/cluster/torus.h"
#include "describe/toml_table.h"
#include "describe/words.h"

namespace sextant::agents {
namespace {

using describe::TomlEntry;
using metrics::OperatorBound;

constexpr std::string_view kNobodyKnows = "unknown";
constexpr std::size_t kMostCaseOperators = 100;  // a report names five
constexpr std::size_t kMostCaseText = 500;
constexpr std::int64_t kMostCaseTokens = 1'000'000'000;

// As profilers print what binds an operator.
constexpr std::array<describe::Word<OperatorBound>, 9> kBoundWords{
    {{OperatorBound::kCompute, "compute"},
     {OperatorBound::kMemory, "hbm"},
     {OperatorBound::kMemory, "memory"},
     {OperatorBound::kOnChip, "vmem read"},
     {OperatorBound::kOnChip, "vmem write"},
     {OperatorBound::kOnChip, "cmem read"},
     {OperatorBound::kOnChip, "cmem write"},
     {OperatorBound::kUnknown, "unknown"},
     {OperatorBound::kUnknown, "none"}}};

enum class CaseKind : std::uint8_t { kTraining, kServing };
constexpr std::array<describe::Word<CaseKind>, 9> kKindWords{
    {{CaseKind::kTraining, "training"},
     {CaseKind::kTraining, "pre-training"},
     {CaseKind::kTraining, "pretraining"},
     {CaseKind::kTraining, "fine-tuning"},
     {CaseKind::kTraining, "supervised fine-tuning"},
     {CaseKind::kServing, "serving"},
     {CaseKind::kServing, "inference"},
     {CaseKind::kServing, "decoding"},
     {CaseKind::kServing, "prefill"}}};

// One value of the file.
struct CaseValue {
  std::string text;
  std::string where;
  bool quoted = false;
  bool list = false;
};

// The values of one table by key, and which were asked for.
class CaseTable {
 public:
  explicit CaseTable(std::string where) : where_(std::move(where)) {}
  Result<void> add(const std::string& key, CaseValue value) {
    std::string place = value.where;
    if (!values_.emplace(key, std::move(value)).second) {
      return invalid(fmt::format("{} stands twice", printable(key)), std::move(place), "once");
    }
    return {};
  }
  [[nodiscard]] bool empty() const { return values_.empty(); }
  [[nodiscard]] const std::string& where() const { return where_; }
  [[nodiscard]] std::string where(std::string_view key) const {
    const auto at = values_.find(key);
    return at == values_.end() ? where_ : at->second.where;
  }

  Result<std::optional<std::string>> text(std::string_view key) {
    const CaseValue* value = asked(key);
    if (value == nullptr) {
      return std::nullopt;
    }
    if (!value->quoted || trimmed(value->text).empty() || value->text.size() > kMostCaseText) {
      return invalid(fmt::format("{} is {}", key, printable(value->text)), value->where,
                     fmt::format("a string of 1 to {} bytes", kMostCaseText));
    }
    return value->text;
  }

  // Nothing where nobody knows it.
  Result<std::optional<double>> number(std::string_view key, double least, double most) {
    const CaseValue* value = asked(key);
    if (value == nullptr || (value->quoted && value->text == kNobodyKnows)) {
      return std::nullopt;
    }
    const std::optional<double> number = value->quoted ? std::nullopt : to_double(value->text);
    if (!number || !std::isfinite(*number) || *number < least || *number > most) {
      return invalid(fmt::format("{} is {}", key, printable(value->text)), value->where,
                     fmt::format("a number from {} to {}, or \"unknown\"", least, most));
    }
    return number;
  }

  Result<std::optional<std::int64_t>> count(std::string_view key, std::int64_t most) {
    const CaseValue* value = asked(key);
    if (value == nullptr || (value->quoted && value->text == kNobodyKnows)) {
      return std::nullopt;
    }
    const std::optional<std::int64_t> number =
        value->quoted ? std::nullopt : to_integer(value->text);
    if (!number || *number < 1 || *number > most) {
      return invalid(fmt::format("{} is {}", key, printable(value->text)), value->where,
                     fmt::format("a whole number from 1 to {}, or \"unknown\"", most));
    }
    return number;
  }

  // An Error on a key that nobody asked for.
  [[nodiscard]] Result<void> only_asked() const {
    for (const auto& [key, value] : values_) {
      if (asked_.find(key) == asked_.end()) {
        return describe::unknown_word(key, {asked_.begin(), asked_.end()}, "key here", value.where);
      }
    }
    return {};
  }

 private:
  const CaseValue* asked(std::string_view key) {
    asked_.emplace(key);
    const auto at = values_.find(key);
    return at == values_.end() ? nullptr : &at->second;
  }

  std::string where_;
  std::map<std::string, CaseValue, std::less<>> values_;
  std::set<std::string, std::less<>> asked_;
};

struct CaseTables {
  CaseTable top;
  CaseTable kpi;
  CaseTable baseline;
  CaseTable profiled;
  CaseTable profiled_mesh;
  std::map<std::int64_t, CaseTable> operators;
};

// "rest" of "prefix.rest"; nothing where it begins otherwise.
std::optional<std::string> case_rest(std::string_view key, std::string_view prefix) {
  if (key.size() <= prefix.size() || !key.starts_with(prefix) || key[prefix.size()] != '.') {
    return std::nullopt;
  }
  return std::string(key.substr(prefix.size() + 1));
}

Result<void> put_operator_value(const std::string& rest, const CaseValue& value,
                                CaseTables& tables) {
  const std::size_t dot = rest.find('.');
  const auto index = to_integer(rest.substr(0, dot));
  if (dot == std::string::npos || !index || *index < 0 ||
      *index >= static_cast<std::int64_t>(kMostCaseOperators)) {
    return invalid("top_ops holds something else than operators", value.where,
                   fmt::format("[[top_ops]], at most {}", kMostCaseOperators));
  }
  CaseTable& table = tables.operators.try_emplace(*index, CaseTable(value.where)).first->second;
  return table.add(rest.substr(dot + 1), value);
}

Result<void> put_value(const TomlEntry& entry, const CaseValue& value, CaseTables& tables) {
  if (entry.key == "answer" || case_rest(entry.key, "answer")) {
    return {};  // what came of it: nothing that reasons may see it
  }
  if (value.list) {
    return invalid(fmt::format("{} is a list", printable(entry.key)), value.where,
                   "lists hold operators alone: [[top_ops]]");
  }
  if (const auto rest = case_rest(entry.key, "top_ops")) {
    return put_operator_value(*rest, value, tables);
  }
  if (const auto rest = case_rest(entry.key, "profiled_on.mesh")) {
    return tables.profiled_mesh.add(*rest, value);
  }
  if (const auto rest = case_rest(entry.key, "profiled_on")) {
    return tables.profiled.add(*rest, value);
  }
  if (const auto rest = case_rest(entry.key, "baseline_mesh")) {
    return tables.baseline.add(*rest, value);
  }
  if (const auto rest = case_rest(entry.key, "kpi")) {
    return tables.kpi.add(*rest, value);
  }
  return tables.top.add(entry.key, value);
}

Result<CaseTables> case_tables(std::string_view text, std::string_view where) {
  SEXTANT_TRY(const std::vector<TomlEntry> entries, describe::toml_entries(text, where));
  const CaseTable none{std::string(where)};
  CaseTables tables{none, none, none, none, none, {}};
  for (const TomlEntry& entry : entries) {
    const std::string_view literal = text.substr(entry.offset, entry.length);
    CaseValue value{.text = entry.values.empty() ? std::string() : entry.values.front(),
                    .where = fmt::format("{}:{}", where, entry.line),
                    .quoted = literal.starts_with('"') || literal.starts_with('\''),
                    .list = entry.length == 0};
    SEXTANT_CHECK_OK(put_value(entry, value, tables));
  }
  return tables;
}

Result<std::optional<Topology>> read_topology(CaseTable& table, std::string_view key) {
  SEXTANT_TRY(const std::optional<std::string> word, table.text(key));
  if (!word || *word == kNobodyKnows) {
    return std::nullopt;
  }
  SEXTANT_TRY(Topology sides, describe::parse_torus(*word, table.where(key)));
  std::ranges::sort(sides);
  return sides;
}

// Chips of a slice, as they are told or as its sides say.
Result<std::int64_t> read_chips(CaseTable& table, const std::optional<Topology>& topology) {
  SEXTANT_TRY(const std::optional<std::int64_t> told, table.count("chips", describe::kMostDevices));
  if (!topology) {
    if (!told) {
      return invalid("neither chips nor topology is told", table.where(),
                     "chips = 512, or topology = \"8x8x8\"");
    }
    return *told;
  }
  const std::int64_t product = saturating_product({(*topology)[0], (*topology)[1], (*topology)[2]});
  if (product > describe::kMostDevices || (told && *told != product)) {
    return invalid(
        fmt::format("chips is {}, but {} are {}", told.value_or(0), to_text(*topology), product),
        table.where("chips"), "the product of the topology's sides");
  }
  return product;
}

Result<CaseMesh> read_mesh(CaseTable& table, std::int64_t chips) {
  CaseMesh mesh;
  for (const auto& [axis, word] : kCaseAxisWords) {
    SEXTANT_TRY(const std::optional<std::int64_t> size, table.count(word, describe::kMostDevices));
    mesh[axis] = size.value_or(1);
  }
  SEXTANT_CHECK_OK(table.only_asked());
  if (mesh.chips() != chips) {
    return invalid(fmt::format("the mesh {} is of {} chips, the slice has {}", to_text(mesh),
                               mesh.chips(), chips),
                   table.where(kCaseAxisWords[1].second), "axes whose product is the chips");
  }
  return mesh;
}

Result<CaseKpis> read_kpis(CaseTable& table) {
  constexpr double kMostMs = 1e9;  // eleven days
  CaseKpis kpis;
  SEXTANT_TRY(const std::optional<double> step, table.number("step_time_ms", 1e-6, kMostMs));
  SEXTANT_TRY(const std::optional<double> busy, table.number("busy_time_ms", 0.0, kMostMs));
  SEXTANT_TRY(const std::optional<double> reduce,
              table.number("mean_all_reduce_us", 0.0, 1e3 * kMostMs));
  SEXTANT_TRY(kpis.duty_cycle, table.number("duty_cycle", 0.0, 1.0));
  SEXTANT_TRY(kpis.communication_share, table.number("communication_share", 0.0, 1.0));
  SEXTANT_CHECK_OK(table.only_asked());
  if (step) {
    kpis.step = Seconds(*step * 1e-3);
  }
  if (busy) {
    kpis.busy = Seconds(*busy * 1e-3);
  }
  if (reduce) {
    kpis.mean_all_reduce = Seconds(*reduce * 1e-6);
  }
  if (!kpis.duty_cycle && step && busy) {
    kpis.duty_cycle = std::min(1.0, *busy / *step);
  }
  return kpis;
}

Result<CaseOperator> read_operator(CaseTable& table) {
  constexpr double kMostPs = 1e18;          // eleven days
  constexpr double kMostEfficiency = 10.0;  // a roof that is set too low is passed
  CaseOperator one;
  SEXTANT_TRY(const std::optional<std::string> name, table.text("name"));
  if (!name) {
    return invalid("an operator has no name", table.where(), "name = \"all-reduce\"");
  }
  one.name = *name;
  SEXTANT_TRY(const std::optional<std::string> category, table.text("category"));
  one.category = category.value_or("");
  SEXTANT_TRY(const std::optional<double> total, table.number("total_time_ps", 0.0, kMostPs));
  SEXTANT_TRY(one.occurrences, table.count("occurrences", 1'000'000'000'000));
  SEXTANT_TRY(const std::optional<double> share, table.number("share", 0.0, 1.0));
  if (!share) {
    return invalid(fmt::format("{} has no share", printable(one.name)), table.where(),
                   "share = 0.05, of the time of all operators");
  }
  one.share = *share;
  SEXTANT_TRY(const std::optional<std::string> bound, table.text("bound"));
  if (bound) {
    SEXTANT_TRY(one.bound, describe::parse_word<OperatorBound>(kBoundWords, *bound, "bound",
                                                               table.where("bound")));
  }
  SEXTANT_TRY(one.efficiency, table.number("efficiency", 0.0, kMostEfficiency));
  SEXTANT_TRY(one.compute_efficiency, table.number("compute_efficiency", 0.0, kMostEfficiency));
  SEXTANT_TRY(one.memory_utilisation, table.number("memory_utilisation", 0.0, kMostEfficiency));
  if (total) {
    one.total = Seconds(*total * 1e-12);
  }
  SEXTANT_CHECK_OK(table.only_asked());
  return one;
}

Result<std::optional<ProfiledOn>> read_profiled(CaseTables& tables, const std::string& device) {
  CaseTable& table = tables.profiled;
  if (table.empty() && tables.profiled_mesh.empty()) {
    return std::nullopt;
  }
  ProfiledOn on;
  SEXTANT_TRY(const std::optional<std::string> word, table.text("device"));
  on.device = word.value_or(device);
  SEXTANT_TRY(on.topology, read_topology(table, "topology"));
  SEXTANT_TRY(on.chips, read_chips(table, on.topology));
  SEXTANT_CHECK_OK(table.only_asked());
  if (tables.profiled_mesh.empty()) {
    return invalid("profiled_on has no mesh", table.where(), "mesh = { data = 2, model = 4 }");
  }
  SEXTANT_TRY(on.mesh, read_mesh(tables.profiled_mesh, on.chips));
  return on;
}

Result<std::string> read_kind(CaseTable& table) {
  SEXTANT_TRY(const std::optional<std::string> word, table.text("kind"));
  if (!word) {
    return "training";
  }
  SEXTANT_TRY(const CaseKind kind,
              describe::parse_word<CaseKind>(kKindWords, *word, "kind", table.where("kind")));
  if (kind == CaseKind::kServing) {
    return invalid(fmt::format("kind is '{}': serving is out of scope", printable(*word)),
                   table.where("kind"), "what trains: training, fine-tuning");
  }
  return *word;
}

Result<void> read_top(CaseTable& table, Case& read) {
  SEXTANT_TRY(const std::optional<std::string> device, table.text("device"));
  if (!device) {
    return invalid("device is missing", table.where(), "device = \"tpu-v5p\"");
  }
  read.device = *device;
  SEXTANT_TRY(read.topology, read_topology(table, "topology"));
  SEXTANT_TRY(read.chips, read_chips(table, read.topology));
  SEXTANT_TRY(read.kind, read_kind(table));
  SEXTANT_TRY(read.batch, table.count("batch", kMostCaseTokens));
  SEXTANT_TRY(read.sequence_length, table.count("sequence_length", kMostCaseTokens));
  SEXTANT_TRY(const std::optional<std::string> model, table.text("model"));
  read.model = model && *model != kNobodyKnows ? *model : std::string();
  SEXTANT_TRY(read.hbm_gib, table.number("hbm_gib", 0.001, 1e6));
  return table.only_asked();
}

}  // namespace

std::string to_text(const Topology& topology) {
  std::vector<std::string> sides;
  for (const std::int64_t side : topology) {
    if (side > 1 || !sides.empty()) {
      sides.push_back(fmt::format("{}", side));
    }
  }
  return sides.size() < 2 ? fmt::format("1x{}", topology[2]) : join(sides, "x");
}

Result<Case> read_case(std::string_view text, std::string_view where) {
  SEXTANT_TRY(CaseTables tables, case_tables(text, where));
  Case read;
  read.where = std::string(where);
  SEXTANT_CHECK_OK(read_top(tables.top, read));
  if (!tables.baseline.empty()) {
    SEXTANT_TRY(read.baseline, read_mesh(tables.baseline, read.chips));
  }
  SEXTANT_TRY(read.profiled, read_profiled(tables, read.device));
  SEXTANT_TRY(read.kpis, read_kpis(tables.kpi));
  for (auto& [index, table] : tables.operators) {
    SEXTANT_TRY(CaseOperator one, read_operator(table));
    read.operators.push_back(std::move(one));
  }
  return read;
}

Result<Case> on_topology(Case profiled, std::string_view topology, std::string_view where) {
  SEXTANT_TRY(Topology sides, describe::parse_torus(topology, where));
  std::ranges::sort(sides);
  const std::int64_t chips = saturating_product({sides[0], sides[1], sides[2]});
  if (chips > describe::kMostDevices) {
    return invalid(fmt::format("{} are {} chips", to_text(sides), chips), std::string(where),
                   fmt::format("at most {}", describe::kMostDevices));
  }
  if (!profiled.profiled && profiled.baseline) {
    profiled.profiled = ProfiledOn{.device = profiled.device,
                                   .chips = profiled.chips,
                                   .topology = profiled.topology,
                                   .mesh = *profiled.baseline};
  }
  profiled.baseline.reset();
  profiled.chips = chips;
  profiled.topology = sides;
  return profiled;
}

}  // namespace sextant::agents
