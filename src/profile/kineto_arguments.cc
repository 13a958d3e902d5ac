#include "profile/kineto_arguments.h"

#include <algorithm>
#include <array>

namespace sextant::profile {
namespace {

struct Field {
  std::string_view name;
  RawValue KinetoArguments::* place;
};

// By length: names of one length together, since most keys of an event have the length of none.
constexpr std::array<Field, 34> kFields{
    {{"Seq", &KinetoArguments::sequence},
     {"step", &KinetoArguments::step},
     {"bytes", &KinetoArguments::bytes},
     {"Bytes", &KinetoArguments::bytes},
     {"dtype", &KinetoArguments::element},
     {"mb_id", &KinetoArguments::microbatch},
     {"stream", &KinetoArguments::stream},
     {"device", &KinetoArguments::device},
     {"seq_id", &KinetoArguments::sequence_id},
     {"Src Rank", &KinetoArguments::sender},
     {"Dst Rank", &KinetoArguments::receiver},
     {"Device Id", &KinetoArguments::device_id},
     {"Group size", &KinetoArguments::group_size},
     {"Input Dims", &KinetoArguments::input_dims},
     {"Input type", &KinetoArguments::input_types},
     {"correlation", &KinetoArguments::correlation},
     {"External id", &KinetoArguments::external_id},
     {"external id", &KinetoArguments::external_id},
     {"Device Type", &KinetoArguments::device_type},
     {"model_chunk", &KinetoArguments::chunk},
     {"In msg nelems", &KinetoArguments::in_elements},
     {"Out msg nelems", &KinetoArguments::out_elements},
     {"Total Reserved", &KinetoArguments::reserved},
     {"wait_on_stream", &KinetoArguments::waited_on},
     {"Concrete Inputs", &KinetoArguments::input_values},
     {"Sequence number", &KinetoArguments::autograd_sequence},
     {"Collective name", &KinetoArguments::collective_name},
     {"Total Allocated", &KinetoArguments::allocated},
     {"Global rank start", &KinetoArguments::rank_start},
     {"Process Group Name", &KinetoArguments::group_name},
     {"Global rank stride", &KinetoArguments::rank_stride},
     {"Process Group Ranks", &KinetoArguments::group_ranks},
     {"Process Group Description", &KinetoArguments::group_description},
     {"wait_on_cuda_event_record_corr_id", &KinetoArguments::recorded_by}}};

constexpr std::size_t kLongest = kFields.back().name.size();

// Where the names of each length begin; one more at the end.
constexpr std::array<std::uint8_t, kLongest + 2> kFirstOfLength = [] {
  std::array<std::uint8_t, kLongest + 2> first{};
  for (std::size_t length = 0; length < first.size(); ++length) {
    std::uint8_t shorter = 0;
    for (const Field& field : kFields) {
      shorter = static_cast<std::uint8_t>(shorter + (field.name.size() < length ? 1 : 0));
    }
    first[length] = shorter;
  }
  return first;
}();
static_assert(std::is_sorted(kFields.begin(), kFields.end(), [](const Field& a, const Field& b) {
  return a.name.size() < b.name.size();
}));

}  // namespace

KinetoArguments kineto_arguments(std::string_view object) {
  KinetoArguments all;
  Members members(object);
  RawValue key;
  RawValue value;
  while (members.next(key, value)) {
    const std::size_t length = std::min(key.text.size(), kLongest);
    for (std::size_t i = kFirstOfLength[length]; i < kFirstOfLength[length + 1]; ++i) {
      if (key.text == kFields[i].name) {
        all.*kFields[i].place = value;
      }
    }
  }
  return all;
}

}  // namespace sextant::profile
