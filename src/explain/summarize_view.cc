#include "explain/summarize_view.h"

#include <fmt/format.h>

#include "base/quantity_text.h"
#include "base/text.h"
#include "explain/diagnose_words.h"
#include "explain/json.h"
#include "explain/text_table.h"
#include "explain/unread_json.h"

namespace sextant::explain {
namespace {

Table summarized_table(const SummarizeAnswer& answer) {
  Table table{{{"rank", true}, {"steps", true}, {"recorded", true}, {"collectives", true}}, {}};
  for (const SummarizedRank& rank : answer.ranks) {
    table.rows.push_back({fmt::format("{}", rank.rank.value), fmt::format("{}", rank.steps),
                          fmt::format("{}", rank.recorded), fmt::format("{}", rank.collectives)});
  }
  return table;
}

std::string summarize_json(const SummarizeAnswer& answer) {
  Json json = document("summarize", answer.provenance);
  json["file"] = printable(answer.out, 4096);
  json["bytes"] = answer.bytes.base();
  Json& ranks = json["ranks"] = Json::array();
  for (const SummarizedRank& rank : answer.ranks) {
    ranks.push_back({{"rank", rank.rank.value},
                     {"steps", rank.steps},
                     {"steps_recorded", rank.recorded},
                     {"collectives", rank.collectives}});
  }
  json["unread"] = unread_json(answer.unread);
  return dumped(json);
}

}  // namespace

std::string to_text(const SummarizeAnswer& answer, const Style& style) {
  if (style.format == Format::kJson) {
    return summarize_json(answer);
  }
  if (style.format == Format::kCsv) {
    return to_text(summarized_table(answer), style);
  }
  std::vector<std::int64_t> numbers;
  for (const SummarizedRank& rank : answer.ranks) {
    numbers.push_back(rank.rank.value);
  }
  std::string text =
      fmt::format("{}: {}, {}\n", bold(printable(answer.out, 200), style),
                  fmt::format("rank{} {}", numbers.size() == 1 ? "" : "s", number_list(numbers)),
                  sextant::to_text(answer.bytes));
  for (const DiagnosedLoss& loss : answer.unread) {
    text += fmt::format("not read: {}: {}{}\n", printable(loss.file, 200),
                        loss.count > 1 ? with_thousands(loss.count) + " " : std::string(),
                        printable(loss.what, 1000));
  }
  return text;
}

}  // namespace sextant::explain
