// Whole models timed or weighed: train steps and memory of one device, rank compute and collectives
// of distributed PyTorch, steps of a small cluster.
#include <fmt/format.h>

#include "base/text.h"
#include "describe/assumption.h"
#include "describe/layout/framework_defaults.h"
#include "measured/row_tools.h"
#include "measured/single_device.h"
#include "measured/table_model.h"

namespace sextant::measured {

namespace {

using describe::Job;
using describe::Storage;

constexpr std::int64_t kMostPytorchRanks = 10'000'000;
constexpr std::int64_t kMostWorld = 1'000'000;

TableFamily family_of(Cells& cells) {
  const auto word = cells.word("family", {"llama", "gpt2", "qwen3"});
  if (word && *word == "gpt2") {
    return TableFamily::kGpt2;
  }
  return word && *word == "qwen3" ? TableFamily::kQwen3 : TableFamily::kLlama;
}

// Parameters, gradients and states in one format, updated in place.
void store_all_in(Storage storage, describe::Layout& layout) {
  layout.parameters = storage;
  layout.gradients = storage;
  layout.optimizer.master = Storage::kNone;
  layout.optimizer.first_moment = storage;
  layout.optimizer.second_moment = storage;
}

Result<Job> one_device_job(const TableContext& context, describe::Assumptions& assumed) {
  SEXTANT_TRY(TableDevice device, table_device(context));
  assumed.push_back(std::move(device.assumed));
  SEXTANT_TRY(const describe::Device* loaded, context.hardware.device(device.id));
  Job job;
  SEXTANT_TRY(job.cluster, context.hardware.cluster(1, *loaded));
  job.framework = describe::Framework::kAccelerate;
  return job;
}

void read_hf_layout(Cells& cells, describe::Layout& layout, bool& autocast) {
  const auto precision = cells.word("precision", {"bf16", "fp32", "amp", "fp16"});
  autocast = precision && *precision == "amp";
  const bool full = precision && (*precision == "fp32" || autocast);
  const bool half = precision && *precision == "fp16";
  const Storage stored = half ? Storage::kFp16 : Storage::kBf16;
  store_all_in(full ? Storage::kFp32 : stored, layout);
  layout.precision = describe::Precision::kBf16;
  if (precision && *precision == "fp32") {
    layout.precision = describe::Precision::kFp32;
  } else if (half) {
    layout.precision = describe::Precision::kFp16;
  }
  const auto recompute = cells.word("recompute", {"none", "full"});
  layout.recompute.granularity =
      recompute && *recompute == "full" ? describe::Recompute::kFull : describe::Recompute::kNone;
  const auto attention = cells.word("attention", {"sdpa", "flash", "eager", "math", "cudnn"});
  layout.attention = describe::parse_word<describe::AttentionKernel>(
                         describe::kAttentionKernelWords, attention.value_or("sdpa"), "", "")
                         .value_or(describe::AttentionKernel::kFlash);
  layout.launch = cells.flag("compile").value_or(false) ? describe::Launch::kCompiled
                                                        : describe::Launch::kEager;
  layout.mbs = cells.required_count("micro_batch");
}

Result<std::vector<Row>> hf_rows(Cells cells, const TableContext& context, TableKind kind,
                                 std::initializer_list<std::string_view> quantities) {
  TableShape shape;
  shape.name = std::string(cells.text("name"));
  shape.family = family_of(cells);
  shape.layers = cells.required_count("layers");
  shape.hidden = cells.required_count("hidden");
  shape.ffn = cells.required_count("ffn");
  shape.heads = cells.required_count("heads");
  shape.kv_heads = cells.required_count("kv_heads");
  shape.vocab = cells.required_count("vocab");
  shape.seq = cells.required_count("seq");
  shape.parameters = cells.count("params");
  check_shape(shape, cells);
  Row row = new_row(cells, context, kind);
  SEXTANT_TRY(Job job, one_device_job(context, row.assumed));
  SingleDeviceSubject subject;
  read_hf_layout(cells, job.layout, subject.autocast);
  std::vector<Row> rows = rows_of_quantities(cells, row, quantities);
  SEXTANT_CHECK_OK(cells.ok());
  job.model = table_model(shape);
  job.sequences.length = shape.seq;
  job.global_batch = job.layout.mbs;
  subject.optimizer_implementation = std::string(cells.text("optimizer"));
  subject.job = std::make_shared<const Job>(std::move(job));
  for (Row& out : rows) {
    out.subject = subject;
  }
  return rows;
}

// Tables that grow a batch until it fails say in `outcome` whether the row ran.
Result<std::vector<Row>> memory_rows(Cells cells, const TableContext& context) {
  const auto outcome = cells.word("outcome", {"ran", "oom"});
  SEXTANT_TRY(std::vector<Row> rows,
              hf_rows(std::move(cells), context, TableKind::kMemory,
                      {"peak_gib", "state_gib", "after_forward_gib", "reserved_gib"}));
  if (outcome && !rows.empty()) {
    Row fits = rows.front();
    fits.quantity = "fits";
    fits.measured = *outcome == "ran" ? 1.0 : 0.0;
    rows.push_back(std::move(fits));
  }
  return rows;
}

// "A-tp8sp-zero3-ckpt": the parts after the first hyphen, in PyTorch's words.
//   zero2, zero3   FSDP2 without or with resharding after forward (on the data-parallel mesh)
//   hsdpRxS        S ranks shard, R replicate
//   tpN, tpNsp     tensor parallel, with sequence parallelism
//   ckpt           full activation checkpointing; bf16reduce: gradients reduced in bf16; wN: world
// Unknown parts reject the cell.
void read_case(Cells& cells, Job& job) {
  const std::string name = to_lower(cells.text("case"));
  const std::vector<std::string_view> parts = split(name, '-');
  describe::Layout& layout = job.layout;
  layout.zero = describe::Zero::kNone;
  for (std::size_t at = 1; at < parts.size(); ++at) {
    const std::string_view part = parts[at];
    if (part == "zero3") {
      layout.zero = describe::Zero::kParameters;
    } else if (part == "zero2") {
      layout.zero = describe::Zero::kGradients;
      layout.reshard_after_forward = false;
    } else if (part.substr(0, 4) == "hsdp" && part.find('x') != std::string_view::npos) {
      layout.zero = describe::Zero::kParameters;
      layout.zero_group = to_integer(part.substr(part.find('x') + 1)).value_or(0);
    } else if (part.substr(0, 2) == "tp") {
      layout.sp = part.size() > 2 && part.substr(part.size() - 2) == "sp";
    } else if (part == "ckpt") {
      layout.recompute.granularity = describe::Recompute::kFull;
    } else if (part == "bf16reduce") {
      layout.gradients = Storage::kBf16;
    } else if (part.empty() || part.front() != 'w') {
      cells.reject(
          "case", "has a part that is not known",
          "zero2, zero3, hsdpRxS, tpN, tpNsp, ckpt, bf16reduce, wN after the first hyphen");
    }
  }
}

// The model of a table of distributed PyTorch: a Llama named after its case.
TableShape pytorch_shape(Cells& cells) {
  TableShape shape;
  shape.name = std::string(cells.text("case"));
  shape.layers = cells.required_count("layers");
  shape.hidden = cells.required_count("hidden");
  shape.ffn = cells.required_count("ffn");
  shape.heads = cells.required_count("heads");
  shape.kv_heads = cells.required_count("kv");
  shape.vocab = cells.required_count("vocab");
  shape.seq = cells.required_count("seq");
  check_shape(shape, cells);
  return shape;
}

Result<Job> pytorch_job(Cells& cells, const TableContext& context, describe::Assumptions& assumed) {
  const TableShape shape = pytorch_shape(cells);
  SEXTANT_TRY(Job job, one_device_job(context, assumed));
  job.framework = describe::Framework::kTorchtitan;
  job.layout.parameters = Storage::kBf16;  // the tables' convention: parameters bf16,
  job.layout.gradients = Storage::kFp32;   // gradients reduced in fp32
  job.layout.tp = cells.required_count("tp");
  job.layout.dp = cells.required_count("dp");
  job.layout.mbs = cells.required_count("mb");
  const std::int64_t world = cells.required_count("world");
  if (world < 1 || world > kMostPytorchRanks || job.layout.tp < 1 || job.layout.tp > world ||
      job.layout.dp < 1 || job.layout.dp > world) {
    cells.reject("world", "not tp times dp ranks", "1 to 10,000,000");
  }
  read_case(cells, job);
  SEXTANT_CHECK_OK(cells.ok());
  SEXTANT_TRY(job.cluster, context.hardware.cluster(world, job.cluster.device));
  job.model = table_model(shape);
  job.sequences.length = shape.seq;
  job.global_batch = job.layout.mbs * job.layout.dp;
  return job;
}

// Rank 0 of PyTorch's FSDP2 on a group that does not exist: fp32 shards, bf16 compute, gradients
// reduced in fp32, fused AdamW; torchtitan's model, its loss compiled where the layers are.
Result<std::vector<Row>> sharded_memory_rows(Cells cells, const TableContext& context) {
  const TableShape shape = pytorch_shape(cells);
  Row row = new_row(cells, context, TableKind::kShardedMemory);
  SEXTANT_TRY(Job job, one_device_job(context, row.assumed));
  job.framework = describe::Framework::kTorchtitan;
  describe::Layout& layout = job.layout;
  store_all_in(Storage::kFp32, layout);
  layout.zero = describe::Zero::kParameters;
  layout.reshard_after_forward = cells.flag("reshard").value_or(true);
  const auto recompute = cells.word("recompute", {"none", "full"});
  layout.recompute.granularity =
      recompute && *recompute == "full" ? describe::Recompute::kFull : describe::Recompute::kNone;
  if (cells.flag("compile").value_or(false)) {
    layout.launch = describe::Launch::kCompiled;
    layout.loss = describe::LossKernel::kFused;
  }
  layout.mbs = cells.required_count("mb");
  layout.dp = cells.required_count("world");
  if (layout.dp < 1 || layout.dp > kMostPytorchRanks || layout.mbs < 1) {
    cells.reject("world", "not a number of ranks", "1 to 10,000,000");
  }
  std::vector<Row> rows = rows_of_quantities(
      cells, row, {"peak_gib", "state_gib", "after_forward_gib", "reserved_gib"});
  SEXTANT_CHECK_OK(cells.ok());
  SEXTANT_TRY(job.cluster, context.hardware.cluster(layout.dp, job.cluster.device));
  job.model = table_model(shape);
  job.sequences.length = shape.seq;
  job.global_batch = layout.mbs * layout.dp;
  SingleDeviceSubject subject;
  subject.job = std::make_shared<const Job>(std::move(job));
  for (Row& out : rows) {
    out.subject = subject;
  }
  return rows;
}

Result<std::vector<Row>> rank_compute_rows(Cells cells, const TableContext& context) {
  Row row = new_row(cells, context, TableKind::kRankCompute);
  SEXTANT_TRY(Job job, pytorch_job(cells, context, row.assumed));
  row.subject = RankComputeSubject{std::make_shared<const Job>(std::move(job)),
                                   std::string(cells.text("case"))};
  std::vector<Row> rows = rows_of_quantities(cells, row, {"step_ms", "fwd_ms", "bwd_ms"});
  SEXTANT_CHECK_OK(cells.ok());
  return rows;
}

std::optional<CollectiveOp> op_of_call(std::string_view call) {
  if (contains(call, "reduce_scatter")) {
    return CollectiveOp::kReduceScatter;
  }
  if (contains(call, "allgather") || contains(call, "all_gather")) {
    return CollectiveOp::kAllGather;
  }
  if (contains(call, "allreduce") || contains(call, "all_reduce")) {
    return CollectiveOp::kAllReduce;
  }
  if (contains(call, "alltoall") || contains(call, "all_to_all")) {
    return CollectiveOp::kAllToAll;
  }
  return contains(call, "broadcast") ? std::optional(CollectiveOp::kBroadcast) : std::nullopt;
}

// The measured number is what the messages of the line carry in a step: count times the larger of
// input and output, the whole tensor of a gather or a scatter.
Result<Row> step_collective_row(Cells cells, const TableContext& context) {
  Row row = new_row(cells, context, TableKind::kStepCollectives);
  SEXTANT_TRY(Job job, pytorch_job(cells, context, row.assumed));
  StepCollectiveSubject subject;
  subject.name = std::string(cells.text("case"));
  subject.call = std::string(cells.text("op"));
  subject.functional = subject.call.substr(0, 2) == "f.";
  subject.group_size = cells.required_count("group_size");
  subject.input = Bytes(static_cast<double>(cells.required_count("in_bytes")));
  subject.output = Bytes(static_cast<double>(cells.required_count("out_bytes")));
  subject.dtype = std::string(cells.text("dtype"));
  subject.count = cells.required_count("count");
  const auto op = op_of_call(subject.call);
  if (!op) {
    cells.reject("op", "not a known collective",
                 "a name with all_reduce, all_gather, reduce_scatter, all_to_all or broadcast");
  }
  SEXTANT_CHECK_OK(cells.ok());
  subject.op = op.value_or(CollectiveOp::kAllReduce);
  row.quantity = "bytes";
  row.measured = static_cast<double>(subject.count) * std::max(subject.input, subject.output) / 1_B;
  subject.job = std::make_shared<const Job>(std::move(job));
  row.subject = std::move(subject);
  return row;
}

Result<Job> cluster_job(Cells& cells, const TableContext& context) {
  TableShape shape;
  shape.name = std::string(cells.text("model"));
  shape.family = TableFamily::kPlain;
  shape.layers = cells.required_count("layers");
  shape.hidden = cells.required_count("hidden");
  shape.ffn = cells.required_count("ffn");
  shape.heads = cells.required_count("heads");
  shape.kv_heads = shape.heads;
  shape.vocab = cells.required_count("vocab");
  shape.seq = cells.required_count("seq");
  check_shape(shape, cells);
  Job job;
  store_all_in(Storage::kFp32, job.layout);
  job.layout.precision = describe::Precision::kFp32;
  job.layout.attention = describe::AttentionKernel::kEager;
  job.layout.tp = cells.required_count("tp");
  job.layout.pp = cells.required_count("pp");
  job.layout.dp = cells.required_count("dp");
  job.layout.mbs = cells.required_count("micro_batch");
  job.layout.order = {describe::Axis::kTp, describe::Axis::kDp, describe::Axis::kPp,
                      describe::Axis::kCp, describe::Axis::kEp};
  job.global_batch = cells.required_count("global_batch");
  const std::int64_t world = cells.required_count("world");
  for (const std::int64_t size :
       {world, job.layout.tp, job.layout.pp, job.layout.dp, job.layout.mbs, job.global_batch}) {
    if (size < 1 || size > kMostWorld) {
      cells.reject("world", "a size out of range",
                   "world, tp, pp, dp and batches of 1 to 1,000,000");
    }
  }
  SEXTANT_CHECK_OK(cells.ok());
  SEXTANT_TRY(const describe::Device* host, context.hardware.device("cpu-host"));
  SEXTANT_TRY(job.cluster, context.hardware.cluster(world, *host));
  job.framework = describe::Framework::kOther;
  job.model = table_model(shape);
  job.sequences.length = shape.seq;
  return job;
}

Result<std::vector<Row>> cluster_step_rows(Cells cells, const TableContext& context) {
  Row row = new_row(cells, context, TableKind::kClusterSteps);
  SEXTANT_TRY(Job job, cluster_job(cells, context));
  row.layout_group =
      fmt::format("{}|{}|{}|s{}|b{}", context.path.parent_path().string(), cells.text("model"),
                  cells.text("world"), cells.text("seq"), cells.text("global_batch"));
  row.assumed = {
      {"device", "cpu-host", "not stated", {}},
      {"blocks", "plain", "LayerNorm, two feed-forward matrices, no biases, untied head", {}}};
  ClusterStepSubject subject;
  subject.threads = cells.required_count("threads");
  const std::filesystem::path bench = context.path.parent_path() / "bench.csv";
  std::error_code error;
  if (std::filesystem::is_regular_file(bench, error)) {
    subject.bench = bench;
  }
  subject.job = std::make_shared<const Job>(std::move(job));
  row.subject = std::move(subject);
  std::vector<Row> rows = rows_of_quantities(cells, row, {"step_ms"});
  SEXTANT_CHECK_OK(cells.ok());
  return rows;
}

}  // namespace

Result<std::vector<Row>> read_memory(const CsvTable& table, TableContext& context) {
  return read_many_rows(table, context, memory_rows);
}

Result<std::vector<Row>> read_sharded_memory(const CsvTable& table, TableContext& context) {
  return read_many_rows(table, context, sharded_memory_rows);
}

Result<std::vector<Row>> read_train_steps(const CsvTable& table, TableContext& context) {
  return read_many_rows(table, context, [](Cells cells, const TableContext& where) {
    return hf_rows(std::move(cells), where, TableKind::kTrainSteps,
                   {"step_ms_median", "fwd_ms", "bwd_ms", "opt_ms"});
  });
}

Result<std::vector<Row>> read_rank_compute(const CsvTable& table, TableContext& context) {
  return read_many_rows(table, context, rank_compute_rows);
}

Result<std::vector<Row>> read_step_collectives(const CsvTable& table, TableContext& context) {
  return read_rows(table, context, step_collective_row);
}

Result<std::vector<Row>> read_cluster_steps(const CsvTable& table, TableContext& context) {
  return read_many_rows(table, context, cluster_step_rows);
}

}  // namespace sextant::measured
