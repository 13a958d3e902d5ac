#include "front/mcp/answer_store.h"

#include <filesystem>
#include <utility>

#include "base/sha256.h"

namespace sextant::front::mcp {
namespace {

constexpr std::size_t kHandleDigits = 16;

std::size_t size_of(const KeptAnswer& answer) {
  std::size_t bytes = answer.text.size() + answer.json.size();
  for (const KeptFile& file : answer.files) {
    bytes += file.bytes.size();
  }
  return bytes;
}

std::string handle_of(const KeptAnswer& answer) {
  std::string all = answer.outcome + '\n' + answer.json + '\n' + answer.text;
  for (const KeptFile& file : answer.files) {
    all += '\n' + file.name + '\n' + sha256_hex(file.bytes);
  }
  return sha256_hex(all).substr(0, kHandleDigits);
}

}  // namespace

KeptFile kept_file(const app::Artifact& artifact) {
  KeptFile file{.name = std::filesystem::path(artifact.path).filename().string()};
  const auto take = [&file](std::string_view piece) {
    file.size += piece.size();
    if (file.size <= kMostFile) {
      file.bytes.append(piece);
    }
  };
  if (artifact.pour) {
    artifact.pour(take);
  } else {
    take(artifact.bytes);
  }
  file.is_kept = file.size <= kMostFile;
  if (!file.is_kept) {
    file.bytes.clear();
    file.bytes.shrink_to_fit();
  }
  return file;
}

Kept AnswerStore::keep(KeptAnswer answer, const std::string& question) {
  answer.handle = handle_of(answer);
  const std::size_t bytes = size_of(answer);
  const auto kept = std::make_shared<const KeptAnswer>(std::move(answer));
  const std::scoped_lock lock(mutex_);
  auto [at, is_new] = places_.try_emplace(kept->handle);
  Place& place = at->second;
  if (is_new) {
    turns_.push_front(kept->handle);
    place = {.answer = kept, .bytes = bytes, .questions = {}, .turn = turns_.begin()};
    bytes_ += bytes;
  }
  const std::string key = sha256_hex(question);
  if (std::string& to = questions_[key]; to != kept->handle) {
    to = kept->handle;
    place.questions.push_back(key);
    place.bytes += 2 * key.size();
    bytes_ += 2 * key.size();
  }
  touched(place);
  while (bytes_ > most_ && turns_.size() > 1) {
    forget_oldest();
  }
  return kept;
}

Kept AnswerStore::find(const std::string& handle) {
  const std::scoped_lock lock(mutex_);
  const auto found = places_.find(handle);
  return found == places_.end() ? nullptr : touched(found->second);
}

Kept AnswerStore::answer_to(const std::string& question) {
  const std::scoped_lock lock(mutex_);
  const auto found = questions_.find(sha256_hex(question));
  const auto place = found == questions_.end() ? places_.end() : places_.find(found->second);
  return place == places_.end() ? nullptr : touched(place->second);
}

Kept AnswerStore::touched(Place& place) {
  turns_.splice(turns_.begin(), turns_, place.turn);
  return place.answer;
}

void AnswerStore::forget_oldest() {
  const auto oldest = places_.find(turns_.back());
  for (const std::string& question : oldest->second.questions) {
    if (const auto asked = questions_.find(question);
        asked != questions_.end() && asked->second == oldest->first) {
      questions_.erase(asked);
    }
  }
  bytes_ -= oldest->second.bytes;
  places_.erase(oldest);
  turns_.pop_back();
}

}  // namespace sextant::front::mcp
