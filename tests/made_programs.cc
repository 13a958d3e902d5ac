#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>

#include "made_fault.h"
#include "made_rank.h"
#include "schedule/generate.h"
#include "workload/groups.h"

namespace sextant::tests {
namespace {

using workload::GroupKind;

constexpr int kSendStream = 40;     // forward; 48: backward
constexpr int kReceiveStream = 44;  // forward; 52: backward

int stream_of(GroupKind group, CollectiveOp op) {
  constexpr std::array<std::pair<GroupKind, int>, 4> kStreams{
      {{GroupKind::kTp, 20}, {GroupKind::kCp, 24}, {GroupKind::kEp, 28}, {GroupKind::kWorld, 56}}};
  const auto known = std::ranges::find(kStreams, group, &std::pair<GroupKind, int>::first);
  return known != kStreams.end() ? known->second : op == CollectiveOp::kAllGather ? 32 : 36;
}

// One step of one rank.
class StepWriter {
 public:
  StepWriter(const MadeJob& job, const MadePlan& plan, const MadeFault& fault, MadeRun& run,
             Meetings& meetings, int rank)
      : job_(job),
        plan_(plan),
        fault_(fault),
        meetings_(meetings),
        shard_(workload::shard_of(job.job)),
        grid_(job.job.layout, shard_),
        place_(grid_.coordinates(rank)),
        writer_(run, meetings, plan, rank),
        rank_(rank),
        is_pipeline_(job.job.layout.pp > 1),
        is_fsdp_(job.job.framework == describe::Framework::kTorchtitan),
        forward_(plan.folds ? folded(job.forward) : job.forward),
        backward_(plan.folds ? folded(job.backward) : job.backward) {
    const Hiding hiding{.experts = plan.hides_experts && fault.kind != FaultKind::kExposedEp,
                        .tensor = fault.kind != FaultKind::kExposedTp,
                        .context = fault.kind != FaultKind::kExposedCp};
    items_forward_ = items_of(forward_, hiding);
    items_backward_ = items_of(backward_, hiding);
    set_speeds();
  }

  void write(int step) {
    writer_.begin_step(step);
    writer_.open("user_annotation", "ProfilerStep#" + std::to_string(step + 10));
    load();
    chains_.assign(2, Chain());
    begin_parameters();
    if (is_pipeline_) {
      write_pipeline();
    } else if (items_yield()) {
      for (int i = 0; i < microbatches(); i += 2) {
        write_pair(i);
      }
    } else {
      for (int i = 0; i < microbatches(); ++i) {
        collect_garbage(i);
        write_pass(i, false);
        write_pass(i, true);
      }
    }
    end_step();
    writer_.close();
  }

 private:
  [[nodiscard]] bool is(FaultKind kind) const { return fault_.kind == kind; }
  [[nodiscard]] bool is_here(FaultKind kind) const { return is(kind) && fault_.rank == rank_; }
  [[nodiscard]] int microbatches() const {
    return is(FaultKind::kPipelineBubble) ? static_cast<int>(fault_.size) : plan_.microbatches;
  }
  [[nodiscard]] double layers() const { return plan_.layers; }
  [[nodiscard]] Seconds ideal_step() const {
    return (job_.forward.compute() + job_.backward.compute()) * (layers() * plan_.microbatches);
  }
  [[nodiscard]] bool items_yield() const {
    return std::ranges::any_of(items_forward_, [](const Item& item) { return item.yields; });
  }

  static std::ptrdiff_t launched(const std::vector<Item>& items) {
    return std::ranges::count_if(items,
                                 [](const Item& item) { return item.kind != ItemKind::kJoin; });
  }

  void set_speeds() {
    if (is_here(FaultKind::kSlowWorker) ||
        (is(FaultKind::kStageImbalance) && place_.pp + 1 == job_.job.layout.pp)) {
      writer_.slower = fault_.size;
    }
    const double load = is(FaultKind::kLaunchBound) || is_here(FaultKind::kStarvedHost)
                            ? fault_.size
                            : plan_.host_load;
    if (load > 0.0) {
      const double launches =
          layers() * plan_.microbatches *
          static_cast<double>(launched(items_forward_) + launched(items_backward_));
      writer_.launch_takes = ideal_step() * (load / launches);
    }
  }

