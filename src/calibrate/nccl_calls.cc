#include "calibrate/nccl_calls.h"

#include <algorithm>

#include <fmt/format.h>

#include "machine/comm_models.h"

namespace sextant::calibrate {
namespace {

using measured::NcclLine;
using measured::NcclTable;

std::int64_t parts(std::int64_t whole, std::int64_t part) {
  return (whole + part - 1) / part;
}

std::int64_t timings_of(const NcclLine& line) {
  return (line.out_of_place ? 1 : 0) + (line.in_place ? 1 : 0);
}

std::int64_t timings_of(const NcclTable& table) {
  std::int64_t timings = 0;
  for (const NcclLine& line : table.lines) {
    timings += timings_of(line);
  }
  return timings;
}

// Why no line of the table can be used; "" where it can.
std::string trouble_with(const NcclTable& table) {
  if (!table.op && !table.program.empty()) {
    return fmt::format("{} is not modelled", table.program);
  }
  if (!table.op) {
    return "no operation named: keep the line with the program's name (all_reduce_perf …), or name "
           "the file after it (all_reduce.txt)";
  }
  if (!table.ranks) {
    return "ranks not said: keep the lines \"# Rank 0 … on HOST device 0 …\"";
  }
  return *table.ranks < 2 ? "one rank sends nothing" : "";
}

Result<void> check_size(const NcclTable& table, const describe::Cluster& cluster) {
  const std::int64_t ranks = table.ranks.value_or(1);
  const std::int64_t groups = std::max<std::int64_t>(table.groups, 1);
  if (ranks > cluster.devices / groups) {
    const std::string timed = groups > 1 ? fmt::format("{} groups of {} ranks", groups, ranks)
                                         : fmt::format("{} ranks", ranks);
    return invalid(
        fmt::format("{} were timed, but {} has {} devices", timed, cluster.name, cluster.devices),
        {}, "‹on› with at least as many devices");
  }
  const std::int64_t nodes = table.nodes.value_or(0);
  if (nodes < 1) {
    return {};
  }
  if (nodes > cluster.nodes()) {
    return invalid(fmt::format("ranks of {} hosts were timed, but {} has {} nodes", nodes,
                               cluster.name, cluster.nodes()),
                   {}, fmt::format("‹on› with at least {} nodes", nodes));
  }
  const std::int64_t on_a_host = parts(ranks, nodes);
  if (on_a_host > cluster.devices_per_node()) {
    return invalid(fmt::format("{} ranks of a host were timed, but a node of {} has {} devices",
                               on_a_host, cluster.name, cluster.devices_per_node()),
                   {}, "‹on› with the system that was timed");
  }
  return {};
}

std::int64_t domains_of(const NcclTable& table, const describe::Cluster& cluster) {
  const std::int64_t domain = machine::reach_without_network(cluster);
  const std::int64_t ranks = table.ranks.value_or(1);
  const std::int64_t nodes = table.nodes.value_or(0);
  if (nodes < 1) {
    return parts(ranks, domain);
  }
  const std::int64_t on_a_host = parts(ranks, nodes);
  return domain > cluster.devices_per_node() ? parts(nodes, domain / cluster.devices_per_node())
                                             : nodes * parts(on_a_host, domain);
}

// Ranks of one host in several domains reach each other over neither the links nor the network.
bool splits_hosts(const NcclTable& table, const describe::Cluster& cluster) {
  const std::int64_t ranks = table.ranks.value_or(1);
  const std::int64_t nodes = table.nodes.value_or(0);
  const std::int64_t on_a_host =
      nodes > 0 ? parts(ranks, nodes) : std::min(ranks, cluster.devices_per_node());
  return on_a_host > machine::reach_without_network(cluster);
}

// The calls of one table, put where they belong.
void add_calls(const NcclTable& table, const cost::TimedCollective& run, NcclCalls& calls) {
  auto& kind = run.group.domains > 1 ? calls.across : calls.inside;
  for (const NcclLine& line : table.lines) {
    if (line.wrong || !line.consistent) {
      calls.unused[line.wrong ? "the result was wrong"
                              : "bytes, time and bandwidth contradict each other"] +=
          timings_of(line);
      continue;
    }
    for (const auto* timing : {&line.out_of_place, &line.in_place}) {
      if (*timing) {
        cost::TimedCollective call = run;
        call.bytes = line.bytes;
        call.measured = (*timing)->time;
        kind.push_back(std::move(call));
      }
    }
  }
}

Result<void> add_nccl_table(const NcclTable& table, const std::string& where,
                            const describe::Cluster& cluster, NcclCalls& calls) {
  calls.warnings.insert(calls.warnings.end(), table.warnings.begin(), table.warnings.end());
  if (const std::string trouble = trouble_with(table); !trouble.empty()) {
    calls.unused[trouble] += timings_of(table);
    return {};
  }
  for (describe::Assumption assumed : table.assumed) {
    assumed.source = where;
    calls.assumed.push_back(std::move(assumed));
  }
  auto shape = shape_on(table, cluster);
  if (!shape) {
    shape.error().where = where;
    return tl::unexpected(std::move(shape.error()));
  }
  if (splits_hosts(table, cluster)) {
    calls.unused[fmt::format(
        "ranks of one host in several scale-up domains: {} has domains of {} and does not say what "
        "joins them (domain_size in a cluster.toml does)",
        cluster.system.name, machine::reach_without_network(cluster))] += timings_of(table);
    return {};
  }
  cost::TimedCollective run;
  run.system = cluster.name;
  run.run = where;
  run.op = table.op.value_or(run.op);
  run.group = *shape;
  add_calls(table, run, calls);
  return {};
}

}  // namespace

Result<cost::GroupShape> shape_on(const NcclTable& table, const describe::Cluster& cluster) {
  SEXTANT_CHECK_OK(check_size(table, cluster));
  const std::int64_t ranks = table.ranks.value_or(1);
  const std::int64_t domains = std::min(domains_of(table, cluster), ranks);
  return cost::GroupShape{ranks, domains, parts(ranks, domains), 1};
}

Result<NcclCalls> nccl_calls(std::span<const NcclText> texts, const describe::Cluster& cluster) {
  NcclCalls calls;
  for (const NcclText& text : texts) {
    for (const NcclTable& table : text.tables) {
      const std::string where = fmt::format("{}:{}", text.name, table.lines.front().line);
      SEXTANT_CHECK_OK(add_nccl_table(table, where, cluster, calls));
    }
  }
  return calls;
}

}  // namespace sextant::calibrate
