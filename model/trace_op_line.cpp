// Ops from their lines.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "model/faults.hpp"
#include "model/number.hpp"
#include "model/trace_line.hpp"

namespace poolproof {
namespace {

constexpr std::string_view row_form = "a row such as r0";
constexpr std::string_view range_form = "a range such as 0..8";
constexpr std::string_view number_form = "a whole number";
constexpr std::string_view size_form = "tokens (4096) or pages (16p)";
constexpr std::string_view expect_form = "available, slots N, refused or served";
constexpr std::string_view tag_form = "kv_cache, weights or all";
constexpr std::string_view line_end = "the end of the line";
constexpr std::string_view list_end = "',' or the end of the line";

bool looks_negative(std::string_view text) {
  return text.size() > 1 && text[0] == '-' && text[1] >= '0' && text[1] <= '9';
}

/// Reads one line. Each reader answers false once a failure is kept.
class OpReader {
 public:
  OpReader(std::string_view line, const Geometry& g, const TextLimits& limits)
      : cursor_(line), geometry_(g), limits_(limits) {}

  bool read(Op& op);
  [[nodiscard]] Block block() const { return block_; }
  LineFailure& failure() { return failure_; }

 private:
  using Reader = bool (OpReader::*)(Op&);
  struct Keyword {
    std::string_view word;
    Reader read;
  };
  static const std::array<Keyword, 33> keywords;

  bool fail(std::size_t at, std::string message, std::string_view expected = {}) {
    failure_ = {at, std::move(message), std::string(expected)};
    return false;
  }
  /// Of what stands at the cursor, or of the line that ends there.
  bool fail_here(std::string_view expected);
  bool unknown_word(std::size_t at, std::string_view word);

  bool number(std::string_view text, std::size_t at, std::int64_t& out);
  /// 'rN' or 'bN'.
  bool numbered(char letter, std::string_view form, std::string_view what, std::uint32_t& out);
  bool row(Row& out) { return numbered('r', row_form, "row", out); }
  bool range(Range& out);
  bool range_failure(std::string_view text, std::size_t at);
  bool literal(std::string_view text) { return cursor_.take(text) || fail_here(fmt::format("'{}'", text)); }
  bool size_field(std::string_view key, std::size_t key_at, bool given, Tokens& out);
  bool end(std::string_view expected = line_end) { return cursor_.at_end() || fail_here(expected); }
  bool more_pieces(std::size_t so_far);
  [[nodiscard]] std::size_t commas() const;

  bool pieces(std::vector<Piece>& out);

  template <typename RowOp>
  bool row_op(Op& op);
  template <typename RangeOp>
  bool range_op(Op& op);
  template <typename BackupOp>
  bool backup_op(Op& op);
  bool extend(Op& op);
  bool decode(Op& op);
  bool tail(Op& op);
  template <Side side>
  bool free(Op& op);
  template <Side side>
  bool free_segment(Op& op);
  bool copy(Op& op);
  bool trim(Op& op);
  bool remap(Op& op);
  bool group(Op& op);
  bool close(Op& op);
  template <typename GroupOp>
  bool group_op(Op& op);
  template <typename BareOp>
  bool bare(Op& op);
  template <typename TagOp>
  bool tag_op(Op& op);
  bool resize(Op& op);
  bool expect(Op& op);
  bool expect_item(op::Expect& expect, bool& available);
  bool expect_side(op::Expect& expect, std::string_view key, std::size_t at, bool available);
  bool expect_slots(op::Expect& expect, std::size_t at);
  bool expect_answer(op::Expect& expect, bool refused, std::size_t at);
  bool second_pool(Op& op);

