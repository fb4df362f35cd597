#include "impl/host/single_allocator.hpp"

#include "model/state_digest.hpp"

namespace poolproof {

std::unique_ptr<Allocator> SingleAllocator::clone() const { return std::make_unique<SingleAllocator>(*this); }

bool SingleAllocator::assign(const Allocator& other) {
  *this = static_cast<const SingleAllocator&>(other);
  return true;
}

bool SingleAllocator::digest(StateDigest& out) const {
  for (const auto& [key, lists] : snapshots_) {
    out.number(key);
    out.numbers(lists.free);
    out.numbers(lists.staged);
  }
  return HostAllocator::digest(out);
}

Answer SingleAllocator::alloc(Tokens tokens, Locs& out) {
  if (!make_room(Pool::full, pool(Pool::full).pages_of(tokens))) {
    return Answer::refused;
  }
  lend(Pool::full, tokens, out);
  return Answer::served;
}

Answer SingleAllocator::alloc_extend(std::span<const Pos> prefix_lens, std::span<const Pos> seq_lens,
                                     std::span<const Loc> last_locs, Locs& out) {
  if (!make_room(Pool::full, pool(Pool::full).pages_for_extend(prefix_lens, seq_lens))) {
    return Answer::refused;
  }
  lend_extend(Pool::full, prefix_lens, seq_lens, last_locs, out);
  return Answer::served;
}

Answer SingleAllocator::alloc_decode(std::span<const Pos> seq_lens, std::span<const Loc> last_locs, Locs& out) {
  if (!make_room(Pool::full, pool(Pool::full).pages_for_decode(seq_lens))) {
    return Answer::refused;
  }
  lend_decode(Pool::full, seq_lens, last_locs, out);
  return Answer::served;
}

void SingleAllocator::free_pages(Side /*side*/, std::span<const Page> full_pages) { give_back(Pool::full, full_pages); }

Answer SingleAllocator::clear() {
  snapshots_.clear();
  return HostAllocator::clear();
}

Answer SingleAllocator::resize(Tokens full, Tokens swa) {
  snapshots_.clear();
  return HostAllocator::resize(full, swa);
}

Answer SingleAllocator::backup_state(std::uint32_t key) {
  snapshots_.insert_or_assign(key, pool(Pool::full).lists());
  return Answer::served;
}

Answer SingleAllocator::restore_state(std::uint32_t key) {
  const auto snapshot = snapshots_.find(key);
  if (snapshot == snapshots_.end()) {
    return Answer::refused;
  }
  restore_pool(Pool::full, snapshot->second);
  return Answer::served;
}

}  // namespace poolproof
