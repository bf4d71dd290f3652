// From a user's words to the topics that they mean, and to text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/explain/explanation.hpp"

namespace simverbs::explain {

/// The topics that one question means: a name with or without its prefix and in any case ('IBV_WC_RETRY_EXC_ERR',
/// 'wc_retry_exc_err', 'retry_exc_err'), the text that programs print ('transport retry counter exceeded'), a number
/// ('12', 'status 12': everything with that value), a call ('ibv_modify_qp': all its errors), an errno ('EINVAL'), or
/// a call and an errno ('ibv_modify_qp EINVAL'). Empty: nothing is called that.
[[nodiscard]] std::vector<const Topic*> look_up(std::string_view question);

/// Every word that look_up() knows, for "did you mean".
[[nodiscard]] std::vector<std::string_view> known_words();

/// A topic with its causes, wrapped at `width` columns; ends with a newline.
[[nodiscard]] std::string to_text(const Topic& topic, size_t width = 100);

/// One line a topic, by kind: what can be asked for.
[[nodiscard]] std::string contents();

}  // namespace simverbs::explain
