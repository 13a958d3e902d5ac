#include "search/baselines/intra_op.h"

#include <limits>

#include <coin/CbcModel.hpp>
#include <coin/OsiClpSolverInterface.hpp>

#include "base/integers.h"

namespace sextant::search {
namespace {

constexpr std::size_t kNone = SIZE_MAX;

struct Node {
  SplitCosts costs;
  double count = 1.0;
};
struct Edge {
  std::size_t from = 0;
  std::size_t into = 0;
  double count = 1.0;
};
struct Graph {
  std::vector<Node> nodes;
  std::vector<Edge> edges;
};

// The chain of groups, equal layers as one group of each kind.
class GraphOf {
 public:
  GraphOf(const GroupCosts& costs, const RunContent& content) {
    const std::size_t blocks = costs.blocks.size();
    enter_.assign(blocks, kNone);
    leave_.assign(blocks, kNone);
    for (std::size_t block = 0; block < blocks; ++block) {
      if (content.blocks[block] > 0) {
        add_block(block, costs.blocks[block], as_double(content.blocks[block]));
      }
    }
    for (const auto& [pair, count] : content.follows) {
      connect(leave_[static_cast<std::size_t>(pair.first)],
              enter_[static_cast<std::size_t>(pair.second)], as_double(count));
    }
    if (content.embedding) {
      connect(add({costs.embedding, 1.0}), enter_[static_cast<std::size_t>(content.first)], 1.0);
    }
    if (content.head) {
      connect(leave_[static_cast<std::size_t>(content.last)], add({costs.head, 1.0}), 1.0);
    }
  }
  [[nodiscard]] const Graph& graph() const { return graph_; }

 private:
  std::size_t add(const Node& node) {
    graph_.nodes.push_back(node);
    return graph_.nodes.size() - 1;
  }
  void connect(std::size_t from, std::size_t into, double count) {
    if (from != into && from != kNone && into != kNone) {
      graph_.edges.push_back({from, into, count});
    }
  }
  void add_block(std::size_t block, const GroupCosts::Layer& layer, double count) {
    if (layer.mixer) {
      enter_[block] = leave_[block] = add({*layer.mixer, count});
    }
    if (layer.ffn) {
      leave_[block] = add({*layer.ffn, count});
      if (layer.mixer) {
        connect(enter_[block], leave_[block], count);
      } else {
        enter_[block] = leave_[block];
      }
    }
  }

  Graph graph_;
  std::vector<std::size_t> enter_;  // node that a block begins with
  std::vector<std::size_t> leave_;
};

// Columns: node · ways + way, then for each edge ways · ways. Rows: one way a node; for each edge
// and way of either end, its products add up to the end's variable.
class Program {
 public:
  Program(const Graph& graph, const GroupCosts& costs) : graph_(graph) {
    add_nodes();
    add_edges(costs);
  }

  // The way of each node.
  [[nodiscard]] std::pair<std::vector<GroupSplit>, Seconds> solved() const {
    OsiClpSolverInterface solver;
    solver.messageHandler()->setLogLevel(0);
    const int columns = static_cast<int>(objective_.size());
    const CoinPackedMatrix matrix(false, rows_.data(), columns_.data(), values_.data(),
                                  static_cast<CoinBigIndex>(values_.size()));
    const std::vector<double> lower(objective_.size(), 0.0);
    solver.loadProblem(matrix, lower.data(), upper_.data(), objective_.data(), right_.data(),
                       right_.data());
    for (int i = 0; i < static_cast<int>(graph_.nodes.size() * kGroupSplits); ++i) {
      solver.setInteger(i);
    }
    solver.initialSolve();
    CbcModel model(solver);
    model.setLogLevel(0);
    model.branchAndBound();
    const double* best = model.bestSolution();
    std::vector<GroupSplit> ways(graph_.nodes.size(), GroupSplit::kTensor);
    if (best == nullptr || columns == 0) {
      return {ways, Seconds()};
    }
    for (std::size_t i = 0; i < graph_.nodes.size() * kGroupSplits; ++i) {
      constexpr double kHalf = 0.5;
      if (best[i] > kHalf) {
        ways[i / kGroupSplits] = static_cast<GroupSplit>(i % kGroupSplits);
      }
    }
    return {ways, Seconds(model.getObjValue())};
  }

 private:
  void set(int row, std::size_t column, double value) {
    rows_.push_back(row);
    columns_.push_back(static_cast<int>(column));
    values_.push_back(value);
  }
  int add_row(double right) {
    right_.push_back(right);
    return static_cast<int>(right_.size()) - 1;
  }

  void add_nodes() {
    for (const Node& node : graph_.nodes) {
      const int row = add_row(1.0);
      for (const std::optional<Seconds>& cost : node.costs) {
        set(row, objective_.size(), 1.0);
        objective_.push_back(cost ? cost->base() * node.count : 0.0);
        upper_.push_back(cost ? 1.0 : 0.0);
      }
    }
  }

  void add_edges(const GroupCosts& costs) {
    for (const Edge& edge : graph_.edges) {
      const std::size_t first = objective_.size();
      for (const auto& row : costs.resend) {
        for (const Seconds time : row) {
          objective_.push_back(time.base() * edge.count);
          upper_.push_back(1.0);
        }
      }
      for (std::size_t way = 0; way < kGroupSplits; ++way) {
        const int from = add_row(0.0);
        const int into = add_row(0.0);
        set(from, edge.from * kGroupSplits + way, -1.0);
        set(into, edge.into * kGroupSplits + way, -1.0);
        for (std::size_t other = 0; other < kGroupSplits; ++other) {
          set(from, first + way * kGroupSplits + other, 1.0);
          set(into, first + other * kGroupSplits + way, 1.0);
        }
      }
    }
  }

  const Graph& graph_;
  std::vector<double> objective_;
  std::vector<double> upper_;
  std::vector<double> right_;
  std::vector<int> rows_;
  std::vector<int> columns_;
  std::vector<double> values_;
};

}  // namespace

IntraOpPlan solve_intra_op(const GroupCosts& costs, const RunContent& content) {
  const GraphOf made(costs, content);
  const auto [ways, time] = Program(made.graph(), costs).solved();
  IntraOpPlan plan{true, time};
  for (const GroupSplit way : ways) {
    plan.all_by_tensor = plan.all_by_tensor && way == GroupSplit::kTensor;
  }
  return plan;
}

}  // namespace sextant::search
