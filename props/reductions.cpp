#include "props/reductions.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include "props/op_parts.hpp"

namespace poolproof {
namespace {

/// Does it name rows in a list, each for itself?
bool is_batch(const Op& op) {
  return std::visit(
      [](const auto& concrete) {
        return requires { concrete.pieces; }
        || requires { concrete.rows; };
      },
      op);
}

template <typename Gone>
void drop_from_batch(Op& op, Gone gone) {
  std::visit(
      [&](auto& concrete) {
        if constexpr (requires { concrete.pieces; }) {
          std::erase_if(concrete.pieces, [&](const Piece& piece) { return gone(piece.row); });
        } else if constexpr (requires { concrete.rows; }) {
          std::erase_if(concrete.rows, gone);
        }
      },
      op);
}

template <typename Parts>
void without_each(const Op& op, Parts parts, std::vector<Op>& out) {
  const std::size_t count = std::invoke(parts, op).size();
  for (std::size_t i = 0; i < count && count > 1; ++i) {
    Op smaller = op;
    auto& list = std::invoke(parts, smaller);
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(i));
    out.push_back(std::move(smaller));
  }
}

void add_part_drops(const Op& op, std::vector<Op>& out) {
  std::visit(
      [&](const auto& concrete) {
        using Concrete = std::decay_t<decltype(concrete)>;
        if constexpr (requires { concrete.pieces; }) {
          without_each(
              op, [](auto& any) -> auto& { return std::get<Concrete>(any).pieces; }, out);
        } else if constexpr (requires { concrete.rows; }) {
          without_each(
              op, [](auto& any) -> auto& { return std::get<Concrete>(any).rows; }, out);
        } else if constexpr (requires { concrete.ranges; }) {
          without_each(
              op, [](auto& any) -> auto& { return std::get<Concrete>(any).ranges; }, out);
        }
      },
      op);
}

/// The op with one of its ranges cut to a length.
Op with_length(const Op& op, std::size_t which, Pos length) {
  Op cut = op;
  std::size_t at = 0;
  each_range(cut, [&](Range& range) {
    if (at++ == which) {
      range.end = range.begin + length;
    }
  });
  return cut;
}

/// Each range of the op, shortened at its end: to one token, one page, a half, one less.
void add_shorter_ranges(const Op& op, Tokens page, std::vector<Op>& out) {
  std::vector<Pos> sizes;
  each_range(op, [&](const Range& range) { sizes.push_back(range.size()); });
  for (std::size_t which = 0; which < sizes.size(); ++which) {
    const Pos size = sizes[which];
    Pos tried = 0;
    for (const Pos length : {Pos{1}, page, page + 1, size / 2, size - page, size - 1}) {
      if (length > tried && length < size) {
        tried = length;
        out.push_back(with_length(op, which, length));
      }
    }
  }
}

void add_lower_numbers(const Op& op, std::vector<Op>& out) {
  std::vector<Row> named;
  each_row(op, [&](Row row) { named.push_back(row); });
  for (const Row row : named) {
    for (const Row lower : {Row{0}, row - 1}) {
      if (row == 0 || lower >= row) {
        continue;
      }
      Op smaller = op;
      each_row(smaller, [&](Row& any) { any = any == row ? lower : any; });
      out.push_back(std::move(smaller));
    }
  }
  if (const auto* trim = std::get_if<op::Trim>(&op); trim != nullptr && trim->length > 1) {
    out.emplace_back(op::Trim{trim->row, 1});
    out.emplace_back(op::Trim{trim->row, trim->length - 1});
  }
  if (const auto* remap = std::get_if<op::Remap>(&op); remap != nullptr && remap->from_begin > 0) {
    out.emplace_back(op::Remap{remap->to, remap->range, remap->from, 0});
    out.emplace_back(op::Remap{remap->to, remap->range, remap->from, remap->range.begin});
  }
}

// ---- geometry

/// Positions and sizes divided by `by`, ends rounded up, so that page borders stay page borders.
Trace scaled(const Trace& trace, Tokens by) {
  Trace smaller = trace;
  Geometry& g = smaller.geometry;
  g.page /= by;
  g.full /= by;
  g.swa /= by;
  g.window = g.window == 0 ? 0 : std::max<Tokens>(1, g.window / by);
  g.ring = g.ring == 0 ? 0 : std::max(g.window, g.ring / by);
  for (Op& op : smaller.ops) {
    each_range(op, [by](Range& range) {
      range.begin /= by;
      range.end = std::max(range.begin + 1, (range.end + by - 1) / by);
    });
    if (auto* trim = std::get_if<op::Trim>(&op)) {
      trim->length = (trim->length + by - 1) / by;
    } else if (auto* remap = std::get_if<op::Remap>(&op)) {
      remap->from_begin /= by;
    } else if (auto* resize = std::get_if<op::Resize>(&op)) {
      resize->full /= by;
      resize->swa /= by;
    }
  }
  return smaller;
}

void add_smaller_pages(const Trace& trace, std::vector<Trace>& out) {
  const Tokens page = trace.geometry.page;
  // Pools of single slots are another allocator in engines, with faults of its own.
  constexpr Tokens smallest = 2;
  for (Tokens smaller = smallest; smaller < page; smaller *= 2) {
    out.push_back(scaled(trace, page / smaller));
  }
  for (Tokens smaller = smallest; smaller < page; smaller *= 2) {
    Trace kept = trace;
    kept.geometry.page = smaller;
    out.push_back(std::move(kept));
  }
}

/// One size of the geometry made smaller: to its least, a half, one step less.
void add_smaller_sizes(const Trace& trace, std::vector<Trace>& out) {
  const auto vary = [&](auto Geometry::*field, std::int64_t step) {
    const std::int64_t now = trace.geometry.*field;
    std::int64_t tried = 0;
    for (const std::int64_t size : {step, 2 * step, now / 2 / step * step, now - step}) {
      if (size > tried && size < now) {
        tried = size;
        Trace smaller = trace;
        smaller.geometry.*field = size;
        out.push_back(std::move(smaller));
      }
    }
  };
  vary(&Geometry::full, trace.geometry.page);
  vary(&Geometry::swa, trace.geometry.page);
  vary(&Geometry::window, 1);
  vary(&Geometry::ring, 1);
  vary(&Geometry::reqs, 1);
  if (trace.geometry.reqs == 1 && !trace.geometry.ringed()) {
    Trace smaller = trace;
    smaller.geometry.reqs = 0;
    out.push_back(std::move(smaller));
  }
  if (trace.geometry.need_sort) {
    Trace smaller = trace;
    smaller.geometry.need_sort = false;
    out.push_back(std::move(smaller));
  }
  if (trace.geometry.ringed() && trace.geometry.ring == trace.geometry.window && trace.geometry.ring > 1) {
    for (const Tokens size : {Tokens{1}, trace.geometry.ring / 2}) {
      Trace smaller = trace;
      smaller.geometry.ring = smaller.geometry.window = size;
      out.push_back(std::move(smaller));
    }
  }
}

/// No weights, one layer a side, the usual rows, no backup.
void add_plainer_memory(const Trace& trace, std::vector<Trace>& out) {
  const KvShape& kv = trace.geometry.kv;
  const auto add = [&](auto change) {
    Trace plainer = trace;
    change(plainer.geometry.kv);
    if (plainer.geometry != trace.geometry) {
      out.push_back(std::move(plainer));
    }
  };
  if (kv.none()) {
    return;
  }
  add([](KvShape& k) { k.weights_bytes = 0; });
  add([](KvShape& k) { k.full_layers = k.swa_layers = 0; });
  add([](KvShape& k) { k.heads = k.head_dim = k.index_bytes = 0; });
  add([](KvShape& k) { k.type = KvType::bf16; });
  add([](KvShape& k) { k.saver = k.saver == SaverMode::backup ? SaverMode::on : k.saver; });
}

// ---- two steps at once

/// Tokens that a lending op asks for; 0 for any other op.
Tokens lent_tokens(const Op& op) {
  Tokens tokens = 0;
  if (std::holds_alternative<op::Extend>(op) || std::holds_alternative<op::Alloc>(op)) {
    each_range(op, [&](const Range& range) { tokens += range.size(); });
  } else if (const auto* tail = std::get_if<op::Tail>(&op)) {
    tokens = tail->range.size();
  } else if (const auto* decode = std::get_if<op::Decode>(&op)) {
    tokens = static_cast<Tokens>(decode->rows.size());
  }
  return tokens;
}

/// The trace in pools that lack the pages which `saved` tokens took: full and SWA, or either alone.
void add_smaller_pools(const Trace& trace, Tokens saved, std::vector<Trace>& out) {
  const Geometry& g = trace.geometry;
  const Tokens size = g.pages_of(saved) * g.page;
  for (const auto& [full, swa] : {std::pair{size, size}, {size, Tokens{0}}, {Tokens{0}, size}}) {
    if (size == 0 || full >= g.full || (swa > 0 && swa >= g.swa)) {
      continue;
    }
    Trace smaller = trace;
    smaller.geometry.full -= full;
    smaller.geometry.swa -= swa;
    out.push_back(std::move(smaller));
  }
}

/// The one row that a lending op serves; nothing for batches and other ops.
std::optional<Row> lent_row(const Op& op) {
  std::vector<Row> rows;
  if (lent_tokens(op) > 0) {
    each_row(op, [&](Row row) { rows.push_back(row); });
  }
  return rows.size() == 1 ? std::optional<Row>(rows[0]) : std::nullopt;
}

/// Where a lending of one row begins.
Pos lent_from(const Op& op) {
  const auto* tail = std::get_if<op::Tail>(&op);
  Pos begin = tail != nullptr ? tail->range.begin : 0;
  if (tail == nullptr) {
    each_range(op, [&](const Range& range) { begin = range.begin; });
  }
  return begin;
}

/// A lending of one row and the next of any one row, as one extend of the first.
void add_merged_lendings(const Trace& trace, std::vector<Trace>& out) {
  for (std::size_t i = 0; i < trace.ops.size(); ++i) {
    const std::optional<Row> row = lent_row(trace.ops[i]);
    for (std::size_t j = i + 1; row && j < trace.ops.size(); ++j) {
      if (!lent_row(trace.ops[j])) {
        continue;
      }
      Trace merged = trace;
      const Pos begin = lent_from(trace.ops[i]);
      const Pos end = begin + lent_tokens(trace.ops[i]) + lent_tokens(trace.ops[j]);
      merged.ops[i] = op::Extend{{{*row, {begin, end}}}};
      merged.ops.erase(merged.ops.begin() + static_cast<std::ptrdiff_t>(j));
      out.push_back(std::move(merged));
      break;
    }
  }
}

}  // namespace

