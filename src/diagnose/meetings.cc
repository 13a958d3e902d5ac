#include "diagnose/meetings.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "diagnose/found_groups.h"

namespace sextant::diagnose {
namespace {

using metrics::MatchedCollective;
using metrics::RankSummary;
using metrics::Summary;

Meeting meeting_of(const Summary& summary, MatchedCollective&& match) {
  Meeting meeting;
  meeting.step = match.step;
  meeting.op = match.op;
  meeting.bytes = match.bytes;
  meeting.transfer_ns = match.transfer_ns();
  const metrics::SeenBy& first = match.seen.front();
  meeting.is_message =
      match.seen.size() == 2 && match.op == CollectiveOp::kSendReceive &&
      summary.ranks[first.rank_place].instances[first.instance_place].sender.has_value();
  meeting.seen = std::move(match.seen);
  return meeting;
}

}  // namespace

bool ends_together(const Meeting& meeting) {
  return meeting.op == CollectiveOp::kAllReduce || meeting.op == CollectiveOp::kAllGather ||
         meeting.op == CollectiveOp::kReduceScatter || meeting.op == CollectiveOp::kAllToAll;
}

Meetings meetings_of(const Summary& summary) {
  Meetings meetings;
  meetings.shares_clock =
      !summary.ranks.empty() &&
      std::ranges::all_of(summary.ranks, [](const RankSummary& rank) { return rank.is_whole_job; });
  if (meetings.shares_clock) {
    meetings.all = found_meetings(summary);
  } else {
    for (MatchedCollective& match : metrics::matched_collectives(summary)) {
      meetings.all.push_back(meeting_of(summary, std::move(match)));
    }
  }
  std::ranges::stable_sort(meetings.all, {}, &Meeting::step);
  return meetings;
}

}  // namespace sextant::diagnose
