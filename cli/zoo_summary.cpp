#include "cli/zoo_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/progress.hpp"
#include "cli/version.hpp"

namespace poolproof::cli {
namespace {

using Json = nlohmann::ordered_json;

/// Raised when a field changes its meaning or goes away.
constexpr int schema = 1;

std::string time_text(double seconds) {
  if (seconds < 0.001) {
    return fmt::format("{:.0f} us", seconds * 1e6);
  }
  return seconds < 1 ? fmt::format("{:.0f} ms", seconds * 1e3) : fmt::format("{:.1f} s", seconds);
}

/// "FREE_LIST_CLEAN", "3 of 5 SAVER_ZERO", "survives", "-".
std::string sight_text(const ZooCell& cell) {
  if (cell.runs == 0) {
    return "-";
  }
  if (cell.caught == 0) {
    return "survives";
  }
  return cell.caught == cell.runs ? cell.cause : fmt::format("{} of {} {}", cell.caught, cell.runs, cell.cause);
}

std::string effort_text(const ZooCell& cell) {
  return cell.caught == 0
             ? ""
             : fmt::format("{} ops, {}", short_number(static_cast<double>(cell.ops)), time_text(cell.seconds));
}

bool has(const ZooSummary& summary, ZooEngine engine) {
  return std::find(summary.engines.begin(), summary.engines.end(), engine) != summary.engines.end();
}

std::vector<std::string> heading(const ZooSummary& summary) {
  std::vector<std::string> cells{"fault", "source"};
  if (has(summary, ZooEngine::check)) {
    cells.insert(cells.end(), {"check", "until caught", "shrunk"});
  }
  if (has(summary, ZooEngine::simulate)) {
    cells.insert(cells.end(), {"simulate", "until caught"});
  }
  if (has(summary, ZooEngine::explorer)) {
    cells.insert(cells.end(), {"explorer", "shortest"});
  }
  if (has(summary, ZooEngine::corpus)) {
    cells.emplace_back("corpus");
  }
  return cells;
}

std::vector<std::string> line_of(const ZooRow& row, const ZooSummary& summary) {
  std::vector<std::string> cells{row.impl->name, row.impl->source};
  if (has(summary, ZooEngine::check)) {
    const ZooCell& check = row.cell(ZooEngine::check);
    cells.insert(cells.end(),
                 {sight_text(check), effort_text(check), check.caught == 0 ? "" : fmt::format("{}", row.shrunk_ops)});
  }
  if (has(summary, ZooEngine::simulate)) {
    const ZooCell& simulate = row.cell(ZooEngine::simulate);
    cells.insert(cells.end(), {sight_text(simulate), effort_text(simulate)});
  }
  if (has(summary, ZooEngine::explorer)) {
    const ZooCell& explorer = row.cell(ZooEngine::explorer);
    cells.insert(cells.end(), {sight_text(explorer), explorer.caught == 0 ? "" : fmt::format("{}", explorer.ops)});
  }
  if (has(summary, ZooEngine::corpus)) {
    cells.push_back(sight_text(row.cell(ZooEngine::corpus)));
  }
  return cells;
}

std::size_t caught_by(const ZooSummary& summary, ZooEngine engine) {
  return static_cast<std::size_t>(std::count_if(summary.rows.begin(), summary.rows.end(),
                                                [&](const ZooRow& row) { return row.cell(engine).caught > 0; }));
}

/// How near shrinking comes to the shortest traces.
std::string shrinking_text(const std::vector<ZooRow>& rows) {
  std::size_t known = 0;
  std::size_t reached = 0;
  std::int64_t most = 0;
  for (const ZooRow& row : rows) {
    if (const std::optional<std::int64_t> above = row.above_optimum()) {
      ++known;
      reached += *above <= 0 ? 1 : 0;
      most = std::max(most, *above);
    }
  }
  const std::string others =
      reached == known ? "" : fmt::format(", the others to {} more op{} at most", most, most == 1 ? "" : "s");
  return fmt::format("; {} of {} shrunk to the shortest trace{}", reached, known, others);
}

std::string closing(const ZooSummary& summary) {
  const std::size_t all = summary.rows.size();
  std::string text = fmt::format("{} of {} faults caught", all - survivors(summary.rows), all);
  for (const ZooEngine engine : summary.engines) {
    text += fmt::format("{} {} {}", engine == summary.engines.front() ? ":" : ",", zoo_engine_name(engine),
                        caught_by(summary, engine));
  }
  if (has(summary, ZooEngine::check) && has(summary, ZooEngine::explorer)) {
    text += shrinking_text(summary.rows);
  }
  return text + (summary.complete ? "" : "; interrupted, the rest was not run");
}

Json cell_json(const ZooCell& cell) {
  if (cell.runs == 0) {
    return nullptr;
  }
  Json json{{"runs", cell.runs}, {"caught", cell.caught}};
  if (cell.caught > 0) {
    json["cause"] = cell.cause;
    json["ops_median"] = cell.ops;
    json["seconds_median"] = cell.seconds;
  }
  return json;
}

}  // namespace

std::size_t survivors(const std::vector<ZooRow>& rows) {
  return static_cast<std::size_t>(
      std::count_if(rows.begin(), rows.end(), [](const ZooRow& row) { return !row.caught(); }));
}

std::string zoo_table(const ZooSummary& summary) {
  std::vector<std::vector<std::string>> lines{heading(summary)};
  for (const ZooRow& row : summary.rows) {
    lines.push_back(line_of(row, summary));
  }
  std::vector<std::size_t> widths(lines.front().size());
  for (const std::vector<std::string>& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) {
      widths[i] = std::max(widths[i], line[i].size());
    }
  }
  std::string out;
  for (const std::vector<std::string>& line : lines) {
    std::string text;
    for (std::size_t i = 0; i < line.size(); ++i) {
      text += fmt::format("{:<{}}  ", line[i], widths[i]);
    }
    out += text.substr(0, text.find_last_not_of(' ') + 1) + '\n';
  }
  for (const ZooRow& row : summary.rows) {
    for (const std::string& cause : row.unexpected) {
      out += fmt::format("{} is not said to break {}\n", row.impl->name, cause);
    }
  }
  return out + '\n' + closing(summary) + '\n';
}

