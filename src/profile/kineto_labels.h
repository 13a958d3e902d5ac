// Labels of a PyTorch profile: what a category and a name mean is worked out once, however many
// million events bear them.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "profile/json_skim.h"
#include "profile/kineto_arguments.h"
#include "profile/kineto_category.h"
#include "profile/operator_table.h"
#include "profile/raw_table.h"
#include "profile/recognition.h"
#include "timeline/timeline.h"

namespace sextant::profile {

// What is known of all events of one category and name.
struct KnownName {
  KinetoRole role = KinetoRole::kUnknown;
  bool is_step = false;           // "ProfilerStep#12"
  bool tells_collective = false;  // its arguments may be a collective's, for kernels to come
  timeline::Label label;          // without what single events say
  timeline::LabelId id;           // of that, once it is asked for
  bool has_id = false;
  // Of an operator: as it is counted, and the label of one that autograd recorded.
  const OperatorFacts* facts = nullptr;
  timeline::LabelId differentiated;
  bool has_differentiated = false;
};

class KinetoLabels {
 public:
  // Names and arguments that differ, kept by their bytes; what does not fit is not told apart.
  static constexpr std::size_t kNameRoom = std::size_t{32} << 20U;
  static constexpr std::size_t kVariantRoom = std::size_t{16} << 20U;
  static constexpr std::size_t kMostLinks = std::size_t{1} << 20U;

  KinetoLabels(const RecognitionTable& names, const OperatorTable& operators,
               timeline::Timeline& timeline)
      : recognition_(names),
        operators_(operators),
        timeline_(timeline),
        names_(kNameRoom),
        variants_(kVariantRoom) {}

  // Of the event's category and name. Lives as long as the labels, but for one without room, which
  // lives until the next call.
  KnownName& known(const RawEvent& event);
  // The label without anything of a single event.
  timeline::LabelId plain(KnownName& known);
  // Of an operator with such arguments: what it was given, and what follows from that.
  timeline::LabelId operation(KnownName& known, std::string_view arguments);
  // Of a copy of so many bytes.
  timeline::LabelId copy(const KnownName& known, const RawValue& bytes);
  // What an event of the host says of a collective that a kernel carries out.
  struct LinkOf {
    std::uint32_t number = 0;  // in link_values_
    std::optional<std::int64_t> sequence;
  };
  // Of a communication: from the arguments, else from the host's event that it is linked with,
  // nullptr for none.
  timeline::Occurrence communication(const KnownName& known, const KinetoArguments& arguments,
                                     const LinkOf* link);
  // Keeps what an event of the host says of a collective, for kernels that bear its external id;
  // nothing where it says nothing.
  std::optional<LinkOf> remember(const KnownName& known, const KinetoArguments& arguments);
  // The host's event with the external id that a kernel bears. Profiles of before 2023 write the
  // kernel's own correlation in its place: no event has that.
  [[nodiscard]] const LinkOf* link_of(const KinetoArguments& arguments) const;

  // Events whose name found no room.
  [[nodiscard]] std::int64_t unnamed() const { return unnamed_; }

 private:
  struct Link {
    timeline::Collective collective;
    std::optional<Bytes> bytes;
  };
  timeline::Label operator_label(const KnownName& known, const KinetoArguments& arguments) const;
  KnownName named(const RawEvent& event) const;
  timeline::LabelId variant_label(std::uint32_t number, const KnownName& known,
                                  const KinetoArguments& arguments, const Link* link);

  const RecognitionTable& recognition_;
  const OperatorTable& operators_;
  timeline::Timeline& timeline_;
  RawTable names_;
  std::deque<KnownName> known_;  // which stay where they are
  KnownName unnamed_name_;
  std::int64_t unnamed_ = 0;
  RawTable variants_;
  std::vector<timeline::LabelId> variant_labels_;
  RawTable link_texts_{std::size_t{8} << 20U};
  std::vector<Link> link_values_;
  std::unordered_map<std::int64_t, LinkOf> links_;  // by external id
};

}  // namespace sextant::profile