  LineCursor cursor_;
  const Geometry& geometry_;
  const TextLimits& limits_;
  Block block_ = Block::none;
  LineFailure failure_;
};

// Sorted, for the binary search.
const std::array<OpReader::Keyword, 33> OpReader::keywords = {{
    {"alloc", &OpReader::range_op<op::Alloc>},
    {"backup", &OpReader::backup_op<op::Backup>},
    {"build", &OpReader::bare<op::Build>},
    {"clear", &OpReader::bare<op::Clear>},
    {"copy", &OpReader::copy},
    {"decode", &OpReader::decode},
    {"destroy", &OpReader::bare<op::Destroy>},
    {"drop", &OpReader::range_op<op::Drop>},
    {"expect", &OpReader::expect},
    {"extend", &OpReader::extend},
    {"flush", &OpReader::bare<op::Flush>},
    {"free", &OpReader::free<Side::both>},
    {"free_full", &OpReader::free<Side::full>},
    {"free_full_segment", &OpReader::free_segment<Side::full>},
    {"free_segment", &OpReader::free_segment<Side::both>},
    {"free_swa", &OpReader::free<Side::swa>},
    {"free_swa_segment", &OpReader::free_segment<Side::swa>},
    {"group", &OpReader::group},
    {"group_begin", &OpReader::group_op<op::GroupBegin>},
    {"group_end", &OpReader::group_op<op::GroupEnd>},
    {"pause", &OpReader::tag_op<op::Pause>},
    {"pool", &OpReader::second_pool},
    {"read", &OpReader::range_op<op::Read>},
    {"remap", &OpReader::remap},
    {"resize", &OpReader::resize},
    {"restore", &OpReader::backup_op<op::Restore>},
    {"resume", &OpReader::tag_op<op::Resume>},
    {"slot", &OpReader::row_op<op::SlotTake>},
    {"tail", &OpReader::tail},
    {"trim", &OpReader::trim},
    {"unmap", &OpReader::range_op<op::Unmap>},
    {"unslot", &OpReader::row_op<op::SlotGive>},
    {"write", &OpReader::range_op<op::Write>},
}};

bool OpReader::read(Op& op) {
  const std::size_t at = cursor_.place();
  const std::string_view word = cursor_.token();
  if (word.empty() && cursor_.take("}")) {
    return close(op);
  }
  const auto* const keyword = std::lower_bound(keywords.begin(), keywords.end(), word,
                                               [](const Keyword& k, std::string_view w) { return k.word < w; });
  if (keyword == keywords.end() || keyword->word != word) {
    return unknown_word(at, word.empty() ? cursor_.found() : word);
  }
  return (this->*keyword->read)(op);
}

bool OpReader::unknown_word(std::size_t at, std::string_view word) {
  if (word == "poolproof") {
    return fail(at, "a second 'poolproof' line", "an op");
  }
  std::array<std::string_view, keywords.size()> words{};
  std::transform(keywords.begin(), keywords.end(), words.begin(), [](const Keyword& k) { return k.word; });
  const std::string_view near = nearest_word(word, words);
  if (!near.empty() && near != "pool") {
    return fail(at, fmt::format("unknown op '{}', did you mean '{}'?", printable_text(word), near));
  }
  return fail(at, fmt::format("unknown op '{}'", printable_text(word)), "an op such as extend, free or expect");
}

bool OpReader::second_pool(Op& /*op*/) {
  return fail(LineCursor(cursor_.line()).place(), "a second pool line", "an op");
}

bool OpReader::fail_here(std::string_view expected) {
  const std::size_t at = cursor_.place();
  if (cursor_.at_end()) {
    return fail(at, "the line ends too early", expected);
  }
  return fail(at, fmt::format("unexpected '{}'", printable_text(cursor_.found())), expected);
}

bool OpReader::number(std::string_view text, std::size_t at, std::int64_t& out) {
  bool overflow = false;
  const auto found = whole_number(text, overflow);
  if (found) {
    out = *found;
    return true;
  }
  if (overflow) {
    return fail(at, "number too large", number_form);
  }
  if (looks_negative(text)) {
    return fail(at, fmt::format("'{}' is negative", printable_text(text)), number_form);
  }
  return fail(at, fmt::format("'{}' is not a number", printable_text(text)), number_form);
}

bool OpReader::numbered(char letter, std::string_view form, std::string_view what, std::uint32_t& out) {
  const std::size_t at = cursor_.place();
  const std::string_view text = cursor_.token();
  if (text.empty()) {
    return fail_here(form);
  }
  bool overflow = false;
  const auto found = text[0] == letter ? whole_number(text.substr(1), overflow) : std::nullopt;
  if (overflow || (found && *found > std::numeric_limits<std::uint32_t>::max())) {
    return fail(at + 1, "number too large", form);
  }
  if (!found) {
    return fail(at, fmt::format("'{}' is not a {}", printable_text(text), what), form);
  }
  out = static_cast<std::uint32_t>(*found);
  return true;
}

bool OpReader::range(Range& out) {
  const std::size_t at = cursor_.place();
  const std::string_view text = cursor_.token();
  if (text.empty()) {
    return fail_here(range_form);
  }
  const std::size_t dots = text.find("..");
  bool overflow = false;
  const auto begin = whole_number(text.substr(0, dots), overflow);
  if (!begin || dots == std::string_view::npos) {
    return range_failure(text, at);
  }
  const auto end = whole_number(text.substr(dots + 2), overflow);
  if (!end) {
    return range_failure(text, at);
  }
  out = {*begin, *end};
  return true;
}

bool OpReader::range_failure(std::string_view text, std::size_t at) {
  const std::size_t dots = text.find("..");
  if (dots == std::string_view::npos) {
    return fail(at, fmt::format("'{}' is not a range", printable_text(text)), range_form);
  }
  if (dots == 0) {
    return fail(at, fmt::format("the range '{}' has no begin", printable_text(text)), range_form);
  }
  if (dots + 2 == text.size()) {
    return fail(at + text.size(), fmt::format("the range '{}' has no end", printable_text(text)), range_form);
  }
  std::int64_t unused = 0;
  return number(text.substr(0, dots), at, unused) && number(text.substr(dots + 2), at + dots + 2, unused);
}

/// The value of `full=` or `swa=`, whose key was read.
bool OpReader::size_field(std::string_view key, std::size_t key_at, bool given, Tokens& out) {
  if (given) {
    return fail(key_at, fmt::format("'{}' is given twice", key));
  }
  if (!cursor_.take_adjacent("=")) {
    return fail(cursor_.offset(), fmt::format("'{}' has no value", key), "'=' and the value, without blanks");
  }
  const std::size_t at = cursor_.offset();
  const std::string_view text = cursor_.adjacent_token();
  if (text.empty()) {
    return fail(at, fmt::format("'{}=' has no value", key), size_form);
  }
  bool overflow = false;
  const auto tokens = token_count(text, geometry_.page, overflow);
  if (overflow) {
    return fail(at, "number too large", size_form);
  }
  if (!tokens) {
    return fail(at, fmt::format("'{}' is not a size", printable_text(text)), size_form);
  }
  out = *tokens;
  return true;
}

/// Behind a ',': is there another piece, and may there be one?
bool OpReader::more_pieces(std::size_t so_far) {
  if (so_far >= limits_.pieces_per_op) {
    return fail(cursor_.place(), fmt::format("more than {} pieces in one op", limits_.pieces_per_op),
                "fewer pieces; split the op");
  }
  return !cursor_.at_end() || fail(cursor_.offset(), "nothing follows the ','", "another piece, or no ','");
}

std::size_t OpReader::commas() const {
  const std::string_view line = cursor_.line();
  const auto found = static_cast<std::size_t>(std::count(line.begin(), line.end(), ','));
  return std::min(found, limits_.pieces_per_op);
}

template <typename RowOp>
bool OpReader::row_op(Op& op) {
  RowOp read;
  if (!row(read.row) || !end()) {
    return false;
  }
  op = read;
  return true;
}

template <typename RangeOp>
bool OpReader::range_op(Op& op) {
  RangeOp read;
  if (!row(read.row) || !range(read.range) || !end()) {
    return false;
  }
  op = read;
  return true;
}

template <typename BackupOp>
bool OpReader::backup_op(Op& op) {
  BackupOp read;
  if (!numbered('b', "a backup's name such as b0", "backup's name", read.name) || !end()) {
    return false;
  }
  op = read;
  return true;
}

bool OpReader::pieces(std::vector<Piece>& out) {
  out.reserve(commas() + 1);
  do {
    if (!out.empty() && !more_pieces(out.size())) {
      return false;
    }
    Piece piece;
    if (!row(piece.row) || !range(piece.range)) {
      return false;
    }
    out.push_back(piece);
  } while (cursor_.take(","));
  return end(list_end);
}

bool OpReader::extend(Op& op) { return pieces(op.emplace<op::Extend>().pieces); }

template <Side side>
bool OpReader::free(Op& op) {
  auto& read = op.emplace<op::Free>();
  read.side = side;
  return pieces(read.pieces);
}

bool OpReader::decode(Op& op) {
  auto& rows = op.emplace<op::Decode>().rows;
  rows.reserve(commas() + 1);
  do {
    Row next = 0;
    if ((!rows.empty() && !more_pieces(rows.size())) || !row(next)) {
      return false;
    }
    rows.push_back(next);
  } while (cursor_.take(","));
  return end(list_end);
}

template <Side side>
bool OpReader::free_segment(Op& op) {
  auto& read = op.emplace<op::FreeSegment>();
  read.side = side;
  if (!row(read.row)) {
    return false;
  }
  read.ranges.reserve(commas() + 1);
  do {
    Range next;
    if ((!read.ranges.empty() && !more_pieces(read.ranges.size())) || !range(next)) {
      return false;
    }
    read.ranges.push_back(next);
  } while (cursor_.take(","));
  return end(list_end);
}

bool OpReader::tail(Op& op) {
  op::Tail read;
  if (!row(read.row) || !range(read.range) || !literal("swa=") || !range(read.swa) || !end()) {
    return false;
  }
  op = read;
  return true;
}

bool OpReader::copy(Op& op) {
  op::Copy read;
  if (!row(read.to) || !range(read.range) || !literal("=") || !row(read.from) || !end()) {
    return false;
  }
  op = read;
  return true;
}

bool OpReader::trim(Op& op) {
  op::Trim read;
  if (!row(read.row)) {
    return false;
  }
  const std::size_t at = cursor_.place();
  const std::string_view text = cursor_.token();
  if (text.empty()) {
    return fail_here("the length to trim to");
  }
  if (!number(text, at, read.length) || !end()) {
    return false;
  }
  op = read;
  return true;
}

bool OpReader::remap(Op& op) {
  op::Remap read;
  if (!row(read.to) || !range(read.range) || !literal("<-") || !row(read.from)) {
    return false;
  }
  Range donor = read.range;
  const std::size_t at = cursor_.place();
  if (!cursor_.at_end() && !range(donor)) {
    return false;
  }
  if (donor.size() != read.range.size()) {
    return fail(at,
                fmt::format("the donor range {}..{} is not as long as the target {}..{}", donor.begin, donor.end,
                            read.range.begin, read.range.end),
                fmt::format("{} positions", read.range.size()));
  }
  read.from_begin = donor.begin;
  op = read;
  return end();
}

bool OpReader::group(Op& op) {
  block_ = Block::open;
  op = op::GroupBegin{};
  return literal("{") && end();
}

bool OpReader::close(Op& op) {
  block_ = Block::close;
  op = op::GroupEnd{};
  return end();
}

template <typename GroupOp>
bool OpReader::group_op(Op& op) {
  GroupOp read;
  if (!cursor_.at_end()) {
    const std::size_t at = cursor_.place();
    const std::string_view word = cursor_.found();
    if (cursor_.token() != "again") {
      return fail(at, fmt::format("unexpected '{}'", printable_text(word)), "'again' or the end of the line");
    }
    read.again = true;
  }
  op = read;
  return end();
}

template <typename BareOp>
bool OpReader::bare(Op& op) {
  op = BareOp{};
  return end();
}

template <typename TagOp>
bool OpReader::tag_op(Op& op) {
  const std::size_t at = cursor_.place();
  const std::string_view text = cursor_.token();
  const std::optional<MemoryTag> tag = memory_tag_from(text);
  if (!tag) {
    return text.empty() ? fail_here(tag_form)
                        : fail(at, fmt::format("unexpected '{}'", printable_text(text)), tag_form);
  }
  op = TagOp{*tag};
  return end();
}

bool OpReader::resize(Op& op) {
  op::Resize read;
  bool full = false;
  bool swa = false;
  while (!cursor_.at_end()) {
    const std::size_t at = cursor_.place();
    const std::string_view key = cursor_.token();
    if (key != "full" && key != "swa") {
      return fail(at, fmt::format("unexpected '{}'", printable_text(key.empty() ? cursor_.found() : key)),
                  "full= or swa=");
    }
    bool& given = key == "full" ? full : swa;
    if (!size_field(key, at, given, key == "full" ? read.full : read.swa)) {
      return false;
    }
    given = true;
  }
  if (!full) {
    return fail(cursor_.offset(), "the new size of the pool is missing", "full=TOKENS or full=PAGESp");
  }
  if (swa && read.swa == 0) {
    return fail(cursor_.line().find("swa=") + 4, "swa=0 is not a pool size; it is at least one page");
  }
  op = read;
  return true;
}

bool OpReader::expect(Op& op) {
  op::Expect read;
  bool available = false;
  if (cursor_.at_end()) {
    return fail_here(expect_form);
  }
  while (!cursor_.at_end()) {
    if (!expect_item(read, available)) {
      return false;
    }
  }
  if (available && !read.full && !read.swa) {
    return fail(cursor_.offset(), "'available' names no side", "full=N or swa=N");
  }
  op = read;
  return true;
}

bool OpReader::expect_item(op::Expect& expect, bool& available) {
  const std::size_t at = cursor_.place();
  const std::string_view word = cursor_.token();
  if (word == "available") {
    const bool twice = std::exchange(available, true);
    return !twice || fail(at, "'available' is given twice");
  }
  if (word == "full" || word == "swa") {
    return expect_side(expect, word, at, available);
  }
  if (word == "slots") {
    return expect_slots(expect, at);
  }
  if (word == "refused" || word == "served") {
    return expect_answer(expect, word == "refused", at);
  }
  return fail(at, fmt::format("unexpected '{}'", printable_text(word.empty() ? cursor_.found() : word)), expect_form);
}

bool OpReader::expect_side(op::Expect& expect, std::string_view key, std::size_t at, bool available) {
  if (!available) {
    return fail(at, fmt::format("'{}' without 'available' before it", key), expect_form);
  }
  std::optional<Tokens>& side = key == "full" ? expect.full : expect.swa;
  Tokens tokens = 0;
  if (!size_field(key, at, side.has_value(), tokens)) {
    return false;
  }
  side = tokens;
  return true;
}

bool OpReader::expect_slots(op::Expect& expect, std::size_t at) {
  if (expect.slots) {
    return fail(at, "'slots' is given twice");
  }
  const std::size_t number_at = cursor_.place();
  const std::string_view text = cursor_.token();
  if (text.empty()) {
    return fail_here("the number of free request slots");
  }
  std::int64_t slots = 0;
  if (!number(text, number_at, slots)) {
    return false;
  }
  expect.slots = slots;
  return true;
}

bool OpReader::expect_answer(op::Expect& expect, bool refused, std::size_t at) {
  if (expect.refused) {
    return fail(at, *expect.refused == refused ? fmt::format("'{}' is given twice", refused ? "refused" : "served")
                                               : std::string("an op is either refused or served"));
  }
  expect.refused = refused;
  return true;
}

}  // namespace

std::optional<LineFailure> read_op_line(std::string_view line, const Geometry& g, const TextLimits& limits, Op& op,
                                        Block& block) {
  OpReader reader(line, g, limits);
  if (!reader.read(op)) {
    return std::move(reader.failure());
  }
  if (auto fault = find_op_fault(op, g)) {
    return LineFailure{place_of(*fault, line), std::move(fault->message), {}};
  }
  block = reader.block();
  return std::nullopt;
}

}  // namespace poolproof
