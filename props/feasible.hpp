// What a protocol-correct trace can show at all on a geometry: words, refusals, ordered pairs of words, corners. The
// measure that coverage is held against.
#pragma once

#include "model/geometry.hpp"
#include "model/ops.hpp"
#include "props/coverage.hpp"

namespace poolproof {

/// Can the word be served (or, for probes, asked) on this geometry?
bool word_feasible(OpWord word, const Geometry& g);

/// Can the word be refused? Lending and `slot` when nothing is left; the probes always are.
bool refusal_feasible(OpWord word, const Geometry& g);
/// Can the word be anything but refused? All but the probes.
bool service_feasible(OpWord word, const Geometry& g);

/// Can `second` follow `first` directly in one trace?
bool pair_feasible(OpWord first, OpWord second, const Geometry& g);

bool corner_feasible(Corner corner, const Geometry& g);
/// Can it be reached with these words?
bool corner_offered(Corner corner, const OpWords& offered);

/// Geometries of one kind can show the same.
bool same_kind(const Geometry& a, const Geometry& b);

}  // namespace poolproof
