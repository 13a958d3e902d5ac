// What a stand-in leaves behind of one call, as bytes: written inside the sandbox, where the
// captured script could write them too, read outside as what a stranger sends.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace sextant::capture {

// Where a stand-in finds these, inside the sandbox alone.
inline constexpr std::string_view kHome = "/dev/.sextant";
inline constexpr std::string_view kBin = "/dev/.sextant/bin";
inline constexpr std::string_view kSpool = "/dev/.sextant/spool";
inline constexpr std::string_view kAnswers = "/dev/.sextant/answers";
// Names the call under which the next ones are made.
inline constexpr std::string_view kOuterVariable = "SEXTANT_CAPTURE_OUTER";

inline constexpr std::size_t kMostNamedFile = std::size_t{256} << 10U;  // bytes of one
inline constexpr std::size_t kMostNamedFiles = 32;                      // of one call

struct SpooledCall {
  std::string id;  // its file's name; they sort as the calls were made
  std::vector<std::string> words;
  std::string folder;
  std::vector<std::string> environment;  // "NAME=value"
  std::string outer;                     // the id of the call around it
  bool launches = false;
  std::string question;  // what nobody had answered: "how many devices there are"
  std::vector<std::pair<std::string, std::string>> files;
};

std::string spooled(const SpooledCall& call);
// An Error where the bytes are none.
Result<SpooledCall> unspooled(std::string_view bytes, std::string_view id);

// What stand-ins answer. A count of 0: nobody said; `stand_in_devices` is used and asked about.
struct Answers {
  std::string device_name{};  // "NVIDIA H100 80GB HBM3"
  int devices_per_node = 0;
  int nodes = 0;
  int stand_in_devices = 8;
  int stand_in_nodes = 2;
};
std::string answers_text(const Answers& answers);
Answers answers_of(std::string_view text);

}  // namespace sextant::capture
