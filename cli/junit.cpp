#include "cli/junit.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace poolproof::cli {
namespace {

/// As XML text or attribute. Bytes that XML 1.0 cannot hold, and what is not ASCII, become '?'.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\n':
        out += "&#10;";
        break;
      case '\t':
        out += "&#9;";
        break;
      default:
        out += c >= ' ' && c <= '~' ? c : '?';
    }
  }
  return out;
}

std::string outcome(const ImplRow& row) {
  switch (row.standing) {
    case Standing::holds:
      return {};
    case Standing::not_run:
      return "    <skipped message=\"interrupted before its first trace\"/>\n";
    case Standing::could_not_run:
      return fmt::format("    <error message=\"{}\"/>\n", escaped(row.error));
    case Standing::violated:
      break;
  }
  const Verdict& verdict = row.failure->verdict;
  return fmt::format("    <failure type=\"{}\" message=\"{}\">{}</failure>\n", cause_id(verdict.cause),
                     escaped(verdict.what), escaped(explain_failure(row.failure->view(), false)));
}

std::size_t count(const Summary& summary, Standing standing) {
  return static_cast<std::size_t>(std::count_if(summary.rows.begin(), summary.rows.end(),
                                                [&](const ImplRow& row) { return row.standing == standing; }));
}

/// The canary's own test case: a campaign that misses it proves nothing.
std::string canary_case(const Summary& summary) {
  if (!summary.campaign) {
    return {};
  }
  return summary.canary_caught ? "  <testcase classname=\"poolproof.check\" name=\"canary\" time=\"0\"/>\n"
                               : fmt::format(
                                     "  <testcase classname=\"poolproof.check\" name=\"canary\" time=\"0\">\n"
                                     "    <error message=\"{}\"/>\n  </testcase>\n",
                                     escaped("the canary was not caught: " + summary.canary_says));
}

}  // namespace

std::string to_junit(const Summary& summary) {
  const bool canary_missed = summary.campaign && !summary.canary_caught;
  double seconds = 0;
  for (const ImplRow& row : summary.rows) {
    seconds += row.seconds;
  }
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  out += fmt::format(
      "<testsuite name=\"poolproof {}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{:.3f}\">\n",
      summary.command, summary.rows.size() + (summary.campaign ? 1 : 0), count(summary, Standing::violated),
      count(summary, Standing::could_not_run) + (canary_missed ? 1 : 0), count(summary, Standing::not_run), seconds);
  out += canary_case(summary);
  for (const ImplRow& row : summary.rows) {
    const std::string inner = outcome(row);
    out += fmt::format("  <testcase classname=\"poolproof.{}\" name=\"{}\" time=\"{:.3f}\"", summary.command,
                       escaped(row.impl), row.seconds);
    out += inner.empty() ? "/>\n" : fmt::format(">\n{}  </testcase>\n", inner);
  }
  return out + "</testsuite>\n";
}

}  // namespace poolproof::cli
