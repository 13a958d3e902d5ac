// A tool's call: arguments, one app call, an answer cut to size.
#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

#include "app/tool_values.h"
#include "base/text.h"
#include "base/text_pages.h"
#include "explain/style.h"
#include "front/mcp/sextant_offer.h"
#include "front/mcp/shortened.h"
#include "front/mcp/spelling.h"

namespace sextant::front::mcp {
namespace {

constexpr std::size_t kMostNotes = 20;

Json text_block(std::string text) {
  return {{"type", "text"}, {"text", std::move(text)}};
}

// The tool's own "no": an assistant reads it and may mend its call.
Json failed_tool(std::string why) {
  return {{"content", Json::array({text_block(std::move(why))})}, {"isError", true}};
}

std::string outcome_word(app::Outcome outcome) {
  switch (outcome) {
    case app::Outcome::kFine:
      return "fine";
    case app::Outcome::kNo:
      return "no";
    case app::Outcome::kInterrupted:
      return "interrupted";
  }
  return "fine";
}

KeptAnswer kept_answer(const app::Reply& reply) {
  KeptAnswer answer{.handle = {},
                    .text = tool_spelling(reply.text({.format = explain::Format::kTable})),
                    .json = tool_spelling(reply.text({.format = explain::Format::kJson})),
                    .outcome = outcome_word(reply.outcome)};
  for (const std::string& note : reply.notes) {
    answer.notes.push_back(tool_spelling(note));
  }
  for (const app::Artifact& artifact : reply.artifacts) {
    answer.files.push_back(kept_file(artifact));
  }
  return answer;
}

// The answer as a document; one that has no such form as a text.
Json document_of(const KeptAnswer& answer) {
  Json json = Json::parse(answer.json, nullptr, /*allow_exceptions=*/false);
  if (json.is_object() && json.contains("schema")) {
    return json;
  }
  return {{"schema", "sextant.text/1"}, {"text", answer.json.empty() ? answer.text : answer.json}};
}

std::string file_uri(const KeptAnswer& answer, std::size_t number) {
  return fmt::format("sextant://answers/{}/files/{}", answer.handle, number);
}

Json listed_cuts(const std::vector<Cut>& cuts, const std::string& below) {
  Json list = Json::array();
  for (const Cut& cut : cuts) {
    list.push_back({{"at", below + cut.at}, {"kept", cut.kept}, {"of", cut.of}});
  }
  return list;
}

// What every form of the answer says.
Json structured_frame(const KeptAnswer& answer, Json document, Json cuts) {
  Json structured{{"outcome", answer.outcome}, {"answer", std::move(document)}};
  if (!cuts.empty()) {
    structured["left_out"] = std::move(cuts);
  }
  structured["notes"] = Json::array();
  for (std::size_t i = 0; i < std::min(answer.notes.size(), kMostNotes); ++i) {
    structured["notes"].push_back(answer.notes[i]);
  }
  structured["handle"] = answer.handle;
  for (std::size_t i = 0; i < answer.files.size(); ++i) {
    Json file{{"name", answer.files[i].name}, {"bytes", answer.files[i].size}};
    if (answer.files[i].is_kept) {
      file["uri"] = file_uri(answer, i);
    }
    structured["files"].push_back(std::move(file));
  }
  return structured;
}

Json resource_link(const std::string& uri, const std::string& name, std::string_view type,
                   const std::string& what) {
  return {{"type", "resource_link"},
          {"uri", uri},
          {"name", name},
          {"mimeType", type},
          {"description", what}};
}

std::string summary_text(const KeptAnswer& answer) {
  const TextPage page = page_of(answer.text, 1, kMostText);
  std::string text = page.text;
  if (page.of > 1) {
    text += fmt::format("… ({} more pages: the same call with detail \"text:2\")\n", page.of - 1);
  }
  for (std::size_t i = 0; i < std::min(answer.notes.size(), kMostNotes); ++i) {
    text += fmt::format("note: {}\n", answer.notes[i]);
  }
  for (const KeptFile& file : answer.files) {
    text += file.is_kept ? ""
                         : fmt::format(
                               "note: {} takes {} bytes and is not kept: ask for it on the command "
                               "line\n",
                               file.name, file.size);
  }
  return text;
}

Json whole_result(const app::ToolRow& row, const KeptAnswer& answer) {
  Shortened cut = shortened(document_of(answer), kMostAnswer);
  Json content = Json::array({text_block(summary_text(answer))});
  content.push_back(resource_link(fmt::format("sextant://answers/{}/json", answer.handle),
                                  fmt::format("{} in full", row.name), "application/json",
                                  "the whole answer"));
  for (std::size_t i = 0; i < answer.files.size(); ++i) {
    const KeptFile& file = answer.files[i];
    if (file.is_kept) {
      content.push_back(resource_link(file_uri(answer, i), file.name, mime_type_of(file.name),
                                      fmt::format("{} bytes", file.size)));
    }
  }
  return {{"content", std::move(content)},
          {"structuredContent",
           structured_frame(answer, std::move(cut.value), listed_cuts(cut.cuts, ""))}};
}

// "text" and "text:3".
std::optional<std::size_t> page_asked(std::string_view detail) {
  if (detail == "text") {
    return 1;
  }
  if (!detail.starts_with("text:")) {
    return std::nullopt;
  }
  const auto number = to_integer(detail.substr(5));
  return number && *number > 0 ? std::optional(static_cast<std::size_t>(*number)) : std::nullopt;
}

// The document's head, with `key` instead of the rest of it.
Json detail_document(const Json& document, const std::string& at, std::string_view key,
                     Json value) {
  Json part{{"schema", document.at("schema")}};
  for (const char* const head : {"tool_version", "inputs"}) {
    if (document.contains(head)) {
      part[head] = document.at(head);
    }
  }
  part["at"] = at;
  part[std::string(key)] = std::move(value);
  return part;
}

Json page_result(const KeptAnswer& answer, const std::string& detail, std::size_t page) {
  const TextPage found = page_of(answer.text, page, kMostDetail);
  if (page > found.of) {
    return failed_tool(fmt::format("`detail`: the answer's text has {} pages", found.of));
  }
  Json part = detail_document(document_of(answer), detail, "pages", found.of);
  return {{"content", Json::array({text_block(found.text)})},
          {"structuredContent", structured_frame(answer, std::move(part), Json::array())}};
}

// The member at a pointer; nothing where there is none.
std::optional<Json> member_at(const Json& document, const std::string& pointer) {
  try {
    const Json::json_pointer at(pointer);
    return document.contains(at) ? std::optional(document.at(at)) : std::nullopt;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

Json member_result(const KeptAnswer& answer, const std::string& detail) {
  const Json document = document_of(answer);
  const auto member = member_at(document, detail);
  if (!member) {
    std::vector<std::string> keys;
    for (const auto& [key, value] : document.items()) {
      keys.push_back("/" + key);
    }
    return failed_tool(fmt::format("`detail`: there is no {} in the answer (at the top: {})",
                                   printable(detail), join(keys, ", ")));
  }
  Shortened cut = shortened(*member, kMostDetail);
  Json part = detail_document(document, detail, "value", cut.value);
  return {{"content", Json::array({text_block(one_line(cut.value))})},
          {"structuredContent",
           structured_frame(answer, std::move(part), listed_cuts(cut.cuts, detail))}};
}

Json detail_result(const KeptAnswer& answer, const std::string& detail) {
  const auto page = page_asked(detail);
  return page ? page_result(answer, detail, *page) : member_result(answer, detail);
}

// What is asked, without what of its answer.
std::string question_of(const app::ToolRow& row, const Json& arguments) {
  std::map<std::string, std::string> given;
  for (const auto& [name, value] : arguments.items()) {
    if (name != "detail") {
      given[name] = one_line(value);
    }
  }
  return fmt::format("{} {}", row.name, one_line(Json(given)));
}

Result<app::Reply> reply_to(const app::ToolRow& row, const app::Values& values, const Call& call,
                            const Desk& desk) {
  std::int64_t lines = 0;
  return app::ask(app::use_case_of(row), values, desk.context,
                  {.stop = &call.stop, .progress = [&](const std::string& line) {
                     call.progress(++lines, 0, tool_spelling(line));
                     call.log(LogLevel::kInfo,
                              fmt::format("{}: {}", row.name, tool_spelling(line)));
                   }});
}

Result<app::Values> given_values(const app::ToolRow& row, const Json& arguments,
                                 const std::string& client) {
  static constexpr std::array<std::string_view, 1> kOurs{"detail"};
  return app::tool_values(row, one_line(arguments),
                          "mcp: " + printable(client.empty() ? "an unnamed client" : client),
                          kOurs);
}

}  // namespace

Handled answered_tool(const app::ToolRow& row, const Call& call, Desk& desk) {
  const Json& arguments = object_of(call.params, "arguments");
  const std::string question = question_of(row, arguments);
  const auto detail = arguments.find("detail");
  const bool asks_detail = detail != arguments.end() && !detail->is_null();
  if (asks_detail && !detail->is_string()) {
    return failed_tool("`detail` is text: a JSON pointer, or \"text:2\"");
  }
  // What writes is done once a call.
  Kept answer = asks_detail && !row.writes ? desk.answers.answer_to(question) : nullptr;
  if (!answer) {
    const auto values = given_values(row, arguments, call.client);
    if (!values) {
      return failed_tool(tool_spelling(values.error()));
    }
    call.log(LogLevel::kDebug, "asked: " + printable(question, kMostText));
    const auto reply = reply_to(row, *values, call, desk);
    if (!reply) {
      call.log(LogLevel::kError, fmt::format("{}: {}", row.name, tool_spelling(reply.error())));
      return failed_tool(tool_spelling(reply.error()));
    }
    answer = desk.answers.keep(kept_answer(*reply), question);
    for (const std::string& note : answer->notes) {
      call.log(LogLevel::kNotice, fmt::format("{}: {}", row.name, note));
    }
    call.log(LogLevel::kInfo, fmt::format("{}: answered, outcome {}", row.name, answer->outcome));
  }
  return asks_detail ? detail_result(*answer, detail->get<std::string>())
                     : whole_result(row, *answer);
}

}  // namespace sextant::front::mcp
