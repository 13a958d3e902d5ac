// YAML and JSON job files: any bytes end in settings or an Error with a place; what was read can be
// written and reads back; every dialect of such files takes whatever was read.
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "describe/data_store.h"
#include "emit/accelerate.h"
#include "emit/maxtext.h"
#include "emit/nanotron.h"
#include "emit/tree_file.h"

namespace {

using namespace sextant::emit;

std::map<std::string, std::vector<std::string>> contents(const Settings& settings) {
  std::map<std::string, std::vector<std::string>> found;
  for (const Setting& setting : settings.given) {
    found[setting.key] = setting.values;
  }
  return found;
}

void check(bool holds) {
  if (!holds) {
    std::abort();
  }
}

void check_places(const Settings& settings, std::string_view text) {
  for (const Setting& setting : settings.given) {
    check(setting.place.length == 0 || setting.place.offset + setting.place.length <= text.size());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const sextant::describe::DataStore store;
  const auto yaml = parse_yaml(text, "fuzz.yaml", Dialect::kMaxtext);
  if (yaml) {
    check_places(*yaml, text);
    (void)dialect_of_tree(*yaml);
    (void)megatron_test_words(*yaml);
    (void)read_maxtext(*yaml, store);
    (void)read_accelerate(*yaml, store);
    (void)read_nanotron(*yaml, store);
    // A key may be longer than YAML allows a key to be; what reads back is the same.
    const auto again = parse_yaml(render_yaml(*yaml), "again.yaml", Dialect::kMaxtext);
    check(!again || contents(*again) == contents(*yaml));
  } else {
    check(yaml.error().where.starts_with("fuzz.yaml"));
  }
  const auto json = parse_json(text, "fuzz.json", Dialect::kDeepspeed);
  if (json) {
    check_places(*json, text);
    const auto again = parse_json(render_json(*json), "again.json", Dialect::kDeepspeed);
    check(!again || contents(*again) == contents(*json));
  } else {
    check(json.error().where.starts_with("fuzz.json"));
  }
  return 0;
}
