#include "tools/simverbs/program_command.hpp"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cctype>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "tools/simverbs/install_paths.hpp"
#include "tools/simverbs/user_error.hpp"

namespace simverbs::tools {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kShellCharacters = "|&;<>()$`*?[]#~{}!\n";

class ReadOnlyFile {
  public:
    explicit ReadOnlyFile(const std::string& path) : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
    ReadOnlyFile(const ReadOnlyFile&) = delete;
    ReadOnlyFile& operator=(const ReadOnlyFile&) = delete;
    ~ReadOnlyFile() {
        if (fd_ >= 0) ::close(fd_);
    }
    bool read_at(uint64_t offset, void* to, size_t bytes) const {
        return fd_ >= 0 && ::pread(fd_, to, bytes, static_cast<off_t>(offset)) == static_cast<ssize_t>(bytes);
    }

  private:
    int fd_;
};

bool is_executable_file(const std::string& path) {
    struct stat st {};
    return ::stat(path.c_str(), &st) == 0 && S_ISREG(st.st_mode) && ::access(path.c_str(), X_OK) == 0;
}

std::string find_in_path(const std::string& name) {
    const char* path = std::getenv("PATH");
    std::string_view rest = path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
    while (true) {
        const size_t colon = rest.find(':');
        const std::string folder(rest.substr(0, colon));
        const std::string file = (folder.empty() ? "." : folder) + "/" + name;
        if (is_executable_file(file)) return file;
        if (colon == std::string_view::npos) return {};
        rest.remove_prefix(colon + 1);
    }
}

std::string resolve(const std::string& name) {
    if (name.empty()) throw UserError("the command is empty; expected a program and its arguments");
    if (name.find('/') == std::string::npos) {
        std::string found = find_in_path(name);
        // Commands of hosts with GPUs (nvidia-smi) need not exist here.
        if (const std::string of_hosts = gpu_libraries() + "/bin/" + name;
            found.empty() && is_executable_file(of_hosts))
            found = of_hosts;
        if (found.empty())
            throw UserError(fmt::format("{}: no such program in PATH; install it, or give its path", name));
        return fs::absolute(found).string();
    }
    struct stat st {};
    if (::stat(name.c_str(), &st) != 0) throw UserError(fmt::format("{}: {}", name, std::strerror(errno)));
    if (S_ISDIR(st.st_mode)) throw UserError(fmt::format("{}: is a folder, not a program", name));
    if (!is_executable_file(name)) throw UserError(fmt::format("{}: is not executable", name));
    return fs::absolute(name).string();
}

void check_linkage(const std::string& name, const std::string& file) {
    switch (linkage_of(file)) {
        case Linkage::Dynamic:
        case Linkage::Script:
            return;
        case Linkage::Static:
            throw UserError(
                fmt::format("{}: is statically linked; simverbs can only run programs that load their "
                            "libraries dynamically (link it without -static)",
                            name));
        case Linkage::NotExecutable:
            throw UserError(fmt::format("{}: is not a program for this machine", name));
    }
}

}  // namespace

bool needs_shell(std::string_view text) {
    char quote = 0;
    for (size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (quote == '\'') {
            if (c == '\'') quote = 0;
        } else if (c == '\\') {
            ++i;
        } else if (quote == '"') {
            if (c == '"') quote = 0;
            if (c == '$' || c == '`') return true;
        } else if (c == '"' || c == '\'') {
            quote = c;
        } else if (kShellCharacters.find(c) != std::string_view::npos) {
            return true;
        }
    }
    // "A=1 program" sets a variable.
    const size_t word = text.find_first_not_of(" \t");
    if (word == std::string_view::npos) return false;
    const std::string_view first = text.substr(word, text.find_first_of(" \t", word) - word);
    const size_t equals = first.find('=');
    if (equals == std::string_view::npos || equals == 0) return false;
    for (const char c : first.substr(0, equals)) {
        if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_') return false;
    }
    return true;
}

std::vector<std::string> split_words(std::string_view text) {
    std::vector<std::string> words;
    std::string word;
    bool in_word = false;
    char quote = 0;
    for (size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (quote != 0) {
            if (c == quote) {
                quote = 0;
            } else if (quote == '"' && c == '\\' && i + 1 < text.size() &&
                       std::strchr("\"\\$`", text[i + 1]) != nullptr) {
                word += text[++i];
            } else {
                word += c;
            }
        } else if (c == '\'' || c == '"') {
            quote = c;
            in_word = true;
        } else if (c == '\\' && i + 1 < text.size()) {
            word += text[++i];
            in_word = true;
        } else if (std::isspace(static_cast<unsigned char>(c)) != 0) {
            if (in_word) words.push_back(std::move(word));
            word.clear();
            in_word = false;
        } else {
            word += c;
            in_word = true;
        }
    }
    if (quote != 0) throw UserError(fmt::format("{}: a quote is not closed", text));
    if (in_word) words.push_back(std::move(word));
    return words;
}

Linkage linkage_of(const std::string& file) {
    const ReadOnlyFile in(file);
    char magic[2] = {};
    if (!in.read_at(0, magic, 2)) return Linkage::NotExecutable;
    if (magic[0] == '#' && magic[1] == '!') return Linkage::Script;
    Elf64_Ehdr header{};
    if (!in.read_at(0, &header, sizeof header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
        return Linkage::NotExecutable;
#if defined(__x86_64__)
    constexpr uint16_t kMachine = EM_X86_64;
#else
    constexpr uint16_t kMachine = EM_AARCH64;
#endif
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != kMachine) return Linkage::NotExecutable;
    for (uint32_t i = 0; i < header.e_phnum; ++i) {
        Elf64_Phdr segment{};
        if (!in.read_at(header.e_phoff + uint64_t{i} * header.e_phentsize, &segment, sizeof segment)) break;
        if (segment.p_type == PT_INTERP) return Linkage::Dynamic;
    }
    return Linkage::Static;
}

ProgramCommand parse_program(std::string_view text) {
    if (needs_shell(text)) {
        ProgramCommand command;
        command.text = text;
        command.file = "/bin/sh";
        command.argv = {"sh", "-c", std::string(text)};
        command.by_shell = true;
        return command;
    }
    ProgramCommand command = parse_program(split_words(text));
    command.text = text;
    return command;
}

ProgramCommand parse_program(std::vector<std::string> argv) {
    ProgramCommand command;
    command.file = resolve(argv.empty() ? std::string{} : argv.front());
    check_linkage(argv.front(), command.file);
    for (const std::string& word : argv) command.text += (command.text.empty() ? "" : " ") + word;
    command.argv = std::move(argv);
    return command;
}

}  // namespace simverbs::tools
