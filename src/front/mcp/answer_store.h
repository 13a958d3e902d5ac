// Answers that were given, for whoever asks for more of one. An answer is named by what it says, so
// the same answer has the same handle whoever asks, and a handle means nothing else ever.
//
// Holds at most so many bytes (kMostKept); what was not asked for longest goes first. A file of
// more than kMostFile bytes is not kept.
#pragma once

#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "app/answered.h"

namespace sextant::front::mcp {

inline constexpr std::size_t kMostKept = std::size_t{128} << 20U;
inline constexpr std::size_t kMostFile = std::size_t{16} << 20U;

// A file that the answer would have been written to.
struct KeptFile {
  std::string name;
  std::string bytes = {};
  std::size_t size = 0;
  bool is_kept = false;  // else it was too large
};

struct KeptAnswer {
  std::string handle;
  std::string text;
  std::string json;
  std::string outcome;
  std::vector<std::string> notes = {};
  std::vector<KeptFile> files = {};
};
using Kept = std::shared_ptr<const KeptAnswer>;

// Of an answer's artifact; what is poured is held no further than kMostFile.
KeptFile kept_file(const app::Artifact& artifact);

class AnswerStore {
 public:
  explicit AnswerStore(std::size_t most = kMostKept) : most_(most) {}

  // Sets the handle. `question`: what it answers, so that more of it need not be worked out again.
  Kept keep(KeptAnswer answer, const std::string& question);
  // Null where it is not kept, or no longer.
  Kept find(const std::string& handle);
  Kept answer_to(const std::string& question);

 private:
  struct Place {
    Kept answer;
    std::size_t bytes = 0;
    std::vector<std::string> questions;
    std::list<std::string>::iterator turn;
  };
  void forget_oldest();
  Kept touched(Place& place);

  std::size_t most_;
  std::mutex mutex_;
  std::map<std::string, Place> places_;           // by handle
  std::map<std::string, std::string> questions_;  // their SHA-256, to handles
  std::list<std::string> turns_;                  // the one asked for last is the first
  std::size_t bytes_ = 0;
};

}  // namespace sextant::front::mcp
