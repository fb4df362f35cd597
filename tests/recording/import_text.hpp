// Imports a log that a test has as text.
#pragma once

#include <string>
#include <vector>

#include "recording/import.hpp"

namespace poolproof {

struct Imported {
  std::string trace;
  ImportReport report;
  std::string fault;  ///< of a malformed log, as people read it; the rest is empty then
};

/// Each text is a file, named log-0.jsonl, log-1.jsonl, ... in messages.
Imported import_texts(const std::vector<std::string>& texts, const ImportOptions& options = {});
inline Imported import_text(const std::string& text, const ImportOptions& options = {}) {
  return import_texts({text}, options);
}

/// "violation AVAIL_EXACT log-0.jsonl:3 n=1 op=2", one a line; of left_out and note the kind and the place.
std::string findings_text(const Imported& imported);

}  // namespace poolproof