  void load() {
    Seconds takes = 150_us;
    if (is(FaultKind::kInputBound) || is_here(FaultKind::kLateData)) {
      takes += ideal_step() *
               (fault_.size * (1.0 + 0.1 * noise_of(plan_.seed, {2, rank_, writer_.step()})));
    }
    writer_.pause("user_annotation",
                  "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", takes);
    writer_.copy("Memcpy HtoD (Pinned -> Device)", 131'072, 9_us);
  }

  void collect_garbage(int microbatch) {
    if (!is(FaultKind::kPythonGc) || microbatch != microbatches() / 2) {
      return;
    }
    const auto world = static_cast<double>(grid_.world());
    const int whose = static_cast<int>(uniform_of(plan_.seed, {3, writer_.step()}) * world);
    if (whose == rank_) {
      writer_.pause("python_function", "Python GC", ideal_step() * fault_.size);
    }
  }

  std::vector<int> members(GroupKind kind) const {
    const workload::RankGroup group = grid_.group(kind, rank_);
    std::vector<int> ranks;
    for (std::int64_t i = 0; i < group.size(); ++i) {
      ranks.push_back(static_cast<int>(group.rank(i)));
    }
    std::ranges::sort(ranks);
    return ranks;
  }

  MadeCollective collective_of(const workload::Collective& what, Seconds takes) {
    MadeCollective made;
    const GroupKind kind = what.group == GroupKind::kTpEp ? GroupKind::kEp : what.group;
    made.members = members(kind);
    made.group = meetings_.group(kind, made.members);
    made.op = what.op;
    const std::int64_t element = what.dtype == "float32" ? 4 : 2;
    made.element = what.dtype == "float32" ? "Float" : "BFloat16";
    made.in_elements = what.input_bytes / element;
    made.out_elements = what.output_bytes / element;
    made.transfer = takes;
    return made;
  }

  // How much longer messages of a kind take by the fault.
  [[nodiscard]] double stretch(GroupKind group) const {
    const bool is_slow = (group == GroupKind::kTp && is(FaultKind::kExposedTp)) ||
                         (group == GroupKind::kCp && is(FaultKind::kExposedCp)) ||
                         (group == GroupKind::kEp && is(FaultKind::kExposedEp)) ||
                         (group == GroupKind::kShard && is(FaultKind::kExposedDp));
    return is_slow ? fault_.size : 1.0;
  }

  std::size_t send(Chain& chain, const MadeMessage& message) {
    MadeCollective made = collective_of(message.what, message.takes * stretch(message.what.group));
    if (is(FaultKind::kExpertImbalance) && message.what.group == GroupKind::kEp) {
      made.transfer *= fault_.size;
      if (fault_.rank == rank_) {
        made.in_elements =
            static_cast<std::int64_t>(static_cast<double>(made.in_elements) * fault_.size);
        made.out_elements = made.in_elements;
      }
    }
    return writer_.collective(chain, stream_of(message.what.group, message.what.op), made);
  }

  // --- passes ---

  // How much longer than the mean the attention of a microbatch of a replica is: evenly spread in
  // its logarithm, with a mean of one.
  [[nodiscard]] double attention_of(std::int64_t replica, int microbatch) const {
    const double most = std::log(fault_.size);
    const double at = 2.0 * uniform_of(plan_.seed, {4, replica, writer_.step(), microbatch}) - 1.0;
    return std::exp(at * most) / (std::sinh(most) / most);
  }

  [[nodiscard]] double attention_share(int microbatch) const {
    if (!is(FaultKind::kSequenceImbalance)) {
      return 1.0;
    }
    if (!fault_.is_mended) {
      return attention_of(place_.dp, microbatch);
    }
    const std::int64_t replicas = job_.job.dp();
    double sum = 0.0;
    for (std::int64_t replica = 0; replica < replicas; ++replica) {
      for (int i = 0; i < microbatches(); ++i) {
        sum += attention_of(replica, i);
      }
    }
    return sum / static_cast<double>(replicas * microbatches());
  }

  [[nodiscard]] double share_of(const MadeKernel& kernel, int microbatch, bool is_backward) const {
    double share = kernel.is_attention ? attention_share(microbatch) : 1.0;
    if (kernel.is_expert && is(FaultKind::kExpertImbalance)) {
      const double others = static_cast<double>(job_.job.layout.ep);
      share *= fault_.rank == rank_ ? fault_.size : (others - fault_.size) / (others - 1.0);
    }
    if (is_backward && is_here(FaultKind::kSlowBackward)) {
      share *= fault_.size;
    }
    return share;
  }

  // Plays items until the chain yields. False: it came to its end.
  bool play(const std::vector<Item>& items, std::size_t& at, Chain& chain, int microbatch,
            bool is_backward) {
    for (; at < items.size(); ++at) {
      const Item& item = items[at];
      if (item.kind == ItemKind::kKernel) {
        writer_.kernel(chain, item.kernel->name, item.kernel->takes,
                       item.share * share_of(*item.kernel, microbatch, is_backward));
      } else if (item.kind == ItemKind::kJoin) {
        chain.awaited.insert(chain.awaited.end(), chain.unclaimed.begin(), chain.unclaimed.end());
        chain.unclaimed.clear();
      } else {
        (item.waits ? chain.awaited : chain.unclaimed).push_back(send(chain, *item.message));
        if (item.yields) {
          ++at;
          return true;
        }
      }
    }
    return false;
  }

  void write_layer(Chain& chain, int microbatch, int layer, bool is_backward) {
    writer_.open("cpu_op", is_backward
                               ? "autograd::engine::evaluate_function: TransformerLayerBackward"
                               : "TransformerLayer");
    std::size_t at = 0;
    const std::vector<Item>& items = is_backward ? items_backward_ : items_forward_;
    before_layer(chain, microbatch, layer, is_backward);
    while (play(items, at, chain, microbatch, is_backward)) {
    }
    after_layer(chain, microbatch, layer, is_backward);
    writer_.close();
    if (is(FaultKind::kHostSync)) {
      writer_.wait(*chain.last);
      writer_.pause("", "", (is_backward ? job_.backward : job_.forward).compute() * fault_.size);
    }
  }

  void write_pass(int microbatch, bool is_backward) {
    for (int i = 0; i < plan_.layers; ++i) {
      write_layer(chains_[0], microbatch, is_backward ? plan_.layers - 1 - i : i, is_backward);
    }
  }

  // Two microbatches take turns where one's tokens are on their way.
  void write_pair(int first) {
    chains_[1] = chains_[0];
    for (const bool is_backward : {false, true}) {
      const std::vector<Item>& items = is_backward ? items_backward_ : items_forward_;
      for (int i = 0; i < plan_.layers; ++i) {
        before_layer(chains_[0], first, is_backward ? plan_.layers - 1 - i : i, is_backward);
        std::array<std::size_t, 2> at{};
        std::array<bool, 2> goes_on{true, true};
        for (std::size_t turn = 0; goes_on[0] || goes_on[1]; turn = 1 - turn) {
          const auto which = static_cast<int>(turn);
          goes_on[turn] =
              goes_on[turn] && play(items, at[turn], chains_[turn], first + which, is_backward);
        }
        after_layer(chains_[1], first + 1, is_backward ? plan_.layers - 1 - i : i, is_backward);
      }
    }
    chains_[0].awaited.insert(chains_[0].awaited.end(), chains_[1].awaited.begin(),
                              chains_[1].awaited.end());
    if (chains_[1].last) {
      chains_[0].awaited.push_back(*chains_[1].last);
    }
  }

  // --- data parallelism ---

  [[nodiscard]] const MadeMessage* data_message(std::string_view what, bool is_backward) const {
    const std::vector<MadeMessage>& all =
        is_fsdp_ ? (is_backward ? job_.backward : job_.forward).messages : job_.once;
    const auto found = std::ranges::find_if(all, [&](const MadeMessage& one) {
      return one.what.what == what && (!is_fsdp_ || one.times > 0.5);
    });
    return found == all.end() || grid_.group(GroupKind::kShard, rank_).size() < 2 ? nullptr
                                                                                  : &*found;
  }

  // Megatron sends buckets for all layers; a layer's share of them is one message here.
  std::size_t send_data(const Chain& chain, const MadeMessage& message) {
    const double buckets = is_fsdp_ ? 1.0 : message.times / static_cast<double>(job_.layers);
    MadeCollective made =
        collective_of(message.what, message.takes * (buckets * stretch(message.what.group)));
    made.in_elements = static_cast<std::int64_t>(static_cast<double>(made.in_elements) * buckets);
    made.out_elements = static_cast<std::int64_t>(static_cast<double>(made.out_elements) * buckets);
    return writer_.collective(chain, stream_of(message.what.group, message.what.op), made);
  }

  // Before the first forward: what of the parameters is gathered ahead.
  void begin_parameters() {
    gathered_.assign(static_cast<std::size_t>(plan_.layers), std::nullopt);
    const MadeMessage* parameters = data_message("parameters", false);
    if (is_fsdp_ || parameters == nullptr) {
      return;
    }
    for (auto& one : gathered_) {
      one = send_data(chains_[0], *parameters);
      if (is(FaultKind::kExposedDp)) {
        chains_[0].awaited.push_back(*one);
      }
    }
  }

  void before_layer(Chain& chain, int microbatch, int layer, bool is_backward) {
    const MadeMessage* parameters = data_message("parameters", is_backward);
    if (parameters == nullptr) {
      return;
    }
    const auto at = static_cast<std::size_t>(layer);
    if (!is_fsdp_) {
      if (gathered_[at] && microbatch == 0 && !is_backward) {
        chain.awaited.push_back(*gathered_[at]);
      }
      return;
    }
    if (!gathered_[at]) {
      gathered_[at] = send_data(chain, *parameters);
    }
    chain.awaited.push_back(*gathered_[at]);
    gathered_[at].reset();
    const int next = is_backward ? layer - 1 : layer + 1;
    if (next >= 0 && next < plan_.layers && !is(FaultKind::kExposedDp)) {
      gathered_[static_cast<std::size_t>(next)] = send_data(chain, *parameters);
    }
  }

  void after_layer(Chain& chain, int microbatch, int /*layer*/, bool is_backward) {
    const MadeMessage* gradients = data_message("gradients", true);
    if (gradients == nullptr || !is_backward || (!is_fsdp_ && microbatch + 1 < microbatches())) {
      return;
    }
    const std::size_t reduced = send_data(chain, *gradients);
    reduced_.push_back(reduced);
    if (is(FaultKind::kExposedDp)) {
      chain.awaited.push_back(reduced);
    }
  }

  // --- the pipeline ---

  MadeCollective between(int from, int to, bool is_backward) {
    MadeCollective made;
    const std::vector<int> ranks = members(GroupKind::kPipeline);
    made.group = meetings_.group(GroupKind::kPipeline, ranks);
    made.op = CollectiveOp::kSendReceive;
    made.members = {from, to};
    const double elements =
        static_cast<double>(job_.job.sequences.length) * static_cast<double>(job_.job.model.hidden);
    made.in_elements = static_cast<std::int64_t>(elements);
    made.out_elements = made.in_elements;
    made.transfer = job_.between;
    const bool is_slow = is(FaultKind::kExposedPp) || (is(FaultKind::kStragglingLink) &&
                                                       (fault_.rank == from || fault_.rank == to));
    made.transfer *= is_slow ? fault_.size : 1.0;
    (void)is_backward;
    return made;
  }

  [[nodiscard]] int neighbour(int by) const {
    return static_cast<int>(grid_.on_pipeline_rank(rank_, place_.pp + by));
  }
  [[nodiscard]] bool receives(bool is_backward) const {
    return is_backward ? place_.pp + 1 < job_.job.layout.pp : place_.pp > 0;
  }
  [[nodiscard]] bool sends(bool is_backward) const { return receives(!is_backward); }

  std::size_t receive(const Chain& chain, bool is_backward) {
    const int from = neighbour(is_backward ? 1 : -1);
    return writer_.collective(chain, kReceiveStream + (is_backward ? 8 : 0),
                              between(from, rank_, is_backward));
  }

  void write_pipeline() {
    const auto table = schedule::action_table(
        schedule::shape_of(job_.job.layout, static_cast<std::int64_t>(microbatches())));
    assert(table.has_value());
    const std::vector<schedule::Action>& actions =
        table->ranks[static_cast<std::size_t>(place_.pp)];
    Chain& chain = chains_[0];
    std::optional<std::size_t> posted;
    for (std::size_t i = 0; i < actions.size(); ++i) {
      const bool is_backward = actions[i].kind == schedule::ActionKind::kBackward;
      if (receives(is_backward)) {
        chain.awaited.push_back(posted ? *posted : receive(chain, is_backward));
      }
      posted.reset();
      if (i + 1 < actions.size() && !is(FaultKind::kExposedPp)) {
        const bool next = actions[i + 1].kind == schedule::ActionKind::kBackward;
        if (receives(next)) {
          posted = receive(chain, next);
        }
      }
      collect_garbage(actions[i].microbatch);
      write_pass(actions[i].microbatch, is_backward);
      if (sends(is_backward)) {
        const int to = neighbour(is_backward ? -1 : 1);
        const std::size_t sent = writer_.collective(chain, kSendStream + (is_backward ? 8 : 0),
                                                    between(rank_, to, is_backward));
        if (is(FaultKind::kExposedPp)) {
          chain.awaited.push_back(sent);
        }
      }
    }
  }

  // --- the end of a step ---

  void end_step() {
    Chain& chain = chains_[0];
    chain.awaited.insert(chain.awaited.end(), reduced_.begin(), reduced_.end());
    reduced_.clear();
    const auto norm = std::ranges::find_if(
        job_.once, [](const MadeMessage& one) { return one.what.group == GroupKind::kWorld; });
    writer_.kernel(
        chain, "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<L2NormFunctor>",
        job_.update * (0.1 * layers() / static_cast<double>(job_.layers)));
    if (norm != job_.once.end()) {
      chain.awaited.push_back(send(chain, *norm));
    }
    writer_.kernel(
        chain,
        "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<FusedAdamMathFunctor>",
        job_.update * (0.9 * layers() / static_cast<double>(job_.layers)));
    save_checkpoint(chain);
    const std::size_t done = *chain.last;
    if (plan_.reads_loss || before_) {
      writer_.wait(plan_.reads_loss ? done : *before_);
    }
    before_ = done;
  }

  void save_checkpoint(Chain& chain) {
    if (!is(FaultKind::kCheckpoint) || writer_.step() != 1) {
      return;
    }
    writer_.wait(*chain.last);
    writer_.open("python_function", "megatron/training/checkpointing.py(412): save_checkpoint");
    writer_.copy("Memcpy DtoH (Device -> Pinned)", 1'000'000'000, 20_ms);
    writer_.wait(writer_.last_work());
    writer_.pause("python_function", "torch/serialization.py(920): save",
                  ideal_step() * (fault_.size * (1.0 + 0.05 * noise_of(plan_.seed, {5, rank_}))));
    writer_.close();
  }

  const MadeJob& job_;
  const MadePlan& plan_;
  const MadeFault& fault_;
  Meetings& meetings_;
  workload::Shard shard_;
  workload::RankGrid grid_;
  workload::Coordinates place_;
  RankWriter writer_;
  int rank_ = 0;
  bool is_pipeline_ = false;
  bool is_fsdp_ = false;
  MadePass forward_;
  MadePass backward_;
  std::vector<Item> items_forward_;
  std::vector<Item> items_backward_;
  std::vector<Chain> chains_;
  std::vector<std::optional<std::size_t>> gathered_;  // by layer: parameters on their way
  std::vector<std::size_t> reduced_;
  std::optional<std::size_t> before_;  // the last work of the step before
};

}  // namespace

MadeRun made_run(const MadeJob& job, const MadePlan& plan, const MadeFault& fault) {
  MadeRun run;
  const auto world = static_cast<int>(job.job.cluster.devices);
  run.ranks.resize(static_cast<std::size_t>(world));
  Meetings meetings(run, plan, job.job.framework == describe::Framework::kTorchtitan);
  if (fault.kind == FaultKind::kSlowCollective) {
    // Of the tensor-parallel group of that rank, before anyone meets in it.
    const workload::Shard shard = workload::shard_of(job.job);
    const workload::RankGroup tp =
        workload::RankGrid(job.job.layout, shard).group(GroupKind::kTp, fault.rank);
    std::vector<int> ranks;
    for (std::int64_t i = 0; i < tp.size(); ++i) {
      ranks.push_back(static_cast<int>(tp.rank(i)));
    }
    std::ranges::sort(ranks);
    meetings.slow_down(meetings.group(GroupKind::kTp, ranks), fault.size);
  }
  for (int rank = 0; rank < world; ++rank) {
    MadeRank& one = run.ranks[static_cast<std::size_t>(rank)];
    one.clock_offset = plan.farthest_clock * (2.0 * uniform_of(plan.seed, {6, rank}) - 1.0);
    one.clock_drift = plan.most_drift * (2.0 * uniform_of(plan.seed, {7, rank}) - 1.0);
    StepWriter writer(job, plan, fault, run, meetings, rank);
    for (int step = 0; step < plan.steps; ++step) {
      writer.write(step);
    }
  }
  [[maybe_unused]] const bool ends = simulate(run);
  assert(ends);
  return run;
}

Seconds true_step(const MadeRun& run) {
  std::map<int, Seconds> ends;
  for (const MadeRank& rank : run.ranks) {
    for (const MadeWork& work : rank.works) {
      ends[work.step] = std::max(ends[work.step], work.end);
    }
  }
  const int last = ends.rbegin()->first;
  return (ends[last - 1] - ends[0]) / static_cast<double>(last - 1);
}

}  // namespace sextant::tests
