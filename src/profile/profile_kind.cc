#include "profile/profile_kind.h"

#include <array>
#include <utility>

#include "base/text.h"
#include "profile/byte_source.h"
#include "profile/kineto_category.h"
#include "profile/trace_text.h"

namespace sextant::profile {
namespace {

using std::string_view_literals::operator""sv;

// Counts what tells whose trace it is.
class Census final : public TraceHandler {
 public:
  bool event(const RawEvent& event) override {
    events_ += event.ph.is_string() ? 1 : 0;
    kineto_ += is_kineto_category(event.cat.text) ? 1 : 0;
    return true;
  }
  void value(const RawValue& key, const RawValue& value) override {
    is_kineto_ = is_kineto_ || is_one_of(key.text, {"schemaVersion", "deviceProperties",
                                                    "distributedInfo", "baseTimeNanoseconds"});
    is_sextant_ =
        is_sextant_ || (key.text == "otherData" &&
                        value.text.find(R"("writer":"sextant")") != std::string_view::npos);
    is_rocprof_ = is_rocprof_ || key.text == "rocprofiler-sdk-tool";
  }
  void next_document() override {}

  [[nodiscard]] ProfileKind kind(std::string_view head) const {
    if (is_sextant_) {
      return ProfileKind::kSextant;
    }
    if (head.find("\"schema\"") != std::string_view::npos &&
        head.find("\"nodes\"") != std::string_view::npos) {
      return ProfileKind::kChakraJson;
    }
    if (is_rocprof_ || head.find("\"rocprofiler-sdk-tool\"") != std::string_view::npos) {
      return ProfileKind::kRocprofJson;
    }
    if (is_kineto_ || kineto_ > 0) {
      return ProfileKind::kKineto;
    }
    // No event is whole in the head: what begins with a very long one is known by its categories.
    if (events_ == 0 && (head.find("\"cpu_op\"") != std::string_view::npos ||
                         head.find("\"kernel\"") != std::string_view::npos)) {
      return ProfileKind::kKineto;
    }
    const bool has_list = head.find("\"traceEvents\"") != std::string_view::npos;
    return events_ > 0 || has_list ? ProfileKind::kChrome : ProfileKind::kOtherJson;
  }

 private:
  std::int64_t events_ = 0;
  std::int64_t kineto_ = 0;
  bool is_kineto_ = false;
  bool is_sextant_ = false;
  bool is_rocprof_ = false;
};

ProfileKind json_kind(std::string_view head) {
  const char* const end = head.data() + head.size();
  if (head.starts_with('[')) {
    const char* first = skip_blanks(head.data() + 1, end);
    if (first < end && *first == '[') {
      return ProfileKind::kMemoryTimeline;
    }
  }
  Census census;
  auto source = bytes_of(head, static_cast<std::int64_t>(head.size()));
  if (source) {
    (void)walk_trace(**source, census, {});
  }
  return census.kind(head);
}

// A protobuf of repeated messages in field 1: XLA's XSpace or Perfetto's Trace. Source: the field
// numbers of XPlane (tsl/profiler/protobuf/xplane.proto: 1 id, 2 name, 3 lines) and of TracePacket
// (perfetto, protos/perfetto/trace/trace_packet.proto).
ProfileKind proto_kind(std::string_view head) {
  std::size_t at = 1;
  while (at < head.size() && at < 11 && (static_cast<unsigned char>(head[at]) & 0x80U) != 0) {
    at += 1;
  }
  at += 1;
  if (at >= head.size()) {
    return ProfileKind::kUnknown;
  }
  const bool has_id = head[at] == 0x08;
  const bool has_name =
      head[at] == 0x12 && head.substr(at + 1, 3).find('/') != std::string_view::npos;
  return has_id || has_name || head[at] == 0x1a ? ProfileKind::kXplane : ProfileKind::kPerfetto;
}

constexpr std::array<std::pair<ProfileKind, Refusal>, 9> kRefusals{
    {{ProfileKind::kNsightReport,
      {"is Nsight Systems' own report, whose format is not published",
       "its export: nsys export --type sqlite --output profile.sqlite REPORT.nsys-rep"}},
     {ProfileKind::kPerfetto,
      {"is a Perfetto trace (protobuf)",
       "JSON: traceconv json TRACE.pftrace trace.json; PyTorch writes it with "
       "prof.export_chrome_trace(\"trace.json\")"}},
     {ProfileKind::kPickle,
      {"is a pickle, as torch.cuda.memory._dump_snapshot writes it; reading one runs its code",
       "a profile with memory: torch.profiler.profile(profile_memory=True), then "
       "prof.export_chrome_trace(\"trace.json\")"}},
     {ProfileKind::kChakraJson,
      {"is an execution trace of the host (Chakra), which has no times of devices",
       "the profile recorded beside it: prof.export_chrome_trace(\"trace.json\")"}},
     {ProfileKind::kChakraProto,
      {"is a Chakra execution trace (protobuf)",
       "the profile recorded beside it: prof.export_chrome_trace(\"trace.json\")"}},
     {ProfileKind::kMemoryTimeline,
      {"is a memory timeline (export_memory_timeline), which has no spans",
       "the profile itself: prof.export_chrome_trace(\"trace.json\")"}},
     {ProfileKind::kParquet,
      {"is a parquet table",
       "of Nsight Systems: nsys export --type sqlite REPORT.nsys-rep; else a Chrome trace (JSON)"}},
     {ProfileKind::kZip, {"is a zip archive", "the files in it: unzip ARCHIVE"}},
     {ProfileKind::kRocprofJson,
      {"is rocprofv3's own JSON", "a PyTorch profile: prof.export_chrome_trace(\"trace.json\")"}}}};

}  // namespace

ProfileKind profile_kind(std::string_view head) {
  static constexpr std::array<std::pair<std::string_view, ProfileKind>, 6> kMagics{
      {{"SQLite format 3\0"sv, ProfileKind::kSqlite},
       {"PAR1"sv, ProfileKind::kParquet},
       {"PK\x03\x04"sv, ProfileKind::kZip},
       {"QDSTRM"sv, ProfileKind::kNsightReport},
       {"NSYS"sv, ProfileKind::kNsightReport},
       {"QUADD"sv, ProfileKind::kNsightReport}}};
  for (const auto& [magic, kind] : kMagics) {
    if (head.starts_with(magic)) {
      return kind;
    }
  }
  if (head.starts_with("\xef\xbb\xbf")) {
    head.remove_prefix(3);
  }
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) {
    return ProfileKind::kEmpty;
  }
  if (head[first] == '{' || head[first] == '[') {
    return json_kind(head.substr(first));
  }
  if (head.size() > 1 && head[0] == '\x80' && head[1] >= 2 && head[1] <= 5) {
    return ProfileKind::kPickle;
  }
  // A length, then GlobalMetadata: field 1, a version. Source: mlcommons/chakra, et_def.proto.
  if (head.size() > 8 && head[0] < 0x40 && head[1] == 0x0a && head[2] == head[0] - 2 &&
      head.substr(3, 5).find('.') != std::string_view::npos) {
    return ProfileKind::kChakraProto;
  }
  return head[0] == 0x0a ? proto_kind(head) : ProfileKind::kUnknown;
}

std::optional<Refusal> refusal_of(ProfileKind kind) {
  for (const auto& [known, refusal] : kRefusals) {
    if (known == kind) {
      return refusal;
    }
  }
  return std::nullopt;
}

}  // namespace sextant::profile