std::size_t parts_of(const Op& op) {
  std::size_t parts = 0;
  each_range(op, [&](const Range&) { ++parts; });
  if (const auto* decode = std::get_if<op::Decode>(&op)) {
    parts += decode->rows.size();
  }
  return parts;
}

Tokens tokens_of(const Op& op) {
  Tokens tokens = 0;
  each_range(op, [&](const Range& range) { tokens += range.begin + range.end; });
  each_row(op, [&](Row row) { tokens += row; });
  if (const auto* trim = std::get_if<op::Trim>(&op)) {
    tokens += trim->length;
  } else if (const auto* remap = std::get_if<op::Remap>(&op)) {
    tokens += remap->from_begin;
  }
  const auto* pause = std::get_if<op::Pause>(&op);
  const auto* resume = std::get_if<op::Resume>(&op);
  const bool every_tag =
      (pause != nullptr && pause->tag == MemoryTag::all) || (resume != nullptr && resume->tag == MemoryTag::all);
  tokens += every_tag ? 1 : 0;
  return tokens;
}

namespace {

/// `all` as one tag alone.
void add_single_tags(const Op& op, std::vector<Op>& out) {
  const auto add = [&](auto tagged) {
    for (const MemoryTag tag : {MemoryTag::kv_cache, MemoryTag::weights}) {
      if (tagged.tag == MemoryTag::all) {
        out.push_back(decltype(tagged){tag});
      }
    }
  };
  if (const auto* pause = std::get_if<op::Pause>(&op)) {
    add(*pause);
  } else if (const auto* resume = std::get_if<op::Resume>(&op)) {
    add(*resume);
  }
}

}  // namespace

