// Takes the events of a PyTorch profile as they come; kineto_reader.h says what becomes of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profile/decimal_time.h"
#include "profile/kineto_facts.h"
#include "profile/kineto_labels.h"
#include "profile/kineto_lanes.h"
#include "profile/kineto_links.h"
#include "profile/read.h"
#include "profile/trace_text.h"
#include "profile/unread_counts.h"
#include "timeline/recording.h"

namespace sextant::profile {

class KinetoHandler final : public TraceHandler {
 public:
  KinetoHandler(const std::string& name, const ReadOptions& options);

  bool event(const RawEvent& event) override;
  void value(const RawValue& key, const RawValue& value) override;
  void next_document() override;

  // All that was read, sorted. Call once.
  timeline::Recording finish(const TraceTextFacts& text, const std::string& damage);

 private:
  struct Extent {
    std::int64_t start_ns = 0;
    std::int64_t duration_ns = 0;
  };

  void complete(const RawEvent& event);
  void host(const RawEvent& event, const timeline::Occurrence& what, const Extent& extent);
  void operation(const RawEvent& event, KnownName& known, const Extent& extent);
  void annotation(const RawEvent& event, KnownName& known, const Extent& extent);
  void call(const RawEvent& event, KnownName& known, const Extent& extent);
  void device(const RawEvent& event, KnownName& known, const Extent& extent);
  void wait(const RawEvent& event, const Extent& extent);
  void remember(const RawEvent& event, const KnownName& known, const Extent& extent);
  void instant(const RawEvent& event);
  void metadata(const RawEvent& event);
  // The times of an event; nothing, and counted, where they are not whole.
  std::optional<std::int64_t> start_of(const RawEvent& event, ExactTime& exact);
  std::optional<Extent> extent_of(const RawEvent& event);
  bool has_room();
  void finish_document();
  timeline::RecordedRank recorded_rank(RankId rank, bool is_stated);
  void order();

  const std::string& name_;
  const ReadOptions& options_;
  timeline::Recording recording_;
  KinetoLabels labels_;
  KinetoLanes lanes_;
  KinetoLinks links_;
  KinetoFacts facts_;
  UnreadCounts unread_;
  RankId document_{-1};         // stands for the document's rank until that is known
  std::int64_t origin_ns_ = 0;  // of the recorder's clock, from its base
  bool has_origin_ = false;
  std::optional<std::int64_t> first_base_ns_;
  bool is_first_document_ = true;
  std::int64_t operators_seen_ = 0;
};

}  // namespace sextant::profile
