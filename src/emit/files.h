// Files on either side of Settings: what the framework reads, and what a user has.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "emit/settings.h"
#include "emit/shell_script.h"

namespace sextant::emit {

struct File {
  std::string name;  // "train.sh", "ds_config.json"
  std::string text;
  bool executable = false;
};

// The settings as the dialect's own configuration file; none where a command line holds them
// (Megatron, Bridge: emit/launch.h). `comments`: lines for the top, where the format has comments.
std::vector<File> render(const Settings& settings, const std::vector<std::string>& comments);

enum class FileKind { kShell, kYaml, kJson, kToml, kPython, kLog, kCapture };
// What kind of file this is: by the end of its name, else by how it begins. What is nothing else is
// a shell script.
FileKind kind_of(std::string_view text, std::string_view name);

// Reads a user's file; nothing in it is run. An Error where it is broken, too large, or says
// nothing of a framework that is known.
Result<Settings> parse(std::string_view text, std::string_view name);
// The same where the kind is known already. `invocation`: of a script, how it is started.
Result<Settings> parse(std::string_view text, std::string_view name, FileKind kind,
                       const ShellInvocation& invocation = {});

// `first` and then `second`, whose settings stand over the first's. The dialect is the first's.
Settings joined(Settings first, const Settings& second);

}  // namespace sextant::emit
