// What the zoo shows: the detection matrix as text, Markdown and JSON.
#pragma once

#include <string>
#include <vector>

#include "props/zoo/zoo.hpp"

namespace poolproof::cli {

struct ZooSummary {
  std::vector<ZooRow> rows;
  std::vector<ZooEngine> engines;
  std::uint32_t seeds = 0;
  bool complete = true;  ///< false: it was interrupted
  int status = 0;
};

/// Faults that no engine caught.
std::size_t survivors(const std::vector<ZooRow>& rows);

std::string zoo_table(const ZooSummary& summary);
/// The table alone, for a page of the docs.
std::string zoo_markdown(const ZooSummary& summary);
std::string zoo_json(const ZooSummary& summary);

}  // namespace poolproof::cli
