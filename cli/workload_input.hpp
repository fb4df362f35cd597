// Where the requests of `poolproof simulate` come from: a file, stdin, or a generator.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "cli/complaint.hpp"
#include "model/result.hpp"
#include "props/workload/request.hpp"
#include "props/workload/workload_reader.hpp"

namespace poolproof::cli {

struct WorkloadSpec {
  /// A file, plain or packed with zstd; "-": stdin; "synthetic" or "synthetic:KEY=VAL,...".
  std::string name;
  bool lenient = false;    ///< malformed rows are counted and left out
  std::uint64_t seed = 1;  ///< of a synthetic one
};

struct OpenWorkload {
  RequestSource requests;
  std::shared_ptr<WorkloadReader> reader;  ///< null: synthetic

  /// "Azure CSV", ...: known once a request was read.
  [[nodiscard]] std::string_view format() const;
  [[nodiscard]] std::uint64_t skipped() const { return reader ? reader->skipped() : 0; }
};

/// From the first request on, each time.
Result<OpenWorkload, Complaint> open_workload(const WorkloadSpec& spec);

/// Can it be opened again?
inline bool reopens(const WorkloadSpec& spec) { return spec.name != "-"; }

}  // namespace poolproof::cli
