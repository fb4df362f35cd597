// The memory saver: buffers allocated in a region under a tag can give their physical memory back and keep their
// addresses (SGLang's torch_memory_saver; docs/saver.md).
//
// Its steps are protected virtual functions, as those of the allocators are: a mutant overrides one of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "impl/saver/virtual_memory.hpp"

namespace poolproof {

/// One buffer of the ledger.
struct SavedBuffer {
  std::uint32_t id = 0;
  std::string name;
  std::string tag;                ///< empty: allocated in no region
  std::int64_t bytes = 0;         ///< as asked for
  std::int64_t mapped_bytes = 0;  ///< in whole granules; 0 outside of regions
  Address address = 0;
  bool backed_up = false;  ///< content is kept on the host while paused
  bool paused = false;
  MemoryHandle handle = 0;         ///< while resident
  std::vector<std::byte> content;  ///< of a backed-up one, while paused
  [[nodiscard]] bool in_region() const { return !tag.empty(); }
};

using BufferId = std::uint32_t;

/// How a region is opened.
struct RegionOptions {
  std::string tag;
  bool enabled = true;  ///< false: allocations are ordinary ones (the builder's flag is off)
  bool backed_up = false;
};

class MemorySaver {
 public:
  /// `enabled` false: every region is a no-op, and so are pause and resume.
  explicit MemorySaver(std::shared_ptr<VirtualMemory> memory, bool enabled = true);
  /// Gives everything back, paused or not.
  virtual ~MemorySaver();
  MemorySaver(const MemorySaver&) = delete;
  MemorySaver(MemorySaver&&) = delete;
  MemorySaver& operator=(const MemorySaver&) = delete;
  MemorySaver& operator=(MemorySaver&&) = delete;

  /// A region lasts as long as this. Regions nest; the innermost one counts.
  class Region {
   public:
    Region(MemorySaver& saver, RegionOptions options);
    ~Region();
    Region(const Region&) = delete;
    Region(Region&&) = delete;
    Region& operator=(const Region&) = delete;
    Region& operator=(Region&&) = delete;

   private:
    MemorySaver& saver_;
  };

  [[nodiscard]] bool enabled() const { return enabled_; }
  [[nodiscard]] VirtualMemory& memory() { return *memory_; }
  [[nodiscard]] const VirtualMemory& memory() const { return *memory_; }

  /// A buffer in the innermost region, or outside of all. Reads zero. out_of_memory: nothing is left behind.
  Result<BufferId, SaverError> allocate(std::string name, std::int64_t bytes);
  /// Paused or not.
  SaverFault free(BufferId id);

  /// All buffers under the tag, or under every tag: already_paused and nothing changed when one is. An error of the
  /// device leaves those before it in the ledger paused.
  SaverFault pause(std::optional<std::string_view> tag = std::nullopt);
  /// Likewise not_paused. out_of_memory: all of them stay paused.
  SaverFault resume(std::optional<std::string_view> tag = std::nullopt);

  /// Buffers in the order in which they were allocated.
  [[nodiscard]] const std::deque<SavedBuffer>& ledger() const { return ledger_; }
  [[nodiscard]] const SavedBuffer* find(BufferId id) const;

  // Content; touched_paused when the buffer is paused.

  SaverFault write(BufferId id, std::int64_t offset, std::span<const std::byte> from);
  SaverFault read(BufferId id, std::int64_t offset, std::span<std::byte> to) const;
  SaverFault write_stamps(BufferId id, std::int64_t offset, std::int64_t stride, std::span<const Stamp> stamps);
  SaverFault read_stamps(BufferId id, std::int64_t offset, std::int64_t stride, std::span<Stamp> stamps) const;

 protected:
  // The steps.

  /// Which of the ledger a pause or resume of this tag reaches.
  [[nodiscard]] virtual bool reaches(std::string_view tag, const SavedBuffer& buffer) const;
  /// Copies the content of a resident buffer to the host.
  virtual SaverFault save(SavedBuffer& buffer);
  /// And back.
  virtual SaverFault restore(SavedBuffer& buffer);
  /// Takes a resident buffer's memory away and gives it back to the device.
  virtual SaverFault take_away(SavedBuffer& buffer);
  /// Puts created memory behind a paused buffer, at its address.
  virtual SaverFault put_back(SavedBuffer& buffer, MemoryHandle handle);
  /// Gives up a paused buffer for good.
  virtual SaverFault give_up(SavedBuffer& buffer);

 private:
  [[nodiscard]] Result<std::vector<SavedBuffer*>, SaverError> reached(std::optional<std::string_view> tag, bool paused);
  Result<std::vector<MemoryHandle>, SaverError> create_all(const std::vector<SavedBuffer*>& buffers);
  void discard(const SavedBuffer& buffer);
  void release_from(const std::vector<MemoryHandle>& handles, std::size_t first);
  SaverFault reserve_and_map(SavedBuffer& buffer);
  Result<const SavedBuffer*, SaverError> usable(BufferId id, std::int64_t offset, std::int64_t bytes,
                                                const char* doing) const;

  std::shared_ptr<VirtualMemory> memory_;
  bool enabled_;
  std::vector<RegionOptions> regions_;
  std::deque<SavedBuffer> ledger_;
  BufferId next_id_ = 1;
};

}  // namespace poolproof
