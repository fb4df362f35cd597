#include "fuzz/input/mutate.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <utility>

#include "fuzz/input/byte_choices.hpp"
#include "fuzz/input/op_records.hpp"
#include "fuzz/input/ops_runner.hpp"
#include "props/choices.hpp"

namespace poolproof {
namespace {

using Bytes = std::vector<std::uint8_t>;
/// A record, a choice or a line: bytes of an input, or of the workshop.
using Unit = std::span<const std::uint8_t>;
using Units = std::vector<Unit>;
/// Keeps the units that are new.
using Workshop = std::deque<Bytes>;

Units cut(std::span<const std::uint8_t> bytes, std::size_t width) {
  Units units;
  units.reserve(bytes.size() / width + 8);
  for (; bytes.size() >= width; bytes = bytes.subspan(width)) {
    units.push_back(bytes.first(width));
  }
  return units;
}

Units lines_of(std::span<const std::uint8_t> bytes) {
  Units lines;
  while (!bytes.empty()) {
    const auto end = std::find(bytes.begin(), bytes.end(), std::uint8_t{'\n'});
    const auto length = static_cast<std::size_t>(end - bytes.begin()) + (end != bytes.end() ? 1 : 0);
    lines.push_back(bytes.first(length));
    bytes = bytes.subspan(length);
  }
  return lines;
}

Bytes joined(const Units& units, Bytes start, std::size_t most) {
  start.reserve(most);
  for (const Unit& unit : units) {
    if (start.size() + unit.size() > most) {
      break;
    }
    start.insert(start.end(), unit.begin(), unit.end());
  }
  return start;
}

std::ptrdiff_t place(Choices& choices, std::size_t count) { return static_cast<std::ptrdiff_t>(choices.draw(count)); }

/// One change of the order of units. `made` makes a new one.
template <typename Make>
void shuffle(Units& units, Choices& choices, const Make& made) {
  if (units.empty() || choices.odds(1, 4)) {
    units.insert(units.begin() + place(choices, units.size() + 1), made());
    return;
  }
  const std::ptrdiff_t at = place(choices, units.size());
  const std::ptrdiff_t length =
      1 + place(choices, std::min<std::size_t>(8, units.size() - static_cast<std::size_t>(at)));
  switch (choices.draw(4)) {
    case 0:
      units.erase(units.begin() + at, units.begin() + at + length);
      break;
    case 1: {
      const Units copied(units.begin() + at, units.begin() + at + length);
      units.insert(units.begin() + place(choices, units.size() + 1), copied.begin(), copied.end());
      break;
    }
    case 2:
      std::swap(units[static_cast<std::size_t>(at)], units[choices.draw(units.size())]);
      break;
    default:
      std::rotate(units.begin() + at, units.begin() + at + length / 2, units.begin() + at + length);
  }
}

Bytes new_record(Choices& choices) {
  Bytes record(op_record_bytes, 0);
  record[0] = static_cast<std::uint8_t>(choices.draw(op_word_count) | (choices.odds(1, 8) ? 0x80U : 0U));
  record[1] = static_cast<std::uint8_t>(choices.draw(4));
  record[2] = static_cast<std::uint8_t>(choices.draw(4) * choices.draw(5));
  record[4] = static_cast<std::uint8_t>(1 + choices.draw(16));
  record[6] = static_cast<std::uint8_t>(choices.draw(4));
  record[7] = static_cast<std::uint8_t>(choices.odds(1, 4) ? choices.draw(8) - 4 : 0);
  return record;
}

Bytes new_choice(Choices& choices) {
  const std::uint64_t value = choices.odds(1, 2) ? choices.draw(16) : choices.draw(65536);
  return {static_cast<std::uint8_t>(value & 0xffU), static_cast<std::uint8_t>(value >> 8U)};
}

/// Another word, row or length in one record; a choice moved by a little.
Bytes nudged(Unit unit, Choices& choices) {
  constexpr std::array<std::size_t, 5> record_parts = {0, 1, 2, 4, 6};
  Bytes bytes(unit.begin(), unit.end());
  const bool record = bytes.size() == op_record_bytes;
  const std::size_t at = record ? record_parts.at(choices.draw(record_parts.size())) : 0;
  bytes[at] = record && choices.odds(1, 2) ? new_record(choices)[at]
                                           : static_cast<std::uint8_t>(bytes[at] + choices.draw(9) - 4);
  return bytes;
}

std::size_t width_of(std::uint8_t header) {
  return input_form(header) == InputForm::records ? op_record_bytes : ByteChoices::width;
}

Bytes by_bytes(std::span<const std::uint8_t> input, std::size_t most, const ByteMutation& bytes) {
  Bytes mutated(input.begin(), input.begin() + static_cast<std::ptrdiff_t>(std::min(input.size(), most)));
  const std::size_t size = mutated.size();
  mutated.resize(most);
  mutated.resize(bytes(mutated.data(), size, most));
  return mutated;
}

Bytes spliced(const Units& one, const Units& other, Choices& choices, Bytes start, std::size_t most) {
  Units units(one.begin(), one.begin() + place(choices, one.size() + 1));
  units.insert(units.end(), other.begin() + place(choices, other.size() + 1), other.end());
  return joined(units, std::move(start), most);
}

}  // namespace

std::vector<std::uint8_t> mutate_ops(std::span<const std::uint8_t> input, std::size_t most, std::uint64_t seed,
                                     const ByteMutation& bytes) {
  RandomChoices choices(seed, 0);
  if (most < ops_header_bytes || choices.odds(1, 4)) {
    return by_bytes(input, most, bytes);
  }
  Bytes header(ops_header_bytes, 0);
  std::copy_n(input.begin(), std::min(input.size(), ops_header_bytes), header.begin());
  if (choices.odds(1, 32)) {
    header[1] = static_cast<std::uint8_t>(choices.draw(pool_variants));
  }
  const bool records = input_form(header[0]) == InputForm::records;
  Units units = cut(input.subspan(std::min(input.size(), ops_header_bytes)), width_of(header[0]));
  Workshop workshop;
  const auto keep = [&](Bytes made) { return Unit(workshop.emplace_back(std::move(made))); };
  for (std::uint64_t changes = 1 + choices.draw(4); changes > 0; --changes) {
    if (!units.empty() && choices.odds(1, 2)) {
      Unit& unit = units[choices.draw(units.size())];
      unit = keep(nudged(unit, choices));
    } else {
      shuffle(units, choices, [&] { return keep(records ? new_record(choices) : new_choice(choices)); });
    }
  }
  return joined(units, std::move(header), most);
}

std::vector<std::uint8_t> splice_ops(std::span<const std::uint8_t> one, std::span<const std::uint8_t> other,
                                     std::size_t most, std::uint64_t seed) {
  RandomChoices choices(seed, 1);
  if (one.size() < ops_header_bytes || other.size() < ops_header_bytes || most < ops_header_bytes ||
      input_form(one[0]) != input_form(other[0])) {
    return {one.begin(), one.begin() + static_cast<std::ptrdiff_t>(std::min(one.size(), most))};
  }
  const std::size_t width = width_of(one[0]);
  return spliced(cut(one.subspan(ops_header_bytes), width), cut(other.subspan(ops_header_bytes), width), choices,
                 {one[0], one[1]}, most);
}

std::vector<std::uint8_t> mutate_lines(std::span<const std::uint8_t> input, std::size_t most, std::uint64_t seed,
                                       const ByteMutation& bytes) {
  RandomChoices choices(seed, 2);
  Units lines = lines_of(input);
  if (lines.size() < 2 || choices.odds(1, 2)) {
    return by_bytes(input, most, bytes);
  }
  // A new line is one that is there already: the bytes' own mutations and the dictionary make others of it.
  shuffle(lines, choices, [&] { return lines[choices.draw(lines.size())]; });
  return joined(lines, {}, most);
}

std::vector<std::uint8_t> splice_lines(std::span<const std::uint8_t> one, std::span<const std::uint8_t> other,
                                       std::size_t most, std::uint64_t seed) {
  RandomChoices choices(seed, 3);
  return spliced(lines_of(one), lines_of(other), choices, {}, most);
}

}  // namespace poolproof
