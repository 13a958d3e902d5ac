#include "profile/trace_text.h"

#include <algorithm>

#include "base/text.h"
#include "profile/trace_window.h"

namespace sextant::profile {
namespace {

// What reading the same bytes again may cost: this, and as much as the text has.
constexpr std::int64_t kFreeRereads = std::int64_t{16} << 20U;

enum class Start : std::uint8_t { kNothing, kEvent, kDocument, kUnclear };

bool begins_event(std::string_view key) {
  return is_one_of(
      key, {"ph", "cat", "name", "pid", "tid", "ts", "dur", "id", "args", "s", "bp", "cname"});
}
bool begins_document(std::string_view key) {
  return is_one_of(key, {"schemaVersion", "traceEvents", "deviceProperties", "distributedInfo",
                         "displayTimeUnit", "traceName", "otherData"});
}

// What the '{' at `at` begins, as far as its first key tells.
Start start_at(const char* at, const char* end) {
  constexpr std::ptrdiff_t kEnough = 64;  // blanks and the longest of the keys
  const bool all_there = end - at >= kEnough;
  at = skip_blanks(at + 1, end);
  if (at >= end || *at != '"') {
    return at >= end && !all_there ? Start::kUnclear : Start::kNothing;
  }
  const std::string_view rest(at + 1, static_cast<std::size_t>(end - at - 1));
  const std::size_t quote = rest.substr(0, kEnough).find('"');
  if (quote == std::string_view::npos) {
    return all_there ? Start::kNothing : Start::kUnclear;
  }
  const std::string_view key = rest.substr(0, quote);
  return begins_event(key)      ? Start::kEvent
         : begins_document(key) ? Start::kDocument
                                : Start::kNothing;
}

class Walk {
 public:
  Walk(ByteSource& source, TraceHandler& handler, const TraceWindow::Progress& progress)
      : window_(source, progress), handler_(handler) {}

  Result<TraceTextFacts> run() {
    bool goes_on = true;
    while (goes_on) {
      if (state_ == State::kEvents) {
        goes_on = events();
      }
      if (goes_on) {
        SEXTANT_TRY(goes_on, step());
      }
    }
    facts_.bytes = window_.taken();
    return facts_;
  }

 private:
  enum class State : std::uint8_t { kOutside, kMembers, kEvents };

  // Events as far as the window has whole ones; false: the handler has enough. The hot loop.
  bool events() {
    const char* at = window_.at();
    const char* const end = window_.end();
    RawEvent event;
    for (;;) {
      at = skip_blanks(at, end);
      if (at < end && *at == ',') {
        at = skip_blanks(at + 1, end);
      }
      if (at >= end || *at != '{') {
        break;
      }
      const Skimmed skimmed = skim_event(at, end, event);
      if (skimmed.state != Skim::kWhole || event.ph.type == RawValue::Type::kNone) {
        break;  // another document that begins where this one broke off looks like an event
      }
      at = skimmed.at;
      facts_.events += 1;
      if (!handler_.event(event)) {
        return false;
      }
    }
    window_.move_to(at);
    return true;
  }

  // One step of what is not the hot loop; false: the text is over.
  Result<bool> step() {
    SEXTANT_TRY(const bool is_there, blanks());
    if (!is_there) {
      return false;
    }
    const char c = *window_.at();
    switch (state_) {
      case State::kOutside:
        return outside(c);
      case State::kMembers:
        if (c == '"') {
          return member();
        }
        if (c == ',' || c == '}') {
          pass(1);
          if (c == '}') {
            close();
          }
          return true;
        }
        return lost();
      case State::kEvents:
        if (c == '{') {
          return odd_event();
        }
        if (c == ',' || c == ']') {
          pass(1);
          if (c == ']') {
            is_bare_ ? close() : enter(State::kMembers);
          }
          return true;
        }
        return lost();
    }
    return false;
  }

  Result<bool> outside(char c) {
    if (c == '{' || c == '[') {
      open();
      pass(1);
      is_bare_ = c == '[';
      enter(is_bare_ ? State::kEvents : State::kMembers);
      return true;
    }
    if (c == '\xef' && window_.passed() == 0) {  // a byte-order mark
      SEXTANT_TRY(const bool ignored, want(3));
      if (ignored && std::string_view(window_.at(), 3) == "\xef\xbb\xbf") {
        pass(3);
        return true;
      }
    }
    return lost();
  }

  // The event at the window's place is odd: there is more of it, it is damaged, or it is none.
  Result<bool> odd_event() {
    if (start_at(window_.at(), window_.end()) == Start::kDocument) {
      enter(State::kOutside);
      return true;
    }
    RawEvent event;
    const Skimmed skimmed = skim_event(window_.at(), window_.end(), event);
    if (skimmed.state == Skim::kWhole) {
      facts_.events += 1;
      window_.move_to(skimmed.at);
      return handler_.event(event);
    }
    const auto reread = [&] { rereads_ += skimmed.at - window_.at(); };
    if (skimmed.state == Skim::kBroken) {
      reread();
      return lost(skimmed.at);
    }
    if (window_.size() > kLongestEvent) {
      reread();
      facts_.too_long += 1;
      return resume(skimmed.at);
    }
    SEXTANT_TRY(const bool got, window_.more());
    if (got) {
      return true;
    }
    // The text ends here. Or a quote is missing, and whole events lie behind it.
    const std::size_t rest = window_.size();
    rereads_ += static_cast<std::int64_t>(rest);
    SEXTANT_TRY(const bool found, resume(window_.end()));
    if (found) {
      facts_.damaged += 1;
    } else {
      facts_.damaged_bytes -= static_cast<std::int64_t>(rest);
      facts_.cut_bytes = static_cast<std::int64_t>(rest);
    }
    return found;
  }

