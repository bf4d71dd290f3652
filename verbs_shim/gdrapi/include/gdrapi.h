/* GDRCopy's API (version 2), for where its header is absent. */
#ifndef SIMVERBS_GDRAPI_H
#define SIMVERBS_GDRAPI_H

#include <stddef.h>
#include <stdint.h>

#define GDR_API_MAJOR_VERSION 2
#define GDR_API_MINOR_VERSION 5
#define GPU_PAGE_SHIFT 16
#define GPU_PAGE_SIZE (1UL << GPU_PAGE_SHIFT)
#define GPU_PAGE_OFFSET (GPU_PAGE_SIZE - 1)
#define GPU_PAGE_MASK (~GPU_PAGE_OFFSET)

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gdr* gdr_t;
typedef struct gdr_mh_s {
    unsigned long h;
} gdr_mh_t;

typedef enum gdr_mapping_type {
    GDR_MAPPING_TYPE_NONE = 0,
    GDR_MAPPING_TYPE_WC = 1,
    GDR_MAPPING_TYPE_CACHING = 2,
    GDR_MAPPING_TYPE_DEVICE = 3
} gdr_mapping_type_t;

typedef struct gdr_info_v2 {
    uint64_t va;
    uint64_t mapped_size;
    uint32_t page_size;
    uint64_t tm_cycles;
    uint32_t cycles_per_ms;
    unsigned mapped : 1;
    unsigned wc_mapping : 1;
    gdr_mapping_type_t mapping_type;
} gdr_info_v2_t;
typedef gdr_info_v2_t gdr_info_t;

typedef enum gdr_attr {
    GDR_ATTR_USE_PERSISTENT_MAPPING = 1,
    GDR_ATTR_SUPPORT_PIN_FLAG_FORCE_PCIE = 2,
    GDR_ATTR_MAX
} gdr_attr_t;

typedef enum gdr_pin_flags { GDR_PIN_FLAG_DEFAULT = 0, GDR_PIN_FLAG_FORCE_PCIE = 1 } gdr_pin_flags_t;

gdr_t gdr_open(void);
int gdr_close(gdr_t g);
int gdr_pin_buffer(gdr_t g, unsigned long addr, size_t size, uint64_t p2p_token, uint32_t va_space, gdr_mh_t* handle);
int gdr_pin_buffer_v2(gdr_t g, unsigned long addr, size_t size, uint32_t flags, gdr_mh_t* handle);
int gdr_unpin_buffer(gdr_t g, gdr_mh_t handle);
int gdr_get_callback_flag(gdr_t g, gdr_mh_t handle, int* flag);
int gdr_get_info_v2(gdr_t g, gdr_mh_t handle, gdr_info_v2_t* info);
#define gdr_get_info gdr_get_info_v2
int gdr_map(gdr_t g, gdr_mh_t handle, void** va, size_t size);
int gdr_map_v2(gdr_t g, gdr_mh_t handle, void** va, size_t size, int flags);
int gdr_unmap(gdr_t g, gdr_mh_t handle, void* va, size_t size);
int gdr_copy_to_mapping(gdr_mh_t handle, void* map_d_ptr, const void* h_ptr, size_t size);
int gdr_copy_from_mapping(gdr_mh_t handle, void* h_ptr, const void* map_d_ptr, size_t size);
void gdr_runtime_get_version(int* major, int* minor);
int gdr_driver_get_version(gdr_t g, int* major, int* minor);
int gdr_get_attribute(gdr_t g, gdr_attr_t attr, int* v);

#ifdef __cplusplus
}
#endif
#endif
