// An allocator that writes a recorder's log of every call that reaches it, as docs/recording.md has it.
#pragma once

#include <memory>
#include <string>

#include "impl/allocator.hpp"
#include "model/geometry.hpp"

namespace poolproof {

/// The header line of a fresh pool.
std::string log_header(const Geometry& geometry, const Gauges& gauges, bool fresh = true, std::uint64_t file = 0,
                       std::uint64_t n = 0);

/// Wraps `inner`; lines are appended to `log`, which outlives it. The header is written at once.
std::unique_ptr<Allocator> log_calls(std::unique_ptr<Allocator> inner, const Geometry& geometry, std::string& log);

}  // namespace poolproof
