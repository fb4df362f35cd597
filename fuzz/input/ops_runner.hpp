// Runs a fuzzer's input as a trace on one implementation, in lockstep with the reference machine.
//
// Byte 0 says how the rest is read: even, as records of ops (fuzz/input/op_records.hpp), odd, as choices of the
// generator (fuzz/input/byte_choices.hpp). Byte 1 is the pool's variant. An op that breaks the protocol is mended, or
// left out when no part of it can stand, so every input is a trace that keeps the protocol.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fuzz/input/pool_kind.hpp"
#include "impl/registry.hpp"
#include "model/machine.hpp"
#include "model/ops.hpp"
#include "props/lockstep.hpp"
#include "props/state_features.hpp"

namespace poolproof {

inline constexpr std::size_t ops_header_bytes = 2;
/// Ops of an input at most; what is behind them is not looked at.
inline constexpr std::size_t most_input_ops = 48;
/// An input of so many bytes holds that many records.
inline constexpr std::size_t most_ops_bytes = ops_header_bytes + most_input_ops * 8;

enum class InputForm : std::uint8_t { records, choices };
inline InputForm input_form(std::uint8_t header) { return header % 2 == 0 ? InputForm::records : InputForm::choices; }

/// The trace as an input of records on the variant that is most like its pool; nothing where there is none. Ops that
/// records cannot say are left out.
std::optional<std::vector<std::uint8_t>> input_of_trace(const Trace& trace);

class OpsRunner {
 public:
  /// Where features go that an execution reaches; called after each op.
  using Sink = std::function<void(const StateFeatures::Reached&)>;

  /// `impl` outlives it.
  OpsRunner(PoolKind kind, const ImplInfo& impl) : kind_(kind), impl_(impl) {}

  /// What it found: an allocator's fault, one of ours (the generator broke the protocol), or nothing. An input on a
  /// pool that the implementation does not take is nothing.
  std::optional<Verdict> run(std::span<const std::uint8_t> input, const Sink& reached);
  /// The same input as the trace of the ops that are run, up to the failing one.
  Trace trace_of(std::span<const std::uint8_t> input);

 private:
  class Run;
  std::optional<Verdict> run(std::span<const std::uint8_t> input, const Sink& reached, std::vector<Op>* executed);
  std::unique_ptr<Allocator> fresh(std::uint8_t number, const Geometry& geometry);

  PoolKind kind_;
  const ImplInfo& impl_;
  Machine machine_{pool_variant(PoolKind::token, 0)};
  StateFeatures features_;
  /// By variant: as built; each execution has a copy.
  std::array<std::unique_ptr<Allocator>, pool_variants> built_{};
};

}  // namespace poolproof