  Result<bool> member() {
    RawValue key;
    const Skimmed skimmed = skim_value(window_.at(), window_.end(), key);
    if (skimmed.state == Skim::kCut) {
      return cut_member();
    }
    const char* at = skip_blanks(skimmed.at, window_.end());
    if (at < window_.end() && *at == ':') {
      at = skip_blanks(at + 1, window_.end());
    } else if (at < window_.end()) {
      return lost(at);
    }
    if (at >= window_.end()) {
      return cut_member();
    }
    if (key.text == "traceEvents" && *at == '[') {
      window_.move_to(at + 1);
      is_bare_ = false;
      enter(State::kEvents);
      return true;
    }
    RawValue value;
    const Skimmed found = skim_value(at, window_.end(), value);
    if (found.state == Skim::kCut && window_.size() > kLongestValue) {
      window_.move_to(at);
      return long_value();
    }
    if (found.state == Skim::kCut) {
      return cut_member();
    }
    if (found.state == Skim::kBroken) {
      return lost(found.at);
    }
    handler_.value(key, value);
    window_.move_to(found.at);
    return true;
  }

  Result<bool> cut_member() {
    if (window_.size() > kLongestEvent) {
      return lost(window_.end());
    }
    SEXTANT_TRY(const bool got, window_.more());
    if (!got) {
      facts_.cut_bytes = static_cast<std::int64_t>(window_.size());
      window_.move_to(window_.end());
    }
    return got;
  }

  // Past a value of the outer object that is too long to hold.
  Result<bool> long_value() {
    std::int64_t depth = 0;
    bool in_string = false;
    bool is_escape = false;
    for (;;) {
      for (const char* at = window_.at(); at < window_.end(); ++at) {
        if (in_string) {
          in_string = is_escape || *at != '"';
          is_escape = !is_escape && *at == '\\';
        } else if (*at == '"') {
          in_string = true;
        } else if (*at == '{' || *at == '[') {
          depth += 1;
        } else if (*at == '}' || *at == ']') {
          depth -= 1;
        }
        if (!in_string && depth <= 0) {
          window_.move_to(at + (depth < 0 ? 0 : 1));
          return true;
        }
      }
      window_.move_to(window_.end());
      SEXTANT_TRY(const bool got, window_.more());
      if (!got) {
        facts_.cut_bytes = 1;
        return false;
      }
    }
  }

  // What stands at the window's place is no JSON: on to the next event.
  Result<bool> lost(const char* noticed = nullptr) {
    facts_.damaged += 1;
    return resume(noticed == nullptr ? window_.at() : noticed);
  }

  // To the next event or document behind the window's place; behind `noticed` once too much was
  // read twice.
  Result<bool> resume(const char* noticed) {
    const std::int64_t from = window_.passed();
    const bool is_dear = rereads_ > kFreeRereads + window_.taken();
    window_.move_to(std::max(window_.at() + 1, is_dear ? noticed : window_.at()));
    SEXTANT_TRY(const bool found, find_start());
    facts_.damaged_bytes += window_.passed() - from;
    return found;
  }

  Result<bool> find_start() {
    char before = ',';
    for (;;) {
      const char* at = window_.at();
      Start start = Start::kNothing;
      for (; at < window_.end(); ++at) {
        start = *at == '{' && before != ':' ? start_at(at, window_.end()) : Start::kNothing;
        if (start != Start::kNothing) {
          break;
        }
        before = *at > ' ' || *at < 0 ? *at : before;
      }
      window_.move_to(at);
      if (start == Start::kEvent) {
        if (facts_.documents == 0) {
          open();
        }
        is_bare_ = is_bare_ || state_ != State::kEvents;
        enter(State::kEvents);
        return true;
      }
      if (start == Start::kDocument) {
        enter(State::kOutside);
        return true;
      }
      SEXTANT_TRY(const bool got, window_.more());
      if (!got) {
        window_.move_to(window_.end());
        return false;
      }
    }
  }

  void open() {
    if (facts_.documents > 0) {
      handler_.next_document();
    }
    facts_.documents += 1;
    facts_.is_complete = false;
  }
  void close() {
    facts_.is_complete = true;
    enter(State::kOutside);
  }
  void enter(State state) { state_ = state; }
  void pass(std::size_t bytes) { window_.move_to(window_.at() + bytes); }

  // To the next byte that is no blank; false at the end.
  Result<bool> blanks() {
    for (;;) {
      window_.move_to(skip_blanks(window_.at(), window_.end()));
      if (window_.size() > 0) {
        return true;
      }
      SEXTANT_TRY(const bool got, window_.more());
      if (!got) {
        return false;
      }
    }
  }
  Result<bool> want(std::size_t bytes) {
    while (window_.size() < bytes) {
      SEXTANT_TRY(const bool got, window_.more());
      if (!got) {
        return false;
      }
    }
    return true;
  }

  TraceWindow window_;
  TraceHandler& handler_;
  TraceTextFacts facts_;
  State state_ = State::kOutside;
  bool is_bare_ = false;
  std::int64_t rereads_ = 0;
};

}  // namespace

Result<TraceTextFacts> walk_trace(ByteSource& source, TraceHandler& handler,
                                  const std::function<void(std::int64_t, std::int64_t)>& progress) {
  return Walk(source, handler, progress).run();
}

}  // namespace sextant::profile
