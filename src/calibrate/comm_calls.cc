#include "calibrate/comm_calls.h"

#include <cmath>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "calibrate/comm_file.h"
#include "measured/comm_groups.h"
#include "validate/measured_comm.h"

namespace sextant::calibrate {
namespace {

using cost::TimedCollective;
using measured::CollectiveSubject;

constexpr int kRounds = 10;

std::optional<Seconds> measured_time(const measured::Row& row, const CollectiveSubject& subject) {
  if (row.measured <= 0.0) {
    return std::nullopt;
  }
  if (row.quantity == "time_us") {
    return row.measured * 1_us;
  }
  if (row.quantity == "busbw_GBps") {
    return subject.bytes * describe::bus_share(subject.op, subject.ranks) / (row.measured * 1_GBps);
  }
  return std::nullopt;
}

std::vector<double> values_of(std::span<const describe::Sourced<double>> facts) {
  std::vector<double> values;
  for (const describe::Sourced<double>& fact : facts) {
    values.push_back(fact.value);
  }
  return values;
}

// The values of one file, and the fit that is theirs.
struct Class {
  bool links = true;
  std::string id;
  std::vector<double> start;
  [[nodiscard]] std::string file() const {
    return fmt::format("comm/{}/{}.toml", links ? "links" : "networks", id);
  }
  [[nodiscard]] cost::CommFit fit(std::span<const TimedCollective> calls, int rounds) const {
    return links ? cost::fit_links(calls, start, rounds) : cost::fit_network(calls, start, rounds);
  }
};

// Constants that say what the hardware has are the file's own; the others start as any link's do.
void start_from(std::span<const describe::CommKey> keys, const std::vector<double>& any,
                double scale, std::vector<double>& start) {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (cost::is_fitted(keys[i], start[i]) && any[i] > 0.0) {
      start[i] = any[i] * (keys[i].unit == describe::CommUnit::kRate ? scale : 1.0);
    }
  }
}

Result<Class> class_of(bool links, const std::string& id, const describe::DataStore& data) {
  Class made{links, id, {}};
  if (links) {
    SEXTANT_TRY(const describe::LinkFacts facts, describe::load_link_facts(id, data));
    SEXTANT_TRY(const describe::LinkFacts any, describe::load_link_facts(facts.start, data));
    made.start = values_of(facts.values);
    start_from(describe::kLinkKeys, values_of(any.values), facts.rate.value / any.rate.value,
               made.start);
  } else {
    SEXTANT_TRY(const describe::NetworkFacts facts, describe::load_network_facts(id, data));
    SEXTANT_TRY(const describe::NetworkFacts any, describe::load_network_facts(facts.start, data));
    made.start = values_of(facts.values);
    start_from(describe::kNetworkKeys, values_of(any.values), 1.0, made.start);
  }
  return made;
}

LeftOutSystem left_out(const Class& of, const std::string& system,
                       std::span<const TimedCollective> calls) {
  std::vector<TimedCollective> others;
  std::vector<TimedCollective> own;
  for (const TimedCollective& call : calls) {
    (call.system == system ? own : others).push_back(call);
  }
  const cost::CommFit fit = of.fit(others, kRounds);
  LeftOutSystem result{of.file(), system, {}, {}, {}};
  for (TimedCollective& call : own) {
    result.sizes.push_back(call.bytes);
    result.seen.push_back(std::abs(cost::predicted(call) / call.measured - 1.0));
    cost::put_values(fit.values, of.links, call);
    result.unseen.push_back(std::abs(cost::predicted(call) / call.measured - 1.0));
  }
  return result;
}

}  // namespace

CommCalls comm_calls(const std::vector<measured::Row>& rows, const describe::DataStore& data) {
  validate::MeasuredComm models(data);
  CommCalls found;
  for (const measured::Row& row : rows) {
    const auto* subject = std::get_if<CollectiveSubject>(&row.subject);
    if (subject == nullptr || row.refusal || !subject->healthy ||
        row.trust == measured::Trust::kC) {
      continue;
    }
    const auto shape = validate::shape_of(*subject);
    const auto time = measured_time(row, *subject);
    if (!shape || !time || shape->ranks < 2) {
      continue;
    }
    const auto known = models.of(*subject, *shape);
    if (!known) {
      continue;
    }
    TimedCollective call = validate::collective_call(*subject, *shape, **known);
    call.system = measured::system_of(row);
    call.run = row.id.substr(0, row.id.find('#'));
    call.measured = *time;
    (shape->domains > 1 ? found.networks[(*known)->network] : found.links[(*known)->link])
        .push_back(std::move(call));
  }
  return found;
}

std::set<std::string> systems_of(std::span<const TimedCollective> calls) {
  std::set<std::string> systems;
  for (const TimedCollective& call : calls) {
    systems.insert(call.system);
  }
  return systems;
}

Result<std::vector<CommClassFit>> fit_comm_classes(const CommCalls& calls,
                                                   const describe::DataStore& data,
                                                   const std::string& source) {
  std::vector<CommClassFit> fits;
  for (const bool links : {true, false}) {
    for (const auto& [id, timed] : links ? calls.links : calls.networks) {
      SEXTANT_TRY(const Class of, class_of(links, id, data));
      CommClassFit made;
      made.file = of.file();
      made.timings = static_cast<std::int64_t>(timed.size());
      made.systems = static_cast<std::int64_t>(systems_of(timed).size());
      made.fit = of.fit(timed, kRounds);
      const CommRefit refit{
          made.fit,
          fmt::format("from {} timings of {} systems in {}", made.timings, made.systems, source),
          fmt::format("{} ({} systems), {:.1f} % left", source, made.systems,
                      made.fit.after * 100.0)};
      SEXTANT_TRY(made.text, refitted_text({links, id}, refit, data));
      fits.push_back(std::move(made));
    }
  }
  return fits;
}

Result<std::vector<LeftOutSystem>> leave_systems_out(const CommCalls& calls,
                                                     const describe::DataStore& data) {
  std::vector<LeftOutSystem> results;
  for (const bool links : {true, false}) {
    for (const auto& [id, timed] : links ? calls.links : calls.networks) {
      SEXTANT_TRY(const Class of, class_of(links, id, data));
      const std::set<std::string> systems = systems_of(timed);
      if (systems.size() < 2) {
        continue;
      }
      for (const std::string& system : systems) {
        results.push_back(left_out(of, system, timed));
      }
    }
  }
  return results;
}

}  // namespace sextant::calibrate