std::string zoo_markdown(const ZooSummary& summary) {
  const auto row_text = [](const std::vector<std::string>& cells) {
    return fmt::format("| {} |\n", fmt::join(cells, " | "));
  };
  std::string out = row_text(heading(summary));
  out += row_text(std::vector<std::string>(heading(summary).size(), "---"));
  for (const ZooRow& row : summary.rows) {
    out += row_text(line_of(row, summary));
  }
  return out;
}

std::string zoo_json(const ZooSummary& summary) {
  Json json{{"schema", schema}, {"command", "zoo"}, {"version", version()}, {"seeds", summary.seeds}};
  json["faults"] = Json::array();
  for (const ZooRow& row : summary.rows) {
    Json fault{{"name", row.impl->name}, {"source", row.impl->source}, {"mechanism", row.impl->mechanism}};
    fault["expected"] = Json::array();
    for (const Invariant invariant : row.impl->caught_by) {
      fault["expected"].push_back(invariant_info(invariant).id);
    }
    for (const ZooEngine engine : summary.engines) {
      fault[std::string(zoo_engine_name(engine))] = cell_json(row.cell(engine));
    }
    fault["shrunk_ops_median"] = row.shrunk_ops;
    const std::optional<std::int64_t> above = row.above_optimum();
    fault["shrunk_above_shortest"] = above ? Json(*above) : Json(nullptr);
    fault["unexpected"] = row.unexpected;
    fault["caught"] = row.caught();
    json["faults"].push_back(std::move(fault));
  }
  json["survivors"] = survivors(summary.rows);
  json["complete"] = summary.complete;
  json["status"] = summary.status;
  return json.dump(2) + "\n";
}

}  // namespace poolproof::cli
