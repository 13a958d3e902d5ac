#include "agents/mesh_rules.h"

#include <algorithm>
#include <array>
#include <cassert>

#include <fmt/format.h>

#include "base/quantity_text.h"
#include "describe/toml_table.h"

namespace sextant::agents {
namespace {

using describe::TomlTable;

constexpr std::string_view kMeshFile = "agents/mesh.toml";

Result<MeshRule> read_mesh_rule(const TomlTable& table, const std::string& id) {
  static constexpr std::array<std::string_view, 3> kKeys{"title", "why", "practices"};
  SEXTANT_CHECK_OK(table.only(kKeys));
  MeshRule rule{.id = id, .title = {}, .why = {}, .practices = {}};
  SEXTANT_TRY(rule.title, table.text("title"));
  SEXTANT_TRY(rule.why, table.text("why"));
  SEXTANT_TRY(rule.practices, table.texts("practices"));
  if (rule.practices.empty()) {
    return invalid(fmt::format("{} rests on nothing", id), table.where(), "ids of data/practices");
  }
  return rule;
}

}  // namespace

const MeshRule& MeshRuleBook::rule(std::string_view id) const {
  const auto at = std::ranges::lower_bound(rules, id, {}, &MeshRule::id);
  assert(at != rules.end() && at->id == id);
  return *at;
}

Result<MeshRuleBook> load_mesh_rules(const describe::DataStore& data) {
  static constexpr std::array<std::string_view, 3> kTables{"limits", "shapes", "rules"};
  static constexpr std::array<std::string_view, 1> kShapes{"ladder"};
  static constexpr std::array<std::string_view, 1> kLimits{"wide_feed_forward"};
  SEXTANT_TRY(const std::string text, data.read(kMeshFile));
  SEXTANT_TRY(const TomlTable top, TomlTable::parse(text, data.where(kMeshFile)));
  SEXTANT_CHECK_OK(top.only(kTables));
  MeshRuleBook book;
  SEXTANT_TRY(const TomlTable limits, top.table("limits"));
  SEXTANT_CHECK_OK(limits.only(kLimits));
  SEXTANT_TRY(book.wide_feed_forward,
              limits.sourced<std::int64_t>("wide_feed_forward", parse_count));
  SEXTANT_TRY(const TomlTable shapes, top.table("shapes"));
  SEXTANT_CHECK_OK(shapes.only(kShapes));
  SEXTANT_TRY(book.ladder, shapes.texts("ladder"));
  SEXTANT_TRY(const TomlTable rules, top.table("rules"));
  for (const std::string& id : rules.keys()) {
    SEXTANT_TRY(const TomlTable one, rules.table(id));
    SEXTANT_TRY(MeshRule rule, read_mesh_rule(one, id));
    book.rules.push_back(std::move(rule));
  }
  std::ranges::sort(book.rules, {}, &MeshRule::id);
  return book;
}

}  // namespace sextant::agents
