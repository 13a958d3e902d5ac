#include "explain/answer_fields.h"

#include <algorithm>
#include <array>
#include <utility>

namespace sextant::explain {
namespace {

// A row a document: its members "name:type", of an object, and of the objects of a list, with the
// names of theirs in brackets. s text, n number, b true or false, o object, a list; no type: more
// than one. Each may be null. "schema", "tool_version" and "inputs" are every document's.
constexpr auto kRows = std::to_array<std::pair<std::string_view, std::string_view>>(
    {{"model",
      "name:s, family:s, source:s, parameters_total:n, parameters_active:n, "
      "parameters_embedding:n, parameters_positions:n, parameters_head:n, "
      "parameters_final_norm:n, parameters_mtp:n, layers:n, hidden:n, vocabulary:n, "
      "tied_head:b, max_positions:n, mtp_layers:n, blocks:a{layers mixer ffn "
      "parameters_total parameters_active parameters_mixer parameters_dense_ffn "
      "parameters_router parameters_routed_experts parameters_shared_experts "
      "parameters_norms}, assumed:a{key value why source}"},
     {"cluster",
      "name:s, devices:n, nodes:n, scale_up_domains:n, device:o{id name generation}, "
      "system:o{id name scale_up}, fabric:o{id name}, network_per_device_Gbitps:n, "
      "torus:a, slices:n, links:a{of name value_GBps kind source value_Gbitps}, "
      "values:a{of name value_TFLOPps kind source value_bytes value_GBps value value_MHz "
      "value_W value_us}, assumed:a{key value why source}"},
     {"memory",
      "fits:b, tight:b, fit_odds:n, available_bytes:n, layout:s, fullest_rank:n, "
      "ranks:a{pipeline_rank "
      "fullest_moment allocated_bytes reserved_bytes device_bytes items}, missing_bytes:n, "
      "fitting_changes:a, assumed:a{key value why source}, legal:b, violations:a{rule "
      "message nearest}"},
     {"plan",
      "model:s, cluster:s, devices:n, framework:s, global_batch:n, sequence:n, "
      "objective:s, fixed:a, headroom:n, limit_bytes:n, found:b, recommended:o{layout keys "
      "mesh tp cp pp ep etp dp mbs least_memory_bytes step_time_s step_time_low_s "
      "step_time_high_s interval devices microbatches tokens_per_step tokens_per_s "
      "tokens_per_s_per_device format peak_TFLOPps model_TFLOPps_per_device "
      "hardware_TFLOPps_per_device utilisation hardware_utilisation terms communication "
      "energy memory why longer_s given_up difference points fastest_points}, "
      "plans:a{layout keys mesh tp cp pp ep etp dp mbs least_memory_bytes step_time_s "
      "step_time_low_s step_time_high_s interval devices microbatches tokens_per_step "
      "tokens_per_s tokens_per_s_per_device format peak_TFLOPps model_TFLOPps_per_device "
      "hardware_TFLOPps_per_device utilisation hardware_utilisation terms communication "
      "energy memory longer_s inside_interval decision}, front:a, training:o{tokens steps "
      "time_days device_hours cost deadline_days in_time}, shifts:a{what step_time_s "
      "tokens_ratio layout why_not}, why_not:o{layout broken outside missing_bytes step "
      "longer}, changes:, counts:a, freed:a{what chosen layout step_time_s tokens_per_s}, "
      "none:o{broken freed leanest missing_bytes changes}, baselines:a, proof:o, files:a, "
      "written:a, search:o{complete possible timed too_slow hides_less too_large "
      "cost_calls memory_calls time_s}, left_out:s, assumed:a{key value why source}"},
     {"estimate",
      "legal:b, fits:b, layout:s, framework:s, global_batch:n, step_time_s:n, "
      "step_time_low_s:n, step_time_high_s:n, interval:o{class low_ratio high_ratio rows "
      "source}, devices:n, microbatches:n, tokens_per_step:n, tokens_per_s:n, "
      "tokens_per_s_per_device:n, format:s, peak_TFLOPps:n, model_TFLOPps_per_device:n, "
      "hardware_TFLOPps_per_device:n, utilisation:n, hardware_utilisation:n, "
      "terms:o{compute_s host_s tp_s cp_s ep_s pp_s dp_s bubble_s update_s loop_s}, "
      "communication:o{overhead exposed_s hidden_s axes}, energy:o{step_J tokens_per_J "
      "device_W}, memory:o{fits tight fit_odds pipeline_rank allocated_bytes device_bytes "
      "available_bytes missing_bytes fitting_changes}, slowest:o{pipeline_rank stages "
      "microbatch_time_s}, stages:a{stage pipeline_rank first_layer layers forward_time_s "
      "backward_time_s forward_exposed_s backward_exposed_s send_forward_s "
      "send_backward_s}, training:o{tokens steps time_days time_low_days time_high_days "
      "device_hours device_hours_low device_hours_high price_per_device_hour cost cost_low "
      "cost_high}, compute:o{pipeline_rank stages step_compute_time_s bound phases parts "
      "model_flops hardware_flops utilisation hardware_utilisation longest_operators}, "
      "left_out:s, assumed:a{key value why source}, violations:a{rule message nearest}"},
     {"estimate-sweep",
      "layout:s, framework:s, factor:s, held:s, points:a{value legal global_batch "
      "step_time_s step_time_low_s step_time_high_s interval devices microbatches "
      "tokens_per_step tokens_per_s tokens_per_s_per_device format peak_TFLOPps "
      "model_TFLOPps_per_device hardware_TFLOPps_per_device utilisation "
      "hardware_utilisation terms communication energy memory pipeline_rank "
      "step_compute_time_s compute_utilisation compute_hardware_utilisation "
      "forward_device_time_s forward_host_time_s backward_device_time_s "
      "backward_host_time_s compute_shares bound}, left_out:s, assumed:a{key value why "
      "source}"},
     {"estimate-collective",
      "cluster:s, collective:s, bytes:n, ranks:n, stride:n, domains:n, ranks_per_domain:n, "
      "time_s:n, time_low_s:n, time_high_s:n, bus_bandwidth_GBps:n, "
      "bus_bandwidth_low_GBps:n, bus_bandwidth_high_GBps:n, algorithm_bandwidth_GBps:n, "
      "best_rate_GBps:n, spread:n, links:s, network:s, hierarchical:o{time_s "
      "reduce_scatter_s all_reduce_between_domains_s all_gather_s}, ways:a{algorithm "
      "protocol limit limit_GBps time_s latency_s transfer_s fill_s}, constants:a{file "
      "name value_Bps kind source value_s value_ratio}, assumed:a{key value why source}"},
     {"estimate-collective-sweep",
      "cluster:s, factor:s, held:s, points:a{value possible collective bytes ranks stride "
      "domains ranks_per_domain time_s time_low_s time_high_s bus_bandwidth_GBps "
      "bus_bandwidth_low_GBps bus_bandwidth_high_GBps algorithm_bandwidth_GBps "
      "best_rate_GBps spread links network hierarchical ways share_of_best_rate}, "
      "measured:a{run system points}, assumed:a{key value why source}"},
     {"compare",
      "model:s, candidates:a{name layout cluster possible fits reasons speed_ratio "
      "difference step_time_s step_time_low_s step_time_high_s interval devices "
      "microbatches tokens_per_step tokens_per_s tokens_per_s_per_device format "
      "peak_TFLOPps model_TFLOPps_per_device hardware_TFLOPps_per_device utilisation "
      "hardware_utilisation terms communication energy memory}, best:n, "
      "advantage:o{against term shorter_s saved_s}, difference:o{speed_ratio interval "
      "class outside verdict}, assumed:a{key value why source}"},
     {"explain",
      "tree:o{id title formula why fix framework enforced meaning record advice name value "
      "number unit page parts}"},
     {"traffic",
      "legal:b, layout:s, framework:s, ranks:n, stages:n, collectives:a{what operation "
      "group group_size dtype input_bytes output_bytes count phase hidden_behind "
      "wire_bytes stages}, totals:a{group calls payload_bytes wire_bytes same_node_bytes "
      "same_domain_bytes network_bytes}, assumed:a{key value why source}, "
      "violations:a{rule message nearest}"},
     {"check",
      "framework:s, legal:b, layout:s, not_known:a, facts:a{file line what value words}, "
      "violations:a{rule severity message nearest}, unresolved:a{file line what why "
      "beside_the_job}, unknown:a{key nearest file line}, not_stated:a, measured:o{step_time_s "
      "spread_s "
      "steps_counted steps_left_out tokens_per_s_per_device TFLOPps_per_device "
      "allocated_bytes reserved_bytes notes}, predicted:o, assumed:a{key value why source}"},
     {"emit",
      "dialect:s, files:a{name text executable}, left_out:a{key value why}, written:a, "
      "assumed:a{key value why source}, legal:b, violations:a{rule message nearest}"},
     {"diagnose",
      "files:a{name recorder bytes ranks}, ranks:n, job_ranks:n, is_whole_job:b, steps:n, "
      "step_time_s:n, breakdown:o{compute_s exposed_comm_s exposed_copy_s idle_s}, "
      "communication_s:n, copy_s:n, overlap_s:n, idle_by_cause:o{host_late_s "
      "host_blocked_s launching_s dependency_s other_s unknown_s}, "
      "critical_path:o{compute_s communication_s copy_s between_kernels_s launch_s "
      "dependency_s host_s sync_s unknown_s}, step_categories:o{compile_s input_s output_s "
      "launch_s host_s collective_s device_to_device_s compute_s other_s}, "
      "memory_peak:o{allocated_bytes reserved_bytes}, queue:o{mean_calls deepest_calls "
      "empty_share}, launches:o{calls delay_mean_s delay_to_idle_stream_mean_s "
      "call_mean_s}, per_rank:a{rank rank_is_stated host device has_device_work step_basis "
      "steps_found_by steps_left_out step_time_s breakdown communication_s copy_s "
      "overlap_s idle_by_cause critical_path step_categories memory_peak queue launches "
      "steps}, bottleneck:o{class operators reason}, findings:a{rule title cause ranks "
      "seconds_per_step by_part gain_ceiling status evidence advice explained_by}, "
      "abstained:a{rule missing record}, asked:a, notes:a, gain_ceiling_total:n, "
      "fail_on_met:a, prediction:o{step_s low_s high_s ratio classes}, "
      "collectives:a{collective ranks size_up_to_bytes count time_s mean_s min_s max_s "
      "algorithm_bandwidth_GBps bus_bandwidth_GBps fastest_algorithm_bandwidth_GBps}, "
      "kernels:a{name kind count time_s share mean_s min_s max_s deviation_s}, "
      "operators:a{name category module kernels count time_s share mean_s min_s max_s "
      "deviation_s flops bytes bound rate_TFLOPps bandwidth_GBps ideal_s efficiency "
      "wasted_s}, host_signals:a{signal what count idle_s copy_s after_s}, ranges:a{name "
      "count work_s own_work_s idle_before_s own_idle_before_s}, kpis:o{device step_s "
      "busy_s duty_cycle flops_utilisation memory_utilisation mfu goodput "
      "mean_all_reduce_s mean_all_reduce_share standard_communication_share "
      "communication_share exposed_communication_share}, unread:a{file what count}, "
      "assumed:a{key value why source}"},
     {"diff",
      "a:o{files ranks steps device step_time_s findings unread assumed}, b:o{files ranks "
      "steps device step_time_s findings unread assumed}, change_s:n, breakdown:a{name a_s "
      "b_s change_s}, idle_by_cause:a{name a_s b_s change_s}, made_of:o{of changes "
      "all_changes needed needed_share}, made_of_ranges:o{of changes all_changes needed "
      "needed_share}, kinds:a{name a_s b_s change_s a_count b_count}, ops:a{name a_s b_s "
      "change_s a_count b_count}, kernels:a{name detail a_s b_s change_s a_count b_count}, "
      "host_signals:a{name a_s b_s change_s a_count b_count}, collectives:a{name a_s b_s "
      "change_s a_count b_count}, findings:a{rule state a_seconds_per_step "
      "b_seconds_per_step}, fail_on_met:a"},
     {"tune",
      "engine:s, fallback:s, session:s, analysis:o{experiment kpis initial settled "
      "overturned operators correlation axes root_cause notes}, proposals:a{title author "
      "mesh layout change devices reasoning claims citations trade_offs impact confidence "
      "verdict run}, fewer:s, keep:s, ideas:a{title author mesh layout change devices "
      "reasoning claims citations trade_offs impact confidence verdict run}, "
      "turned_down:a{title author mesh layout change devices reasoning claims citations "
      "trade_offs impact confidence verdict run}, model:o{added agreed summary cut_short "
      "retrieval cost questions}, would_send:s, assumed:a{key value why source}"},
     {"validate",
      "rows:a{id source quantity status reason measured predicted error interval assumed}, "
      "summary:a{source quantity n predicted refused scored mape median_ape p90_ape bias "
      "interval_coverage groups kendall top1_regret}"},
     {"kb",
      "entries:a{id kind origin title advice why do_not source url section date trust "
      "about software network shape sequence global_batch layout before after setting "
      "expects measured conditions added_by added_at score terms}"},
     {"verify",
      "proposal:o{title author mesh layout change devices reasoning claims citations "
      "trade_offs impact confidence verdict run}, assumed:a{key value why source}"},
     {"summarize",
      "file:s, bytes:n, ranks:a{rank steps steps_recorded collectives}, unread:a{file what "
      "count}"},
     {"emit-patch",
      "diff:s, by_hand:a{key wanted why file line}, left_out:a{key value why}, legal:b, "
      "violations:a{rule message nearest}"},
     {"compare-runs",
      "ours:o{name model cluster layout measured_s predicted_s}, theirs:o{name model "
      "cluster layout measured_s predicted_s}, slowdown:n, terms:a{name ours_s theirs_s "
      "longer_s}, assumed:a{key value why source}"}});

// Up to one of those characters, which is left.
std::string_view taken_until(std::string_view& text, std::string_view ends) {
  const std::size_t end = std::min(text.find_first_of(ends), text.size());
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(end);
  return taken;
}

std::vector<std::string_view> split_words(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    words.push_back(taken_until(text, " "));
    text.remove_prefix(std::min<std::size_t>(1, text.size()));
  }
  return words;
}

}  // namespace

std::vector<AnswerField> answer_fields(std::string_view document) {
  const auto* const row =
      std::ranges::find(kRows, document, &std::pair<std::string_view, std::string_view>::first);
  std::vector<AnswerField> fields;
  std::string_view text = row == kRows.end() ? std::string_view() : row->second;
  while (!text.empty()) {
    AnswerField field{.name = taken_until(text, ":")};
    text.remove_prefix(1);
    const std::string_view type = taken_until(text, "{,");
    field.type = type.empty() ? ' ' : type.front();
    if (text.starts_with('{')) {
      text.remove_prefix(1);
      field.members = split_words(taken_until(text, "}"));
      text.remove_prefix(1);
    }
    text.remove_prefix(std::min<std::size_t>(2, text.size()));  // ", "
    fields.push_back(std::move(field));
  }
  return fields;
}

}  // namespace sextant::explain
