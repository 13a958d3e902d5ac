// What to change in a user's files so that they say what is wanted: the smallest edits, in place,
// in the files' own spelling.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "emit/files.h"
#include "emit/settings.h"

namespace sextant::emit {

// Bytes of a file replaced by others. length 0: text is put in; text empty: bytes are taken out.
struct Edit {
  std::string file;
  std::size_t offset = 0;
  std::size_t length = 0;
  std::string text;
  std::string key;  // the setting it is for
};

// A change that has no single place in the files.
struct ByHand {
  std::string key;
  std::string wanted;  // its value; empty: it is to go
  std::string why;
  Place place{};
};

struct Patch {
  std::vector<Edit> edits;  // by file and offset, none over another
  std::vector<ByHand> by_hand;
};

// `user`: what the files say, with places in them. `wanted`: settings of the same dialect (given,
// environment, launch). Those it does not name stay as they are; one without values, and a switch
// of a command line that is "false", is taken out. A literal several settings share is changed only
// where that suits all that are wanted.
Patch patch_of(const Settings& user, const Settings& wanted, std::span<const File> files);

// The same for one launch script, and then tried: the changed script is read again, and what does
// not come out as wanted (a batch size worked out from a degree that changed) is left to be done by
// hand. An Error where the script cannot be read.
Result<Patch> patch_script(const File& script, const Settings& wanted);

// The file with its edits made. REQUIRES: they are of this text.
std::string applied(std::string_view text, std::span<const Edit> edits);

}  // namespace sextant::emit
