// One lambda an alternative, for std::visit.
#pragma once

namespace poolproof::naive {

template <typename... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};
template <typename... Fs>
Overloaded(Fs...) -> Overloaded<Fs...>;

}  // namespace poolproof::naive