std::vector<Op> op_reductions(const Op& op, const Geometry& g) {
  std::vector<Op> out;
  add_part_drops(op, out);
  add_shorter_ranges(op, g.page, out);
  add_lower_numbers(op, out);
  add_single_tags(op, out);
  return out;
}

std::vector<Trace> joint_reductions(const Trace& trace) {
  std::vector<Trace> out;
  add_merged_lendings(trace, out);
  for (Trace& fewer : row_reductions(trace)) {
    add_merged_lendings(fewer, out);
    out.push_back(std::move(fewer));
  }
  for (std::size_t i = 0; i < trace.ops.size(); ++i) {
    Trace without = trace;
    without.ops.erase(without.ops.begin() + static_cast<std::ptrdiff_t>(i));
    add_smaller_pools(without, lent_tokens(trace.ops[i]), out);
    if (lent_tokens(trace.ops[i]) < 2) {
      continue;
    }
    for (Op& shorter : op_reductions(trace.ops[i], trace.geometry)) {
      Trace smaller = trace;
      const Tokens saved = lent_tokens(trace.ops[i]) - lent_tokens(shorter);
      smaller.ops[i] = std::move(shorter);
      add_smaller_pools(smaller, saved, out);
    }
  }
  return out;
}

std::vector<Row> rows_of(const Trace& trace) {
  std::vector<Row> rows;
  for (const Op& op : trace.ops) {
    each_row(op, [&](Row row) { rows.push_back(row); });
  }
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return rows;
}

