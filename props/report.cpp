#include "props/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <vector>

#include "impl/bridge/shell_word.hpp"
#include "model/trace_text.hpp"
#include "props/wrapped.hpp"

namespace poolproof {
namespace {

constexpr std::size_t text_width = 110;
/// Traces of up to this many ops are shown whole and come with a test to paste.
constexpr std::size_t whole_trace_ops = 60;
/// Of a page's life the newest events.
constexpr std::size_t most_events = 12;
/// Of a longer trace: ops before the failing op, and ops around the other one.
constexpr std::size_t ops_before_failure = 24;
constexpr std::size_t ops_around_other = 2;

enum class Style : std::uint8_t { fault, collision, label, strong, command };

class Paint {
 public:
  explicit Paint(bool on) : on_(on) {}

  [[nodiscard]] std::string operator()(Style style, std::string_view text) const {
    return on_ ? fmt::format("\x1b[{}m{}\x1b[0m", code(style), text) : std::string(text);
  }

 private:
  static std::string_view code(Style style) {
    switch (style) {
      case Style::fault:
        return "1;31";
      case Style::collision:
        return "33";
      case Style::label:
        return "2";
      case Style::strong:
        return "1";
      case Style::command:
        return "1;36";
    }
    return "0";
  }

  bool on_;
};

std::string padded(std::string_view text, std::size_t width) { return fmt::format("{:<{}}", text, width); }

/// "  label     text", wrapped under itself.
void labelled(std::string& out, const Paint& paint, std::string_view label, std::string_view text) {
  constexpr std::size_t label_width = 10;
  std::string head = paint(Style::label, padded(label, label_width));
  for (const std::string& line : wrapped(text, text_width - label_width - 2)) {
    out += fmt::format("  {}{}\n", head, line);
    head = std::string(label_width, ' ');
  }
}

/// " --ranks N" where there are several.
std::string ranks_flag(const FailureView& view) {
  return view.ranks > 1 ? fmt::format(" --ranks {}", view.ranks) : std::string();
}

/// "--impl NAME --ranks N", for a shell.
std::string impl_flags(const FailureView& view) {
  return fmt::format("--impl {}{}", shell_word(view.impl), ranks_flag(view));
}

/// "file:line", "line 7" or nothing.
std::string place_of(const FailureView& view, OpIndex op) {
  const auto& lines = view.trace->lines;
  if (op == 0 || op > lines.size() || lines[op - 1] == 0) {
    return {};
  }
  return view.trace_file.empty() ? fmt::format("line {}", lines[op - 1])
                                 : fmt::format("{}:{}", view.trace_file, lines[op - 1]);
}

std::string heading(const FailureView& view, const Paint& paint) {
  const Verdict& verdict = *view.verdict;
  const std::string_view id = cause_id(verdict.cause);
  const auto fault = [&](std::string_view text) { return paint(Style::fault, text); };
  if (verdict.broke_down()) {
    return fmt::format("{}: the call keeps the protocol, and the implementation broke down over it (--impl {}{})",
                       fault(id), view.impl, ranks_flag(view));
  }
  if (verdict.allocator_fault()) {
    return fmt::format("{}: the allocator's fault (--impl {}{})", fault(fmt::format("{} violated", id)), view.impl,
                       ranks_flag(view));
  }
  if (verdict.caller_fault()) {
    return fmt::format("{}: the caller's fault; the allocator was not called for this op",
                       fault(fmt::format("{} broken", id)));
  }
  if (std::holds_alternative<ExpectationFault>(verdict.cause)) {
    return fmt::format("{}: the trace expects what no allocator may answer here", fault("expectation not met"));
  }
  return fmt::format("{}: it could not perform the call", fault(fmt::format("implementation {} failed", view.impl)));
}

void op_line(std::string& out, const Paint& paint, const FailureView& view, OpIndex op, std::string_view role) {
  const std::string place = place_of(view, op);
  labelled(out, paint, op == 0 ? "at" : fmt::format("op {}", op),
           fmt::format("{}   ({}{}{})", op_text(*view.trace, op), role, place.empty() ? "" : ", ", place));
}

std::string_view failing_role(const Verdict& verdict) {
  if (verdict.allocator_fault()) {
    return "the first broken link";
  }
  return verdict.caller_fault() ? "breaks the rule" : "here";
}

void facts(std::string& out, const Paint& paint, const FailureView& view) {
  const Verdict& verdict = *view.verdict;
  op_line(out, paint, view, verdict.op, failing_role(verdict));
  if (verdict.other_op != 0 && verdict.other_op != verdict.op) {
    op_line(out, paint, view, verdict.other_op, "the op that it collides with");
  }
  labelled(out, paint, "what", verdict.what);
  if (!verdict.expected.empty()) {
    labelled(out, paint, "expected", verdict.expected);
  }
  if (!verdict.seen.empty()) {
    labelled(out, paint, "seen", verdict.seen);
  }
}

void histories(std::string& out, const Paint& paint, const Verdict& verdict) {
  for (const PageHistory& history : verdict.histories) {
    out += fmt::format("\n  {}\n", paint(Style::strong, "page " + page_name(history.pool, history.page)));
    const std::size_t earlier = history.events.size() - std::min(history.events.size(), most_events);
    if (earlier > 0) {
      out += fmt::format("    ... {} earlier event{}\n", earlier, earlier == 1 ? "" : "s");
    }
    for (std::size_t i = earlier; i < history.events.size(); ++i) {
      for (const std::string& line : wrapped(history.events[i], text_width - 4)) {
        out += fmt::format("    {}\n", line);
      }
    }
    if (history.events.empty()) {
      out += "    never lent\n";
    }
  }
}

/// Is op `op` (from 1) among those shown?
bool shown(const Verdict& verdict, std::size_t count, std::size_t op) {
  if (count <= whole_trace_ops) {
    return true;
  }
  const auto near = [op](std::size_t center, std::size_t before, std::size_t after) {
    return op + before >= center && op <= center + after;
  };
  const std::size_t other = verdict.other_op;
  return near(verdict.op, ops_before_failure, ops_around_other) ||
         (other != 0 && near(other, ops_around_other, ops_around_other));
}

void elision(std::string& out, std::size_t skipped) {
  if (skipped > 0) {
    out += fmt::format("          ... {} op{} left out\n", skipped, skipped == 1 ? "" : "s");
  }
}

/// The ops as the trace's text has them, one a line.
std::vector<std::string> op_lines(const Trace& trace) {
  const std::string text = print_trace({trace.geometry, trace.ops, {}});
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  // The header comes first.
  lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(std::min(lines.size(), trace.ops.size())));
  return lines;
}

void trace_op(std::string& out, const Paint& paint, const Verdict& verdict, std::size_t op, const std::string& text) {
  if (op == verdict.op) {
    out += paint(Style::fault, fmt::format("  --> {:>3}  {}   <-- {}", op, text, cause_id(verdict.cause))) + "\n";
  } else if (op == verdict.other_op) {
    out += paint(Style::collision, fmt::format("    * {:>3}  {}", op, text)) + "\n";
  } else {
    out += fmt::format("      {:>3}  {}\n", op, text);
  }
}

void trace_listing(std::string& out, const Paint& paint, const FailureView& view) {
  const std::vector<std::string> lines = op_lines(*view.trace);
  out += fmt::format("\n  {}{}{}\n",
                     paint(Style::strong, fmt::format("trace, {} op{}", lines.size(), lines.size() == 1 ? "" : "s")),
                     view.note.empty() ? "" : ", ", view.note);
  out += fmt::format("           pool {}\n", to_string(view.trace->geometry));
  std::size_t skipped = 0;
  for (std::size_t op = 1; op <= lines.size(); ++op) {
    if (shown(*view.verdict, lines.size(), op)) {
      elision(out, skipped);
      skipped = 0;
      trace_op(out, paint, *view.verdict, op, lines[op - 1]);
    } else {
      ++skipped;
    }
  }
  elision(out, skipped);
}

void to_paste(std::string& out, const Paint& paint, const FailureView& view) {
  if (!view.trace_file.empty()) {
    out += fmt::format("\n  {}\n    {}\n", paint(Style::strong, "replay it"), paint(Style::command, replay_line(view)));
  }
  if (!view.verdict->allocator_fault()) {
    return;
  }
  if (view.trace->ops.size() > whole_trace_ops) {
    out +=
        fmt::format("\n  {}\n    {}\n", paint(Style::strong, "shrink it to the ops that matter"),
                    paint(Style::command, fmt::format("poolproof shrink {} {} -o small.trace",
                                                      shell_word(view.trace_file.empty() ? "TRACE" : view.trace_file),
                                                      impl_flags(view))));
    return;
  }
  if (view.snippet) {
    out += fmt::format("\n  {}\n", paint(Style::strong, "keep it: a GoogleTest that holds once the bug is fixed"));
    out += "\n" + gtest_snippet(view);
  }
}

/// "B15-group-end", "RING_POOL_IDLE" -> "B15GroupEndRingPoolIdle": a legal C++ name without underscores.
std::string test_name(std::string_view impl, std::string_view id) {
  std::string name;
  bool start = true;
  for (const char raw : fmt::format("{} {}", impl, id)) {
    const auto c = static_cast<unsigned char>(raw);
    if (std::isalnum(c) == 0) {
      start = true;
      continue;
    }
    const bool shout = std::isupper(c) != 0 && !start;
    name += static_cast<char>(start ? std::toupper(c) : (shout ? std::tolower(c) : c));
    start = false;
  }
  return name;
}

}  // namespace

