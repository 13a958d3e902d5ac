// What can be read beside the tools: the catalogue, the rules, entries of the knowledge base, and
// answers that were given.
#include <array>

#include <fmt/format.h>

#include "base/read_fence.h"
#include "base/text.h"
#include "explain/style.h"
#include "front/mcp/base64.h"
#include "front/mcp/sextant_offer.h"
#include "front/mcp/spelling.h"

namespace sextant::front::mcp {
namespace {

struct Given {
  std::string_view name;
  std::string_view value;
};

// One page of a use case, whole.
struct FixedPage {
  std::string_view uri;
  std::string_view name;
  std::string_view description;
  std::string_view use_case;
  std::vector<Given> given;
};

const std::vector<FixedPage>& fixed_pages() {
  static const std::vector<FixedPage> kPages{
      {"sextant://catalogue/models",
       "models",
       "names of the models that are known, one a line",
       "model",
       {{"list", "1"}}},
      {"sextant://catalogue/hardware",
       "hardware",
       "devices, systems and fabrics that are known, with their other names",
       "cluster",
       {{"list", "1"}}},
      {"sextant://catalogue/rules",
       "rules",
       "every rule that a layout is held to: what it asks, why, and who enforces it",
       "explain",
       {}},
      {"sextant://catalogue/knowledge",
       "knowledge",
       "ids and titles of all practices and past optimisations",
       "kb",
       {{"action", "list"}}}};
  return kPages;
}

// A page of a use case about one thing.
struct NamedPage {
  std::string_view prefix;    // of its uri; then the thing's name
  std::string_view variable;  // what the template calls it
  std::string_view name;
  std::string_view description;
  std::string_view use_case;
  std::string_view parameter;  // that takes the name
  std::vector<Given> given = {};
};

const std::vector<NamedPage>& named_pages() {
  static const std::vector<NamedPage> kPages{
      {"sextant://models/", "name", "a model", "its parameters, block by block", "model", "model"},
      {"sextant://hardware/", "cluster", "a cluster", "its peaks, memory and links", "cluster",
       "cluster"},
      {"sextant://rules/", "id", "a rule", "of layouts or of diagnosis: what it says and why",
       "explain", "topic"},
      {"sextant://knowledge/",
       "id",
       "an entry of the knowledge base",
       "in full, with its source",
       "kb",
       "what",
       {{"action", "show"}}}};
  return kPages;
}

constexpr std::string_view kAnswers = "sextant://answers/";

Json contents_of(const std::string& uri, std::string_view type, std::string text) {
  const Json one{{"uri", uri}, {"mimeType", type}, {"text", std::move(text)}};
  return {{"contents", Json::array({one})}};
}

Handled page(const std::string& uri, std::string_view use_case_name, const app::Values& values,
             const Desk& desk) {
  const app::UseCase* use_case = app::find_use_case(use_case_name);
  if (use_case == nullptr) {
    return Json(nullptr);
  }
  const auto reply = app::ask(*use_case, values, desk.context);
  if (!reply) {
    return tl::unexpected(Failure{
        .code = kInvalidParams, .message = tool_spelling(reply.error()), .data = {{"uri", uri}}});
  }
  return contents_of(uri, "text/plain",
                     tool_spelling(reply->text({.format = explain::Format::kTable})));
}

app::Values values_with(const std::vector<Given>& given) {
  app::Values values;
  for (const Given& one : given) {
    values.add(one.name, std::string(one.value));
  }
  return values;
}

// Text where it is text, else Base64.
Json file_contents(const std::string& uri, const KeptFile& file) {
  const std::string_view type = mime_type_of(file.name);
  if (!first_invalid_utf8(file.bytes)) {
    return contents_of(uri, type, file.bytes);
  }
  const Json one{{"uri", uri}, {"mimeType", type}, {"blob", to_base64(file.bytes)}};
  return {{"contents", Json::array({one})}};
}

// "HANDLE/json", "HANDLE/text", "HANDLE/files/0".
Handled answer_part(const std::string& uri, std::string_view place, Desk& desk) {
  const std::size_t slash = place.find('/');
  const Kept answer = desk.answers.find(std::string(place.substr(0, slash)));
  const std::string_view part =
      slash == std::string_view::npos ? std::string_view() : place.substr(slash + 1);
  if (!answer) {
    return Json(nullptr);
  }
  if (part == "json") {
    return contents_of(uri, "application/json", answer->json);
  }
  if (part == "text") {
    return contents_of(uri, "text/plain", answer->text);
  }
  constexpr std::string_view kFiles = "files/";
  const auto number =
      part.starts_with(kFiles) ? to_integer(part.substr(kFiles.size())) : std::nullopt;
  if (!number || *number < 0 || static_cast<std::size_t>(*number) >= answer->files.size()) {
    return Json(nullptr);
  }
  const KeptFile& file = answer->files[static_cast<std::size_t>(*number)];
  return file.is_kept ? Handled(file_contents(uri, file)) : Handled(Json(nullptr));
}

}  // namespace

std::string_view mime_type_of(std::string_view name) {
  struct Ending {
    std::string_view ending;
    std::string_view type;
  };
  constexpr auto kEndings = std::to_array<Ending>({{".html", "text/html"},
                                                   {".json", "application/json"},
                                                   {".svg", "image/svg+xml"},
                                                   {".png", "image/png"},
                                                   {".csv", "text/csv"},
                                                   {".md", "text/markdown"},
                                                   {".sxs", "application/octet-stream"}});
  for (const Ending& one : kEndings) {
    if (name.ends_with(one.ending)) {
      return one.type;
    }
  }
  return "text/plain";
}

Json listed_resources() {
  Json list = Json::array();
  for (const FixedPage& one : fixed_pages()) {
    list.push_back({{"uri", one.uri},
                    {"name", one.name},
                    {"description", one.description},
                    {"mimeType", "text/plain"}});
  }
  return list;
}

Json listed_templates() {
  Json list = Json::array();
  for (const NamedPage& one : named_pages()) {
    list.push_back({{"uriTemplate", fmt::format("{}{{{}}}", one.prefix, one.variable)},
                    {"name", one.name},
                    {"description", one.description},
                    {"mimeType", "text/plain"}});
  }
  list.push_back({{"uriTemplate", "sextant://answers/{handle}/{part}"},
                  {"name", "an answer"},
                  {"description",
                   "that a tool gave, in full: part is json, text, or files/0 and so on. Kept "
                   "while the server runs and there is room"}});
  return list;
}

Handled read_resource(const std::string& uri, const Call& /*call*/, Desk& desk) {
  for (const FixedPage& one : fixed_pages()) {
    if (uri == one.uri) {
      return page(uri, one.use_case, values_with(one.given), desk);
    }
  }
  if (uri.starts_with(kAnswers)) {
    return answer_part(uri, std::string_view(uri).substr(kAnswers.size()), desk);
  }
  for (const NamedPage& one : named_pages()) {
    if (!uri.starts_with(one.prefix)) {
      continue;
    }
    const std::string name = uri.substr(one.prefix.size());
    // A name of what is known, never a file.
    if (name.empty() || name == "-" || name.find_first_of("/\\%") != std::string::npos ||
        name.ends_with(".json") || name.ends_with(".toml") || first_invalid_utf8(name)) {
      return Json(nullptr);
    }
    app::Values values = values_with(one.given);
    values.add(one.parameter, name);
    return page(uri, one.use_case, values, desk);
  }
  return Json(nullptr);
}

}  // namespace sextant::front::mcp
