#include "emit/patch.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "emit/launch.h"
#include "emit/patch_spelling.h"
#include "emit/shell_job.h"

namespace sextant::emit {
namespace {

bool says_same(const Setting& a, const Setting& b) {
  return std::ranges::equal(a.values, b.values, [](const std::string& x, const std::string& y) {
    return x == y || to_lower(x) == to_lower(y);
  });
}

bool is_off(const Setting& setting) {
  return setting.values == std::vector<std::string>{"false"};
}

class Patcher {
 public:
  Patcher(const Settings& user, const Settings& wanted, std::span<const File> files)
      : user_(user), wanted_(wanted), files_(files) {}

  Patch made() {
    for (const Setting& wanted : wanted_.given) {
      given(wanted);
    }
    for (const Setting& wanted : wanted_.launch) {
      if (const Setting* now = find(user_.launch, wanted.key); now != nullptr) {
        change(*now, wanted, follows(wanted.key));
      } else if (!follows(wanted.key)) {
        by_hand(wanted, "the script does not say it", {});
      }
    }
    for (const Setting& wanted : wanted_.environment) {
      environment(wanted);
    }
    settle();
    return std::move(patch_);
  }

 private:
  // "devices" follows from nodes and devices_per_node, and a name of a file is the caller's.
  static bool follows(std::string_view launch_key) {
    return launch_key == "devices" || launch_key == "config_file";
  }

  [[nodiscard]] const File* file_of(const Place& place) const {
    const auto found =
        std::ranges::find_if(files_, [&](const File& file) { return file.name == place.file; });
    return found == files_.end() ? nullptr : &*found;
  }

  void by_hand(const Setting& wanted, std::string why, Place place) {
    patch_.by_hand.push_back(
        {wanted.key, join(wanted.values, " "), std::move(why), std::move(place)});
  }

  void given(const Setting& wanted) {
    const Setting* now = find(user_.given, wanted.key);
    const bool command_line =
        now == nullptr || patched_kind(now->place.file) == PatchedKind::kShell;
    const bool removed = wanted.values.empty() ||
                         (is_off(wanted) && command_line && user_.dialect == Dialect::kMegatron);
    if (now == nullptr) {
      if (!removed) {
        add(wanted);
      }
      return;
    }
    if (removed) {
      remove(*now, wanted);
      return;
    }
    change(*now, wanted, false);
  }

  void change(const Setting& now, const Setting& wanted, bool quietly) {
    if (says_same(now, wanted)) {
      return;
    }
    const File* file = file_of(now.place);
    if (file == nullptr || now.place.length == 0 ||
        now.place.offset + now.place.length > file->text.size()) {
      if (!quietly) {
        by_hand(wanted, "the files have no single literal for it", now.place);
      }
      return;
    }
    if (const Setting* other = other_on_literal(now, wanted)) {
      by_hand(wanted, fmt::format("its literal also sets {}", other->key), now.place);
      return;
    }
    const std::string_view old =
        std::string_view(file->text).substr(now.place.offset, now.place.length);
    const char before = now.place.offset > 0 ? file->text[now.place.offset - 1] : ' ';
    const PatchedKind kind = patched_kind(file->name);
    const auto text = value_in_place(wanted, kind, old, before);
    const bool is_switch = kind == PatchedKind::kShell && old.starts_with("--");
    if (!text || is_switch) {
      by_hand(wanted, "it is not spelled there in a way that can be replaced", now.place);
      return;
    }
    patch_.edits.push_back({file->name, now.place.offset, now.place.length, *text, wanted.key});
  }

  // A setting that shares the literal and is wanted to be something else.
  [[nodiscard]] const Setting* other_on_literal(const Setting& now, const Setting& wanted) const {
    for (const auto& [ours, theirs] :
         {std::pair{&user_.given, &wanted_.given}, std::pair{&user_.launch, &wanted_.launch}}) {
      for (const Setting& other : *ours) {
        const bool shares = other.key != now.key && other.place.file == now.place.file &&
                            other.place.offset == now.place.offset && other.place.length > 0;
        const Setting* its = shares ? find(*theirs, other.key) : nullptr;
        if (its != nullptr && !says_same(*its, wanted)) {
          return &other;
        }
      }
    }
    return nullptr;
  }

  void remove(const Setting& now, const Setting& wanted) {
    const File* file = file_of(now.place);
    auto edit = file == nullptr ? std::nullopt : taken_out(now, file->text);
    if (!edit) {
      by_hand(wanted, "it has to go, and is not spelled out in one place", now.place);
      return;
    }
    edit->key = wanted.key;
    patch_.edits.push_back(std::move(*edit));
  }

  void add(const Setting& wanted) {
    const Setting* best = neighbour(wanted);
    const File* file = best == nullptr ? nullptr : file_of(best->place);
    auto edit =
        file == nullptr ? std::nullopt : inserted_beside(*best, wanted, user_.dialect, file->text);
    if (!edit) {
      by_hand(wanted, "it is missing, and the files have no setting to put it beside", {});
      return;
    }
    patch_.edits.push_back(std::move(*edit));
  }