std::string page_name(Pool pool, Page page) { return fmt::format("{}:{}", pool == Pool::full ? 'F' : 'S', page); }

std::string op_text(const Trace& trace, OpIndex op) {
  if (op == 0) {
    return "construction, before the first op";
  }
  if (op > trace.ops.size()) {
    return "the end of the trace";
  }
  return print_op(trace.ops[op - 1], trace.geometry);
}

std::string replay_line(const FailureView& view) {
  return fmt::format("poolproof replay {} {}", shell_word(view.trace_file.empty() ? "TRACE" : view.trace_file),
                     impl_flags(view));
}

std::string gtest_snippet(const FailureView& view) {
  Trace trace{view.trace->geometry, view.trace->ops, {}};
  return fmt::format(
      "#include <gtest/gtest.h>\n"
      "#include <poolproof/props/testing.hpp>\n"
      "\n"
      "TEST(PoolRegression, {}) {{\n"
      "  EXPECT_TRUE(poolproof::holds(\"{}\", R\"trace({})trace\"{}));\n"
      "}}\n",
      test_name(view.impl, cause_id(view.verdict->cause)), view.impl, print_trace(trace),
      view.ranks > 1 ? fmt::format(", {}", view.ranks) : std::string());
}

std::string explain_failure(const FailureView& view, bool color) {
  const Paint paint(color);
  std::string out = heading(view, paint) + "\n";
  for (const std::string& line : wrapped(cause_statement(view.verdict->cause), text_width - 2)) {
    out += fmt::format("  {}\n", line);
  }
  out += "\n";
  facts(out, paint, view);
  histories(out, paint, *view.verdict);
  trace_listing(out, paint, view);
  to_paste(out, paint, view);
  return out;
}

}  // namespace poolproof
