#include "verbs_shim/client/process/environment.hpp"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "verbs_shim/protocol/messages.hpp"

namespace simverbs::client::process {

namespace {

constexpr char kPreload[] = "LD_PRELOAD";
constexpr char kLibraryPath[] = "LD_LIBRARY_PATH";
constexpr size_t kMaxValue = 256;

/// What the lab gave this image.
struct Remembered {
    const char* name;
    char value[kMaxValue];
    bool present;
};
Remembered g_remembered[] = {
    {protocol::kEnvSocket, {}, false},
    {protocol::kEnvHost, {}, false},
    {protocol::kEnvProgram, {}, false},
    {protocol::kEnvGpuLibraries, {}, false},
};
const Remembered& g_gpu_libraries = g_remembered[3];
char g_library[512];

bool names(const char* entry, const char* name) {
    const size_t n = strlen(name);
    return strncmp(entry, name, n) == 0 && entry[n] == '=';
}

/// A process that becomes a program of another host (`simverbs on` within a lab) says so in the new environment.
bool may_differ(const Remembered& r) {
    return strcmp(r.name, protocol::kEnvHost) == 0;
}

/// A process that becomes a program of another host has the other host's GPUs, or none.
bool same_host(char* const* environment) {
    for (const Remembered& r : g_remembered) {
        if (!may_differ(r) || !r.present) continue;
        for (; *environment != nullptr; ++environment)
            if (names(*environment, r.name)) return strcmp(*environment + strlen(r.name) + 1, r.value) == 0;
    }
    return true;
}

/// Entries that are always written anew.
bool is_ours(const char* entry) {
    if (names(entry, kPreload) || names(entry, protocol::kEnvSlot)) return true;
    for (const Remembered& r : g_remembered)
        if (r.present && names(entry, r.name)) return !may_differ(r) && &r != &g_gpu_libraries;
    return false;
}

bool has(char* const* environment, const char* name) {
    for (; *environment != nullptr; ++environment)
        if (names(*environment, name)) return true;
    return false;
}

char* append(char* at, const char* text) {
    return stpcpy(at, text);
}

bool lists(const char* preload, const char* library) {
    const size_t n = strlen(library);
    for (const char* p = preload; (p = strstr(p, library)) != nullptr; p += n) {
        const bool begins = p == preload || p[-1] == ':' || p[-1] == ' ';
        const bool ends = p[n] == '\0' || p[n] == ':' || p[n] == ' ';
        if (begins && ends) return true;
    }
    return false;
}

}  // namespace

void remember_environment() {
    for (Remembered& r : g_remembered) {
        const char* const value = getenv(r.name);
        if (value == nullptr || strlen(value) >= kMaxValue) continue;
        strcpy(r.value, value);
        r.present = true;
    }
    Dl_info info{};
    if (dladdr(reinterpret_cast<void*>(&remember_environment), &info) != 0 && info.dli_fname != nullptr &&
        strlen(info.dli_fname) < sizeof g_library)
        strcpy(g_library, info.dli_fname);
}

LabEnvironment::LabEnvironment(char* const* environment, uint32_t slot) {
    size_t count = 0, text = 0;
    const char* preload = "";
    const char* library_path = "";
    static char* const kNone[] = {nullptr};
    if (environment == nullptr) environment = kNone;
    for (; environment[count] != nullptr; ++count) {
        if (names(environment[count], kPreload)) preload = environment[count] + sizeof kPreload;
        if (names(environment[count], kLibraryPath)) library_path = environment[count] + sizeof kLibraryPath;
    }
    const bool add_libraries =
        g_gpu_libraries.present && same_host(environment) && !lists(library_path, g_gpu_libraries.value);
    text = sizeof kPreload + strlen(preload) + sizeof g_library + 16 + 64;
    text += sizeof kLibraryPath + strlen(library_path) + kMaxValue + 2;
    for (const Remembered& r : g_remembered) text += strlen(r.name) + kMaxValue + 2;
    constexpr size_t kOurs = 8;
    bytes_ = (count + kOurs) * sizeof(char*) + text;
    memory_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory_ == MAP_FAILED) {
        memory_ = nullptr;
        return;
    }
    list_ = static_cast<char**>(memory_);
    char* at = reinterpret_cast<char*>(list_ + count + kOurs);
    size_t n = 0;
    for (size_t i = 0; i < count; ++i) {
        if (add_libraries && names(environment[i], kLibraryPath)) continue;
        if (!is_ours(environment[i])) list_[n++] = environment[i];
    }

    list_[n++] = at;
    at = append(append(at, kPreload), "=");
    if (g_library[0] != '\0' && !lists(preload, g_library)) {
        at = append(at, g_library);
        if (*preload != '\0') at = append(at, ":");
    }
    at = append(at, preload) + 1;
    if (add_libraries) {
        list_[n++] = at;
        at = append(append(append(at, kLibraryPath), "="), g_gpu_libraries.value);
        if (*library_path != '\0') at = append(at, ":");
        at = append(at, library_path) + 1;
    }
    for (const Remembered& r : g_remembered) {
        if (!r.present || (may_differ(r) && has(environment, r.name))) continue;
        if (&r == &g_gpu_libraries && (!same_host(environment) || has(environment, r.name))) continue;
        list_[n++] = at;
        at = append(append(append(at, r.name), "="), r.value) + 1;
    }
    list_[n++] = at;
    at = append(append(at, protocol::kEnvSlot), "=");
    char digits[12];
    int k = 0;
    do digits[k++] = static_cast<char>('0' + slot % 10);
    while ((slot /= 10) != 0);
    while (k > 0) *at++ = digits[--k];
    list_[n] = nullptr;
}

LabEnvironment::~LabEnvironment() {
    if (memory_ != nullptr) munmap(memory_, bytes_);
}

}  // namespace simverbs::client::process
