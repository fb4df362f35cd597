// Ops drawn without knowing the protocol: any rows, ranges and sides, so that caller faults are frequent.
#pragma once

#include "model/ops.hpp"
#include "props/choices.hpp"
#include "tests/naive/naive_model.hpp"

namespace poolproof::naive {

/// An op that `op_fault` has nothing against; `model` is looked at for row lengths alone, so that ranges are not all
/// beside the point.
Op dumb_op(const Geometry& g, const Model& model, Choices& choices);

}  // namespace poolproof::naive
