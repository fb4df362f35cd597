// A trace as text. Printing is the parser's mirror: what it writes reads back as the same ops.
#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "model/trace_line.hpp"
#include "model/trace_text.hpp"

namespace poolproof {
namespace {

/// Longer comment lines are broken, so that no comment can exceed the line limit.
constexpr std::size_t longest_comment_line = 4096;

class OpPrinter {
 public:
  OpPrinter(std::string& out, const Geometry& g) : out_(out), page_(g.page) {}

  void print(const Op& op) {
    out_ += op_word_name(word_of(op));
    std::visit(*this, op);
  }

  void operator()(const op::SlotTake& op) { row(op.row); }
  void operator()(const op::SlotGive& op) { row(op.row); }
  void operator()(const op::Alloc& op) { piece(op.row, op.range); }
  void operator()(const op::Extend& op) { pieces(op.pieces); }
  void operator()(const op::Decode& op);
  void operator()(const op::Tail& op);
  void operator()(const op::Free& op) { pieces(op.pieces); }
  void operator()(const op::FreeSegment& op);
  void operator()(const op::Copy& op);
  void operator()(const op::Drop& op) { piece(op.row, op.range); }
  void operator()(const op::Trim& op);
  void operator()(const op::Remap& op);
  void operator()(const op::Unmap& op) { piece(op.row, op.range); }
  void operator()(const op::Write& op) { piece(op.row, op.range); }
  void operator()(const op::Read& op) { piece(op.row, op.range); }
  void operator()(const op::GroupBegin& /*op*/) {}
  void operator()(const op::GroupEnd& /*op*/) {}
  void operator()(const op::Backup& op) { numbered(" b", op.name); }
  void operator()(const op::Restore& op) { numbered(" b", op.name); }
  void operator()(const op::Clear& /*op*/) {}
  void operator()(const op::Resize& op);
  void operator()(const op::Expect& op);
  void operator()(const op::Pause& op) { tag(op.tag); }
  void operator()(const op::Resume& op) { tag(op.tag); }
  void operator()(const op::Destroy& /*op*/) {}
  void operator()(const op::Build& /*op*/) {}
  void operator()(const op::Flush& /*op*/) {}

 private:
  void number(std::int64_t value);
  void numbered(std::string_view before, std::int64_t value) {
    out_ += before;
    number(value);
  }
  void row(Row row) { numbered(" r", row); }
  void tag(MemoryTag tag) {
    out_ += ' ';
    out_ += memory_tag_name(tag);
  }
  void range(Range range) {
    number(range.begin);
    numbered("..", range.end);
  }
  void piece(Row piece_row, Range piece_range) {
    row(piece_row);
    out_ += ' ';
    range(piece_range);
  }
  void pieces(const std::vector<Piece>& pieces);
  void size(std::string_view before, Tokens tokens) {
    out_ += before;
    out_ += tokens_text(tokens, page_);
  }

  std::string& out_;
  Tokens page_;
};

void OpPrinter::number(std::int64_t value) {
  std::array<char, std::numeric_limits<std::int64_t>::digits10 + 2> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  out_.append(digits.data(), end);
}

void OpPrinter::pieces(const std::vector<Piece>& pieces) {
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (i > 0) {
      out_ += ',';
    }
    piece(pieces[i].row, pieces[i].range);
  }
}

void OpPrinter::operator()(const op::Decode& op) {
  for (std::size_t i = 0; i < op.rows.size(); ++i) {
    if (i > 0) {
      out_ += ',';
    }
    row(op.rows[i]);
  }
}

void OpPrinter::operator()(const op::Tail& op) {
  piece(op.row, op.range);
  out_ += " swa=";
  range(op.swa);
}

void OpPrinter::operator()(const op::FreeSegment& op) {
  row(op.row);
  for (std::size_t i = 0; i < op.ranges.size(); ++i) {
    out_ += i > 0 ? ", " : " ";
    range(op.ranges[i]);
  }
}

void OpPrinter::operator()(const op::Copy& op) {
  piece(op.to, op.range);
  out_ += " =";
  row(op.from);
}

void OpPrinter::operator()(const op::Trim& op) {
  row(op.row);
  numbered(" ", op.length);
}

void OpPrinter::operator()(const op::Remap& op) {
  piece(op.to, op.range);
  out_ += " <-";
  piece(op.from, {op.from_begin, op.from_begin + op.range.size()});
}

void OpPrinter::operator()(const op::Resize& op) {
  size(" full=", op.full);
  if (op.swa != 0) {
    size(" swa=", op.swa);
  }
}

void OpPrinter::operator()(const op::Expect& op) {
  if (op.full || op.swa) {
    out_ += " available";
  }
  if (op.full) {
    size(" full=", *op.full);
  }
  if (op.swa) {
    size(" swa=", *op.swa);
  }
  if (op.slots) {
    numbered(" slots ", *op.slots);
  }
  if (op.refused) {
    out_ += *op.refused ? " refused" : " served";
  }
}

bool begins_group(const Op& op) { return word_of(op) == OpWord::group_begin; }
bool ends_group(const Op& op) { return word_of(op) == OpWord::group_end; }

/// For each op: does it open or close a `group { ... }` block? Begins and ends that pair up do, down to the deepest
/// block that the parser takes.
std::vector<bool> block_ops(const std::vector<Op>& ops) {
  std::vector<bool> paired(ops.size(), false);
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    if (begins_group(ops[i])) {
      open.push_back(i);
    } else if (ends_group(ops[i]) && !open.empty()) {
      paired[open.back()] = true;
      paired[i] = true;
      open.pop_back();
    }
  }
  std::size_t depth = 0;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    if (!paired[i]) {
      continue;
    }
    depth -= ends_group(ops[i]) ? 1U : 0U;
    paired[i] = depth < deepest_group_block;
    depth += begins_group(ops[i]) ? 1U : 0U;
  }
  return paired;
}

void append_comment_line(std::string& out, std::string_view line) {
  do {
    out += line.empty() ? "#" : "# ";
    out += line.substr(0, longest_comment_line);
    out += '\n';
    line.remove_prefix(std::min(line.size(), longest_comment_line));
  } while (!line.empty());
}

void append_comment(std::string& out, std::string_view comment) {
  while (!comment.empty()) {
    const std::size_t end = std::min(comment.find('\n'), comment.size());
    append_comment_line(out, comment.substr(0, end));
    comment.remove_prefix(std::min(end + 1, comment.size()));
  }
}

void append_ops(std::string& out, const Trace& trace) {
  const std::vector<bool> block = block_ops(trace.ops);
  OpPrinter printer(out, trace.geometry);
  std::size_t depth = 0;
  for (std::size_t i = 0; i < trace.ops.size(); ++i) {
    const Op& op = trace.ops[i];
    const bool closes = block[i] && ends_group(op);
    depth -= closes ? 1U : 0U;
    out.append(depth * 2, ' ');
    if (!block[i]) {
      printer.print(op);
    } else {
      out += closes ? "}" : "group {";
      depth += closes ? 0U : 1U;
    }
    out += '\n';
  }
}

}  // namespace

std::string print_op(const Op& op, const Geometry& g) {
  std::string out;
  OpPrinter(out, g).print(op);
  return out;
}

std::string print_trace(const Trace& trace, std::string_view comment) {
  std::string out = "poolproof 1\n";
  append_comment(out, comment);
  out += "pool " + to_string(trace.geometry) + "\n";
  append_ops(out, trace);
  return out;
}

}  // namespace poolproof
