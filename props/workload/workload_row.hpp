// One row of a workload file read into a request; the file around it is workload_reader.cpp's.
#pragma once

#include <optional>
#include <string_view>

#include "model/trace_cursor.hpp"
#include "props/workload/request.hpp"

namespace poolproof {

/// The columns that an Azure LLM inference trace begins with (2023 and 2024).
inline constexpr std::string_view azure_columns = "TIMESTAMP,ContextTokens,GeneratedTokens";

/// `2023-11-16 18:15:46.6805900,374,44`. `arrival_us` is since 1970. Nothing, or why it is not such a row; then
/// `request` is of no use.
std::optional<LineFailure> read_azure_row(std::string_view line, Request& request);

/// `{"timestamp": 27482, "input_length": 6955, "output_length": 52, "hash_ids": [46, 47]}`, one id for each 512 tokens
/// of the prompt begun. `arrival_us` is what `timestamp`, in milliseconds, says.
std::optional<LineFailure> read_mooncake_row(std::string_view line, Request& request);

}  // namespace poolproof