  // On a command line the last flag of the parallel ones, else the last of all; in a file the last
  // of the same table.
  [[nodiscard]] const Setting* neighbour(const Setting& wanted) const {
    const Setting* best = nullptr;
    bool best_parallel = false;
    const std::string_view table =
        std::string_view(wanted.key).substr(0, std::string_view(wanted.key).rfind('.') + 1);
    for (const Setting& candidate : user_.given) {
      const File* file = file_of(candidate.place);
      if (file == nullptr) {
        continue;
      }
      const PatchedKind kind = patched_kind(file->name);
      const std::string_view key = candidate.key;
      const bool same_table = key.substr(0, key.rfind('.') + 1) == table;
      if ((kind != PatchedKind::kShell && !same_table) || is_removed(candidate) ||
          !span_of(candidate, kind, file->text)) {
        continue;
      }
      const bool parallel = key.find("parallel") != std::string_view::npos;
      if (best == nullptr || parallel || !best_parallel) {
        best = &candidate;
        best_parallel = parallel;
      }
    }
    return best;
  }

  [[nodiscard]] bool is_removed(const Setting& candidate) const {
    const Setting* wanted = find(wanted_.given, candidate.key);
    return wanted != nullptr && (wanted->values.empty() || is_off(*wanted));
  }

  void environment(const Setting& wanted) {
    if (const Setting* now = find(user_.environment, wanted.key)) {
      change(*now, wanted, false);
      return;
    }
    if (wanted.values.size() != 1) {
      return;
    }
    const std::string line =
        fmt::format("export {}={}\n", wanted.key, shell_quoted(wanted.values[0]));
    for (const Setting& other : user_.environment) {
      const File* file = file_of(other.place);
      if (file == nullptr || other.place.length == 0) {
        continue;
      }
      const std::size_t above = file->text.rfind('\n', other.place.offset);
      const std::size_t start = above == std::string::npos ? 0 : above + 1;
      if (std::string_view(file->text).substr(start).starts_with("export ")) {
        patch_.edits.push_back({file->name, start, 0, line, wanted.key});
        return;
      }
    }
    by_hand(wanted, "the script exports nothing beside which it could stand", {});
  }

  // In order, the same edit once; of two over each other the later is left to the user.
  void settle() {
    std::ranges::stable_sort(patch_.edits, {},
                             [](const Edit& edit) { return std::tie(edit.file, edit.offset); });
    std::vector<Edit> kept;
    for (Edit& edit : patch_.edits) {
      if (!kept.empty() && kept.back().file == edit.file) {
        const Edit& last = kept.back();
        if (edit.length > 0 && last.offset == edit.offset && last.length == edit.length &&
            last.text == edit.text) {
          continue;
        }
        if (edit.offset < last.offset + last.length) {
          patch_.by_hand.push_back({edit.key, edit.text, "another change covers its place", {}});
          continue;
        }
      }
      kept.push_back(std::move(edit));
    }
    patch_.edits = std::move(kept);
  }

  const Settings& user_;
  const Settings& wanted_;
  std::span<const File> files_;
  Patch patch_;
};

// The keys whose value is not the wanted one.
std::vector<Setting> not_as_wanted(const Settings& now, const Settings& wanted) {
  std::vector<Setting> wrong;
  for (const auto& [ours, theirs] :
       {std::pair{&now.given, &wanted.given}, std::pair{&now.launch, &wanted.launch},
        std::pair{&now.environment, &wanted.environment}}) {
    for (const Setting& setting : *theirs) {
      const Setting* found = find(*ours, setting.key);
      const bool absent =
          setting.values.empty() || (is_off(setting) && now.dialect == Dialect::kMegatron);
      const bool right = found == nullptr ? absent : !absent && says_same(*found, setting);
      if (!right && setting.key != "config_file") {
        Setting one = setting;
        one.place = found == nullptr ? Place{} : found->place;
        wrong.push_back(std::move(one));
      }
    }
  }
  return wrong;
}

}  // namespace

Patch patch_of(const Settings& user, const Settings& wanted, std::span<const File> files) {
  return Patcher(user, wanted, files).made();
}

Result<Patch> patch_script(const File& script, const Settings& wanted) {
  SEXTANT_TRY(const Settings user, parse_shell(script.text, script.name));
  Patch patch = patch_of(user, wanted, std::span(&script, 1));
  const Result<Settings> after = parse_shell(applied(script.text, patch.edits), script.name);
  if (!after) {
    return invalid(fmt::format("the changed script cannot be read: {}", after.error().what),
                   after.error().where);
  }
  for (const Setting& wrong : not_as_wanted(*after, wanted)) {
    const bool listed =
        std::ranges::any_of(patch.by_hand, [&](const ByHand& one) { return one.key == wrong.key; });
    if (!listed) {
      patch.by_hand.push_back({wrong.key, join(wrong.values, " "),
                               "after the other changes the script works it out differently",
                               wrong.place});
    }
  }
  return patch;
}

std::string applied(std::string_view text, std::span<const Edit> edits) {
  std::string result;
  std::size_t done = 0;
  for (const Edit& edit : edits) {
    if (edit.offset < done || edit.offset + edit.length > text.size()) {
      continue;
    }
    result += text.substr(done, edit.offset - done);
    result += edit.text;
    done = edit.offset + edit.length;
  }
  result += text.substr(done);
  return result;
}

}  // namespace sextant::emit
