#include "impl/host/guarded_allocator.hpp"

#include <utility>

namespace poolproof {

class GuardedAllocator::Memory final : public PoolMemory {
 public:
  Memory(GuardedAllocator& guard, PoolMemory& inner) : guard_(guard), inner_(inner) {}

  Answer pause(MemoryTag tag) override {
    return guard_.guarded([&] { return inner_.pause(tag); });
  }
  Answer resume(MemoryTag tag) override {
    return guard_.guarded([&] { return inner_.resume(tag); });
  }
  Answer destroy() override {
    return guard_.guarded([&] { return inner_.destroy(); });
  }
  Answer build() override {
    return guard_.guarded([&] { return inner_.build(); });
  }
  Answer flush() override {
    return guard_.guarded([&] { return inner_.flush(); });
  }
  Answer report(MemoryReport& out) override {
    return guard_.guarded([&] { return inner_.report(out); });
  }

 private:
  GuardedAllocator& guard_;
  PoolMemory& inner_;
};

GuardedAllocator::GuardedAllocator(std::unique_ptr<Allocator> inner) : inner_(std::move(inner)) {
  if (PoolMemory* memory = inner_->memory()) {
    memory_ = std::make_unique<Memory>(*this, *memory);
  }
}

GuardedAllocator::GuardedAllocator(StorageError error) : error_(std::move(error)) {}

template <typename Call>
Answer GuardedAllocator::guarded(const Call& call) {
  if (error_) {
    return Answer::failed;
  }
  try {
    return call();
  } catch (const StorageError& error) {
    error_ = error;
    return Answer::failed;
  }
}

std::unique_ptr<Allocator> GuardedAllocator::clone() const {
  if (memory_) {
    return nullptr;  // memory at one address is not had twice
  }
  std::optional<StorageError> error = error_;
  if (!error) {
    try {
      std::unique_ptr<Allocator> copy = inner_->clone();
      return copy ? std::make_unique<GuardedAllocator>(std::move(copy)) : nullptr;
    } catch (const StorageError& thrown) {
      error = thrown;
    }
  }
  return std::unique_ptr<Allocator>(new GuardedAllocator(*std::move(error)));
}

bool GuardedAllocator::assign(const Allocator& other) {
  const auto& guard = static_cast<const GuardedAllocator&>(other);
  if (error_ || guard.error_ || memory_) {
    return false;
  }
  try {
    return inner_->assign(*guard.inner_);
  } catch (const StorageError& error) {
    error_ = error;
    return true;
  }
}

bool GuardedAllocator::digest(StateDigest& out) const { return !error_ && !memory_ && inner_->digest(out); }

std::string GuardedAllocator::failure() const { return error_ ? error_->what() : inner_->failure(); }

std::optional<Breakdown> GuardedAllocator::breakdown() const {
  return error_ ? Breakdown{BreakdownKind::raised, error_->signature()} : inner_->breakdown();
}

PoolMemory* GuardedAllocator::memory() { return memory_.get(); }

bool GuardedAllocator::beyond_repair() const { return error_ ? error_->beyond_repair() : inner_->beyond_repair(); }

// The calls.

Answer GuardedAllocator::alloc(Tokens tokens, Locs& out) {
  return guarded([&] { return inner_->alloc(tokens, out); });
}

Answer GuardedAllocator::alloc_extend(std::span<const Pos> prefix_lens, std::span<const Pos> seq_lens,
                                      std::span<const Loc> last_locs, Locs& out) {
  return guarded([&] { return inner_->alloc_extend(prefix_lens, seq_lens, last_locs, out); });
}

Answer GuardedAllocator::alloc_decode(std::span<const Pos> seq_lens, std::span<const Loc> last_locs, Locs& out) {
  return guarded([&] { return inner_->alloc_decode(seq_lens, last_locs, out); });
}

Answer GuardedAllocator::alloc_extend_swa_tail(Pos prefix_len, Pos seq_len, Loc last_loc, Tokens tail_len, Pos tail_end,
                                               Locs& out) {
  return guarded([&] { return inner_->alloc_extend_swa_tail(prefix_len, seq_len, last_loc, tail_len, tail_end, out); });
}

Answer GuardedAllocator::free(Side side, std::span<const Loc> locs) {
  return guarded([&] { return inner_->free(side, locs); });
}

Answer GuardedAllocator::free_segments(Side side, std::span<const Segment> segments) {
  return guarded([&] { return inner_->free_segments(side, segments); });
}

Answer GuardedAllocator::free_group_begin() {
  return guarded([&] { return inner_->free_group_begin(); });
}

Answer GuardedAllocator::free_group_end() {
  return guarded([&] { return inner_->free_group_end(); });
}

Answer GuardedAllocator::set_full_to_swa_mapping(std::span<const Loc> full, std::span<const Loc> swa) {
  return guarded([&] { return inner_->set_full_to_swa_mapping(full, swa); });
}

Answer GuardedAllocator::clear_full_to_swa_mapping(std::span<const Loc> full) {
  return guarded([&] { return inner_->clear_full_to_swa_mapping(full); });
}

Answer GuardedAllocator::translate_loc_from_full_to_swa(std::span<const Loc> full, std::span<Loc> out) {
  return guarded([&] { return inner_->translate_loc_from_full_to_swa(full, out); });
}

Answer GuardedAllocator::clear() {
  return guarded([&] { return inner_->clear(); });
}

Answer GuardedAllocator::resize(Tokens full, Tokens swa) {
  return guarded([&] { return inner_->resize(full, swa); });
}

Answer GuardedAllocator::backup_state(std::uint32_t key) {
  return guarded([&] { return inner_->backup_state(key); });
}

Answer GuardedAllocator::restore_state(std::uint32_t key) {
  return guarded([&] { return inner_->restore_state(key); });
}

Answer GuardedAllocator::take_slot(std::int64_t& slot) {
  return guarded([&] { return inner_->take_slot(slot); });
}

Answer GuardedAllocator::give_slot(std::int64_t slot) {
  return guarded([&] { return inner_->give_slot(slot); });
}

Answer GuardedAllocator::write_full(std::span<const Loc> full_locs, std::span<const Stamp> stamps) {
  return guarded([&] { return inner_->write_full(full_locs, stamps); });
}

Answer GuardedAllocator::read_full(std::span<const Loc> full_locs, std::span<Stamp> out) {
  return guarded([&] { return inner_->read_full(full_locs, out); });
}

Answer GuardedAllocator::write_swa(std::span<const Loc> full_locs, std::int64_t slot, Pos first_pos,
                                   std::span<const Stamp> stamps) {
  return guarded([&] { return inner_->write_swa(full_locs, slot, first_pos, stamps); });
}

Answer GuardedAllocator::read_swa(std::span<const Loc> full_locs, std::int64_t slot, Pos first_pos,
                                  std::span<Stamp> out) {
  return guarded([&] { return inner_->read_swa(full_locs, slot, first_pos, out); });
}

Answer GuardedAllocator::gauges(Gauges& out) {
  return guarded([&] { return inner_->gauges(out); });
}

Answer GuardedAllocator::census(Census& out) {
  return guarded([&] { return inner_->census(out); });
}

}  // namespace poolproof
