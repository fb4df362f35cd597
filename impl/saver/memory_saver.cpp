#include "impl/saver/memory_saver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "model/kv_memory.hpp"

namespace poolproof {
namespace {

SaverError error(SaverErrorKind kind, std::string text) { return {kind, std::move(text)}; }

std::string described(const SavedBuffer& buffer) {
  return buffer.in_region() ? fmt::format("{} (tag '{}', {} bytes)", buffer.name, buffer.tag, buffer.bytes)
                            : fmt::format("{} (in no region, {} bytes)", buffer.name, buffer.bytes);
}

/// The same error, of this buffer.
SaverError about(const SavedBuffer& buffer, const char* doing, SaverError error) {
  error.text = fmt::format("{} {}: {}", doing, described(buffer), error.text);
  return error;
}

SaverFault about(const SavedBuffer& buffer, const char* doing, SaverFault fault) {
  return fault ? SaverFault(about(buffer, doing, *std::move(fault))) : std::nullopt;
}

}  // namespace

MemorySaver::MemorySaver(std::shared_ptr<VirtualMemory> memory, bool enabled)
    : memory_(std::move(memory)), enabled_(enabled) {}

MemorySaver::~MemorySaver() {
  for (const SavedBuffer& buffer : ledger_) {
    discard(buffer);
  }
}

/// Errors of giving back cannot be told to anybody here; what the device still counts shows them.
void MemorySaver::discard(const SavedBuffer& buffer) {
  if (!buffer.in_region()) {
    memory_->free(buffer.address, buffer.bytes);
    return;
  }
  if (!buffer.paused) {
    (void)memory_->unmap(buffer.address, buffer.mapped_bytes);
    (void)memory_->release(buffer.handle);
  }
  memory_->unreserve(buffer.address, buffer.mapped_bytes);
}

MemorySaver::Region::Region(MemorySaver& saver, RegionOptions options) : saver_(saver) {
  saver_.regions_.push_back(std::move(options));
}
MemorySaver::Region::~Region() { saver_.regions_.pop_back(); }

// ---- buffers

Result<BufferId, SaverError> MemorySaver::allocate(std::string name, std::int64_t bytes) {
  SavedBuffer buffer;
  buffer.id = next_id_;
  buffer.name = std::move(name);
  buffer.bytes = bytes;
  if (!regions_.empty() && regions_.back().enabled && enabled_) {
    buffer.tag = regions_.back().tag;
    buffer.backed_up = regions_.back().backed_up;
    if (SaverFault fault = reserve_and_map(buffer)) {
      return about(buffer, "allocating", *std::move(fault));
    }
  } else {
    Result<Address, SaverError> address = memory_->allocate(bytes);
    if (!address) {
      return about(buffer, "allocating", address.error());
    }
    buffer.address = *address;
  }
  ledger_.push_back(std::move(buffer));
  return next_id_++;
}

SaverFault MemorySaver::reserve_and_map(SavedBuffer& buffer) {
  buffer.mapped_bytes = whole_granules(buffer.bytes, memory_->granule_bytes());
  Result<Address, SaverError> address = memory_->reserve(buffer.mapped_bytes);
  if (!address) {
    return address.error();
  }
  buffer.address = *address;
  Result<MemoryHandle, SaverError> handle = memory_->create(buffer.mapped_bytes);
  if (!handle) {
    memory_->unreserve(buffer.address, buffer.mapped_bytes);
    return handle.error();
  }
  SaverFault fault = memory_->map(buffer.address, buffer.mapped_bytes, *handle);
  if (fault) {
    (void)memory_->release(*handle);  // the first error is the one to tell
    memory_->unreserve(buffer.address, buffer.mapped_bytes);
    return fault;
  }
  buffer.handle = *handle;
  return std::nullopt;
}

SaverFault MemorySaver::free(BufferId id) {
  const auto found = std::find_if(ledger_.begin(), ledger_.end(), [id](const SavedBuffer& b) { return b.id == id; });
  if (found == ledger_.end()) {
    return error(SaverErrorKind::unknown_buffer, fmt::format("freeing buffer {}, which is not in the ledger", id));
  }
  SavedBuffer& buffer = *found;
  if (buffer.in_region()) {
    SaverFault fault = buffer.paused ? std::nullopt : take_away(buffer);
    if (!fault) {
      fault = give_up(buffer);
    }
    if (fault) {
      return about(buffer, "freeing", std::move(fault));
    }
  } else {
    memory_->free(buffer.address, buffer.bytes);
  }
  ledger_.erase(found);
  return std::nullopt;
}

const SavedBuffer* MemorySaver::find(BufferId id) const {
  const auto found = std::find_if(ledger_.begin(), ledger_.end(), [id](const SavedBuffer& b) { return b.id == id; });
  return found == ledger_.end() ? nullptr : &*found;
}

// ---- pause and resume

bool MemorySaver::reaches(std::string_view tag, const SavedBuffer& buffer) const { return buffer.tag == tag; }

/// All of them in the same state, or the error that names the first that is not.
Result<std::vector<SavedBuffer*>, SaverError> MemorySaver::reached(std::optional<std::string_view> tag, bool paused) {
  std::vector<SavedBuffer*> buffers;
  for (SavedBuffer& buffer : ledger_) {
    if (!buffer.in_region() || (tag && !reaches(*tag, buffer))) {
      continue;
    }
    if (buffer.paused != paused) {
      return paused
                 ? error(SaverErrorKind::not_paused, fmt::format("resuming {}, which is not paused", described(buffer)))
                 : error(SaverErrorKind::already_paused, fmt::format("pausing {}, which is paused", described(buffer)));
    }
    buffers.push_back(&buffer);
  }
  if (buffers.empty() && tag) {
    return error(SaverErrorKind::unknown_tag, fmt::format("no buffer was allocated in a region of tag '{}'", *tag));
  }
  return buffers;
}

SaverFault MemorySaver::pause(std::optional<std::string_view> tag) {
  if (!enabled_) {
    return std::nullopt;
  }
  Result<std::vector<SavedBuffer*>, SaverError> buffers = reached(tag, false);
  if (!buffers) {
    return buffers.error();
  }
  for (SavedBuffer* buffer : *buffers) {
    SaverFault fault = buffer->backed_up ? save(*buffer) : std::nullopt;
    if (!fault) {
      fault = take_away(*buffer);
    }
    if (fault) {
      return about(*buffer, "pausing", std::move(fault));
    }
    buffer->paused = true;
  }
  return std::nullopt;
}

SaverFault MemorySaver::resume(std::optional<std::string_view> tag) {
  if (!enabled_) {
    return std::nullopt;
  }
  Result<std::vector<SavedBuffer*>, SaverError> buffers = reached(tag, true);
  if (!buffers) {
    return buffers.error();
  }
  Result<std::vector<MemoryHandle>, SaverError> handles = create_all(*buffers);
  if (!handles) {
    return handles.error();
  }
  for (std::size_t i = 0; i < buffers->size(); ++i) {
    SavedBuffer& buffer = *(*buffers)[i];
    SaverFault fault = put_back(buffer, (*handles)[i]);
    if (!fault && buffer.backed_up) {
      fault = restore(buffer);
    }
    if (fault) {
      release_from(*handles, i + 1);
      return about(buffer, "resuming", std::move(fault));
    }
    buffer.paused = false;
  }
  return std::nullopt;
}

/// Gives back what was created and not mapped. The error that led here is the one to tell.
void MemorySaver::release_from(const std::vector<MemoryHandle>& handles, std::size_t first) {
  for (std::size_t i = first; i < handles.size(); ++i) {
    (void)memory_->release(handles[i]);
  }
}

/// Memory for all of them, or for none.
Result<std::vector<MemoryHandle>, SaverError> MemorySaver::create_all(const std::vector<SavedBuffer*>& buffers) {
  std::vector<MemoryHandle> handles;
  for (const SavedBuffer* buffer : buffers) {
    Result<MemoryHandle, SaverError> handle = memory_->create(buffer->mapped_bytes);
    if (!handle) {
      release_from(handles, 0);
      SaverError lack = about(*buffer, "resuming", handle.error());
      lack.text += "; everything that was paused stays paused";
      return lack;
    }
    handles.push_back(*handle);
  }
  return handles;
}

SaverFault MemorySaver::save(SavedBuffer& buffer) {
  buffer.content.resize(static_cast<std::size_t>(buffer.bytes));
  return memory_->read(buffer.address, buffer.content);
}

SaverFault MemorySaver::restore(SavedBuffer& buffer) {
  SaverFault fault = memory_->write(buffer.address, buffer.content);
  buffer.content = {};
  return fault;
}

SaverFault MemorySaver::take_away(SavedBuffer& buffer) {
  SaverFault fault = memory_->unmap(buffer.address, buffer.mapped_bytes);
  if (!fault) {
    fault = memory_->release(buffer.handle);
  }
  buffer.handle = 0;
  return fault;
}

SaverFault MemorySaver::put_back(SavedBuffer& buffer, MemoryHandle handle) {
  SaverFault fault = memory_->map(buffer.address, buffer.mapped_bytes, handle);
  buffer.handle = handle;
  return fault;
}

SaverFault MemorySaver::give_up(SavedBuffer& buffer) {
  memory_->unreserve(buffer.address, buffer.mapped_bytes);
  return std::nullopt;
}

// ---- content

Result<const SavedBuffer*, SaverError> MemorySaver::usable(BufferId id, std::int64_t offset, std::int64_t bytes,
                                                           const char* doing) const {
  const SavedBuffer* buffer = find(id);
  if (buffer == nullptr) {
    return error(SaverErrorKind::unknown_buffer, fmt::format("{} buffer {}, which is not in the ledger", doing, id));
  }
  if (buffer->paused) {
    return error(SaverErrorKind::touched_paused, fmt::format("{} {}, which is paused", doing, described(*buffer)));
  }
  if (offset < 0 || bytes < 0 || offset > buffer->bytes - bytes) {
    return error(SaverErrorKind::out_of_range, fmt::format("{} {}: bytes {} to {} are outside of it", doing,
                                                           described(*buffer), offset, offset + bytes));
  }
  return buffer;
}

namespace {

std::int64_t spread(std::size_t count, std::int64_t stride) {
  return count == 0 ? 0 : (static_cast<std::int64_t>(count) - 1) * stride + static_cast<std::int64_t>(sizeof(Stamp));
}

Address inside(const SavedBuffer& buffer, std::int64_t offset) { return buffer.address + static_cast<Address>(offset); }

}  // namespace

SaverFault MemorySaver::write(BufferId id, std::int64_t offset, std::span<const std::byte> from) {
  const auto buffer = usable(id, offset, static_cast<std::int64_t>(from.size()), "writing");
  return buffer ? memory_->write(inside(**buffer, offset), from) : SaverFault(buffer.error());
}

SaverFault MemorySaver::read(BufferId id, std::int64_t offset, std::span<std::byte> to) const {
  const auto buffer = usable(id, offset, static_cast<std::int64_t>(to.size()), "reading");
  return buffer ? memory_->read(inside(**buffer, offset), to) : SaverFault(buffer.error());
}

SaverFault MemorySaver::write_stamps(BufferId id, std::int64_t offset, std::int64_t stride,
                                     std::span<const Stamp> stamps) {
  const auto buffer = usable(id, offset, spread(stamps.size(), stride), "writing");
  return buffer ? memory_->write_stamps(inside(**buffer, offset), stride, stamps) : SaverFault(buffer.error());
}

SaverFault MemorySaver::read_stamps(BufferId id, std::int64_t offset, std::int64_t stride,
                                    std::span<Stamp> stamps) const {
  const auto buffer = usable(id, offset, spread(stamps.size(), stride), "reading");
  return buffer ? memory_->read_stamps(inside(**buffer, offset), stride, stamps) : SaverFault(buffer.error());
}

}  // namespace poolproof