Trace without_rows(const Trace& trace, const std::vector<Row>& rows) {
  const auto gone = [&](Row row) { return std::binary_search(rows.begin(), rows.end(), row); };
  Trace left{trace.geometry, {}, {}};
  for (const Op& op : trace.ops) {
    std::size_t named = 0;
    std::size_t named_gone = 0;
    each_row(op, [&](Row row) {
      ++named;
      named_gone += gone(row) ? 1 : 0;
    });
    if (named_gone == 0) {
      left.ops.push_back(op);
    } else if (named_gone < named && is_batch(op)) {
      left.ops.push_back(op);
      drop_from_batch(left.ops.back(), gone);
    }
  }
  return left;
}

Trace with_rows_renumbered(const Trace& trace) {
  Trace renumbered = trace;
  std::vector<Row> seen;
  for (Op& op : renumbered.ops) {
    each_row(op, [&](Row& row) {
      const auto at = std::find(seen.begin(), seen.end(), row);
      const auto number = static_cast<Row>(at - seen.begin());
      if (at == seen.end()) {
        seen.push_back(row);
      }
      row = number;
    });
  }
  return renumbered;
}

std::vector<Trace> geometry_reductions(const Trace& trace) {
  std::vector<Trace> out;
  add_smaller_pages(trace, out);
  add_smaller_sizes(trace, out);
  add_plainer_memory(trace, out);
  return out;
}

}  // namespace poolproof
