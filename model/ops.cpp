#include "model/ops.hpp"

#include "model/faults.hpp"

namespace poolproof {
namespace {

constexpr std::array<std::string_view, op_word_count> word_names = {"slot",
                                                                    "unslot",
                                                                    "alloc",
                                                                    "extend",
                                                                    "decode",
                                                                    "tail",
                                                                    "free",
                                                                    "free_swa",
                                                                    "free_full",
                                                                    "free_segment",
                                                                    "free_swa_segment",
                                                                    "free_full_segment",
                                                                    "copy",
                                                                    "drop",
                                                                    "trim",
                                                                    "remap",
                                                                    "unmap",
                                                                    "write",
                                                                    "read",
                                                                    "group_begin",
                                                                    "group_begin again",
                                                                    "group_end",
                                                                    "group_end again",
                                                                    "backup",
                                                                    "restore",
                                                                    "clear",
                                                                    "resize",
                                                                    "expect",
                                                                    "pause",
                                                                    "resume",
                                                                    "destroy",
                                                                    "build",
                                                                    "flush"};

/// `both` is followed by the words of the swa and the full side.
OpWord sided(OpWord both, Side side) {
  return static_cast<OpWord>(static_cast<std::size_t>(both) + static_cast<std::size_t>(side));
}

struct WordOf {
  OpWord operator()(const op::SlotTake& /*op*/) const { return OpWord::slot; }
  OpWord operator()(const op::SlotGive& /*op*/) const { return OpWord::unslot; }
  OpWord operator()(const op::Alloc& /*op*/) const { return OpWord::alloc; }
  OpWord operator()(const op::Extend& /*op*/) const { return OpWord::extend; }
  OpWord operator()(const op::Decode& /*op*/) const { return OpWord::decode; }
  OpWord operator()(const op::Tail& /*op*/) const { return OpWord::tail; }
  OpWord operator()(const op::Free& op) const { return sided(OpWord::free, op.side); }
  OpWord operator()(const op::FreeSegment& op) const { return sided(OpWord::free_segment, op.side); }
  OpWord operator()(const op::Copy& /*op*/) const { return OpWord::copy; }
  OpWord operator()(const op::Drop& /*op*/) const { return OpWord::drop; }
  OpWord operator()(const op::Trim& /*op*/) const { return OpWord::trim; }
  OpWord operator()(const op::Remap& /*op*/) const { return OpWord::remap; }
  OpWord operator()(const op::Unmap& /*op*/) const { return OpWord::unmap; }
  OpWord operator()(const op::Write& /*op*/) const { return OpWord::write; }
  OpWord operator()(const op::Read& /*op*/) const { return OpWord::read; }
  OpWord operator()(const op::GroupBegin& op) const {
    return op.again ? OpWord::group_begin_again : OpWord::group_begin;
  }
  OpWord operator()(const op::GroupEnd& op) const { return op.again ? OpWord::group_end_again : OpWord::group_end; }
  OpWord operator()(const op::Backup& /*op*/) const { return OpWord::backup; }
  OpWord operator()(const op::Restore& /*op*/) const { return OpWord::restore; }
  OpWord operator()(const op::Clear& /*op*/) const { return OpWord::clear; }
  OpWord operator()(const op::Resize& /*op*/) const { return OpWord::resize; }
  OpWord operator()(const op::Expect& /*op*/) const { return OpWord::expect; }
  OpWord operator()(const op::Pause& /*op*/) const { return OpWord::pause; }
  OpWord operator()(const op::Resume& /*op*/) const { return OpWord::resume; }
  OpWord operator()(const op::Destroy& /*op*/) const { return OpWord::destroy; }
  OpWord operator()(const op::Build& /*op*/) const { return OpWord::build; }
  OpWord operator()(const op::Flush& /*op*/) const { return OpWord::flush; }
};

}  // namespace

OpWord word_of(const Op& op) { return std::visit(WordOf{}, op); }

std::string_view op_word_name(OpWord word) { return word_names.at(static_cast<std::size_t>(word)); }

std::optional<std::string> op_fault(const Op& op, const Geometry& g) {
  auto found = find_op_fault(op, g);
  return found ? std::optional(std::move(found->message)) : std::nullopt;
}

}  // namespace poolproof
