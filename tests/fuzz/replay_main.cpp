// Replays a corpus through a fuzz target where libFuzzer is not there: each argument is a file or a folder of files.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

void replay(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    // Exactly as large as the input, so that a sanitizer sees a read behind it.
    const std::vector<std::uint8_t> input(bytes.begin(), bytes.end());
    std::printf("%s (%zu bytes)\n", file.c_str(), input.size());
    std::fflush(stdout);
    LLVMFuzzerTestOneInput(input.data(), input.size());
}

std::vector<std::filesystem::path> inputs_below(const std::filesystem::path& path) {
    std::vector<std::filesystem::path> files;
    if (std::filesystem::is_directory(path)) {
        for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
            if (entry.is_regular_file()) files.push_back(entry.path());
        }
    } else {
        files.push_back(path);
    }
    return files;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        std::size_t replayed = 0;
        for (int i = 1; i < argc; ++i) {
            for (const auto& file : inputs_below(argv[i])) {
                replay(file);
                ++replayed;
            }
        }
        LLVMFuzzerTestOneInput(nullptr, 0);
        std::printf("%zu inputs replayed\n", replayed);
        return replayed > 0 ? 0 : 1;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "replay: %s\n", error.what());
        return 1;
    }
}
